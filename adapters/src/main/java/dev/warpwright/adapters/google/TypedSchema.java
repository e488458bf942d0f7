package dev.warpwright.adapters.google;

import dev.warpwright.adapters.wire.SchemaDialect;
import dev.warpwright.adapters.wire.SchemaReferences;
import dev.warpwright.json.StrictJson;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.StringJoiner;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Writes a schema as the type {@code Schema} of Google's APIs, their subset of OpenAPI 3.0. Pure.
 *
 * <p>Every value has one type there, null is a mark beside it, constants are text, and an object
 * has the members that are listed and no others. So lists of types become choices, and a rule of
 * one type counts for that type only. A rule that the service does not check becomes words in the
 * description. What has no such form at all (any value, a map, a tuple, a constant that is no text)
 * makes the whole schema one that has none: it is sent as JSON Schema then, see {@link
 * GeminiSchema}.
 *
 * <p>Source: the API reference, type Schema.
 */
final class TypedSchema {
  private static final Set<String> OF_NUMBERS =
      Set.of("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf");
  private static final Set<String> OF_TEXT = Set.of("minLength", "maxLength", "pattern");
  private static final Set<String> OF_LISTS =
      Set.of(
          "items",
          "prefixItems",
          "additionalItems",
          "unevaluatedItems",
          "minItems",
          "maxItems",
          "uniqueItems",
          "contains",
          "minContains",
          "maxContains");
  private static final Set<String> OF_OBJECTS =
      Set.of(
          "properties",
          "required",
          "additionalProperties",
          "unevaluatedProperties",
          "patternProperties",
          "propertyNames",
          "minProperties",
          "maxProperties",
          "dependentRequired",
          "dependentSchemas",
          "dependencies");
  private static final Set<String> TEXT_FORMATS = Set.of("date-time");
  private static final Set<String> NUMBER_FORMATS = Set.of("float", "double", "int32", "int64");

  /** A choice takes what stands beside it into each variant; beyond this there is no form. */
  private static final int MAX_SCHEMAS = 10_000;

  private int schemas;

  private TypedSchema() {}

  /**
   * Writes a schema.
   *
   * @param schema one without references
   * @return the same in this form; empty if it has none
   */
  static Optional<ObjectNode> of(JsonNode schema) {
    return Optional.ofNullable(new TypedSchema().write(schema));
  }

  private @Nullable ObjectNode write(JsonNode node) {
    schemas++;
    if (schemas > MAX_SCHEMAS
        || !(node instanceof ObjectNode schema)
        || (schema.has("anyOf") && schema.has("oneOf"))) {
      return null;
    }
    JsonNode variants = schema.has("anyOf") ? schema.get("anyOf") : schema.path("oneOf");
    if (variants.isArray()) {
      ObjectNode rest = schema.deepCopy();
      rest.remove(List.of("anyOf", "oneOf"));
      return choice(variants, rest, false);
    }
    Set<String> types = types(schema);
    List<JsonNode> constants = constants(schema);
    boolean nullable = types.remove("null");
    if (constants != null) {
      nullable &= constants.removeIf(JsonNode::isNull);
    }
    if (types.isEmpty()) {
      return nullable ? typed(Set.of("null"), schema, null) : null;
    }
    if (types.size() > 1) {
      return several(schema, types, nullable);
    }
    ObjectNode written = typed(types, schema, constants);
    return written == null || !nullable ? written : written.put("nullable", true);
  }

  private static ObjectNode typed(String type) {
    return StrictJson.mapper().createObjectNode().put("type", type);
  }

  private static ObjectNode words(JsonNode from, ObjectNode to) {
    for (String keyword : List.of("title", "description")) {
      if (from.path(keyword).isString()) {
        to.set(keyword, from.get(keyword));
      }
    }
    return to;
  }

  // --- choices -----------------------------------------------------------------------------------

