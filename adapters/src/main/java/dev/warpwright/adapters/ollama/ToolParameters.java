package dev.warpwright.adapters.ollama;

import dev.warpwright.adapters.wire.RequestRules;
import dev.warpwright.json.StrictJson;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.ToolSpec;
import java.util.HashSet;
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
      Set.of(
          "$schema",
          "$id",
          "$comment",
          "$defs",
          "definitions",
          "title",
          "default",
          "examples",
          "deprecated",
          "readOnly",
          "writeOnly");

  private final JsonNode root;

  private ToolParameters(JsonNode root) {
    this.root = root;
  }

  /**
   * The function that a tool is.
   *
   * @throws ProviderException if its schema refers to itself or to elsewhere
   */
  static ObjectNode function(ToolSpec tool) {
    JsonNode schema = StrictJson.read(tool.inputSchema().text());
    ObjectNode parameters = new ToolParameters(schema).write(schema, "#", Set.of());
    JsonNode words = parameters.remove("description");
    ObjectNode function = StrictJson.mapper().createObjectNode().put("name", tool.name());
    function.put(
        "description",
        words == null ? tool.description() : tool.description() + " " + words.asString(""));
    function.set("parameters", parameters.put("type", "object"));
    return function;
  }

  /** Writes one schema; the references that led to it are those {@code entered}. */
  private ObjectNode write(JsonNode schema, String path, Set<String> entered) {
    if (schema.has("$ref")) {
      return inlined(schema, path, entered);
    }
    ObjectNode written = StrictJson.mapper().createObjectNode();
    StringJoiner words = new StringJoiner(", ", "{", "}").setEmptyValue("");
    for (Map.Entry<String, JsonNode> member : schema.properties()) {
      String keyword = member.getKey();
      JsonNode value = member.getValue();
      String place = path + "/" + keyword;
      switch (keyword) {
        case "type", "description", "enum", "required" -> written.set(keyword, value);
        case "const" -> written.putArray("enum").add(value);
        case "items" -> written.set(keyword, write(value, place, entered));
        case "anyOf", "oneOf" -> {
          ArrayNode variants = written.putArray("anyOf");
          value.forEach(variant -> variants.add(write(variant, place, entered)));
        }
        case "properties" -> {
          ObjectNode properties = written.putObject(keyword);
          value
              .properties()
              .forEach(
                  inner ->
                      properties.set(
                          inner.getKey(),
                          write(inner.getValue(), place + "/" + inner.getKey(), entered)));
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

  /** What is referred to, with what stands beside the reference. */
  private ObjectNode inlined(JsonNode schema, String path, Set<String> entered) {
    String to = schema.path("$ref").asString("");
    JsonNode target = to.equals("#") ? root : to.startsWith("#/") ? root.at(to.substring(1)) : null;
    if (target == null || !target.isObject() || entered.contains(to)) {
      throw RequestRules.refused(
          "This provider takes no tool whose schema refers to itself or to elsewhere: "
              + to
              + " at "
              + path
              + ".");
    }
    ObjectNode whole = StrictJson.mapper().createObjectNode();
    target.properties().forEach(member -> whole.set(member.getKey(), member.getValue()));
    schema.properties().stream()
        .filter(member -> !member.getKey().equals("$ref"))
        .forEach(member -> whole.set(member.getKey(), member.getValue()));
    Set<String> inside = new HashSet<>(entered);
    inside.add(to);
    return write(whole, path, inside);
  }
}
