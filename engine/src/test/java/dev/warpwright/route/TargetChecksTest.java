package dev.warpwright.route;

import static dev.warpwright.route.Plans.X;
import static dev.warpwright.route.Plans.Y;
import static dev.warpwright.route.Plans.Z;
import static dev.warpwright.route.Plans.adapter;
import static dev.warpwright.route.Plans.catalog;
import static dev.warpwright.route.Plans.codes;
import static dev.warpwright.route.Plans.plan;
import static dev.warpwright.route.Plans.priced;
import static dev.warpwright.route.Plans.route;
import static dev.warpwright.route.Plans.text;
import static dev.warpwright.route.Plans.tried;
import static dev.warpwright.route.Plans.usd;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.cost.CatalogEntry;
import dev.warpwright.cost.CostAccounting;
import dev.warpwright.cost.PriceCeiling;
import dev.warpwright.cost.PriceList;
import dev.warpwright.cost.UnknownCost;
import dev.warpwright.model.AgentCapabilities;
import dev.warpwright.model.Attempt;
import dev.warpwright.model.Attempt.ReasonCode;
import dev.warpwright.model.Capability;
import dev.warpwright.model.CostValuation;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.ModelCapabilities;
import dev.warpwright.model.Money;
import dev.warpwright.model.PortableHistory;
import dev.warpwright.model.ProviderAdapter;
import dev.warpwright.model.SupportTier;
import dev.warpwright.model.Target;
import dev.warpwright.model.ToolHistory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Which targets are ruled out, and why. */
final class TargetChecksTest {
  private static final AgentCapabilities AGENT_NEEDS =
      AgentCapabilities.of(SupportTier.TIER_A, AgentCapabilities.APPROVAL_REQUESTS);

  /** A request that needs something of every kind. */
  private static PlanRequest demanding(Target... targets) {
    return PlanRequest.builder(route(targets))
        .needs(Set.of(Capability.VISION))
        .history(new PortableHistory(true, false))
        .ceiling(PriceCeiling.of(usd("1")))
        .operationNeedsOneOf(Set.of(Capability.STRUCTURED_OUTPUT, Capability.JSON_MODE))
        .agentNeeds(AGENT_NEEDS)
        .maxTokens(OptionalInt.of(10))
        .build();
  }

  /**
   * Models that meet all needs from the n-th on and none before: the first miss decides, so each
   * target is ruled out by another check.
   */
  @Test
  @Tag("R57")
  @Tag("R59")
  @Tag("R192")
  void the_first_miss_in_the_order_of_the_checks_decides() {
    ModelCapabilities nothing = ModelCapabilities.TEXT;
    ModelCapabilities vision = ModelCapabilities.of(Capability.VISION);
    ModelCapabilities history =
        ModelCapabilities.of(Capability.VISION, Capability.TOOLS).with(ToolHistory.JSON);
    ModelCapabilities object = history.with(Capability.JSON_MODE);
    ModelCapabilities all = object.with(AGENT_NEEDS);
    Map<String, ModelCapabilities> models =
        Map.of(
            "nothing", nothing,
            "vision", vision,
            "dear", history,
            "unpriced", history,
            "no-object", history,
            "no-agent", object,
            "all", all);
    ProviderAdapter adapter =
        id -> {
          if (id.equals("broken")) {
            throw new IllegalStateException("cannot be made with key=SECRET");
          }
          return adapter(models).model(id);
        };
    List<Target> targets = new ArrayList<>();
    targets.add(Target.of("nobody", "x"));
    targets.add(new Target("p", "all", Optional.of("nowhere")));
    Stream.of("broken", "nothing", "vision", "dear", "unpriced", "no-object", "no-agent", "all")
        .map(id -> Target.of("p", id))
        .forEach(targets::add);
    RoutePlanner planner =
        RoutePlanner.builder(Map.of("p", adapter))
            .prices(
                new PriceList(
                    Map.of(),
                    Optional.of(
                        catalog(
                            priced(Target.of("p", "dear"), "2").build(),
                            // a price to compare, but no rates for a quote
                            CatalogEntry.builder("p", "unpriced").costPer1kTokens(usd("1")).build(),
                            priced(Target.of("p", "no-object"), "1").build(),
                            priced(Target.of("p", "no-agent"), "1").build(),
                            priced(Target.of("p", "all"), "0").build()))))
            .accounting(
                CostAccounting.builder(
                        catalog(
                            priced(Target.of("p", "no-object"), "1").build(),
                            priced(Target.of("p", "no-agent"), "1").build(),
                            priced(Target.of("p", "all"), "0").build()))
                    .unknownCost(UnknownCost.REJECT)
                    .build())
            .build();

    RoutePlan plan = plan(planner, demanding(targets.toArray(Target[]::new)));

    assertEquals(List.of(Target.of("p", "all")), tried(plan));
    List<String> expected =
        List.of(
            "OPERATION_SKIP: No adapter is registered for provider \"nobody\".",
            "OPERATION_SKIP: No deployment \"nowhere\" is registered for provider \"p\".",
            "OPERATION_SKIP: The model could not be made: cannot be made with key=[REDACTED]",
            "MODEL_CAPABILITIES: The model does not declare vision.",
            "MODEL_CAPABILITIES: The model does not declare toolHistory, tools.",
            "COST_BUDGET: The price of 1k tokens is 2 USD, above the ceiling maxCostPer1kTokens of"
                + " 1 USD.",
            "COST_BUDGET: The cost of a call must be known (unknownCost REJECT), but is not:"
                + " model-not-in-catalog.",
            "OPERATION_SKIP: The operation needs structuredOutput or jsonMode, which the model does"
                + " not declare.",
            "AGENT_CAPABILITIES: The model does not declare agent capabilities.");
    assertEquals(
        expected,
        plan.skips().stream().map(skip -> skip.reasonCode() + ": " + skip.message()).toList());
    for (int rank = 0; rank < plan.skips().size(); rank++) {
      Attempt skip = plan.skips().get(rank);
      assertFalse(skip.ok());
      assertFalse(skip.dispatched());
      assertEquals(Duration.ZERO, skip.latency());
      assertEquals(rank, skip.targetRank());
    }
  }

