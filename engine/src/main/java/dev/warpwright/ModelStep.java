package dev.warpwright;

import dev.warpwright.model.Attempt;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.RouteDecision;
import dev.warpwright.model.Target;
import java.util.List;

/**
 * A routed model call that was answered.
 *
 * @param step the step's number, 1-based
 * @param target who answered
 * @param rebound whether this is another target than in the step before, or the first one
 * @param decision the order of the targets and why
 * @param response the answer; its usage is complete, with missing counters estimated
 * @param attempts the attempts of this step in order of time; the first step has the skips too
 * @param parallelToolCalls whether the model declares parallel tool calls
 */
public record ModelStep(
    int step,
    Target target,
    boolean rebound,
    RouteDecision decision,
    ModelResponse response,
    List<Attempt> attempts,
    boolean parallelToolCalls) {
  /** Copies the list. */
  public ModelStep {
    attempts = List.copyOf(attempts);
  }
}
