package dev.warpwright.run;

import java.util.Arrays;
import java.util.regex.Pattern;

/** Positions of the calls of a flow, as texts; see {@link FlowEvent}. */
public final class Position {
  /** How long a position may be; so branches are nested some sixty deep at most. */
  public static final int MAX_LENGTH = 256;

  private static final Pattern FORM =
      Pattern.compile("(?:cancel/)?[1-9][0-9]{0,8}(?:/[0-9]{1,9}/[1-9][0-9]{0,8})*");

  private Position() {}

  static boolean isValid(String position) {
    return position.length() <= MAX_LENGTH && FORM.matcher(position).matches();
  }

  /**
   * Compares by the numbers in them; what follows a cancel comes last.
   *
   * @param one a position, or the path of one that is to come
   * @param other another
   * @return negative if the first one comes first
   */
  public static int compare(String one, String other) {
    return Arrays.compare(numbers(one), numbers(other));
  }

  private static int[] numbers(String position) {
    return Arrays.stream(position.split("/"))
        .mapToInt(part -> part.equals("cancel") ? Integer.MAX_VALUE : Integer.parseInt(part))
        .toArray();
  }
}