  @ParameterizedTest
  @EnumSource(ReasonCode.class)
  @Tag("R59")
  void only_dispatches_count_as_attempts(ReasonCode code) {
    Set<ReasonCode> dispatches =
        Set.of(
            ReasonCode.PROVIDER_SUCCESS,
            ReasonCode.PROVIDER_ERROR,
            ReasonCode.REQUEST_ABORTED,
            ReasonCode.DEADLINE_EXCEEDED,
            ReasonCode.ADMISSION_DENIED,
            ReasonCode.BUDGET_DENIED);

    assertEquals(dispatches.contains(code), Attempt.skip(1, X, code, 0, "").dispatched());
  }

  @Test
  @Tag("R366")
  @Tag("R367")
  void a_deployment_is_served_by_its_own_adapter_alone() {
    ProviderAdapter byDefault = adapter(ModelCapabilities.TEXT);
    ProviderAdapter east = adapter(ModelCapabilities.of(Capability.VISION));
    RoutePlanner planner =
        RoutePlanner.builder(Map.of("p", byDefault, "q", byDefault))
            .deployment("east", new Deployment("p", east))
            .deployment("alone", new Deployment("no-default", east))
            .build();
    Target atEast = new Target("p", "x", Optional.of("east"));
    Target ofAnother = new Target("q", "x", Optional.of("east"));
    Target unknown = new Target("p", "x", Optional.of("west"));
    Target alone = new Target("no-default", "x", Optional.of("alone"));

    RoutePlan plan =
        plan(planner, PlanRequest.builder(route(X, atEast, ofAnother, unknown, alone)).build());

    assertEquals(List.of(X, atEast, alone), tried(plan));
    assertEquals(ModelCapabilities.TEXT, plan.candidates().getFirst().capabilities());
    assertTrue(plan.candidates().get(1).capabilities().has(Capability.VISION));
    assertEquals(List.of(ReasonCode.OPERATION_SKIP, ReasonCode.OPERATION_SKIP), codes(plan));
    assertEquals(List.of(2, 3), plan.skips().stream().map(Attempt::targetRank).toList());
  }

  @Test
  void a_deployment_that_no_target_could_name_is_refused() {
    Deployment deployment = new Deployment("p", adapter(ModelCapabilities.TEXT));

    assertThrows(
        InvalidRequestException.class,
        () -> RoutePlanner.builder(text("p")).deployment("no spaces", deployment));
    assertThrows(
        InvalidRequestException.class,
        () -> new Deployment("No Provider", adapter(ModelCapabilities.TEXT)));
  }

