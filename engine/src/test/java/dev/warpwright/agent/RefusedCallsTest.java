package dev.warpwright.agent;

import static dev.warpwright.agent.FakeModel.call;
import static dev.warpwright.agent.FakeModel.calls;
import static dev.warpwright.agent.FakeModel.text;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.agent.World.Order;
import dev.warpwright.model.Json;
import dev.warpwright.model.ToolCall;
import dev.warpwright.run.ApprovalDecision;
import dev.warpwright.run.RunEvent;
import dev.warpwright.run.RunEvent.ToolFinished;
import dev.warpwright.run.RunEvent.ToolReconciled;
import dev.warpwright.run.RunEvent.ToolStarted;
import dev.warpwright.run.RunState;
import dev.warpwright.run.RunStore;
import dev.warpwright.tool.EffectClass;
import dev.warpwright.tool.Tool;
import dev.warpwright.tool.ToolExecution;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A call that is not executed is in the log with its error, and without an intent. */
@Timeout(60)
@Tag("A150")
final class RefusedCallsTest {
  private final World world = new World();

  private static List<ToolFinished> finished(List<RunEvent> events) {
    return events.stream()
        .filter(ToolFinished.class::isInstance)
        .map(ToolFinished.class::cast)
        .toList();
  }

  @Test
  void denied_expired_unknown_unreadable_invalid_and_disabled_calls_are_written_as_not_executed() {
    Program program =
        Program.on(
            RunStore.inMemory(),
            FakeModel.of(
                calls(
                    call("denied", "refund", "o1"),
                    call("expired", "reply", "o1"),
                    call("unknown", "nothing", "o1"),
                    ToolCall.malformed("unreadable", "note", "{oops"),
                    new ToolCall("invalid", "note", Json.parse("{\"order\":7}")),
                    call("disabled", "note", "closed")),
                text("Done.")));
    Agent agent =
        Agent.builder("agent", Program.ROUTE)
            .tools(
                world.tool("refund", EffectClass.ONCE).requiresApproval().build(),
                world
                    .tool("reply", EffectClass.ONCE)
                    .requiresApproval()
                    .approvalExpiry(Duration.ofHours(1))
                    .build(),
                world
                    .tool("note", EffectClass.ONCE)
                    .enabledIf(input -> !input.order().equals("closed"))
                    .build())
            .build();
    AgentResult waiting = program.agents.run(AgentRequest.builder(agent, "Do it.").build());
    program.time.advance(Duration.ofHours(1));

    AgentResult done =
        program.agents.resume(
            agent,
            waiting.run(),
            ApprovalDecision.deny(waiting.pendingApprovals().getFirst().requestId(), "no"));

    assertEquals("Done.", done.text());
    List<RunEvent> events = program.events(done.run());
    List<ToolFinished> finished = finished(events);
    assertEquals(6, finished.size());
    for (ToolFinished refused : finished) {
      assertFalse(refused.executed(), refused.callId());
      assertTrue(refused.error(), refused.callId());
      assertEquals(Optional.empty(), refused.key(), refused.callId());
      assertTrue(refused.output().value() instanceof String, refused.callId());
    }
    assertTrue(events.stream().noneMatch(ToolStarted.class::isInstance));
    assertEquals(List.of(), world.effects());
    // The fold needs no tool: the log alone has all results.
    assertEquals(
        6,
        RunState.of(program.log(done.run())).messages().stream()
            .mapToInt(message -> message.toolResults().size())
            .sum());
  }

  @ParameterizedTest
  @EnumSource(EffectClass.class)
  @Tag("A45")
  void a_call_that_is_disabled_at_the_last_moment_is_written_as_not_executed(EffectClass effect) {
    AtomicBoolean open = new AtomicBoolean(true);
    Tool tool =
        Tool.builder(
                "note",
                "",
                Order.class,
                effect,
                (input, context) -> {
                  open.set(false);
                  return world.act("note", input, context);
                })
            .enabledIf(input -> open.get())
            .build();
    Program program =
        Program.on(
            RunStore.inMemory(),
            FakeModel.of(calls(call("c1", "note", "o1"), call("c2", "note", "o2")), text("Done.")));
    Agent agent =
        Agent.builder("agent", Program.ROUTE)
            .tools(tool)
            .toolExecution(ToolExecution.DEFAULT.sequential())
            .build();

    AgentResult done = program.agents.run(AgentRequest.builder(agent, "Do it.").build());

    assertEquals("Done.", done.text());
    assertEquals(1, world.effects().size());
    List<RunEvent> events = program.events(done.run());
    ToolFinished refused = finished(events).get(1);
    assertFalse(refused.executed());
    assertTrue(refused.error());
    assertTrue(refused.output().text().contains("may not be used"), refused.output().text());
    List<String> doubts =
        events.stream()
            .filter(ToolReconciled.class::isInstance)
            .map(event -> ((ToolReconciled) event).verdict().name())
            .toList();
    // What has an effect had its intent written; the log says that it was not carried out.
    assertEquals(effect == EffectClass.PURE ? List.of() : List.of("NOT_EXECUTED"), doubts);
    program.assertNothingIsLeft();
  }
}
