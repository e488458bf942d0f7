package dev.warpwright.cost;

import static dev.warpwright.cost.Counts.uncached;
import static dev.warpwright.model.ReasoningAccounting.ADDITIONAL;
import static dev.warpwright.model.ReasoningAccounting.INCLUDED;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
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
import dev.warpwright.model.Usage;
import java.math.BigDecimal;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** How a gateway accounts for cost: nothing that a provider says makes it fail. */
final class CostAccountingTest {
  private static final Target M = Target.of("p", "m");
  private static final Optional<ReasoningAccounting> UNDECLARED = Optional.empty();

  private static Money usd(String amount) {
    return Money.of(amount, "USD");
  }

  private static CatalogEntry.Builder entry() {
    return CatalogEntry.builder("p", "m")
        .pricing(Pricing.of("2026-03", "USD"))
        .input(usd("1"))
        .output(usd("5"));
  }

  private static ModelCatalog catalog(CatalogEntry.Builder entry) {
    return ModelCatalog.builder("v1").entry(entry.build()).build();
  }

  private static CostAccounting accounting(CatalogEntry.Builder entry) {
    return CostAccounting.builder(catalog(entry)).build();
  }

  private static CostAccounting withReasoning(ReasoningAccounting setting) {
    return CostAccounting.builder(catalog(entry())).reasoningAccounting("p", setting).build();
  }

  private static void assertUnknown(CostValuation valuation, String... reasons) {
    assertEquals(List.of(reasons), valuation.unknownReasons());
    assertEquals(Status.UNKNOWN, valuation.status());
  }

  @Test
  void by_default_nothing_is_assumed_and_no_target_is_refused() {
    CostAccounting accounting = accounting(entry());
    CostValuation valuation = accounting.value(M, Usage.reported(1000, 0), UNDECLARED);

    assertUnknown(valuation, "missing-cached-input-tokens", "missing-cache-write-tokens");
    assertEquals(Optional.empty(), accounting.refusal(valuation));
    assertEquals(
        Optional.of(usd("1")), accounting.value(M, uncached(1000, 0).usage(), UNDECLARED).amount());
  }

  @Test
  @Tag("R229")
  void the_cache_assumption_of_the_policy_counts() {
    CostAccounting accounting =
        CostAccounting.builder(catalog(entry())).cacheAssumption(CacheAssumption.NONE).build();
    CostValuation valuation = accounting.value(M, Usage.reported(1000, 0), UNDECLARED);

    assertEquals(Status.ESTIMATED, valuation.status());
    assertEquals(Optional.of(usd("1")), valuation.amount());
    assertEquals(List.of("no-cached-input", "no-cache-write"), valuation.assumptions());
  }

  @Test
  @Tag("R226")
  void a_failure_without_usage_has_no_amount() {
    CostValuation valuation =
        CostAccounting.builder(catalog(entry()))
            .cacheAssumption(CacheAssumption.NONE)
            .build()
            .value(M, Usage.ABSENT, UNDECLARED);

    assertUnknown(valuation, "missing-input-tokens", "missing-output-tokens");
    assertEquals(Optional.empty(), valuation.amount());
    assertEquals(Optional.of("USD"), valuation.currency());
  }

  @ParameterizedTest
  @MethodSource("dev.warpwright.cost.ValuationTest#contradictory")
  @Tag("R235")
  void counters_that_contradict_each_other_make_the_cost_unknown(Counts counts) {
    CostValuation valuation = accounting(entry()).value(M, counts.usage(), Optional.of(INCLUDED));

    assertUnknown(valuation, "invalid-reported-usage");
    assertEquals(Optional.of("2026-03"), valuation.pricingVersion());
  }

  @Test
  @Tag("R220")
  @Tag("R235")
  void absurd_counters_make_the_cost_unknown() {
    CostAccounting accounting = accounting(entry().input(usd("9000000000")));

    assertUnknown(
        accounting.value(M, uncached(Long.MAX_VALUE, 0).usage(), UNDECLARED), "amount-overflow");
    assertUnknown(
        accounting.value(M, uncached(1000, 100_000_000_000L).usage(), UNDECLARED),
        "amount-overflow");
    assertUnknown(
        accounting.quote(M, Long.MAX_VALUE, OptionalInt.of(1), OptionalInt.empty()),
        "amount-overflow");
    assertUnknown(accounting.ceiling(M, Long.MAX_VALUE, OptionalInt.of(1)), "amount-overflow");
  }

