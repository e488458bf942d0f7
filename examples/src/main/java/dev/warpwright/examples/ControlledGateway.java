package dev.warpwright.examples;

import dev.warpwright.Gateway;
import dev.warpwright.GenerateRequest;
import dev.warpwright.GenerateResult;
import dev.warpwright.adapters.scripted.ScriptedAnswer;
import dev.warpwright.adapters.scripted.ScriptedModel;
import dev.warpwright.control.AdmissionController;
import dev.warpwright.control.AdmissionPolicy;
import dev.warpwright.control.BudgetSnapshot;
import dev.warpwright.control.BudgetStore;
import dev.warpwright.control.CachePolicy;
import dev.warpwright.control.CircuitBreaker;
import dev.warpwright.control.CircuitPolicy;
import dev.warpwright.control.ReservationRule;
import dev.warpwright.control.ResponseCache;
import dev.warpwright.control.RetryPolicy;
import dev.warpwright.control.TargetMetrics;
import dev.warpwright.cost.CacheAssumption;
import dev.warpwright.cost.CatalogEntry;
import dev.warpwright.cost.CostAccounting;
import dev.warpwright.cost.ModelCatalog;
import dev.warpwright.cost.PriceCeiling;
import dev.warpwright.cost.Pricing;
import dev.warpwright.model.Money;
import dev.warpwright.model.OperationTrace;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.Route;
import dev.warpwright.model.RoutingMode;
import dev.warpwright.model.Target;
import dev.warpwright.model.TaskIntent;
import dev.warpwright.model.WarpwrightException;
import dev.warpwright.route.AdaptivePolicy;
import dev.warpwright.route.QualityProfile;
import dev.warpwright.testing.ManualTime;
import java.io.PrintStream;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A gateway with every control on, over three scripted models, that explains what it does: which
 * target was chosen, which was skipped, and why.
 *
 * <p>The models answer in the process and time is moved by hand, so that the program prints the
 * same on every machine and calls nobody.
 */
final class ControlledGateway {
  private static final Target SMART = Target.of("smart", "large");
  private static final Target QUICK = Target.of("quick", "small");
  private static final Target LOCAL = Target.of("local", "tiny");
  private static final Route ROUTE = Route.of(SMART, QUICK, LOCAL);
  private static final String TENANT = "tenant-1";

  private final PrintStream out;
  private final ManualTime time = new ManualTime();
  private final AtomicBoolean smartIsDown = new AtomicBoolean();
  private final BudgetStore budgets = BudgetStore.local(usd("0.08"));

  private ControlledGateway(PrintStream out) {
    this.out = out;
  }

  static void main() {
    new ControlledGateway(System.out).run();
  }

  static void run(PrintStream out) {
    new ControlledGateway(out).run();
  }

  private static Money usd(String amount) {
    return Money.of(amount, "USD");
  }

  private Gateway gateway() {
    return Gateway.builder()
        .time(time)
        .adapter("smart", answering(Duration.ofMillis(900)))
        .adapter("quick", answering(Duration.ofMillis(150)))
        .adapter("local", answering(Duration.ofMillis(400)))
        .retry(new RetryPolicy(2, Duration.ZERO, 0)) // nobody moves the time during a wait
        .costAccounting(
            CostAccounting.builder(catalog()).cacheAssumption(CacheAssumption.NONE).build())
        .metrics(TargetMetrics.local(Duration.ofMinutes(5), 16, 64, time))
        .circuitBreaker(
            CircuitBreaker.local(
                CircuitPolicy.builder()
                    .failureThreshold(2)
                    .cooldown(Duration.ofSeconds(30))
                    .build(),
                time))
        .admission(
            AdmissionController.local(
                AdmissionPolicy.builder(8).requestsPerMinute(8).build(), time))
        .budget(budgets, ReservationRule.ceilingUpTo(usd("0.05")))
        .cache(CachePolicy.of(ResponseCache.inMemory(), "example-credentials"))
        .adaptive(
            AdaptivePolicy.interactive("USD")
                .quality(new QualityProfile(SMART, TaskIntent.REASONING, 0.9, "evals-2026-11"))
                .build())
        .build();
  }

