package dev.warpwright.adapters.wire;

import dev.warpwright.json.StrictJson;
import dev.warpwright.model.Json;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.BooleanNode;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.databind.node.StringNode;

/**
 * Puts in place of each reference of a schema what it refers to, for providers that take none. The
 * result accepts the same values. Pure.
 *
 * <p>A reference may go to any place of the schema, and have rules beside it, which count too: the
 * two become one schema ({@link #both}). The same is done with {@code allOf}, so that one is left
 * only where two rules of one kind have no common form, such as two patterns.
 *
 * <p>A schema that refers to itself has no such form, and is refused with the path, as is one that
 * refers to something outside.
 */
public final class SchemaReferences {
  /** A schema whose references multiply it beyond this is refused. */
  private static final int MAX_SCHEMAS = 10_000;

  private static final Set<String> OF_ONE =
      Set.of(
          "items",
          "additionalItems",
          "additionalProperties",
          "unevaluatedItems",
          "unevaluatedProperties",
          "contains",
          "propertyNames",
          "not",
          "if",
          "then",
          "else");
  private static final Set<String> OF_SEVERAL = Set.of("anyOf", "oneOf", "prefixItems", "items");
  private static final Set<String> OF_NAMED =
      Set.of("properties", "patternProperties", "dependentSchemas", "dependencies");

  /** What only names schemas, or says how the text is to be read. */
  private static final Set<String> LEFT_OUT =
      Set.of("$ref", "allOf", "$defs", "definitions", "$schema", "$id", "$anchor", "$comment");

  /** Keywords that count together, so that none of a group is parted from the others. */
  private static final List<Set<String>> GROUPS =
      List.of(
          Set.of("properties", "patternProperties", "additionalProperties"),
          Set.of("items", "prefixItems", "additionalItems"),
          Set.of("contains", "minContains", "maxContains"),
          Set.of("if", "then", "else"));

  private static final Set<String> WORDS =
      Set.of("title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly");

  private final JsonNode root;
  private int schemas;

  private SchemaReferences(JsonNode root) {
    this.root = root;
  }

  /**
   * Puts the references of a schema into it.
   *
   * @param schema a valid JSON Schema
   * @return one without references that accepts the same
   * @throws dev.warpwright.model.ProviderException if it has no such form; the message names the
   *     path
   */
  public static JsonNode inlined(Json schema) {
    JsonNode root = StrictJson.read(schema.text());
    return new SchemaReferences(root).inlined(root, "#", new HashSet<>(), 0);
  }

  /**
   * Writes one place.
   *
   * @param entered the references that led here
   */
  private JsonNode inlined(JsonNode node, String path, Set<String> entered, int depth) {
    if (!(node instanceof ObjectNode schema)) {
      return node;
    }
    schemas++;
    if (schemas > MAX_SCHEMAS || depth > StrictJson.MAX_DEPTH) {
      throw RequestRules.refused(
          "A schema whose references are put into it must have at most %d parts and %d levels, but this one has more, at %s."
              .formatted(MAX_SCHEMAS, StrictJson.MAX_DEPTH, path));
    }
    ObjectNode written = StrictJson.mapper().createObjectNode();
    for (Map.Entry<String, JsonNode> member : schema.properties()) {
      String keyword = member.getKey();
      JsonNode value = member.getValue();
      String place = path + "/" + keyword;
      if (keyword.equals("$dynamicRef") || keyword.equals("$recursiveRef")) {
        throw RequestRules.refused("This provider takes no " + keyword + ", as at " + path + ".");
      }
      if (OF_NAMED.contains(keyword) && value.isObject()) {
        ObjectNode named = written.putObject(keyword);
        for (Map.Entry<String, JsonNode> inner : value.properties()) {
          String name = inner.getKey();
          named.set(name, inlined(inner.getValue(), place + "/" + name, entered, depth + 1));
        }
      } else if (OF_SEVERAL.contains(keyword) && value.isArray()) {
        ArrayNode several = written.putArray(keyword);
        for (JsonNode inner : value) {
          several.add(inlined(inner, place + "/" + several.size(), entered, depth + 1));
        }
      } else if (OF_ONE.contains(keyword)) {
        written.set(keyword, inlined(value, place, entered, depth + 1));
      } else if (!LEFT_OUT.contains(keyword)) {
        written.set(keyword, value);
      }
    }
    JsonNode all = written;
    if (schema.has("$ref")) { // one that is no text refers to nothing that is known
      all = both(target(schema.get("$ref").asString(""), path, entered, depth), all);
    }
    for (JsonNode inner : schema.path("allOf")) {
      all = both(inlined(inner, path + "/allOf", entered, depth + 1), all);
    }
    return all;
  }

