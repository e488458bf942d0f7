package dev.warpwright.cost;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.CostValuation;
import dev.warpwright.model.CostValuation.Component;
import dev.warpwright.model.CostValuation.Status;
import dev.warpwright.model.CostValuation.TokenClass;
import dev.warpwright.model.Money;
import dev.warpwright.model.ReasoningAccounting;
import dev.warpwright.model.Target;
import dev.warpwright.model.TokenCount;
import dev.warpwright.model.Usage;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Random;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Random usage and prices against a naive model in decimal numbers. */
final class ValuationPropertyTest {
  private static final Target M = Target.of("p", "m");
  private static final int ROUNDS = 20_000;

  /** One random call: each counter and each rate may be missing. */
  private static final class Call {
    final @Nullable Long input;
    final @Nullable Long cached;
    final @Nullable Long written;
    final @Nullable Long output;
    final @Nullable Long reasoning;
    final Map<TokenClass, BigDecimal> rates;
    final @Nullable Long threshold;
    final BigDecimal inputMultiplier;
    final BigDecimal outputMultiplier;
    final @Nullable ReasoningAccounting accounting;
    final CacheAssumption cache;

    Call(Random random) {
      long in = random.nextInt(5) == 0 ? random.nextInt(3) : random.nextInt(400_000);
      long read = random.nextBoolean() ? 0 : random.nextLong(in + 1);
      long write = random.nextBoolean() ? 0 : random.nextLong(in - read + 1);
      long out = random.nextInt(5) == 0 ? 0 : random.nextInt(100_000);
      long thought = random.nextBoolean() ? 0 : random.nextLong(out + 1);
      input = maybe(random, 20, in);
      cached = maybe(random, 6, read);
      written = maybe(random, 6, write);
      output = maybe(random, 20, out);
      reasoning = maybe(random, 4, thought);
      rates =
          List.of(
                  TokenClass.INPUT,
                  TokenClass.CACHED_INPUT,
                  TokenClass.CACHE_WRITE,
                  TokenClass.OUTPUT)
              .stream()
              .filter(tokenClass -> random.nextInt(12) > 0)
              .collect(
                  Collectors.toMap(
                      tokenClass -> tokenClass,
                      tokenClass ->
                          BigDecimal.valueOf(random.nextLong(1L << random.nextInt(1, 40)), 9)));
      // Around the threshold as often as anywhere else.
      threshold = maybe(random, 3, Math.max(0, in - 1 + random.nextInt(3)));
      inputMultiplier = BigDecimal.valueOf(random.nextInt(1, 40_000), 4);
      outputMultiplier = BigDecimal.valueOf(random.nextInt(1, 40_000), 4);
      accounting =
          maybe(
              random,
              3,
              random.nextBoolean() ? ReasoningAccounting.INCLUDED : ReasoningAccounting.ADDITIONAL);
      cache = random.nextBoolean() ? CacheAssumption.NONE : CacheAssumption.UNKNOWN;
    }

    private static <T> @Nullable T maybe(Random random, int oneIn, T value) {
      return random.nextInt(oneIn) == 0 ? null : value;
    }

    Usage usage() {
      return new Usage(
          count(input),
          count(cached),
          count(written),
          count(output),
          count(reasoning),
          TokenCount.ABSENT,
          Optional.empty());
    }

    private static TokenCount count(@Nullable Long tokens) {
      return tokens == null ? TokenCount.ABSENT : TokenCount.reported(tokens);
    }

    ModelCatalog catalog() {
      CatalogEntry.Builder entry = CatalogEntry.builder("p", "m").pricing(Pricing.of("1", "USD"));
      rates.forEach(
          (tokenClass, rate) -> {
            Money money = Money.of(rate.toPlainString(), "USD");
            switch (tokenClass) {
              case INPUT -> entry.input(money);
              case CACHED_INPUT -> entry.cachedInput(money);
              case CACHE_WRITE -> entry.cacheWrite(money);
              case OUTPUT -> entry.output(money);
              case REASONING -> throw new AssertionError();
            }
          });
      if (threshold != null) {
        entry.longContext(threshold, inputMultiplier, outputMultiplier);
      }
      return ModelCatalog.builder("v1").entry(entry.build()).build();
    }

