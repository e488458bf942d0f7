package dev.warpwright;

import dev.warpwright.model.Attempt;
import dev.warpwright.model.RouteDecision;
import dev.warpwright.model.Target;
import java.util.List;

/**
 * A target that won a step.
 *
 * @param operationId the operation
 * @param step the step
 * @param target the winner
 * @param targetRank its index in the decision
 * @param decision the order of the targets and why
 * @param attempts the operation's attempts so far, skips included
 */
public record RouteSelection(
    String operationId,
    int step,
    Target target,
    int targetRank,
    RouteDecision decision,
    List<Attempt> attempts) {
  /** Copies the list. */
  public RouteSelection {
    attempts = List.copyOf(attempts);
  }
}
