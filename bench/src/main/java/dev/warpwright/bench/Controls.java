package dev.warpwright.bench;

import dev.warpwright.Gateway;
import dev.warpwright.control.AdmissionController;
import dev.warpwright.control.AdmissionPolicy;
import dev.warpwright.control.BudgetStore;
import dev.warpwright.control.CircuitBreaker;
import dev.warpwright.control.CircuitPolicy;
import dev.warpwright.control.ReservationRule;
import dev.warpwright.control.TargetMetrics;
import dev.warpwright.cost.CacheAssumption;
import dev.warpwright.cost.CatalogEntry;
import dev.warpwright.cost.CostAccounting;
import dev.warpwright.cost.ModelCatalog;
import dev.warpwright.cost.Pricing;
import dev.warpwright.model.Money;

/** One of each of Warpwright's controls in this process, with limits that are never reached. */
public final class Controls {
  static final int MANY = 1_000_000;

  /** The budget of which calls take. */
  public static final String BUDGET_SCOPE = "bench";

  static final Money RESERVED = Money.of("0.000001", "USD");

  final CircuitBreaker circuit = CircuitBreaker.local(CircuitPolicy.DEFAULT);
  final AdmissionController concurrency =
      AdmissionController.local(AdmissionPolicy.builder(MANY).build());
  final AdmissionController concurrencyAndRate =
      AdmissionController.local(
          AdmissionPolicy.builder(MANY).requestsPerMinute(Integer.MAX_VALUE).build());
  final TargetMetrics metrics = TargetMetrics.local();
  final CostAccounting accounting =
      CostAccounting.builder(
              ModelCatalog.builder("bench")
                  .entry(
                      CatalogEntry.builder(
                              InstantModel.TARGET.provider(), InstantModel.TARGET.modelId())
                          .input(RESERVED)
                          .output(Money.of("0.000002", "USD"))
                          .pricing(Pricing.of("bench", "USD"))
                          .build())
                  .build())
          .cacheAssumption(CacheAssumption.NONE)
          .build();
  final BudgetStore budget = BudgetStore.local(Money.of("9000000000", "USD"));
  final ReservationRule reservation = ReservationRule.fixed(RESERVED);

  /** Makes them. */
  public Controls() {}

  /**
   * Puts all of them into a gateway.
   *
   * @param gateway which
   * @return the same
   */
  public Gateway.Builder switchOn(Gateway.Builder gateway) {
    return gateway
        .circuitBreaker(circuit)
        .admission(concurrencyAndRate)
        .metrics(metrics)
        .costAccounting(accounting)
        .budget(budget, reservation);
  }
}
