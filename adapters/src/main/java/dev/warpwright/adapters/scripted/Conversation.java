package dev.warpwright.adapters.scripted;

import dev.warpwright.model.Message;
import dev.warpwright.model.Role;
import dev.warpwright.model.ToolResult;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * What the conditions of a script look at.
 *
 * @param modelId the id of the model that is asked
 * @param messages the whole conversation
 * @param turn the number of assistant messages after the last user message
 * @param user the text of the last user message
 * @param system the texts of the system messages, joined by line feeds
 */
record Conversation(
    String modelId, List<Message> messages, int turn, Optional<String> user, String system) {
  /** How much of a text regexes see, in characters. */
  static final int MAX_MATCHED = 1_048_576;

  static Conversation of(String modelId, List<Message> messages) {
    int turn = 0;
    Optional<String> user = Optional.empty();
    for (Message message : messages.reversed()) {
      if (message.role() == Role.USER) {
        user = Optional.of(message.text());
        break;
      }
      if (message.role() == Role.ASSISTANT) {
        turn++;
      }
    }
    String system =
        messages.stream()
            .filter(message -> message.role() == Role.SYSTEM)
            .map(Message::text)
            .collect(Collectors.joining("\n"));
    return new Conversation(modelId, List.copyOf(messages), turn, user, system);
  }

  /** The latest tool result, of one tool if a name is given. */
  Optional<ToolResult> latestResult(Optional<String> tool) {
    for (Message message : messages.reversed()) {
      for (ToolResult result : message.toolResults().reversed()) {
        if (tool.isEmpty() || tool.get().equals(result.toolName())) {
          return Optional.of(result);
        }
      }
    }
    return Optional.empty();
  }

  /** Shows the sizes only. */
  @Override
  public String toString() {
    return "Conversation[" + modelId + ", " + messages.size() + " messages, turn " + turn + "]";
  }
}
