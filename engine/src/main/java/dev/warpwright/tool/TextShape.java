package dev.warpwright.tool;

import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A Java value that is a string in JSON.
 *
 * @param schema the schema as plain Java
 * @param rule what is said of a string that is not accepted
 * @param parser gives null for a string that is not accepted
 * @param writer gives null for a value that no accepted string stands for
 */
record TextShape(
    Map<String, Object> schema,
    String rule,
    Function<String, @Nullable Object> parser,
    Function<Object, @Nullable String> writer)
    implements ScalarShape {

  static final TextShape STRING =
      new TextShape(Map.of("type", "string"), "", text -> text, Object::toString);

  static final TextShape INSTANT =
      new TextShape(
          format("date-time"),
          "must be an RFC 3339 date-time of the years 0000 to 9999 such as 2026-01-31T08:30:00Z,"
              + " with at most nine digits behind the second",
          TimeText::instant,
          value -> TimeText.write((Instant) value));

  static final TextShape DATE =
      new TextShape(
          format("date"),
          "must be a date of the years 0000 to 9999 such as 2026-01-31",
          TimeText::date,
          value -> TimeText.write((LocalDate) value));

  static final TextShape DURATION =
      new TextShape(
          pattern(TimeText.DURATION_PATTERN),
          "must be an ISO 8601 duration in days, hours, minutes and seconds such as P1D or PT1M30S,"
              + " with at most twelve digits each",
          TimeText::duration,
          value -> TimeText.write((Duration) value));

  static final TextShape UUID =
      new TextShape(
          format("uuid"), "must be a UUID of 36 characters", TextShape::uuid, Object::toString);

  private static final int UUID_LENGTH = 36;

  /** The constants of an enum by their names. */
  static TextShape of(Class<?> type) {
    Map<String, Object> constants = new LinkedHashMap<>();
    for (Object constant : type.getEnumConstants()) {
      constants.put(((Enum<?>) constant).name(), constant);
    }
    Map<String, Object> schema = new LinkedHashMap<>();
    schema.put("type", "string");
    schema.put("enum", java.util.List.copyOf(constants.keySet()));
    return new TextShape(
        Definitions.described(schema, type.getAnnotation(Description.class)),
        "must be one of " + Walk.listed(constants.keySet()),
        constants::get,
        value -> ((Enum<?>) value).name());
  }

  private static Map<String, Object> format(String name) {
    return keyword("format", name);
  }

  private static Map<String, Object> pattern(String regex) {
    return keyword("pattern", regex);
  }

  private static Map<String, Object> keyword(String name, String value) {
    Map<String, Object> schema = new LinkedHashMap<>();
    schema.put("type", "string");
    schema.put(name, value);
    return schema;
  }

  private static @Nullable Object uuid(String text) {
    if (text.length() != UUID_LENGTH) {
      return null;
    }
    for (int i = 0; i < UUID_LENGTH; i++) {
      char c = text.charAt(i);
      boolean dash = i == 8 || i == 13 || i == 18 || i == 23;
      if (dash ? c != '-' : c > 'f' || Character.digit(c, 16) < 0) {
        return null;
      }
    }
    return java.util.UUID.fromString(text);
  }

  @Override
  public Map<String, Object> schema(Definitions definitions) {
    return schema;
  }

  @Override
  public @Nullable Object read(JsonNode node, Walk walk) {
    if (!node.isString()) {
      walk.report(Walk.mustBe("a string", node));
      return null;
    }
    Object value = parser.apply(node.stringValue());
    if (value == null) {
      walk.report(rule);
    }
    return value;
  }

  @Override
  public Object write(@Nullable Object value, Walk walk) {
    Object present = walk.present(value);
    String text = writer.apply(present);
    if (text == null) {
      throw walk.refusal(rule);
    }
    return text;
  }
}
