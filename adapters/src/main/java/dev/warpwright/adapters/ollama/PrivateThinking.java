package dev.warpwright.adapters.ollama;

import dev.warpwright.json.StrictJson;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.Part;
import dev.warpwright.model.ProviderState;
import java.util.Map;
import java.util.stream.Collectors;

/** What a model thought, as private state, and back. */
final class PrivateThinking {
  private static final String PROTOCOL = "ollama-chat";
  private static final String MEMBER = "thinking";

  private PrivateThinking() {}

  /** Keeps the thinking of an answer. */
  static ProviderState keep(String modelId, String thinking) {
    return ProviderState.of(PROTOCOL, modelId, Json.of(Map.of(MEMBER, thinking)));
  }

  /** What the same model thought before it gave an answer; empty if nothing is known. */
  static String replay(String modelId, Message answer) {
    return answer.parts().stream().map(part -> replay(modelId, part)).collect(Collectors.joining());
  }

  private static String replay(String modelId, Part part) {
    return part instanceof ProviderState state
            && state.protocol().equals(PROTOCOL)
            && state.modelId().equals(modelId)
        ? StrictJson.read(state.data().text()).path(MEMBER).asString("")
        : "";
  }
}
