package dev.warpwright.adapters.scripted;

import dev.warpwright.model.FinishReason;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.Part;
import dev.warpwright.model.Role;
import dev.warpwright.model.TokenCount;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.Usage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What a scripted model says once: text, tool calls, what it reports, how long it thinks.
 *
 * <p>Immutable; every {@code with} returns a changed copy.
 *
 * {@snippet :
 * ScriptedAnswer answer =
 *     ScriptedAnswer.tool("lookup_order", Json.parse("{\"id\":\"A-17\"}"))
 *         .withUsage(120, 20)
 *         .withLatency(Duration.ofMillis(50));
 * }
 */
public final class ScriptedAnswer {
  private static final FinishReason STOP = new FinishReason(FinishReason.Kind.STOP, "stop");
  private static final FinishReason CALLS =
      new FinishReason(FinishReason.Kind.TOOL_CALLS, "tool_calls");
  private static final FinishReason REFUSAL =
      new FinishReason(FinishReason.Kind.REFUSAL, "refusal");

  private final @Nullable String thinking;
  private final @Nullable String text;
  private final List<Call> calls;
  private final Usage usage;
  private final @Nullable FinishReason finish; // null: follows from the calls
  private final Duration latency;

  private ScriptedAnswer(
      @Nullable String thinking,
      @Nullable String text,
      List<Call> calls,
      Usage usage,
      @Nullable FinishReason finish,
      Duration latency) {
    this.thinking = thinking;
    this.text = text;
    this.calls = List.copyOf(calls);
    this.usage = usage;
    this.finish = finish;
    this.latency = latency;
  }

  /** A call that has no id yet: the conversation gives it one. */
  private record Call(String name, Json input, Optional<String> malformed) {}

  private static ScriptedAnswer of(@Nullable String text, @Nullable FinishReason finish) {
    return new ScriptedAnswer(null, text, List.of(), Usage.ABSENT, finish, Duration.ZERO);
  }

  /**
   * An answer without text or calls, to add to.
   *
   * @return the answer
   */
  static ScriptedAnswer empty() {
    return of(null, null);
  }

  /**
   * An answer in words.
   *
   * @param text the words
   * @return the answer
   */
  public static ScriptedAnswer text(String text) {
    return of(Objects.requireNonNull(text, "text"), null);
  }

  /**
   * An answer that asks for a tool.
   *
   * @param name the tool's name
   * @param input its input, a JSON object
   * @return the answer
   */
  public static ScriptedAnswer tool(String name, Json input) {
    return empty().withTool(name, input);
  }

  /**
   * An answer that declines, with the finish reason REFUSAL.
   *
   * @param text the words
   * @return the answer
   */
  public static ScriptedAnswer refusal(String text) {
    return of(Objects.requireNonNull(text, "text"), REFUSAL);
  }

  /**
   * Sets what the model thinks before all else: private state with a signature, in the form of
   * Anthropic's blocks of thinking; over Responses, an item of reasoning. A {@link ScriptedServer}
   * accepts it back only unchanged, and such an item only in front of what it stood before. Chat
   * Completions has no place for it and leaves it out.
   *
   * @param thought the words
   * @return a changed copy
   */
  public ScriptedAnswer withThinking(String thought) {
    Objects.requireNonNull(thought, "thought");
    return new ScriptedAnswer(thought, text, calls, usage, finish, latency);
  }

  /**
   * Sets the words that stand before the calls.
   *
   * @param words the words
   * @return a changed copy
   */
  public ScriptedAnswer withText(String words) {
    Objects.requireNonNull(words, "words");
    return new ScriptedAnswer(thinking, words, calls, usage, finish, latency);
  }

  /**
   * Adds a call.
   *
   * @param name the tool's name
   * @param input its input, a JSON object
   * @return a changed copy
   */
  public ScriptedAnswer withTool(String name, Json input) {
    if (!input.isObject()) {
      throw new IllegalArgumentException("The input of " + name + " must be a JSON object.");
    }
    return withCall(new Call(name, input, Optional.empty()));
  }

