package dev.warpwright.adapters.scripted;

import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** One object of a script: reads its members strictly and says where they stand. */
final class Fields {
  private final JsonNode node;
  private final Place place;

  private Fields(JsonNode node, Place place) {
    this.node = node;
    this.place = place;
  }

  /** Takes an object and refuses members other than those allowed. */
  static Fields of(JsonNode node, Place place, String... allowed) {
    if (!node.isObject()) {
      throw place.refuse("must be an object, but is " + kind(node));
    }
    Set<String> unknown = new TreeSet<>(node.propertyNames());
    Set<String> known = new TreeSet<>(List.of(allowed));
    unknown.removeAll(known);
    if (!unknown.isEmpty()) {
      throw place.refuse(
          "unknown key \""
              + String.join("\", \"", unknown)
              + "\"; allowed are "
              + String.join(", ", allowed));
    }
    return new Fields(node, place);
  }

  static String kind(JsonNode node) {
    return switch (node.getNodeType()) {
      case STRING -> "a string";
      case NUMBER -> "the number " + node.numberValue();
      case BOOLEAN -> node.booleanValue() ? "true" : "false";
      case ARRAY -> "an array";
      case OBJECT -> "an object";
      default -> "null";
    };
  }

  Place place() {
    return place;
  }

  Place place(String key) {
    return place.member(key);
  }

  boolean has(String key) {
    return node.has(key);
  }

  Optional<JsonNode> value(String key) {
    @Nullable JsonNode value = node.get(key);
    return Optional.ofNullable(value);
  }

  JsonNode required(String key, String what) {
    return value(key).orElseThrow(() -> place.refuse("\"" + key + "\" is missing: " + what));
  }

  Optional<String> text(String key) {
    Optional<JsonNode> value = value(key);
    if (value.isPresent() && !value.get().isString()) {
      throw place(key).refuse("must be a string, but is " + kind(value.get()));
    }
    return value.map(JsonNode::stringValue);
  }

  Optional<Boolean> bool(String key) {
    Optional<JsonNode> value = value(key);
    if (value.isPresent() && !value.get().isBoolean()) {
      throw place(key).refuse("must be true or false, but is " + kind(value.get()));
    }
    return value.map(JsonNode::booleanValue);
  }

  OptionalLong number(String key, long min, long max) {
    Optional<JsonNode> value = value(key);
    if (value.isEmpty()) {
      return OptionalLong.empty();
    }
    JsonNode number = value.get();
    boolean whole = number.isIntegralNumber() && number.canConvertToLong();
    if (!whole || number.longValue() < min || number.longValue() > max) {
      String bounds = max == Long.MAX_VALUE ? min + " or more" : min + " to " + max;
      throw place(key).refuse("must be a whole number, " + bounds + ", but is " + kind(number));
    }
    return OptionalLong.of(number.longValue());
  }

  Optional<Duration> duration(String key) {
    Optional<String> text = text(key);
    if (text.isEmpty()) {
      return Optional.empty();
    }
    try {
      Duration duration = Duration.parse(text.get());
      if (!duration.isNegative() && duration.compareTo(Duration.ofDays(1)) <= 0) {
        return Optional.of(duration);
      }
    } catch (DateTimeParseException e) {
      // Refused below, like one that is out of bounds.
    }
    throw place(key)
        .refuse(
            "must be an ISO duration from PT0S to PT24H, such as \"PT0.05S\", but is \""
                + text.get()
                + "\"");
  }

  /** The constant of an enum that a text names. */
  <E extends Enum<E>> Optional<E> choice(String key, Class<E> type) {
    Optional<String> name = text(key);
    if (name.isEmpty()) {
      return Optional.empty();
    }
    E[] constants = type.getEnumConstants();
    return Optional.of(
        Arrays.stream(constants)
            .filter(constant -> constant.name().equals(name.get()))
            .findFirst()
            .orElseThrow(
                () ->
                    place(key)
                        .refuse(
                            "must be "
                                + Arrays.stream(constants)
                                    .map(Enum::name)
                                    .collect(Collectors.joining(" or "))
                                + ", but is \""
                                + name.get()
                                + "\"")));
  }

  Optional<Pattern> regex(String key) {
    Optional<String> text = text(key);
    if (text.isEmpty()) {
      return Optional.empty();
    }
    try {
      return Optional.of(Pattern.compile(text.get()));
    } catch (PatternSyntaxException e) {
      throw place(key)
          .refuse(
              "is no java.util.regex pattern: "
                  + e.getDescription()
                  + " near index "
                  + e.getIndex()
                  + " of \""
                  + e.getPattern()
                  + "\"");
    }
  }

  /** The elements of a list with their places; empty if the key is absent. */
  List<Element> list(String key) {
    Optional<JsonNode> value = value(key);
    if (value.isEmpty()) {
      return List.of();
    }
    if (!value.get().isArray()) {
      throw place(key).refuse("must be an array, but is " + kind(value.get()));
    }
    List<Element> elements = new ArrayList<>();
    for (int i = 0; i < value.get().size(); i++) {
      elements.add(new Element(value.get().get(i), place(key).element(i)));
    }
    return elements;
  }

  /** An element of a list. */
  record Element(JsonNode node, Place place) {}
}
