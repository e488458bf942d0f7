package dev.warpwright.cost;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.cost.CatalogEntry.Tier;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Money;
import dev.warpwright.model.Target;
import java.math.BigDecimal;
import java.time.LocalDate;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.BiFunction;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a catalog may say, and how a model is found in it. */
final class ModelCatalogTest {
  private static Money usd(String amount) {
    return Money.of(amount, "USD");
  }

  private static CatalogEntry.Builder entry(String model) {
    return CatalogEntry.builder("p", model);
  }

  private static ModelCatalog catalog(CatalogEntry... entries) {
    ModelCatalog.Builder builder = ModelCatalog.builder("v1");
    for (CatalogEntry entry : entries) {
      builder.entry(entry);
    }
    return builder.build();
  }

  private static String refusal(Runnable action) {
    var refused = assertThrows(InvalidRequestException.class, action::run);
    assertEquals(FailureKind.INVALID_CONFIGURATION, refused.kind());
    return String.valueOf(refused.getMessage());
  }

  @Test
  @Tag("R389")
  @Tag("R221")
  void an_entry_holds_what_was_said_and_nothing_else() {
    Pricing pricing =
        Pricing.of("2026-03", "USD", "https://example.com/prices", LocalDate.of(2026, 3, 1));
    CatalogEntry full =
        entry("m")
            .aliases(Set.of("m-latest"))
            .tier(Tier.FLAGSHIP)
            .input(usd("1"))
            .cachedInput(usd("0.1"))
            .cacheWrite(usd("1.25"))
            .output(usd("5"))
            .costPer1kTokens(usd("2"))
            .longContext(200_000, new BigDecimal("2"), new BigDecimal("1.5"))
            .pricing(pricing)
            .contextWindow(1_000_000)
            .maxOutput(64_000)
            .build();

    assertEquals(
        new CatalogEntry(
            "p",
            "m",
            Set.of("m-latest"),
            Optional.of(Tier.FLAGSHIP),
            new Rates(
                Optional.of(usd("1")),
                Optional.of(usd("0.1")),
                Optional.of(usd("1.25")),
                Optional.of(usd("5"))),
            Optional.of(usd("2")),
            Optional.of(new LongContext(200_000, new BigDecimal("2"), new BigDecimal("1.5"))),
            Optional.of(pricing),
            OptionalLong.of(1_000_000),
            OptionalLong.of(64_000)),
        full);
    CatalogEntry empty = entry("m").build();
    assertEquals(
        new CatalogEntry(
            "p",
            "m",
            Set.of(),
            Optional.empty(),
            Rates.NONE,
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            OptionalLong.empty(),
            OptionalLong.empty()),
        empty);
  }

  @Test
  @Tag("R33")
  @Tag("R389")
  void a_negative_price_is_refused_and_names_the_target() {
    Map<String, BiFunction<CatalogEntry.Builder, Money, CatalogEntry.Builder>> prices =
        Map.of(
            "input rate", CatalogEntry.Builder::input,
            "cached input rate", CatalogEntry.Builder::cachedInput,
            "cache write rate", CatalogEntry.Builder::cacheWrite,
            "output rate", CatalogEntry.Builder::output,
            "costPer1kTokens", CatalogEntry.Builder::costPer1kTokens);
    prices.forEach(
        (name, price) -> {
          assertEquals(
              "The " + name + " of p/m must be 0 or more, but is -0.000000001 USD.",
              refusal(() -> price.apply(entry("m"), new Money(-1, "USD")).build()));
          price.apply(entry("m"), Money.zero("USD")).build();
        });
  }

