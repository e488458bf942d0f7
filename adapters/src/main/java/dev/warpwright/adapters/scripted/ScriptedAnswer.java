package dev.warpwright.adapters.scripted;

import dev.warpwright.model.FinishReason;
import dev.warpwright.model.Image;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelEvent;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.Part;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.ProviderState;
import dev.warpwright.model.Role;
import dev.warpwright.model.TokenCount;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.ToolResult;
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
 *
 * <p>Where it is streamed, its text comes in words, or as {@link #withChunks} says. Use one answer
 * many times rather than making it anew: it is cut only once.
 */
public final class ScriptedAnswer {
  private static final FinishReason STOP = new FinishReason(FinishReason.Kind.STOP, "stop");
  private static final FinishReason CALLS =
      new FinishReason(FinishReason.Kind.TOOL_CALLS, "tool_calls");
  private static final FinishReason REFUSAL =
      new FinishReason(FinishReason.Kind.REFUSAL, "refusal");

  private final @Nullable String thinking;
  private final @Nullable Words words;
  private final List<Call> calls;
  private final Usage usage;
  private final @Nullable FinishReason finish; // null: follows from the calls
  private final Delivery delivery;

  // Made when they are first needed, by any thread; whoever is later makes an equal one.
  private volatile @Nullable List<String> textPieces;
  private volatile @Nullable List<ModelEvent> chunks;

  private ScriptedAnswer(
      @Nullable String thinking,
      @Nullable Words words,
      List<Call> calls,
      Usage usage,
      @Nullable FinishReason finish,
      Delivery delivery) {
    this.thinking = thinking;
    this.words = words;
    this.calls = List.copyOf(calls);
    this.usage = usage;
    this.finish = finish;
    this.delivery = delivery;
  }

  /** A text, and the pieces that it comes in if they are prescribed. */
  private record Words(String text, Optional<List<String>> pieces) {
    static Words of(String text) {
      return new Words(text, Optional.empty());
    }
  }

  /** A call that has no id yet: the conversation gives it one. */
  private record Call(String name, Json input, Optional<String> malformed) {}

  private static ScriptedAnswer of(@Nullable Words words, @Nullable FinishReason finish) {
    return new ScriptedAnswer(null, words, List.of(), Usage.ABSENT, finish, Delivery.DEFAULT);
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
    return of(Words.of(Objects.requireNonNull(text, "text")), null);
  }

  /**
   * An answer in words that comes in these pieces where it is streamed; its text is the pieces,
   * joined.
   *
   * @param pieces the pieces; an empty one is sent by a server, and told to nobody by a model
   * @return the answer
   */
  public static ScriptedAnswer pieces(String... pieces) {
    return pieces(List.of(pieces));
  }

  static ScriptedAnswer pieces(List<String> pieces) {
    List<String> copy = List.copyOf(pieces);
    return of(new Words(String.join("", copy), Optional.of(copy)), null);
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
    return of(Words.of(Objects.requireNonNull(text, "text")), REFUSAL);
  }

  /**
   * Sets what the model thinks before all else: private state with a signature, in the form of
   * Anthropic's blocks of thinking, or of Bedrock's; over Responses, an item of reasoning. A {@link
   * ScriptedServer} accepts it back only unchanged, and such an item only in front of what it stood
   * before. Chat Completions has no place for it and leaves it out; with Ollama's protocol it is
   * plain words, which anybody may change.
   *
   * @param thought the words
   * @return a changed copy
   */
  public ScriptedAnswer withThinking(String thought) {
    Objects.requireNonNull(thought, "thought");
    return new ScriptedAnswer(thought, words, calls, usage, finish, delivery);
  }

  /**
   * Sets the words that stand before the calls.
   *
   * @param text the words
   * @return a changed copy
   */
  public ScriptedAnswer withText(String text) {
    Words said = Words.of(Objects.requireNonNull(text, "text"));
    return new ScriptedAnswer(thinking, said, calls, usage, finish, delivery);
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
    return new ScriptedAnswer(thinking, words, more, usage, finish, delivery);
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
    return new ScriptedAnswer(thinking, words, calls, reported, finish, delivery);
  }

  /**
   * Sets why the answer ends; by default TOOL_CALLS with calls and STOP without.
   *
   * @param reason the reason
   * @return a changed copy
   */
  public ScriptedAnswer withFinish(FinishReason reason) {
    Objects.requireNonNull(reason, "reason");
    return new ScriptedAnswer(thinking, words, calls, usage, reason, delivery);
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
    return with(delivery.with(pause));
  }

  /**
   * Sets how it is streamed; word by word without pauses by default. Pieces that are prescribed
   * ({@link #pieces}) stay as they are, and only pauses and signs of life are taken from it.
   *
   * @param chunks how
   * @return a changed copy
   */
  public ScriptedAnswer withChunks(ScriptedChunks chunks) {
    Objects.requireNonNull(chunks, "chunks");
    return with(delivery.with(chunks));
  }

  /**
   * Lets the answer fail after so many chunks, or behind the last if there are fewer: a {@link
   * ScriptedModel} throws this then. Asked without a stream, it throws it in place of the answer.
   *
   * @param chunks how many chunks are told before, zero or more
   * @param failure what is thrown
   * @return a changed copy
   */
  public ScriptedAnswer withFailureAfter(int chunks, ProviderException failure) {
    return with(delivery.with(new StreamBreak(after(chunks), Optional.of(failure))));
  }

  /**
   * Lets the answer stall after so many chunks, or behind the last if there are fewer: a {@link
   * ScriptedModel} then says nothing more until it is interrupted. Asked without a stream, it says
   * nothing at all.
   *
   * @param chunks how many chunks are told before, zero or more
   * @return a changed copy
   */
  public ScriptedAnswer withStallAfter(int chunks) {
    return with(delivery.with(new StreamBreak(after(chunks), Optional.empty())));
  }

  private static Point after(int chunks) {
    if (chunks < 0) {
      throw new IllegalArgumentException(
          "The number of chunks must be zero or more, but is " + chunks + ".");
    }
    return new Point.Chunks(chunks);
  }

  ScriptedAnswer with(WireForm form) {
    return with(delivery.with(form));
  }

  private ScriptedAnswer with(Delivery changed) {
    return new ScriptedAnswer(thinking, words, calls, usage, finish, changed);
  }

  /**
   * How long the model thinks before it answers.
   *
   * @return zero or more
   */
  public Duration latency() {
    return delivery.latency();
  }

  Delivery delivery() {
    return delivery;
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
    if (words != null) {
      parts.add(new Part.Text(words.text));
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

  /** How a part of its response is cut for a stream. */
  List<String> pieces(Part part) {
    return switch (part) {
      case Part.Text _ -> textPieces();
      case ToolCall call ->
          delivery.chunks().cutArguments(call.malformed().orElse(call.input().text()));
      case ProviderState _ -> delivery.chunks().cut(thinking == null ? "" : thinking);
      case ToolResult _, Image _ -> throw new AssertionError("No part of an answer: " + part);
    };
  }

  private List<String> textPieces() {
    List<String> made = textPieces;
    if (made == null) {
      made =
          words == null
              ? List.of()
              : words.pieces.orElseGet(() -> delivery.chunks().cut(words.text));
      textPieces = made;
    }
    return made;
  }

  /** All its chunks as a model tells them, the same whatever the conversation. */
  List<ModelEvent> chunks() {
    List<ModelEvent> made = chunks;
    if (made == null) {
      made = makeChunks();
      chunks = made;
    }
    return made;
  }

  private List<ModelEvent> makeChunks() {
    List<ModelEvent> made = new ArrayList<>();
    ScriptedChunks cutter = delivery.chunks();
    if (thinking != null) {
      cutter.cut(thinking).forEach(piece -> made.add(new ModelEvent.Reasoning(piece)));
    }
    textPieces().stream()
        .filter(piece -> !piece.isEmpty())
        .forEach(piece -> made.add(new ModelEvent.Text(piece)));
    for (Call call : calls) {
      String arguments = call.malformed.orElse(call.input.text());
      cutter.cutArguments(arguments).forEach(_ -> made.add(ModelEvent.ALIVE));
    }
    return List.copyOf(made);
  }

  Usage usage() {
    return usage;
  }

  /** Shows what it consists of, not the content. */
  @Override
  public String toString() {
    return "ScriptedAnswer["
        + (words == null ? "no text" : words.text.length() + " characters")
        + ", "
        + calls.size()
        + " calls]";
  }
}