  @Test
  @Tag("R68")
  void nothing_but_the_targets_of_the_request_is_ever_asked_for_a_model() {
    List<String> asked = new ArrayList<>();
    ProviderAdapter listening =
        id -> {
          asked.add(id);
          return adapter(ModelCapabilities.TEXT).model(id);
        };
    RoutePlanner planner =
        RoutePlanner.builder(Map.of("p", listening, "q", listening))
            .deployment("east", new Deployment("p", listening))
            .build();

    RoutePlan plan =
        plan(planner, PlanRequest.builder(route(X)).needs(Set.of(Capability.VISION)).build());

    assertEquals(List.of("x"), asked);
    assertEquals(List.of(), plan.candidates());
    assertEquals(List.of(X), plan.decision().orderedTargets());
  }

  @Test
  @Tag("C3")
  @Tag("R72")
  @Tag("R73")
  void a_dear_provider_is_skipped_and_a_free_one_answers() {
    Target free = Target.of("q", "x");
    RoutePlanner planner =
        RoutePlanner.builder(text("p", "q"))
            .prices(
                new PriceList(
                    Map.of("p", usd("2"), "q", usd("0")),
                    Optional.of(catalog(priced(X, "0.1").build()))))
            .build();

    RoutePlan plan =
        plan(
            planner,
            PlanRequest.builder(route(X, free)).ceiling(PriceCeiling.of(usd("0.5"))).build());

    assertEquals(List.of(free), tried(plan));
    assertEquals(List.of(ReasonCode.COST_BUDGET), codes(plan));
    assertTrue(plan.skips().getFirst().message().contains("2 USD"));
  }

  @Test
  @Tag("C4")
  void the_catalogs_price_counts_where_none_is_configured() {
    RoutePlanner planner =
        RoutePlanner.builder(text("p"))
            .prices(
                new PriceList(
                    Map.of(),
                    Optional.of(catalog(priced(X, "0.6").build(), priced(Y, "0.5").build()))))
            .build();

    RoutePlan plan =
        plan(
            planner,
            PlanRequest.builder(route(X, Y, Z)).ceiling(PriceCeiling.of(usd("0.5"))).build());

    assertEquals(List.of(Y), tried(plan));
    assertEquals(List.of(ReasonCode.COST_BUDGET, ReasonCode.COST_BUDGET), codes(plan));
  }

  @Test
  @Tag("R71")
  @Tag("R75")
  void an_unknown_price_passes_only_if_the_request_allows_it() {
    RoutePlanner planner =
        RoutePlanner.builder(text("p", "q"))
            .prices(new PriceList(Map.of("q", Money.of("0.1", "EUR")), Optional.empty()))
            .build();
    Target inEuros = Target.of("q", "x");
    PlanRequest.Builder request = PlanRequest.builder(route(X, inEuros));

    assertEquals(
        List.of(), tried(plan(planner, request.ceiling(PriceCeiling.of(usd("1"))).build())));
    assertEquals(
        List.of(X, inEuros),
        tried(
            plan(planner, request.ceiling(new PriceCeiling(usd("1"), UnknownCost.ALLOW)).build())));
  }

  @Test
  @Tag("R223")
  @Tag("R369")
  void each_target_has_a_quote_in_the_decision() {
    Target deployed = new Target("p", "x", Optional.of("east"));
    RoutePlanner planner =
        RoutePlanner.builder(text("p"))
            .accounting(CostAccounting.builder(catalog(priced(X, "0.01").build())).build())
            .build();
    PlanRequest.Builder request =
        PlanRequest.builder(route(Y, X, deployed))
            .inputTokens(1000)
            .expectedOutputTokens(OptionalInt.of(500))
            .maxTokens(OptionalInt.of(4000));

    Map<Target, CostValuation> costs = plan(planner, request.build()).decision().estimatedCosts();

    assertEquals(List.of(Y, X, deployed), List.copyOf(costs.keySet()));
    assertEquals(CostValuation.Status.UNKNOWN, costs.get(Y).status());
    assertEquals(CostValuation.Status.ESTIMATED, costs.get(X).status());
    assertEquals(Optional.of(usd("0.015")), costs.get(X).amount());
    assertEquals(costs.get(X), costs.get(deployed));
    assertEquals(
        Optional.of(usd("0.05")),
        plan(planner, request.expectedOutputTokens(OptionalInt.empty()).build())
            .decision()
            .estimatedCosts()
            .get(X)
            .amount());
    assertEquals(
        Map.of(), plan(new RoutePlanner(text("p")), request.build()).decision().estimatedCosts());
  }

