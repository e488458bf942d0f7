package dev.warpwright.agent;

import dev.warpwright.cost.CacheAssumption;
import dev.warpwright.cost.CatalogEntry;
import dev.warpwright.cost.CostAccounting;
import dev.warpwright.cost.ModelCatalog;
import dev.warpwright.cost.Pricing;
import dev.warpwright.model.Money;

/** A catalog in which each answer of {@link FakeModel} costs 0.02 dollars. */
public final class Prices {
  private Prices() {}

  public static Money usd(String amount) {
    return Money.of(amount, "USD");
  }

  public static CostAccounting accounting() {
    return CostAccounting.builder(
            ModelCatalog.builder("catalog-1")
                .entry(
                    CatalogEntry.builder(Program.TARGET.provider(), Program.TARGET.modelId())
                        .input(usd("1"))
                        .output(usd("2"))
                        .pricing(Pricing.of("prices-1", "USD"))
                        .build())
                .build())
        .cacheAssumption(CacheAssumption.NONE)
        .build();
  }
}
