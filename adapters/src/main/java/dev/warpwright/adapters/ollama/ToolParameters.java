package dev.warpwright.adapters.ollama;

import dev.warpwright.adapters.wire.SchemaReferences;
import dev.warpwright.json.StrictJson;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.ToolSpec;
import java.util.Map;
import java.util.Set;
import java.util.StringJoiner;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Writes the schema of a tool's input with the keywords that Ollama's server reads; it drops all
 * others before the model's template sees them. Pure.
 *
 * <p>So references are replaced by what they refer to, a constant becomes an enumeration of one,
 * {@code oneOf} becomes {@code anyOf}, and any other rule becomes words in the description beside
 * it; the description of the whole goes to that of the tool. That objects allow no further members
 * is left unsaid. The input of a call is checked against the true schema in any case. Source:
 * {@code ToolFunctionParameters} and {@code ToolProperty} of Ollama's API.
 */
final class ToolParameters {
  /** Keywords that hold nobody to anything. */
  private static final Set<String> ASIDE =
      Set.of("title", "default", "examples", "deprecated", "readOnly", "writeOnly");

  private ToolParameters() {}

  /**
   * The function that a tool is.
   *
   * @throws ProviderException if its schema refers to itself or to elsewhere
   */
  static ObjectNode function(ToolSpec tool) {
    ObjectNode parameters = write(SchemaReferences.inlined(tool.inputSchema()));
    JsonNode words = parameters.remove("description");
    ObjectNode function = StrictJson.mapper().createObjectNode().put("name", tool.name());
    function.put(
        "description",
        words == null ? tool.description() : tool.description() + " " + words.asString(""));
    function.set("parameters", parameters.put("type", "object"));
    return function;
  }

  /** Writes a schema without references. */
  private static ObjectNode write(JsonNode schema) {
    ObjectNode written = StrictJson.mapper().createObjectNode();
    StringJoiner words = new StringJoiner(", ", "{", "}").setEmptyValue("");
    for (Map.Entry<String, JsonNode> member : schema.properties()) {
      String keyword = member.getKey();
      JsonNode value = member.getValue();
      switch (keyword) {
        case "type", "description", "enum", "required" -> written.set(keyword, value);
        case "const" -> written.putArray("enum").add(value);
        case "items" -> written.set(keyword, write(value));
        case "anyOf", "oneOf" -> {
          ArrayNode variants = written.putArray("anyOf");
          value.forEach(variant -> variants.add(write(variant)));
        }
        case "properties" -> {
          ObjectNode properties = written.putObject(keyword);
          value
              .properties()
              .forEach(inner -> properties.set(inner.getKey(), write(inner.getValue())));
        }
        default -> {
          boolean unsaid = keyword.equals("additionalProperties") && value.isBoolean();
          if (!unsaid && !ASIDE.contains(keyword)) {
            words.add(keyword + ": " + StrictJson.write(value));
          }
        }
      }
    }
    if (words.length() > 0) {
      String told = written.path("description").asString("");
      written.put("description", (told + " " + words).strip());
    }
    return written;
  }
}
