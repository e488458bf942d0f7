package dev.warpwright;

import static dev.warpwright.FakeModel.status;
import static dev.warpwright.Prices.usd;
import static dev.warpwright.Spine.A;
import static dev.warpwright.Spine.B;
import static dev.warpwright.Spine.ask;
import static dev.warpwright.Spine.request;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.control.CircuitBreaker;
import dev.warpwright.control.CircuitPolicy;
import dev.warpwright.control.TargetMetrics;
import dev.warpwright.control.TargetSnapshot;
import dev.warpwright.cost.PriceCeiling;
import dev.warpwright.cost.UnknownCost;
import dev.warpwright.model.AdaptiveRecord;
import dev.warpwright.model.AgentCapabilities;
import dev.warpwright.model.Attempt;
import dev.warpwright.model.Attempt.ReasonCode;
import dev.warpwright.model.AttemptsExhaustedException;
import dev.warpwright.model.CircuitOpenException;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.ModelCapabilities;
import dev.warpwright.model.NoEligibleTargetException;
import dev.warpwright.model.RouteDecision;
import dev.warpwright.model.RoutingMode;
import dev.warpwright.model.SupportTier;
import dev.warpwright.model.Target;
import dev.warpwright.route.AdaptivePolicy;
import dev.warpwright.route.AffinityPolicy;
import dev.warpwright.route.MissingSignal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What the gateway tells the planner, and what becomes of the plan. */
final class PlanningTest {
  @RegisterExtension final Spine spine = new Spine();

  private static List<ReasonCode> codes(List<Attempt> attempts) {
    return attempts.stream().map(Attempt::reasonCode).toList();
  }

  @Test
  @Tag("C3")
  @Tag("R71")
  @Tag("R72")
  @Tag("R73")
  void a_target_above_the_price_ceiling_is_skipped_with_its_price() {
    spine.b.says("free");
    Gateway gateway = spine.build(spine.builder().price("a", usd("2")).price("b", usd("0")));

    GenerateResult result =
        gateway.generate(ask(A, B).priceCeiling(PriceCeiling.of(usd("0.5"))).build());

    assertEquals("free", result.text());
    assertEquals(
        List.of(ReasonCode.COST_BUDGET, ReasonCode.PROVIDER_SUCCESS), codes(result.attempts()));
    assertTrue(result.attempts().getFirst().message().contains("2 USD"));
  }

  @Test
  @Tag("R71")
  void an_unknown_price_is_skipped_unless_it_is_allowed() {
    Gateway gateway = spine.gateway();
    var refused =
        assertThrows(
            NoEligibleTargetException.class,
            () -> gateway.generate(ask(A).priceCeiling(PriceCeiling.of(usd("1"))).build()));
    assertEquals(List.of(ReasonCode.COST_BUDGET), codes(refused.trace().attempts()));

    spine.a.says("hi");
    PriceCeiling lenient = new PriceCeiling(usd("1"), UnknownCost.ALLOW);
    assertEquals("hi", gateway.generate(ask(A).priceCeiling(lenient).build()).text());
  }

  @Test
  @Tag("C4")
  @Tag("R47")
  void the_catalog_price_orders_by_quality_when_the_provider_has_none() {
    spine.b.says("cheap");
    Gateway gateway =
        spine.build(spine.builder().catalog(Prices.accounting().catalog()).price("b", usd("0.1")));

    GenerateResult result = gateway.generate(ask(A, B).routingMode(RoutingMode.QUALITY).build());

    assertEquals(B, result.targetUsed());
    assertEquals(RouteDecision.ReasonCode.ROUTING_QUALITY, result.routeDecision().reasonCode());
    assertEquals(List.of(B, A), result.routeDecision().orderedTargets());
    assertEquals(0, result.attempts().getFirst().targetRank());
  }

