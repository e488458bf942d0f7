package dev.warpwright.flow;

import java.util.Optional;

/**
 * What was decided on an approval of a flow.
 *
 * @param approved whether it was approved; an approval that expired was not
 * @param decidedBy who decided
 * @param reason why; {@code expired} if nobody decided in time
 */
public record Decision(boolean approved, Optional<String> decidedBy, Optional<String> reason) {
  /** Shows the decision, not its reason. */
  @Override
  public String toString() {
    return "Decision[" + (approved ? "approved" : "denied") + "]";
  }
}
