package dev.warpwright.agent;

import static dev.warpwright.agent.FakeModel.call;
import static dev.warpwright.agent.FakeModel.calls;
import static dev.warpwright.agent.FakeModel.saying;
import static dev.warpwright.agent.FakeModel.text;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.agent.World.Effect;
import dev.warpwright.agent.World.Order;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.GuardrailStage;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.OperationCancelledException;
import dev.warpwright.model.RunFailedException;
import dev.warpwright.run.ApprovalDecision;
import dev.warpwright.run.RunEvent.GuardrailChecked;
import dev.warpwright.run.RunEvent.RunFailed;
import dev.warpwright.run.RunEvent.ToolFinished;
import dev.warpwright.run.RunEvent.ToolReconciled;
import dev.warpwright.run.RunEvent.ToolReconciled.Verdict;
import dev.warpwright.run.RunExport;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.task.Cancellation;
import dev.warpwright.tool.EffectClass;
import dev.warpwright.tool.Guardrail;
import dev.warpwright.tool.OutcomeUnknownException;
import dev.warpwright.tool.Tool;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Rules of the program that end a run. */
@Timeout(60)
final class GuardrailTest {
  private record User(String name) {}

  private final World world = new World();
  private final List<Guardrail.View> seen = new CopyOnWriteArrayList<>();

  private static final Guardrail.Rule OBJECTS =
      view -> Guardrail.Verdict.trigger("secret reason").with(Map.of("note", "secret note"));

  private Guardrail watching(String id) {
    return Guardrail.of(
        id,
        view -> {
          seen.add(view);
          return Guardrail.Verdict.PASS;
        });
  }

  private static Guardrail objecting(String id) {
    return Guardrail.of(id, OBJECTS);
  }

  private static AgentResult run(Program program, Agent agent) {
    return program.agents.run(AgentRequest.builder(agent, "Do it.").build());
  }

  private static void assertStopped(Program program, AgentResult result, GuardrailStage stage) {
    assertEquals(RunStatus.FAILED, result.status());
    RunFailedException failure = assertThrows(RunFailedException.class, result::orThrow);
    assertEquals(FailureKind.GUARDRAIL, failure.kind());
    assertFalse(failure.resumable());
    String message = String.valueOf(failure.getMessage());
    assertTrue(message.contains("no") && message.contains(stage.name()), message);
    assertFalse(message.contains("secret"), message);
    List<GuardrailChecked> checked =
        program.events(result.run()).stream()
            .filter(GuardrailChecked.class::isInstance)
            .map(GuardrailChecked.class::cast)
            .toList();
    assertEquals(
        List.of(
            new GuardrailChecked(
                stage, "no", Optional.of("secret reason"), Map.of("note", "secret note"))),
        checked);
    assertFalse(checked.toString().contains("secret"));
    assertInstanceOf(RunFailed.class, program.events(result.run()).getLast());
    program.assertNothingIsLeft();
  }

  @Test
  @Tag("A24")
  @Tag("A29")
  void an_input_guardrail_ends_the_run_before_any_model_is_asked_and_later_ones_are_not_asked() {
    FakeModel model = FakeModel.of(text("Hello."));
    Program program = Program.on(RunStore.inMemory(), model);
    Agent agent =
        Agent.builder("agent", Program.ROUTE)
            .inputGuardrails(watching("first"), objecting("no"), watching("last"))
            .build();

    AgentResult result = run(program, agent);

    assertStopped(program, result, GuardrailStage.INPUT);
    assertEquals(List.of(), model.asked());
    assertEquals(1, seen.size());
    assertEquals(
        List.of("RunStarted", "GuardrailChecked", "RunFailed"), program.types(result.run()));
    assertEquals(RunStatus.FAILED, program.agents.resume(agent, result.run()).status());
    assertEquals(List.of(), model.asked());
  }

  @Test
  @Tag("A27")
  @Tag("A29")
  @Tag("A129")
  void an_output_guardrail_ends_the_run_and_the_answer_that_was_paid_for_stays_in_the_log() {
    Program program = Program.with(text("The answer."));
    Agent agent =
        Agent.builder("agent", Program.ROUTE)
            .outputGuardrails(watching("first"), objecting("no"), watching("last"))
            .build();

    AgentResult result = run(program, agent);

    assertStopped(program, result, GuardrailStage.OUTPUT);
    assertEquals(1, seen.size());
    assertEquals("The answer.", seen.getFirst().output());
    assertEquals(
        List.of(
            "RunStarted",
            "StepStarted",
            "RouteBound",
            "ModelResponded",
            "GuardrailChecked",
            "RunFailed"),
        program.types(result.run()));
    assertEquals("The answer.", result.text());
  }