  @Test
  @Tag("C11")
  @Tag("R51")
  @Tag("R52")
  void a_scorer_decides_unless_the_request_asks_for_its_own_order() {
    spine.a.says("a");
    spine.b.says("b");
    Gateway gateway =
        spine.build(spine.builder().scorer(context -> context.target().equals(B) ? 1 : 0));

    assertEquals("b", gateway.generate(request(A, B)).text());
    assertEquals(0, spine.a.count());
    assertEquals("a", gateway.generate(ask(A, B).routingMode(RoutingMode.ORDERED).build()).text());
  }

  @Test
  @Tag("R366")
  @Tag("R367")
  void a_deployment_is_served_by_its_own_adapter_and_by_no_other() {
    FakeModel east = new FakeModel().says("east");
    Target deployed = new Target("a", "model-a", Optional.of("east-1"));
    Target unknown = new Target("a", "model-a", Optional.of("west-1"));
    Gateway gateway = spine.build(spine.builder().deployment("east-1", "a", id -> east));

    GenerateResult result = gateway.generate(request(unknown, deployed));

    assertEquals("east", result.text());
    assertEquals(0, spine.a.count());
    assertEquals(ReasonCode.OPERATION_SKIP, result.attempts().getFirst().reasonCode());
  }

  @Test
  @Tag("R82")
  @Tag("R84")
  void what_an_agent_needs_is_compared_with_what_the_model_declares() {
    spine
        .b
        .with(
            ModelCapabilities.TEXT_AND_TOOLS.with(
                AgentCapabilities.of(SupportTier.TIER_A, AgentCapabilities.APPROVAL_REQUESTS)))
        .says("b");

    GenerateResult result =
        spine
            .gateway()
            .generate(
                ask(A, B)
                    .requiredAgentCapabilities(
                        AgentCapabilities.of(
                            SupportTier.TIER_B, AgentCapabilities.APPROVAL_REQUESTS))
                    .build());

    assertEquals("b", result.text());
    assertEquals(ReasonCode.AGENT_CAPABILITIES, result.attempts().getFirst().reasonCode());
  }

  private static AdaptivePolicy weighing(AdaptiveRecord.Signal signal) {
    return AdaptivePolicy.builder("test-1")
        .weight(signal, 1)
        .latencyScale(Duration.ofSeconds(1))
        .costScale(usd("0.01"))
        .coldStart(MissingSignal.ALLOW)
        .unknownCost(MissingSignal.ALLOW)
        .missingQuality(MissingSignal.ALLOW)
        .build();
  }

  private static AdaptivePolicy fastest() {
    return weighing(AdaptiveRecord.Signal.LATENCY);
  }

  private TargetMetrics metrics() {
    return TargetMetrics.local(Duration.ofMinutes(10), 8, 32, spine.time);
  }

  /** An answer that takes so long on the manual clock. */
  private void answersAfter(FakeModel model, long millis, String text) {
    model.then(
        call -> {
          spine.advance(millis);
          return FakeModel.answer(text, FinishReason.Kind.STOP);
        });
  }

  @Test
  @Tag("R271")
  @Tag("R283")
  void an_adaptive_policy_prefers_what_was_measured_to_be_faster() {
    Gateway gateway = spine.build(spine.builder().metrics(metrics()).adaptive(fastest()));
    answersAfter(spine.a, 900, "slow");
    answersAfter(spine.b, 100, "fast");
    gateway.generate(ask(A).routingMode(RoutingMode.ORDERED).build());
    gateway.generate(ask(B).routingMode(RoutingMode.ORDERED).build());
    spine.b.says("again");

    GenerateResult result = gateway.generate(request(A, B));

    assertEquals("again", result.text());
    RouteDecision decision = result.routeDecision();
    assertEquals(RouteDecision.ReasonCode.ROUTING_ADAPTIVE, decision.reasonCode());
    assertEquals(List.of(B, A), decision.orderedTargets());
    assertEquals(
        decision.adaptive(), Optional.of(fastest().score(decision.adaptive().orElseThrow())));
    assertFalse(decision.describe(result.attempts()).isBlank());
  }