  private JsonNode target(String to, String path, Set<String> entered, int depth) {
    JsonNode target = to.startsWith("#") ? at(to.substring(1)) : null;
    if (target == null || target.isMissingNode()) {
      throw RequestRules.refused(
          "This provider takes no reference to something outside the schema: at " + path + ".");
    }
    if (!entered.add(to)) {
      throw RequestRules.refused(
          "This provider takes no schema that refers to itself: " + to + " at " + path + ".");
    }
    JsonNode written = inlined(target, to, entered, depth + 1);
    entered.remove(to);
    return written;
  }

  private @Nullable JsonNode at(String fragment) {
    try {
      return root.at(
          URLDecoder.decode(fragment.replace("+", "%2B"), StandardCharsets.UTF_8)); // RFC 6901, 6
    } catch (IllegalArgumentException _) {
      return null; // no pointer
    }
  }

  /**
   * What two schemas accept together, as one schema. Where they describe, the second one does.
   *
   * @param first a schema without references
   * @param second another
   * @return a schema that accepts what both accept; parts of the second may stand in its {@code
   *     allOf}
   */
  public static JsonNode both(JsonNode first, JsonNode second) {
    if (!(first instanceof ObjectNode one)) {
      return first.isBoolean() && !first.booleanValue() ? first : second;
    }
    if (!(second instanceof ObjectNode other)) {
      return second.isBoolean() && !second.booleanValue() ? second : first;
    }
    ObjectNode both = one.deepCopy();
    ObjectNode apart = StrictJson.mapper().createObjectNode();
    Set<String> done = new HashSet<>();
    for (Set<String> group : GROUPS) {
      addGroup(group, other, both, apart);
      done.addAll(group);
    }
    for (Map.Entry<String, JsonNode> member : other.properties()) {
      String keyword = member.getKey();
      JsonNode value = member.getValue();
      JsonNode present = both.get(keyword);
      if (done.contains(keyword) || value.equals(present)) {
        continue;
      }
      JsonNode narrower =
          present == null || WORDS.contains(keyword) ? value : narrower(keyword, present, value);
      if (narrower == null) {
        apart.set(keyword, value);
      } else {
        both.set(keyword, narrower);
      }
    }
    if (!apart.isEmpty()) {
      both.withArrayProperty("allOf").add(apart);
    }
    return both;
  }

  private static void addGroup(
      Set<String> group, ObjectNode other, ObjectNode both, ObjectNode apart) {
    Set<String> here = new HashSet<>(both.propertyNames());
    Set<String> there = new HashSet<>(other.propertyNames());
    here.retainAll(group);
    there.retainAll(group);
    if (there.isEmpty()) {
      return;
    }
    ObjectNode to = here.isEmpty() ? both : apart;
    if (!here.isEmpty() && Set.of("items").equals(union(here, there))) {
      both.set("items", both(both.get("items"), other.get("items")));
    } else if (!here.isEmpty()
        && group.contains("properties")
        && !union(here, there).contains("patternProperties")) {
      addMembers(other, both);
    } else {
      for (Map.Entry<String, JsonNode> member : other.properties()) {
        if (there.contains(member.getKey())) {
          to.set(member.getKey(), member.getValue());
        }
      }
    }
  }

