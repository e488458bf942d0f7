package dev.warpwright.adapters.wire;

import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import dev.warpwright.json.StrictJson;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Random schemas and values, and whether the one accepts the other. */
public final class Schemas {
  private static final List<String> NAMES = List.of("a", "b", "c");
  private static final List<String> TYPES =
      List.of("string", "integer", "number", "boolean", "null", "object", "array");

  private final Random random;

  public Schemas(Random random) {
    this.random = random;
  }

  public static boolean accepts(JsonNode schema, JsonNode value) {
    return SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12)
        .getSchema(schema)
        .validate(value)
        .isEmpty();
  }

  private static ObjectNode object() {
    return StrictJson.mapper().createObjectNode();
  }

  private boolean chance(int in) {
    return random.nextInt(in) == 0;
  }

  private <T> T any(List<T> of) {
    return of.get(random.nextInt(of.size()));
  }

  /** A schema without references. */
  public ObjectNode plain(int depth) {
    return schema(depth, List.of());
  }

  /** A schema of an object that may refer to its definitions, to members, and through others. */
  public ObjectNode referring(int depth) {
    ObjectNode root = object();
    ObjectNode definitions = object();
    List<String> targets = new ArrayList<>();
    for (String name : List.of("D0", "D1", "D/2")) {
      definitions.set(name, schema(depth - 1, targets));
      targets.add("#/$defs/" + name.replace("/", "~1"));
    }
    ObjectNode first = schema(depth - 1, targets);
    List<String> all = new ArrayList<>(targets);
    all.add("#/properties/first");
    root.setAll(schema(depth, all));
    root.withObjectProperty("properties").set("first", first);
    if (chance(2)) {
      root.put("type", "object");
    }
    root.set("$defs", definitions);
    return root;
  }

  private ObjectNode schema(int depth, List<String> targets) {
    ObjectNode schema = object();
    if (!chance(4)) {
      if (chance(3)) {
        ArrayNode types = schema.putArray("type");
        types.add(any(TYPES));
        String other = any(TYPES);
        // the validator takes a bound of "integer or number" for one of integers only
        boolean numbers = List.of("integer", "number").contains(other);
        if (!numbers && !other.equals(types.get(0).stringValue())) {
          types.add(other);
        }
      } else {
        schema.put("type", depth > 0 && chance(2) ? any(List.of("object", "array")) : any(TYPES));
      }
    }
    if (!targets.isEmpty() && chance(3)) {
      schema.put("$ref", any(targets));
    }
    if (chance(4)) {
      schema.put("description", "D" + random.nextInt(9));
    }
    if (chance(6)) {
      schema.put(any(List.of("minimum", "maximum", "exclusiveMinimum")), random.nextInt(4));
    }
    if (chance(6)) {
      schema.put(any(List.of("minLength", "maxLength")), random.nextInt(4));
    }
    if (chance(8)) {
      schema.put(any(List.of("minItems", "maxItems", "minProperties", "maxProperties")), 1);
    }
    if (chance(10)) {
      schema.put("pattern", any(List.of("^a", "b$")));
    }
    if (chance(10)) {
      ArrayNode constants = schema.putArray("enum");
      for (int i = random.nextInt(3); i >= 0; i--) {
        constants.add(value(0));
      }
    }
    if (chance(14)) {
      schema.set("const", value(0));
    }
    if (depth > 0) {
      nested(schema, depth - 1, targets);
    }
    return schema;
  }

  private void nested(ObjectNode schema, int depth, List<String> targets) {
    if (chance(2)) {
      ObjectNode members = schema.putObject("properties");
      for (String name : NAMES) {
        if (chance(2)) {
          members.set(name, schema(depth, targets));
        }
      }
    }
    if (chance(3)) {
      schema.putArray("required").add(any(NAMES));
    }
    if (chance(4)) {
      if (chance(2)) {
        schema.put("additionalProperties", chance(3));
      } else {
        schema.set("additionalProperties", schema(depth, targets));
      }
    }
    if (chance(12)) {
      schema.putObject("patternProperties").set("^[ab]", schema(depth, targets));
    }
    if (chance(3)) {
      schema.set("items", schema(depth, targets));
    }
    if (chance(12)) {
      schema.putArray("prefixItems").add(schema(depth, targets));
    }
    for (String keyword : List.of("allOf", "anyOf", "oneOf")) {
      if (chance(7)) {
        ArrayNode several = schema.putArray(keyword);
        for (int i = random.nextInt(2); i >= 0; i--) {
          several.add(schema(depth, targets));
        }
      }
    }
    if (chance(12)) {
      schema.set("not", schema(depth, targets));
    }
    if (chance(14)) {
      schema.set("if", schema(depth, targets));
      schema.set("then", schema(depth, targets));
    }
  }

  /** Any value. */
  public JsonNode value(int depth) {
    var nodes = StrictJson.mapper().getNodeFactory();
    return switch (random.nextInt(depth > 0 ? 9 : 6)) {
      case 0 -> nodes.stringNode(any(List.of("", "a", "ab", "bcd", "abcb")));
      case 1 -> nodes.numberNode(random.nextInt(5));
      case 2 -> nodes.numberNode(new java.math.BigDecimal("1.5"));
      case 3 -> nodes.booleanNode(chance(2));
      case 4 -> nodes.nullNode();
      case 5 -> nodes.numberNode(3);
      case 6 -> {
        ArrayNode list = nodes.arrayNode();
        for (int i = random.nextInt(3); i > 0; i--) {
          list.add(value(depth - 1));
        }
        yield list;
      }
      default -> {
        ObjectNode members = nodes.objectNode();
        for (String name : List.of("a", "b", "c", "first")) {
          if (chance(2)) {
            members.set(name, value(depth - 1));
          }
        }
        yield members;
      }
    };
  }
}
