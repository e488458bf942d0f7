package dev.warpwright.cost;

import static dev.warpwright.cost.Counts.uncached;
import static dev.warpwright.model.ReasoningAccounting.ADDITIONAL;
import static dev.warpwright.model.ReasoningAccounting.INCLUDED;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.CostValuation;
import dev.warpwright.model.CostValuation.Component;
import dev.warpwright.model.CostValuation.Status;
import dev.warpwright.model.CostValuation.TokenClass;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Money;
import dev.warpwright.model.ReasoningAccounting;
import dev.warpwright.model.Target;
import dev.warpwright.model.TokenCount;
import dev.warpwright.model.TokenCount.Provenance;
import dev.warpwright.model.Usage;
import java.math.BigDecimal;
import java.time.LocalDate;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What reported usage costs, and when nobody can say. */
final class ValuationTest {
  private static final Target M = Target.of("p", "m");

  private static Money usd(String amount) {
    return Money.of(amount, "USD");
  }

  private static CatalogEntry.Builder priced() {
    return CatalogEntry.builder("p", "m")
        .aliases(Set.of("alias"))
        .pricing(Pricing.of("2026-03", "USD"));
  }

  /** Rates of four different digits, so that a mix-up shows. */
  private static CatalogEntry.Builder all() {
    return priced()
        .input(usd("1"))
        .cachedInput(usd("0.1"))
        .cacheWrite(usd("1.25"))
        .output(usd("5"));
  }

  private static ModelCatalog catalog(CatalogEntry.Builder entry) {
    return ModelCatalog.builder("v1").entry(entry.build()).build();
  }

  private static ValuationPolicy reasoning(ReasoningAccounting accounting) {
    return new ValuationPolicy(CacheAssumption.UNKNOWN, Optional.of(accounting), UnknownCost.ALLOW);
  }

  private static CostValuation value(CatalogEntry.Builder entry, Counts counts) {
    return value(entry, counts, ValuationPolicy.ASSUME_NOTHING);
  }

  private static CostValuation value(
      CatalogEntry.Builder entry, Counts counts, ValuationPolicy policy) {
    return Valuation.of(counts.usage(), M, catalog(entry), policy);
  }

  private static void assertAmount(String expected, CostValuation valuation) {
    assertEquals(List.of(), valuation.unknownReasons());
    assertEquals(Optional.of(usd(expected)), valuation.amount());
    assertEquals(Status.KNOWN, valuation.status());
  }

  private static void assertUnknown(CostValuation valuation, String... reasons) {
    assertEquals(List.of(reasons), valuation.unknownReasons());
    assertEquals(Status.UNKNOWN, valuation.status());
    assertEquals(Optional.empty(), valuation.amount());
    assertEquals(List.of(), valuation.components());
  }

  @Test
  @Tag("R225")
  void a_valuation_says_what_it_rests_on() {
    Pricing pricing = Pricing.of("2026-03", "USD", "price page", LocalDate.of(2026, 3, 1));
    Target alias = new Target("p", "alias", Optional.of("east"));

    CostValuation valuation =
        Valuation.of(
            Counts.of(1000, 200).cached(300).written(200).usage(),
            alias,
            catalog(all().pricing(pricing)),
            ValuationPolicy.ASSUME_NOTHING);

    assertEquals(
        new CostValuation(
            "p",
            "alias",
            Status.KNOWN,
            Optional.of(usd("1.78")),
            Optional.of("USD"),
            "v1",
            Optional.of("2026-03"),
            Valuation.RULE_VERSION,
            Optional.of("price page"),
            List.of(
                new Component(TokenClass.INPUT, 500, Optional.of(usd("1")), usd("0.5")),
                new Component(TokenClass.CACHED_INPUT, 300, Optional.of(usd("0.1")), usd("0.03")),
                new Component(TokenClass.CACHE_WRITE, 200, Optional.of(usd("1.25")), usd("0.25")),
                new Component(TokenClass.OUTPUT, 200, Optional.of(usd("5")), usd("1"))),
            List.of(),
            List.of(),
            false),
        valuation);
  }

  @ParameterizedTest
  @CsvSource({
    // input, cached, written, amount at 1 / 0.1 / 1.25 per 1000
    "1000,    0,    0, 1",
    "1000, 1000,    0, 0.1",
    "1000,    0, 1000, 1.25",
    "1000,  400,  600, 0.79",
    "1000,  400,    0, 0.64",
    "5128,    0, 5120, 6.408", // 8 ordinary tokens beside the written ones
    "   0,    0,    0, 0"
  })
  @Tag("R228")
  @Tag("C34")
  void each_token_of_the_input_is_paid_once_at_the_rate_of_its_class(
      long input, long cached, long written, String amount) {
    assertAmount(amount, value(all(), Counts.of(input, 0).cached(cached).written(written)));
  }

