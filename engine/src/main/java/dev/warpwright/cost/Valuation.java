package dev.warpwright.cost;

import dev.warpwright.model.CostValuation;
import dev.warpwright.model.CostValuation.Status;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.ReasoningAccounting;
import dev.warpwright.model.Target;
import dev.warpwright.model.TokenCount;
import dev.warpwright.model.TokenCount.Provenance;
import dev.warpwright.model.Usage;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * What the reported usage of one model call costs: a pure function.
 *
 * <p>Each token is paid once, at the rate of its class; nothing missing is replaced by zero, and no
 * counter that was estimated from a text is priced. The sum of several calls is no usage to value:
 * the prices of a long context depend on the input of each. See {@link CostTotal}.
 *
 * {@snippet :
 * CostValuation valuation =
 *     Valuation.of(
 *         Usage.reported(1200, 300),
 *         Target.of("openai", "gpt-x"),
 *         catalog,
 *         new ValuationPolicy(CacheAssumption.NONE, Optional.empty(), UnknownCost.ALLOW));
 * }
 */
public final class Valuation {
  /** The version of these rules; it changes when the same usage and prices can give another sum. */
  public static final String RULE_VERSION = "warpwright-valuation-v1";

  private Valuation() {}

  /**
   * Values one model call.
   *
   * @param usage what the provider reported for the call
   * @param target the target that was called
   * @param catalog the prices
   * @param policy how to treat what the provider did not say
   * @return the valuation; its status is UNKNOWN, with the reasons, where something is missing
   * @throws InvalidRequestException if the counters contradict each other, or the cost is unknown
   *     and the policy refuses that
   * @throws ArithmeticException if the amount does not fit
   */
  public static CostValuation of(
      Usage usage, Target target, ModelCatalog catalog, ValuationPolicy policy) {
    contradiction(usage, policy.reasoningAccounting())
        .ifPresent(
            message -> {
              throw invalid(message);
            });
    CostValuation valuation =
        value(
            new Draft(target, catalog),
            usage,
            policy.cacheAssumption(),
            policy.reasoningAccounting());
    if (valuation.status() == Status.UNKNOWN && policy.unknown() == UnknownCost.REJECT) {
      throw invalid(
          "The cost of a call of %s must be known, but is not: %s."
              .formatted(target, String.join(", ", valuation.unknownReasons())));
    }
    return valuation;
  }

  /** Values usage without contradictions. */
  static CostValuation value(
      Draft draft,
      Usage usage,
      CacheAssumption cache,
      Optional<ReasoningAccounting> reasoningAccounting) {
    if (usage.speed().filter("fast"::equalsIgnoreCase).isPresent()) {
      draft.unknown("fast-tier");
    }
    long input = needed(draft, usage.input(), "missing-input-tokens");
    long cached =
        cacheCounter(
            draft, usage.cachedInput(), cache, "no-cached-input", "missing-cached-input-tokens");
    long written =
        cacheCounter(
            draft, usage.cacheWrite(), cache, "no-cache-write", "missing-cache-write-tokens");
    long output = needed(draft, usage.output(), "missing-output-tokens");
    long reasoning = reasoningBesideOutput(draft, usage.reasoning(), reasoningAccounting);
    return draft.price(new Draft.Tokens(input, cached, written, output, reasoning), draft.rates());
  }

  private static long needed(Draft draft, TokenCount count, String missing) {
    if (!isReported(count)) {
      draft.unknown(missing);
    }
    return tokens(count);
  }

  private static long cacheCounter(
      Draft draft, TokenCount count, CacheAssumption assumption, String none, String missing) {
    if (!isReported(count) && assumption == CacheAssumption.NONE) {
      draft.estimatedBy(none);
      return 0;
    }
    return needed(draft, count, missing);
  }

  private static long reasoningBesideOutput(
      Draft draft, TokenCount reasoning, Optional<ReasoningAccounting> accounting) {
    if (accounting.isEmpty()) {
      if (tokens(reasoning) > 0) {
        draft.unknown("reasoning-accounting-unset");
      }
      return 0;
    }
    return switch (accounting.get()) {
      case INCLUDED -> 0;
      case ADDITIONAL -> needed(draft, reasoning, "missing-reasoning-tokens");
    };
  }

  private record Counter(String name, TokenCount count) {}

  /**
   * What is wrong with reported counters.
   *
   * @return a message that names the rule and the values; empty if nothing is wrong
   */
  static Optional<String> contradiction(
      Usage usage, Optional<ReasoningAccounting> reasoningAccounting) {
    long input = tokens(usage.input());
    long cached = tokens(usage.cachedInput());
    long written = tokens(usage.cacheWrite());
    long output = tokens(usage.output());
    long reasoning = tokens(usage.reasoning());
    if ((input | cached | written | output | reasoning | tokens(usage.total())) < 0) {
      return firstNegative(usage);
    }
    if (isReported(usage.input()) && cached > input - written) {
      return Optional.of(
          "cachedInputTokens and cacheWriteTokens are parts of inputTokens (%d), but are %d and %d."
              .formatted(input, cached, written));
    }
    boolean included = reasoningAccounting.filter(ReasoningAccounting.INCLUDED::equals).isPresent();
    if (included && isReported(usage.output()) && reasoning > output) {
      return Optional.of(
          "reasoningTokens are a part of outputTokens (%d), but are %d."
              .formatted(output, reasoning));
    }
    return Optional.empty();
  }

  private static Optional<String> firstNegative(Usage usage) {
    return Stream.of(
            new Counter("inputTokens", usage.input()),
            new Counter("cachedInputTokens", usage.cachedInput()),
            new Counter("cacheWriteTokens", usage.cacheWrite()),
            new Counter("outputTokens", usage.output()),
            new Counter("reasoningTokens", usage.reasoning()),
            new Counter("totalTokens", usage.total()))
        .filter(counter -> tokens(counter.count) < 0)
        .map(c -> "%s must be 0 or more, but is %d.".formatted(c.name, tokens(c.count)))
        .findFirst();
  }

  /** Whether the count is the provider's, or follows from such; what we guessed is not priced. */
  private static boolean isReported(TokenCount count) {
    return count.provenance() == Provenance.REPORTED || count.provenance() == Provenance.DERIVED;
  }

  private static long tokens(TokenCount count) {
    return isReported(count) ? count.tokens() : 0;
  }

  private static InvalidRequestException invalid(String message) {
    return new InvalidRequestException(FailureKind.INVALID_REQUEST, message);
  }
}
