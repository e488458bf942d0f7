package dev.warpwright.run;

import dev.warpwright.model.ConflictException;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.OperationTrace;
import dev.warpwright.model.WarpwrightException;
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

  /** The events of decisions by somebody who does not drive the run; see {@link Runs#decide}. */
  static List<RunEvent> fromOutside(
      RunState state,
      List<ApprovalDecision> decisions,
      Instant now,
      Optional<ApprovalSigner> signer) {
    List<RunEvent> events = events(state, decisions, now, signer);
    state
        .pendingApprovals()
        .forEach(request -> ApprovalSignatures.requireAuthenticRequest(request, signer));
    return events;
  }

  /**
   * A request that waits for a decision.
   *
   * @throws InvalidRequestException if the run never had it
   * @throws ConflictException if it does not wait any more
   */
  static ApprovalRequested requirePending(RunState state, String requestId) {
    return state.pendingApprovals().stream()
        .filter(pending -> pending.requestId().equals(requestId))
        .findFirst()
        .orElseThrow(() -> notPending(state, requestId));
  }

  static boolean hasExpired(ApprovalRequested request, Instant now) {
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
      if (!pending.contains(id)) {
        throw notPending(state, id);
      }
    }
  }

  private static WarpwrightException notPending(RunState state, String id) {
    return state.knowsApproval(id)
        ? new ConflictException(
            "The approval request %s of run %s is decided already, or the run has ended (%s)."
                .formatted(id, state.run(), state.status()),
            null,
            OperationTrace.NONE)
        : new InvalidRequestException(
            FailureKind.INVALID_REQUEST,
            "Run %s has no approval request %s; %d are pending."
                .formatted(state.run(), id, state.pendingApprovals().size()));
  }
}