  /** Nothing stands beside a choice: what did is part of each of its variants. */
  private @Nullable ObjectNode choice(JsonNode variants, ObjectNode rest, boolean nullableBeside) {
    List<ObjectNode> written = new ArrayList<>();
    boolean nullable = nullableBeside;
    String words = rest.path("description").asString("");
    rest.remove("description");
    for (JsonNode variant : variants) {
      JsonNode whole = SchemaReferences.both(variant, rest);
      ObjectNode one = whole.has("allOf") ? null : write(whole);
      if (one == null) {
        return null;
      }
      if (one.size() == 1 && one.path("type").asString("").equals("NULL")) {
        nullable = true;
      } else {
        describe(words, one);
        written.add(one);
      }
    }
    if (written.isEmpty()) {
      return nullable ? describe(words, typed("NULL")) : null;
    }
    ObjectNode first = written.getFirst();
    if (nullable) {
      nullable(first);
    }
    if (written.size() == 1) {
      return first;
    }
    ObjectNode choice = StrictJson.mapper().createObjectNode();
    choice.putArray("anyOf").addAll(written);
    return choice;
  }

  private static ObjectNode describe(String words, ObjectNode written) {
    if (written.get("anyOf") instanceof ArrayNode variants) {
      variants.forEach(variant -> describe(words, (ObjectNode) variant));
      return written;
    }
    String own = written.path("description").asString("");
    String told = (words + " " + own).strip();
    return told.isEmpty() ? written : written.put("description", told);
  }

  private static void nullable(ObjectNode written) {
    ObjectNode marked =
        written.get("anyOf") instanceof ArrayNode variants ? (ObjectNode) variants.get(0) : written;
    marked.put("nullable", true);
  }

  private @Nullable ObjectNode several(ObjectNode schema, Set<String> types, boolean nullable) {
    ArrayNode variants = StrictJson.mapper().createArrayNode();
    for (String type : types) {
      ObjectNode variant = StrictJson.mapper().createObjectNode().put("type", type);
      for (Map.Entry<String, JsonNode> member : schema.properties()) {
        if (!member.getKey().equals("type") && !member.getKey().equals("description")) {
          variant.set(member.getKey(), member.getValue());
        }
      }
      List<JsonNode> constants = constants(schema);
      if (constants == null || constants.stream().anyMatch(value -> isOf(type, value))) {
        variants.add(variant);
      }
    }
    ObjectNode rest = StrictJson.mapper().createObjectNode();
    rest.put("description", schema.path("description").asString(""));
    return choice(variants, rest, nullable);
  }

  // --- types and constants -----------------------------------------------------------------------

  /** The types that are named, else those that the other rules are about. */
  private static Set<String> types(ObjectNode schema) {
    Set<String> types = new LinkedHashSet<>();
    JsonNode named = schema.path("type");
    if (named.isString()) {
      types.add(named.stringValue());
    }
    named.forEach(type -> types.add(type.asString("")));
    List<JsonNode> constants = constants(schema);
    if (types.isEmpty() && constants != null) {
      constants.forEach(value -> types.add(typeOf(value)));
    }
    if (types.isEmpty() && schema.has("properties")) {
      types.add("object");
    }
    if (types.isEmpty() && schema.has("items")) {
      types.add("array");
    }
    if (types.contains("number")) {
      types.remove("integer");
    }
    return types;
  }

  /** The values that are allowed; null if that is not restricted. */
  private static @Nullable List<JsonNode> constants(ObjectNode schema) {
    if (schema.has("const")) {
      List<JsonNode> one = new ArrayList<>(List.of(schema.get("const")));
      one.removeIf(value -> schema.has("enum") && !schema.get("enum").values().contains(value));
      return one;
    }
    return schema.path("enum").isArray() ? new ArrayList<>(schema.get("enum").values()) : null;
  }

  private static String typeOf(JsonNode value) {
    return switch (value.getNodeType()) {
      case STRING -> "string";
      case BOOLEAN -> "boolean";
      case NUMBER -> value.isIntegralNumber() ? "integer" : "number";
      case ARRAY -> "array";
      case OBJECT -> "object";
      default -> "null";
    };
  }

  private static boolean isOf(String type, JsonNode value) {
    String own = typeOf(value);
    return own.equals(type) || (type.equals("number") && own.equals("integer"));
  }

  // --- one type ----------------------------------------------------------------------------------

