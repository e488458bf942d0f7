package dev.warpwright.adapters.protocol.openai;

import dev.warpwright.adapters.wire.RequestRules;
import dev.warpwright.model.Reasoning;
import java.util.Locale;

/** How both protocols are asked to reason. Pure. */
final class OpenAiEffort {
  private OpenAiEffort() {}

  /**
   * The protocols' word for an effort.
   *
   * @throws dev.warpwright.model.ProviderException if a budget is asked for
   */
  static String of(Reasoning wanted) {
    return switch (wanted) {
      case Reasoning.ByEffort(Reasoning.Effort effort) -> effort.name().toLowerCase(Locale.ROOT);
      case Reasoning.ByBudget _ ->
          throw RequestRules.refused(
              "This protocol takes an effort of reasoning, not a budget of tokens.");
    };
  }
}
