package dev.warpwright.adapters.protocol.openai;

import dev.warpwright.adapters.ModelFacts;
import dev.warpwright.adapters.ModelTrait;
import dev.warpwright.adapters.wire.RequestRules;
import dev.warpwright.model.Capability;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ProviderState;
import dev.warpwright.model.Reasoning;
import dev.warpwright.model.Reasoning.Effort;
import dev.warpwright.model.ToolResultFormat;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * What a call asks of its model's reasoning, checked against what is known of the model. Pure.
 *
 * @param facts what is known of the model
 * @param wanted what is asked for; NONE where the conversation forbids to reason
 * @param reasons whether the model will reason, as far as that is known
 */
record ReasoningAsked(ModelFacts facts, Optional<Reasoning> wanted, boolean reasons) {
  private static final String NO_BUDGET =
      "This model takes an effort of reasoning, not a budget of tokens.";
  private static final Set<String> SAMPLING = Set.of("temperature", "top_p");

  /**
   * Reads a call.
   *
   * @param call what is asked
   * @param options the call's provider options
   * @param facts what is known of the model
   * @param quirks what the vendor does otherwise
   * @throws dev.warpwright.model.ProviderException if the model cannot be asked so
   */
  static ReasoningAsked of(ModelCall call, JsonNode options, ModelFacts facts, Set<Quirk> quirks) {
    Optional<Boolean> byCall = call.reasoning().map(ReasoningAsked::isOn);
    Optional<Boolean> bySwitch = byCall.isPresent() ? byCall : inOptions(options);
    boolean always = facts.has(ModelTrait.REASONS_ALWAYS);
    if (quirks.contains(Quirk.THINKS_OVER_OWN_CALLS_ONLY) && hasForeignCalls(call)) {
      if (always || bySwitch.orElse(false) || inOptions(options).orElse(false)) {
        throw RequestRules.refused(
            "This model cannot reason over tool calls that were not its own: what was thought"
                + " before them is not portable. Ask for no reasoning.");
      }
      return new ReasoningAsked(facts, Optional.of(Reasoning.effort(Effort.NONE)), false);
    }
    if (quirks.contains(Quirk.NO_EFFORT_NONE) && !byCall.orElse(true)) {
      throw RequestRules.refused(
          "This vendor's models always reason: the effort NONE cannot be asked for; leave it out.");
    }
    boolean reasons = bySwitch.orElse(always || facts.capabilities().has(Capability.REASONING));
    if (reasons
        && facts.has(ModelTrait.REASONING_BUDGET_REQUIRED)
        && !(call.reasoning().orElse(null) instanceof Reasoning.ByBudget)
        && !options.has("thinking_budget")) {
      throw RequestRules.refused(
          "This model demands a budget of tokens for its reasoning: set Reasoning.budget(…).");
    }
    return new ReasoningAsked(facts, call.reasoning(), reasons);
  }

  private static boolean isOn(Reasoning reasoning) {
    return !reasoning.equals(Reasoning.effort(Effort.NONE));
  }

  /** Whether options that only vendors know switch reasoning on or off, whatever the vendor. */
  private static Optional<Boolean> inOptions(JsonNode options) {
    JsonNode object = options.path("reasoning");
    for (JsonNode onOrOff : List.of(options.path("enable_thinking"), object.path("enabled"))) {
      if (onOrOff.isBoolean()) {
        return Optional.of(onOrOff.booleanValue());
      }
    }
    for (JsonNode word :
        List.of(
            options.path("thinking").path("type"),
            options.path("reasoning_effort"),
            object.path("effort"))) {
      if (word.isString()) {
        return Optional.of(!Set.of("none", "disabled").contains(word.stringValue()));
      }
    }
    boolean budget = options.has("thinking_budget") || object.has("max_tokens");
    return budget ? Optional.of(true) : Optional.empty();
  }

  /**
   * Whether the conversation goes on from tool calls of others: it began with portable history, and
   * some turn with calls holds nothing private of this provider.
   */
  private static boolean hasForeignCalls(ModelCall call) {
    return call.toolResults() == ToolResultFormat.ENVELOPE
        && call.messages().stream().anyMatch(ReasoningAsked::isForeign);
  }

  private static boolean isForeign(Message turn) {
    return !turn.toolCalls().isEmpty()
        && turn.parts().stream().noneMatch(ProviderState.class::isInstance);
  }

  private static RuntimeException refused(Effort effort, Set<Effort> taken) {
    return RequestRules.refused(
        "The effort of reasoning must be one of %s for this model, but is %s."
            .formatted(taken, effort));
  }

  /**
   * The effort that is asked for, where a budget of tokens cannot be.
   *
   * @throws dev.warpwright.model.ProviderException if a budget is asked for
   */
  Optional<Effort> effort() {
    return wanted.map(
        reasoning ->
            switch (reasoning) {
              case Reasoning.ByEffort(Effort effort) -> effort;
              case Reasoning.ByBudget _ -> throw RequestRules.refused(NO_BUDGET);
            });
  }

  /** Checks an effort against those that the vendor takes of a model of which it is not known. */
  void require(Effort effort, Effort first, Effort... more) {
    Set<Effort> taken = EnumSet.of(first, more);
    if (facts.efforts().isEmpty() && !taken.contains(effort)) {
      throw refused(effort, taken);
    }
  }

  /**
   * Checks the members of a request that is otherwise written.
   *
   * @param body the request
   * @param notWhileReasoning what the vendor does not take while the model reasons
   * @throws dev.warpwright.model.ProviderException if one of them is there and must not be
   */
  void check(ObjectNode body, Set<String> notWhileReasoning) {
    for (String member : body.propertyNames()) {
      if (facts.has(ModelTrait.FIXED_SAMPLING) && SAMPLING.contains(member)) {
        throw RequestRules.refused(
            "This model's sampling is fixed: leave out %s.".formatted(member));
      }
      if (reasons && notWhileReasoning.contains(member)) {
        throw RequestRules.refused(
            "While this model reasons it takes no %s: leave it out, or ask for the effort NONE."
                .formatted(member));
      }
    }
  }
}