  /** A model that takes its time on the clock of this program, and is down when it should be. */
  private ScriptedModel answering(Duration latency) {
    return ScriptedModel.answering(
        call -> {
          time.advance(latency);
          if (smartIsDown.get() && latency.toMillis() == 900) {
            throw ProviderException.builder(
                    ProviderException.Kind.HTTP_STATUS, "The request failed with status 503.")
                .status(503)
                .build();
          }
          return ScriptedAnswer.text("An answer.").withUsage(400, 200);
        });
  }

  private static ModelCatalog catalog() {
    return ModelCatalog.builder("example-1")
        .entry(entry(SMART, CatalogEntry.Tier.FLAGSHIP, "0.010", "0.030"))
        .entry(entry(QUICK, CatalogEntry.Tier.FAST, "0.001", "0.002"))
        .entry(entry(LOCAL, CatalogEntry.Tier.FAST, "0", "0"))
        .build();
  }

  private static CatalogEntry entry(
      Target target, CatalogEntry.Tier tier, String input, String output) {
    return CatalogEntry.builder(target.provider(), target.modelId())
        .tier(tier)
        .input(usd(input))
        .output(usd(output))
        .pricing(Pricing.of("example-prices-1", "USD"))
        .build();
  }

  private void run() {
    try (Gateway gateway = gateway()) {
      show(gateway, "In the order of the route", ask("one").routingMode(RoutingMode.ORDERED));
      show(
          gateway, "The same again: the cache has it", ask("one").routingMode(RoutingMode.ORDERED));
      show(gateway, "By policy, with little measured yet", ask("two"));
      show(
          gateway,
          "Nothing dearer than half a cent per 1000 tokens",
          ask("three")
              .routingMode(RoutingMode.ORDERED)
              .priceCeiling(PriceCeiling.of(usd("0.005"))));

      smartIsDown.set(true);
      show(
          gateway,
          "The primary is down: retried until its circuit opens, then the fallback",
          ask("four").routingMode(RoutingMode.ORDERED));
      show(
          gateway,
          "Its circuit is open now: nobody waits for it",
          ask("five").routingMode(RoutingMode.ORDERED));

      Route local = Route.of(LOCAL);
      for (int i = 1; i <= 7; i++) {
        gateway.generate(ask(local, "filler " + i).build());
      }
      show(gateway, "One call more than a target takes in a minute", ask(local, "seven"));
      show(
          gateway,
          "A dear question when the tenant's money runs out",
          ask(Route.of(QUICK), "eight ".repeat(4_000)).maxTokens(40_000));

      out.println("The account of " + TENANT + ": " + describe(budgets.snapshot(TENANT)));
      out.println("Left behind: " + gateway.diagnostics().abandonedTasks().size() + " tasks.");
    }
  }

  private static GenerateRequest.Builder ask(String question) {
    return ask(ROUTE, question);
  }

  private static GenerateRequest.Builder ask(Route route, String question) {
    return GenerateRequest.builder(route, question)
        .maxTokens(500)
        .cacheScope(TENANT)
        .budgetScope(TENANT);
  }

  private void show(Gateway gateway, String title, GenerateRequest.Builder request) {
    out.println("== " + title);
    try {
      GenerateResult result = gateway.generate(request.build());
      out.println(result.routeDecision().describe(result.attempts()).strip());
      out.println(
          "answered by %s, cost %s"
              .formatted(
                  result.targetUsed(),
                  result
                      .cost()
                      .flatMap(total -> total.amount())
                      .map(Money::toString)
                      .orElse("unknown")));
    } catch (WarpwrightException e) {
      OperationTrace trace = e.trace();
      trace.decision().ifPresent(made -> out.println(made.describe(trace.attempts()).strip()));
      out.println(e.kind() + ": " + e.getMessage());
    }
    out.println();
  }

  private static String describe(BudgetSnapshot account) {
    return "spent %s, uncertain %s, left %s."
        .formatted(account.spent(), account.uncertain(), account.remaining());
  }
}