  @Test
  @Tag("R224")
  void an_unknown_quote_excludes_only_if_the_policy_rejects_it() {
    CostAccounting.Builder accounting = CostAccounting.builder(catalog(priced(X, "0.01").build()));
    PlanRequest noOutputLimit = PlanRequest.builder(route(X, Y)).inputTokens(10).build();
    PlanRequest limited =
        PlanRequest.builder(route(X, Y)).inputTokens(10).maxTokens(OptionalInt.of(1)).build();

    RoutePlanner allows =
        RoutePlanner.builder(text("p"))
            .accounting(accounting.unknownCost(UnknownCost.ALLOW).build())
            .build();
    RoutePlanner rejects =
        RoutePlanner.builder(text("p"))
            .accounting(accounting.unknownCost(UnknownCost.REJECT).build())
            .build();

    assertEquals(List.of(X, Y), tried(plan(allows, noOutputLimit)));
    assertEquals(List.of(), tried(plan(rejects, noOutputLimit)));
    assertEquals(List.of(X), tried(plan(rejects, limited)));
    assertEquals(List.of(ReasonCode.COST_BUDGET), codes(plan(rejects, limited)));
  }

  static Stream<Arguments> toolHistories() {
    ModelCapabilities tools = ModelCapabilities.TEXT_AND_TOOLS;
    return Stream.of(
        Arguments.of(tools.with(ToolHistory.NATIVE), ""),
        Arguments.of(tools.with(ToolHistory.JSON), ""),
        Arguments.of(tools, "toolHistory"),
        Arguments.of(ModelCapabilities.TEXT.with(ToolHistory.NATIVE), "tools"),
        Arguments.of(ModelCapabilities.TEXT, "toolHistory, tools"));
  }

  @ParameterizedTest
  @MethodSource("toolHistories")
  @Tag("R192")
  @Tag("R193")
  void a_history_of_tool_calls_needs_a_model_that_takes_it(
      ModelCapabilities capabilities, String missing) {
    RoutePlanner planner = new RoutePlanner(Map.of("p", adapter(capabilities)));

    RoutePlan plan =
        plan(
            planner,
            PlanRequest.builder(route(X)).history(new PortableHistory(true, false)).build());

    if (missing.isEmpty()) {
      assertEquals(List.of(X), tried(plan));
    } else {
      assertEquals(List.of(ReasonCode.MODEL_CAPABILITIES), codes(plan));
      assertEquals(
          "The model does not declare " + missing + ".", plan.skips().getFirst().message());
    }
    assertEquals(List.of(X), tried(plan(planner, PlanRequest.builder(route(X)).build())));
  }

  @ParameterizedTest
  @EnumSource
  @Tag("R202")
  void text_behind_a_call_goes_to_models_only_that_keep_it_there(ToolHistory form) {
    ModelCapabilities capabilities = ModelCapabilities.TEXT_AND_TOOLS.with(form);
    RoutePlanner planner = new RoutePlanner(Map.of("p", adapter(capabilities)));
    PlanRequest.Builder request = PlanRequest.builder(route(X));

    RoutePlan plan = plan(planner, request.history(new PortableHistory(true, true)).build());

    assertEquals(form == ToolHistory.NATIVE ? List.of(X) : List.of(), tried(plan));
    if (form == ToolHistory.JSON) {
      assertEquals(List.of(ReasonCode.MODEL_CAPABILITIES), codes(plan));
      String why = plan.skips().getFirst().message();
      assertTrue(why.contains("interleaved"), why);
    }
  }

  @Test
  @Tag("C6")
  @Tag("R158")
  void an_operation_that_needs_one_of_several_takes_any_of_them() {
    Map<String, ModelCapabilities> models =
        Map.of(
            "x", ModelCapabilities.TEXT,
            "y", ModelCapabilities.of(Capability.STRUCTURED_OUTPUT),
            "z", ModelCapabilities.of(Capability.JSON_MODE));
    RoutePlanner planner = new RoutePlanner(Map.of("p", adapter(models)));
    PlanRequest.Builder request = PlanRequest.builder(route(X, Y, Z));

    assertEquals(
        List.of(Y, Z),
        tried(
            plan(
                planner,
                request
                    .operationNeedsOneOf(Set.of(Capability.STRUCTURED_OUTPUT, Capability.JSON_MODE))
                    .build())));
    RoutePlan strict =
        plan(planner, request.operationNeedsOneOf(Set.of(Capability.STRUCTURED_OUTPUT)).build());
    assertEquals(List.of(Y), tried(strict));
    assertEquals(List.of(ReasonCode.OPERATION_SKIP, ReasonCode.OPERATION_SKIP), codes(strict));
  }

