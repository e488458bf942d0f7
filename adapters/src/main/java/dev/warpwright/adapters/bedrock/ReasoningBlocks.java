package dev.warpwright.adapters.bedrock;

import dev.warpwright.adapters.wire.CallReader;
import dev.warpwright.json.StrictJson;
import dev.warpwright.model.Json;
import dev.warpwright.model.ProviderState;
import java.util.Optional;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Blocks of reasoning as private state, and back: the block itself, byte for byte. */
final class ReasoningBlocks {
  /** The member that holds one. */
  static final String MEMBER = "reasoningContent";

  private static final String PROTOCOL = "bedrock-converse";

  private ReasoningBlocks() {}

  /** Keeps a block of an answer. */
  static ProviderState keep(String modelId, JsonNode block) {
    return ProviderState.of(PROTOCOL, modelId, Json.parse(StrictJson.write(block)));
  }

  /**
   * The block to replay; empty if it may not be sent. A signature is the model's own, so only a
   * block of this protocol and model is sent, and none without a signature: models that sign
   * nothing take nothing back.
   */
  static Optional<ObjectNode> replay(String modelId, ProviderState state) {
    if (!state.protocol().equals(PROTOCOL) || !state.modelId().equals(modelId)) {
      return Optional.empty();
    }
    if (!(StrictJson.read(state.data().text()) instanceof ObjectNode block)) {
      return Optional.empty();
    }
    JsonNode reasoning = block.path(MEMBER);
    JsonNode words = reasoning.path("reasoningText");
    boolean whole =
        CallReader.text(reasoning.path("redactedContent")) != null
            || (words.path("text").isString() && CallReader.text(words.path("signature")) != null);
    return whole ? Optional.of(block) : Optional.empty();
  }
}
