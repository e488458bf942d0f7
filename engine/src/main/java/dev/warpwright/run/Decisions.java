package dev.warpwright.run;

import dev.warpwright.model.ConflictException;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.OperationTrace;
import dev.warpwright.run.RunEvent.ApprovalRequested;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** Turns decisions into events, or refuses all of them. */
public final class Decisions {
  /** The reason of a denial by which nobody decided in time. */
  public static final String EXPIRED = "expired";

  private Decisions() {}

  /**
   * The events of decisions on a run. A request that has expired is denied with the reason {@value
   * #EXPIRED}, whatever is decided by then, also if nothing is.
   *
   * @param state the run
   * @param decisions at most one for each pending request
   * @param now the time, for requests that expire
   * @param signer signs the decisions, if there is a signer
   * @return one event for each request that is decided now
   * @throws InvalidRequestException if one names a request that the run does not have, or two name
   *     the same
   * @throws ConflictException if one names a request that is decided already
   */
  public static List<RunEvent> events(
      RunState state,
      List<ApprovalDecision> decisions,
      Instant now,
      Optional<ApprovalSigner> signer) {
    requireKnown(state, decisions);
    List<RunEvent> events = new ArrayList<>();
    for (ApprovalRequested request : state.pendingApprovals()) {
      decided(request, decisions, now)
          .map(decision -> ApprovalSignatures.sign(request, decision.event(), signer))
          .ifPresent(events::add);
    }
    return events;
  }

  /**
   * Whether nothing is left to decide: no request is pending, or each of them has expired.
   *
   * @param state the run
   * @param now the time
   * @return true if nobody needs to decide any more
   */
  public static boolean areAllMade(RunState state, Instant now) {
    return state.pendingApprovals().stream().allMatch(request -> hasExpired(request, now));
  }

  private static boolean hasExpired(ApprovalRequested request, Instant now) {
    return request.expiresAt().filter(end -> !now.isBefore(end)).isPresent();
  }

  private static Optional<ApprovalDecision> decided(
      ApprovalRequested request, List<ApprovalDecision> decisions, Instant now) {
    return hasExpired(request, now)
        ? Optional.of(ApprovalDecision.deny(request.requestId(), EXPIRED))
        : decisions.stream()
            .filter(decision -> decision.requestId().equals(request.requestId()))
            .findFirst();
  }

  private static void requireKnown(RunState state, List<ApprovalDecision> decisions) {
    Set<String> pending =
        state.pendingApprovals().stream()
            .map(ApprovalRequested::requestId)
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
            "The approval request %s of run %s is decided already, or the run has ended (%s)."
                .formatted(id, state.run(), state.status()),
            null,
            OperationTrace.NONE);
      }
      throw new InvalidRequestException(
          FailureKind.INVALID_REQUEST,
          "Run %s has no approval request %s; %d are pending."
              .formatted(state.run(), id, pending.size()));
    }
  }
}
