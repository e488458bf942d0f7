package dev.warpwright.tool;

import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** How the values of one Java type look as JSON: three views that have to agree. */
sealed interface Shape permits AnyShape, GivenSchema, ListShape, MapShape, NamedShape, ScalarShape {
  /**
   * The schema as plain Java.
   *
   * @param definitions where schemas that contain themselves are kept
   */
  Map<String, Object> schema(Definitions definitions);

  /**
   * Reads a value, checking every rule that the schema states.
   *
   * @return null exactly if a violation was reported
   */
  @Nullable Object read(JsonNode node, Walk walk);

  /**
   * Writes a value as plain Java that {@code Json.of} takes.
   *
   * @throws dev.warpwright.model.InvalidRequestException if the schema does not allow it
   */
  Object write(@Nullable Object value, Walk walk);
}
