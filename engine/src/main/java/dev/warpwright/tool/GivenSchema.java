package dev.warpwright.tool;

import com.networknt.schema.Error;
import com.networknt.schema.ExecutionContext;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaLocation;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SchemaRegistryConfig;
import com.networknt.schema.SpecificationVersion;
import com.networknt.schema.ValidationLimitExceededException;
import com.networknt.schema.path.NodePath;
import com.networknt.schema.path.PathType;
import com.networknt.schema.resource.SchemaLoader;
import dev.warpwright.json.StrictJson;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import java.math.BigDecimal;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.BigIntegerNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Any JSON that a schema given by hand accepts, checked by the library. Only this class touches the
 * library, so a program that derives all its schemas never loads it.
 *
 * <p>The library's own texts quote the value; only the place, the keyword and the keyword's place
 * in the schema are taken from an error.
 */
final class GivenSchema implements Shape {
  /** The work of one check, in the library's steps; some hundred thousand objects stay below. */
  private static final long MAX_STEPS = 5_000_000;

  /** More than any value needs: only a schema that refers to itself without end meets it. */
  private static final int MAX_EVALUATION_DEPTH = 1_000;

  private static final String ASSUMED = "https://json-schema.org/draft/2020-12/schema";

  private static final List<String> DRAFTS =
      List.of(
          ASSUMED,
          "https://json-schema.org/draft/2019-09/schema",
          "http://json-schema.org/draft-07/schema#",
          "http://json-schema.org/draft-06/schema#",
          "http://json-schema.org/draft-04/schema#");

  private final Schema schema;

  /** The names of members that the schema knows; others are content. */
  private final Set<String> declared;

  private GivenSchema(Schema schema, Set<String> declared) {
    this.schema = schema;
    this.declared = declared;
  }

  static GivenSchema of(Json text) {
    JsonNode node = StrictJson.read(text.text());
    if (!node.isObject()) {
      throw refused("it is no object");
    }
    Set<String> names = new HashSet<>();
    addNames(node, false, names);
    try {
      Walk walk = new Walk();
      new GivenSchema(registry().getSchema(draft(node)), names).check(node, walk);
      if (walk.found() > 0) {
        throw refused(String.join("; ", walk.violations()));
      }
      Set<String> declared = new HashSet<>();
      addNames(node, true, declared);
      Schema schema = registry().getSchema(node);
      schema.initializeValidators();
      BoundedPattern.within(
          () -> schema.validate(StrictJson.mapper().createObjectNode(), GivenSchema::bound));
      return new GivenSchema(schema, declared);
    } catch (InvalidRequestException e) {
      throw e;
    } catch (ValidationLimitExceededException e) {
      throw refused("it refers to itself without end");
    } catch (RuntimeException e) { // the library has several, for references and patterns
      throw refused(Objects.requireNonNullElse(e.getMessage(), e.getClass().getName()));
    }
  }

  private static InvalidRequestException refused(String reason) {
    return new InvalidRequestException(
        FailureKind.INVALID_CONFIGURATION, "The JSON Schema is refused: " + reason + ".");
  }

  private static SchemaLocation draft(JsonNode schema) {
    JsonNode named = schema.get("$schema");
    String id = named != null && named.isString() ? named.stringValue() : ASSUMED;
    for (String draft : DRAFTS) {
      if (id.equals(draft) || (id + "#").equals(draft) || id.equals(draft + "#")) {
        return SchemaLocation.of(draft);
      }
    }
    throw refused("its $schema is none of " + String.join(", ", DRAFTS));
  }

  /** A registry of its own for each schema: an {@code $id} must not reach another's. */
  private static SchemaRegistry registry() {
    SchemaLoader standardOnly =
        SchemaLoader.builder()
            .allow(iri -> iri.toString().matches("https?://json-schema\\.org/.*"))
            .build();
    SchemaRegistryConfig config =
        SchemaRegistryConfig.builder()
            .formatAssertionsEnabled(true)
            .locale(Locale.ROOT)
            .regularExpressionFactory(BoundedPattern::of)
            .pathType(PathType.JSON_POINTER)
            .build();
    return SchemaRegistry.withDefaultDialect(
        SpecificationVersion.DRAFT_2020_12,
        builder -> builder.schemaLoader(standardOnly).schemaRegistryConfig(config));
  }

  private static void bound(ExecutionContext context) {
    context.executionConfig(
        config -> config.maxEvaluationSteps(MAX_STEPS).maxEvaluationDepth(MAX_EVALUATION_DEPTH));
  }

