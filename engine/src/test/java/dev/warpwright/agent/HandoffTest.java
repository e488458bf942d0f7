package dev.warpwright.agent;

import static dev.warpwright.agent.FakeModel.call;
import static dev.warpwright.agent.FakeModel.calls;
import static dev.warpwright.agent.FakeModel.text;
import static dev.warpwright.agent.Family.agent;
import static dev.warpwright.agent.Family.state;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.ConflictException;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Message;
import dev.warpwright.run.RunEvent.RunStarted;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.Runs;
import dev.warpwright.tool.EffectClass;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A run hands over to a new one of another agent. */
@Timeout(60)
@Tag("A100")
final class HandoffTest {
  private final World world = new World();
  private final RunStore store = RunStore.inMemory();
  private final Family family =
      new Family().answers("desk", text("It is about a refund.")).answers("clerk", text("Paid."));
  private final Program program = family.program(store);
  private final Agent desk = agent("desk").instructions("You ask.").build();
  private final Agent clerk = agent("clerk").instructions("You pay.").build();

  @AfterEach
  void nothingIsLeft() {
    program.assertNothingIsLeft();
  }

  private AgentResult asked() {
    return program.agents.run(AgentRequest.builder(desk, "My chair is broken.").build());
  }

  @Test
  void the_new_run_begins_with_who_handed_over_the_summary_and_the_context() {
    family.answers("clerk", text("Never."), text("Paid.")); // the context has an answer in it
    AgentResult asked = asked();
    Handoff handoff =
        Handoff.from(asked.state(), "Broken chair.")
            .id("handoff-1")
            .to(clerk)
            .context(asked.state().messages())
            .metadata(Map.of("case", "7"))
            .build();

    AgentResult result =
        program.agents.run(AgentRequest.builder(clerk, "Go on.").handoff(handoff).build());

    assertEquals("Paid.", result.text());
    RunStarted started = result.state().started();
    assertEquals(
        List.of(
            Message.system("You pay."),
            Message.user("Handoff from desk. Summary: Broken chair."),
            Message.user("My chair is broken."),
            Message.assistant("It is about a refund."),
            Message.user("Go on.")),
        started.messages());
    assertEquals(Optional.of(asked.run().runId()), started.parent());
    assertEquals(
        Optional.of(new RunStarted.HandedOver("handoff-1", "desk", Map.of("case", "7"))),
        started.handoff());
    assertEquals(Optional.empty(), started.childOf(), "it is no child");
    assertFalse(started.handoff().toString().contains("7"));
    assertFalse(handoff.toString().contains("chair"));
  }

  @Test
  void a_handoff_stays_in_its_scope_and_goes_to_whom_it_is_meant_for() {
    AgentResult asked = asked();
    Handoff handoff = Handoff.from(asked.state(), "Broken chair.").to(clerk).build();

    var elsewhere =
        assertThrows(
            InvalidRequestException.class,
            () ->
                AgentRequest.builder(clerk, "Go on.")
                    .handoff(handoff)
                    .scope(RunScope.of("other"))
                    .build());
    assertEquals(FailureKind.INVALID_SCOPE, elsewhere.kind());
    var another =
        assertThrows(
            InvalidRequestException.class,
            () -> AgentRequest.builder(desk, "Go on.").handoff(handoff).build());
    assertTrue(
        String.valueOf(another.getMessage())
            .contains("is meant for the agent \"clerk\" and cannot go to \"desk\""));
    assertThrows(InvalidRequestException.class, () -> Handoff.from(asked.state(), " "));
    assertThrows(InvalidRequestException.class, () -> Handoff.from(asked.state(), "x").id(" "));
  }

  @Test
  void the_same_key_with_another_handoff_is_another_request() {
    AgentResult asked = asked();
    Handoff one = Handoff.from(asked.state(), "Broken chair.").build();
    Handoff other = Handoff.from(asked.state(), "Broken table.").build();
    var result =
        program.agents.run(
            AgentRequest.builder(clerk, "Go on.").idempotencyKey("k").handoff(one).build());
    AgentResult again =
        program.agents.run(
            AgentRequest.builder(clerk, "Go on.")
                .idempotencyKey("k")
                .handoff(Handoff.from(asked.state(), "Broken chair.").build())
                .build());
    assertEquals(result.run(), again.run());

    var refused =
        assertThrows(
            ConflictException.class,
            () ->
                program.agents.run(
                    AgentRequest.builder(clerk, "Go on.")
                        .idempotencyKey("k")
                        .handoff(other)
                        .build()));
    assertTrue(String.valueOf(refused.getMessage()).contains("handoff"));
    assertFalse(String.valueOf(refused.getMessage()).contains("table"));
  }

  @Test
  void a_run_that_was_cancelled_can_hand_over_and_does_not_take_the_other_with_it() {
    Agent buyer =
        agent("desk").tools(world.tool("buy", EffectClass.ONCE).requiresApproval().build()).build();
    family.answers("desk", calls(call("c1", "buy", "o1")), text("Never."));
    AgentResult waiting = program.agents.run(AgentRequest.builder(buyer, "Buy.").build());
    Handoff handoff = Handoff.from(waiting.state(), "Buy it.").build();
    var _ = Runs.in(store).cancel(waiting.run());

    AgentResult result =
        program.agents.run(AgentRequest.builder(clerk, "Go on.").handoff(handoff).build());

    assertEquals(RunStatus.CANCELLED, state(store, waiting.run()).status());
    assertEquals(RunStatus.COMPLETED, result.status());
  }
}
