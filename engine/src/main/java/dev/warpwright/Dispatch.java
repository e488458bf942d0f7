package dev.warpwright;

import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.ReasoningAccounting;
import dev.warpwright.model.Target;
import dev.warpwright.route.RoutePlan.Candidate;
import dev.warpwright.task.Deadline;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Predicate;

/**
 * One call that is about to be made: to whom, what, and until when.
 *
 * @param step the step
 * @param candidate the target and its model
 * @param retry 0 for the first dispatch to this target in this step
 * @param number which dispatch of the operation it is, from 1; a part of the name of its task
 * @param call what is asked
 * @param request the operation's request
 * @param timeLimit how long the attempt may take
 * @param startNanos when the attempt began
 * @param keepable whether an answer may be kept for others
 * @param deadline the attempt's, which is not later than the operation's
 */
record Dispatch(
    int step,
    Candidate candidate,
    int retry,
    int number,
    ModelCall call,
    GenerateRequest request,
    Duration timeLimit,
    long startNanos,
    Predicate<ModelResponse> keepable,
    Deadline deadline) {
  /** The same under another deadline. */
  Dispatch until(Deadline other) {
    ModelCall asked =
        new ModelCall(
            call.messages(),
            call.tools(),
            call.toolChoice(),
            call.temperature(),
            call.maxTokens(),
            call.reasoning(),
            call.output(),
            call.toolResults(),
            call.providerOptions(),
            other);
    return new Dispatch(
        step, candidate, retry, number, asked, request, timeLimit, startNanos, keepable, other);
  }

  /** The name of its task, which is made when somebody asks. */
  Object name() {
    return new Name(number, target());
  }

  /** Keeps nothing of the dispatch alive in a record of tasks. */
  private record Name(int number, Target target) {
    @Override
    public String toString() {
      return "attempt " + number + " " + target;
    }
  }

  Target target() {
    return candidate.target();
  }

  /** What the model declares of its counters; a declaration that fails declares nothing. */
  Optional<ReasoningAccounting> reasoningAccounting() {
    try {
      return Objects.requireNonNull(candidate.model().reasoningAccounting());
    } catch (RuntimeException e) {
      return Optional.empty();
    }
  }

  /** Whether the provider may act in answering; a declaration that fails says that it may. */
  boolean mayAct() {
    try {
      return candidate.model().mayAct(call);
    } catch (RuntimeException e) {
      return true;
    }
  }

  /** Whether the model is sure to end when it is interrupted. */
  boolean honoursInterrupts() {
    return honoursInterrupts(candidate);
  }

  /** Whether a model is sure to end when it is interrupted; a failing declaration says no. */
  static boolean honoursInterrupts(Candidate candidate) {
    try {
      return candidate.model().honoursInterrupts();
    } catch (RuntimeException e) {
      return false;
    }
  }

  /** The estimated input; summed when a limit needs it. */
  long inputTokens() {
    return InputSize.tokens(call);
  }

  /** What the call may use at most; empty if it sets no limit to its output. */
  OptionalLong mostTokens() {
    return call.maxTokens().isPresent()
        ? OptionalLong.of(inputTokens() + call.maxTokens().getAsInt())
        : OptionalLong.empty();
  }
}
