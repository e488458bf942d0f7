package dev.warpwright.bench;

import dev.warpwright.bench.report.Question;
import dev.warpwright.model.AdaptiveRecord.Signal;
import dev.warpwright.model.Money;
import dev.warpwright.model.Route;
import dev.warpwright.model.RoutingMode;
import dev.warpwright.model.Target;
import dev.warpwright.model.TargetSignals;
import dev.warpwright.route.AdaptivePolicy;
import dev.warpwright.route.MissingSignal;
import dev.warpwright.route.PlanRequest;
import dev.warpwright.route.RoutePlan;
import dev.warpwright.route.RoutePlanner;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.infra.Blackhole;

/**
 * What it costs to plan a route of {@value #TARGETS} targets, every one of them checked and put
 * into the decision. Baseline: going through the targets and looking each one's signals up.
 */
@Question(
    place = 10,
    value = "What does it cost to plan with 32 targets?",
    baseline = "targetsLookedAt")
public class PlanBenchmark extends Measured {
  private static final int TARGETS = 32;

  /** Who orders the targets. */
  public enum Order {
    /** The request. */
    REQUEST,
    /** A routing mode. */
    BALANCED,
    /** What was measured of each. */
    ADAPTIVE
  }

  /** Who orders the targets. */
  @Param public Order order = Order.REQUEST;

  private final Map<Target, TargetSignals> signals = new HashMap<>();
  private PlanRequest request = PlanRequest.builder(Route.of(InstantModel.TARGET)).build();
  private RoutePlanner planner = new RoutePlanner(Map.of());

  /** Makes route and planner. */
  @Setup
  public void prepare() {
    Target[] targets =
        IntStream.range(0, TARGETS)
            .mapToObj(n -> Target.of(InstantModel.TARGET.provider(), "model-" + n))
            .toArray(Target[]::new);
    for (int n = 0; n < TARGETS; n++) {
      signals.put(targets[n], measured(n));
    }
    Target[] fallbacks = new Target[TARGETS - 1];
    System.arraycopy(targets, 1, fallbacks, 0, fallbacks.length);
    PlanRequest.Builder asked =
        PlanRequest.builder(Route.of(targets[0], fallbacks)).inputTokens(1_000);
    RoutePlanner.Builder plans =
        RoutePlanner.builder(Map.of(InstantModel.TARGET.provider(), modelId -> InstantModel.HELLO));
    switch (order) {
      case REQUEST -> asked.mode(RoutingMode.ORDERED);
      case BALANCED -> asked.mode(RoutingMode.BALANCED);
      case ADAPTIVE -> plans.adaptive(policy());
    }
    request = asked.build();
    planner = plans.build();
  }

  private static TargetSignals measured(int number) {
    return new TargetSignals(
        Optional.of(Duration.ofMillis(300 + 7L * number)),
        Optional.of(Duration.ofMillis(90 + 5L * number)),
        Optional.of(number % 5),
        100,
        number % 3,
        Optional.of(50.0 + number),
        Optional.empty());
  }

  private static AdaptivePolicy policy() {
    return AdaptivePolicy.builder("bench")
        .weight(Signal.LATENCY, 1)
        .weight(Signal.LOAD, 1)
        .weight(Signal.ERROR_RATE, 1)
        .latencyScale(Duration.ofSeconds(1))
        .costScale(Money.of("0.01", "USD"))
        .coldStart(MissingSignal.ALLOW)
        .unknownCost(MissingSignal.ALLOW)
        .missingQuality(MissingSignal.ALLOW)
        .build();
  }

  private TargetSignals signals(Target target) {
    return signals.getOrDefault(target, TargetSignals.NONE);
  }

  /**
   * The targets looked at.
   *
   * @param hole takes their signals
   */
  @Benchmark
  public void targetsLookedAt(Blackhole hole) {
    for (Target target : request.route().candidates()) {
      hole.consume(signals(target));
    }
  }

  /**
   * The plan.
   *
   * @return the plan
   */
  @Benchmark
  public RoutePlan plan() {
    return planner.plan(request, this::signals, 1);
  }
}
