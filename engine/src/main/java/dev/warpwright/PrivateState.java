package dev.warpwright;

import dev.warpwright.model.Message;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.Part;
import dev.warpwright.model.ProviderState;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

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
    Predicate<Part> own = own(provider);
    if (holdsOnly(own, messages)) {
      return messages;
    }
    return messages.stream()
        .map(message -> new Message(message.role(), message.parts().stream().filter(own).toList()))
        .toList();
  }

  private static boolean holdsOnly(Predicate<Part> wanted, List<Message> messages) {
    for (Message message : messages) {
      for (Part part : message.parts()) {
        if (!wanted.test(part)) {
          return false;
        }
      }
    }
    return true;
  }

  private static Predicate<Part> own(String provider) {
    Optional<String> issuer = Optional.of(provider);
    return part -> !(part instanceof ProviderState state) || state.provider().equals(issuer);
  }

  /** The answer with its private state under the provider's name, whatever name it had. */
  static ModelResponse issuedBy(String provider, ModelResponse response) {
    Message message = response.message();
    if (holdsOnly(part -> !(part instanceof ProviderState), List.of(message))) {
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
