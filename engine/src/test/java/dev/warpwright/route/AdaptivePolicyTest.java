package dev.warpwright.route;

import static dev.warpwright.route.Plans.X;
import static dev.warpwright.route.Plans.Y;
import static dev.warpwright.route.Plans.Z;
import static dev.warpwright.route.Plans.adapter;
import static dev.warpwright.route.Plans.catalog;
import static dev.warpwright.route.Plans.codes;
import static dev.warpwright.route.Plans.measured;
import static dev.warpwright.route.Plans.plan;
import static dev.warpwright.route.Plans.priced;
import static dev.warpwright.route.Plans.route;
import static dev.warpwright.route.Plans.text;
import static dev.warpwright.route.Plans.tried;
import static dev.warpwright.route.Plans.usd;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.cost.CatalogEntry;
import dev.warpwright.cost.CostAccounting;
import dev.warpwright.model.AdaptiveRecord;
import dev.warpwright.model.AdaptiveRecord.Affinity;
import dev.warpwright.model.AdaptiveRecord.Candidate;
import dev.warpwright.model.AdaptiveRecord.Quality;
import dev.warpwright.model.AdaptiveRecord.Signal;
import dev.warpwright.model.Attempt;
import dev.warpwright.model.Attempt.ReasonCode;
import dev.warpwright.model.Capability;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.ModelCapabilities;
import dev.warpwright.model.Money;
import dev.warpwright.model.RouteDecision;
import dev.warpwright.model.Target;
import dev.warpwright.model.TargetSignals;
import dev.warpwright.model.TaskIntent;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** How an adaptive policy orders and excludes. */
final class AdaptivePolicyTest {
  private static final Instant NOON = Instant.parse("2026-01-01T12:00:00Z");

  /** A policy that takes what it gets; the weights are the test's. */
  private static AdaptivePolicy.Builder lenient() {
    return AdaptivePolicy.builder("test-1")
        .latencyScale(Duration.ofSeconds(1))
        .costScale(usd("0.01"))
        .coldStart(MissingSignal.ALLOW)
        .unknownCost(MissingSignal.ALLOW)
        .missingQuality(MissingSignal.ALLOW);
  }

  private static RoutePlanner planner(AdaptivePolicy policy, CatalogEntry... priced) {
    RoutePlanner.Builder planner = RoutePlanner.builder(text("p")).adaptive(policy);
    if (priced.length > 0) {
      planner.accounting(CostAccounting.builder(catalog(priced)).build());
    }
    return planner.build();
  }

  /** 1000 tokens in all, so that the rate is the cost. */
  private static PlanRequest.Builder request(Target... targets) {
    return PlanRequest.builder(route(targets))
        .inputTokens(500)
        .expectedOutputTokens(OptionalInt.of(500));
  }

  private static RoutePlan plan1(
      RoutePlanner planner, Map<Target, TargetSignals> signals, Target... targets) {
    return planner.plan(request(targets).build(), known(signals), 1);
  }

  private static Function<Target, TargetSignals> known(Map<Target, TargetSignals> signals) {
    return target -> signals.getOrDefault(target, TargetSignals.NONE);
  }

  private static Candidate candidate(RoutePlan plan, Target target) {
    return plan.decision().adaptive().orElseThrow().candidate(target).orElseThrow();
  }

  @Test
  @Tag("R274")
  @Tag("R283")
  void the_score_is_the_weighted_sum_of_the_signals_in_units_of_their_scales() {
    AdaptivePolicy policy =
        lenient()
            .weight(Signal.QUALITY, 10)
            .weight(Signal.LATENCY, 2)
            .weight(Signal.COST, 3)
            .weight(Signal.LOAD, 0.5)
            .weight(Signal.ERROR_RATE, 4)
            .weight(Signal.THROUGHPUT, 7)
            .quality(new QualityProfile(X, TaskIntent.CHAT, 0.75, "eval-1"))
            .build();
    TargetSignals signals =
        new TargetSignals(
            Optional.of(Duration.ofMillis(1_500)),
            Optional.of(Duration.ofMillis(100)),
            Optional.of(3),
            3,
            1,
            Optional.of(50.0),
            Optional.empty());

    RoutePlan plan = plan1(planner(policy, priced(X, "0.02").build()), Map.of(X, signals), X);

    // 10·0.75 − 2·1.5 − 3·(0.02 ÷ 0.01) − 0.5·3 − 4·(1 ÷ 4) + 7·(50 ÷ 100)
    double score = 7.5 - 3 - 6 - 1.5 - 1 + 3.5;
    assertEquals(
        new AdaptiveRecord(
            "test-1",
            1,
            List.of(
                new Candidate(
                    X,
                    Optional.of(new Quality(0.75, "eval-1")),
                    Optional.of(usd("0.02")),
                    signals,
                    Optional.of(score),
                    List.of(),
                    List.of())),
            Optional.empty(),
            Optional.empty()),
        plan.decision().adaptive().orElseThrow());
    assertEquals(Map.of(X, score), plan.decision().scores());
    assertEquals(RouteDecision.ReasonCode.ROUTING_ADAPTIVE, plan.decision().reasonCode());
  }

