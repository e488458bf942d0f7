package dev.warpwright.adapters.protocol.anthropic;

import dev.warpwright.adapters.wire.RequestRules;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.Reasoning;
import dev.warpwright.model.Reasoning.Effort;
import java.util.Optional;

/** Whether a model is asked to think before it answers. */
public sealed interface Thinking {
  /** The smallest budget that the protocol accepts, in tokens. */
  int MIN_BUDGET = 1_024;

  /** Nothing is said about it. */
  record Unset() implements Thinking {}

  /** The model does not think. */
  record Disabled() implements Thinking {}

  /**
   * The model decides when and how much.
   *
   * @param effort how hard it should try, if that is said
   */
  record Adaptive(Optional<Effort> effort) implements Thinking {}

  /**
   * The model thinks first, within a budget.
   *
   * @param tokens the budget, a part of the limit of output tokens
   */
  record Budget(int tokens) implements Thinking {}

  /**
   * What a call asks for instead of what the adapter does by default.
   *
   * @param wanted what it asks for
   * @return the same in this protocol's words
   * @throws dev.warpwright.model.ProviderException if the protocol has no word for it
   */
  static Thinking of(Reasoning wanted) {
    return switch (wanted) {
      case Reasoning.ByEffort(Effort effort) when effort == Effort.NONE -> new Disabled();
      case Reasoning.ByEffort(Effort effort) when effort != Effort.MINIMAL ->
          new Adaptive(Optional.of(effort));
      case Reasoning.ByEffort _ ->
          throw RequestRules.refused("This protocol knows no effort between NONE and LOW.");
      case Reasoning.ByBudget(int tokens) when tokens >= MIN_BUDGET -> new Budget(tokens);
      case Reasoning.ByBudget(int tokens) ->
          throw RequestRules.refused(
              "A reasoning budget must be %d tokens or more here, but is %d."
                  .formatted(MIN_BUDGET, tokens));
    };
  }

  /**
   * Refuses what the model refuses together with a budget, and says what to change.
   *
   * @param call what is asked
   * @throws dev.warpwright.model.ProviderException if the two do not go together
   */
  default void requireFitting(ModelCall call) {
    if (!(this instanceof Budget(int tokens))) {
      return;
    }
    if (call.maxTokens().orElse(Integer.MAX_VALUE) <= tokens) {
      throw RequestRules.refused(
          "maxTokens must be more than the thinking budget of %d tokens, which is a part of it, but is %d."
              .formatted(tokens, call.maxTokens().orElse(0)));
    }
    if (call.temperature().isPresent()) {
      throw RequestRules.refused("A temperature cannot be set while a thinking budget is.");
    }
    if (RequestRules.isForced(call.toolChoice())) {
      throw RequestRules.refused("A tool cannot be required while a thinking budget is set.");
    }
  }
}
