package dev.warpwright.tool;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * An array of like elements.
 *
 * @param element the shape of each
 * @param unique whether it is a {@code Set}; then two elements that are equal as JSON are refused
 */
record ListShape(Shape element, boolean unique) implements Shape {
  @Override
  public Map<String, Object> schema(Definitions definitions) {
    Map<String, Object> schema = new LinkedHashMap<>();
    schema.put("type", "array");
    schema.put("items", element.schema(definitions));
    if (unique) {
      schema.put("uniqueItems", true);
    }
    return schema;
  }

  @Override
  public @Nullable Object read(JsonNode node, Walk walk) {
    if (!node.isArray()) {
      walk.report(Walk.mustBe("an array", node));
      return null;
    }
    int before = walk.found();
    List<Object> values = new ArrayList<>(node.size());
    Set<Object> seen = new HashSet<>();
    for (int i = 0; i < node.size() && !walk.full(); i++) {
      walk.enterElement(i);
      Object value = element.read(node.get(i), walk);
      if (value != null) {
        values.add(value);
        if (unique && !seen.add(identity(node.get(i)))) {
          walk.report("must not be there twice");
        }
      }
      walk.leave();
    }
    if (walk.found() > before) {
      return null;
    }
    return unique
        ? Collections.unmodifiableSet(new LinkedHashSet<>(values))
        : Collections.unmodifiableList(values);
  }

  /** What makes a scalar equal to another as JSON: 1 and 1.0 are equal, "1" is not. */
  private static Object identity(JsonNode scalar) {
    return switch (scalar.getNodeType()) {
      case NUMBER -> scalar.decimalValue().stripTrailingZeros();
      case BOOLEAN -> scalar.booleanValue();
      default -> scalar.stringValue();
    };
  }

  @Override
  public Object write(@Nullable Object value, Walk walk) {
    Object present = walk.present(value);
    List<Object> written = new ArrayList<>();
    for (Object member : (Collection<?>) present) {
      walk.enterElement(written.size());
      written.add(element.write(member, walk));
      walk.leave();
    }
    return written;
  }
}