  /** Collects the keys under {@code properties}, or all keys. */
  private static void addNames(JsonNode node, boolean propertiesOnly, Set<String> names) {
    for (Map.Entry<String, JsonNode> member : node.properties()) {
      if (!propertiesOnly) {
        names.add(member.getKey());
      } else if (member.getKey().equals("properties")) {
        names.addAll(member.getValue().propertyNames());
      }
      addNames(member.getValue(), propertiesOnly, names);
    }
    if (node.isArray()) {
      node.forEach(element -> addNames(element, propertiesOnly, names));
    }
  }

  @Override
  public Map<String, Object> schema(Definitions definitions) {
    throw new IllegalStateException("A given schema is never part of a derived one.");
  }

  @Override
  public @Nullable Object read(JsonNode node, Walk walk) {
    int before = walk.found();
    check(node, walk);
    return walk.found() > before ? null : Json.parse(StrictJson.write(node));
  }

  @Override
  public Object write(@Nullable Object value, Walk walk) {
    if (!(value instanceof Json json)) {
      throw walk.refusal("is null");
    }
    check(StrictJson.read(json.text()), walk);
    if (walk.found() > 0) {
      throw walk.refusal("breaks the schema: " + String.join("; ", walk.violations()));
    }
    return json;
  }

  private void check(JsonNode node, Walk walk) {
    if (!hasBoundedNumbers(node)) {
      walk.report("holds a number that " + NumberBounds.RULE);
      return;
    }
    JsonNode plain = withPlainIntegers(node);
    try {
      BoundedPattern.within(
          () ->
              schema.validate(
                  plain,
                  context -> {
                    bound(context);
                    context.setErrors(new Errors(plain, walk));
                  }));
    } catch (FullException e) {
      // enough is known
    } catch (BoundedPattern.ExceededException e) {
      walk.report("takes too much to be matched with the schema's patterns");
    } catch (ValidationLimitExceededException e) {
      walk.report("takes more than " + MAX_STEPS + " steps to check");
    } catch (JacksonException e) {
      walk.report("holds a number out of range that should be an integer");
    }
  }

  /** Beyond the bound, writing an integer out could take all memory. */
  private static boolean hasBoundedNumbers(JsonNode node) {
    if (node.isBigDecimal()) {
      return NumberBounds.holdFor(node.decimalValue());
    }
    for (JsonNode child : node) {
      if (!hasBoundedNumbers(child)) {
        return false;
      }
    }
    return true;
  }

  /**
   * Writes {@code 1e30} out, since the library throws when it compares that with a bound of an
   * integer.
   */
  private static JsonNode withPlainIntegers(JsonNode node) {
    if (node.isBigDecimal()) {
      BigDecimal number = node.decimalValue();
      return NumberBounds.isInteger(number)
          ? BigIntegerNode.valueOf(number.toBigIntegerExact())
          : node;
    }
    if (node.isObject()) {
      ObjectNode copy = StrictJson.mapper().createObjectNode();
      node.properties()
          .forEach(member -> copy.set(member.getKey(), withPlainIntegers(member.getValue())));
      return copy;
    }
    if (node.isArray()) {
      ArrayNode copy = StrictJson.mapper().createArrayNode();
      node.forEach(element -> copy.add(withPlainIntegers(element)));
      return copy;
    }
    return node;
  }

  /** Ends a check that has found enough. */
  private static final class FullException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    FullException() {
      super(null, null, false, false);
    }
  }

  /** The library's list of errors, which turns each into a violation without content at once. */
  private final class Errors extends AbstractList<Error> {
    private final JsonNode root;
    private final Walk walk;
    private final List<Error> errors = new ArrayList<>();

    Errors(JsonNode root, Walk walk) {
      this.root = root;
      this.walk = walk;
    }

    @Override
    public void add(int index, Error error) {
      errors.add(index, error);
      int entered = enter(error.getInstanceLocation());
      if (error.getKeyword().equals("required") && error.getProperty() != null) {
        walk.enterMember(error.getProperty());
        walk.report("is required");
        walk.leave();
      } else {
        walk.report(
            "breaks "
                + error.getKeyword()
                + " at #"
                + error.getSchemaLocation().getFragment()
                + " of the schema");
      }
      for (int i = 0; i < entered; i++) {
        walk.leave();
      }
      if (walk.full()) {
        throw new FullException();
      }
    }

    private int enter(NodePath location) {
      JsonNode at = root;
      int steps = location.getNameCount();
      for (int i = 0; i < steps; i++) {
        if (location.getElement(i) instanceof Integer index) {
          walk.enterElement(index);
          at = at.path(index);
        } else {
          String name = location.getName(i);
          if (declared.contains(name)) {
            walk.enterMember(name);
          } else {
            walk.enterEntry(1 + new ArrayList<>(at.propertyNames()).indexOf(name));
          }
          at = at.path(name);
        }
      }
      return steps;
    }

    @Override
    public Error get(int index) {
      return errors.get(index);
    }

    @Override
    public int size() {
      return errors.size();
    }
  }
}