  @ParameterizedTest
  @EnumSource(Signal.class)
  @Tag("R390")
  void a_signal_without_weight_is_not_looked_at(Signal only) {
    AdaptivePolicy policy =
        AdaptivePolicy.builder("strict")
            .latencyScale(Duration.ofSeconds(1))
            .costScale(usd("1"))
            .coldStart(MissingSignal.REJECT)
            .unknownCost(MissingSignal.REJECT)
            .missingQuality(MissingSignal.REJECT)
            .weight(only, 1)
            .build();

    RoutePlan plan = plan1(planner(policy), Map.of(), X);

    assertEquals(List.of(only), candidate(plan, X).missing());
    assertEquals(List.of(only.label() + "-unavailable"), candidate(plan, X).exclusions());
  }

  static Stream<Arguments> missing() {
    return Stream.of(
        Arguments.of(Signal.QUALITY, 0.0),
        Arguments.of(Signal.THROUGHPUT, 0.0),
        Arguments.of(Signal.LATENCY, -5.0),
        Arguments.of(Signal.COST, -5.0),
        Arguments.of(Signal.LOAD, -5.0),
        Arguments.of(Signal.ERROR_RATE, -5.0));
  }

  @ParameterizedTest
  @MethodSource("missing")
  @Tag("R275")
  void a_missing_signal_earns_nothing_or_takes_the_penalty(Signal signal, double score) {
    AdaptivePolicy policy = lenient().weight(signal, 2).missingSignalPenalty(2.5).build();

    RoutePlan plan = plan1(planner(policy), Map.of(), X);

    assertEquals(Optional.of(score), candidate(plan, X).score());
    assertEquals(List.of(signal), candidate(plan, X).missing());
    assertEquals(List.of(X), tried(plan));
  }

  @Test
  @Tag("R275")
  void a_measured_zero_is_better_than_nothing_measured() {
    AdaptivePolicy policy = lenient().weight(Signal.LATENCY, 1).weight(Signal.LOAD, 1).build();

    RoutePlan plan = plan1(planner(policy), Map.of(Y, measured(Duration.ZERO, 0, 1, 0)), X, Y);

    assertEquals(List.of(Y, X), tried(plan));
    assertEquals(Optional.of(0.0), candidate(plan, Y).score());
    assertEquals(Optional.of(-2.0), candidate(plan, X).score());
  }

  @Test
  @Tag("C22")
  @Tag("R279")
  void time_to_first_text_and_total_latency_give_different_scores() {
    TargetSignals signals =
        new TargetSignals(
            Optional.of(Duration.ofSeconds(3)),
            Optional.of(Duration.ofMillis(250)),
            Optional.of(0),
            1,
            0,
            Optional.empty(),
            Optional.empty());
    AdaptivePolicy.Builder byLatency = lenient().weight(Signal.LATENCY, 1);

    RoutePlan total = plan1(planner(byLatency.build()), Map.of(X, signals), X, Y);
    RoutePlan ttft =
        plan1(
            planner(byLatency.latencyMetric(LatencyMetric.TTFT).build()), Map.of(X, signals), X, Y);

    assertEquals(Optional.of(-3.0), candidate(total, X).score());
    assertEquals(List.of(Y, X), tried(total));
    assertEquals(Optional.of(-0.25), candidate(ttft, X).score());
    assertEquals(List.of(X, Y), tried(ttft));
    assertEquals(Optional.of(-1.0), candidate(ttft, Y).score(), "the cold target");
  }

