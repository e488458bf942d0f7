package dev.warpwright.tool;

import dev.warpwright.json.StrictJson;
import dev.warpwright.model.Json;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Any JSON value, null among them, kept raw. */
record AnyShape() implements Shape {
  @Override
  public Map<String, Object> schema(Definitions definitions) {
    return Map.of();
  }

  @Override
  public Object read(JsonNode node, Walk walk) {
    return Json.parse(StrictJson.write(node));
  }

  @Override
  public Object write(@Nullable Object value, Walk walk) {
    return walk.present(value);
  }
}