  /**
   * Adds a call whose arguments are no JSON object, as models send them now and then.
   *
   * @param name the tool's name
   * @param arguments what the model sends instead
   * @return a changed copy
   */
  public ScriptedAnswer withMalformedTool(String name, String arguments) {
    return withCall(new Call(name, Json.EMPTY_OBJECT, Optional.of(arguments)));
  }

  private ScriptedAnswer withCall(Call call) {
    List<Call> more = new ArrayList<>(calls);
    more.add(call);
    return new ScriptedAnswer(thinking, text, more, usage, finish, latency);
  }

  /**
   * Reports input, output and their sum.
   *
   * @param input input tokens, zero or more
   * @param output output tokens, zero or more
   * @return a changed copy
   */
  public ScriptedAnswer withUsage(long input, long output) {
    Usage base = Usage.reported(input, output);
    return withUsage(
        new Usage(
            base.input(),
            base.cachedInput(),
            base.cacheWrite(),
            base.output(),
            base.reasoning(),
            TokenCount.reported(Math.addExact(input, output)),
            base.speed()));
  }

  /**
   * Reports usage. Without it, nothing is reported.
   *
   * @param reported what the model reports
   * @return a changed copy
   */
  public ScriptedAnswer withUsage(Usage reported) {
    Objects.requireNonNull(reported, "reported");
    return new ScriptedAnswer(thinking, text, calls, reported, finish, latency);
  }

  /**
   * Sets why the answer ends; by default TOOL_CALLS with calls and STOP without.
   *
   * @param reason the reason
   * @return a changed copy
   */
  public ScriptedAnswer withFinish(FinishReason reason) {
    Objects.requireNonNull(reason, "reason");
    return new ScriptedAnswer(thinking, text, calls, usage, reason, latency);
  }

  /**
   * Sets how long the model thinks before it answers.
   *
   * @param pause zero or more
   * @return a changed copy
   */
  public ScriptedAnswer withLatency(Duration pause) {
    if (pause.isNegative()) {
      throw new IllegalArgumentException("A latency must be zero or more, but is " + pause + ".");
    }
    return new ScriptedAnswer(thinking, text, calls, usage, finish, pause);
  }

  /**
   * How long the model thinks before it answers.
   *
   * @return zero or more
   */
  public Duration latency() {
    return latency;
  }

  /**
   * This answer as the response to a conversation.
   *
   * <p>The ids of its calls follow from the messages and the call's place: the same conversation
   * gives the same ids, so a retry repeats them, and two turns of one conversation never share one.
   *
   * @param messages the conversation that is answered
   * @return the response, without a request id
   */
  public ModelResponse to(List<Message> messages) {
    return to(ScriptedModel.OWN_MODEL_ID, messages);
  }

  /** The response of one model, which is named in its private state. */
  ModelResponse to(String modelId, List<Message> messages) {
    List<Part> parts = new ArrayList<>();
    if (thinking != null) {
      parts.add(SignedThinking.of(modelId, thinking));
    }
    if (text != null) {
      parts.add(new Part.Text(text));
    }
    if (!calls.isEmpty()) {
      String conversation = Fingerprint.of(messages);
      for (int i = 0; i < calls.size(); i++) {
        Call call = calls.get(i);
        String id = "call_" + conversation + "_" + i;
        parts.add(new ToolCall(id, call.name, call.input, call.malformed));
      }
    }
    FinishReason reason = finish != null ? finish : calls.isEmpty() ? STOP : CALLS;
    return new ModelResponse(new Message(Role.ASSISTANT, parts), reason, usage, Optional.empty());
  }

  /** Shows what it consists of, not the content. */
  @Override
  public String toString() {
    return "ScriptedAnswer["
        + (text == null ? "no text" : text.length() + " characters")
        + ", "
        + calls.size()
        + " calls]";
  }
}