  @Test
  @Tag("A27")
  @Tag("A129")
  void a_crash_while_an_output_guardrail_is_asked_costs_no_second_answer() {
    RunStore store = RunStore.inMemory();
    FakeModel model = FakeModel.of(text("The answer."));
    Agent agent =
        Agent.builder("agent", Program.ROUTE)
            .maxSteps(1)
            .outputGuardrails(watching("looks"))
            .build();
    // It creates the run, starts the step, writes the answer, and dies at the end of the run.
    MortalStore mortal = MortalStore.dyingAt(4, false, store);
    Program dying = Program.on(mortal, model);
    AgentRequest request = AgentRequest.builder(agent, "Do it.").idempotencyKey("key").build();
    assertThrows(MortalStore.Crash.class, () -> dying.agents.run(request));
    mortal.bury();
    Program program = Program.on(store, model);

    AgentResult done = program.agents.run(request);

    assertEquals("The answer.", done.text());
    assertEquals(RunStatus.COMPLETED, done.status());
    assertEquals(List.of(0), model.asked());
    assertEquals(2, seen.size(), "asked again in the second process");
    program.assertNothingIsLeft();
  }

  @Test
  @Tag("A66")
  void a_guardrail_sees_the_run_its_agent_metadata_context_and_what_it_is_about() {
    User ann = new User("ann");
    Program program =
        Program.with(
            saying("First. ", call("c1", "note", "o1"), call("c2", "refund", "o2")), text("Last."));
    record Noted(List<String> notes) {}
    Tool note =
        Tool.builder(
                "note",
                "",
                Order.class,
                java.lang.invoke.MethodHandles.lookup(),
                EffectClass.PURE,
                (input, context) -> new Noted(new ArrayList<>(List.of("noted"))))
            .inputGuardrails(watching("input"))
            .outputGuardrails(
                Guardrail.of(
                    "output",
                    view -> {
                      seen.add(view);
                      ((Noted) view.output()).notes().clear();
                      return Guardrail.Verdict.PASS;
                    }))
            .build();
    Agent agent =
        Agent.builder("agent", Program.ROUTE)
            .context(User.class)
            .inputGuardrails(watching("in"))
            .outputGuardrails(watching("out"))
            .tools(note, world.tool("refund", EffectClass.ONCE).build())
            .build();

    AgentResult result =
        program.agents.run(
            AgentRequest.builder(agent, "Do it.")
                .runId("run-1")
                .metadata(Map.of("customer", "c-1"))
                .invocation(Invocation.builder().context(ann).build())
                .build());

    assertEquals(
        List.of(
            GuardrailStage.INPUT,
            GuardrailStage.TOOL_INPUT,
            GuardrailStage.TOOL_OUTPUT,
            GuardrailStage.OUTPUT),
        seen.stream().map(Guardrail.View::stage).toList());
    for (Guardrail.View view : seen) {
      assertEquals("run-1", view.caller().operationId());
      assertEquals(Optional.of("agent"), view.caller().agentId());
      assertEquals(Map.of("customer", "c-1"), view.caller().metadata());
      assertEquals(ann, view.caller().context(User.class));
      assertThrows(UnsupportedOperationException.class, () -> view.messages().clear());
      assertFalse(view.toString().contains("Do it"), view.toString());
    }
    assertEquals("Do it.", seen.get(0).text());
    assertEquals(List.of(Message.user("Do it.")), seen.get(0).messages());
    assertEquals("{\"order\":\"o1\"}", seen.get(1).text());
    assertEquals("c1", seen.get(1).call().orElseThrow().id());
    assertInstanceOf(Noted.class, seen.get(2).output(), "raw, not JSON yet");
    assertEquals("First. Last.", seen.get(3).text());
    assertEquals(4, seen.get(3).messages().size());
    assertEquals(
        Json.parse("{\"notes\":[\"noted\"]}"),
        result.state().messages().get(2).toolResults().getFirst().output(),
        "what a guardrail did to the output has no effect");
    program.assertNothingIsLeft();
  }

