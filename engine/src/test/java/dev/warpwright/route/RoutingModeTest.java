package dev.warpwright.route;

import static dev.warpwright.route.Plans.X;
import static dev.warpwright.route.Plans.Y;
import static dev.warpwright.route.Plans.Z;
import static dev.warpwright.route.Plans.catalog;
import static dev.warpwright.route.Plans.plan;
import static dev.warpwright.route.Plans.route;
import static dev.warpwright.route.Plans.text;
import static dev.warpwright.route.Plans.tried;
import static dev.warpwright.route.Plans.usd;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.cost.CatalogEntry;
import dev.warpwright.cost.CatalogEntry.Tier;
import dev.warpwright.cost.ModelCatalog;
import dev.warpwright.cost.PriceList;
import dev.warpwright.model.AdaptiveRecord.Signal;
import dev.warpwright.model.Attempt.ReasonCode;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Money;
import dev.warpwright.model.RouteDecision;
import dev.warpwright.model.RoutingMode;
import dev.warpwright.model.Target;
import dev.warpwright.model.TaskIntent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** In which order targets stand. */
final class RoutingModeTest {
  private static PriceList prices(CatalogEntry... entries) {
    return new PriceList(Map.of(), Optional.of(catalog(entries)));
  }

  private static CatalogEntry entry(Target target, @Nullable Tier tier, @Nullable String price) {
    CatalogEntry.Builder entry = CatalogEntry.builder(target.provider(), target.modelId());
    if (tier != null) {
      entry.tier(tier);
    }
    if (price != null) {
      entry.costPer1kTokens(usd(price));
    }
    return entry.build();
  }

  private static PlanRequest asked(RoutingMode mode, TaskIntent intent, Target... targets) {
    return PlanRequest.builder(route(targets)).mode(mode).intent(intent).build();
  }

  private static PlanRequest asked(RoutingMode mode, Target... targets) {
    return asked(mode, TaskIntent.CHAT, targets);
  }

  @ParameterizedTest
  @CsvSource({
    "QUALITY, CHAT, FLAGSHIP, 0.25, 500, 1.75",
    "QUALITY, TOOL_HEAVY, FLAGSHIP, 0.25, 500, 1.75",
    "QUALITY, REASONING, FLAGSHIP, 0.25, 500, 3.75",
    "QUALITY, CHAT, STANDARD, 0.25, 500, -0.25",
    "QUALITY, CHAT, FAST, 0, 500, 0",
    "SPEED, CHAT, FAST, 7, 0, 2",
    "SPEED, CHAT, FAST, 7, 150, 0.5",
    "SPEED, REASONING, FLAGSHIP, 7, 150, -1.5",
    "SPEED, CHAT, STANDARD, 7, 25, -0.25",
    "BALANCED, CHAT, FLAGSHIP, 0.25, 50, -0.75",
    "BALANCED, REASONING, FLAGSHIP, 0.25, 50, 0.25",
    "BALANCED, REASONING, FAST, 0.25, 50, -0.75",
    "BALANCED, TOOL_HEAVY, STANDARD, 0, 0, 0"
  })
  @Tag("R46")
  @Tag("R48")
  void a_score_follows_its_formula(
      RoutingMode mode, TaskIntent intent, Tier tier, String price, long biasMillis, double score) {
    RoutePlanner planner =
        RoutePlanner.builder(text("p"))
            .prices(prices(entry(X, tier, price)))
            .latencyBias("p", Duration.ofMillis(biasMillis))
            .build();

    RouteDecision decision = plan(planner, asked(mode, intent, X)).decision();

    assertEquals(Map.of(X, score), decision.scores());
    assertEquals(Map.of(), decision.unknownFacts());
    assertEquals(mode, decision.mode());
    assertEquals(intent, decision.intent());
    assertEquals("ROUTING_" + mode, decision.reasonCode().name());
    assertTrue(decision.reasonCode().reason().endsWith("."));
  }

  @ParameterizedTest
  @CsvSource({
    "QUALITY, CHAT, tier price",
    "SPEED, CHAT, tier latencyBias",
    "BALANCED, CHAT, price latencyBias",
    "BALANCED, REASONING, tier price latencyBias"
  })
  @Tag("R49")
  void what_nobody_declared_counts_nothing_and_is_listed(
      RoutingMode mode, TaskIntent intent, String unknown) {
    RoutePlanner planner = RoutePlanner.builder(text("p")).build();

    RouteDecision decision = plan(planner, asked(mode, intent, X, Y)).decision();

    assertEquals(Map.of(X, 0.0, Y, 0.0), decision.scores());
    assertEquals(
        Map.of(X, List.of(unknown.split(" ")), Y, List.of(unknown.split(" "))),
        decision.unknownFacts());
    assertEquals(List.of(X, Y), decision.orderedTargets());
  }

