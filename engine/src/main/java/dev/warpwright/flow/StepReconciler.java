package dev.warpwright.flow;

import dev.warpwright.tool.Reconciler.Finding;

/** Finds out what became of a step whose outcome is unknown. */
@FunctionalInterface
public interface StepReconciler {
  /**
   * Looks a step up, perhaps long after it and in another process.
   *
   * @param idempotencyKey the key that the step was given
   * @return what is known; an output is the step's value as JSON
   * @throws Exception if the question could not be asked; it counts as {@link Finding.Unknown}
   */
  Finding find(String idempotencyKey) throws Exception;
}