  @Test
  @Tag("A39")
  @Tag("A48")
  void an_input_guardrail_of_one_tool_keeps_the_whole_batch_from_running_and_is_asked_first() {
    Program program =
        Program.with(calls(call("c1", "note", "o1"), call("c2", "refund", "o2")), text("Done."));
    Agent agent =
        Agent.builder("agent", Program.ROUTE)
            .tools(
                world.tool("note", EffectClass.IDEMPOTENT).build(),
                world
                    .tool("refund", EffectClass.ONCE)
                    .requiresApproval()
                    .inputGuardrails(
                        Guardrail.of(
                            "no",
                            view ->
                                view.text().contains("o2")
                                    ? OBJECTS.check(view)
                                    : Guardrail.Verdict.PASS))
                    .build())
            .build();

    AgentResult result = run(program, agent);

    assertStopped(program, result, GuardrailStage.TOOL_INPUT);
    assertEquals(List.of(), world.effects());
    assertEquals(
        List.of(
            "RunStarted",
            "StepStarted",
            "RouteBound",
            "ModelResponded",
            "GuardrailChecked",
            "RunFailed"),
        program.types(result.run()),
        "no approval was asked for, and the paid answer is there");
  }

  @ParameterizedTest
  @EnumSource(EffectClass.class)
  @Tag("A48")
  void an_output_guardrail_of_a_tool_ends_the_run_with_the_effect_in_the_log_and_not_the_output(
      EffectClass effect) {
    FakeModel model =
        FakeModel.of(calls(call("c1", "pay", "o1"), call("c2", "pay", "o2")), text("Done."))
            .sequential();
    Program program = Program.on(RunStore.inMemory(), model);
    Agent agent =
        Agent.builder("agent", Program.ROUTE)
            .tools(world.tool("pay", effect).outputGuardrails(objecting("no")).build())
            .build();

    AgentResult result = run(program, agent);

    assertStopped(program, result, GuardrailStage.TOOL_OUTPUT);
    assertEquals(1, world.effects().size(), "the second call did not begin");
    assertEquals(List.of(0), model.asked());
    ToolFinished finished =
        program.events(result.run()).stream()
            .filter(ToolFinished.class::isInstance)
            .map(ToolFinished.class::cast)
            .findFirst()
            .orElseThrow();
    assertTrue(finished.executed() && finished.error());
    assertFalse(RunExport.write(result.log()).contains("pay of o1 done"));
  }

  @Test
  @Tag("A48")
  void a_crash_after_an_output_guardrail_of_a_tool_triggered_does_not_recover_the_run() {
    RunStore store = RunStore.inMemory();
    FakeModel model = FakeModel.of(calls(call("c1", "pay", "o1")), text("Done."));
    Agent agent =
        Agent.builder("agent", Program.ROUTE)
            .tools(world.tool("pay", EffectClass.ONCE).outputGuardrails(objecting("no")).build())
            .build();
    // It creates the run, starts the step, writes answer and intent, then the outcome, and dies.
    MortalStore mortal = MortalStore.dyingAt(4, true, store);
    Program dying = Program.on(mortal, model);
    AgentRequest request = AgentRequest.builder(agent, "Do it.").idempotencyKey("key").build();
    assertThrows(MortalStore.Crash.class, () -> dying.agents.run(request));
    mortal.bury();
    Program program = Program.on(store, model);
    assertEquals("GuardrailChecked", program.types(program.runs().getFirst().run()).getLast());

    AgentResult result = program.agents.run(request);

    assertStopped(program, result, GuardrailStage.TOOL_OUTPUT);
    assertEquals(List.of(0), model.asked());
    assertEquals(1, world.effects().size());
  }

  @Test
  @Tag("A48")
  @Tag("A56")
  void a_run_fails_over_a_guardrail_only_when_no_outcome_is_unknown_and_then_it_does() {
    Program program =
        Program.with(calls(call("c1", "lost", "o1"), call("c2", "pay", "o2")), text("Done."));
    Agent agent =
        Agent.builder("agent", Program.ROUTE)
            .tools(
                Tool.of(
                    "lost",
                    "",
                    Order.class,
                    EffectClass.ONCE,
                    (input, context) -> {
                      throw new OutcomeUnknownException(new IllegalStateException());
                    }),
                world.tool("pay", EffectClass.ONCE).outputGuardrails(objecting("no")).build())
            .build();

    AgentResult waiting = run(program, agent);
    assertEquals(RunStatus.NEEDS_RECONCILIATION, waiting.status());
    var _ =
        program
            .agents
            .runs()
            .reconcile(
                waiting.run(),
                new ToolReconciled(
                    "c1",
                    waiting.inDoubt().getFirst().started().orElseThrow().key(),
                    Verdict.SUCCEEDED,
                    Optional.of(Json.of("paid")),
                    "ann"));

    assertStopped(program, program.agents.resume(agent, waiting.run()), GuardrailStage.TOOL_OUTPUT);
  }

