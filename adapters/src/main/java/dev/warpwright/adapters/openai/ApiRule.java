package dev.warpwright.adapters.openai;

import dev.warpwright.adapters.ModelFacts;
import dev.warpwright.adapters.ModelTrait;
import dev.warpwright.adapters.wire.RequestRules;
import dev.warpwright.model.Conversation;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.Reasoning;
import java.util.Optional;
import java.util.Set;
import tools.jackson.databind.JsonNode;

/** In which protocol a vendor is asked. Pure. */
enum ApiRule {
  /** The vendor has no other. */
  CHAT_ONLY {
    @Override
    Api choose(ModelCall call, ModelFacts facts, boolean streamed) {
      return Api.CHAT;
    }
  },

  /** The vendor has no other. */
  RESPONSES_ONLY {
    @Override
    Api choose(ModelCall call, ModelFacts facts, boolean streamed) {
      return Api.RESPONSES;
    }
  },

  /** Chat, unless a call or a model needs the other. */
  CHAT_FIRST {
    @Override
    Api choose(ModelCall call, ModelFacts facts, boolean streamed) {
      return needsResponses(call, facts) ? Api.RESPONSES : Api.CHAT;
    }
  },

  /** Responses for everything. */
  RESPONSES_FIRST {
    @Override
    Api choose(ModelCall call, ModelFacts facts, boolean streamed) {
      return Api.RESPONSES;
    }
  },

  /** Responses, unless a call has what Qwen takes in Chat only. */
  QWEN {
    @Override
    Api choose(ModelCall call, ModelFacts facts, boolean streamed) {
      boolean needsChat =
          call.maxTokens().isPresent()
              || call.output().isPresent()
              || call.reasoning().orElse(null) instanceof Reasoning.ByBudget
              || RequestRules.readOptions(call).has("thinking_budget")
              || facts.has(ModelTrait.REASONING_BUDGET_REQUIRED)
              || (streamed && !call.tools().isEmpty());
      return needsChat && !needsResponses(call, facts) ? Api.CHAT : Api.RESPONSES;
    }
  };

  /** The protocols that the vendor speaks. */
  Set<Api> apis() {
    return switch (this) {
      case CHAT_ONLY -> Set.of(Api.CHAT);
      case RESPONSES_ONLY -> Set.of(Api.RESPONSES);
      case CHAT_FIRST, RESPONSES_FIRST, QWEN -> Set.of(Api.CHAT, Api.RESPONSES);
    };
  }

  /**
   * The protocol for a call, where the program has not said it.
   *
   * @param call what is asked
   * @param facts what is known of the model
   * @param streamed whether the answer is wanted while it comes
   */
  abstract Api choose(ModelCall call, ModelFacts facts, boolean streamed);

  /**
   * Checks the protocol that the program has set. What else a protocol does not take its writer
   * refuses.
   *
   * @throws dev.warpwright.model.ProviderException if a call or its model needs the other
   */
  void check(Api forced, ModelCall call, ModelFacts facts) {
    if (forced != Api.CHAT || this == CHAT_ONLY) {
      return;
    }
    if (facts.has(ModelTrait.RESPONSES_ONLY)) {
      throw RequestRules.refused(
          "This model is offered in Responses only, and Chat Completions was asked for: leave out"
              + " api(…), or set Api.RESPONSES.");
    }
    if (reasonsOverTools(call, facts)) {
      throw RequestRules.refused(
          "This model reasons over tools in Responses only, and Chat Completions was asked for:"
              + " leave out api(…), or ask for the effort NONE.");
    }
    if (offersHostedTools(call) || answersApprovals(call)) {
      throw RequestRules.refused(
          "Tools that the vendor runs itself are offered in Responses only, and Chat Completions"
              + " was asked for: leave out api(…), or set Api.RESPONSES.");
    }
  }

  private static boolean needsResponses(ModelCall call, ModelFacts facts) {
    return facts.has(ModelTrait.RESPONSES_ONLY)
        || offersHostedTools(call)
        || answersApprovals(call)
        || reasonsOverTools(call, facts);
  }

  /** Whether a model would have to do at once what it does in Responses only. */
  private static boolean reasonsOverTools(ModelCall call, ModelFacts facts) {
    return facts.has(ModelTrait.CHAT_TOOLS_WITHOUT_REASONING)
        && !call.tools().isEmpty()
        && !call.reasoning().equals(Optional.of(Reasoning.effort(Reasoning.Effort.NONE)));
  }

  /** Whether the vendor is to be told a decision, for which only Responses has a form. */
  private static boolean answersApprovals(ModelCall call) {
    return Conversation.of(call.messages()).unsentAnswer().isPresent();
  }

  private static boolean offersHostedTools(ModelCall call) {
    for (JsonNode tool : RequestRules.readOptions(call).path("tools")) {
      if (!tool.path("type").asString("").equals("function")) {
        return true;
      }
    }
    return false;
  }
}