  @ParameterizedTest
  @CsvSource({"INCLUDED, 0.5", "ADDITIONAL, 0.75"})
  @Tag("R233")
  void the_setting_counts_where_the_adapter_declares_nothing(
      ReasoningAccounting setting, String amount) {
    Usage usage = uncached(0, 100).reasoning(50).usage();
    CostValuation valuation = withReasoning(setting).value(M, usage, UNDECLARED);

    assertEquals(Optional.of(usd(amount)), valuation.amount());
    assertEquals(List.of(), valuation.assumptions());
    CostAccounting ofOther =
        CostAccounting.builder(catalog(entry())).reasoningAccounting("q", setting).build();
    assertUnknown(ofOther.value(M, usage, UNDECLARED), "reasoning-accounting-unset");
  }

  @Test
  @Tag("R233")
  void the_declaration_of_the_adapter_has_precedence_and_a_setting_against_it_is_listed() {
    Usage usage = uncached(0, 100).reasoning(50).usage();

    CostValuation against = withReasoning(ADDITIONAL).value(M, usage, Optional.of(INCLUDED));
    assertEquals(Optional.of(usd("0.5")), against.amount());
    assertEquals(List.of("reasoning-setting-not-applied"), against.assumptions());
    assertEquals(Status.KNOWN, against.status());
    CostValuation reverse = withReasoning(INCLUDED).value(M, usage, Optional.of(ADDITIONAL));
    assertEquals(Optional.of(usd("0.75")), reverse.amount());
    assertEquals(List.of("reasoning-setting-not-applied"), reverse.assumptions());

    CostValuation same = withReasoning(INCLUDED).value(M, usage, Optional.of(INCLUDED));
    assertEquals(List.of(), same.assumptions());
    CostValuation unset = accounting(entry()).value(M, usage, Optional.of(INCLUDED));
    assertEquals(Optional.of(usd("0.5")), unset.amount());
    assertEquals(List.of(), unset.assumptions());
  }

  @Test
  @Tag("R40")
  void a_setting_for_a_provider_that_does_not_exist_is_refused() {
    CostAccounting accounting =
        CostAccounting.builder(catalog(entry()))
            .reasoningAccounting("p", INCLUDED)
            .reasoningAccounting("typo", INCLUDED)
            .build();

    accounting.requireProviders(Set.of("p", "typo", "q"));
    var refused =
        assertThrows(
            InvalidRequestException.class, () -> accounting.requireProviders(Set.of("p", "q")));
    assertEquals(FailureKind.INVALID_CONFIGURATION, refused.kind());
    assertEquals(
        "reasoningAccounting must name registered providers (p, q), but names typo.",
        refused.getMessage());
    accounting(entry()).requireProviders(Set.of());
  }

  @Test
  @SuppressWarnings("NullAway") // that is the mistake
  void a_policy_that_is_null_is_refused_where_it_is_set() {
    CostAccounting.Builder builder = CostAccounting.builder(ModelCatalog.builder("v").build());

    assertThrows(NullPointerException.class, () -> builder.unknownCost(null));
    assertThrows(NullPointerException.class, () -> builder.cacheAssumption(null));
    assertThrows(NullPointerException.class, () -> builder.reasoningAccounting("a", null));
  }

  @Test
  void a_policy_does_not_change_with_its_builder() {
    ModelCatalog catalog = catalog(entry());
    CostAccounting.Builder builder = CostAccounting.builder(catalog);
    CostAccounting accounting = builder.build();
    builder.reasoningAccounting("typo", INCLUDED);

    accounting.requireProviders(Set.of());
    assertSame(catalog, accounting.catalog());
  }

  @Test
  @Tag("R223")
  void a_quote_prices_estimated_input_and_expected_output_as_if_no_cache_helped() {
    CostAccounting accounting = accounting(entry().cachedInput(usd("0.1")).cacheWrite(usd("1.25")));

    CostValuation quote = accounting.quote(M, 2000, OptionalInt.of(100), OptionalInt.of(4000));

    assertEquals(Status.ESTIMATED, quote.status());
    assertEquals(Optional.of(usd("2.5")), quote.amount());
    assertEquals(List.of("cold-cache", "estimated-tokens"), quote.assumptions());
    assertEquals(
        new Component(TokenClass.INPUT, 2000, Optional.of(usd("1")), usd("2")),
        quote.components().getFirst());
  }

  @Test
  @Tag("R223")
  void without_expected_output_the_limit_of_the_request_counts() {
    CostValuation quote =
        accounting(entry()).quote(M, 1000, OptionalInt.empty(), OptionalInt.of(400));

    assertEquals(Optional.of(usd("3")), quote.amount());
  }