  private @Nullable ObjectNode typed(
      Set<String> types, ObjectNode schema, @Nullable List<JsonNode> constants) {
    String type = types.iterator().next();
    ObjectNode written = words(schema, typed(type.toUpperCase(Locale.ROOT)));
    boolean bounded = schema.has("minimum") || schema.has("maximum");
    if (constants != null && !addConstants(type, constants, bounded, written)) {
      return null;
    }
    StringJoiner told = new StringJoiner(", ");
    for (Map.Entry<String, JsonNode> member : schema.properties()) {
      String keyword = member.getKey();
      JsonNode value = member.getValue();
      if (!isOf(keyword, type, value)) {
        continue;
      }
      switch (keyword) {
        case "type", "title", "description", "enum", "const" -> {} // done
        case "minimum",
            "maximum",
            "minLength",
            "maxLength",
            "minItems",
            "maxItems",
            "minProperties",
            "maxProperties" ->
            written.set(keyword, value);
        case "properties" -> {
          ObjectNode members = written.putObject(keyword);
          for (Map.Entry<String, JsonNode> inner : value.properties()) {
            ObjectNode one = write(inner.getValue());
            if (one == null) {
              return null;
            }
            members.set(inner.getKey(), one);
          }
        }
        case "required" -> {
          if (!schema.path("properties").propertyNames().containsAll(names(value))) {
            return null; // the service refuses the name of a member that is not described
          }
          if (!value.isEmpty()) {
            written.set(keyword, value);
          }
        }
        case "items" -> {
          ObjectNode one = write(value);
          if (one == null) {
            return null;
          }
          written.set(keyword, one);
        }
        case "additionalProperties", "unevaluatedProperties" -> {
          if (!value.isBoolean() || value.booleanValue()) {
            return null;
          }
        }
        case "prefixItems", "additionalItems", "unevaluatedItems" -> {
          return null;
        }
        default -> {
          if (!isTaken(keyword, type, value)) {
            told.add(keyword + ": " + StrictJson.write(value));
          } else {
            written.set(keyword, value);
          }
        }
      }
    }
    SchemaDialect.tell(told, written);
    boolean known =
        switch (type) {
          case "object" -> !written.path("properties").isEmpty();
          case "array" -> written.has("items");
          case "string", "number", "integer", "boolean", "null" -> true;
          default -> false;
        };
    return known ? written : null;
  }

  /** Whether a keyword says anything about values of a type. */
  private static boolean isOf(String keyword, String type, JsonNode value) {
    boolean number = type.equals("number") || type.equals("integer");
    if (OF_NUMBERS.contains(keyword)) {
      return number;
    }
    if (OF_TEXT.contains(keyword)) {
      return type.equals("string");
    }
    if (OF_LISTS.contains(keyword)) {
      return type.equals("array");
    }
    if (OF_OBJECTS.contains(keyword)) {
      return type.equals("object") && !(keyword.equals("propertyNames") && isAnyName(value));
    }
    return true;
  }

  private static boolean isAnyName(JsonNode schema) {
    if (schema.isBoolean()) {
      return schema.booleanValue();
    }
    return schema.isEmpty()
        || (schema.size() == 1 && schema.path("type").asString("").equals("string"));
  }

  private static boolean isTaken(String keyword, String type, JsonNode value) {
    return switch (keyword) {
      case "format" ->
          (type.equals("string") ? TEXT_FORMATS : NUMBER_FORMATS).contains(value.asString(""));
      case "pattern" -> SchemaDialect.isPlain(value.asString(""));
      default -> false;
    };
  }

  private static List<String> names(JsonNode list) {
    return list.valueStream().map(name -> name.asString("")).toList();
  }

  /** Texts are listed; one number is a range that holds nothing else. */
  private static boolean addConstants(
      String type, List<JsonNode> all, boolean bounded, ObjectNode written) {
    List<JsonNode> constants = all.stream().filter(value -> isOf(type, value)).toList();
    if (type.equals("string") && !constants.isEmpty()) {
      written.putArray("enum").addAll(constants);
      return constants.stream().noneMatch(text -> text.stringValue().isEmpty());
    }
    if (constants.size() == 1 && constants.getFirst().isNumber() && !bounded) {
      written.set("minimum", constants.getFirst());
      written.set("maximum", constants.getFirst());
      return true;
    }
    return false;
  }
}
