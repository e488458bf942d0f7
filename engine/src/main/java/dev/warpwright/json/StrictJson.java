package dev.warpwright.json;

import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.TokenStreamLocation;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.core.json.JsonWriteFeature;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.ObjectReader;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.databind.node.StringNode;

/**
 * The one place where Warpwright's JSON rules live: numbers stay exact, nesting is bounded, text
 * after a value is refused, unpaired surrogates are replaced by U+FFFD before anything is written.
 *
 * <p>Internal: this package is exported to Warpwright's own modules only, so that Jackson's types
 * stay out of the public API.
 */
public final class StrictJson {
  /** The deepest nesting that is read; deeper input is refused. */
  public static final int MAX_DEPTH = 100;

  /** The longest number, in characters; a longer one is refused where it is read or made. */
  public static final int MAX_NUMBER = 1_000;

  /** The longest text that is read as one value, in characters. */
  public static final int MAX_CHARACTERS = 128 * 1024 * 1024;

  private static final JsonFactory FACTORY =
      JsonFactory.builder()
          .streamReadConstraints(
              StreamReadConstraints.builder()
                  .maxNestingDepth(MAX_DEPTH)
                  .maxNumberLength(MAX_NUMBER)
                  .maxNameLength(MAX_CHARACTERS)
                  .maxStringLength(MAX_CHARACTERS)
                  .build())
          .disable(JsonWriteFeature.ESCAPE_FORWARD_SLASHES)
          .build();

  /** Reads provider documents: of two equal keys the last one wins. */
  private static final JsonMapper LENIENT_KEYS =
      JsonMapper.builder(FACTORY)
          .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .build();

