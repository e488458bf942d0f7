package dev.warpwright.adapters.wire;

import dev.warpwright.adapters.http.Answer;
import dev.warpwright.adapters.http.Failures;
import dev.warpwright.json.StrictJson;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.ToolCall;
import java.net.http.HttpHeaders;
import java.util.HashSet;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Reads the tool calls of one answer, in order: gives ids to those without one, and takes arguments
 * as text or as the object itself.
 */
public final class CallReader {
  /** How many calls an answer may have. */
  static final int MAX_CALLS = 128;

  /** What is wrong with an answer that crosses the bound. */
  static final String TOO_MANY = "has more tool calls than the bound of " + MAX_CALLS + ".";

  /** What is wrong with an answer whose arguments would be lost. */
  public static final String NO_TEXT = "has a fragment of a tool call that is no text.";

  private final Failures failures;
  private final HttpHeaders headers;
  private final ModelCall asked;
  private final Supplier<byte[]> content;
  private final Predicate<JsonNode> repeatsKeys;
  private final Set<String> ids = new HashSet<>();
  private @Nullable CallIds synthetic;
  private int ordinal;

  /**
   * Begins an answer that has come whole.
   *
   * @param failures how it fails
   * @param asked what was asked
   * @param answer the answer
   * @param argumentsMember what the protocol calls the arguments of a call
   */
  public CallReader(Failures failures, ModelCall asked, Answer answer, String argumentsMember) {
    this(
        failures,
        asked,
        answer.headers(),
        answer::bytes,
        new KeysOfAnswer(answer, argumentsMember));
  }

  /**
   * Begins an answer.
   *
   * @param failures how it fails
   * @param asked what was asked
   * @param headers the response's headers
   * @param content what ids are made from where there are none
   * @param repeatsKeys whether arguments that came as JSON had a key twice
   */
  CallReader(
      Failures failures,
      ModelCall asked,
      HttpHeaders headers,
      Supplier<byte[]> content,
      Predicate<JsonNode> repeatsKeys) {
    this.failures = failures;
    this.asked = asked;
    this.headers = headers;
    this.content = content;
    this.repeatsKeys = repeatsKeys;
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
    return next(text(givenId), text(givenName), given);
  }

  ToolCall next(@Nullable String givenId, @Nullable String name, JsonNode given) {
    if (ordinal == MAX_CALLS) {
      throw broken(TOO_MANY);
    }
    String id = id(givenId);
    if (!ids.add(id)) {
      throw broken("has two tool calls with the same id.");
    }
    if (name == null) {
      throw broken("has a tool call without a name.");
    }
    String arguments = arguments(given);
    if (ToolArguments.isTooLong(arguments)) {
      throw broken(ToolArguments.TOO_LONG);
    }
    return given.isContainer() && repeatsKeys.test(given)
        ? ToolCall.malformed(id, name, arguments)
        : ToolArguments.call(id, name, arguments);
  }

  private String id(@Nullable String given) {
    int place = ordinal++;
    if (given != null) {
      return given;
    }
    if (synthetic == null) {
      synthetic = new CallIds(asked.messages(), content.get());
    }
    return synthetic.id(place);
  }

  /**
   * Arguments as text.
   *
   * @param arguments text, any other value, or nothing
   * @return the text
   */
  public static String arguments(JsonNode arguments) {
    if (arguments.isNull() || arguments.isMissingNode()) {
      return "";
    }
    return arguments.isString() ? arguments.stringValue() : StrictJson.write(arguments);
  }

  private ProviderException broken(String what) {
    return failures.protocol(what, headers);
  }

  /**
   * Looked at once per answer: which of its calls lost a key is not known, so none of them runs.
   */
  private static final class KeysOfAnswer implements Predicate<JsonNode> {
    private final Answer answer;
    private final String argumentsMember;
    private @Nullable Boolean repeated;

    KeysOfAnswer(Answer answer, String argumentsMember) {
      this.answer = answer;
      this.argumentsMember = argumentsMember;
    }

    @Override
    public boolean test(JsonNode arguments) {
      if (repeated == null) {
        repeated = RepeatedKeys.below(answer.bytes(), argumentsMember);
      }
      return repeated;
    }
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
