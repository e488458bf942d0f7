package dev.warpwright.adapters.protocol.anthropic;

import dev.warpwright.adapters.wire.CallReader;
import dev.warpwright.json.StrictJson;
import dev.warpwright.model.Json;
import dev.warpwright.model.ProviderState;
import java.util.Optional;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Blocks of thinking as private state, and back: the block itself, byte for byte. */
final class ThinkingBlocks {
  private static final String PROTOCOL = "anthropic-messages";

  private ThinkingBlocks() {}

  /** Keeps a block of an answer. */
  static ProviderState keep(String modelId, JsonNode block) {
    return ProviderState.of(PROTOCOL, modelId, Json.parse(StrictJson.write(block)));
  }

  /**
   * The block to replay; empty if it may not be sent. A signature is the issuer's own, so only a
   * block of this protocol and model is sent, and none without a signature.
   */
  static Optional<ObjectNode> replay(String modelId, ProviderState state) {
    if (!state.protocol().equals(PROTOCOL) || !state.modelId().equals(modelId)) {
      return Optional.empty();
    }
    if (!(StrictJson.read(state.data().text()) instanceof ObjectNode block)) {
      return Optional.empty();
    }
    boolean whole =
        switch (block.path("type").asString("")) {
          case "thinking" ->
              block.path("thinking").isString() && CallReader.text(block.path("signature")) != null;
          case "redacted_thinking" -> CallReader.text(block.path("data")) != null;
          default -> false;
        };
    return whole ? Optional.of(block) : Optional.empty();
  }
}
