package dev.warpwright;

import dev.warpwright.cost.CostTotal;
import dev.warpwright.model.Attempt;
import dev.warpwright.model.Target;
import dev.warpwright.model.Usage;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * The answer of an object operation: a text operation's, and the object that its text is.
 *
 * @param <T> the type of the object
 * @param object the object
 * @param objectMode how the final target was brought to answer with it: NATIVE or PROMPTED
 * @param answer all that is known of the answer as a text
 */
public record ObjectResult<T>(T object, ObjectMode objectMode, GenerateResult answer) {
  /** Checks that nothing is null. */
  public ObjectResult {
    Objects.requireNonNull(object, "object");
    Objects.requireNonNull(objectMode, "objectMode");
    Objects.requireNonNull(answer, "answer");
  }

  /**
   * The last winning target.
   *
   * @return the target
   */
  public Target targetUsed() {
    return answer.targetUsed();
  }

  /**
   * Every attempt of the operation, skips included, in order of time.
   *
   * @return the attempts
   */
  public List<Attempt> attempts() {
    return answer.attempts();
  }

  /**
   * The tokens of all steps.
   *
   * @return the usage
   */
  public Usage usage() {
    return answer.usage();
  }

  /**
   * What all calls of the operation cost together, failed ones included.
   *
   * @return the total; empty if the gateway does not account costs
   */
  public Optional<CostTotal> cost() {
    return answer.cost();
  }

  /** Shows who answered and how, not what. */
  @Override
  public String toString() {
    return "ObjectResult[" + objectMode + ", " + answer + "]";
  }
}
