package dev.warpwright.model;

import dev.warpwright.json.StrictJson;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/**
 * A JSON value as its validated, compact text.
 *
 * <p>It is how raw JSON crosses the API: numbers keep every digit, the order of members is kept,
 * nesting is at most 100 levels deep, an object has no key twice, and unpaired surrogates are
 * replaced by U+FFFD when the value is made. Two values are equal if their texts are equal; use
 * {@link #canonical()} to compare without regard to the order of members. Instances are immutable.
 * {@link #toString()} does not show the content.
 */
public final class Json {
  /** The empty object, <code>{}</code>. */
  public static final Json EMPTY_OBJECT = new Json("{}", true);

  private final String text;
  private final boolean object;

  private Json(String text, boolean object) {
    this.text = text;
    this.object = object;
  }

  /**
   * Reads a text.
   *
   * @param text exactly one JSON value, white space around it allowed
   * @return the value
   * @throws InvalidRequestException if the text breaks a rule of this class; the message names the
   *     rule and the place, never the content
   */
  public static Json parse(String text) {
    try {
      return of(StrictJson.read(text));
    } catch (JacksonException e) {
      throw new InvalidRequestException(
          FailureKind.INVALID_REQUEST,
          "Not a JSON value that is accepted here: one value, at most "
              + StrictJson.MAX_DEPTH
              + " levels deep, no key twice; it breaks off at line "
              + (e.getLocation() == null ? 1 : e.getLocation().getLineNr())
              + ", column "
              + (e.getLocation() == null ? 1 : e.getLocation().getColumnNr())
              + ".");
    }
  }

  /**
   * Makes a value from plain Java: {@code Map} with string keys, {@code List}, {@code String},
   * {@code Boolean}, finite numbers, {@code Json}, and {@code null}.
   *
   * @param value the Java value
   * @return the JSON value
   * @throws InvalidRequestException if it holds anything else, or is nested too deeply
   */
  public static Json of(@Nullable Object value) {
    if (value instanceof Json json) {
      return json;
    }
    JsonNode tree = tree(value, 0);
    if (levels(tree) > StrictJson.MAX_DEPTH) {
      throw tooDeep();
    }
    return of(tree);
  }

  private static Json of(JsonNode node) {
    return new Json(StrictJson.write(node), node.isObject());
  }

  private static JsonNode tree(@Nullable Object value, int depth) {
    if (depth > StrictJson.MAX_DEPTH) {
      throw tooDeep();
    }
    var nodes = StrictJson.mapper().getNodeFactory();
    return switch (value) {
      case null -> nodes.nullNode();
      case Json json -> StrictJson.read(json.text);
      case String string -> nodes.stringNode(string);
      case Boolean bool -> nodes.booleanNode(bool);
      case Byte number -> nodes.numberNode(number.intValue());
      case Short number -> nodes.numberNode(number.intValue());
      case Integer number -> nodes.numberNode(number);
      case Long number -> nodes.numberNode(number);
      case BigInteger number -> nodes.numberNode(bounded(number));
      case BigDecimal number -> nodes.numberNode(bounded(number));
      case Float number -> tree(Double.valueOf(number.toString()), depth);
      case Double number -> {
        if (!Double.isFinite(number)) {
          throw refused("a number in it is not finite");
        }
        yield nodes.numberNode(new BigDecimal(number.toString()));
      }
      case List<?> list -> {
        var array = nodes.arrayNode();
        list.forEach(element -> array.add(tree(element, depth + 1)));
        yield array;
      }
      case Map<?, ?> map -> {
        var object = nodes.objectNode();
        map.forEach(
            (key, member) -> {
              if (!(key instanceof String name)) {
                throw refused("a key of an object is not a string");
              }
              object.set(name, tree(member, depth + 1));
            });
        yield object;
      }
      default -> throw refused("a " + value.getClass().getName() + " is no JSON value");
    };
  }

  private static <N extends Number> N bounded(N number) {
    int length = number.toString().length();
    if (length > StrictJson.MAX_NUMBER) {
      throw refused(
          "a number in it has %d characters, more than %d"
              .formatted(length, StrictJson.MAX_NUMBER));
    }
    return number;
  }

  /** How many objects and arrays lie in each other. */
  private static int levels(JsonNode node) {
    int deepest = 0;
    for (JsonNode inner : node) {
      deepest = Math.max(deepest, levels(inner));
    }
    return node.isContainer() ? deepest + 1 : 0;
  }

  private static InvalidRequestException tooDeep() {
    return refused("it is nested deeper than " + StrictJson.MAX_DEPTH + " levels");
  }

  private static InvalidRequestException refused(String reason) {
    return new InvalidRequestException(
        FailureKind.INVALID_REQUEST, "The value cannot be written as JSON: " + reason + ".");
  }

  /**
   * The compact text.
   *
   * @return the text, members in their original order
   */
  public String text() {
    return text;
  }

  /**
   * The compact text with the members of every object sorted by key.
   *
   * @return the canonical text; equal for values that differ only in the order of members
   */
  public String canonical() {
    JsonNode tree = StrictJson.read(text);
    return StrictJson.isSorted(tree) ? text : StrictJson.canonical(tree);
  }

  /**
   * Whether this is a JSON object.
   *
   * @return true for an object
   */
  public boolean isObject() {
    return object;
  }

  /**
   * The value as plain Java: unmodifiable {@code Map} (in member order) and {@code List}, {@code
   * String}, {@code Boolean}, {@code Integer}, {@code Long} or {@code BigInteger} for integers,
   * {@code BigDecimal} for other numbers, {@code null} for null.
   *
   * @return a fresh copy
   */
  public @Nullable Object value() {
    return plain(StrictJson.read(text));
  }

  private static @Nullable Object plain(JsonNode node) {
    if (node.isObject()) {
      Map<String, @Nullable Object> members = new LinkedHashMap<>();
      node.properties().forEach(member -> members.put(member.getKey(), plain(member.getValue())));
      return Collections.unmodifiableMap(members);
    }
    if (node.isArray()) {
      List<@Nullable Object> elements = new ArrayList<>(node.size());
      node.forEach(element -> elements.add(plain(element)));
      return Collections.unmodifiableList(elements);
    }
    if (node.isString()) {
      return node.stringValue();
    }
    if (node.isNumber()) {
      return node.numberValue();
    }
    return node.isBoolean() ? node.booleanValue() : null;
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof Json json && json.text.equals(text);
  }

  @Override
  public int hashCode() {
    return text.hashCode();
  }

  /** Shows the length only: content may be private. */
  @Override
  public String toString() {
    return "Json[" + text.length() + " characters]";
  }
}