  @Test
  @Tag("R50")
  @Tag("R53")
  void the_higher_score_goes_first_and_equal_scores_keep_the_order_of_the_request() {
    RoutePlanner planner =
        RoutePlanner.builder(text("p"))
            .prices(
                prices(
                    entry(X, Tier.STANDARD, "0"),
                    entry(Y, Tier.FLAGSHIP, "2"), // the same as X, by another way
                    entry(Z, Tier.FLAGSHIP, "0.000000001")))
            .build();

    assertEquals(List.of(Z, X, Y), tried(plan(planner, asked(RoutingMode.QUALITY, X, Y, Z))));
    assertEquals(List.of(Z, Y, X), tried(plan(planner, asked(RoutingMode.QUALITY, Y, Z, X))));
  }

  @Test
  @Tag("R50")
  void scores_that_doubles_would_round_together_or_apart_are_compared_exactly() {
    // 3 × 100 ms is 0.1 + 0.2 in decimal, and not in binary: BALANCED must see a tie
    Target slow = Target.of("slow", "x");
    Target dear = Target.of("dear", "x");
    RoutePlanner planner =
        RoutePlanner.builder(text("slow", "dear"))
            .prices(new PriceList(Map.of("slow", usd("0.1"), "dear", usd("0.3")), Optional.empty()))
            .latencyBias("slow", Duration.ofMillis(20))
            .latencyBias("dear", Duration.ZERO)
            .build();

    assertEquals(
        List.of(slow, dear), tried(plan(planner, asked(RoutingMode.BALANCED, slow, dear))));
    assertEquals(
        List.of(dear, slow), tried(plan(planner, asked(RoutingMode.BALANCED, dear, slow))));
  }

  @Test
  @Tag("R47")
  @Tag("R72")
  void the_configured_price_counts_before_the_catalogs() {
    Target other = Target.of("q", "x");
    ModelCatalog catalog = catalog(entry(X, null, "0.1"), entry(other, null, "0.2"));

    assertEquals(
        List.of(X, other),
        tried(
            plan(
                RoutePlanner.builder(text("p", "q"))
                    .prices(new PriceList(Map.of(), Optional.of(catalog)))
                    .build(),
                asked(RoutingMode.QUALITY, X, other))));
    assertEquals(
        List.of(other, X),
        tried(
            plan(
                RoutePlanner.builder(text("p", "q"))
                    .prices(new PriceList(Map.of("p", usd("0.3")), Optional.of(catalog)))
                    .build(),
                asked(RoutingMode.QUALITY, X, other))));
  }

  @Test
  @Tag("R47")
  @Tag("R49")
  void a_price_in_another_currency_is_not_known() {
    Target other = Target.of("q", "x");
    RoutePlanner planner =
        RoutePlanner.builder(text("p", "q"))
            .prices(
                new PriceList(
                    Map.of("p", usd("0.1"), "q", Money.of("0.01", "EUR")), Optional.empty()))
            .build();

    RouteDecision decision = plan(planner, asked(RoutingMode.QUALITY, X, other)).decision();

    assertEquals(Map.of(X, -0.1, other, 0.0), decision.scores());
    assertEquals(List.of("tier", "price"), decision.unknownFacts().get(other));
  }

  @Test
  @Tag("R45")
  @Tag("R54")
  void without_a_mode_the_request_stands_as_it_is() {
    RoutePlanner planner =
        RoutePlanner.builder(text("p")).prices(prices(entry(Y, Tier.FLAGSHIP, "0"))).build();

    RouteDecision decision =
        plan(planner, PlanRequest.builder(route(X, Y)).intent(TaskIntent.TOOL_HEAVY).build())
            .decision();

    assertEquals(List.of(X, Y), decision.orderedTargets());
    assertEquals(RouteDecision.ReasonCode.ROUTING_ORDERED, decision.reasonCode());
    assertEquals(RoutingMode.ORDERED, decision.mode());
    assertEquals(TaskIntent.TOOL_HEAVY, decision.intent());
    assertEquals(Map.of(), decision.scores());
  }

  @Test
  @Tag("C11")
  @Tag("R51")
  void a_scorer_decides_from_what_is_known_of_each_target() {
    List<ScoringContext> seen = new ArrayList<>();
    RoutePlanner planner =
        RoutePlanner.builder(text("p", "q"))
            .prices(
                new PriceList(
                    Map.of("q", usd("0.5")),
                    Optional.of(catalog(entry(X, Tier.FAST, "0.1"), entry(Y, null, null)))))
            .latencyBias("q", Duration.ofMillis(3))
            .scorer(
                context -> {
                  seen.add(context);
                  return context.isPrimary() ? 0 : 1;
                })
            .build();
    Target q = Target.of("q", "x");

    RoutePlan plan = plan(planner, asked(RoutingMode.SPEED, TaskIntent.REASONING, X, q));

    assertEquals(List.of(q, X), tried(plan));
    assertEquals(RouteDecision.ReasonCode.ROUTING_SCORER, plan.decision().reasonCode());
    assertEquals(RoutingMode.SPEED, plan.decision().mode());
    assertEquals(Map.of(X, 0.0, q, 1.0), plan.decision().scores());
    assertEquals(
        List.of(
            new ScoringContext(
                RoutingMode.SPEED,
                TaskIntent.REASONING,
                X,
                true,
                Optional.empty(),
                Optional.of(usd("0.1")),
                Optional.empty()),
            new ScoringContext(
                RoutingMode.SPEED,
                TaskIntent.REASONING,
                q,
                false,
                Optional.of(usd("0.5")),
                Optional.empty(),
                Optional.of(Duration.ofMillis(3)))),
        seen);
  }

