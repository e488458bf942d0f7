package dev.warpwright.model;

import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Replaces secrets in a text that leaves Warpwright, such as a provider's error text.
 *
 * <p>Replaced by {@code [REDACTED]} are: values of URL parameters that carry credentials, user-info
 * in URLs, values of credential headers, bearer and basic tokens, API keys of a well-known form,
 * and JSON fields with secret-looking names. Where it is not clear how far a secret reaches, more
 * is replaced rather than less: the whole line after {@code Authorization:} or {@code Cookie:}, and
 * the rest of the text after a value that was cut off. Redacting twice changes nothing more.
 *
 * <p>Stateless, thread-safe, and linear in the length of the text, whatever the text.
 */
public final class Redaction {
  /** What stands in place of a secret. */
  public static final String REPLACEMENT = "[REDACTED]";

  /*
   * All patterns stay linear in the same way: an attempt may run over many characters only if it
   * began at a fixed word, and then it either replaces what it ran over, or gives up at a character
   * that ends every other attempt as well. Runs that could be given back one by one are possessive.
   */

  /** The slashes may be percent-encoded, or escaped as JSON may do it. */
  private static final Pattern USER_INFO =
      Pattern.compile(
          "(?i)((?::|%3A)(?:\\\\?/\\\\?/|%2F%2F))"
              + "((?:(?!%2F|%3F|%23)[^/\\\\\\s\"'?#<>])+)(?=@|%40)");

  private static final Pattern LINE_HEADER =
      Pattern.compile(
          "(?i)\\b((?:proxy-)?authorization|(?:set-)?cookie)([ \\t]*+[:=][ \\t]*+)[^\\r\\n]++");

  private static final Pattern KEY_HEADER =
      Pattern.compile(
          "(?i)\\b(x-api-key|x-goog-api-key|api-key)"
              + "([ \\t]*+[:=][ \\t]*+[\"'\\[]?+)"
              + "(?!\\[?REDACTED])[^\\s\"'&,;)\\]}]++");

  private static final Pattern BEARER_TOKEN =
      Pattern.compile(
          "(?i)\\b(bearer)(\\s++|%20|\\+)"
              + "(?!(?:tokens?|auth|authentication|authorization|credentials?|scheme)(?![\\w~+/=-]))"
              + "[A-Za-z0-9._~+/=-]++");

  /** "Basic" is an English word: what follows must look like base64 and not like another word. */
  private static final Pattern BASIC_TOKEN =
      Pattern.compile(
          "(?i)\\b(basic)(\\s++|%20|\\+)"
              + "(?=[A-Za-z0-9._~+/=-]*?(?:[0-9+/=]|(?<=[A-Za-z])(?-i:[A-Z])))"
              + "[A-Za-z0-9._~+/=-]++");

  private static final Pattern URL_PARAMETER =
      Pattern.compile(
          "(?i)(?:(?<![A-Za-z0-9_.-])|(?<=%3F|%26))"
              + "(api[_-]?key|key|(?:access_|refresh_|id_)?token|(?:client_)?secret|signature"
              + "|x-amz-(?:signature|credential|security-token)|password)"
              + "((?:=|%3D)[\"']?+)(?!\\[?REDACTED])(?:(?!%26)[^&\\s\"'<>#;,)\\]}])++");

  private static final Pattern WELL_KNOWN_KEY =
      Pattern.compile("(?<![A-Za-z0-9_-])(?:sk-|gsk_|xai-|AIza|AKIA)[A-Za-z0-9_-]{16,}+");

  private static final Pattern SECRET_NAME =
      Pattern.compile("(?i)key|token|secret|password|credential|authorization|signature|cookie");

  private static final Pattern HARMLESS_NAME =
      Pattern.compile(
          "(?i)(?:max|min|prompt|completion|input|output|total|cached?|reasoning|thinking|estimated"
              + "|expected|audio|text|image|budget|accepted_prediction|rejected_prediction)"
              + ".*tokens?(?:_details|_count|count)?|tokens|max_?tokens|token_?count|idempotency_?key"
              + "|affinity_?key|key_?words?|token_?type");

  private static final int LONGEST_NAME = 256;

  private Redaction() {}

  /**
   * Keeps secrets out of a chain of causes.
   *
   * @param thrown what was thrown
   * @return the throwable itself if no text in its chain of causes and suppressed exceptions holds
   *     a secret, else a copy of the chain that has their class names, stack traces and redacted
   *     texts
   */
  public static Throwable redact(Throwable thrown) {
    return RedactedException.of(thrown);
  }

  /**
   * Replaces the secrets in a text.
   *
   * @param text any text
   * @return the text without them; the same string if there are none
   */
  public static String redact(String text) {
    if (isOneWord(text)) {
      return WELL_KNOWN_KEY.matcher(text).replaceAll(REPLACEMENT); // as all else needs more
    }
    String result = redactFields(text);
    result = USER_INFO.matcher(result).replaceAll("$1" + REPLACEMENT);
    result = URL_PARAMETER.matcher(result).replaceAll("$1$2" + REPLACEMENT);
    result = LINE_HEADER.matcher(result).replaceAll("$1$2" + REPLACEMENT);
    result = KEY_HEADER.matcher(result).replaceAll("$1$2" + REPLACEMENT);
    result = BEARER_TOKEN.matcher(result).replaceAll("$1$2" + REPLACEMENT);
    result = BASIC_TOKEN.matcher(result).replaceAll("$1$2" + REPLACEMENT);
    result = WELL_KNOWN_KEY.matcher(result).replaceAll(REPLACEMENT);
    return result.equals(text) ? text : result;
  }

