package dev.warpwright.cost;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Money;
import dev.warpwright.model.Target;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Which price counts, and which prices a ceiling lets through. */
final class PriceCeilingTest {
  private static final Target M = Target.of("p", "m");

  private static Money usd(String amount) {
    return Money.of(amount, "USD");
  }

  private static CatalogEntry.Builder entry() {
    return CatalogEntry.builder("p", "m");
  }

  private static PriceList list(CatalogEntry entry) {
    return new PriceList(Map.of(), Optional.of(ModelCatalog.builder("v1").entry(entry).build()));
  }

  @Test
  @Tag("R72")
  void the_configured_price_counts_before_the_catalogs_single_price_and_that_before_its_rates() {
    CatalogEntry rates = entry().input(usd("1")).output(usd("5")).build();
    CatalogEntry single =
        entry().input(usd("1")).output(usd("5")).costPer1kTokens(usd("2")).build();

    assertEquals(Optional.of(usd("5")), list(rates).effective(M));
    assertEquals(Optional.of(usd("2")), list(single).effective(M));
    PriceList configured = new PriceList(Map.of("p", usd("0.5")), list(single).catalog());
    assertEquals(Optional.of(usd("0.5")), configured.effective(M));
    assertEquals(Optional.of(usd("2")), configured.fromCatalog(M));
    assertEquals(Optional.empty(), configured.effective(Target.of("q", "m")));
  }

  @Test
  @Tag("R72")
  void of_the_rates_the_higher_one_counts_and_only_if_both_are_known() {
    assertEquals(
        Optional.of(usd("3")), list(entry().input(usd("3")).output(usd("1")).build()).effective(M));
    assertEquals(Optional.empty(), list(entry().input(usd("3")).build()).effective(M));
    assertEquals(Optional.empty(), list(entry().output(usd("3")).build()).effective(M));
    assertEquals(
        Optional.empty(),
        list(entry().cachedInput(usd("3")).cacheWrite(usd("3")).build()).effective(M));
    assertEquals(Optional.empty(), new PriceList(Map.of(), Optional.empty()).effective(M));
  }

  @Test
  @Tag("R369")
  void the_price_of_a_deployment_is_that_of_its_model() {
    Target deployed = new Target("p", "m", Optional.of("east"));

    assertEquals(
        Optional.of(usd("2")), list(entry().costPer1kTokens(usd("2")).build()).effective(deployed));
  }

  @Test
  @Tag("R33")
  void a_negative_configured_price_is_refused() {
    var refused =
        assertThrows(
            InvalidRequestException.class,
            () -> new PriceList(Map.of("p", usd("-1")), Optional.empty()));

    assertEquals(FailureKind.INVALID_CONFIGURATION, refused.kind());
    assertEquals(
        "The configured price of p must be 0 or more, but is -1 USD.", refused.getMessage());
  }

  @Test
  void configured_prices_are_copied() {
    Map<String, Money> prices = new HashMap<>(Map.of("p", usd("1")));
    PriceList list = new PriceList(prices, Optional.empty());
    prices.put("p", usd("9"));

    assertEquals(Optional.of(usd("1")), list.effective(M));
  }

  @Test
  @Tag("R72")
  void a_price_above_the_ceiling_is_refused_and_one_equal_to_it_passes() {
    PriceCeiling ceiling = PriceCeiling.of(usd("0.5"));

    assertEquals(
        Optional.of(
            "The price of 1k tokens is 2 USD, above the ceiling maxCostPer1kTokens of 0.5 USD."),
        ceiling.refusal(Optional.of(usd("2"))));
    assertTrue(ceiling.refusal(Optional.of(usd("0.500000001"))).isPresent());
    assertEquals(Optional.empty(), ceiling.refusal(Optional.of(usd("0.5"))));
    assertEquals(Optional.empty(), ceiling.refusal(Optional.of(usd("0"))));
    assertTrue(
        new PriceCeiling(usd("0.5"), UnknownCost.ALLOW).refusal(Optional.of(usd("2"))).isPresent());
  }

  @Test
  @Tag("R73")
  void a_price_of_zero_is_known_and_passes_a_ceiling_of_zero() {
    PriceCeiling ceiling = PriceCeiling.of(usd("0"));
    PriceList free = new PriceList(Map.of("p", usd("0")), Optional.empty());

    assertEquals(Optional.empty(), ceiling.refusal(free.effective(M)));
    assertTrue(ceiling.refusal(Optional.of(new Money(1, "USD"))).isPresent());
    assertEquals(
        Optional.of(usd("0")),
        list(entry().costPer1kTokens(usd("0")).input(usd("1")).output(usd("1")).build())
            .effective(M));
  }

  @Test
  @Tag("R71")
  void an_unknown_price_is_refused_unless_the_policy_allows_it() {
    assertEquals(
        Optional.of(
            "The price of 1k tokens is not known, and cannot be compared with the ceiling"
                + " maxCostPer1kTokens of 1 USD."),
        PriceCeiling.of(usd("1")).refusal(Optional.empty()));
    assertEquals(
        Optional.empty(), new PriceCeiling(usd("1"), UnknownCost.ALLOW).refusal(Optional.empty()));
  }

  @Test
  @Tag("R75")
  void a_price_in_another_currency_counts_as_unknown() {
    Optional<Money> euro = Optional.of(Money.of("0.01", "EUR"));

    assertEquals(
        Optional.of(
            "The price of 1k tokens is in another currency, EUR, and cannot be compared with the"
                + " ceiling maxCostPer1kTokens of 1 USD."),
        PriceCeiling.of(usd("1")).refusal(euro));
    assertEquals(Optional.empty(), new PriceCeiling(usd("1"), UnknownCost.ALLOW).refusal(euro));
    assertTrue(PriceCeiling.of(usd("0")).refusal(Optional.of(Money.zero("EUR"))).isPresent());
  }

  @Test
  @Tag("R32")
  void a_negative_ceiling_is_refused() {
    var refused =
        assertThrows(InvalidRequestException.class, () -> PriceCeiling.of(new Money(-1, "USD")));

    assertEquals(FailureKind.INVALID_REQUEST, refused.kind());
    assertEquals(
        "maxCostPer1kTokens must be 0 or more, but is -0.000000001 USD.", refused.getMessage());
  }
}