  /** Reads tool input and values of our own: an object with two equal keys is refused. */
  private static final JsonMapper UNIQUE_KEYS =
      LENIENT_KEYS.rebuild().enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION).build();

  /** Reads as {@link #UNIQUE_KEYS} does, and leaves what stands behind the value. */
  private static final ObjectReader PREFIX =
      UNIQUE_KEYS.reader().without(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);

  private StrictJson() {}

  /**
   * The mapper that builds and writes trees.
   *
   * @return a shared, thread-safe mapper
   */
  public static JsonMapper mapper() {
    return LENIENT_KEYS;
  }

  /**
   * Reads one value and refuses duplicate keys.
   *
   * @param text the whole text
   * @return the tree
   * @throws JacksonException if the text is no single JSON value within the bounds
   */
  public static JsonNode read(String text) {
    try {
      return present(UNIQUE_KEYS.readTree(text));
    } catch (ArithmeticException | NumberFormatException e) {
      throw new UnreadableException("A number is out of range.", e);
    }
  }

  /**
   * What stands at a place in a text.
   *
   * @param value the value that begins there; empty if what begins there is none
   * @param end the index behind it, or where it breaks off; behind the place in either case
   */
  public record Prefix(Optional<JsonNode> value, int end) {}

  /**
   * Reads the value that begins at a place, whatever stands behind it, and refuses duplicate keys.
   *
   * @param text a text; it is not copied
   * @param start the index of the value's first character
   * @return the value and where it ends
   */
  public static Prefix readPrefix(char[] text, int start) {
    try (JsonParser parser = PREFIX.createParser(text, start, text.length - start)) {
      try {
        JsonNode value = PREFIX.readTree(parser);
        return new Prefix(Optional.of(value), behind(start, parser.currentLocation()));
      } catch (ArithmeticException | NumberFormatException e) {
        return new Prefix(Optional.empty(), behind(start, parser.currentLocation()));
      } catch (JacksonException e) {
        return new Prefix(
            Optional.empty(),
            behind(start, e.getLocation() == null ? parser.currentLocation() : e.getLocation()));
      }
    }
  }

  /** The parser counts from the place where it began. */
  private static int behind(int start, TokenStreamLocation location) {
    return start + Math.max(1, Math.toIntExact(location.getCharOffset()));
  }

  /**
   * Reads one value of a provider; of two equal keys the last one wins.
   *
   * @param bytes the whole body, UTF-8
   * @return the tree
   * @throws JacksonException if the bytes are no single JSON value within the bounds
   */
  public static JsonNode readDocument(byte[] bytes) {
    try {
      return present(LENIENT_KEYS.readTree(bytes));
    } catch (ArithmeticException | NumberFormatException e) {
      throw new UnreadableException("A number is out of range.", e);
    }
  }

  /**
   * Reads one value of a provider; of two equal keys the last one wins.
   *
   * @param text the whole text
   * @return the tree
   * @throws JacksonException if the text is no single JSON value within the bounds
   */
  public static JsonNode readDocument(String text) {
    try {
      return present(LENIENT_KEYS.readTree(text));
    } catch (ArithmeticException | NumberFormatException e) {
      throw new UnreadableException("A number is out of range.", e);
    }
  }

  private static JsonNode present(JsonNode node) {
    if (node.isMissingNode()) {
      throw new UnreadableException("The text holds no JSON value.", null);
    }
    return node;
  }

  /**
   * Writes a tree as compact text in which every unpaired surrogate is replaced by U+FFFD.
   *
   * @param node the tree
   * @return the text; members keep their order
   */
  public static String write(JsonNode node) {
    return LENIENT_KEYS.writeValueAsString(clean(node));
  }

  /**
   * Writes a tree as {@link #write} does, in UTF-8.
   *
   * @param node the tree
   * @return the bytes
   */
  public static byte[] bytes(JsonNode node) {
    return LENIENT_KEYS.writeValueAsBytes(clean(node));
  }

  /**
   * Writes a tree with the members of every object sorted by key, so that equal values give equal
   * texts.
   *
   * @param node the tree
   * @return the canonical text
   */
  public static String canonical(JsonNode node) {
    return LENIENT_KEYS.writeValueAsString(sorted(clean(node)));
  }

  /**
   * Whether the members of every object are sorted by key, as in {@link #canonical}.
   *
   * @param node the tree
   * @return true if they are
   */
  public static boolean isSorted(JsonNode node) {
    String last = null;
    for (Map.Entry<String, JsonNode> member : node.properties()) {
      if (last != null && last.compareTo(member.getKey()) > 0) {
        return false;
      }
      last = member.getKey();
    }
    for (JsonNode inner : node) {
      if (inner.isContainer() && !isSorted(inner)) {
        return false;
      }
    }
    return true;
  }

  private static JsonNode sorted(JsonNode node) {
    if (node.isObject()) {
      Map<String, JsonNode> members = new TreeMap<>();
      node.properties().forEach(member -> members.put(member.getKey(), sorted(member.getValue())));
      ObjectNode sorted = LENIENT_KEYS.createObjectNode();
      members.forEach(sorted::set);
      return sorted;
    }
    if (node.isArray()) {
      ArrayNode sorted = LENIENT_KEYS.createArrayNode();
      node.forEach(element -> sorted.add(sorted(element)));
      return sorted;
    }
    return node;
  }

  /** Returns the same tree if it is clean, which it nearly always is. */
  private static JsonNode clean(JsonNode node) {
    if (isClean(node)) {
      return node;
    }
    if (node.isObject()) {
      ObjectNode copy = LENIENT_KEYS.createObjectNode();
      node.properties()
          .forEach(member -> copy.set(cleanText(member.getKey()), clean(member.getValue())));
      return copy;
    }
    if (node.isArray()) {
      ArrayNode copy = LENIENT_KEYS.createArrayNode();
      node.forEach(element -> copy.add(clean(element)));
      return copy;
    }
    return StringNode.valueOf(cleanText(node.stringValue()));
  }

  private static boolean isClean(JsonNode node) {
    if (node.isString()) {
      return firstUnpaired(node.stringValue(), 0) < 0;
    }
    if (node.isObject()) {
      for (Map.Entry<String, JsonNode> member : node.properties()) {
        if (firstUnpaired(member.getKey(), 0) >= 0 || !isClean(member.getValue())) {
          return false;
        }
      }
    } else if (node.isArray()) {
      for (JsonNode element : node) {
        if (!isClean(element)) {
          return false;
        }
      }
    }
    return true;
  }

  /**
   * Replaces every unpaired surrogate by U+FFFD.
   *
   * @param text any text
   * @return the same string if there is none
   */
  public static String cleanText(String text) {
    int next = firstUnpaired(text, 0);
    if (next < 0) {
      return text;
    }
    StringBuilder clean = new StringBuilder(text);
    while (next >= 0) {
      clean.setCharAt(next, '\uFFFD');
      next = firstUnpaired(text, next + 1);
    }
    return clean.toString();
  }

  private static int firstUnpaired(String text, int from) {
    int i = from;
    while (i < text.length()) {
      char c = text.charAt(i);
      if (!Character.isSurrogate(c)) {
        i++;
      } else if (Character.isHighSurrogate(c)
          && i + 1 < text.length()
          && Character.isLowSurrogate(text.charAt(i + 1))) {
        i += 2;
      } else {
        return i;
      }
    }
    return -1;
  }

  /** Refuses what Jackson lets pass, or fails on in its own way. */
  private static final class UnreadableException extends JacksonException {
    private static final long serialVersionUID = 1L;

    UnreadableException(String message, @Nullable Throwable cause) {
      super(message, cause);
    }

    @Override
    public Object processor() {
      return StrictJson.class;
    }
  }
}
