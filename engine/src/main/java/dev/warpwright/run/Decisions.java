package dev.warpwright.run;

import dev.warpwright.model.ConflictException;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.OperationTrace;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/** Turns decisions into events, or refuses all of them. */
public final class Decisions {
  private Decisions() {}

  /**
   * The events of decisions on a run.
   *
   * @param state the run
   * @param decisions at most one for each pending request
   * @return one event a decision
   * @throws InvalidRequestException if one names a request that the run does not have, or two name
   *     the same
   * @throws ConflictException if one names a request that is decided already
   */
  public static List<RunEvent> events(RunState state, List<ApprovalDecision> decisions) {
    Set<String> pending =
        state.pendingApprovals().stream()
            .map(RunEvent.ApprovalRequested::requestId)
            .collect(Collectors.toSet());
    Set<String> seen = new HashSet<>();
    for (ApprovalDecision decision : decisions) {
      String id = decision.requestId();
      if (!seen.add(id)) {
        throw new InvalidRequestException(
            FailureKind.INVALID_REQUEST, "Two decisions name the approval request " + id + ".");
      }
      if (pending.contains(id)) {
        continue;
      }
      if (state.knowsApproval(id)) {
        throw new ConflictException(
            "The approval request " + id + " of run " + state.run() + " is decided already.",
            null,
            OperationTrace.NONE);
      }
      throw new InvalidRequestException(
          FailureKind.INVALID_REQUEST,
          "Run %s has no approval request %s; %d are pending."
              .formatted(state.run(), id, pending.size()));
    }
    return decisions.stream().<RunEvent>map(ApprovalDecision::event).toList();
  }
}
