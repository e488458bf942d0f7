package dev.warpwright.adapters.http;

import java.math.BigInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A whole message by which a server says that the input is longer than the context window.
 *
 * <p>The message must begin with the form; after its last word only the end of the sentence and
 * further sentences may follow. Letter case, the form of apostrophes and the amount of white space
 * do not matter. Where a form names both numbers as the groups {@code input} and {@code window}, it
 * matches only if the input is the larger one: the same sentence is also used when input and wanted
 * output together are too long, which a smaller output limit would cure.
 */
public final class ContextForm {
  private static final int LONGEST_MESSAGE = 4_096;
  private static final Pattern SPACE = Pattern.compile("\\s+");

  private final Pattern pattern;
  private final boolean compares;

  private ContextForm(Pattern pattern) {
    this.pattern = pattern;
    this.compares = pattern.namedGroups().containsKey("input");
  }

  /**
   * Makes a form.
   *
   * @param regex matches the form's words; {@code #} stands for a number of tokens
   * @return the form
   */
  public static ContextForm of(String regex) {
    String numbers = regex.replace("#", "[0-9][0-9,]{0,15}");
    return new ContextForm(
        Pattern.compile(
            "(?:" + numbers + ")(?:[.!,;:](?: .*)?)?", Pattern.CASE_INSENSITIVE | Pattern.DOTALL));
  }

  boolean matches(String message) {
    String cut =
        message.length() <= LONGEST_MESSAGE ? message : message.substring(0, LONGEST_MESSAGE);
    String plain = SPACE.matcher(cut.strip().replace('’', '\'')).replaceAll(" ");
    Matcher matcher = pattern.matcher(plain);
    return matcher.matches()
        && (!compares
            || number(matcher.group("input")).compareTo(number(matcher.group("window"))) > 0);
  }

  private static BigInteger number(String digits) {
    return new BigInteger(digits.replace(",", ""));
  }
}
