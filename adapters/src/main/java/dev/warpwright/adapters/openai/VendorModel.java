package dev.warpwright.adapters.openai;

import dev.warpwright.adapters.ModelFacts;
import dev.warpwright.adapters.http.Connection;
import dev.warpwright.adapters.protocol.openai.ChatModel;
import dev.warpwright.adapters.protocol.openai.ResponsesModel;
import dev.warpwright.adapters.wire.WireModel;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.StreamingModel;
import org.jspecify.annotations.Nullable;

/** A model of a vendor: each call goes to the protocol that it needs. */
final class VendorModel extends WireModel {
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
    super(connection, modelId, facts);
    this.rule = vendor.rule();
    this.forced = forced;
    this.chat = new ChatModel(connection, modelId, facts, vendor.chat());
    this.responses = new ResponsesModel(connection, modelId, facts, vendor.responses());
  }

  @Override
  public boolean mayAct(ModelCall call) {
    return model(api(call, false)).mayAct(call);
  }

  @Override
  protected ModelResponse whole(ModelCall call) throws InterruptedException {
    return checked(call, false).generate(call);
  }

  @Override
  protected ModelResponse pieces(ModelCall call, Events events) throws InterruptedException {
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
}
