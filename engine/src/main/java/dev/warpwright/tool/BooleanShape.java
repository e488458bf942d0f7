package dev.warpwright.tool;

import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** True or false. */
record BooleanShape() implements ScalarShape {
  @Override
  public Map<String, Object> schema(Definitions definitions) {
    return Map.of("type", "boolean");
  }

  @Override
  public @Nullable Object read(JsonNode node, Walk walk) {
    if (!node.isBoolean()) {
      walk.report(Walk.mustBe("a boolean", node));
      return null;
    }
    return node.booleanValue();
  }

  @Override
  public Object write(@Nullable Object value, Walk walk) {
    return walk.present(value);
  }
}