  @Test
  @Tag("R277")
  @Tag("R280")
  void too_few_or_expired_samples_are_no_evidence_of_health_but_load_is_known() {
    AdaptivePolicy policy =
        lenient()
            .weight(Signal.LATENCY, 1)
            .weight(Signal.ERROR_RATE, 1)
            .weight(Signal.LOAD, 1)
            .weight(Signal.THROUGHPUT, 1)
            .minSamples(3)
            .build();
    TargetSignals two = measured(Duration.ofSeconds(9), 0, 1, 1);
    TargetSignals three = measured(Duration.ofSeconds(9), 0, 2, 1);
    TargetSignals expired =
        new TargetSignals(
            Optional.empty(),
            Optional.empty(),
            Optional.of(2),
            0,
            0,
            Optional.empty(),
            Optional.empty());

    RoutePlan plan = plan1(planner(policy), Map.of(X, two, Y, three, Z, expired), X, Y, Z);

    List<Signal> health = List.of(Signal.LATENCY, Signal.ERROR_RATE, Signal.THROUGHPUT);
    assertEquals(health, candidate(plan, X).missing());
    assertEquals(Optional.of(-2.0), candidate(plan, X).score());
    assertEquals(List.of(Signal.THROUGHPUT), candidate(plan, Y).missing());
    assertEquals(Optional.of(-9 - 1 / 3.0), candidate(plan, Y).score());
    assertEquals(health, candidate(plan, Z).missing());
    assertEquals(Optional.of(-4.0), candidate(plan, Z).score());
  }

  static Stream<Arguments> rejections() {
    return Stream.of(
        Arguments.of(Signal.QUALITY, "missingQuality"),
        Arguments.of(Signal.COST, "unknownCost"),
        Arguments.of(Signal.LATENCY, "coldStart"),
        Arguments.of(Signal.LOAD, "coldStart"),
        Arguments.of(Signal.ERROR_RATE, "coldStart"),
        Arguments.of(Signal.THROUGHPUT, "coldStart"));
  }

  @ParameterizedTest
  @MethodSource("rejections")
  @Tag("R276")
  @Tag("R284")
  void a_missing_signal_excludes_where_its_rule_says_reject(Signal signal, String rule) {
    for (String rejecting : List.of("missingQuality", "unknownCost", "coldStart")) {
      AdaptivePolicy.Builder policy = lenient().weight(signal, 1);
      switch (rejecting) {
        case "missingQuality" -> policy.missingQuality(MissingSignal.REJECT);
        case "unknownCost" -> policy.unknownCost(MissingSignal.REJECT);
        default -> policy.coldStart(MissingSignal.REJECT);
      }

      RoutePlan plan = plan1(planner(policy.build()), Map.of(), X, Y);

      if (rejecting.equals(rule)) {
        assertEquals(List.of(), tried(plan));
        assertEquals(
            List.of(ReasonCode.ADAPTIVE_EXCLUSION, ReasonCode.ADAPTIVE_EXCLUSION), codes(plan));
        Attempt skip = plan.skips().get(1);
        assertEquals("Adaptive exclusion: " + signal.label() + "-unavailable.", skip.message());
        assertEquals(1, skip.targetRank());
        assertEquals(Duration.ZERO, skip.latency());
        assertEquals(Optional.empty(), candidate(plan, X).score());
      } else {
        assertEquals(List.of(X, Y), tried(plan));
      }
    }
  }

  @Test
  @Tag("R276")
  void a_cost_in_another_currency_is_not_known() {
    AdaptivePolicy policy =
        lenient()
            .weight(Signal.COST, 1)
            .costScale(Money.of("0.01", "EUR"))
            .unknownCost(MissingSignal.REJECT)
            .build();

    RoutePlan plan = plan1(planner(policy, priced(X, "0.02").build()), Map.of(), X);

    assertEquals(List.of("cost-unavailable"), candidate(plan, X).exclusions());
  }

  @Test
  @Tag("R278")
  void the_quality_floor_excludes_what_is_below_it_or_has_no_profile() {
    AdaptivePolicy policy =
        lenient()
            .weight(Signal.LOAD, 1)
            .minQuality(0.5)
            .quality(new QualityProfile(X, TaskIntent.CHAT, 0.49, "1"))
            .quality(new QualityProfile(Y, TaskIntent.CHAT, 0.5, "1"))
            .quality(new QualityProfile(Z, TaskIntent.REASONING, 1, "1"))
            .build();

    RoutePlan plan = plan1(planner(policy), Map.of(), X, Y, Z);

    assertEquals(List.of(Y), tried(plan));
    assertEquals(List.of(Y, X, Z), plan.decision().orderedTargets());
    assertEquals(List.of("quality-floor"), candidate(plan, X).exclusions());
    assertEquals(List.of("quality-floor"), candidate(plan, Z).exclusions());
    assertEquals("Adaptive exclusion: quality-floor.", plan.skips().getFirst().message());
  }

