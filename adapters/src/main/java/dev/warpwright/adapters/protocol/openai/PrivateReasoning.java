package dev.warpwright.adapters.protocol.openai;

import dev.warpwright.json.StrictJson;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.Part;
import dev.warpwright.model.ProviderState;
import java.util.List;
import java.util.Optional;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Which members of a message hold reasoning that a vendor wants back with the next request, byte
 * for byte. What is absent or empty is not kept, and nothing is made up. Pure.
 */
public enum PrivateReasoning {
  /** None: reasoning is shown at most. */
  NONE("none", false, "", ""),
  /** A text, {@code reasoning_content}, which any model of the vendor takes. */
  CONTENT("chat-reasoning-content", false, "reasoning_content", ""),
  /**
   * A list, {@code reasoning_details}, else a text, {@code reasoning}. What is encrypted or signed
   * there only the same model can read.
   */
  DETAILS("chat-reasoning-details", true, "reasoning_details", "reasoning");

  private final String protocol;
  private final boolean sameModel;
  private final String member;
  private final String otherwise;

  PrivateReasoning(String protocol, boolean sameModel, String member, String otherwise) {
    this.protocol = protocol;
    this.sameModel = sameModel;
    this.member = member;
    this.otherwise = otherwise;
  }

  /** What a message of an answer holds of it. */
  Optional<ProviderState> read(String modelId, JsonNode message) {
    for (String name : List.of(member, otherwise)) {
      JsonNode value = message.path(name);
      boolean text = value.isString() && !value.stringValue().isEmpty();
      if (text || (value.isArray() && !value.isEmpty())) {
        ObjectNode kept = StrictJson.mapper().createObjectNode();
        kept.set(name, value);
        return Optional.of(ProviderState.of(protocol, modelId, Json.parse(StrictJson.write(kept))));
      }
    }
    return Optional.empty();
  }

  /** Adds to the turn that is sent what the answer held. */
  void replay(String modelId, Message answer, ObjectNode turn) {
    for (Part part : answer.parts()) {
      if (part instanceof ProviderState state
          && state.protocol().equals(protocol)
          && (!sameModel || state.modelId().equals(modelId))
          && StrictJson.read(state.data().text()) instanceof ObjectNode kept) {
        turn.setAll(kept);
      }
    }
  }
}
