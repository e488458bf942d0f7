package dev.warpwright.tool;

import dev.warpwright.json.StrictJson;
import dev.warpwright.model.Json;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Rewrites a schema so that each member that may be absent may be null as well. Pure. */
final class NullForAbsent {
  private NullForAbsent() {}

  /** The schema, with null allowed for absent members, in nested and referenced schemas too. */
  static Json in(Json schema) {
    return Json.parse(StrictJson.write(rewrite(StrictJson.read(schema.text()))));
  }

  private static JsonNode rewrite(JsonNode node) {
    if (!(node instanceof ObjectNode schema)) {
      return node;
    }
    ObjectNode copy = StrictJson.mapper().createObjectNode();
    for (Map.Entry<String, JsonNode> member : schema.properties()) {
      JsonNode value = member.getValue();
      copy.set(
          member.getKey(),
          switch (member.getKey()) {
            case "properties" -> properties(value, required(schema));
            case "$defs", "definitions" -> properties(value, Set.copyOf(value.propertyNames()));
            case "items" -> rewrite(value);
            case "anyOf", "oneOf" -> variants(value);
            default -> value;
          });
    }
    return copy;
  }

  private static Set<String> required(ObjectNode schema) {
    Set<String> names = new HashSet<>();
    schema.path("required").forEach(name -> names.add(name.asString("")));
    return names;
  }

  private static ObjectNode properties(JsonNode properties, Set<String> required) {
    ObjectNode copy = StrictJson.mapper().createObjectNode();
    for (Map.Entry<String, JsonNode> member : properties.properties()) {
      JsonNode schema = rewrite(member.getValue());
      copy.set(member.getKey(), required.contains(member.getKey()) ? schema : orNull(schema));
    }
    return copy;
  }

  private static JsonNode orNull(JsonNode schema) {
    JsonNode nothing = StrictJson.mapper().createObjectNode().put("type", "null");
    ObjectNode choice = StrictJson.mapper().createObjectNode();
    List.of(schema, nothing).forEach(choice.putArray("anyOf")::add);
    return choice;
  }

  private static JsonNode variants(JsonNode variants) {
    var copy = StrictJson.mapper().createArrayNode();
    variants.forEach(variant -> copy.add(rewrite(variant)));
    return copy;
  }
}
