package dev.warpwright.adapters.http;

import java.util.Locale;
import java.util.Set;

/**
 * Checks values of request headers when an adapter is built.
 *
 * <p>The JDK checks them too, but per request, and its message shows the value. Everything that is
 * not visible ASCII is refused: a control character could split the header, and other characters
 * would not arrive as they were written.
 */
public final class HeaderValues {
  private static final Set<String> RESERVED =
      Set.of(
          "accept",
          "authorization",
          "connection",
          "content-length",
          "content-type",
          "expect",
          "host",
          "transfer-encoding",
          "upgrade");

  private HeaderValues() {}

  /**
   * Checks a secret that stands in a header as one token.
   *
   * @param name what the value is, for the message
   * @param secret the value; the message never shows it
   * @return the value
   */
  public static String requireToken(String name, String secret) {
    return require(name, secret, '!');
  }

  /**
   * Checks a text that may contain spaces.
   *
   * @param name what the value is, for the message
   * @param text the value; the message never shows it
   * @return the value
   */
  public static String requireText(String name, String text) {
    return require(name, text, ' ');
  }

  /**
   * Checks the name of a header that a program adds.
   *
   * @param name the name
   * @return the name
   */
  public static String requireName(String name) {
    if (!name.matches("[A-Za-z0-9-]{1,100}")) {
      throw Refusal.configuration(
          "A header's name must have 1 to 100 letters, digits and hyphens, but has "
              + name.length()
              + " characters, others among them or none.");
    }
    if (RESERVED.contains(name.toLowerCase(Locale.ROOT))) {
      throw Refusal.configuration(
          "The header " + name + " is set by the adapter or the HTTP client; leave it out.");
    }
    return name;
  }

  private static String require(String name, String value, char lowest) {
    if (value.isBlank()) {
      throw Refusal.configuration(
          name + " must not be blank; leave it out if the server needs none.");
    }
    for (int i = 0; i < value.length(); i++) {
      char c = value.charAt(i);
      if (c < lowest || c > '~') {
        throw Refusal.configuration(
            "%s must consist of visible ASCII characters, but has U+%04X at index %d of %d%s."
                .formatted(name, (int) c, i, value.length(), hint(c)));
      }
    }
    return value;
  }

  private static String hint(char c) {
    return c == '\n' || c == '\r'
        ? "; strip the line break that files and shells leave at the end"
        : "";
  }
}
