package dev.warpwright.flow;

/** Finds out what became of a step whose outcome is unknown. */
@FunctionalInterface
public interface StepReconciler {
  /**
   * Looks a step up, perhaps long after it and in another process.
   *
   * @param idempotencyKey the key that the step was given
   * @return what is known, with a value of the step's type
   * @throws Exception if the question could not be asked; it counts as {@link
   *     StepFinding#unknown()}
   */
  StepFinding find(String idempotencyKey) throws Exception;
}