  @Test
  @Tag("R273")
  @Tag("R368")
  void a_profile_is_that_of_one_deployment_and_intent() {
    Target east = new Target("p", "x", Optional.of("east"));
    AdaptivePolicy policy =
        lenient()
            .weight(Signal.QUALITY, 1)
            .quality(new QualityProfile(X, TaskIntent.CHAT, 0.1, "a"))
            .quality(new QualityProfile(X, TaskIntent.REASONING, 0.2, "b"))
            .quality(new QualityProfile(east, TaskIntent.CHAT, 0.3, "c"))
            .build();
    RoutePlanner planner =
        RoutePlanner.builder(text("p"))
            .deployment("east", new Deployment("p", adapter(ModelCapabilities.TEXT)))
            .adaptive(policy)
            .build();

    RoutePlan chat = plan(planner, request(X, east).build());
    RoutePlan reasoning = plan(planner, request(X, east).intent(TaskIntent.REASONING).build());

    assertEquals(List.of(east, X), tried(chat));
    assertEquals(Optional.of(new Quality(0.3, "c")), candidate(chat, east).quality());
    assertEquals(List.of(X, east), tried(reasoning));
    assertEquals(Optional.of(new Quality(0.2, "b")), candidate(reasoning, X).quality());
    assertEquals(List.of(Signal.QUALITY), candidate(reasoning, east).missing());
  }

  @Test
  @Tag("R281")
  @Tag("R66")
  void what_cannot_serve_is_filtered_before_the_order_and_stands_last() {
    ModelCapabilities vision = ModelCapabilities.of(Capability.VISION);
    RoutePlanner planner =
        RoutePlanner.builder(
                Map.of(
                    "p",
                    adapter(
                        Map.of(
                            "x", vision, "y", ModelCapabilities.TEXT, "z", vision, "w", vision))))
            .adaptive(lenient().weight(Signal.LOAD, 1).build())
            .build();
    Target w = Target.of("p", "w");
    List<Target> asked = new ArrayList<>();
    Map<Target, TargetSignals> signals =
        Map.of(
            X, measured(Duration.ZERO, 5, 1, 0),
            Y, measured(Duration.ZERO, 0, 1, 0),
            Z, open(measured(Duration.ZERO, 0, 1, 0), NOON),
            w, measured(Duration.ZERO, 1, 1, 0));

    RoutePlan plan =
        planner.plan(
            request(X, Y, Z, w).needs(Set.of(Capability.VISION)).build(),
            target -> {
              asked.add(target);
              return known(signals).apply(target);
            },
            1);

    assertEquals(List.of(X, Z, w), asked, "once for each target that passed the checks");
    assertEquals(List.of(w, X, Y, Z), plan.decision().orderedTargets());
    assertEquals(List.of(w, X), tried(plan));
    assertEquals(List.of(0, 1), plan.candidates().stream().map(RoutePlan.Candidate::rank).toList());
    assertEquals(List.of(ReasonCode.MODEL_CAPABILITIES, ReasonCode.CIRCUIT_OPEN), codes(plan));
    assertEquals(List.of(2, 3), plan.skips().stream().map(Attempt::targetRank).toList());
    assertEquals(Optional.empty(), plan.decision().adaptive().orElseThrow().candidate(Y));
  }

  private static TargetSignals open(TargetSignals signals, Instant until) {
    return new TargetSignals(
        signals.p95Latency(),
        signals.p95TimeToFirstText(),
        signals.inFlight(),
        signals.successes(),
        signals.errors(),
        signals.tokensPerSecond(),
        Optional.of(until));
  }