  @Test
  @Tag("A48")
  void what_a_reconciler_finds_is_looked_at_like_what_the_tool_returns() {
    RunStore store = RunStore.inMemory();
    FakeModel model = FakeModel.of(calls(call("c1", "pay", "o1")), text("Done."));
    Agent agent =
        Agent.builder("agent", Program.ROUTE)
            .tools(world.reconciled("pay").outputGuardrails(objecting("no")).build())
            .build();
    // It dies before the outcome is written.
    MortalStore mortal = MortalStore.dyingAt(4, false, store);
    Program dying = Program.on(mortal, model);
    AgentRequest request = AgentRequest.builder(agent, "Do it.").idempotencyKey("key").build();
    assertThrows(MortalStore.Crash.class, () -> dying.agents.run(request));
    mortal.bury();
    Program program = Program.on(store, model);

    AgentResult result = program.agents.run(request);

    assertStopped(program, result, GuardrailStage.TOOL_OUTPUT);
    assertFalse(RunExport.write(result.log()).contains("pay of o1 done"));
    assertEquals(1, world.effects().size());
  }

  @Test
  @Tag("A67")
  @Tag("C33")
  void guardrails_are_asked_again_on_a_resume_and_may_end_the_run_then() {
    AtomicBoolean strict = new AtomicBoolean();
    Guardrail input =
        Guardrail.of(
            "no",
            view -> {
              seen.add(view);
              return strict.get() ? OBJECTS.check(view) : Guardrail.Verdict.PASS;
            });
    FakeModel model = FakeModel.of(calls(call("c1", "refund", "o1")), text("Done."));
    Program program = Program.on(RunStore.inMemory(), model);
    Agent agent =
        Agent.builder("agent", Program.ROUTE)
            .inputGuardrails(input)
            .tools(
                world
                    .tool("refund", EffectClass.ONCE)
                    .requiresApproval()
                    .inputGuardrails(watching("tool"))
                    .build())
            .build();
    AgentResult waiting = run(program, agent);
    assertEquals(2, seen.size());
    ApprovalDecision decision =
        ApprovalDecision.approve(waiting.pendingApprovals().getFirst().requestId());
    AgentResult other = run(program, agent);

    AgentResult done = program.agents.resume(agent, waiting.run(), decision);
    assertEquals("Done.", done.text());
    assertEquals(
        List.of(GuardrailStage.INPUT, GuardrailStage.TOOL_INPUT),
        seen.subList(4, 6).stream().map(Guardrail.View::stage).toList());
    assertEquals(2, seen.get(4).messages().size(), "all messages by now");

    strict.set(true);
    AgentResult stopped =
        program.agents.resume(
            agent,
            other.run(),
            ApprovalDecision.approve(other.pendingApprovals().getFirst().requestId()));
    assertStopped(program, stopped, GuardrailStage.INPUT);
    assertEquals(List.of("refund"), world.effects().stream().map(Effect::tool).toList());
  }

