package dev.warpwright;

import dev.warpwright.json.StrictJson;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Rewrites a schema for providers that hold an answer to it strictly. Pure.
 *
 * <p>Strict services take objects only whose members are all known: every object gets {@code
 * additionalProperties: false}, and a member that may be absent becomes one that must be there and
 * may be null. Every value has a stated type; {@code oneOf} becomes {@code anyOf}, since whoever
 * reads the answer checks it against the schema as it was; keywords that restrict nothing are left
 * out. What has no such form is refused with its path, in terms of the value: {@code
 * $.stops[].labels}.
 */
final class StrictSchema {
  private static final Set<String> KEPT =
      Set.of(
          "type",
          "title",
          "description",
          "enum",
          "const",
          "pattern",
          "format",
          "minLength",
          "maxLength",
          "minimum",
          "maximum",
          "exclusiveMinimum",
          "exclusiveMaximum",
          "multipleOf",
          "minItems",
          "maxItems",
          "uniqueItems");

  /** They restrict, and no strict service knows them. */
  private static final Set<String> INEXPRESSIBLE =
      Set.of(
          "allOf",
          "not",
          "if",
          "then",
          "else",
          "dependentSchemas",
          "dependentRequired",
          "dependencies",
          "patternProperties",
          "propertyNames",
          "minProperties",
          "maxProperties",
          "unevaluatedProperties",
          "unevaluatedItems",
          "contains",
          "minContains",
          "maxContains",
          "prefixItems",
          "additionalItems",
          "$dynamicRef",
          "$recursiveRef");

  private static final Set<String> DEFINITIONS = Set.of("$defs", "definitions");

  private StrictSchema() {}

  /**
   * Rewrites a schema.
   *
   * @param schema a valid JSON Schema
   * @return its strict form
   * @throws InvalidRequestException if it has none; the message names the path
   */
  static Json of(Json schema) {
    JsonNode root = StrictJson.read(schema.text());
    ObjectNode strict = rewrite(root, "$");
    if (!strict.path("type").asString("").equals("object")) {
      throw refused("$", "is no object at its root");
    }
    for (String place : DEFINITIONS) {
      if (root.has(place)) {
        ObjectNode definitions = strict.putObject(place);
        root.get(place)
            .properties()
            .forEach(
                definition ->
                    definitions.set(
                        definition.getKey(),
                        rewrite(definition.getValue(), "#/" + place + "/" + definition.getKey())));
      }
    }
    return Json.parse(StrictJson.write(strict));
  }

  private static InvalidRequestException refused(String path, String why) {
    return new InvalidRequestException(
        FailureKind.INVALID_REQUEST,
        "The schema has no strict form, which native output needs: %s %s.".formatted(path, why));
  }

  private static ObjectNode rewrite(JsonNode node, String path) {
    if (!(node instanceof ObjectNode schema)) {
      throw refused(path, "is any JSON value");
    }
    ObjectNode strict = StrictJson.mapper().createObjectNode();
    for (Map.Entry<String, JsonNode> member : schema.properties()) {
      String keyword = member.getKey();
      if (INEXPRESSIBLE.contains(keyword)) {
        throw refused(path, "uses " + keyword);
      }
      if (!path.equals("$") && (DEFINITIONS.contains(keyword) || keyword.equals("$id"))) {
        throw refused(path, "holds " + keyword + ", which may only stand at the root");
      }
      if (keyword.startsWith("exclusive") && member.getValue().isBoolean()) {
        throw refused(path, "uses " + keyword + " as in draft 4; give it the number");
      }
      if (KEPT.contains(keyword)) {
        strict.set(keyword, member.getValue());
      }
    }
    if (schema.has("$ref")) {
      return reference(schema, strict, path);
    }
    if (schema.has("anyOf") || schema.has("oneOf")) {
      return choice(schema, strict, path);
    }
    Set<String> types = types(strict, path);
    if (types.contains("object")) {
      members(schema, strict, path);
    }
    if (types.contains("array")) {
      strict.set("items", rewrite(schema.path("items"), path + "[]"));
    }
    return strict;
  }

  /** A reference stands alone in a strict schema; what describes it goes around it. */
  private static ObjectNode reference(ObjectNode schema, ObjectNode kept, String path) {
    String to = schema.path("$ref").asString("");
    if (!to.equals("#") && !to.matches("#/(\\$defs|definitions)/[^/]+")) {
      throw refused(path, "refers to something other than # or #/$defs");
    }
    requireOnlyWords(kept, path, "a reference");
    ObjectNode reference = StrictJson.mapper().createObjectNode().put("$ref", to);
    if (kept.isEmpty()) {
      return reference;
    }
    kept.putArray("anyOf").add(reference);
    return kept;
  }

