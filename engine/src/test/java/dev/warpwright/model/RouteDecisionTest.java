package dev.warpwright.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.RouteDecision.Ranking;
import dev.warpwright.model.RouteDecision.ReasonCode;
import dev.warpwright.model.RouteDecision.Standing;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What a decision says of itself. */
final class RouteDecisionTest {
  private static final Target X = Target.of("p", "x");
  private static final Target Y = Target.of("p", "y");

  private static RouteDecision speed() {
    return new RouteDecision(
        List.of(X, Y),
        ReasonCode.ROUTING_SPEED,
        Optional.of(
            new Ranking(
                Optional.of(RoutingMode.SPEED),
                TaskIntent.CHAT,
                List.of(
                    new Standing(Optional.of(2.0), List.of(), Optional.empty()),
                    new Standing(Optional.of(0.0), List.of("tier"), Optional.empty())))),
        Optional.empty());
  }

  @Test
  @Tag("R54")
  void a_decision_tells_what_was_asked_and_how_each_target_was_judged() {
    RouteDecision decision = speed();

    assertEquals(RoutingMode.SPEED, decision.mode());
    assertEquals(TaskIntent.CHAT, decision.intent());
    assertEquals(Map.of(X, 2.0, Y, 0.0), decision.scores());
    assertEquals(Map.of(Y, List.of("tier")), decision.unknownFacts());
    assertEquals(Map.of(), decision.estimatedCosts());
  }

  @Test
  @Tag("R54")
  void a_decision_of_an_old_log_has_the_defaults() {
    RouteDecision old = new RouteDecision(List.of(X), ReasonCode.ROUTING_ORDERED);

    assertEquals(RoutingMode.ORDERED, old.mode());
    assertEquals(TaskIntent.CHAT, old.intent());
    assertEquals(Map.of(), old.scores());
    assertEquals(Optional.empty(), old.adaptive());
    assertEquals(Optional.empty(), old.standing(0));
  }

  @Test
  @Tag("R54")
  void every_reason_is_a_sentence_of_its_own() {
    long sentences =
        Arrays.stream(ReasonCode.values())
            .map(ReasonCode::reason)
            .filter(reason -> reason.matches("The .*\\."))
            .distinct()
            .count();

    assertEquals(6, sentences);
    assertEquals(6, ReasonCode.values().length);
  }

  @Test
  void standings_are_those_of_all_targets_or_of_none() {
    Standing one = new Standing(Optional.empty(), List.of(), Optional.empty());
    Ranking ranking = new Ranking(Optional.empty(), TaskIntent.CHAT, List.of(one));

    assertThrows(
        IllegalArgumentException.class,
        () ->
            new RouteDecision(
                List.of(X, Y), ReasonCode.ROUTING_ORDERED, Optional.of(ranking), Optional.empty()));
  }

  @Test
  void the_explanation_has_a_line_for_each_target_and_what_became_of_it() {
    Attempt skip = Attempt.skip(1, X, Attempt.ReasonCode.CIRCUIT_OPEN, 0, "Open.");

    assertEquals(
        """
        ROUTING_SPEED: The targets are tried by declared speed: tier and latency bias.
          mode SPEED, intent CHAT
          rank 0: p/x: score 2.0000; step 1 CIRCUIT_OPEN, Open.
          rank 1: p/y: score 0.0000; not declared: tier
        """,
        speed().describe(List.of(skip)));
    assertTrue(speed().describe().contains("rank 0: p/x: score 2.0000\n"));
    assertEquals("ROUTING_SPEED [p/x, p/y]", speed().toString());
    assertEquals(
        """
        ROUTING_ORDERED: The targets are tried in the order of the request.
          no mode asked for, intent CHAT
          rank 0: p/x
        """,
        new RouteDecision(List.of(X), ReasonCode.ROUTING_ORDERED).describe());
  }
}
