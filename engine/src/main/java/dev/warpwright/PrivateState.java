package dev.warpwright;

import dev.warpwright.model.Message;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.Part;
import dev.warpwright.model.ProviderState;
import java.util.List;
import java.util.Optional;

/**
 * Keeps what a provider said to itself between that provider and the log.
 *
 * <p>It is done here and not in adapters: only the gateway knows under which id an adapter is
 * registered, and an adapter that never sees another provider's state cannot send it. Pure.
 */
final class PrivateState {
  private PrivateState() {}

  /** The conversation as a provider may see it: without what others said to themselves. */
  static List<Message> visibleTo(String provider, List<Message> messages) {
    if (isVisibleTo(provider, messages)) {
      return messages;
    }
    return messages.stream()
        .map(
            message ->
                new Message(
                    message.role(),
                    message.parts().stream().filter(part -> isVisibleTo(provider, part)).toList()))
        .toList();
  }

  private static boolean isVisibleTo(String provider, List<Message> messages) {
    for (Message message : messages) {
      for (Part part : message.parts()) {
        if (!isVisibleTo(provider, part)) {
          return false;
        }
      }
    }
    return true;
  }

  private static boolean isVisibleTo(String provider, Part part) {
    return !(part instanceof ProviderState state) || state.provider().equals(Optional.of(provider));
  }

  private static boolean holdsState(Message message) {
    for (Part part : message.parts()) {
      if (part instanceof ProviderState) {
        return true;
      }
    }
    return false;
  }

  /** The answer with its private state under the provider's name, whatever name it had. */
  static ModelResponse issuedBy(String provider, ModelResponse response) {
    Message message = response.message();
    if (!holdsState(message)) {
      return response;
    }
    List<Part> parts =
        message.parts().stream()
            .map(part -> part instanceof ProviderState state ? state.issuedBy(provider) : part)
            .toList();
    return new ModelResponse(
        new Message(message.role(), parts),
        response.finishReason(),
        response.usage(),
        response.requestId());
  }
}
