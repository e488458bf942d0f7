package dev.warpwright;

import dev.warpwright.json.StrictJson;
import dev.warpwright.model.Capability;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCapabilities;
import dev.warpwright.model.OutputFormat;
import dev.warpwright.model.Role;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import tools.jackson.databind.JsonNode;

/**
 * How an operation asks for an object: prepared once, decided for each destination. Immutable.
 *
 * <p>A schema without a strict form cannot be sent natively: AUTO asks for it by prompt only.
 */
final class ObjectForm {
  private final ObjectMode asked;
  private final Optional<OutputFormat> nativeFormat;
  private final String whyNotNative;
  private final long schemaCharacters;
  private final Message prompt;
  private final Optional<OutputFormat> promptedFormat;

  /**
   * Prepares it.
   *
   * @throws InvalidRequestException if the mode is NATIVE and the schema has no strict form
   */
  ObjectForm(ObjectMode asked, String name, Optional<String> description, Json schema) {
    this.asked = asked;
    Optional<OutputFormat> strict = Optional.empty();
    String why = "";
    if (asked != ObjectMode.PROMPTED) {
      try {
        strict =
            Optional.of(new OutputFormat.JsonSchema(name, description, StrictSchema.of(schema)));
      } catch (InvalidRequestException e) {
        if (asked == ObjectMode.NATIVE) {
          throw e;
        }
        why = String.valueOf(e.getMessage());
      }
    }
    this.nativeFormat = strict;
    this.whyNotNative = why;
    this.schemaCharacters = schema.text().length();
    this.prompt = Message.system(prompt(name, description, schema));
    this.promptedFormat =
        isObject(StrictJson.read(schema.text()))
            ? Optional.of(new OutputFormat.JsonObject())
            : Optional.empty();
  }

  private static String prompt(String name, Optional<String> description, Json schema) {
    return "Return only JSON that conforms to this JSON Schema, without any other text.\n"
        + ("Name: " + name + "\n")
        + description.map(words -> "Description: " + words + "\n").orElse("")
        + ("JSON Schema: " + schema.text());
  }

  /** Whether every value is an object, which is all that a provider's JSON mode gives. */
  private static boolean isObject(JsonNode schema) {
    for (String choice : List.of("oneOf", "anyOf")) {
      JsonNode variants = schema.path(choice);
      if (!variants.isEmpty() && variants.valueStream().allMatch(ObjectForm::isObject)) {
        return true;
      }
    }
    return schema.path("type").asString("").equals("object");
  }

  /** Of these a model must declare one. */
  Set<Capability> needsOneOf() {
    return switch (asked) {
      case NATIVE -> EnumSet.of(Capability.STRUCTURED_OUTPUT);
      case PROMPTED -> EnumSet.of(Capability.JSON_MODE);
      case AUTO ->
          nativeFormat.isPresent()
              ? EnumSet.of(Capability.STRUCTURED_OUTPUT, Capability.JSON_MODE)
              : EnumSet.of(Capability.JSON_MODE);
    };
  }

  /** Whether some destination may be asked natively. */
  boolean mayBeNative() {
    return nativeFormat.isPresent();
  }

  /** Why AUTO does not mean NATIVE; empty if it may. */
  String whyNotNative() {
    return whyNotNative;
  }

  /** The mode in which a model that passed the checks is asked: NATIVE or PROMPTED. */
  ObjectMode modeFor(ModelCapabilities model) {
    return nativeFormat.isPresent() && model.has(Capability.STRUCTURED_OUTPUT)
        ? ObjectMode.NATIVE
        : ObjectMode.PROMPTED;
  }

  Optional<OutputFormat> format(ObjectMode mode) {
    return mode == ObjectMode.NATIVE ? nativeFormat : promptedFormat;
  }

  /** About what the schema adds to the size of the input, in either mode. */
  long schemaCharacters() {
    return schemaCharacters;
  }

  /**
   * The messages as they are sent: in PROMPTED mode with one system message more, behind the other
   * system messages, since some models take these only before all else.
   */
  List<Message> messages(ObjectMode mode, List<Message> conversation) {
    if (mode == ObjectMode.NATIVE) {
      return conversation;
    }
    List<Message> sent = new ArrayList<>(conversation);
    int behind = 0;
    while (behind < sent.size() && sent.get(behind).role() == Role.SYSTEM) {
      behind++;
    }
    sent.add(behind, prompt);
    return sent;
  }
}
