package dev.warpwright;

import dev.warpwright.model.FinishReason;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.Part;
import dev.warpwright.model.ProviderState;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.ToolResult;
import dev.warpwright.model.Usage;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * What a stream shows, in order. A step of one answer is: deltas as they come; then, once the
 * answer is complete, its {@link ProviderData}, its {@link ToolCalled}s and its {@link Finish};
 * then a {@link ToolReturned} for each call. After the last step comes one more {@link Finish}, of
 * the whole operation; or, whenever it happens, the {@link Failure} that ended it.
 *
 * <p>No event shows content in its {@code toString}.
 */
public sealed interface StreamEvent {
  /**
   * A piece of text of the answer, never empty. In an object stream it is a piece of the object's
   * JSON.
   *
   * @param text the piece
   */
  record TextDelta(String text) implements StreamEvent {
    /** Shows the length only. */
    @Override
    public String toString() {
      return "TextDelta[" + text.length() + " characters]";
    }
  }

  /**
   * A piece of the reasoning that the provider shows, never empty.
   *
   * @param text the piece
   */
  record ReasoningDelta(String text) implements StreamEvent {
    /** Shows the length only. */
    @Override
    public String toString() {
      return "ReasoningDelta[" + text.length() + " characters]";
    }
  }

  /**
   * A part of the answer that only its provider understands, such as what became of a tool that it
   * runs itself.
   *
   * @param state the part
   */
  record ProviderData(ProviderState state) implements StreamEvent {}

  /**
   * The answer asks for a tool. Told when the answer is complete, before any tool runs.
   *
   * @param call the call
   */
  record ToolCalled(ToolCall call) implements StreamEvent {
    /** Shows the tool's name only. */
    @Override
    public String toString() {
      return "ToolCalled[" + call.name() + "]";
    }
  }

  /**
   * A tool has been run, or refused.
   *
   * @param result what the model will be told
   */
  record ToolReturned(ToolResult result) implements StreamEvent {
    /** Shows the tool's name only. */
    @Override
    public String toString() {
      return "ToolReturned[" + result.toolName() + "]";
    }
  }

  /**
   * The answer of a step is complete, or the operation is.
   *
   * @param reason why it ended
   * @param usage the tokens of the step; of all steps, if this is the operation's
   * @param last whether this is the operation's, behind which nothing follows
   */
  record Finish(FinishReason reason, Usage usage, boolean last) implements StreamEvent {}

  /**
   * The object as far as its text has come, with what is open closed; only in object streams, and
   * only when it has changed. It need not match the schema.
   *
   * @param value the value
   */
  record ObjectPartial(Json value) implements StreamEvent {
    /** Shows no content. */
    @Override
    public String toString() {
      return "ObjectPartial";
    }
  }

  /**
   * The object is complete and matches its schema; only in object streams, before the last {@link
   * Finish}.
   *
   * @param object the object, of the type that the request asks for
   */
  record ObjectComplete(Object object) implements StreamEvent {
    /** Shows no content. */
    @Override
    public String toString() {
      return "ObjectComplete";
    }
  }

  /**
   * The operation failed. It is the last event; what comes after it is {@code cause}, thrown.
   *
   * @param cause a {@link dev.warpwright.model.WarpwrightException}, or what a tool, adapter or
   *     thread threw that is none
   */
  record Failure(Throwable cause) implements StreamEvent {
    /** Refuses null. */
    public Failure {
      Objects.requireNonNull(cause, "cause");
    }

    /** Shows the type only. */
    @Override
    public String toString() {
      return "Failure[" + cause.getClass().getSimpleName() + "]";
    }
  }

  /**
   * What of an answer is shown once it is complete: all but its text and its reasoning.
   *
   * @param message the answer
   * @param reason why it ended
   * @param usage its tokens
   * @return the events, in order
   */
  static List<StreamEvent> ofAnswer(Message message, FinishReason reason, Usage usage) {
    List<StreamEvent> events = new ArrayList<>();
    for (Part part : message.parts()) {
      if (part instanceof ProviderState state) {
        events.add(new ProviderData(state));
      }
    }
    message.toolCalls().forEach(call -> events.add(new ToolCalled(call)));
    events.add(new Finish(reason, usage, false));
    return events;
  }

  /**
   * About how much memory an event takes.
   *
   * @param event the event
   * @return its weight in bytes
   */
  static long weight(StreamEvent event) {
    return switch (event) {
      case TextDelta(String text) -> 64 + 2L * text.length();
      case ReasoningDelta(String text) -> 64 + 2L * text.length();
      case ProviderData(ProviderState state) -> 64 + 2L * state.data().text().length();
      case ToolCalled(ToolCall call) -> 64 + 2L * call.input().text().length();
      case ToolReturned(ToolResult result) -> 64 + 2L * result.output().text().length();
      case ObjectPartial _, ObjectComplete _, Finish _, Failure _ -> 64;
    };
  }
}