  @ParameterizedTest
  @ValueSource(doubles = {Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY})
  @Tag("R51")
  void a_score_that_is_not_finite_is_refused(double score) {
    RoutePlanner planner = RoutePlanner.builder(text("p")).scorer(context -> score).build();

    InvalidRequestException refusal =
        assertThrows(
            InvalidRequestException.class,
            () -> plan(planner, PlanRequest.builder(route(X)).build()));

    assertTrue(refusal.getMessage().contains("p/x"), refusal.getMessage());
    assertTrue(refusal.getMessage().contains(String.valueOf(score)), refusal.getMessage());
  }

  @Test
  @Tag("R51")
  void zeros_of_either_sign_are_equal_scores() {
    RoutePlanner planner =
        RoutePlanner.builder(text("p")).scorer(context -> context.isPrimary() ? -0.0 : 0.0).build();

    assertEquals(List.of(X, Y), tried(plan(planner, PlanRequest.builder(route(X, Y)).build())));
  }

  @Test
  @Tag("R52")
  void an_explicit_order_is_kept_and_every_other_request_is_scored() {
    RoutePlanner scorer =
        RoutePlanner.builder(text("p")).scorer(context -> context.isPrimary() ? 0 : 1).build();
    AdaptivePolicy byQuality =
        AdaptivePolicy.quality("USD")
            .weight(Signal.COST, 0)
            .quality(new QualityProfile(X, TaskIntent.CHAT, 0.1, "1"))
            .quality(new QualityProfile(Y, TaskIntent.CHAT, 0.9, "1"))
            .build();
    RoutePlanner policy = RoutePlanner.builder(text("p")).adaptive(byQuality).build();

    for (RoutePlanner planner : List.of(scorer, policy)) {
      RoutePlan ordered = plan(planner, asked(RoutingMode.ORDERED, X, Y));
      assertEquals(List.of(X, Y), tried(ordered));
      assertEquals(RouteDecision.ReasonCode.ROUTING_ORDERED, ordered.decision().reasonCode());
      for (RoutingMode mode :
          List.of(RoutingMode.SPEED, RoutingMode.BALANCED, RoutingMode.QUALITY)) {
        assertEquals(List.of(Y, X), tried(plan(planner, asked(mode, X, Y))), mode.name());
      }
      assertEquals(List.of(Y, X), tried(plan(planner, PlanRequest.builder(route(X, Y)).build())));
    }
  }

  @Test
  @Tag("R66")
  void ranks_follow_the_scored_order_and_skips_keep_their_place_in_it() {
    RoutePlanner planner =
        RoutePlanner.builder(text("p"))
            .scorer(context -> context.target().modelId().charAt(0))
            .build();
    Target nobody = Target.of("nobody", "y");

    RoutePlan plan = plan(planner, PlanRequest.builder(route(X, nobody, Z)).build());

    assertEquals(List.of(Z, nobody, X), plan.decision().orderedTargets());
    assertEquals(List.of(0, 2), plan.candidates().stream().map(RoutePlan.Candidate::rank).toList());
    assertEquals(1, plan.skips().getFirst().targetRank());
    assertEquals(ReasonCode.OPERATION_SKIP, plan.skips().getFirst().reasonCode());
  }

  @Test
  void only_an_adaptive_policy_asks_what_was_measured() {
    for (RoutingMode mode : RoutingMode.values()) {
      RoutePlan plan =
          new RoutePlanner(text("p"))
              .plan(
                  asked(mode, X, Y),
                  target -> {
                    throw new AssertionError("asked for " + target);
                  },
                  1);

      assertEquals(List.of(X, Y), tried(plan));
      assertEquals(Optional.empty(), plan.decision().adaptive());
      assertEquals(Optional.empty(), plan.earliestReturn());
    }
  }

  @Test
  @Tag("R34")
  void a_negative_latency_bias_is_refused() {
    InvalidRequestException refusal =
        assertThrows(
            InvalidRequestException.class,
            () -> RoutePlanner.builder(text("p")).latencyBias("p", Duration.ofMillis(-1)));

    assertEquals("The latencyBias of p must be 0 or more, but is PT-0.001S.", refusal.getMessage());
  }

  @Test
  @Tag("R271")
  @Tag("R40")
  void a_policy_and_a_scorer_together_are_refused() {
    RoutePlanner.Builder both =
        RoutePlanner.builder(text("p"))
            .scorer(context -> 0)
            .adaptive(AdaptivePolicy.interactive("USD").build());

    assertThrows(InvalidRequestException.class, both::build);
  }
}
