package dev.warpwright.control;

import dev.warpwright.control.Cacheability.Reason;
import dev.warpwright.json.StrictJson;
import dev.warpwright.model.Digest;
import dev.warpwright.model.Image;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.OutputFormat;
import dev.warpwright.model.Part;
import dev.warpwright.model.ProviderState;
import dev.warpwright.model.Reasoning;
import dev.warpwright.model.Redaction;
import dev.warpwright.model.Target;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.ToolChoice;
import dev.warpwright.model.ToolResult;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * A call and whom it is for, written down as a text that no other call gives: before each value
 * stands its length, before a list its size, before an optional value whether it is there. So
 * nothing in one value can look like its end and the beginning of the next.
 */
final class CanonicalCall {
  /** Part of every key; another one when what is written, or how, changes. */
  private static final String FORM = "warpwright response 2";

  private final StringBuilder text = new StringBuilder();
  private @Nullable Reason obstacle;

  private CanonicalCall() {}

  static CanonicalCall write(CacheScope scope, Target target, ModelCall call) {
    CanonicalCall canonical = new CanonicalCall();
    canonical.add(FORM);
    // Taken apart, so that a new component of a call must get its place here.
    switch (call) {
      case ModelCall(
              var messages,
              var tools,
              var toolChoice,
              var temperature,
              var maxTokens,
              var reasoning,
              var output,
              var _, // the format of tool results, of which there are none
              var providerOptions,
              var _) -> {
        canonical.refuse(!tools.isEmpty(), Reason.TOOLS);
        canonical.refuse(!providerOptions.equals(Json.EMPTY_OBJECT), Reason.PROVIDER_OPTIONS);
        canonical.add(messages);
        canonical.add(word(toolChoice));
        canonical.add(temperature);
        canonical.add(maxTokens);
        canonical.add(reasoning.map(CanonicalCall::word));
        canonical.addFormat(output);
      }
    }
    canonical.add(scope);
    canonical.add(target);
    return canonical;
  }

  private static String word(ToolChoice choice) {
    return switch (choice) {
      case ToolChoice.Auto auto -> "auto";
      case ToolChoice.None none -> "none";
      case ToolChoice.Required required -> "required";
      case ToolChoice.Named(String name) -> "tool " + name;
    };
  }

  private static String word(Reasoning reasoning) {
    return switch (reasoning) {
      case Reasoning.ByEffort(Reasoning.Effort effort) -> "effort " + effort.name();
      case Reasoning.ByBudget(int tokens) -> "budget " + tokens;
    };
  }

  private void add(List<Message> messages) {
    add(Integer.toString(messages.size()));
    for (Message message : messages) {
      add(message.role().name());
      add(Integer.toString(message.parts().size()));
      message.parts().forEach(this::add);
    }
  }

  private void add(Part part) {
    switch (part) {
      case Part.Text(String words) -> addFree(words);
      case Image image -> refuse(true, Reason.IMAGES);
      case ToolCall call -> refuse(true, Reason.TOOL_HISTORY);
      case ToolResult result -> refuse(true, Reason.TOOL_HISTORY);
      case ProviderState state -> refuse(true, Reason.PROVIDER_STATE);
    }
  }

  private void add(CacheScope scope) {
    addFree(scope.authentication());
    addFree(scope.cache());
    add(scope.budget().isPresent() ? "1" : "0");
    scope.budget().ifPresent(this::addFree);
  }

  private void add(Target target) {
    add(target.provider());
    addFree(target.modelId());
    add(target.deploymentId());
  }

  private void addFormat(Optional<OutputFormat> format) {
    switch (format.orElse(null)) {
      case null -> add("text");
      case OutputFormat.JsonObject() -> add("object");
      case OutputFormat.JsonSchema(var name, var description, var schema) -> {
        add("schema");
        addFree(name);
        add(description.isPresent() ? "1" : "0");
        description.ifPresent(this::addFree);
        addFree(schema.text());
      }
    }
  }

  private void add(OptionalInt number) {
    add(number.isPresent() ? Optional.of(Integer.toString(number.getAsInt())) : Optional.empty());
  }

  private void add(OptionalDouble number) {
    double value = number.orElse(0) + 0.0; // minus zero becomes zero
    refuse(!Double.isFinite(value), Reason.NO_CANONICAL_FORM);
    add(number.isPresent() ? Optional.of(Double.toString(value)) : Optional.empty());
  }

  private void add(Optional<String> word) {
    add(word.isPresent() ? "1" : "0");
    word.ifPresent(this::add);
  }

  /** Adds a text that somebody else has written. */
  private void addFree(String free) {
    if (obstacle == null) { // else it is not worth looking at
      refuse(!Redaction.redact(free).equals(free), Reason.SECRET);
      add(free);
    }
  }

  private void add(String word) {
    text.append(word.length()).append(':').append(word);
  }

  /** The first obstacle is the one that is told. */
  private void refuse(boolean stands, Reason reason) {
    if (stands && obstacle == null) {
      obstacle = reason;
    }
  }

  Cacheability judge() {
    if (obstacle != null) {
      return new Cacheability.Bypassed(obstacle);
    }
    String all = text.toString();
    // What has no form in UTF-8 would be digested as something else.
    return StrictJson.cleanText(all).equals(all)
        ? new Cacheability.Keyed(new CacheKey(Digest.hex(all)))
        : new Cacheability.Bypassed(Reason.NO_CANONICAL_FORM);
  }
}
