package dev.warpwright;

import dev.warpwright.task.TaskScope;

/** Gets the answer to a dispatch, from its target or from where it is known already. */
interface Calls {
  /**
   * Gets the answer.
   *
   * @param scope the caller's, which waits in it and in which the call is made
   * @param dispatch what is asked of whom
   * @param delivery how the answer is had
   * @return how it ended; an error of the adapter is a value in it
   */
  CallEnd make(TaskScope scope, Dispatch dispatch, Delivery delivery);
}
