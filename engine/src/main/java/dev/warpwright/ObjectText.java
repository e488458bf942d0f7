package dev.warpwright;

import dev.warpwright.json.StrictJson;
import dev.warpwright.model.Json;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/**
 * Finds the JSON value in the final text of an answer. Pure; its work grows with the length of the
 * text and no faster.
 */
final class ObjectText {
  private static final Pattern FENCED =
      Pattern.compile("```[A-Za-z0-9]*\\s(.*)```", Pattern.DOTALL);

  private static final Pattern LITERAL = Pattern.compile("(true|false|null)\\b");

  private ObjectText() {}

  /**
   * What was found.
   *
   * @param value the value; empty if the text has none or more than one
   * @param fault what is wrong with the text, without any of it; empty if there is a value
   */
  record Found(Optional<Json> value, String fault) {
    private static Found value(JsonNode node) {
      return new Found(Optional.of(Json.parse(StrictJson.write(node))), "");
    }

    private static Found fault(String what) {
      return new Found(Optional.empty(), what);
    }
  }

  /**
   * Reads the text of a provider that was held to JSON: it is one value.
   *
   * @param text the whole text
   */
  static Found exact(String text) {
    try {
      return Found.value(StrictJson.read(text));
    } catch (JacksonException e) {
      return Found.fault(whereItBreaks(e));
    }
  }

  /**
   * Reads the text of a model that was asked for JSON: a code fence around the value and words
   * before and after it are passed over. In words only an object or an array is looked for, and one
   * that breaks off is the end of it: a smaller one inside is not what was asked for.
   *
   * @param text the whole text
   */
  static Found tolerant(String text) {
    Found whole = exact(unfenced(text));
    return whole.value().isPresent() ? whole : amongWords(text, whole);
  }

  private static String unfenced(String text) {
    Matcher fence = FENCED.matcher(text.strip());
    return fence.matches() ? fence.group(1) : text;
  }

  private static Found amongWords(String text, Found whole) {
    @Nullable JsonNode value = null;
    char[] characters = text.toCharArray();
    int at = nextValue(text, 0);
    while (at >= 0) {
      StrictJson.Prefix prefix = StrictJson.readPrefix(characters, at);
      if (prefix.value().isEmpty()) {
        return Found.fault("The JSON value in it breaks off.");
      }
      if (value != null) {
        return Found.fault("It holds more than one JSON value.");
      }
      value = prefix.value().get();
      at = nextValue(text, prefix.end());
    }
    return value == null ? whole : Found.value(value);
  }

  /** Where an object or an array begins; a bracket with words behind it is a word itself. */
  private static int nextValue(String text, int from) {
    for (int i = from; i < text.length(); i++) {
      char c = text.charAt(i);
      if ((c == '{' || c == '[') && isValue(text, i)) {
        return i;
      }
    }
    return -1;
  }

  private static boolean isValue(String text, int bracket) {
    int i = bracket + 1;
    while (i < text.length() && " \t\r\n".indexOf(text.charAt(i)) >= 0) {
      i++;
    }
    if (i == text.length()) {
      return false;
    }
    char next = text.charAt(i);
    return text.charAt(bracket) == '{'
        ? next == '"' || next == '}'
        : "\"{[]-0123456789".indexOf(next) >= 0
            || LITERAL.matcher(text).region(i, text.length()).lookingAt();
  }

  private static String whereItBreaks(JacksonException e) {
    return e.getLocation() == null
        ? "It holds no JSON value that is accepted here."
        : "It is not one JSON value, at most %d levels deep and no key twice; it breaks off at line %d, column %d."
            .formatted(
                StrictJson.MAX_DEPTH, e.getLocation().getLineNr(), e.getLocation().getColumnNr());
  }
}
