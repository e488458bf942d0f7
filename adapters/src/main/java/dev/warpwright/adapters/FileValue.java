package dev.warpwright.adapters;

import dev.warpwright.adapters.http.Refusal;
import dev.warpwright.model.InvalidRequestException;
import java.math.BigDecimal;
import java.time.LocalDate;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;

/**
 * A value of a model file and its place there, which every refusal names.
 *
 * @param path the members and indices that lead to it
 * @param node the value
 */
record FileValue(String path, JsonNode node) {
  private static final int SHOWN = 60;

  static FileValue root(JsonNode node) {
    return new FileValue("", node);
  }

  /** Refuses what is no object, or has other members. */
  void members(String... known) {
    List<String> names = List.of(known);
    for (Map.Entry<String, FileValue> entry : entries()) {
      if (!names.contains(entry.getKey())) {
        throw Refusal.configuration(
            "%s must be one of the members %s here, but is not."
                .formatted(entry.getValue().place(), String.join(", ", names)));
      }
    }
  }

  List<Map.Entry<String, FileValue>> entries() {
    if (!node.isObject()) {
      throw invalid("must be an object");
    }
    List<Map.Entry<String, FileValue>> entries = new ArrayList<>();
    node.properties()
        .forEach(e -> entries.add(Map.entry(e.getKey(), child(e.getKey(), e.getValue()))));
    return entries;
  }

  Optional<FileValue> optional(String name) {
    return node.has(name) ? Optional.of(child(name, node.get(name))) : Optional.empty();
  }

  FileValue member(String name) {
    return optional(name)
        .orElseThrow(
            () ->
                Refusal.configuration(
                    "%s must have the member \"%s\", but has not.".formatted(place(), name)));
  }

  private FileValue child(String name, JsonNode value) {
    return new FileValue(path.isEmpty() ? name : path + "." + name, value);
  }

  List<FileValue> items() {
    if (!node.isArray()) {
      throw invalid("must be a list");
    }
    List<FileValue> items = new ArrayList<>();
    for (JsonNode item : node) {
      items.add(new FileValue(path + "[" + items.size() + "]", item));
    }
    return items;
  }

  String text() {
    if (!node.isString() || node.stringValue().isBlank()) {
      throw invalid("must be a text that is not blank");
    }
    return node.stringValue();
  }

  long count() {
    if (!node.isIntegralNumber() || !node.canConvertToLong()) {
      throw invalid("must be a whole number");
    }
    return node.longValue();
  }

  BigDecimal decimal(Pattern form, String rule) {
    if (!node.isString() || !form.matcher(node.stringValue()).matches()) {
      throw invalid(rule);
    }
    return new BigDecimal(node.stringValue());
  }

  LocalDate date() {
    try {
      return LocalDate.parse(text());
    } catch (DateTimeParseException e) {
      throw invalid("must be a day such as \"2026-11-30\"");
    }
  }

  <E> E oneOf(E[] values, Function<E, String> name) {
    String given = node.isString() ? node.stringValue() : "";
    return Arrays.stream(values)
        .filter(value -> name.apply(value).equals(given))
        .findFirst()
        .orElseThrow(
            () ->
                invalid(
                    Arrays.stream(values)
                        .map(name)
                        .collect(Collectors.joining(", ", "must be one of ", ""))));
  }

  InvalidRequestException invalid(String rule) {
    return Refusal.configuration(
        "%s %s, but is %s.".formatted(place(), rule, printable(node.toString())));
  }

  /** How messages name the place. */
  String place() {
    return path.isEmpty() ? "A model file" : printable(path) + " in a model file";
  }

  private static String printable(String text) {
    String cut = text.length() <= SHOWN ? text : text.substring(0, SHOWN) + "…";
    return cut.replaceAll("\\p{Cntrl}", "?");
  }
}
