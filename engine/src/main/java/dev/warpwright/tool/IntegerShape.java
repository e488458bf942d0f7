package dev.warpwright.tool;

import java.math.BigDecimal;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * An exact integer of one of the primitive ranges.
 *
 * @param min the least value
 * @param max the greatest value
 * @param box makes the value of the Java type
 */
record IntegerShape(long min, long max, LongFunction<Object> box) implements ScalarShape {
  static final IntegerShape BYTE =
      new IntegerShape(Byte.MIN_VALUE, Byte.MAX_VALUE, value -> (byte) value);
  static final IntegerShape SHORT =
      new IntegerShape(Short.MIN_VALUE, Short.MAX_VALUE, value -> (short) value);
  static final IntegerShape INT =
      new IntegerShape(Integer.MIN_VALUE, Integer.MAX_VALUE, value -> (int) value);
  static final IntegerShape LONG = new IntegerShape(Long.MIN_VALUE, Long.MAX_VALUE, Long::valueOf);

  @Override
  public Map<String, Object> schema(Definitions definitions) {
    Map<String, Object> schema = new LinkedHashMap<>();
    schema.put("type", "integer");
    schema.put("minimum", min);
    schema.put("maximum", max);
    return schema;
  }

  @Override
  public @Nullable Object read(JsonNode node, Walk walk) {
    if (!node.isNumber()) {
      walk.report(Walk.mustBe("an integer", node));
      return null;
    }
    if (node.isIntegralNumber() && node.canConvertToLong()) {
      return inRange(node.longValue(), walk);
    }
    BigDecimal number = node.decimalValue();
    if (!NumberBounds.isInteger(number)) {
      walk.report("must be an integer, has a fraction");
      return null;
    }
    try {
      return inRange(number.longValueExact(), walk);
    } catch (ArithmeticException e) {
      return outOfRange(walk);
    }
  }

  private @Nullable Object inRange(long value, Walk walk) {
    return value < min || value > max ? outOfRange(walk) : box.apply(value);
  }

  private @Nullable Object outOfRange(Walk walk) {
    walk.report("must be from " + min + " to " + max);
    return null;
  }

  @Override
  public Object write(@Nullable Object value, Walk walk) {
    return walk.present(value);
  }
}
