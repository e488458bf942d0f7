package dev.warpwright.adapters.protocol.openai;

import dev.warpwright.adapters.ModelFacts;
import dev.warpwright.adapters.http.Failures;
import dev.warpwright.model.Capability;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelCapabilities;

/** Requests and readers as OpenAI itself has them, of a model of which nothing is known. */
final class Requests {
  static final ModelFacts UNKNOWN = ModelFacts.of(ModelCapabilities.TEXT_AND_TOOLS);

  private Requests() {}

  static ChatRequest chat(String modelId) {
    return new ChatRequest(ChatDialect.OPENAI, modelId, UNKNOWN);
  }

  /** Of a model that reasons unasked, or not. */
  static byte[] responses(String modelId, ModelCall call, boolean reasons) {
    ModelFacts facts =
        reasons
            ? UNKNOWN.with(ModelCapabilities.TEXT_AND_TOOLS.with(Capability.REASONING))
            : UNKNOWN;
    return new ResponsesRequest(ResponsesDialect.OPENAI, modelId, facts).body(call);
  }

  static ChatResponse chatReader(Failures failures, ModelCall call) {
    return new ChatResponse(failures, ChatDialect.OPENAI, "m", call);
  }
}
