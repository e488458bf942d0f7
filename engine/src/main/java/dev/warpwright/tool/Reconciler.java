package dev.warpwright.tool;

import dev.warpwright.model.Json;

/**
 * Finds out what became of a call whose outcome was lost, by asking the system that the tool acts
 * on.
 *
 * @param <I> the tool's input
 */
@FunctionalInterface
public interface Reconciler<I> {
  /** What is known of the call. */
  sealed interface Finding {
    /**
     * It took place.
     *
     * @param output its output
     */
    record Executed(Json output) implements Finding {}

    /**
     * It took place and failed.
     *
     * @param messageForModel what the model is told
     */
    record Failed(String messageForModel) implements Finding {}

    /** It did not take place and cannot any more: the tool may run, under the same key. */
    record NotExecuted() implements Finding {}

    /** Nobody can tell: a person has to decide. */
    record Unknown() implements Finding {}
  }

  /**
   * Looks a call up. Called on a virtual thread of its own, before anything else is done with the
   * call, perhaps long after it and in another process.
   *
   * @param idempotencyKey the key that the tool was given
   * @param input the input that it was given
   * @return what is known
   * @throws Exception if the question could not be asked; it counts as {@link Finding.Unknown}
   */
  Finding find(String idempotencyKey, I input) throws Exception;
}
