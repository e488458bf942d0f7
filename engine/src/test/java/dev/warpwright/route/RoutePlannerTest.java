package dev.warpwright.route;

import static dev.warpwright.route.Plans.X;
import static dev.warpwright.route.Plans.Y;
import static dev.warpwright.route.Plans.adapter;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.Attempt;
import dev.warpwright.model.Attempt.ReasonCode;
import dev.warpwright.model.Capability;
import dev.warpwright.model.ModelCapabilities;
import dev.warpwright.model.ProviderAdapter;
import dev.warpwright.model.Route;
import dev.warpwright.model.RouteDecision;
import dev.warpwright.model.Target;
import dev.warpwright.route.RoutePlan.Candidate;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Which targets may be called, in which order. */
final class RoutePlannerTest {
  private static final Set<Capability> TEXT = Set.of();

  private static RoutePlan plan(
      Map<String, ProviderAdapter> adapters, Set<Capability> needs, Target... t) {
    return new RoutePlanner(adapters).plan(new Route(t[0], List.of(t).subList(1, t.length)), needs);
  }

  @Test
  @Tag("R44")
  @Tag("R45")
  void candidatesKeepTheOrderOfTheRequestAndTheFirstOfDuplicates() {
    Target deployed = new Target("p", "x", Optional.of("east"));

    RoutePlan plan =
        plan(Map.of("p", adapter(ModelCapabilities.TEXT)), TEXT, Y, X, Y, deployed, X, deployed);

    assertEquals(List.of(Y, X, deployed), plan.decision().orderedTargets());
    assertEquals(List.of(Y, X), plan.candidates().stream().map(Candidate::target).toList());
    assertEquals(RouteDecision.ReasonCode.ROUTING_ORDERED, plan.decision().reasonCode());
    assertEquals(
        "The targets are tried in the order of the request.",
        plan.decision().reasonCode().reason());
  }

  @Test
  @Tag("R66")
  void ranksAreIndexesOfTheDecisionWhateverWasSkipped() {
    RoutePlan plan =
        plan(
            Map.of("p", adapter(ModelCapabilities.TEXT)),
            TEXT,
            Target.of("nobody", "x"),
            X,
            Target.of("nobody", "y"),
            Y);

    assertEquals(List.of(1, 3), plan.candidates().stream().map(Candidate::rank).toList());
    assertEquals(List.of(0, 2), plan.skips().stream().map(Attempt::targetRank).toList());
  }

  static Stream<Arguments> needsAndCapabilities() {
    var none = ModelCapabilities.TEXT;
    var tools = ModelCapabilities.of(Capability.TOOLS);
    var all = ModelCapabilities.TEXT_AND_TOOLS;
    return Stream.of(
        Arguments.of(Set.of(), none, ""),
        Arguments.of(Set.of(Capability.TOOLS), none, "tools"),
        Arguments.of(Set.of(Capability.TOOLS, Capability.TOOL_CHOICE), none, "tools, toolChoice"),
        Arguments.of(Set.of(Capability.TOOLS), tools, ""),
        Arguments.of(Set.of(Capability.TOOLS, Capability.TOOL_CHOICE), tools, "toolChoice"),
        Arguments.of(Set.of(Capability.TOOLS, Capability.TOOL_CHOICE), all, ""));
  }

  @ParameterizedTest
  @MethodSource("needsAndCapabilities")
  @Tag("R57")
  @Tag("R78")
  @Tag("R79")
  void aMissingCapabilityIsASkipThatNamesIt(
      Set<Capability> needs, ModelCapabilities capabilities, String missing) {
    RoutePlan plan = plan(Map.of("p", adapter(capabilities)), needs, X);

    if (missing.isEmpty()) {
      assertEquals(List.of(), plan.skips());
      assertEquals(capabilities, plan.candidates().getFirst().capabilities());
    } else {
      assertEquals(List.of(), plan.candidates());
      Attempt skip = plan.skips().getFirst();
      assertEquals(ReasonCode.MODEL_CAPABILITIES, skip.reasonCode());
      assertEquals("The model does not declare " + missing + ".", skip.message());
    }
  }

  @Test
  @Tag("R57")
  void theFirstMissDecides() {
    ProviderAdapter broken =
        id -> {
          throw new IllegalStateException("broken");
        };
    Set<Capability> needs = Set.of(Capability.TOOLS, Capability.TOOL_CHOICE);

    RoutePlan plan =
        plan(
            Map.of("p", broken),
            needs,
            Target.of("nobody", "x"),
            new Target("p", "x", Optional.of("east")),
            X);

    List<String> messages = plan.skips().stream().map(Attempt::message).toList();
    assertTrue(messages.get(0).contains("adapter"), messages.get(0));
    assertTrue(messages.get(1).contains("deployment"), messages.get(1));
    assertTrue(messages.get(2).contains("broken"), messages.get(2));
  }

  @Test
  @Tag("R3")
  void anErrorOfAnAdapterIsNoSkip() {
    ProviderAdapter broken =
        id -> {
          throw new LinkageError("no such class");
        };
    assertThrows(LinkageError.class, () -> plan(Map.of("p", broken), TEXT, X));
  }
}
