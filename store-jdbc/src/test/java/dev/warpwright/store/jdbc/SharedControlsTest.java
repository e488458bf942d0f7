package dev.warpwright.store.jdbc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.Gateway;
import dev.warpwright.GenerateRequest;
import dev.warpwright.contract.Together;
import dev.warpwright.control.Admission;
import dev.warpwright.control.AdmissionPolicy;
import dev.warpwright.control.AdmissionRequest;
import dev.warpwright.control.BudgetSnapshot;
import dev.warpwright.control.BudgetStore;
import dev.warpwright.control.ReservationRule;
import dev.warpwright.cost.CacheAssumption;
import dev.warpwright.cost.CatalogEntry;
import dev.warpwright.cost.CostAccounting;
import dev.warpwright.cost.ModelCatalog;
import dev.warpwright.cost.Pricing;
import dev.warpwright.model.BudgetDeniedException;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.LanguageModel;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelCapabilities;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.Money;
import dev.warpwright.model.Route;
import dev.warpwright.model.Target;
import dev.warpwright.model.Usage;
import dev.warpwright.run.RunScope;
import dev.warpwright.task.Deadline;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Two gateways, as of two processes, under one budget and one admission in a database. */
@Timeout(120)
final class SharedControlsTest {
  private static final String SCOPE = "tenant/2026-01";
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final Target TARGET = Target.of("counted", "model");

  /** Counts its calls, all of them and those at the same time; each costs 0.02 dollars. */
  private static final class Counted implements LanguageModel {
    private final AtomicInteger calls = new AtomicInteger();
    private final AtomicInteger now = new AtomicInteger();
    private final AtomicInteger most = new AtomicInteger();

    @Override
    public ModelCapabilities capabilities() {
      return ModelCapabilities.TEXT_AND_TOOLS;
    }

    @Override
    public ModelResponse generate(ModelCall call) {
      most.accumulateAndGet(now.incrementAndGet(), Math::max);
      calls.incrementAndGet();
      Together.letOthersRun();
      now.decrementAndGet();
      return new ModelResponse(
          Message.assistant("Hello."),
          new FinishReason(FinishReason.Kind.STOP, "stop"),
          Usage.reported(10, 5),
          Optional.empty());
    }
  }

  private static Money usd(String amount) {
    return Money.of(amount, "USD");
  }

  private static CostAccounting accounting() {
    return CostAccounting.builder(
            ModelCatalog.builder("catalog-1")
                .entry(
                    CatalogEntry.builder("counted", "model")
                        .input(usd("1"))
                        .output(usd("2"))
                        .pricing(Pricing.of("prices-1", "USD"))
                        .build())
                .build())
        .cacheAssumption(CacheAssumption.NONE)
        .build();
  }

  private static Gateway gateway(Counted model, JdbcBudgetStore budget, JdbcAdmission admission) {
    return Gateway.builder()
        .adapter("counted", _ -> model)
        .costAccounting(accounting())
        .budget(budget, ReservationRule.fixed(usd("0.05")))
        .resourceTimeout(PATIENCE)
        .admission(admission)
        .build();
  }

  @Test
  @Tag("R317")
  @Tag("R325")
  @Tag("R329")
  void gateways_of_two_processes_spend_one_budget_and_no_more() throws Exception {
    String url = Databases.inMemory();
    AdmissionPolicy policy =
        AdmissionPolicy.builder(3).maxQueue(100).queueTimeout(PATIENCE).build();
    Counted model = new Counted();
    AtomicInteger denied = new AtomicInteger();
    BudgetSnapshot account;
    try (JdbcBudgetStore budget = Databases.budget(url, usd("0.30")).open();
        JdbcBudgetStore otherBudget = Databases.budget(url, usd("0.30")).open();
        JdbcAdmission admission = Databases.admission(url, policy).open();
        JdbcAdmission otherAdmission =
            Databases.admission(url, policy).poll(Duration.ofMillis(5)).open()) {
      try (Gateway one = gateway(model, budget, admission);
          Gateway other = gateway(model, otherBudget, otherAdmission)) {
        List<Gateway> two = List.of(one, other);
        GenerateRequest request =
            GenerateRequest.builder(Route.of(TARGET), "Hello.")
                .budgetScope(SCOPE)
                .timeout(PATIENCE)
                .build();
        var _ =
            Together.run(
                40,
                n -> {
                  try {
                    return two.get(n % 2).generate(request).text();
                  } catch (BudgetDeniedException e) {
                    denied.incrementAndGet();
                    return "";
                  }
                });
        assertTrue(one.flushControls(PATIENCE) && other.flushControls(PATIENCE));
        account = budget.snapshot(SCOPE);
      }
    }
    assertEquals(40, model.calls.get() + denied.get());
    assertTrue(model.calls.get() >= 6 && model.calls.get() <= 13, "calls: " + model.calls);
    assertTrue(model.most.get() <= 3, "at the same time: " + model.most);
    assertEquals(20_000_000L * model.calls.get(), account.spent().nanos());
    assertEquals(0, account.reserved().nanos());
    assertEquals(0, account.uncertain().nanos());
    Databases.assertNoThreadLeft();
  }

  @Test
  void budget_and_admission_stand_beside_a_run_store_in_one_file(@TempDir Path folder)
      throws Exception {
    String url = Databases.inFile(folder);
    for (int i = 1; i <= 2; i++) {
      try (JdbcRunStore runs = JdbcRunStore.open(url);
          JdbcBudgetStore budget = Databases.budget(url, usd("1")).open();
          JdbcAdmission admission =
              Databases.admission(url, AdmissionPolicy.builder(1).build()).open()) {
        assertInstanceOf(
            Admission.Admitted.class,
            admission.acquire(
                new AdmissionRequest(TARGET, OptionalLong.empty(), Deadline.never())));
        assertInstanceOf(BudgetStore.Decision.Reserved.class, budget.reserve(SCOPE, usd("0.4")));
        assertEquals(usd("0.4"), budget.snapshot(SCOPE).reserved());
        assertEquals(i == 1 ? usd("0") : usd("0.4"), budget.snapshot(SCOPE).uncertain());
        assertEquals(Optional.empty(), runs.find(RunScope.DEFAULT, "key", Deadline.never()));
      }
    }
  }
}
