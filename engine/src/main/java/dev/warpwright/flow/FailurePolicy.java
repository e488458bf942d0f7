package dev.warpwright.flow;

import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;

/**
 * What the failures of items mean for the other items of a {@link Batch}. Immutable.
 *
 * {@snippet :
 * batch.onFailure(FailurePolicy.stopStarting().maxFailureFraction(0.05)).run(agents);
 * }
 *
 * <p>Whatever the policy, an item whose budget was denied lets no other item begin: theirs would be
 * too.
 */
public final class FailurePolicy {
  /** The others go on, however many fail. */
  public static final FailurePolicy CONTINUE = new FailurePolicy(Reaction.CONTINUE, 0, 0);

  private final Reaction reaction;
  private final int most;
  private final double mostFraction;

  /** What is done when there are too many failures. */
  enum Reaction {
    CONTINUE,
    STOP_STARTING,
    CANCEL_ALL
  }

  private FailurePolicy(Reaction reaction, int most, double mostFraction) {
    this.reaction = reaction;
    this.most = most;
    this.mostFraction = mostFraction;
  }

  /**
   * After the first failure no item begins any more; those under way come to their end.
   *
   * @return the policy
   */
  public static FailurePolicy stopStarting() {
    return new FailurePolicy(Reaction.STOP_STARTING, 0, 0);
  }

  /**
   * After the first failure no item begins any more, and those under way are interrupted: they stay
   * resumable, and the next run of the batch goes on with them.
   *
   * @return the policy
   */
  public static FailurePolicy cancelAll() {
    return new FailurePolicy(Reaction.CANCEL_ALL, 0, 0);
  }

  /**
   * The same, but some items may fail before.
   *
   * @param number how many, 0 or more
   * @return a copy
   * @throws InvalidRequestException if the number is negative, or of {@link #CONTINUE}
   */
  public FailurePolicy maxFailures(int number) {
    requireLimited();
    if (number < 0) {
      throw invalid("maxFailures must be 0 or more, but is " + number + ".");
    }
    return new FailurePolicy(reaction, number, 0);
  }

  /**
   * The same, but a part of all items may fail before.
   *
   * @param fraction which part, 0 to 1
   * @return a copy
   * @throws InvalidRequestException if it is no such fraction, or of {@link #CONTINUE}
   */
  public FailurePolicy maxFailureFraction(double fraction) {
    requireLimited();
    if (!(fraction >= 0 && fraction <= 1)) {
      throw invalid("maxFailureFraction must be between 0 and 1, but is " + fraction + ".");
    }
    return new FailurePolicy(reaction, 0, fraction);
  }

  private void requireLimited() {
    if (reaction == Reaction.CONTINUE) {
      throw invalid("A batch that goes on whatever fails has no limit of failures.");
    }
  }

  private static InvalidRequestException invalid(String message) {
    return new InvalidRequestException(FailureKind.INVALID_CONFIGURATION, message);
  }

  /** What is to be done after so many failures. */
  Reaction after(int failures, int size) {
    return failures > most && failures > mostFraction * size ? reaction : Reaction.CONTINUE;
  }

  /** Shows the limits. */
  @Override
  public String toString() {
    return "FailurePolicy[%s, %d, %s]".formatted(reaction, most, mostFraction);
  }
}
