package dev.warpwright.adapters.wire;

import dev.warpwright.adapters.http.Answer;
import dev.warpwright.adapters.http.Failures;
import dev.warpwright.json.StrictJson;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.ToolCall;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Reads the tool calls of one answer, in order: gives ids to those without one, and takes arguments
 * as text or as the object itself.
 */
public final class CallReader {
  private final Failures failures;
  private final ModelCall asked;
  private final Answer answer;
  private final String argumentsMember;
  private final Set<String> ids = new HashSet<>();
  private @Nullable CallIds synthetic;
  private @Nullable Boolean keysRepeated;
  private int ordinal;

  /**
   * Begins an answer.
   *
   * @param failures how it fails
   * @param asked what was asked
   * @param answer the answer
   * @param argumentsMember what the protocol calls the arguments of a call
   */
  public CallReader(Failures failures, ModelCall asked, Answer answer, String argumentsMember) {
    this.failures = failures;
    this.asked = asked;
    this.answer = answer;
    this.argumentsMember = argumentsMember;
  }

  /**
   * Reads the next call.
   *
   * @param givenId its id, also missing or blank
   * @param givenName the tool's name
   * @param given its arguments: text, the object itself, or nothing
   * @return the call, malformed if its arguments are no object
   * @throws ProviderException of kind PROTOCOL if it has no name, an id that is in use, or
   *     arguments beyond the bound
   */
  public ToolCall next(JsonNode givenId, JsonNode givenName, JsonNode given) {
    String id = id(givenId);
    if (!ids.add(id)) {
      throw broken("has two tool calls with the same id.");
    }
    String name = text(givenName);
    if (name == null) {
      throw broken("has a tool call without a name.");
    }
    String arguments = arguments(given);
    if (ToolArguments.isTooLong(arguments)) {
      throw broken(
          "has a tool call whose arguments are longer than the bound of "
              + ToolArguments.MAX_BYTES
              + " bytes.");
    }
    return given.isContainer() && keysRepeated()
        ? ToolCall.malformed(id, name, arguments)
        : ToolArguments.call(id, name, arguments);
  }

  private String id(JsonNode given) {
    int place = ordinal++;
    String id = text(given);
    if (id != null) {
      return id;
    }
    if (synthetic == null) {
      synthetic = new CallIds(asked.messages(), answer.bytes());
    }
    return synthetic.id(place);
  }

  private static String arguments(JsonNode arguments) {
    if (arguments.isNull() || arguments.isMissingNode()) {
      return "";
    }
    return arguments.isString() ? arguments.stringValue() : StrictJson.write(arguments);
  }

  /**
   * Looked at once per answer: which of its calls lost a key is not known, so none of them runs.
   */
  private boolean keysRepeated() {
    if (keysRepeated == null) {
      keysRepeated = RepeatedKeys.below(answer.bytes(), argumentsMember);
    }
    return keysRepeated;
  }

  private ProviderException broken(String what) {
    return failures.protocol(what, answer.headers());
  }

  /**
   * A text that says something.
   *
   * @param value any value
   * @return the text, null if it is none or blank
   */
  public static @Nullable String text(JsonNode value) {
    return value.isString() && !value.stringValue().isBlank() ? value.stringValue() : null;
  }
}