  @Test
  @Tag("R262")
  @Tag("R58")
  void if_only_circuits_keep_targets_out_the_plan_says_when_the_first_may_return() {
    AdaptivePolicy policy =
        lenient()
            .weight(Signal.LOAD, 1)
            .minQuality(0.5)
            .quality(new QualityProfile(X, TaskIntent.CHAT, 1, "1"))
            .quality(new QualityProfile(Y, TaskIntent.CHAT, 1, "1"))
            .build();
    Map<Target, TargetSignals> signals =
        Map.of(
            X, open(TargetSignals.NONE, NOON.plusSeconds(20)),
            Y, open(TargetSignals.NONE, NOON.plusSeconds(10)),
            Z, open(TargetSignals.NONE, NOON));

    RoutePlan plan = plan1(planner(policy), signals, X, Y, Z);

    assertEquals(List.of(), tried(plan));
    assertEquals(
        List.of(ReasonCode.CIRCUIT_OPEN, ReasonCode.CIRCUIT_OPEN, ReasonCode.ADAPTIVE_EXCLUSION),
        codes(plan));
    assertEquals(Optional.of(NOON.plusSeconds(10)), plan.earliestReturn());
    assertEquals(
        "The circuit lets no call through until 2026-01-01T12:00:20Z at the earliest.",
        plan.skips().getFirst().message());
    assertEquals(
        Optional.empty(),
        plan1(planner(policy), Map.of(Z, signals.get(Z)), Z).earliestReturn(),
        "an excluded target is no reason to wait");
  }

  @Test
  @Tag("R282")
  void equal_scores_keep_the_order_of_the_request() {
    AdaptivePolicy policy = lenient().weight(Signal.LOAD, 1).build();
    Map<Target, TargetSignals> signals =
        Map.of(
            X, measured(Duration.ZERO, 1, 1, 0),
            Y, measured(Duration.ofDays(1), 1, 1, 0),
            Z, measured(Duration.ZERO, 0, 1, 0));

    assertEquals(List.of(Z, X, Y), tried(plan1(planner(policy), signals, X, Y, Z)));
    assertEquals(List.of(Z, Y, X), tried(plan1(planner(policy), signals, Y, X, Z)));
  }

  @Test
  @Tag("C28")
  @Tag("R285")
  void every_n_th_operation_explores_the_next_cold_target() {
    AdaptivePolicy policy = lenient().weight(Signal.LOAD, 1).explorationEvery(2).build();
    RoutePlanner planner = planner(policy);
    Map<Target, TargetSignals> signals = Map.of(X, measured(Duration.ZERO, 0, 1, 0));

    List<Target> first = new ArrayList<>();
    for (long operation = 1; operation <= 8; operation++) {
      RoutePlan plan = planner.plan(request(X, Y, Z).build(), known(signals), operation);
      AdaptiveRecord record = plan.decision().adaptive().orElseThrow();
      assertEquals(operation % 2 == 0, record.exploration().isPresent());
      assertEquals(operation, record.operation());
      first.add(tried(plan).getFirst());
    }

    assertEquals(List.of(X, Y, X, Z, X, Y, X, Z), first);
  }

  @Test
  @Tag("R285")
  void exploration_passes_by_no_exclusion() {
    AdaptivePolicy policy =
        lenient()
            .weight(Signal.COST, 1)
            .unknownCost(MissingSignal.REJECT)
            .minQuality(0.5)
            .explorationEvery(2)
            .quality(new QualityProfile(X, TaskIntent.CHAT, 1, "1"))
            .quality(new QualityProfile(Y, TaskIntent.CHAT, 0, "1"))
            .quality(new QualityProfile(Z, TaskIntent.CHAT, 1, "1"))
            .build();
    Target unpriced = Target.of("p", "unpriced");
    Target nobody = Target.of("nobody", "x");
    RoutePlanner planner =
        planner(policy, priced(X, "1").build(), priced(Y, "1").build(), priced(Z, "1").build());

    RoutePlan plan =
        planner.plan(
            request(nobody, Y, Z, unpriced, X).build(),
            known(Map.of(X, measured(Duration.ZERO, 0, 1, 0), Z, open(TargetSignals.NONE, NOON))),
            2);

    assertEquals(Optional.empty(), plan.decision().adaptive().orElseThrow().exploration());
    assertEquals(List.of(X), tried(plan));
  }