  @Test
  @Tag("R224")
  void a_target_whose_quote_is_unknown_is_refused_if_the_policy_says_so() {
    CostAccounting reject =
        CostAccounting.builder(catalog(entry())).unknownCost(UnknownCost.REJECT).build();
    CostValuation withoutOutput = reject.quote(M, 1000, OptionalInt.empty(), OptionalInt.empty());

    assertUnknown(withoutOutput, "missing-output-limit");
    assertEquals(
        Optional.of(
            "The cost of a call must be known (unknownCost REJECT), but is not:"
                + " missing-output-limit."),
        reject.refusal(withoutOutput));
    assertEquals(Optional.empty(), accounting(entry()).refusal(withoutOutput));
    assertTrue(
        reject
            .refusal(reject.quote(Target.of("p", "n"), 1, OptionalInt.of(1), OptionalInt.empty()))
            .isPresent());
    assertEquals(
        Optional.empty(),
        reject.refusal(reject.quote(M, 1, OptionalInt.of(1), OptionalInt.empty())));
  }

  @Test
  @Tag("R223")
  @Tag("R230")
  void a_quote_without_a_needed_price_is_unknown() {
    CostAccounting accounting = accounting(CatalogEntry.builder("p", "m").input(usd("1")));

    assertUnknown(accounting.quote(M, 1, OptionalInt.of(1), OptionalInt.empty()), "no-pricing");
    assertUnknown(
        accounting(entry().pricing(Pricing.of("2", "USD")))
            .quote(Target.of("q", "m"), 1, OptionalInt.empty(), OptionalInt.empty()),
        "model-not-in-catalog",
        "missing-output-limit");
  }

  @Test
  @Tag("R317")
  void the_ceiling_is_the_input_at_its_highest_rate_and_all_output_that_is_allowed() {
    CostAccounting accounting = accounting(entry().cachedInput(usd("0.1")).cacheWrite(usd("1.25")));

    CostValuation ceiling = accounting.ceiling(M, 2000, OptionalInt.of(1000));

    assertEquals(Status.ESTIMATED, ceiling.status());
    assertEquals(Optional.of(usd("7.5")), ceiling.amount());
    assertEquals(List.of("highest-input-rate", "estimated-tokens"), ceiling.assumptions());
    assertEquals(
        Optional.of(usd("7")), accounting(entry()).ceiling(M, 2000, OptionalInt.of(1000)).amount());
    assertUnknown(accounting.ceiling(M, 2000, OptionalInt.empty()), "missing-output-limit");
    CatalogEntry.Builder withoutInput =
        CatalogEntry.builder("p", "m")
            .pricing(Pricing.of("1", "USD"))
            .cacheWrite(usd("1.25"))
            .output(usd("5"));
    assertUnknown(accounting(withoutInput).ceiling(M, 1, OptionalInt.of(1)), "missing-input-rate");
  }

  @ParameterizedTest
  @CsvSource({"200000, false, 205", "200001, true, 407.502", "300000, true, 607.5"})
  @Tag("R317")
  @Tag("FR-M05")
  void quote_and_ceiling_use_the_prices_of_a_long_context(
      long input, boolean longContext, String amount) {
    CostAccounting accounting =
        accounting(entry().longContext(200_000, new BigDecimal("2"), new BigDecimal("1.5")));

    CostValuation ceiling = accounting.ceiling(M, input, OptionalInt.of(1000));
    assertEquals(Optional.of(usd(amount)), ceiling.amount());
    assertEquals(longContext, ceiling.longContext());
    assertEquals(
        Optional.of(usd(amount)),
        accounting.quote(M, input, OptionalInt.of(1000), OptionalInt.empty()).amount());
  }

  @Test
  @Tag("R317")
  @Tag("FR-M03")
  void a_ceiling_can_be_capped() {
    CostAccounting accounting = accounting(entry());
    CostValuation ceiling = accounting.ceiling(M, 2000, OptionalInt.of(1000));

    assertEquals(Optional.of(usd("0.1")), ceiling.amountUpTo(usd("0.1")));
    assertEquals(Optional.of(usd("7")), ceiling.amountUpTo(usd("7")));
    assertEquals(Optional.of(usd("7")), ceiling.amountUpTo(usd("8")));
    assertEquals(Optional.empty(), ceiling.amountUpTo(Money.of("8", "EUR")));
    assertEquals(
        Optional.empty(), accounting.ceiling(M, 2000, OptionalInt.empty()).amountUpTo(usd("8")));
  }

  @Test
  void negative_estimates_are_refused() {
    CostAccounting accounting = accounting(entry());

    assertThrows(
        IllegalArgumentException.class,
        () -> accounting.quote(M, -1, OptionalInt.of(1), OptionalInt.empty()));
    assertThrows(
        IllegalArgumentException.class, () -> accounting.ceiling(M, 1, OptionalInt.of(-1)));
  }
}
