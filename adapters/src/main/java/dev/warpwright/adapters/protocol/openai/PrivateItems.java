package dev.warpwright.adapters.protocol.openai;

import dev.warpwright.adapters.wire.CallReader;
import dev.warpwright.adapters.wire.PartName;
import dev.warpwright.json.StrictJson;
import dev.warpwright.model.Json;
import dev.warpwright.model.Part;
import dev.warpwright.model.ProviderApproval;
import dev.warpwright.model.ProviderState;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Items of an answer that are neither text nor a call of the program's tools, as private state, and
 * back byte for byte: reasoning, and what became of tools that the provider runs itself.
 *
 * <p>The service refuses an item of reasoning without the item that followed it, and an item that
 * followed without its reasoning. So items that stand next to each other are one piece of state,
 * which is replayed whole or not at all, and a piece that ends in reasoning names the text or call
 * behind it. If the two were parted, the piece is left out; the text or call alone may stay, since
 * it is sent without the provider's id.
 */
final class PrivateItems {
  private static final String PROTOCOL = "openai-responses";

  private final String modelId;
  private final List<JsonNode> items = new ArrayList<>();

  /** No items yet. */
  PrivateItems(String modelId) {
    this.modelId = modelId;
  }

  /**
   * Adds the next item of the answer; not a call that waits for an output of the program, which it
   * will not get.
   */
  void add(JsonNode item) {
    if (item.isObject() && !HostedTools.awaitsTheProgram(item)) {
      items.add(item);
    } else {
      skip();
    }
  }

  /** Passes over an item of which nothing is kept: reasoning before it has lost what followed. */
  void skip() {
    while (!items.isEmpty() && isReasoning(items.getLast())) {
      items.removeLast();
    }
  }

  /**
   * Takes the items so far, once.
   *
   * @param follower the text or call behind them
   * @return them as one piece; empty if there are none that can be replayed
   */
  Optional<ProviderState> before(Part follower) {
    return take(PartName.of(follower));
  }

  /** Takes the items behind which nothing follows. */
  Optional<ProviderState> last() {
    skip();
    return take(null);
  }

  /**
   * Takes the items so far and one more, by which the provider asks for an approval. Reasoning that
   * cannot be replayed is left out of it: what is asked must not be lost.
   *
   * @param request the item
   * @param asked what it asks
   * @return them as one piece
   */
  ProviderState asking(JsonNode request, ProviderApproval asked) {
    items.removeIf(item -> !canBeReplayed(item));
    items.add(request);
    return take(null).orElseThrow().asking(asked);
  }

  private Optional<ProviderState> take(@Nullable String follower) {
    if (items.isEmpty()) {
      return Optional.empty();
    }
    boolean whole = items.stream().allMatch(PrivateItems::canBeReplayed);
    ObjectNode piece = StrictJson.mapper().createObjectNode();
    piece.putArray("items").addAll(items);
    if (follower != null && isReasoning(items.getLast())) {
      piece.put("before", follower);
    }
    items.clear();
    return whole
        ? Optional.of(ProviderState.of(PROTOCOL, modelId, Json.parse(StrictJson.write(piece))))
        : Optional.empty();
  }

  /** What is not stored is nowhere but in the item: without either member it is an empty id. */
  private static boolean canBeReplayed(JsonNode item) {
    return !isReasoning(item)
        || CallReader.text(item.path("encrypted_content")) != null
        || !item.path("content").isEmpty();
  }

  static boolean isReasoning(JsonNode item) {
    return item.path("type").asString("").equals("reasoning");
  }

  /**
   * The items to replay; none if they may not be sent.
   *
   * @param modelId the model that is asked
   * @param state any provider's state
   * @param next the part behind it, null if there is none
   */
  static List<JsonNode> replay(String modelId, ProviderState state, @Nullable Part next) {
    if (!state.protocol().equals(PROTOCOL) || !state.modelId().equals(modelId)) {
      return List.of();
    }
    JsonNode piece = StrictJson.read(state.data().text());
    String before = piece.path("before").asString("");
    boolean parted = !before.isEmpty() && !before.equals(PartName.of(next));
    if (parted || !(piece.path("items") instanceof ArrayNode kept)) {
      return List.of();
    }
    return state
        .approval()
        .map(asked -> ApprovalItems.answered(kept, asked))
        .orElseGet(() -> List.copyOf(kept.values()));
  }
}