  @Test
  @Tag("R293")
  @Tag("R283")
  void the_target_that_served_before_goes_first_if_its_score_is_good_enough() {
    RoutePlanner planner = planner(lenient().weight(Signal.LOAD, 1).build());
    Map<Target, TargetSignals> signals =
        Map.of(
            X, measured(Duration.ZERO, 0, 1, 0),
            Y, measured(Duration.ZERO, 2, 1, 0),
            Z, measured(Duration.ZERO, 0, 1, 0));

    RoutePlan kept = planner.plan(request(X, Y, Z).affinity(Y, 2).build(), known(signals), 1);
    RoutePlan tooBad = planner.plan(request(X, Y, Z).affinity(Y, 1.99).build(), known(signals), 1);
    RoutePlan tie = planner.plan(request(X, Y, Z).affinity(Z, 0).build(), known(signals), 1);
    RoutePlan gone = planner.plan(request(X, Z).affinity(Y, 100).build(), known(signals), 1);

    assertEquals(List.of(Y, X, Z), tried(kept));
    assertEquals(
        Optional.of(new Affinity(Y, 2, true)), kept.decision().adaptive().get().affinity());
    assertEquals(List.of(X, Z, Y), tried(tooBad));
    assertEquals(
        Optional.of(new Affinity(Y, 1.99, false)), tooBad.decision().adaptive().get().affinity());
    assertEquals(List.of(Z, X, Y), tried(tie));
    assertEquals(List.of(X, Z), tried(gone));
  }

  @Test
  @Tag("R293")
  void a_target_that_may_not_be_tried_is_not_kept() {
    RoutePlanner planner = planner(lenient().weight(Signal.LOAD, 1).build());

    RoutePlan plan =
        planner.plan(
            request(X, Y).affinity(Y, 100).build(),
            known(Map.of(Y, open(TargetSignals.NONE, NOON))),
            1);

    assertEquals(List.of(X), tried(plan));
    assertEquals(
        Optional.of(new Affinity(Y, 100, false)), plan.decision().adaptive().get().affinity());
  }

  @Test
  @Tag("R295")
  void exploration_goes_before_affinity() {
    RoutePlanner planner = planner(lenient().weight(Signal.LOAD, 1).explorationEvery(2).build());
    Map<Target, TargetSignals> signals =
        Map.of(
            X, measured(Duration.ZERO, 0, 1, 0),
            Y, measured(Duration.ZERO, 0, 1, 0));
    PlanRequest request = request(X, Y, Z).affinity(Y, 9).build();

    assertEquals(List.of(Y, X, Z), tried(planner.plan(request, known(signals), 1)));
    RoutePlan explores = planner.plan(request, known(signals), 2);
    assertEquals(List.of(Z, X, Y), tried(explores));
    assertEquals(
        Optional.of(new Affinity(Y, 9, false)), explores.decision().adaptive().get().affinity());
  }

  static Stream<Arguments> presets() {
    return Stream.of(
        Arguments.of("interactive", AdaptivePolicy.interactive("USD"), 2, 1, 0, true),
        Arguments.of("economy", AdaptivePolicy.economy("USD"), 0.25, 3, 1, false),
        Arguments.of("quality", AdaptivePolicy.quality("USD"), 0.25, 0.25, 3, false));
  }

  @ParameterizedTest
  @MethodSource("presets")
  @Tag("R286")
  void a_preset_has_its_weights(
      String name,
      AdaptivePolicy.Builder preset,
      double latency,
      double cost,
      double quality,
      boolean ttft) {
    AdaptivePolicy policy =
        preset.quality(new QualityProfile(X, TaskIntent.CHAT, 0.5, "1")).build();
    assertEquals("warpwright-" + name + "-v1", policy.version());
    TargetSignals signals =
        new TargetSignals(
            Optional.of(Duration.ofSeconds(4)),
            Optional.of(Duration.ofSeconds(2)),
            Optional.of(7),
            3,
            2,
            Optional.of(1e6),
            Optional.empty());
    RoutePlanner planner = planner(policy, priced(X, "0.05").build());

    RoutePlan plan = planner.plan(request(X).build(), known(Map.of(X, signals)), 20);

    double expected = 0.5 * quality - latency * (ttft ? 2 : 4) - cost * 5 - 7 - 3 * 0.4;
    assertEquals(expected, candidate(plan, X).score().orElseThrow(), 1e-9);
    AdaptiveRecord record = plan.decision().adaptive().orElseThrow();
    assertEquals(Optional.empty(), record.exploration(), "five samples are enough");
    RoutePlan cold =
        planner.plan(request(X).build(), known(Map.of(X, measured(Duration.ZERO, 0, 4, 0))), 20);
    assertEquals(
        Optional.of(X), cold.decision().adaptive().orElseThrow().exploration(), "four are not");
    assertEquals(
        List.of("cost-unavailable"),
        candidate(plan1(planner(policy), Map.of(X, signals), X), X).exclusions());
  }

