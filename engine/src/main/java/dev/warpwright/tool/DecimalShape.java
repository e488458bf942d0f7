package dev.warpwright.tool;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A number that is not of a primitive integer type.
 *
 * @param name the JSON Schema type
 * @param rule what is said of a number that is not accepted
 * @param parser gives null for a number that is not accepted
 * @param writable whether a value can be written so that it is read again
 */
record DecimalShape(
    String name,
    String rule,
    Function<BigDecimal, @Nullable Object> parser,
    Predicate<Object> writable)
    implements ScalarShape {

  static final DecimalShape BIG_DECIMAL =
      new DecimalShape(
          "number",
          NumberBounds.RULE,
          number -> NumberBounds.holdFor(number) ? number : null,
          value -> NumberBounds.holdFor((BigDecimal) value));

  static final DecimalShape BIG_INTEGER =
      new DecimalShape(
          "integer",
          NumberBounds.RULE,
          DecimalShape::bigInteger,
          value -> NumberBounds.holdFor((BigInteger) value));

  static final DecimalShape DOUBLE =
      new DecimalShape(
          "number",
          "must be within the range of a double",
          number -> {
            double value = number.doubleValue();
            return Double.isFinite(value) ? value : null;
          },
          value -> Double.isFinite((Double) value));

  static final DecimalShape FLOAT =
      new DecimalShape(
          "number",
          "must be within the range of a float",
          number -> {
            float value = number.floatValue();
            return Float.isFinite(value) ? value : null;
          },
          value -> Float.isFinite((Float) value));

  private static @Nullable Object bigInteger(BigDecimal number) {
    if (!NumberBounds.holdFor(number)) {
      return null;
    }
    BigInteger integer = number.toBigIntegerExact();
    return NumberBounds.holdFor(integer) ? integer : null;
  }

  @Override
  public Map<String, Object> schema(Definitions definitions) {
    return Map.of("type", name);
  }

  @Override
  public @Nullable Object read(JsonNode node, Walk walk) {
    boolean integer = name.equals("integer");
    if (!node.isNumber()) {
      walk.report(Walk.mustBe(integer ? "an integer" : "a number", node));
      return null;
    }
    BigDecimal number = node.decimalValue();
    if (integer && !NumberBounds.isInteger(number)) {
      walk.report("must be an integer, has a fraction");
      return null;
    }
    Object value = parser.apply(number);
    if (value == null) {
      walk.report(rule);
    }
    return value;
  }

  @Override
  public Object write(@Nullable Object value, Walk walk) {
    Object present = walk.present(value);
    if (!writable.test(present)) {
      throw walk.refusal(rule);
    }
    return present;
  }
}