  @Test
  @Tag("R221")
  void the_prices_of_a_model_are_in_one_currency() {
    String message =
        refusal(
            () -> entry("m").pricing(Pricing.of("1", "USD")).output(Money.of("1", "EUR")).build());

    assertTrue(message.contains("p/m"), message);
    assertTrue(message.contains("EUR and USD"), message);
    refusal(() -> entry("m").input(usd("1")).output(Money.of("1", "EUR")).build());
    refusal(() -> entry("m").input(usd("1")).costPer1kTokens(Money.of("1", "EUR")).build());
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "-1", "1000.1", "1.0000000001", "1e999999999", "1e-999999999"})
  @Tag("R389")
  void a_multiplier_out_of_its_bounds_is_refused(String multiplier) {
    BigDecimal value = new BigDecimal(multiplier);

    for (Runnable build :
        List.<Runnable>of(
            () -> new LongContext(1, value, BigDecimal.ONE),
            () -> new LongContext(1, BigDecimal.ONE, value))) {
      String message = refusal(build);
      assertTrue(message.contains("more than 0 and at most 1000"), message);
      assertTrue(message.contains(value.toString()), message);
    }
  }

  @Test
  @Tag("R389")
  void equal_multipliers_are_equal_however_they_are_written() {
    assertEquals(
        new LongContext(1, new BigDecimal("2"), new BigDecimal("1000")),
        new LongContext(1, new BigDecimal("2.000"), new BigDecimal("1E+3")));
    refusal(() -> new LongContext(-1, BigDecimal.ONE, BigDecimal.ONE));
  }

  @Test
  @Tag("R389")
  void declared_facts_are_positive_and_versions_have_a_name() {
    refusal(() -> entry("m").contextWindow(0).build());
    refusal(() -> entry("m").maxOutput(0).build());
    refusal(() -> Pricing.of(" ", "USD"));
    refusal(() -> Pricing.of("1", "dollar"));
    refusal(() -> ModelCatalog.builder("").build());
    assertThrows(InvalidRequestException.class, () -> entry("").build());
    assertThrows(InvalidRequestException.class, () -> CatalogEntry.builder("P!", "m").build());
    assertThrows(InvalidRequestException.class, () -> entry("m").aliases(Set.of("")).build());
  }

  @Test
  @Tag("R237")
  @Tag("R369")
  void a_model_is_found_by_id_and_alias_within_its_provider_whatever_the_deployment() {
    CatalogEntry m = entry("m").aliases(Set.of("m-1", "m-2")).build();
    CatalogEntry other = CatalogEntry.builder("q", "m").build();
    ModelCatalog catalog = catalog(m, other);

    assertSame(m, catalog.find(Target.of("p", "m")).orElseThrow());
    assertSame(m, catalog.find(Target.of("p", "m-2")).orElseThrow());
    assertSame(m, catalog.find(new Target("p", "m-1", Optional.of("east"))).orElseThrow());
    assertSame(other, catalog.find(Target.of("q", "m")).orElseThrow());
    assertTrue(catalog.find(Target.of("q", "m-1")).isEmpty());
    assertTrue(catalog.find(Target.of("p", "M")).isEmpty());
    assertTrue(catalog.find(Target.of("p", "m-3")).isEmpty());
    assertEquals("v1", catalog.version());
    assertEquals(List.of(m, other), catalog.entries());
  }

  @Test
  @Tag("R237")
  void colliding_ids_and_aliases_are_refused() {
    CatalogEntry m = entry("m").aliases(Set.of("a")).build();

    assertEquals(
        "A model id or alias must be unique in a catalog, but p/a names both m and n.",
        refusal(() -> catalog(m, entry("n").aliases(Set.of("a")).build())));
    refusal(() -> catalog(m, entry("m").build()));
    refusal(() -> catalog(m, entry("a").build()));
    refusal(() -> catalog(entry("a").build(), m));
    refusal(() -> catalog(m, m));
    refusal(() -> catalog(entry("x").aliases(Set.of("x")).build()));
    catalog(m, CatalogEntry.builder("q", "m").aliases(Set.of("a")).build());
  }

  @Test
  @Tag("R237")
  void what_the_caller_changes_later_changes_no_catalog() {
    Set<String> aliases = new HashSet<>(Set.of("a"));
    CatalogEntry.Builder builder = entry("m").aliases(aliases).input(usd("1"));
    ModelCatalog.Builder ofCatalog = ModelCatalog.builder("v1").entry(builder.build());
    ModelCatalog catalog = ofCatalog.build();
    aliases.add("b");
    builder.input(usd("2"));
    ofCatalog.entry(entry("n").build());

    CatalogEntry found = catalog.find(Target.of("p", "a")).orElseThrow();
    assertEquals(Set.of("a"), found.aliases());
    assertEquals(Optional.of(usd("1")), found.rates().input());
    assertEquals(1, catalog.entries().size());
    assertThrows(UnsupportedOperationException.class, () -> found.aliases().add("c"));
    assertThrows(UnsupportedOperationException.class, () -> catalog.entries().clear());
  }
}
