package dev.warpwright.adapters.openai;

import dev.warpwright.adapters.ModelFacts;
import dev.warpwright.adapters.ModelTrait;
import dev.warpwright.adapters.http.Connection;
import dev.warpwright.adapters.protocol.openai.ChatModel;
import dev.warpwright.adapters.protocol.openai.ResponsesModel;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelCapabilities;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.ReasoningAccounting;
import dev.warpwright.model.StreamingModel;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A model of a vendor: each call goes to the protocol that it needs, which does the rest. */
final class VendorModel implements StreamingModel {
  private final Connection connection;
  private final String modelId;
  private final ModelFacts facts;
  private final ApiRule rule;
  private final @Nullable Api forced;
  private final ChatModel chat;
  private final ResponsesModel responses;

  VendorModel(
      Connection connection,
      String modelId,
      ModelFacts facts,
      Vendor vendor,
      @Nullable Api forced) {
    this.connection = connection;
    this.modelId = modelId;
    this.facts = facts;
    this.rule = vendor.rule();
    this.forced = forced;
    this.chat = new ChatModel(connection, modelId, facts, vendor.chat());
    this.responses = new ResponsesModel(connection, modelId, facts, vendor.responses());
  }

  @Override
  public ModelCapabilities capabilities() {
    return chat.capabilities();
  }

  @Override
  public Optional<ReasoningAccounting> reasoningAccounting() {
    return chat.reasoningAccounting();
  }

  @Override
  public boolean honoursInterrupts() {
    return chat.honoursInterrupts();
  }

  @Override
  public boolean mayAct(ModelCall call) {
    return model(api(call, false)).mayAct(call);
  }

  @Override
  public ModelResponse generate(ModelCall call) throws InterruptedException {
    return checked(call, facts.has(ModelTrait.STREAMS_ONLY)).generate(call);
  }

  @Override
  public ModelResponse stream(ModelCall call, Events events) throws InterruptedException {
    return checked(call, true).stream(call, events);
  }

  private StreamingModel checked(ModelCall call, boolean streamed) {
    Api api = api(call, streamed);
    rule.check(api, call, facts);
    return model(api);
  }

  private Api api(ModelCall call, boolean streamed) {
    return forced == null ? rule.choose(call, facts, streamed) : forced;
  }

  private StreamingModel model(Api api) {
    return switch (api) {
      case CHAT -> chat;
      case RESPONSES -> responses;
    };
  }

  /** Shows the base URL and the model. */
  @Override
  public String toString() {
    return "VendorModel[" + connection + ", " + modelId + "]";
  }
}