  private static Set<String> union(Set<String> one, Set<String> other) {
    Set<String> union = new HashSet<>(one);
    union.addAll(other);
    return union;
  }

  /** A member that only one of them names is, for the other, an additional one. */
  private static void addMembers(ObjectNode other, ObjectNode both) {
    JsonNode moreHere = additional(both);
    JsonNode moreThere = additional(other);
    ObjectNode members = StrictJson.mapper().createObjectNode();
    for (Map.Entry<String, JsonNode> member : both.path("properties").properties()) {
      JsonNode there = other.path("properties").path(member.getKey());
      members.set(
          member.getKey(), both(member.getValue(), there.isMissingNode() ? moreThere : there));
    }
    for (Map.Entry<String, JsonNode> member : other.path("properties").properties()) {
      if (!members.has(member.getKey())) {
        members.set(member.getKey(), both(moreHere, member.getValue()));
      }
    }
    JsonNode more = both(moreHere, moreThere);
    if (isFalse(more)) { // which forbids them too
      for (String name : List.copyOf(members.propertyNames())) {
        if (isFalse(members.get(name))) {
          members.remove(name);
        }
      }
    }
    if (!members.isEmpty() || both.has("properties")) {
      both.set("properties", members);
    }
    if (both.has("additionalProperties") || other.has("additionalProperties")) {
      both.set("additionalProperties", more);
    }
  }

  private static JsonNode additional(ObjectNode schema) {
    return schema.has("additionalProperties")
        ? schema.get("additionalProperties")
        : BooleanNode.TRUE;
  }

  private static boolean isFalse(JsonNode schema) {
    return schema.isBoolean() && !schema.booleanValue();
  }

  /** The one rule that says what two of a kind say together; null if there is none. */
  private static @Nullable JsonNode narrower(String keyword, JsonNode one, JsonNode other) {
    return switch (keyword) {
      case "minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties" ->
          one.isNumber() && other.isNumber() ? (compare(one, other) >= 0 ? one : other) : null;
      case "maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties" ->
          one.isNumber() && other.isNumber() ? (compare(one, other) <= 0 ? one : other) : null;
      case "uniqueItems" -> one.isBoolean() && one.booleanValue() ? one : other;
      case "required" -> {
        ArrayNode names = StrictJson.mapper().createArrayNode();
        Set<JsonNode> all = new LinkedHashSet<>(elements(one));
        all.addAll(elements(other));
        yield names.addAll(all);
      }
      case "allOf" ->
          StrictJson.mapper().createArrayNode().addAll(elements(one)).addAll(elements(other));
      case "type" -> types(one, other);
      default -> null;
    };
  }

  private static int compare(JsonNode one, JsonNode other) {
    return one.decimalValue().compareTo(other.decimalValue());
  }

  private static List<JsonNode> elements(JsonNode list) {
    return new ArrayList<>(list.valueStream().toList());
  }

  private static @Nullable JsonNode types(JsonNode one, JsonNode other) {
    List<String> here = names(one);
    List<String> there = names(other);
    List<String> common = new ArrayList<>();
    for (String type : here) {
      boolean wider = type.equals("integer") && there.contains("number");
      if (there.contains(type) || wider) {
        common.add(type);
      } else if (type.equals("number") && there.contains("integer")) {
        common.add("integer");
      }
    }
    List<String> distinct = common.stream().distinct().toList();
    if (distinct.isEmpty()) {
      return null;
    }
    if (distinct.size() == 1) {
      return StringNode.valueOf(distinct.getFirst());
    }
    ArrayNode several = StrictJson.mapper().createArrayNode();
    distinct.forEach(several::add);
    return several;
  }

  private static List<String> names(JsonNode type) {
    return type.isString()
        ? List.of(type.stringValue())
        : type.valueStream().map(name -> name.asString("")).toList();
  }
}
