package dev.warpwright.tool;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** A sealed interface as one of its records, told apart by their simple names. */
final class UnionShape extends NamedShape {
  private Map<Class<?>, RecordShape> byClass = Map.of();
  private Map<String, RecordShape> byTag = Map.of();

  UnionShape(Class<?> type) {
    super(type);
  }

  void complete(List<RecordShape> variants) {
    Map<Class<?>, RecordShape> classes = new LinkedHashMap<>();
    Map<String, RecordShape> tags = new LinkedHashMap<>();
    for (RecordShape variant : variants) {
      classes.put(variant.type(), variant);
      tags.put(variant.tag(), variant);
    }
    byClass = classes;
    byTag = tags;
  }

  @Override
  Map<String, Object> body(Definitions definitions) {
    Map<String, Object> schema = new LinkedHashMap<>();
    schema.put(
        "oneOf", byTag.values().stream().map(variant -> variant.schema(definitions)).toList());
    return Definitions.described(schema, type().getAnnotation(Description.class));
  }

  @Override
  public @Nullable Object read(JsonNode node, Walk walk) {
    if (!node.isObject()) {
      walk.report(Walk.mustBe("an object", node));
      return null;
    }
    JsonNode tag = node.get(RecordShape.TAG);
    RecordShape variant = tag != null && tag.isString() ? byTag.get(tag.stringValue()) : null;
    if (variant == null) {
      walk.enterMember(RecordShape.TAG);
      walk.report("must be one of " + Walk.listed(byTag.keySet()));
      walk.leave();
      return null;
    }
    return variant.read(node, walk);
  }

  @Override
  public Object write(@Nullable Object value, Walk walk) {
    Object present = walk.present(value);
    RecordShape variant = byClass.get(present.getClass());
    if (variant == null) {
      throw walk.refusal("is no record of " + type().getSimpleName());
    }
    return variant.write(present, walk);
  }
}