  @Test
  @Tag("R281")
  @Tag("R262")
  @Tag("R58")
  void an_adaptive_plan_leaves_open_circuits_out_and_names_their_return() {
    CircuitBreaker breaker =
        CircuitBreaker.local(CircuitPolicy.builder().failureThreshold(1).build(), spine.time);
    Gateway gateway =
        spine.build(spine.builder().metrics(metrics()).circuitBreaker(breaker).adaptive(fastest()));
    spine.a.fails(status(503));
    assertThrows(AttemptsExhaustedException.class, () -> gateway.generate(request(A)));

    var open = assertThrows(CircuitOpenException.class, () -> gateway.generate(request(A)));

    assertEquals(spine.time.now().plusSeconds(30), open.earliestReturn());
    assertEquals(1, spine.a.count());
  }

  @Test
  @Tag("R293")
  @Tag("R296")
  void a_conversation_stays_with_the_target_that_served_it() {
    AdaptivePolicy policy = weighing(AdaptiveRecord.Signal.LOAD);
    Gateway gateway =
        spine.build(
            spine
                .builder()
                .metrics(metrics())
                .adaptive(policy)
                .affinity(new AffinityPolicy(Duration.ofMinutes(5), 10, 5)));
    spine.a.fails(status(400));
    spine.b.says("b served it").says("b again");
    gateway.generate(ask(A, B).cacheScope("t1").affinityKey("chat-7").build());

    GenerateResult second =
        gateway.generate(ask(A, B).cacheScope("t1").affinityKey("chat-7").build());

    assertEquals(B, second.targetUsed());
    assertEquals(1, spine.a.count());
    assertEquals(1, gateway.diagnostics().affinityEntries());
    spine.a.says("another tenant");
    assertEquals(
        A, gateway.generate(ask(A, B).cacheScope("t2").affinityKey("chat-7").build()).targetUsed());
  }

  @Test
  @Tag("R40")
  @Tag("R291")
  void affinity_without_a_policy_and_a_policy_with_a_scorer_are_refused() {
    Gateway.Builder affinity = spine.builder().affinity(AffinityPolicy.DEFAULT);
    assertThrows(InvalidRequestException.class, affinity::build);
    Gateway.Builder both = spine.builder().scorer(context -> 0).adaptive(fastest());
    assertThrows(InvalidRequestException.class, both::build);
  }

  @Test
  @Tag("R250")
  void metrics_that_throw_change_nothing() {
    List<String> asked = Collections.synchronizedList(new ArrayList<>());
    TargetMetrics broken =
        new TargetMetrics() {
          @Override
          public Measurement begin(Target target) {
            asked.add("begin");
            throw new IllegalStateException("no");
          }

          @Override
          public Optional<TargetSnapshot> snapshot(Target target) {
            asked.add("snapshot");
            throw new IllegalStateException("no");
          }
        };
    Gateway gateway = spine.build(spine.builder().metrics(broken).adaptive(fastest()));
    spine.a.says("hi");

    assertEquals("hi", gateway.generate(request(A)).text());

    assertEquals(List.of("snapshot", "begin"), asked);
  }

  @Test
  @Tag("C7")
  @Tag("R350")
  void the_route_observer_sees_the_rank_and_the_attempts_so_far() {
    List<RouteSelection> told = Collections.synchronizedList(new ArrayList<>());
    spine.a.fails(status(400));
    spine.b.says("b");
    Gateway gateway = spine.build(spine.builder().routeObserver(told::add));

    gateway.generate(request(A, B));

    assertTrue(gateway.flushObservers(Duration.ofSeconds(10)));
    assertEquals(1, told.size());
    assertEquals(1, told.getFirst().targetRank());
    assertEquals(2, told.getFirst().attempts().size());
  }
}
