package dev.warpwright.adapters.wire;

import dev.warpwright.model.Digest;
import java.util.regex.Pattern;

/**
 * The ids of tool calls that a destination accepts, and what others become there.
 *
 * <p>An id that another provider gave may be too long, or hold characters that this one refuses.
 * Such an id is replaced by one made from its hash: the same on the call and on its result, on
 * every step and after a restart, without any table. Ids that are accepted stay as they are.
 * Nothing has to be mapped back: an answer holds only new ids of the destination's own. Pure.
 */
public final class AcceptedIds {
  private static final int HEX_DIGITS = 32;

  private final Pattern accepted;

  private AcceptedIds(Pattern accepted) {
    this.accepted = accepted;
  }

  /**
   * Makes the rule of a destination.
   *
   * @param regex matches the whole of every accepted id; it must accept {@code call_} and 32 hex
   *     digits
   * @return the rule
   */
  public static AcceptedIds matching(String regex) {
    return new AcceptedIds(Pattern.compile(regex));
  }

  /**
   * The id under which the destination sees a call.
   *
   * @param id the call's id in the conversation
   * @return the same id if it is accepted, else one made from its hash
   */
  public String map(String id) {
    return accepted.matcher(id).matches() ? id : "call_" + Digest.hex(id).substring(0, HEX_DIGITS);
  }
}
