package dev.warpwright.control;

import dev.warpwright.model.Target;
import java.time.Duration;

/** What an {@link AdmissionController} answers. */
public sealed interface Admission {
  /** The one instance of {@link MustWait}. */
  MustWait MUST_WAIT = new MustWait();

  /** A final answer. */
  sealed interface Decision extends Admission {}

  /**
   * The request may go to its target.
   *
   * @param permit what it holds meanwhile; to be closed when the call has ended, however it ended
   */
  record Admitted(AdmissionPermit permit) implements Decision {}

  /**
   * The request may not go to its target, and holds nothing. That says nothing about the health of
   * the target.
   *
   * @param target where it was to go
   * @param limit which limit keeps it out
   * @param configured the configured value of that limit, such as {@code 50} or {@code PT1S}
   * @param waited how long the request was in the queue
   */
  record Denied(Target target, AdmissionLimit limit, String configured, Duration waited)
      implements Decision {

    /**
     * Says in a sentence which limit kept the request out, what its value is, and how long the
     * request had waited.
     *
     * @return the sentence
     */
    public String message() {
      return "%s did not admit the request: %s, after %d ms in the queue."
          .formatted(target, limit.reason(configured), waited.toMillis());
    }
  }

  /**
   * Only {@link AdmissionController#acquire} can tell. The request holds nothing, and no place in
   * the queue.
   */
  record MustWait() implements Admission {}
}
