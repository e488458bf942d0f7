package dev.warpwright.agent;

import static dev.warpwright.agent.FakeModel.call;
import static dev.warpwright.agent.FakeModel.calls;
import static dev.warpwright.agent.FakeModel.text;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.agent.World.Order;
import dev.warpwright.model.ConflictException;
import dev.warpwright.model.GuardrailStage;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.model.Route;
import dev.warpwright.model.ToolResult;
import dev.warpwright.run.ApprovalDecision;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.tool.ApprovalMode;
import dev.warpwright.tool.EffectClass;
import dev.warpwright.tool.Guardrail;
import dev.warpwright.tool.Reconciler.Finding;
import dev.warpwright.tool.Tool;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Agents and tools with everything that can be set on them. */
@Timeout(60)
final class ConfiguredAgentTest {
  private record User(String name) {}

  private final World world = new World();
  private final List<GuardrailStage> looked = new CopyOnWriteArrayList<>();
  private final Guardrail guardrail =
      Guardrail.of(
          "looks",
          view -> {
            looked.add(view.stage());
            return Guardrail.Verdict.PASS;
          });

  private Agent agent(Route route) {
    return Agent.builder("agent", route)
        .context(User.class)
        .inputGuardrails(guardrail)
        .outputGuardrails(guardrail)
        .tools(
            world
                .tool("refund", EffectClass.ONCE)
                .requiresApproval()
                .inputGuardrails(guardrail)
                .outputGuardrails(guardrail)
                .enabledIf((input, caller) -> caller.context(User.class).name().equals("ann"))
                .build())
        .build();
  }

  private static Invocation with(Object context) {
    return Invocation.builder().context(context).build();
  }

  @Test
  @Tag("C33")
  void a_resumed_agent_keeps_context_guardrails_and_approval_and_its_tool_runs_once() {
    FakeModel model = FakeModel.of(calls(call("c1", "refund", "o1")), text("Done."));
    Program program = Program.on(RunStore.inMemory(), model);
    Agent agent = agent(Program.ROUTE);
    User ann = new User("ann");
    AgentRequest.Builder request = AgentRequest.builder(agent, "Do it.");
    assertThrows(
        InvalidRequestException.class,
        () -> program.agents.run(request.invocation(with("ann")).build()));
    assertEquals(List.of(), model.asked());
    AgentResult waiting = program.agents.run(request.invocation(with(ann)).build());
    List<ApprovalDecision> decisions =
        List.of(ApprovalDecision.approve(waiting.pendingApprovals().getFirst().requestId()));
    List<LoggedEvent> log = program.log(waiting.run());

    assertThrows(
        ConflictException.class,
        () ->
            program.agents.resume(
                agent(Route.of(Program.SPARE)), waiting.run(), decisions, with(ann)));
    assertEquals(log, program.log(waiting.run()));
    AgentResult done = program.agents.resume(agent, waiting.run(), decisions, with(ann));

    assertEquals("Done.", done.text());
    assertEquals(1, world.effects().size());
    assertEquals(
        List.of(
            GuardrailStage.INPUT,
            GuardrailStage.TOOL_INPUT,
            GuardrailStage.INPUT,
            GuardrailStage.TOOL_INPUT,
            GuardrailStage.TOOL_OUTPUT,
            GuardrailStage.OUTPUT),
        looked);
    program.assertNothingIsLeft();
  }

  @Test
  @Tag("A51")
  void a_tool_is_name_description_input_effect_and_what_is_set_on_it() throws Exception {
    Tool.Builder<Order> builder =
        Tool.builder("refund", "Pays back.", Order.class, EffectClass.IDEMPOTENT, (in, to) -> "");
    Tool plain = builder.build();
    Tool full =
        builder
            .version("2")
            .requiresApproval(input -> input.order().equals("o1"))
            .approvalMode(ApprovalMode.POLICY)
            .approvalExpiry(Duration.ofDays(1))
            .timeout(Duration.ofSeconds(1))
            .idempotencyWindow(Duration.ofHours(1))
            .idempotencyKey(Order::order)
            .reconciler((key, input) -> new Finding.Unknown())
            .build();
    Json input = Json.parse("{\"order\":\"o1\"}");

    assertEquals("refund", plain.name());
    assertEquals("Pays back.", plain.spec().description());
    assertTrue(plain.spec().inputSchema().text().contains("\"order\""));
    assertEquals(EffectClass.IDEMPOTENT, plain.effect());
    assertEquals("1", plain.version());
    assertFalse(plain.requiresApproval(input));
    assertEquals(ApprovalMode.INTERRUPT, plain.approvalMode());
    assertEquals(Optional.empty(), plain.approvalExpiry());
    assertEquals(Optional.empty(), plain.timeout());
    assertEquals(Optional.empty(), plain.idempotencyWindow());
    assertFalse(plain.hasReconciler());

    assertEquals("2", full.version());
    assertTrue(full.requiresApproval(input));
    assertFalse(full.requiresApproval(Json.parse("{\"order\":\"o2\"}")));
    assertEquals(ApprovalMode.POLICY, full.approvalMode());
    assertEquals(Optional.of(Duration.ofDays(1)), full.approvalExpiry());
    assertEquals(Optional.of(Duration.ofSeconds(1)), full.timeout());
    assertEquals(Optional.of(Duration.ofHours(1)), full.idempotencyWindow());
    assertEquals("o1", full.idempotencyKey("run-1", 1, 0, call("c1", "refund", "o1")));
    assertTrue(full.hasReconciler());
  }

  /** What a process acted before it died is repeated by the next one, or is not. */
  @ParameterizedTest
  @CsvSource({"PURE,2,COMPLETED", "IDEMPOTENT,2,COMPLETED", "ONCE,1,NEEDS_RECONCILIATION"})
  @Tag("A52")
  void the_effect_class_says_whether_a_call_may_be_repeated(
      EffectClass effect, int effects, RunStatus status) {
    assertRepeats(world.tool("pay", effect).build(), effect, effects, status);
    assertEquals(1, world.effects().stream().distinct().count(), "under the same key");
  }

  @Test
  @Tag("A52")
  void a_tool_of_which_nobody_says_that_it_may_be_repeated_is_not() {
    Tool pay =
        Tool.of("pay", "", Order.class, (input, context) -> world.act("pay", input, context));
    assertRepeats(pay, EffectClass.ONCE, 1, RunStatus.NEEDS_RECONCILIATION);
  }

  private void assertRepeats(Tool pay, EffectClass effect, int effects, RunStatus status) {
    RunStore store = RunStore.inMemory();
    FakeModel model = FakeModel.of(calls(call("c1", "pay", "o1")), text("Done."));
    Agent agent = Agent.builder("agent", Program.ROUTE).tools(pay).build();
    AgentRequest request = AgentRequest.builder(agent, "Do it.").idempotencyKey("key").build();
    // It creates the run, starts the step, writes the answer with the intent, acts, and dies.
    MortalStore mortal = MortalStore.dyingAt(4, false, store);
    assertThrows(MortalStore.Crash.class, () -> Program.on(mortal, model).agents.run(request));
    mortal.bury();
    assertEquals(1, world.effects().size());
    Program program = Program.on(store, model);

    AgentResult result = program.agents.run(request);

    assertEquals(effect, pay.effect());
    assertEquals(status, result.status());
    assertEquals(effects, world.effects().size());
    List<ToolResult> results =
        result.state().messages().stream().flatMap(m -> m.toolResults().stream()).toList();
    assertEquals(status == RunStatus.COMPLETED ? 1 : 0, results.size());
    program.assertNothingIsLeft();
  }
}
