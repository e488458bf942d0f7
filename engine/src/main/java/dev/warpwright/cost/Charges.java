package dev.warpwright.cost;

import dev.warpwright.cost.Draft.Tokens;
import dev.warpwright.model.CostValuation.Component;
import dev.warpwright.model.CostValuation.TokenClass;
import dev.warpwright.model.Money;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Tokens and what those of each class cost.
 *
 * @param tokens how many there are
 * @param rates the catalog's prices
 * @param longContext the multipliers, if they apply
 * @param currency the currency of the prices
 */
record Charges(Tokens tokens, Rates rates, Optional<LongContext> longContext, String currency)
    implements Supplier<List<Component>> {
  private static final long RATE_UNIT = 1_000;
  private static final List<TokenClass> CLASSES = List.of(TokenClass.values());

  /** How many classes are told; reasoning only if some stands beside the output. */
  int count() {
    return tokens.reasoning() == 0 ? CLASSES.size() - 1 : CLASSES.size();
  }

  /** The exact sum of the components. */
  Money total() {
    long nanos = amountNanos(TokenClass.INPUT);
    nanos = Math.addExact(nanos, amountNanos(TokenClass.CACHED_INPUT));
    nanos = Math.addExact(nanos, amountNanos(TokenClass.CACHE_WRITE));
    nanos = Math.addExact(nanos, amountNanos(TokenClass.OUTPUT));
    nanos = Math.addExact(nanos, amountNanos(TokenClass.REASONING));
    return new Money(nanos, currency);
  }

  /** The components. */
  @Override
  public List<Component> get() {
    List<Component> components = new ArrayList<>(count());
    for (TokenClass each : CLASSES.subList(0, count())) {
      components.add(
          new Component(each, tokens(each), rate(each), new Money(amountNanos(each), currency)));
    }
    return components;
  }

  /** Whether there are tokens whose rate is not known. */
  boolean lackRates() {
    return lacksRate(TokenClass.INPUT)
        || lacksRate(TokenClass.CACHED_INPUT)
        || lacksRate(TokenClass.CACHE_WRITE)
        || lacksRate(TokenClass.OUTPUT)
        || lacksRate(TokenClass.REASONING);
  }

  /** The codes of the rates that are needed and not known. */
  List<String> missingRates() {
    return CLASSES.stream().filter(this::lacksRate).map(Charges::missingRate).toList();
  }

  private boolean lacksRate(TokenClass tokenClass) {
    return tokens(tokenClass) > 0 && rate(tokenClass).isEmpty();
  }

  private static String missingRate(TokenClass tokenClass) {
    return switch (tokenClass) {
      case INPUT -> "missing-input-rate";
      case CACHED_INPUT -> "missing-cached-input-rate";
      case CACHE_WRITE -> "missing-cache-write-rate";
      case OUTPUT, REASONING -> "missing-output-rate";
    };
  }

  private long tokens(TokenClass tokenClass) {
    return switch (tokenClass) {
      case INPUT -> tokens.input() - tokens.cached() - tokens.written();
      case CACHED_INPUT -> tokens.cached();
      case CACHE_WRITE -> tokens.written();
      case OUTPUT -> tokens.output();
      case REASONING -> tokens.reasoning();
    };
  }

  private Optional<Money> rate(TokenClass tokenClass) {
    return switch (tokenClass) {
      case INPUT -> rates.input();
      case CACHED_INPUT -> rates.cachedInput();
      case CACHE_WRITE -> rates.cacheWrite();
      case OUTPUT, REASONING -> rates.output();
    };
  }

  private BigDecimal multiplier(TokenClass tokenClass) {
    if (longContext.isEmpty()) {
      return BigDecimal.ONE;
    }
    return switch (tokenClass) {
      case INPUT, CACHED_INPUT, CACHE_WRITE -> longContext.get().inputMultiplier();
      case OUTPUT, REASONING -> longContext.get().outputMultiplier();
    };
  }

  private long amountNanos(TokenClass tokenClass) {
    long number = tokens(tokenClass);
    Optional<Money> known = rate(tokenClass);
    if (number == 0 || known.isEmpty()) {
      return 0;
    }
    Money rate = known.get();
    BigDecimal multiplier = multiplier(tokenClass);
    if (multiplier.compareTo(BigDecimal.ONE) == 0) {
      return rate.times(number, RATE_UNIT).nanos();
    }
    BigInteger factor = BigInteger.valueOf(number).multiply(multiplier.unscaledValue());
    BigInteger divisor =
        BigInteger.valueOf(RATE_UNIT).multiply(BigInteger.TEN.pow(multiplier.scale()));
    return rate.times(factor, divisor).nanos();
  }
}