    /** The amount in currency units by the rules, written as plainly as possible; null: unknown. */
    @Nullable BigDecimal amount() {
      if (input == null || output == null) {
        return null;
      }
      if ((cached == null || written == null) && cache == CacheAssumption.UNKNOWN) {
        return null;
      }
      if (accounting == null && reasoning != null && reasoning > 0) {
        return null;
      }
      if (accounting == ReasoningAccounting.ADDITIONAL && reasoning == null) {
        return null;
      }
      long read = cached == null ? 0 : cached;
      long write = written == null ? 0 : written;
      long extra =
          accounting == ReasoningAccounting.ADDITIONAL && reasoning != null ? reasoning : 0;
      boolean isLong = threshold != null && input > threshold;
      BigDecimal onInput = isLong ? inputMultiplier : BigDecimal.ONE;
      BigDecimal onOutput = isLong ? outputMultiplier : BigDecimal.ONE;
      BigDecimal sum = BigDecimal.ZERO;
      for (BigDecimal part :
          new @Nullable BigDecimal[] {
            part(input - read - write, rates.get(TokenClass.INPUT), onInput),
            part(read, rates.get(TokenClass.CACHED_INPUT), onInput),
            part(write, rates.get(TokenClass.CACHE_WRITE), onInput),
            part(output, rates.get(TokenClass.OUTPUT), onOutput),
            part(extra, rates.get(TokenClass.OUTPUT), onOutput)
          }) {
        if (part == null) {
          return null;
        }
        sum = sum.add(part);
      }
      return sum;
    }

    private static @Nullable BigDecimal part(
        long tokens, @Nullable BigDecimal rate, BigDecimal multiplier) {
      if (tokens == 0) {
        return BigDecimal.ZERO;
      }
      return rate == null
          ? null
          : rate.multiply(BigDecimal.valueOf(tokens))
              .multiply(multiplier)
              .divide(BigDecimal.valueOf(1000), 9, RoundingMode.HALF_UP);
    }

    ValuationPolicy policy() {
      return new ValuationPolicy(cache, Optional.ofNullable(accounting), UnknownCost.ALLOW);
    }
  }

  @Test
  @Tag("R220")
  @Tag("R222")
  @Tag("R228")
  @Tag("R231")
  void a_valuation_agrees_with_decimal_numbers_to_the_last_billionth() {
    long seed = new Random().nextLong();
    Random random = new Random(seed);
    int unknown = 0;
    int longContexts = 0;
    for (int i = 0; i < ROUNDS; i++) {
      String at = "seed " + seed + ", round " + i;
      Call call = new Call(random);
      CostValuation valuation = Valuation.of(call.usage(), M, call.catalog(), call.policy());
      BigDecimal expected = call.amount();

      if (expected == null) {
        unknown++;
        assertEquals(Status.UNKNOWN, valuation.status(), at);
        assertTrue(valuation.amount().isEmpty(), at);
        assertFalse(valuation.unknownReasons().isEmpty(), at);
        continue;
      }
      longContexts += valuation.longContext() ? 1 : 0;
      boolean assumed = call.cached == null || call.written == null;
      assertEquals(assumed ? Status.ESTIMATED : Status.KNOWN, valuation.status(), at);
      assertEquals(assumed, !valuation.assumptions().isEmpty(), at);
      Money amount = valuation.amount().orElseThrow();
      assertEquals(
          expected.movePointRight(9).longValueExact(), amount.nanos(), () -> at + ": " + valuation);
      assertConserved(at, call, valuation, amount);
    }
    assertTrue(unknown > 0 && longContexts > 0 && unknown < ROUNDS, "seed " + seed);
  }

  private static void assertConserved(String at, Call call, CostValuation valuation, Money amount) {
    Money sum = Money.zero("USD");
    long inputTokens = 0;
    for (Component component : valuation.components()) {
      assertFalse(component.amount().signum() < 0, at);
      assertTrue(component.tokens() >= 0, at);
      assertTrue(component.rate().isPresent() || component.tokens() == 0, at);
      sum = sum.plus(component.amount());
      inputTokens +=
          switch (component.tokenClass()) {
            case INPUT, CACHED_INPUT, CACHE_WRITE -> component.tokens();
            case OUTPUT, REASONING -> 0;
          };
    }
    assertEquals(amount, sum, at);
    assertEquals(call.input, inputTokens, at);
  }

  @Test
  @Tag("R317")
  void no_call_within_its_estimates_costs_more_than_its_ceiling() {
    long seed = new Random().nextLong();
    Random random = new Random(seed);
    int compared = 0;
    for (int i = 0; i < ROUNDS; i++) {
      String at = "seed " + seed + ", round " + i;
      Call call = new Call(random);
      CostAccounting accounting = CostAccounting.builder(call.catalog()).build();
      if (call.input == null || call.output == null) {
        continue;
      }
      CostValuation valuation =
          accounting.value(M, call.usage(), Optional.of(ReasoningAccounting.INCLUDED));
      CostValuation ceiling =
          accounting.ceiling(M, call.input, OptionalInt.of(Math.toIntExact(call.output)));
      if (valuation.amount().isPresent() && ceiling.amount().isPresent()) {
        compared++;
        // Each of the three parts of the input may have been rounded up by half a billionth.
        long slack = 2;
        assertTrue(
            valuation.amount().get().nanos() <= ceiling.amount().get().nanos() + slack,
            () -> at + ": " + valuation + " and " + ceiling);
      }
    }
    assertTrue(compared > ROUNDS / 4, "seed " + seed + ": " + compared);
  }
}
