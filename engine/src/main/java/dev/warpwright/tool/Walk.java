package dev.warpwright.tool;

import dev.warpwright.json.StrictJson;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Where one reading or writing stands in the JSON value, and what it has found wrong so far.
 *
 * <p>Paths name members that the type declares and indexes; a key of a map is content and is shown
 * as its ordinal. Used by one thread.
 */
final class Walk {
  static final int MAX_VIOLATIONS = 20;

  private static final int MAX_LISTED = 20;

  /** A {@code String} is a declared member, an {@code Integer} an index, an {@code Entry} a key. */
  private final List<Object> path = new ArrayList<>();

  private final List<String> violations = new ArrayList<>();

  private record Entry(int ordinal) {}

  void enterMember(String name) {
    enter(name);
  }

  void enterElement(int index) {
    enter(index);
  }

  /** Enters the value under a key of a map; the first is 1. */
  void enterEntry(int ordinal) {
    enter(new Entry(ordinal));
  }

  private void enter(Object step) {
    if (path.size() == StrictJson.MAX_DEPTH) {
      throw refusal("is nested deeper than " + StrictJson.MAX_DEPTH + " levels");
    }
    path.add(step);
  }

  void leave() {
    path.removeLast();
  }

  /** Records that the value here breaks a rule. */
  void report(String rule) {
    if (!full()) {
      violations.add(path() + " " + rule);
    }
  }

  /** Whether no further violation is recorded; a reader of many elements stops then. */
  boolean full() {
    return violations.size() == MAX_VIOLATIONS;
  }

  int found() {
    return violations.size();
  }

  List<String> violations() {
    return List.copyOf(violations);
  }

  /** The failure of a writer: the value here has no JSON. */
  InvalidRequestException refusal(String rule) {
    return new InvalidRequestException(
        FailureKind.INVALID_REQUEST, "The value cannot be written as JSON: " + path() + " " + rule);
  }

  /** The value a writer is to write; null is allowed nowhere but in an absent component. */
  Object present(@Nullable Object value) {
    if (value == null) {
      throw refusal("is null");
    }
    return value;
  }

  private String path() {
    StringBuilder text = new StringBuilder("$");
    for (Object step : path) {
      switch (step) {
        case Entry entry -> text.append("[entry ").append(entry.ordinal).append(']');
        case Integer index -> text.append('[').append(index).append(']');
        default -> text.append('.').append(step);
      }
    }
    return text.toString();
  }

  /** The rule that another JSON type is wanted, with the type that is there. */
  static String mustBe(String wanted, JsonNode node) {
    return "must be " + wanted + ", is " + kindOf(node);
  }

  private static String kindOf(JsonNode node) {
    return switch (node.getNodeType()) {
      case OBJECT -> "an object";
      case ARRAY -> "an array";
      case STRING -> "a string";
      case NUMBER -> "a number";
      case BOOLEAN -> "a boolean";
      default -> "null";
    };
  }

  /** Names that the type declares, cut when there are many. */
  static String listed(Collection<String> names) {
    String shown = names.stream().limit(MAX_LISTED).collect(Collectors.joining(", "));
    return names.size() > MAX_LISTED
        ? shown + " and " + (names.size() - MAX_LISTED) + " more"
        : shown;
  }
}
