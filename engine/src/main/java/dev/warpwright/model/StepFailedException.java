package dev.warpwright.model;

import org.jspecify.annotations.Nullable;

/**
 * A step of a flow failed for good. The flow's body may catch it and go on.
 *
 * <p>It looks the same when it happens and when it is replayed from the log, in another process
 * too, so that the body decides the same; only the cause is there when it happens alone.
 */
public final class StepFailedException extends WarpwrightException {
  private static final long serialVersionUID = 1L;

  /** The step. */
  private final String step;

  /** Which call of the flow it was. */
  private final String position;

  /** The class of what the step threw. */
  private final String type;

  /**
   * Makes the exception.
   *
   * @param kind the kind of failure; INTERNAL for an exception of the program
   * @param step the step's name
   * @param position which call of the flow it was
   * @param type the class of what the step threw
   * @param message its message
   * @param cause what the step threw; null in a replay
   */
  public StepFailedException(
      FailureKind kind,
      String step,
      String position,
      String type,
      String message,
      @Nullable Throwable cause) {
    super(kind, "Step \"" + step + "\" failed: " + message, cause, OperationTrace.NONE);
    this.step = step;
    this.position = position;
    this.type = type;
  }

  /**
   * The step.
   *
   * @return its name
   */
  public String step() {
    return step;
  }

  /**
   * Which call of the flow it was.
   *
   * @return the position
   */
  public String position() {
    return position;
  }

  /**
   * What the step threw.
   *
   * @return the name of its class
   */
  public String type() {
    return type;
  }

  /**
   * Whether the step threw an exception of exactly this class.
   *
   * @param exception the class
   * @return true if its name is the recorded one
   */
  public boolean isOf(Class<? extends Throwable> exception) {
    return exception.getName().equals(type);
  }
}