  static Stream<Arguments> agents() {
    AgentCapabilities none = AgentCapabilities.of(SupportTier.NONE);
    AgentCapabilities c = AgentCapabilities.of(SupportTier.TIER_C, "shell", "of-my-own");
    AgentCapabilities b = AgentCapabilities.of(SupportTier.TIER_B, "shell");
    AgentCapabilities a = AgentCapabilities.of(SupportTier.TIER_A);
    return Stream.of(
        Arguments.of(Optional.of(a), a, ""),
        Arguments.of(Optional.of(a), AgentCapabilities.of(SupportTier.TIER_C), ""),
        Arguments.of(Optional.of(b), AgentCapabilities.of(SupportTier.TIER_B), ""),
        Arguments.of(Optional.of(b), a, "supportTier TIER_A"),
        Arguments.of(Optional.of(c), b, "supportTier TIER_B"),
        Arguments.of(Optional.of(none), c, "supportTier TIER_C, of-my-own, shell"),
        Arguments.of(Optional.of(none), none, ""),
        Arguments.of(Optional.of(a), b, "shell"),
        Arguments.of(Optional.of(c), AgentCapabilities.of(SupportTier.NONE, "of-my-own"), ""),
        Arguments.of(Optional.empty(), none, "agent capabilities"),
        Arguments.of(Optional.empty(), a, "agent capabilities"));
  }

  @ParameterizedTest
  @MethodSource("agents")
  @Tag("R81")
  @Tag("R82")
  @Tag("R83")
  @Tag("R84")
  void what_an_agent_needs_must_be_declared(
      Optional<AgentCapabilities> offered, AgentCapabilities needs, String missing) {
    ModelCapabilities capabilities =
        offered.map(ModelCapabilities.TEXT::with).orElse(ModelCapabilities.TEXT);
    RoutePlanner planner = new RoutePlanner(Map.of("p", adapter(capabilities)));

    RoutePlan plan = plan(planner, PlanRequest.builder(route(X)).agentNeeds(needs).build());

    if (missing.isEmpty()) {
      assertEquals(List.of(X), tried(plan));
    } else {
      assertEquals(List.of(ReasonCode.AGENT_CAPABILITIES), codes(plan));
      assertEquals(
          "The model does not declare " + missing + ".", plan.skips().getFirst().message());
    }
    assertEquals(List.of(X), tried(plan(planner, PlanRequest.builder(route(X)).build())));
  }

  @Test
  @Tag("C7")
  void a_target_of_tier_c_is_skipped_and_the_next_keeps_its_rank() {
    Map<String, ModelCapabilities> models =
        Map.of(
            "x",
            ModelCapabilities.TEXT.with(AgentCapabilities.of(SupportTier.TIER_C)),
            "y",
            ModelCapabilities.TEXT.with(AGENT_NEEDS));
    RoutePlanner planner = new RoutePlanner(Map.of("p", adapter(models)));

    RoutePlan plan =
        plan(planner, PlanRequest.builder(route(X, Y)).agentNeeds(AGENT_NEEDS).build());

    assertEquals(List.of(Y), tried(plan));
    assertEquals(1, plan.candidates().getFirst().rank());
    assertEquals(List.of(ReasonCode.AGENT_CAPABILITIES), codes(plan));
    assertEquals(0, plan.skips().getFirst().targetRank());
  }

  @Test
  @Tag("R81")
  void the_name_of_an_agent_capability_has_a_form() {
    for (String name : List.of("", " ", "9lives", "a b", "a\n", "a".repeat(65))) {
      assertThrows(
          InvalidRequestException.class, () -> AgentCapabilities.of(SupportTier.NONE, name));
    }
    assertEquals(
        Set.of("a".repeat(64)), AgentCapabilities.of(SupportTier.NONE, "a".repeat(64)).names());
  }

  @Test
  void more_capabilities_are_added_without_losing_the_others() {
    ModelCapabilities all =
        ModelCapabilities.TEXT
            .with(AGENT_NEEDS)
            .with(ToolHistory.NATIVE)
            .with(Capability.VISION)
            .with(ToolHistory.JSON);

    assertSame(AGENT_NEEDS, all.agent().orElseThrow());
    assertEquals(ToolHistory.JSON, all.toolHistory());
    assertTrue(all.has(Capability.VISION));
  }
}