  /** Whether it is made of letters, digits, hyphens, underscores and dots, as ids are. */
  private static boolean isOneWord(String text) {
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      boolean letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
      if (!letter && (c < '0' || c > '9') && c != '-' && c != '_' && c != '.') {
        return false;
      }
    }
    return true;
  }

  /**
   * Replaces the values of secret-looking JSON fields.
   *
   * <p>The text is not parsed: it may be prose with a piece of JSON in it, JSON inside a JSON
   * string, a dictionary that Python printed, or cut off. Every quote may begin a name; it is one
   * if the next quote of the same kind and the same escaping is followed by a colon. The value is a
   * string up to its own closing quote, an object or array up to its closing bracket, or a bare
   * word.
   */
  private static String redactFields(String text) {
    StringBuilder result = new StringBuilder();
    int copied = 0;
    Quote open = Quote.next(text, 0);
    while (open != null) {
      Quote close = Quote.next(text, open.after());
      if (close == null) {
        break;
      }
      int value = startOfValue(text, open, close);
      if (value < 0) {
        open = close; // it may begin a name itself
        continue;
      }
      int end = value;
      if (isSecret(text.substring(open.after(), close.start()))) {
        end = endOfValue(text, value);
        String quote = text.substring(open.start(), open.after());
        result.append(text, copied, value).append(quote).append(REPLACEMENT).append(quote);
        copied = end;
      }
      open = Quote.next(text, end);
    }
    return copied == 0 ? text : result.append(text, copied, text.length()).toString();
  }

  private static boolean isSecret(String name) {
    return SECRET_NAME.matcher(name).find() && !HARMLESS_NAME.matcher(name).matches();
  }

  /** Where the value of the member begins, or -1 if the two quotes do not enclose a name. */
  private static int startOfValue(String text, Quote open, Quote close) {
    if (close.kind() != open.kind()
        || close.escapes() != open.escapes()
        || close.start() - open.after() > LONGEST_NAME) {
      return -1;
    }
    int colon = skipSpace(text, close.after());
    if (colon >= text.length() || text.charAt(colon) != ':') {
      return -1;
    }
    int value = skipSpace(text, colon + 1);
    return value < text.length() ? value : -1;
  }

  /** Skips white space, also as the escapes that stand for it inside a string. */
  private static int skipSpace(String text, int from) {
    int i = from;
    while (i < text.length()) {
      if (Character.isWhitespace(text.charAt(i))) {
        i++;
        continue;
      }
      int letter = i;
      while (letter < text.length() && text.charAt(letter) == '\\') {
        letter++;
      }
      if (letter == i || letter == text.length() || "nrt".indexOf(text.charAt(letter)) < 0) {
        return i;
      }
      i = letter + 1;
    }
    return i;
  }

  private static int endOfValue(String text, int start) {
    Quote quote = Quote.at(text, start);
    if (quote != null) {
      return endOfString(text, quote);
    }
    char first = text.charAt(start);
    return first == '{' || first == '[' ? endOfBrackets(text, start) : endOfWord(text, start);
  }

  private static int endOfString(String text, Quote open) {
    for (Quote q = Quote.next(text, open.after()); q != null; q = Quote.next(text, q.after())) {
      if (q.closes(open)) {
        return q.after();
      }
      if (q.kind() == open.kind() && q.escapes() < open.escapes()) {
        return q.start(); // the string around it ends: the value was cut off
      }
    }
    return text.length();
  }

  private static int endOfBrackets(String text, int start) {
    int depth = 0;
    int i = start;
    while (i < text.length()) {
      Quote quote = Quote.at(text, i);
      if (quote != null) {
        i = endOfString(text, quote);
        continue;
      }
      char c = text.charAt(i);
      if (c == '{' || c == '[') {
        depth++;
      } else if (c == '}' || c == ']') {
        depth--;
        if (depth == 0) {
          return i + 1;
        }
      }
      do {
        i++;
      } while (c == '\\' && i < text.length() && text.charAt(i) == '\\');
    }
    return text.length();
  }

  private static int endOfWord(String text, int start) {
    int i = start;
    while (i < text.length() && !Character.isWhitespace(text.charAt(i))) {
      if (",}]\"'".indexOf(text.charAt(i)) >= 0) {
        return i;
      }
      i++;
    }
    return i;
  }

  /**
   * A quote character and the backslashes directly before it.
   *
   * @param start the first backslash, or the quote itself
   * @param after behind the quote
   * @param kind the character
   */
  private record Quote(int start, int after, char kind) {
    static @Nullable Quote next(String text, int from) {
      int backslashes = 0;
      for (int i = from; i < text.length(); i++) {
        char c = text.charAt(i);
        if (c == '\\') {
          backslashes++;
        } else if (c == '"' || c == '\'') {
          return new Quote(i - backslashes, i + 1, c);
        } else {
          backslashes = 0;
        }
      }
      return null;
    }

    /** The quote whose backslashes, or which itself, begins here. */
    static @Nullable Quote at(String text, int start) {
      int i = start;
      while (i < text.length() && text.charAt(i) == '\\') {
        i++;
      }
      boolean quote = i < text.length() && (text.charAt(i) == '"' || text.charAt(i) == '\'');
      return quote ? new Quote(start, i + 1, text.charAt(i)) : null;
    }

    int escapes() {
      return after - start - 1;
    }

    /**
     * Whether it ends the string that began at the other one. Each level of strings in strings
     * doubles the backslashes, plus one before each quote; so at the level of an opening quote with
     * n of them, a quote that belongs to the content has them in excess by an odd multiple of n +
     * 1.
     */
    boolean closes(Quote open) {
      int excess = escapes() - open.escapes();
      return kind == open.kind && excess >= 0 && excess % (2 * (open.escapes() + 1)) == 0;
    }
  }
}