  @Test
  @Tag("R286")
  @Tag("R390")
  void every_value_of_a_preset_can_be_overridden() {
    AdaptivePolicy policy =
        AdaptivePolicy.economy("USD")
            .version("mine-1")
            .weight(Signal.LATENCY, 1)
            .weight(Signal.COST, 0)
            .weight(Signal.QUALITY, 0)
            .weight(Signal.LOAD, 0)
            .weight(Signal.ERROR_RATE, 0)
            .latencyScale(Duration.ofSeconds(10))
            .costScale(usd("5"))
            .latencyMetric(LatencyMetric.TTFT)
            .minSamples(2)
            .coldStart(MissingSignal.REJECT)
            .unknownCost(MissingSignal.ALLOW)
            .missingQuality(MissingSignal.ALLOW)
            .noExploration()
            .build();
    TargetSignals signals =
        new TargetSignals(
            Optional.empty(),
            Optional.of(Duration.ofSeconds(5)),
            Optional.empty(),
            2,
            0,
            Optional.empty(),
            Optional.empty());

    RoutePlan plan = planner(policy).plan(request(X, Y).build(), known(Map.of(X, signals)), 20);

    assertEquals("mine-1", plan.decision().adaptive().orElseThrow().policyVersion());
    assertEquals(Optional.of(-0.5), candidate(plan, X).score());
    assertEquals(List.of("latency-unavailable"), candidate(plan, Y).exclusions());
  }

  @Test
  @Tag("C49")
  @Tag("R287")
  @Tag("R390")
  void interactive_needs_no_quality_profiles_and_economy_and_quality_do() {
    CatalogEntry[] entries = {priced(X, "1").build(), priced(Y, "2").build()};

    assertEquals(
        List.of(X, Y),
        tried(plan1(planner(AdaptivePolicy.interactive("USD").build(), entries), Map.of(), X, Y)));
    for (AdaptivePolicy.Builder preset :
        List.of(AdaptivePolicy.economy("USD"), AdaptivePolicy.quality("USD"))) {
      RoutePlan plan = plan1(planner(preset.build(), entries), Map.of(), X, Y);

      assertEquals(List.of(), tried(plan));
      assertEquals(
          List.of(
              "Adaptive exclusion: quality-unavailable.",
              "Adaptive exclusion: quality-unavailable."),
          plan.skips().stream().map(Attempt::message).toList());
    }
  }

  @Test
  @Tag("R288")
  void a_score_that_is_not_finite_is_refused() {
    AdaptivePolicy policy =
        lenient().weight(Signal.LATENCY, Double.MAX_VALUE).missingSignalPenalty(1e9).build();

    InvalidRequestException refusal =
        assertThrows(InvalidRequestException.class, () -> plan1(planner(policy), Map.of(), X));

    assertTrue(refusal.getMessage().contains("-Infinity"), refusal.getMessage());
  }

  static Stream<Arguments> outOfBounds() {
    return Stream.of(
        refused("weight", p -> p.weight(Signal.LOAD, -0.1)),
        refused("weight", p -> p.weight(Signal.LOAD, Double.NaN)),
        refused("weight", p -> p.weight(Signal.LOAD, Double.POSITIVE_INFINITY)),
        refused("weight", p -> p.weight(Signal.LOAD, 0).build()),
        refused("version", p -> p.version(" ").build()),
        refused("latencyScale", p -> p.latencyScale(Duration.ZERO)),
        refused("latencyScale", p -> p.latencyScale(Duration.ofNanos(-1))),
        refused("costScale", p -> p.costScale(usd("0"))),
        refused("costScale", p -> p.costScale(usd("-1"))),
        refused("throughputScale", p -> p.throughputScale(0)),
        refused("throughputScale", p -> p.throughputScale(Double.POSITIVE_INFINITY)),
        refused("throughputScale", p -> p.throughputScale(Double.NaN)),
        refused("missingSignalPenalty", p -> p.missingSignalPenalty(0.99)),
        refused("missingSignalPenalty", p -> p.missingSignalPenalty(Double.NaN)),
        refused("minSamples", p -> p.minSamples(0)),
        refused("minQuality", p -> p.minQuality(-0.01)),
        refused("minQuality", p -> p.minQuality(1.01)),
        refused("minQuality", p -> p.minQuality(Double.NaN)),
        refused("explorationEvery", p -> p.explorationEvery(1)),
        refused("latencyScale", p -> AdaptivePolicy.builder("1").weight(Signal.LOAD, 1).build()),
        refused("weight", p -> AdaptivePolicy.builder("1").build()),
        refused(
            "two for CHAT",
            p ->
                p.quality(new QualityProfile(X, TaskIntent.CHAT, 0, "1"))
                    .quality(new QualityProfile(X, TaskIntent.CHAT, 1, "2"))),
        refused("score", p -> new QualityProfile(X, TaskIntent.CHAT, 1.01, "1")),
        refused("score", p -> new QualityProfile(X, TaskIntent.CHAT, -0.01, "1")),
        refused("score", p -> new QualityProfile(X, TaskIntent.CHAT, Double.NaN, "1")),
        refused("evaluationVersion", p -> new QualityProfile(X, TaskIntent.CHAT, 1, " ")));
  }

