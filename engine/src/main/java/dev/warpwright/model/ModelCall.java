package dev.warpwright.model;

import dev.warpwright.task.Deadline;
import java.util.List;
import java.util.OptionalDouble;
import java.util.OptionalInt;

/**
 * What a model is asked in one call.
 *
 * @param messages the conversation, system messages first
 * @param tools the tools that the model may call
 * @param toolChoice whether it may, must or must not call them
 * @param temperature the sampling temperature, if set
 * @param maxTokens the limit of output tokens, if set
 * @param deadline when the attempt ends; the caller interrupts the thread then
 */
public record ModelCall(
    List<Message> messages,
    List<ToolSpec> tools,
    ToolChoice toolChoice,
    OptionalDouble temperature,
    OptionalInt maxTokens,
    Deadline deadline) {
  /** Copies the lists. */
  public ModelCall {
    messages = List.copyOf(messages);
    tools = List.copyOf(tools);
  }

  /** Shows the sizes only. */
  @Override
  public String toString() {
    return "ModelCall[" + messages.size() + " messages, " + tools.size() + " tools]";
  }
}