  @Test
  @Tag("A24")
  void with_no_steps_left_the_run_fails_before_a_guardrail_is_asked() {
    Program program = Program.with(calls(call("c1", "note", "o1")), text("Done."));
    Agent agent =
        Agent.builder("agent", Program.ROUTE)
            .maxSteps(1)
            .inputGuardrails(watching("in"))
            .tools(world.tool("note", EffectClass.PURE).build())
            .build();
    AgentResult exhausted = run(program, agent);
    assertEquals(FailureKind.LIMIT, exhausted.state().failure().orElseThrow().kind());
    assertEquals(1, seen.size());

    AgentResult again = program.agents.resume(agent, exhausted.run());

    assertEquals(FailureKind.LIMIT, again.state().failure().orElseThrow().kind());
    assertEquals(1, seen.size());
    program.assertNothingIsLeft();
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void a_guardrail_that_cannot_tell_counts_as_triggered(boolean throwing) {
    FakeModel model = FakeModel.of(text("Hello."));
    Program program = Program.on(RunStore.inMemory(), model);
    Agent agent =
        Agent.builder("agent", Program.ROUTE)
            .inputGuardrails(
                Guardrail.of(
                    "broken",
                    view -> {
                      if (throwing) {
                        throw new IllegalStateException("secret");
                      }
                      return null;
                    }))
            .build();

    AgentResult result = run(program, agent);

    assertEquals(FailureKind.GUARDRAIL, result.state().failure().orElseThrow().kind());
    assertEquals(List.of(), model.asked());
    assertFalse(RunExport.write(result.log()).contains("secret"));
    program.assertNothingIsLeft();
  }

  @Test
  void an_output_guardrail_of_a_tool_that_cannot_tell_counts_as_triggered() {
    Program program = Program.with(calls(call("c1", "pay", "o1")), text("Done."));
    Agent agent =
        Agent.builder("agent", Program.ROUTE)
            .tools(
                world
                    .tool("pay", EffectClass.ONCE)
                    .outputGuardrails(
                        Guardrail.of(
                            "broken",
                            view -> {
                              throw new InterruptedException();
                            }))
                    .build())
            .build();

    AgentResult result = run(program, agent);

    assertEquals(FailureKind.GUARDRAIL, result.state().failure().orElseThrow().kind());
    program.assertNothingIsLeft();
  }

  @Test
  void an_error_of_a_guardrail_is_rethrown() {
    Program program = Program.with(text("Hello."));
    Agent agent =
        Agent.builder("agent", Program.ROUTE)
            .inputGuardrails(
                Guardrail.of(
                    "broken",
                    view -> {
                      throw new AssertionError("broken");
                    }))
            .build();

    assertThrows(AssertionError.class, () -> run(program, agent));
    assertEquals(RunStatus.FAILED, program.runs().getFirst().status());
    program.assertNothingIsLeft();
  }

  @Test
  void a_guardrail_that_hangs_is_cut_off_by_a_cancel_and_the_run_can_be_resumed() throws Exception {
    CountDownLatch hangs = new CountDownLatch(1);
    AtomicInteger asked = new AtomicInteger();
    Program program = Program.with(text("Hello."));
    Agent agent =
        Agent.builder("agent", Program.ROUTE)
            .inputGuardrails(
                Guardrail.of(
                    "slow",
                    view -> {
                      if (asked.incrementAndGet() == 1) {
                        hangs.countDown();
                        new CountDownLatch(1).await();
                      }
                      return Guardrail.Verdict.PASS;
                    }))
            .build();
    Cancellation cancellation = new Cancellation();
    Thread canceller =
        Thread.ofVirtual()
            .start(
                () -> {
                  try {
                    hangs.await();
                  } catch (InterruptedException e) {
                    throw new AssertionError(e);
                  }
                  cancellation.cancel("enough");
                });

    assertThrows(
        OperationCancelledException.class,
        () ->
            program.agents.run(
                AgentRequest.builder(agent, "Do it.")
                    .invocation(Invocation.builder().cancellation(cancellation).build())
                    .build()));
    canceller.join();

    assertEquals("Hello.", program.agents.resume(agent, program.runs().getFirst().run()).text());
    program.assertNothingIsLeft();
  }

  @Test
  void a_stream_ends_with_the_failure_too() {
    Program program = Program.with(text("Hello."));
    Agent agent = Agent.builder("agent", Program.ROUTE).outputGuardrails(objecting("no")).build();

    try (AgentStream stream =
        program.agents.stream(AgentRequest.builder(agent, "Do it.").build())) {
      assertStopped(program, stream.collect(), GuardrailStage.OUTPUT);
    }
  }

  @Test
  void ids_and_verdicts_have_bounds() {
    for (String wrong : List.of("", "a b", "x".repeat(65))) {
      assertThrows(InvalidRequestException.class, () -> objecting(wrong));
    }
    assertThrows(InvalidRequestException.class, () -> Guardrail.Verdict.trigger("x".repeat(1025)));
    assertThrows(
        InvalidRequestException.class,
        () ->
            Agent.builder("agent", Program.ROUTE).inputGuardrails(objecting("a"), objecting("a")));
  }
}