  @ParameterizedTest
  @CsvSource({
    "0.000000499, 1, 0", // 0.499 billionths
    "0.000000500, 1, 0.000000001",
    "0.000000500, 3, 0.000000002",
    "0.000000333, 3, 0.000000001",
    "0.000000001, 499, 0",
    "0.000000001, 500, 0.000000001"
  })
  @Tag("R222")
  void a_component_is_rounded_half_up_to_a_billionth(String rate, long tokens, String amount) {
    assertAmount(amount, value(priced().input(usd(rate)), uncached(tokens, 0)));
  }

  @Test
  @Tag("R222")
  void the_total_is_the_sum_of_rounded_components_and_rounding_comes_after_the_multiplier() {
    CatalogEntry.Builder half = priced().input(usd("0.0000005")).output(usd("0.0000005"));
    assertAmount("0.000000002", value(half, uncached(1, 1)));

    CatalogEntry.Builder third =
        priced().input(usd("0.0000003")).longContext(0, new BigDecimal("1.5"), new BigDecimal("1"));
    assertAmount("0", value(third, uncached(1, 0))); // 0.45; rounded before, it would be 0 as well
    assertAmount("0.000000001", value(third, uncached(2, 0))); // 0.9; rounded before: 1.5, so 2
  }

  @ParameterizedTest
  @CsvSource({
    // input, cached, written, output, long?, amount
    "200000,      0,      0, 1000, false, 205",
    "200001,      0,      0, 1000, true, 407.502",
    "200001, 200001,      0, 1000, true, 47.5002",
    "200001,      0, 200001, 1000, true, 507.5025",
    "100000, 100000,      0, 300000, false, 1510",
    "300000,      0,      0, 0, true, 600"
  })
  @Tag("R231")
  @Tag("C34")
  void more_input_than_the_threshold_is_a_long_context_with_a_factor_on_every_class(
      long input, long cached, long written, long output, boolean longContext, String amount) {
    CatalogEntry.Builder entry =
        all().longContext(200_000, new BigDecimal("2"), new BigDecimal("1.5"));

    CostValuation valuation =
        value(entry, Counts.of(input, output).cached(cached).written(written));

    assertAmount(amount, valuation);
    assertEquals(longContext, valuation.longContext());
  }

  @Test
  @Tag("R231")
  @Tag("R233")
  void additional_reasoning_has_the_output_factor_of_a_long_context() {
    CatalogEntry.Builder entry = all().longContext(10, new BigDecimal("2"), new BigDecimal("1.5"));

    assertAmount("3.022", value(entry, uncached(11, 300).reasoning(100), reasoning(ADDITIONAL)));
  }

  @ParameterizedTest
  @CsvSource({"1944, 1360, 9.72", "136, 31, 0.68", "136, 136, 0.68"})
  @Tag("R233")
  @Tag("FR-M09")
  @Tag("C34")
  void reasoning_inside_the_output_is_counted_once(long output, long reasoning, String amount) {
    CostValuation valuation =
        value(all(), uncached(0, output).reasoning(reasoning), reasoning(INCLUDED));

    assertAmount(amount, valuation);
    assertEquals(4, valuation.components().size());
  }

  @Test
  @Tag("R233")
  @Tag("C34")
  void additional_reasoning_is_added_once_at_the_output_rate() {
    CostValuation valuation = value(all(), uncached(0, 100).reasoning(400), reasoning(ADDITIONAL));

    assertAmount("2.5", valuation);
    assertEquals(
        new Component(TokenClass.REASONING, 400, Optional.of(usd("5")), usd("2")),
        valuation.components().getLast());
    assertAmount("0.5", value(all(), uncached(0, 100).reasoning(0), reasoning(ADDITIONAL)));
    assertUnknown(
        value(all(), uncached(0, 100), reasoning(ADDITIONAL)), "missing-reasoning-tokens");
  }

  @Test
  @Tag("R233")
  void reasoning_that_nobody_accounts_for_makes_the_cost_unknown() {
    assertUnknown(value(all(), uncached(0, 100).reasoning(1)), "reasoning-accounting-unset");
    assertUnknown(value(all(), uncached(0, 100).reasoning(101)), "reasoning-accounting-unset");
    assertAmount("0.5", value(all(), uncached(0, 100).reasoning(0)));
    assertAmount("0.5", value(all(), uncached(0, 100)));
  }

  @Test
  @Tag("R229")
  void a_missing_cache_counter_makes_the_cost_unknown() {
    assertUnknown(
        value(all(), Counts.of(1000, 0)),
        "missing-cached-input-tokens",
        "missing-cache-write-tokens");
    assertUnknown(value(all(), Counts.of(1000, 0).cached(0)), "missing-cache-write-tokens");
    assertUnknown(value(all(), Counts.of(1000, 0).written(0)), "missing-cached-input-tokens");
  }

