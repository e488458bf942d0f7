package dev.warpwright.bench;

import dev.warpwright.cost.CacheAssumption;
import dev.warpwright.cost.CatalogEntry;
import dev.warpwright.cost.CostAccounting;
import dev.warpwright.cost.ModelCatalog;
import dev.warpwright.cost.Pricing;
import dev.warpwright.model.Money;
import dev.warpwright.model.Target;

/** A catalog with one model. */
final class Prices {
  private Prices() {}

  static CostAccounting accounting(Target target) {
    return CostAccounting.builder(
            ModelCatalog.builder("bench")
                .entry(
                    CatalogEntry.builder(target.provider(), target.modelId())
                        .input(Money.of("0.000001", "USD"))
                        .output(Money.of("0.000002", "USD"))
                        .pricing(Pricing.of("bench", "USD"))
                        .build())
                .build())
        .cacheAssumption(CacheAssumption.NONE)
        .build();
  }
}
