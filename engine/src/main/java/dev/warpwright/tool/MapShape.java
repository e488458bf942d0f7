package dev.warpwright.tool;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * An object with any keys and like values.
 *
 * @param value the shape of each value
 */
record MapShape(Shape value) implements Shape {
  @Override
  public Map<String, Object> schema(Definitions definitions) {
    Map<String, Object> schema = new LinkedHashMap<>();
    schema.put("type", "object");
    schema.put("additionalProperties", value.schema(definitions));
    return schema;
  }

  @Override
  public @Nullable Object read(JsonNode node, Walk walk) {
    if (!node.isObject()) {
      walk.report(Walk.mustBe("an object", node));
      return null;
    }
    int before = walk.found();
    Map<String, Object> values = new LinkedHashMap<>();
    int ordinal = 0;
    for (Map.Entry<String, JsonNode> member : node.properties()) {
      if (walk.full()) {
        break;
      }
      walk.enterEntry(++ordinal);
      Object read = value.read(member.getValue(), walk);
      if (read != null) {
        values.put(member.getKey(), read);
      }
      walk.leave();
    }
    return walk.found() > before ? null : Collections.unmodifiableMap(values);
  }

  @Override
  public Object write(@Nullable Object map, Walk walk) {
    Object present = walk.present(map);
    Map<String, Object> written = new LinkedHashMap<>();
    int ordinal = 0;
    for (Map.Entry<?, ?> entry : ((Map<?, ?>) present).entrySet()) {
      walk.enterEntry(++ordinal);
      if (!(entry.getKey() instanceof String key)) {
        throw walk.refusal("has a key that is no string");
      }
      written.put(key, value.write(entry.getValue(), walk));
      walk.leave();
    }
    return written;
  }
}
