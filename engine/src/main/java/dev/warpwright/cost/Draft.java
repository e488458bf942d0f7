package dev.warpwright.cost;

import static java.math.BigDecimal.ONE;

import dev.warpwright.model.CostValuation;
import dev.warpwright.model.CostValuation.Component;
import dev.warpwright.model.CostValuation.Status;
import dev.warpwright.model.CostValuation.TokenClass;
import dev.warpwright.model.Money;
import dev.warpwright.model.Target;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A valuation in the making: collects what is unknown and what was assumed, then prices tokens.
 *
 * <p>The formula. Input counts cached reads and cache writes; so each token has one class and is
 * paid once:
 *
 * <pre>
 * ordinary input = input − cached − written
 * component      = tokens × rate × multiplier ÷ 1000, rounded half up to a billionth
 * total          = the exact sum of the components
 * </pre>
 *
 * The multiplier is 1, or that of the long context if there is more input than its threshold.
 */
final class Draft {
  private static final long RATE_UNIT = 1_000;

  private final Target target;
  private final ModelCatalog catalog;
  private final Optional<CatalogEntry> entry;
  private final Optional<Pricing> pricing;
  private final List<String> unknownReasons = new ArrayList<>(0); // mostly none
  private final List<String> assumptions = new ArrayList<>(0); // mostly one or two
  private List<Component> components = List.of(); // means nothing once something is unknown
  private Status status = Status.KNOWN;
  private boolean longContext;

  Draft(Target target, ModelCatalog catalog) {
    this.target = target;
    this.catalog = catalog;
    this.entry = catalog.find(target);
    this.pricing = entry.flatMap(CatalogEntry::pricing);
    if (entry.isEmpty()) {
      unknown("model-not-in-catalog");
    } else if (pricing.isEmpty()) {
      unknown("no-pricing");
    }
  }

  Draft unknown(String reason) {
    if (!unknownReasons.contains(reason)) {
      unknownReasons.add(reason);
    }
    status = Status.UNKNOWN;
    return this;
  }

  /** Notes what the amount rests on; it stays as certain as it is. */
  Draft note(String assumption) {
    assumptions.add(assumption);
    return this;
  }

  /** Notes what makes the amount an estimate. */
  Draft estimatedBy(String assumption) {
    if (status == Status.KNOWN) {
      status = Status.ESTIMATED;
    }
    return note(assumption);
  }

  /**
   * How many tokens of which class there are, each number zero or more.
   *
   * @param input input, cached and written parts included
   * @param cached the part read from a cache
   * @param written the part written to a cache
   * @param output output
   * @param reasoning reasoning beside the output
   */
  record Tokens(long input, long cached, long written, long output, long reasoning) {
    Tokens {
      if ((input | cached | written | output | reasoning) < 0) {
        throw new IllegalArgumentException(
            "Numbers of tokens must be 0 or more, but are %d, %d, %d, %d, %d."
                .formatted(input, cached, written, output, reasoning));
      }
    }
  }

  /** The rates of the target; none is known without an entry. */
  Rates rates() {
    return entry.isPresent() ? entry.get().rates() : Rates.NONE;
  }

  /** Prices the tokens, unless something is unknown already: then the counts mean nothing. */
  CostValuation price(Tokens tokens, Rates rates) {
    if (status != Status.UNKNOWN) {
      Optional<LongContext> tier = entry.flatMap(CatalogEntry::longContext);
      longContext = tier.isPresent() && tokens.input > tier.get().thresholdTokens();
      BigDecimal onInput = longContext ? tier.orElseThrow().inputMultiplier() : ONE;
      BigDecimal onOutput = longContext ? tier.orElseThrow().outputMultiplier() : ONE;
      long ordinary = tokens.input - tokens.cached - tokens.written;
      var input = charge(TokenClass.INPUT, ordinary, rates.input(), onInput);
      var cached = charge(TokenClass.CACHED_INPUT, tokens.cached, rates.cachedInput(), onInput);
      var written = charge(TokenClass.CACHE_WRITE, tokens.written, rates.cacheWrite(), onInput);
      var output = charge(TokenClass.OUTPUT, tokens.output, rates.output(), onOutput);
      if (tokens.reasoning == 0) {
        components = List.of(input, cached, written, output);
      } else {
        var reasoning = charge(TokenClass.REASONING, tokens.reasoning, rates.output(), onOutput);
        components = List.of(input, cached, written, output, reasoning);
      }
    }
    return finish();
  }

  private Component charge(
      TokenClass tokenClass, long tokens, Optional<Money> rate, BigDecimal multiplier) {
    if (tokens > 0 && rate.isEmpty()) {
      unknown(missingRate(tokenClass));
    }
    return new Component(tokenClass, tokens, rate, amount(rate, tokens, multiplier));
  }

  private static String missingRate(TokenClass tokenClass) {
    return switch (tokenClass) {
      case INPUT -> "missing-input-rate";
      case CACHED_INPUT -> "missing-cached-input-rate";
      case CACHE_WRITE -> "missing-cache-write-rate";
      case OUTPUT, REASONING -> "missing-output-rate";
    };
  }

  private Money amount(Optional<Money> known, long tokens, BigDecimal multiplier) {
    if (tokens == 0 || known.isEmpty()) {
      return Money.zero(currency());
    }
    Money rate = known.get();
    if (multiplier.compareTo(ONE) == 0) {
      return rate.times(tokens, RATE_UNIT);
    }
    BigInteger factor = BigInteger.valueOf(tokens).multiply(multiplier.unscaledValue());
    BigInteger divisor =
        BigInteger.valueOf(RATE_UNIT).multiply(BigInteger.TEN.pow(multiplier.scale()));
    return rate.times(factor, divisor);
  }

  private String currency() {
    return pricing.orElseThrow().currency();
  }

  private Money sum() {
    long nanos = 0;
    for (Component component : components) {
      nanos = Math.addExact(nanos, component.amount().nanos());
    }
    return new Money(nanos, currency());
  }

  CostValuation finish() {
    boolean isUnknown = status == Status.UNKNOWN;
    return new CostValuation(
        target.provider(),
        target.modelId(),
        status,
        isUnknown ? Optional.empty() : Optional.of(sum()),
        pricing.map(Pricing::currency),
        catalog.version(),
        pricing.map(Pricing::version),
        Valuation.RULE_VERSION,
        pricing.flatMap(Pricing::source),
        isUnknown ? List.of() : components,
        unknownReasons,
        assumptions,
        longContext);
  }
}
