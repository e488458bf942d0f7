package dev.warpwright.control;

import java.time.Instant;

/**
 * A call is not let through, and nothing was taken: the target is skipped.
 *
 * @param reason why
 * @param earliestReturn the earliest instant at which a call may be let through: the end of the
 *     cooldown or, if that is in the hands of calls that are under way and may end at any moment,
 *     the present
 */
public record CircuitRefusal(Reason reason, Instant earliestReturn) implements CircuitDecision {
  /** Why a call is refused. */
  public enum Reason {
    /** The cooldown has not ended. */
    OPEN,
    /** The cooldown has ended, and as many probes as may be are under way. */
    PROBING,
    /** The target is new, and the states of as many others as may be are needed. */
    TABLE_FULL
  }
}
