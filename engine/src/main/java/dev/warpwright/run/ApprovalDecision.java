package dev.warpwright.run;

import dev.warpwright.run.RunEvent.ApprovalDecided;
import java.util.Optional;

/**
 * What somebody decided on a request for approval.
 *
 * <p>The id says of which kind the request is, and of a tool that a provider runs also which
 * provider asks: nobody else's request has the same id.
 *
 * @param requestId the request, as the pending approval names it
 * @param approve whether the tool may run; if not, the model is told that it may not
 * @param decidedBy who decided, for the log
 * @param reason why; a reason for a refusal is shown to the model or, of a tool that a provider
 *     runs, to the provider
 */
public record ApprovalDecision(
    String requestId, boolean approve, Optional<String> decidedBy, Optional<String> reason) {
  /**
   * The tool may run.
   *
   * @param requestId the request
   * @return the decision
   */
  public static ApprovalDecision approve(String requestId) {
    return new ApprovalDecision(requestId, true, Optional.empty(), Optional.empty());
  }

  /**
   * The tool may not run.
   *
   * @param requestId the request
   * @param reason why; the model is told
   * @return the decision
   */
  public static ApprovalDecision deny(String requestId, String reason) {
    return new ApprovalDecision(requestId, false, Optional.empty(), Optional.of(reason));
  }

  /**
   * The same decision, naming who made it.
   *
   * @param name a name for the log
   * @return a copy
   */
  public ApprovalDecision by(String name) {
    return new ApprovalDecision(requestId, approve, Optional.of(name), reason);
  }

  /** Shows the decision, not its reason. */
  @Override
  public String toString() {
    return "ApprovalDecision[%s, %s]".formatted(requestId, approve ? "approved" : "denied");
  }

  ApprovalDecided event() {
    return new ApprovalDecided(requestId, approve, decidedBy, reason);
  }
}
