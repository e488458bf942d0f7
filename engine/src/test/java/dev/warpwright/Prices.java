package dev.warpwright;

import dev.warpwright.cost.CacheAssumption;
import dev.warpwright.cost.CatalogEntry;
import dev.warpwright.cost.CostAccounting;
import dev.warpwright.cost.ModelCatalog;
import dev.warpwright.cost.Pricing;
import dev.warpwright.model.Money;

/** A catalog in which input costs 1 and output 2 dollars per 1000 tokens, for every target. */
final class Prices {
  private Prices() {}

  static Money usd(String amount) {
    return Money.of(amount, "USD");
  }

  static CostAccounting accounting() {
    return builder().cacheAssumption(CacheAssumption.NONE).build();
  }

  static CostAccounting.Builder builder() {
    return CostAccounting.builder(
        ModelCatalog.builder("catalog-1")
            .entry(entry("a", "model-a"))
            .entry(entry("b", "model-b"))
            .build());
  }

  private static CatalogEntry entry(String provider, String model) {
    return CatalogEntry.builder(provider, model)
        .input(usd("1"))
        .output(usd("2"))
        .pricing(Pricing.of("prices-1", "USD"))
        .build();
  }
}
