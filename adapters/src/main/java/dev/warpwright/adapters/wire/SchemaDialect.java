package dev.warpwright.adapters.wire;

import dev.warpwright.json.StrictJson;
import dev.warpwright.model.Json;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.StringJoiner;
import java.util.function.BiPredicate;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Writes the schema of an output as one provider takes it. Pure.
 *
 * <p>A rule that the provider refuses to check becomes words in the description beside it, so that
 * the model still knows it; whoever reads the answer checks it. So nothing of the schema is lost.
 *
 * @param takes whether the provider takes a keyword with a value
 * @param recursion whether it takes schemas that refer to themselves
 */
public record SchemaDialect(BiPredicate<String, JsonNode> takes, boolean recursion) {
  /**
   * That of services which check neither bounds nor lengths, and take no schema that refers to
   * itself. Sources: Anthropic's and Bedrock's guides to structured outputs.
   */
  public static final SchemaDialect WITHOUT_BOUNDS =
      new SchemaDialect(SchemaDialect::isNoBound, false);

  private static final Set<String> FORMATS =
      Set.of(
          "date-time",
          "time",
          "date",
          "duration",
          "email",
          "hostname",
          "uri",
          "ipv4",
          "ipv6",
          "uuid");

  private static final Set<String> OF_SCHEMAS = Set.of("properties", "$defs", "definitions");
  private static final Set<String> OF_SEVERAL = Set.of("anyOf", "oneOf", "prefixItems");

  private static boolean isNoBound(String keyword, JsonNode value) {
    return switch (keyword) {
      case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf" -> false;
      case "minLength", "maxLength", "maxItems", "uniqueItems" -> false;
      case "minItems" -> value.asInt(2) <= 1;
      case "format" -> FORMATS.contains(value.asString(""));
      case "pattern" -> isPlain(value.asString(""));
      default -> true;
    };
  }

  /**
   * Writes a schema.
   *
   * @param strict the schema, strict as {@link dev.warpwright.model.OutputFormat.JsonSchema} has it
   * @return the same in this dialect
   * @throws dev.warpwright.model.ProviderException if it refers to itself and may not
   */
  public JsonNode write(Json strict) {
    return write(StrictJson.read(strict.text()), "#");
  }

  /**
   * Writes a schema that may have more than strict ones have.
   *
   * @param schema the schema
   * @param path its place, for the refusal
   * @return the same in this dialect
   * @throws dev.warpwright.model.ProviderException if it refers to itself and may not
   */
  public JsonNode write(JsonNode schema, String path) {
    if (!recursion) {
      requireNoCycle(schema, schema, path, new HashSet<>(), new HashSet<>());
    }
    return write(schema);
  }

  private JsonNode write(JsonNode node) {
    if (!(node instanceof ObjectNode schema)) {
      return node;
    }
    ObjectNode written = StrictJson.mapper().createObjectNode();
    StringJoiner words = new StringJoiner(", ");
    for (Map.Entry<String, JsonNode> member : schema.properties()) {
      String keyword = member.getKey();
      JsonNode value = member.getValue();
      if (OF_SCHEMAS.contains(keyword)) {
        ObjectNode schemas = written.putObject(keyword);
        value.properties().forEach(inner -> schemas.set(inner.getKey(), write(inner.getValue())));
      } else if (keyword.equals("items") || keyword.equals("additionalProperties")) {
        written.set(keyword, write(value));
      } else if (OF_SEVERAL.contains(keyword)) {
        var variants = written.putArray(keyword);
        value.forEach(variant -> variants.add(write(variant)));
      } else if (takes.test(keyword, value)) {
        written.set(keyword, value);
      } else {
        words.add(keyword + ": " + StrictJson.write(value));
      }
    }
    tell(words, written);
    return written;
  }

  /**
   * Puts rules that a provider does not check into the description beside them.
   *
   * @param rules the rules as words; none at all changes nothing
   * @param written the schema; changed
   */
  public static void tell(StringJoiner rules, ObjectNode written) {
    if (rules.length() > 0) {
      String told = written.path("description").asString("");
      written.put("description", (told + " {" + rules + "}").strip());
    }
  }

  /**
   * Follows every reference once.
   *
   * @param entered the definitions around the node
   * @param done those that were found to have no cycle
   */
  private static void requireNoCycle(
      JsonNode root, JsonNode node, String path, Set<String> entered, Set<String> done) {
    String to = node.path("$ref").asString("");
    if (!to.isEmpty() && !done.contains(to)) {
      if (to.equals("#") || !entered.add(to)) {
        throw RequestRules.refused(
            "This provider takes no schema that refers to itself: " + to + " at " + path + ".");
      }
      requireNoCycle(root, root.at(to.substring(1)), to, entered, done);
      entered.remove(to);
      done.add(to);
    }
    for (Map.Entry<String, JsonNode> member : node.path("properties").properties()) {
      String place = path + "/properties/" + member.getKey();
      requireNoCycle(root, member.getValue(), place, entered, done);
    }
    if (node.has("items")) {
      requireNoCycle(root, node.path("items"), path + "/items", entered, done);
    }
    for (JsonNode variant : node.path("anyOf")) {
      requireNoCycle(root, variant, path + "/anyOf", entered, done);
    }
  }

  /**
   * Whether a regular expression uses only what the expressions of strict services can do: it looks
   * neither ahead nor behind nor back.
   *
   * @param pattern the expression
   * @return true if it does
   */
  public static boolean isPlain(String pattern) {
    return !pattern.matches("(?s).*(\\(\\?[=!<]|\\\\[1-9kbB]).*");
  }
}
