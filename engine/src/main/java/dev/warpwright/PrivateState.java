package dev.warpwright;

import dev.warpwright.model.Conversation;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.Part;
import dev.warpwright.model.ProviderState;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Keeps what a provider said to itself between that provider and the log.
 *
 * <p>It is done here and not in adapters: only the gateway knows under which id an adapter is
 * registered, and an adapter that never sees another provider's state cannot send it.
 */
final class PrivateState {
  private PrivateState() {}

  /**
   * What each provider may see of one conversation that grows: without what others said to
   * themselves. Each message is looked at once for a provider. Belongs to one thread.
   */
  static final class Views {
    private final Map<String, View> views = new HashMap<>();

    private record View(Conversation all, Conversation visible) {}

    Conversation visibleTo(String provider, Conversation all) {
      if (!all.hasStateOfOthersThan(provider)) {
        return all;
      }
      View known = views.get(provider);
      if (known == null || !all.continues(known.all)) {
        known = new View(Conversation.of(List.of()), Conversation.of(List.of()));
      }
      Conversation visible = known.visible;
      for (int i = known.all.size(); i < all.size(); i++) {
        visible = visible.plus(PrivateState.visibleTo(provider, all.get(i)));
      }
      views.put(provider, new View(all, visible));
      return visible;
    }
  }

  private static Message visibleTo(String provider, Message message) {
    List<Part> parts =
        message.parts().stream().filter(part -> isVisibleTo(provider, part)).toList();
    return parts.size() == message.parts().size() ? message : new Message(message.role(), parts);
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