  @Test
  @Tag("R229")
  void a_missing_cache_counter_that_is_assumed_to_be_zero_gives_an_estimate() {
    ValuationPolicy none =
        new ValuationPolicy(CacheAssumption.NONE, Optional.empty(), UnknownCost.REJECT);

    CostValuation both = value(all(), Counts.of(1000, 0), none);
    assertEquals(Status.ESTIMATED, both.status());
    assertEquals(Optional.of(usd("1")), both.amount());
    assertEquals(List.of("no-cached-input", "no-cache-write"), both.assumptions());

    CostValuation one = value(all(), Counts.of(1000, 0).cached(400), none);
    assertEquals(Status.ESTIMATED, one.status());
    assertEquals(Optional.of(usd("0.64")), one.amount());
    assertEquals(List.of("no-cache-write"), one.assumptions());

    CostValuation reported = value(all(), uncached(1000, 0), none);
    assertAmount("1", reported);
    assertEquals(List.of(), reported.assumptions());
  }

  static Stream<Counts> withoutBase() {
    TokenCount guessed = new TokenCount(7, Provenance.ESTIMATED);
    return Stream.of(
        uncached(1, 1).input(TokenCount.ABSENT),
        uncached(1, 1).input(guessed),
        uncached(1, 1).cached(1000).input(guessed), // the guess contradicts nobody
        uncached(1, 1).output(TokenCount.ABSENT),
        uncached(1, 1).output(guessed),
        uncached(1, 1).reasoning(1000).output(guessed));
  }

  @ParameterizedTest
  @MethodSource("withoutBase")
  @Tag("R230")
  void base_usage_that_was_not_reported_makes_the_cost_unknown(Counts counts) {
    String missing = counts.usage().output().equals(TokenCount.reported(1)) ? "input" : "output";

    assertUnknown(value(all(), counts, reasoning(INCLUDED)), "missing-" + missing + "-tokens");
  }

  @Test
  @Tag("R230")
  void derived_counters_are_as_good_as_reported_ones() {
    assertAmount(
        "6",
        value(
            all(),
            uncached(0, 0)
                .input(new TokenCount(1000, Provenance.DERIVED))
                .output(new TokenCount(1000, Provenance.DERIVED))));
  }

  @Test
  @Tag("R230")
  @Tag("C34")
  void what_the_catalog_does_not_say_makes_the_cost_unknown_and_never_zero() {
    Usage usage = uncached(1000, 1000).usage();
    assertUnknown(
        Valuation.of(
            usage, Target.of("p", "other"), catalog(all()), ValuationPolicy.ASSUME_NOTHING),
        "model-not-in-catalog");
    CatalogEntry.Builder withoutPricing =
        CatalogEntry.builder("p", "m").input(usd("1")).output(usd("5"));
    assertUnknown(value(withoutPricing, uncached(1000, 1000)), "no-pricing");
    assertUnknown(
        value(priced(), uncached(1000, 1000)), "missing-input-rate", "missing-output-rate");
    assertUnknown(
        value(priced().costPer1kTokens(usd("1")), uncached(1000, 1000)),
        "missing-input-rate",
        "missing-output-rate");
    Counts cached = Counts.of(1000, 0).cached(1).written(1);
    assertUnknown(
        value(priced().input(usd("1")).output(usd("5")), cached),
        "missing-cached-input-rate",
        "missing-cache-write-rate");
    assertUnknown(
        value(priced(), uncached(0, 1).reasoning(1), reasoning(ADDITIONAL)), "missing-output-rate");
  }

  @Test
  @Tag("R230")
  void every_reason_is_given_that_can_be_seen() {
    assertUnknown(
        Valuation.of(
            new Counts(Usage.ABSENT).speed("fast").usage(),
            Target.of("q", "m"),
            catalog(all()),
            ValuationPolicy.ASSUME_NOTHING),
        "model-not-in-catalog",
        "fast-tier",
        "missing-input-tokens",
        "missing-cached-input-tokens",
        "missing-cache-write-tokens",
        "missing-output-tokens");
  }

  @Test
  @Tag("R232")
  void zero_tokens_cost_zero_without_a_rate_and_the_rate_stays_absent() {
    CostValuation valuation = value(priced().output(usd("5")), uncached(0, 1000));

    assertAmount("5", valuation);
    assertEquals(
        List.of(
            new Component(TokenClass.INPUT, 0, Optional.empty(), usd("0")),
            new Component(TokenClass.CACHED_INPUT, 0, Optional.empty(), usd("0")),
            new Component(TokenClass.CACHE_WRITE, 0, Optional.empty(), usd("0")),
            new Component(TokenClass.OUTPUT, 1000, Optional.of(usd("5")), usd("5"))),
        valuation.components());
    assertAmount("0", value(priced(), uncached(0, 0)));
    assertAmount("0", value(all().input(usd("0")), uncached(1000, 0)));
  }

