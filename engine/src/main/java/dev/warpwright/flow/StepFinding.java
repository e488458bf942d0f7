package dev.warpwright.flow;

import org.jspecify.annotations.Nullable;

/** What is known of a step whose outcome was lost. */
public sealed interface StepFinding {
  /**
   * It took place.
   *
   * @param value its value, of the step's type; null for a step that has none
   */
  record Succeeded(@Nullable Object value) implements StepFinding {
    /** Shows no value; it may be private. */
    @Override
    public String toString() {
      return "Succeeded[]";
    }
  }

  /**
   * It took place and failed.
   *
   * @param message how; it is stored
   */
  record Failed(String message) implements StepFinding {}

  /** It did not take place and cannot any more: its retries decide whether it runs again. */
  record NotExecuted() implements StepFinding {}

  /** Nobody can tell: a person has to decide. */
  record Unknown() implements StepFinding {}

  /**
   * The step took place.
   *
   * @param value its value, of the step's type
   * @return what is known
   */
  static StepFinding succeeded(Object value) {
    return new Succeeded(value);
  }

  /**
   * A step without a value took place.
   *
   * @return what is known
   */
  static StepFinding succeeded() {
    return new Succeeded(null);
  }

  /**
   * The step took place and failed.
   *
   * @param message how; it is stored
   * @return what is known
   */
  static StepFinding failed(String message) {
    return new Failed(message);
  }

  /**
   * The step did not take place and cannot any more.
   *
   * @return what is known
   */
  static StepFinding notExecuted() {
    return new NotExecuted();
  }

  /**
   * Nobody can tell.
   *
   * @return that nothing is known
   */
  static StepFinding unknown() {
    return new Unknown();
  }
}
