package dev.warpwright.adapters.scripted;

import static dev.warpwright.adapters.scripted.RequestFields.refuse;

import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import tools.jackson.databind.JsonNode;

/**
 * What services demand of the schema that they hold an answer to: every object is closed and known,
 * every value has a type, and nothing restricts it that they cannot check.
 *
 * @param refused the keywords that this service refuses
 * @param allRequired whether every member must be required
 */
record OutputRules(Set<String> refused, boolean allRequired) {
  /** What every strict service demands. */
  static final OutputRules STRICT = new OutputRules(Set.of("oneOf", "allOf", "not", "if"), true);

  static final OutputRules CHAT =
      new OutputRules(
          Set.of("oneOf", "allOf", "not", "if", "minLength", "maxLength", "uniqueItems"), true);

  static final OutputRules MESSAGES =
      new OutputRules(
          Set.of(
              "oneOf",
              "not",
              "if",
              "minimum",
              "maximum",
              "exclusiveMinimum",
              "exclusiveMaximum",
              "multipleOf",
              "minLength",
              "maxLength",
              "maxItems",
              "uniqueItems"),
          false);

  void check(JsonNode schema, String path) throws RefusedException {
    if (!schema.path("type").asString("").equals("object")) {
      throw refuse("schema must be a JSON Schema of 'type: \"object\"'", path);
    }
    value(schema, path);
    for (Map.Entry<String, JsonNode> definition : schema.path("$defs").properties()) {
      value(definition.getValue(), path + "." + "$defs" + "." + definition.getKey());
    }
  }

  private void value(JsonNode schema, String path) throws RefusedException {
    for (String keyword : schema.propertyNames()) {
      if (refused.contains(keyword)) {
        throw refuse("'" + keyword + "' is not permitted.", path);
      }
    }
    if (!schema.has("type") && !schema.has("$ref") && !schema.has("anyOf")) {
      throw refuse("schema must have a 'type' key.", path);
    }
    if (schema.has("properties") || schema.path("type").asString("").equals("object")) {
      object(schema, path);
    }
    if (schema.has("items")) {
      value(schema.path("items"), path + "." + "items");
    }
    for (JsonNode variant : schema.path("anyOf")) {
      value(variant, path + "." + "anyOf");
    }
  }

  private void object(JsonNode schema, String path) throws RefusedException {
    JsonNode more = schema.path("additionalProperties");
    if (!more.isBoolean() || more.booleanValue()) {
      throw refuse("'additionalProperties' is required to be supplied and to be false.", path);
    }
    Set<String> required = new HashSet<>();
    schema.path("required").forEach(name -> required.add(name.asString("")));
    for (Map.Entry<String, JsonNode> member : schema.path("properties").properties()) {
      if (allRequired && !required.contains(member.getKey())) {
        throw refuse(
            "'required' is required to be supplied and to be an array including every key in"
                + " properties. Missing '"
                + member.getKey()
                + "'.",
            path);
      }
      value(member.getValue(), path + "." + "properties" + "." + member.getKey());
    }
  }
}