  @Test
  @Tag("R234")
  @Tag("C34")
  void a_fast_tier_makes_the_cost_unknown_and_no_other_speed_does() {
    assertUnknown(value(all(), uncached(1, 1).speed("fast")), "fast-tier");
    assertAmount("0.006", value(all(), uncached(1, 1).speed("standard")));
    assertAmount("0.006", value(all(), uncached(1, 1).speed("")));
  }

  static Stream<Counts> contradictory() {
    long max = Long.MAX_VALUE;
    return Stream.of(
        uncached(-1, 1),
        uncached(1, -1),
        uncached(1, 1).cached(-1),
        uncached(1, 1).written(-1),
        uncached(1, 1).reasoning(-1),
        uncached(1, 1).total(-1),
        uncached(Long.MIN_VALUE, 1).cached(Long.MIN_VALUE).written(max),
        Counts.of(10, 1).cached(11),
        Counts.of(10, 1).written(11),
        Counts.of(10, 1).cached(5).written(6),
        Counts.of(10, 1).cached(max).written(max), // their sum as a long is -2
        Counts.of(0, 1).cached(1).written(max),
        uncached(10, 10).reasoning(11),
        uncached(10, 10).reasoning(max));
  }

  @ParameterizedTest
  @MethodSource("contradictory")
  @Tag("R235")
  void counters_that_contradict_each_other_are_refused(Counts counts) {
    var refused =
        assertThrows(
            InvalidRequestException.class, () -> value(all(), counts, reasoning(INCLUDED)));

    assertEquals(FailureKind.INVALID_REQUEST, refused.kind());
    String message = String.valueOf(refused.getMessage());
    assertTrue(message.contains("Tokens"), message);
  }

  @Test
  @Tag("R235")
  void a_refusal_of_counters_names_the_rule_and_the_values() {
    assertEquals(
        "cachedInputTokens must be 0 or more, but is -3.", message(uncached(1, 1).cached(-3)));
    assertEquals(
        "cachedInputTokens and cacheWriteTokens are parts of inputTokens (10), but are 5 and 6.",
        message(Counts.of(10, 1).cached(5).written(6)));
    assertEquals(
        "reasoningTokens are a part of outputTokens (10), but are 11.",
        message(uncached(10, 10).reasoning(11)));
  }

  private static String message(Counts counts) {
    return String.valueOf(
        assertThrows(InvalidRequestException.class, () -> value(all(), counts, reasoning(INCLUDED)))
            .getMessage());
  }

  @Test
  @Tag("R235")
  void more_reasoning_than_output_is_no_contradiction_if_it_stands_beside_the_output() {
    assertAmount("0.105", value(all(), uncached(0, 10).reasoning(11), reasoning(ADDITIONAL)));
  }

  @Test
  @Tag("R236")
  void an_unknown_cost_is_an_exception_if_the_policy_says_so() {
    ValuationPolicy reject =
        new ValuationPolicy(CacheAssumption.UNKNOWN, Optional.empty(), UnknownCost.REJECT);

    var refused =
        assertThrows(InvalidRequestException.class, () -> value(all(), Counts.of(1, 1), reject));

    assertEquals(
        "The cost of a call of p/m must be known, but is not: missing-cached-input-tokens,"
            + " missing-cache-write-tokens.",
        refused.getMessage());
    assertAmount("0.006", value(all(), uncached(1, 1), reject));
  }

  @Test
  @Tag("R236")
  void the_same_values_give_the_same_valuation() {
    CatalogEntry.Builder entry = all();
    Counts counts = Counts.of(12_345, 678).cached(1_000).written(45);

    assertEquals(value(entry, counts), value(entry, counts));
    assertFalse(value(entry, counts).amount().isEmpty());
  }

  @ParameterizedTest
  @ValueSource(longs = {Long.MAX_VALUE, Long.MAX_VALUE / 1000})
  @Tag("R220")
  void an_amount_that_does_not_fit_is_an_error_and_never_a_wrap(long tokens) {
    CatalogEntry.Builder dear = priced().input(usd("9000000000")).output(usd("9000000000"));

    assertThrows(ArithmeticException.class, () -> value(dear, uncached(tokens, 0)));
    assertThrows(ArithmeticException.class, () -> value(dear, uncached(1000, 1000)));
    assertAmount("9000000000", value(dear, uncached(1000, 0)));
  }
}
