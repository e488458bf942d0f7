package dev.warpwright.adapters.wire;

import dev.warpwright.adapters.ModelFacts;
import dev.warpwright.adapters.ModelTrait;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.Reasoning;
import dev.warpwright.model.Reasoning.Effort;

/** What families of models do not take, whatever the protocol. Pure. */
public final class FamilyRules {
  private FamilyRules() {}

  /**
   * Checks a call.
   *
   * @param call what is asked
   * @param facts what is known of the model
   * @throws ProviderException of kind UNSUPPORTED if the model does not take it
   */
  static void check(ModelCall call, ModelFacts facts) {
    if (call.reasoning().isPresent()) {
      switch (call.reasoning().get()) {
        case Reasoning.ByEffort(Effort effort) -> check(effort, facts);
        case Reasoning.ByBudget _ -> {
          if (facts.has(ModelTrait.NO_REASONING_BUDGET)) {
            throw RequestRules.refused(
                "This model takes an effort of reasoning, not a budget of tokens.");
          }
        }
      }
    }
    if (call.temperature().isPresent() && facts.has(ModelTrait.FIXED_SAMPLING)) {
      throw RequestRules.refused("This model's sampling is fixed: leave out temperature.");
    }
  }

  private static void check(Effort effort, ModelFacts facts) {
    if (effort == Effort.NONE && facts.has(ModelTrait.REASONS_ALWAYS)) {
      throw RequestRules.refused(
          "This model always reasons: the effort NONE cannot be asked for; leave it out.");
    }
    if (effort != Effort.NONE && facts.has(ModelTrait.NO_REASONING_EFFORT)) {
      throw RequestRules.refused(
          "This model takes a budget of tokens for reasoning, not an effort.");
    }
    if (!facts.efforts().isEmpty() && !facts.efforts().contains(effort)) {
      throw RequestRules.refused(
          "The effort of reasoning must be one of %s for this model, but is %s."
              .formatted(facts.efforts(), effort));
    }
  }

  /**
   * Checks the choice of tools, where a protocol has no rule of its own.
   *
   * @param call what is asked
   * @param facts what is known of the model
   * @throws ProviderException of kind UNSUPPORTED if the model does not take it
   */
  public static void checkChoice(ModelCall call, ModelFacts facts) {
    if (RequestRules.isForced(call.toolChoice()) && facts.has(ModelTrait.NO_REQUIRED_TOOL)) {
      throw RequestRules.refused(
          "This model cannot be made to call a tool: the tool choice must be AUTO or NONE.");
    }
  }
}
