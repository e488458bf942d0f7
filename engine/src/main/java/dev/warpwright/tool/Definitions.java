package dev.warpwright.tool;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The making of one schema, and the definitions that it needs.
 *
 * <p>A record stands where it is used, so that a provider need not know references. Only one that
 * contains itself is referred to: as {@code #} if it is the root, else under {@code $defs}.
 */
final class Definitions {
  private final Shape root;
  private final Map<NamedShape, String> names = new HashMap<>();
  private final Map<String, Object> bodies = new LinkedHashMap<>();

  private Definitions(Shape root) {
    this.root = root;
  }

  /** The whole schema of a type, as plain Java. */
  static Map<String, Object> schemaOf(Shape root) {
    Definitions definitions = new Definitions(root);
    if (!(root instanceof NamedShape named)) {
      return root.schema(definitions);
    }
    Map<String, Object> schema = new LinkedHashMap<>(named.body(definitions));
    if (!definitions.bodies.isEmpty()) {
      schema.put("$defs", definitions.bodies);
    }
    return schema;
  }

  Map<String, Object> schema(NamedShape shape) {
    if (shape == root) {
      return Map.of("$ref", "#");
    }
    if (!shape.isRecursive()) {
      return shape.body(this);
    }
    String name = names.get(shape);
    if (name == null) {
      name = freeName(shape.type().getSimpleName().replaceAll("[^A-Za-z0-9_]", "_"));
      names.put(shape, name);
      bodies.put(name, Map.of()); // takes the name before the body asks for it
      bodies.put(name, shape.body(this));
    }
    return Map.of("$ref", "#/$defs/" + name);
  }

  private String freeName(String wanted) {
    String name = wanted;
    for (int n = 2; bodies.containsKey(name); n++) {
      name = wanted + "_" + n;
    }
    return name;
  }

  /** Puts a description first, in place of one that the schema has. */
  static Map<String, Object> described(
      Map<String, Object> schema, @Nullable Description description) {
    if (description == null) {
      return schema;
    }
    Map<String, Object> described = new LinkedHashMap<>();
    described.put("description", description.value());
    schema.forEach(described::putIfAbsent);
    return described;
  }

  /** The schema, with null allowed besides. */
  static Map<String, Object> orNull(Map<String, Object> schema) {
    if (schema.isEmpty()) {
      return schema;
    }
    Map<String, Object> nullable = new LinkedHashMap<>(schema);
    if (schema.get("type") instanceof String type) {
      nullable.put("type", List.of(type, "null"));
      if (schema.get("enum") instanceof List<?> constants) {
        List<@Nullable Object> withNull = new ArrayList<>(constants);
        withNull.add(null);
        nullable.put("enum", withNull);
      }
      return nullable;
    }
    return Map.of("anyOf", Arrays.asList(schema, Map.of("type", "null")));
  }
}
