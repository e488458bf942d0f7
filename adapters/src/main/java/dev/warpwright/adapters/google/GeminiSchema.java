package dev.warpwright.adapters.google;

import dev.warpwright.adapters.wire.SchemaDialect;
import dev.warpwright.adapters.wire.SchemaReferences;
import dev.warpwright.json.StrictJson;
import dev.warpwright.model.Json;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Writes schemas as the service takes them. Pure.
 *
 * <p>It has two members for each schema, of which one may be set. The older one takes {@link
 * TypedSchema}, and every model and version knows it: whatever can be said so is. What cannot
 * (maps, tuples, any value, constants that are no text) goes into the newer one as JSON Schema, of
 * which the service knows some keywords; the others become words. In both, references are put into
 * their places: the first knows none, the second none with something beside it and none but to
 * definitions.
 */
final class GeminiSchema {
  /** Source: the API reference, responseJsonSchema; references and ids are gone by then. */
  private static final Set<String> TAKEN =
      Set.of(
          "type",
          "format",
          "title",
          "description",
          "enum",
          "minItems",
          "maxItems",
          "minimum",
          "maximum",
          "required");

  private static final SchemaDialect DIALECT = new SchemaDialect(GeminiSchema::takes, true);

  private GeminiSchema() {}

  private static boolean takes(String keyword, JsonNode value) {
    return TAKEN.contains(keyword)
        && (!keyword.equals("enum")
            || value.valueStream().allMatch(one -> one.isString() || one.isNumber()));
  }

  /** Sets the parameters of a function; none if it has none. */
  static void writeParameters(Json schema, ObjectNode function) {
    JsonNode inlined = SchemaReferences.inlined(schema);
    if (!isWithoutMembers(inlined)) {
      write(inlined, "parameters", "parametersJsonSchema", function);
    }
  }

  /** Sets the schema of the answer. */
  static void writeResponse(Json schema, Optional<String> description, ObjectNode config) {
    JsonNode inlined = SchemaReferences.inlined(schema);
    if (inlined instanceof ObjectNode object && !object.has("description")) {
      description.ifPresent(words -> object.put("description", words));
    }
    write(inlined, "responseSchema", "responseJsonSchema", config);
  }

  private static void write(JsonNode schema, String typed, String json, ObjectNode out) {
    Optional<ObjectNode> written = TypedSchema.of(schema);
    if (written.isPresent()) {
      out.set(typed, written.get());
    } else {
      out.set(json, DIALECT.write(withLists(schema), "#"));
    }
  }

  private static boolean isWithoutMembers(JsonNode schema) {
    for (Map.Entry<String, JsonNode> member : schema.properties()) {
      JsonNode value = member.getValue();
      boolean silent =
          switch (member.getKey()) {
            case "type", "title", "description" -> true;
            case "additionalProperties" -> value.isBoolean() && !value.booleanValue();
            default -> value.isContainer() && value.isEmpty();
          };
      if (!silent) {
        return false;
      }
    }
    return true;
  }

  /** The same in the words of the newest draft, with a list of one in place of each constant. */
  private static JsonNode withLists(JsonNode schema) {
    if (schema instanceof ArrayNode several) {
      ArrayNode written = StrictJson.mapper().createArrayNode();
      several.forEach(one -> written.add(withLists(one)));
      return written;
    }
    if (!(schema instanceof ObjectNode)) {
      return schema;
    }
    ObjectNode written = StrictJson.mapper().createObjectNode();
    for (Map.Entry<String, JsonNode> member : schema.properties()) {
      JsonNode value = member.getValue();
      switch (member.getKey()) {
        case "properties" -> {
          ObjectNode members = written.putObject("properties");
          value.properties().forEach(one -> members.set(one.getKey(), withLists(one.getValue())));
        }
        case "items" -> written.set(value.isArray() ? "prefixItems" : "items", withLists(value));
        case "additionalItems" -> {
          if (schema.path("items").isArray()) {
            written.set("items", withLists(value));
          }
        }
        case "anyOf", "oneOf", "prefixItems", "additionalProperties" ->
            written.set(member.getKey(), withLists(value));
        case "const" -> {
          if (value.isString() || value.isNumber()) {
            written.putArray("enum").add(value); // in place of one that is beside it
          } else {
            written.set("const", value);
          }
        }
        case "enum" -> {
          if (!schema.has("const")) {
            written.set("enum", value);
          }
        }
        default -> written.set(member.getKey(), value);
      }
    }
    return written;
  }
}
