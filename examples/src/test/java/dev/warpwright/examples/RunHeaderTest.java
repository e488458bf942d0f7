package dev.warpwright.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.warpwright.cost.CacheAssumption;
import dev.warpwright.cost.CatalogEntry;
import dev.warpwright.cost.CostAccounting;
import dev.warpwright.cost.ModelCatalog;
import dev.warpwright.cost.Pricing;
import dev.warpwright.model.Attempt;
import dev.warpwright.model.CostValuation;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.Message;
import dev.warpwright.model.Money;
import dev.warpwright.model.Target;
import dev.warpwright.model.Usage;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.RunEvent;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunState;
import dev.warpwright.run.Writer;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class RunHeaderTest {
  private static final Target TARGET = Target.of("one", "model");

  private static RunState answered(Optional<CostValuation> cost) {
    Usage usage = Usage.reported(10, 5);
    Attempt made =
        new Attempt(
            1,
            TARGET,
            Attempt.ReasonCode.PROVIDER_SUCCESS,
            0,
            0,
            Duration.ofMillis(1),
            Optional.empty(),
            "",
            Optional.empty(),
            0,
            Optional.empty(),
            Optional.of(usage),
            cost,
            false);
    List<RunEvent> events =
        List.of(
            new RunEvent.RunStarted(
                "triage",
                "1",
                Map.of(),
                Optional.empty(),
                List.of(Message.user("Hello.")),
                10,
                List.of(TARGET),
                Map.of()),
            new RunEvent.StepStarted(1, 1),
            new RunEvent.ModelResponded(
                1,
                TARGET,
                Message.assistant("Done."),
                new FinishReason(FinishReason.Kind.STOP, "stop"),
                usage,
                List.of(made)));
    List<LoggedEvent> log = new ArrayList<>();
    for (RunEvent event : events) {
      log.add(
          new LoggedEvent(
              new RunKey(RunScope.DEFAULT, "run-1"),
              log.size() + 1L,
              new Writer("test", 1),
              Instant.EPOCH,
              event));
    }
    return RunState.of(log);
  }

  private static CostValuation valued(CacheAssumption assumption) {
    Money one = Money.of("1", "USD");
    CostAccounting accounting =
        CostAccounting.builder(
                ModelCatalog.builder("catalog")
                    .entry(
                        CatalogEntry.builder("one", "model")
                            .input(one)
                            .output(one)
                            .pricing(Pricing.of("prices", "USD"))
                            .build())
                    .build())
            .cacheAssumption(assumption)
            .build();
    return accounting.value(TARGET, Usage.reported(10, 5), Optional.empty());
  }

  private static List<String> costLines(RunState state) {
    return RunHeader.lines(state).stream().filter(line -> line.startsWith("Cost")).toList();
  }

  @Test
  void theCostOfARunIsShownIfThereIsOne() {
    assertEquals(List.of(), costLines(answered(Optional.empty())));
    assertEquals(
        List.of("Cost     0.015 USD, estimated"),
        costLines(answered(Optional.of(valued(CacheAssumption.NONE)))));
    assertEquals(
        List.of("Cost     unknown: missing-cached-input-tokens, missing-cache-write-tokens"),
        costLines(answered(Optional.of(valued(CacheAssumption.UNKNOWN)))));
  }
}