  private static ObjectNode choice(ObjectNode schema, ObjectNode kept, String path) {
    requireOnlyWords(kept, path, "a choice");
    if (schema.has("properties") || (schema.has("anyOf") && schema.has("oneOf"))) {
      throw refused(path, "combines a choice with other rules");
    }
    JsonNode variants = schema.has("anyOf") ? schema.get("anyOf") : schema.get("oneOf");
    ArrayNode strict = kept.putArray("anyOf");
    variants.forEach(variant -> strict.add(rewrite(variant, path)));
    return kept;
  }

  private static void requireOnlyWords(ObjectNode kept, String path, String what) {
    for (String keyword : kept.propertyNames()) {
      if (!keyword.equals("title") && !keyword.equals("description")) {
        throw refused(path, "combines " + what + " with " + keyword);
      }
    }
  }

  /** The types of a value; those of its constants are written down if the schema names none. */
  private static Set<String> types(ObjectNode strict, String path) {
    Set<String> types = new LinkedHashSet<>();
    JsonNode named = strict.path("type");
    if (named.isString()) {
      types.add(named.stringValue());
    }
    named.forEach(type -> types.add(type.asString("")));
    if (types.isEmpty()) {
      strict.path("enum").forEach(constant -> types.add(typeOf(constant, path)));
      if (strict.has("const")) {
        types.add(typeOf(strict.get("const"), path));
      }
      setTypes(strict, types);
    }
    if (types.isEmpty()) {
      throw refused(path, "is any JSON value");
    }
    return types;
  }

  private static void setTypes(ObjectNode strict, Set<String> types) {
    if (types.size() == 1) {
      strict.put("type", types.iterator().next());
    } else if (!types.isEmpty()) {
      ArrayNode several = strict.putArray("type");
      types.forEach(several::add);
    }
  }

  private static String typeOf(JsonNode constant, String path) {
    return switch (constant.getNodeType()) {
      case STRING -> "string";
      case BOOLEAN -> "boolean";
      case NUMBER -> constant.isIntegralNumber() ? "integer" : "number";
      case NULL -> "null";
      default -> throw refused(path, "has a constant that is an object or array");
    };
  }

  private static void members(ObjectNode schema, ObjectNode strict, String path) {
    JsonNode more = schema.path("additionalProperties");
    boolean closed = more.isBoolean() && !more.booleanValue();
    if (!closed && (!more.isMissingNode() || !schema.has("properties"))) {
      throw refused(path, "is a free-form map; use a list of entries instead");
    }
    Set<String> required = new LinkedHashSet<>();
    schema.path("required").forEach(name -> required.add(name.asString("")));
    List<String> names = new ArrayList<>(schema.path("properties").propertyNames());
    if (!names.containsAll(required)) {
      throw refused(path, "requires a member that it does not describe");
    }
    ObjectNode properties = strict.putObject("properties");
    for (String name : names) {
      ObjectNode member = rewrite(schema.path("properties").get(name), path + "." + name);
      properties.set(name, required.contains(name) ? member : orNull(member));
    }
    ArrayNode all = strict.putArray("required");
    names.forEach(all::add);
    strict.put("additionalProperties", false);
  }

  /** A strict schema, with null allowed besides. */
  private static ObjectNode orNull(ObjectNode strict) {
    if (strict.has("$ref")) {
      ObjectNode choice = StrictJson.mapper().createObjectNode();
      choice.putArray("anyOf").add(strict).addObject().put("type", "null");
      return choice;
    }
    if (strict.get("anyOf") instanceof ArrayNode variants) {
      if (variants.valueStream().noneMatch(StrictSchema::allowsNull)) {
        variants.addObject().put("type", "null");
      }
      return strict;
    }
    Set<String> types = new LinkedHashSet<>();
    JsonNode named = strict.get("type");
    if (named.isString()) {
      types.add(named.stringValue());
    }
    named.forEach(type -> types.add(type.asString("")));
    types.add("null");
    setTypes(strict, types);
    if (strict.has("const") && !strict.get("const").isNull()) {
      strict.putArray("enum").add(strict.remove("const")).addNull();
    } else if (strict.get("enum") instanceof ArrayNode constants
        && constants.valueStream().noneMatch(JsonNode::isNull)) {
      ArrayNode copy = constants.deepCopy().addNull();
      strict.set("enum", copy);
    }
    return strict;
  }

  private static boolean allowsNull(JsonNode strict) {
    JsonNode type = strict.path("type");
    return type.asString("").equals("null")
        || type.valueStream().anyMatch(one -> one.asString("").equals("null"));
  }
}
