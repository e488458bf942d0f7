package dev.warpwright;

import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.Usage;
import dev.warpwright.task.Outcome;
import dev.warpwright.task.TaskScope;
import java.util.OptionalLong;
import java.util.concurrent.Callable;

/** How an answer is had: whole, or while it comes. */
interface Delivery {
  /** The answer is had when it is complete. */
  Delivery WHOLE = new Whole();

  /**
   * Makes the call as a child of the scope and waits for its end. On the calling thread, if the
   * answer is had whole and its model is sure to end when it is interrupted.
   *
   * @param scope the caller's
   * @param dispatch what is asked of whom
   * @param onBegin is run on the call's thread when it begins
   * @return how the call ended; a timeout is the attempt's, the operation's, or one for want of
   *     signs of life
   */
  Outcome<ModelResponse> call(TaskScope scope, Dispatch dispatch, Runnable onBegin);

  /** Whether a reader has seen any of the answer; final once the call has ended. */
  default boolean isShown() {
    return false;
  }

  /** The text that was shown of an answer that did not become complete. */
  default String partialText() {
    return "";
  }

  /** What an answer that did not become complete has used, as far as it was reported. */
  default Usage partialUsage() {
    return Usage.ABSENT;
  }

  /** When the first text came; empty if none did, or nobody saw it come. */
  default OptionalLong firstTextNanoTime() {
    return OptionalLong.empty();
  }

  /** The one way of a blocking operation. */
  final class Whole implements Delivery {
    private Whole() {}

    @Override
    public Outcome<ModelResponse> call(TaskScope scope, Dispatch dispatch, Runnable onBegin) {
      Callable<ModelResponse> asking =
          () -> {
            onBegin.run();
            return Answers.ask(
                dispatch.target().provider(), dispatch.candidate().model(), dispatch.call());
          };
      return dispatch.honoursInterrupts()
          ? scope.callHere("attempt", dispatch.name(), dispatch.deadline(), asking)
          : scope.call("attempt", dispatch.name().toString(), dispatch.deadline(), asking);
    }
  }
}