  private static Arguments refused(String what, Consumer<AdaptivePolicy.Builder> change) {
    return Arguments.of(what, change);
  }

  @ParameterizedTest
  @MethodSource("outOfBounds")
  @Tag("R272")
  @Tag("R273")
  @Tag("R285")
  void a_value_out_of_its_bounds_is_refused(String what, Consumer<AdaptivePolicy.Builder> change) {
    AdaptivePolicy.Builder policy = lenient().weight(Signal.LOAD, 1);

    InvalidRequestException refusal =
        assertThrows(InvalidRequestException.class, () -> change.accept(policy));

    assertTrue(refusal.getMessage().contains(what), refusal.getMessage());
  }

  @Test
  @Tag("R272")
  void what_is_done_about_missing_signals_must_be_said() {
    AdaptivePolicy.Builder policy =
        AdaptivePolicy.builder("1")
            .weight(Signal.LOAD, 1)
            .latencyScale(Duration.ofSeconds(1))
            .costScale(usd("1"));

    for (String next : List.of("coldStart", "unknownCost", "missingQuality")) {
      InvalidRequestException refusal = assertThrows(InvalidRequestException.class, policy::build);
      assertTrue(refusal.getMessage().startsWith(next), refusal.getMessage());
      switch (next) {
        case "coldStart" -> policy.coldStart(MissingSignal.ALLOW);
        case "unknownCost" -> policy.unknownCost(MissingSignal.ALLOW);
        default -> policy.missingQuality(MissingSignal.ALLOW);
      }
    }
    assertEquals("1", policy.build().version());
  }

  @Test
  @Tag("R289")
  void a_record_can_be_scored_by_another_policy() {
    AdaptivePolicy byLoad = lenient().weight(Signal.LOAD, 1).build();
    AdaptivePolicy byErrors = lenient().version("other").weight(Signal.ERROR_RATE, 1).build();
    Map<Target, TargetSignals> signals =
        Map.of(X, measured(Duration.ZERO, 0, 0, 9), Y, measured(Duration.ZERO, 9, 9, 0));
    AdaptiveRecord record =
        plan1(planner(byLoad), signals, X, Y).decision().adaptive().orElseThrow();

    assertEquals(record, byLoad.score(record));
    assertEquals(List.of(X, Y), record.order());
    assertEquals(List.of(Y, X), byErrors.score(record).order());
    assertEquals("other", byErrors.score(record).policyVersion());
  }

  @Test
  void a_plan_explains_itself() {
    AdaptivePolicy policy =
        AdaptivePolicy.economy("USD")
            .quality(new QualityProfile(X, TaskIntent.CHAT, 0.5, "eval-1"))
            .build();
    RoutePlan plan =
        planner(policy, priced(X, "0.01").build(), priced(Y, "0.01").build())
            .plan(
                request(Y, X).affinity(X, 1).build(),
                known(Map.of(X, measured(Duration.ofMillis(800), 2, 9, 1))),
                3);

    assertEquals(
        """
        ROUTING_ADAPTIVE: The targets are tried in the order of the adaptive policy's scores.
          no mode asked for, intent CHAT, policy warpwright-economy-v1, operation 3
          rank 0: p/x: score -5.0; estimated cost 0.01 USD; quality 0.5 by eval-1; p95 latency 800 ms; 2 in flight; 1 of 10 failed; goes first as it served this before (affinity)
          rank 1: p/y: estimated cost 0.01 USD; not known: quality, latency, load, errorRate; excluded: quality-unavailable; step 1 ADAPTIVE_EXCLUSION, Adaptive exclusion: quality-unavailable.
        """,
        plan.describe());
  }
}
