package dev.warpwright.agent;

import static dev.warpwright.agent.FakeModel.call;
import static dev.warpwright.agent.FakeModel.calls;
import static dev.warpwright.agent.FakeModel.ended;
import static dev.warpwright.agent.FakeModel.saying;
import static dev.warpwright.agent.FakeModel.status;
import static dev.warpwright.agent.FakeModel.text;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.Attempt;
import dev.warpwright.model.ConflictException;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.Role;
import dev.warpwright.model.RunFailedException;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.ToolResult;
import dev.warpwright.run.RunEvent;
import dev.warpwright.run.RunEvent.ModelResponded;
import dev.warpwright.run.RunEvent.RunCompleted;
import dev.warpwright.run.RunEvent.RunFailed;
import dev.warpwright.run.RunEvent.ToolFinished;
import dev.warpwright.run.RunEvent.ToolStarted;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.tool.EffectClass;
import dev.warpwright.tool.Tool;
import dev.warpwright.tool.ToolException;
import dev.warpwright.tool.ToolExecution;
import java.lang.invoke.MethodHandles;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The model and tool loop of a run that nothing disturbs. */
@Timeout(60)
final class AgentLoopTest {
  private final World world = new World();
  private Optional<Program> program = Optional.empty();

  @AfterEach
  void nothingIsLeft() {
    program.orElseThrow().assertNothingIsLeft();
  }

  private Program program(FakeModel model) {
    program = Optional.of(Program.on(RunStore.inMemory(), model));
    return program.get();
  }

  private Program program(FakeModel.Answer... answers) {
    return program(FakeModel.of(answers));
  }

  private static Agent.Builder agent(Tool... tools) {
    return Agent.builder("agent", Program.ROUTE).tools(tools);
  }

  private static AgentResult run(Program program, Agent agent) {
    return program.agents.run(AgentRequest.builder(agent, "Do it.").build());
  }

  private static <E extends RunEvent> List<E> events(
      Program program, AgentResult result, Class<E> type) {
    return program.events(result.run()).stream().filter(type::isInstance).map(type::cast).toList();
  }

  private static List<ToolResult> results(AgentResult result) {
    return result.state().messages().stream()
        .flatMap(message -> message.toolResults().stream())
        .toList();
  }

  private static String output(ToolResult result) {
    return String.valueOf(result.output().value());
  }

  @Test
  @Tag("A34")
  void a_run_with_one_tool_writes_its_events_in_the_order_of_the_loop() {
    Program program = program(saying("Refunding. ", call("c1", "refund", "o1")), text("Refunded."));

    AgentResult result =
        run(program, agent(world.tool("refund", EffectClass.ONCE).build()).build());

    assertEquals(
        List.of(
            "RunStarted",
            "StepStarted",
            "RouteBound",
            "ModelResponded",
            "ToolStarted",
            "ToolFinished",
            "StepStarted",
            "ModelResponded",
            "RunCompleted"),
        program.types(result.run()));
    assertEquals(RunStatus.COMPLETED, result.status());
    assertEquals("Refunding. Refunded.", result.text());
    RunCompleted end = assertInstanceOf(RunCompleted.class, program.events(result.run()).getLast());
    assertEquals("Refunding. Refunded.", end.text());
    assertEquals(2, end.steps());
    assertEquals(result.state().usage(), end.usage());
    assertEquals(1, result.toolCalls());
    assertEquals(2, result.attempts().size());
    assertTrue(result.driven());
    assertEquals(1, world.effects().size());
    assertEquals(result, result.orThrow());
  }

  @Test
  @Tag("A36")
  @Tag("A54")
  void the_answer_and_the_intent_are_in_the_log_when_a_tool_begins() {
    Program program = program(calls(call("c1", "refund", "o1")), text("Done."));
    CountDownLatch checked = new CountDownLatch(1);
    Tool tool =
        Tool.of(
            "refund",
            "",
            World.Order.class,
            EffectClass.ONCE,
            (input, context) -> {
              List<RunEvent> log = program.events(program.runs().getFirst().run());
              assertInstanceOf(ModelResponded.class, log.get(log.size() - 2));
              ToolStarted intent = assertInstanceOf(ToolStarted.class, log.getLast());
              assertEquals(context.idempotencyKey(), intent.key());
              assertEquals(context.callId(), intent.callId());
              assertEquals(1, intent.attempt());
              checked.countDown();
              return null;
            });

    AgentResult result = run(program, agent(tool).build());

    assertEquals(0, checked.getCount());
    assertEquals(RunStatus.COMPLETED, result.status());
  }

  @Test
  @Tag("A54")
  void a_pure_tool_leaves_no_trace_before_its_outcome() {
    Program program = program(calls(call("c1", "look", "o1")), text("Done."));
    CountDownLatch checked = new CountDownLatch(1);
    Tool tool =
        Tool.of(
            "look",
            "",
            World.Order.class,
            EffectClass.PURE,
            (input, context) -> {
              List<RunEvent> log = program.events(program.runs().getFirst().run());
              assertInstanceOf(ModelResponded.class, log.getLast());
              checked.countDown();
              return null;
            });

    AgentResult result = run(program, agent(tool).build());

    assertEquals(0, checked.getCount());
    List<String> types = program.types(result.run());
    assertTrue(types.contains("ToolStarted") && types.contains("ToolFinished"), types::toString);
  }

  @Test
  @Tag("A53")
  void keys_name_run_and_call_and_equal_inputs_of_different_calls_have_different_keys() {
    Program program =
        program(calls(call("c1", "refund", "o1"), call("c2", "refund", "o1")), text("Done."));

    AgentResult result =
        run(program, agent(world.tool("refund", EffectClass.ONCE).build()).build());

    List<String> keys = world.effects().stream().map(World.Effect::key).distinct().toList();
    assertEquals(2, keys.size());
    for (String key : keys) {
      assertTrue(key.matches(result.run().runId() + ":tool_[0-9a-f]{64}"), key);
    }
  }

  @Test
  @Tag("A53")
  void a_tool_may_make_its_key_from_its_input() {
    Program program =
        program(calls(call("c1", "note", "o1"), call("c2", "note", "o1")), text("Done."));
    Tool tool =
        world
            .tool("note", EffectClass.IDEMPOTENT)
            .idempotencyKey(input -> "note-" + input.order())
            .build();

    AgentResult result = run(program, agent(tool).build());

    assertEquals(RunStatus.COMPLETED, result.status());
    assertEquals(
        List.of("note-o1", "note-o1"), world.effects().stream().map(World.Effect::key).toList());
  }

  @Test
  @Tag("A32")
  @Tag("A37")
  @Tag("A12")
  void the_last_allowed_step_still_runs_its_tools_and_then_the_run_fails() {
    Program program = program(calls(call("c1", "refund", "o1")));

    AgentResult result =
        run(program, agent(world.tool("refund", EffectClass.ONCE).build()).maxSteps(1).build());

    assertEquals(RunStatus.FAILED, result.status());
    assertEquals(1, world.effects().size());
    RunFailed failure = result.state().failure().orElseThrow();
    assertEquals(FailureKind.LIMIT, failure.kind());
    assertTrue(failure.message().contains("exhausted maxSteps"), failure.message());
    assertTrue(failure.resumable());
    RunFailedException thrown = assertThrows(RunFailedException.class, result::orThrow);
    assertEquals(FailureKind.LIMIT, thrown.kind());
    assertTrue(thrown.resumable());
  }

  @Test
  @Tag("A12")
  @Tag("A13")
  @Tag("A32")
  void a_resume_goes_on_only_if_it_raises_the_number_of_steps_that_were_used_up() {
    Program program = program(calls(call("c1", "look", "o1")), text("Done."));
    Agent.Builder builder = agent(world.tool("look", EffectClass.PURE).build()).maxSteps(1);
    AgentResult failed = run(program, builder.build());

    AgentResult again = program.agents.resume(builder.build(), failed.run());
    assertEquals(RunStatus.FAILED, again.status());
    assertEquals(List.of(), again.attempts());

    AgentResult raised = program.agents.resume(builder.maxSteps(2).build(), failed.run());
    assertEquals(RunStatus.COMPLETED, raised.status());
    assertEquals(2, raised.state().step());
    assertEquals(1, raised.attempts().size());
  }

  @Test
  @Tag("A35")
  @Tag("A41")
  void an_answer_that_was_cut_off_is_kept_and_no_tool_of_it_runs() {
    for (FinishReason.Kind kind :
        List.of(
            FinishReason.Kind.LENGTH,
            FinishReason.Kind.PAUSED,
            FinishReason.Kind.CONTENT_FILTER,
            FinishReason.Kind.REFUSAL,
            FinishReason.Kind.OTHER)) {
      Program program = program(ended(kind, "I will", call("c1", "refund", "o1")));

      AgentResult result =
          run(program, agent(world.tool("refund", EffectClass.ONCE).build()).build());

      assertEquals(RunStatus.FAILED, result.status());
      assertEquals(List.of(), world.effects());
      RunFailed failure = result.state().failure().orElseThrow();
      boolean refused =
          kind == FinishReason.Kind.REFUSAL || kind == FinishReason.Kind.CONTENT_FILTER;
      assertEquals(
          refused ? FailureKind.OUTPUT_REFUSAL : FailureKind.OUTPUT_TRUNCATION, failure.kind());
      assertFalse(failure.resumable());
      assertTrue(failure.message().contains(kind.name()), failure.message());
      assertEquals("I will", result.text());
      assertEquals(1, events(program, result, ModelResponded.class).size());
      program.assertNothingIsLeft();
    }
  }

  @Test
  @Tag("A41")
  void an_answer_that_ended_normally_may_ask_for_tools() {
    Program program =
        program(
            ended(FinishReason.Kind.STOP, "", call("c1", "refund", "o1")),
            ended(FinishReason.Kind.LENGTH, "Cut off, but an answer"));

    AgentResult result =
        run(program, agent(world.tool("refund", EffectClass.ONCE).build()).build());

    assertEquals(RunStatus.COMPLETED, result.status());
    assertEquals(1, world.effects().size());
  }

  @Test
  @Tag("A41")
  void an_answer_that_ended_with_an_error_is_a_failure_of_the_provider() {
    Program program = program(ended(FinishReason.Kind.ERROR, "", call("c1", "refund", "o1")));

    AgentResult result =
        run(program, agent(world.tool("refund", EffectClass.ONCE).build()).build());

    RunFailed failure = result.state().failure().orElseThrow();
    assertEquals(FailureKind.TARGETS_EXHAUSTED, failure.kind());
    assertTrue(failure.resumable());
    assertEquals(List.of(), world.effects());
    assertEquals(List.of(), events(program, result, ModelResponded.class));
  }

  @Test
  void an_answer_with_two_calls_of_the_same_id_never_becomes_part_of_a_run() {
    Program program = program(calls(call("c1", "refund", "o1"), call("c1", "refund", "o2")));

    AgentResult result =
        run(program, agent(world.tool("refund", EffectClass.ONCE).build()).build());

    assertTrue(result.state().failure().orElseThrow().resumable());
    assertEquals(List.of(), world.effects());
    assertEquals(List.of(), events(program, result, ModelResponded.class));
  }

  @Test
  @Tag("A39")
  @Tag("A40")
  void a_call_that_cannot_be_used_is_answered_with_an_error_and_the_others_run() {
    Program program =
        program(
            calls(
                call("c1", "nothing", "o1"),
                ToolCall.malformed("c2", "refund", "{oops"),
                new ToolCall("c3", "refund", Json.parse("{\"order\":7}")),
                call("c4", "refund", "forbidden"),
                call("c5", "refund", "o1")),
            text("Done."));
    Tool refund =
        world
            .tool("refund", EffectClass.ONCE)
            .enabledIf(input -> !input.order().equals("forbidden"))
            .build();

    AgentResult result = run(program, agent(refund).build());

    assertEquals(RunStatus.COMPLETED, result.status());
    assertEquals(List.of("o1"), world.effects().stream().map(World.Effect::order).toList());
    List<ToolResult> results = results(result);
    assertEquals(
        List.of("c1", "c2", "c3", "c4", "c5"), results.stream().map(ToolResult::callId).toList());
    assertEquals(
        List.of(true, true, true, true, false), results.stream().map(ToolResult::error).toList());
    assertTrue(output(results.get(0)).contains("\"nothing\""), output(results.get(0)));
    assertTrue(output(results.get(0)).contains("refund"), output(results.get(0)));
    assertTrue(output(results.get(2)).contains("order"), output(results.get(2)));
    List<ToolFinished> refused =
        events(program, result, ToolFinished.class).stream().filter(e -> !e.executed()).toList();
    assertEquals(4, refused.size());
    assertTrue(refused.stream().allMatch(e -> e.error() && e.key().isEmpty()));
    assertEquals(1, events(program, result, ToolStarted.class).size());
    assertEquals(4, result.state().toolErrors());
  }

  @Test
  @Tag("A40")
  void more_tool_errors_than_allowed_end_the_run() {
    Program program =
        program(
            calls(call("c1", "nothing", "o1"), call("c2", "look", "o1")),
            calls(call("c3", "look", "o1")));
    Agent agent = agent(World.failing("look", EffectClass.PURE)).maxToolErrors(2).build();

    AgentResult result = run(program, agent);

    RunFailed failure = result.state().failure().orElseThrow();
    assertEquals(FailureKind.LIMIT, failure.kind());
    assertTrue(failure.message().contains("maxToolErrors"), failure.message());
    assertEquals(3, result.state().toolErrors());
    assertEquals(2, result.state().step());
    assertEquals(
        List.of(), program.agents.resume(agent, result.run()).attempts(), "no model is asked");
  }

  @Test
  @Tag("A35")
  @Tag("A40")
  void an_agent_may_fail_over_a_call_that_cannot_be_used_and_the_answer_is_kept_with_that() {
    List<Integer> sizes = new ArrayList<>();
    Program program =
        Program.on(
            new WaitingStore(RunStore.inMemory(), append -> sizes.add(append.events().size())),
            FakeModel.of(saying("Hm. ", call("c1", "refund", "o1"), call("c2", "nothing", "o1"))));
    this.program = Optional.of(program);
    Agent agent =
        agent(world.tool("refund", EffectClass.ONCE).requiresApproval().build())
            .invalidInput(InvalidInput.FAIL)
            .build();

    AgentResult result = run(program, agent);

    assertEquals(RunStatus.FAILED, result.status());
    RunFailed failure = result.state().failure().orElseThrow();
    assertEquals(FailureKind.OUTPUT_SCHEMA, failure.kind());
    assertFalse(failure.resumable());
    assertTrue(failure.message().contains("nothing"), failure.message());
    assertEquals("Hm. ", result.text());
    assertEquals(List.of(), world.effects());
    assertEquals(
        List.of("RunStarted", "StepStarted", "RouteBound", "ModelResponded", "RunFailed"),
        program.types(result.run()));
    assertEquals(List.of(1, 3), sizes, "the answer and the failure are one append");
  }

  @Test
  @Tag("A35")
  @Tag("A36")
  void an_answer_is_kept_when_the_rule_of_a_tool_throws() {
    Program program = program(calls(call("c1", "refund", "o1")), text("Done."));
    AtomicInteger asked = new AtomicInteger();
    Tool moody =
        world
            .tool("refund", EffectClass.ONCE)
            .enabledIf(
                input -> {
                  if (asked.incrementAndGet() == 1) {
                    throw new IllegalStateException("secret");
                  }
                  return true;
                })
            .build();
    Agent agent = agent(moody).build();

    assertThrows(IllegalStateException.class, () -> run(program, agent));

    var run = program.runs().getFirst().run();
    assertEquals(
        List.of("RunStarted", "StepStarted", "RouteBound", "ModelResponded", "RunFailed"),
        program.types(run));
    RunFailed failure = assertInstanceOf(RunFailed.class, program.events(run).getLast());
    assertEquals(FailureKind.INTERNAL, failure.kind());
    assertFalse(failure.message().contains("secret"), failure.message());

    AgentResult resumed = program.agents.resume(agent, run);
    assertEquals(RunStatus.COMPLETED, resumed.status());
    assertEquals(1, world.effects().size());
    assertEquals(1, resumed.attempts().size(), "the paid answer is not asked for again");
  }

  @Test
  @Tag("A44")
  void calls_of_a_model_that_declares_it_run_at_the_same_time() {
    CountDownLatch both = new CountDownLatch(2);
    Program program =
        program(calls(call("c1", "meet", "o1"), call("c2", "meet", "o2")), text("Done."));

    AgentResult result = run(program, agent(meeting(both)).build());

    assertEquals(RunStatus.COMPLETED, result.status());
    assertEquals(List.of("o1", "o2"), results(result).stream().map(AgentLoopTest::output).toList());
  }

  private static Tool meeting(CountDownLatch all) {
    return Tool.of(
        "meet",
        "",
        World.Order.class,
        EffectClass.PURE,
        (input, context) -> {
          all.countDown();
          all.await();
          return input.order();
        });
  }

  @Test
  @Tag("A44")
  void calls_run_one_by_one_unless_model_or_agent_says_otherwise() {
    for (Agent.Builder options :
        List.of(
            agent(),
            agent().toolExecution(ToolExecution.DEFAULT.sequential()),
            agent().toolExecution(ToolExecution.DEFAULT.withMaxConcurrency(1)))) {
      AtomicInteger running = new AtomicInteger();
      AtomicInteger most = new AtomicInteger();
      Tool counting =
          Tool.of(
              "count",
              "",
              World.Order.class,
              EffectClass.IDEMPOTENT,
              (input, context) -> {
                most.accumulateAndGet(running.incrementAndGet(), Math::max);
                Thread.onSpinWait();
                running.decrementAndGet();
                return input.order();
              });
      FakeModel model =
          FakeModel.of(
              calls(
                  call("c1", "count", "o1"), call("c2", "count", "o2"), call("c3", "count", "o3")),
              text("Done."));
      boolean byModel = options.build().toolExecution().equals(ToolExecution.DEFAULT);
      Program program = program(byModel ? model.sequential() : model);

      AgentResult result = run(program, options.tools(counting).build());

      assertEquals(1, most.get());
      assertEquals(
          List.of("o1", "o2", "o3"), results(result).stream().map(AgentLoopTest::output).toList());
      List<String> tools =
          program.types(result.run()).stream().filter(type -> type.startsWith("Tool")).toList();
      assertEquals(
          List.of(
              "ToolStarted",
              "ToolFinished",
              "ToolStarted",
              "ToolFinished",
              "ToolStarted",
              "ToolFinished"),
          tools);
      program.assertNothingIsLeft();
    }
  }

  @Test
  @Tag("A44")
  void results_keep_call_order_when_tools_end_in_another() {
    CountDownLatch second = new CountDownLatch(1);
    Tool tool =
        Tool.of(
            "do",
            "",
            World.Order.class,
            EffectClass.IDEMPOTENT,
            (input, context) -> {
              if (input.order().equals("first")) {
                second.await();
              } else {
                second.countDown();
              }
              return input.order();
            });
    Program program =
        program(calls(call("c1", "do", "first"), call("c2", "do", "second")), text("Done."));

    AgentResult result = run(program, agent(tool).build());

    List<Message> messages = result.state().messages();
    assertEquals(
        List.of("c1", "c2"),
        messages.get(messages.size() - 2).toolResults().stream().map(ToolResult::callId).toList());
  }

  @Test
  @Tag("A47")
  void a_throwing_tool_gives_an_error_result_with_a_fixed_text_or_the_one_meant_for_the_model() {
    Program program =
        program(calls(call("c1", "leak", "o1"), call("c2", "tell", "o1")), text("Done."));
    Tool leak =
        Tool.of(
            "leak",
            "",
            World.Order.class,
            EffectClass.ONCE,
            (input, context) -> {
              throw new IllegalStateException("password=hunter2");
            });
    Tool tell =
        Tool.of(
            "tell",
            "",
            World.Order.class,
            EffectClass.ONCE,
            (input, context) -> {
              throw new ToolException("Ask for the order first.");
            });

    AgentResult result = run(program, agent(leak, tell).build());

    assertEquals(RunStatus.COMPLETED, result.status());
    assertEquals(
        List.of("Tool failed.", "Ask for the order first."),
        results(result).stream().map(AgentLoopTest::output).toList());
    assertTrue(results(result).stream().allMatch(ToolResult::error));
    assertEquals(2, result.state().toolErrors());
  }

  @ParameterizedTest
  @EnumSource
  @Tag("A49")
  void a_tool_that_throws_is_not_run_again_whatever_its_effect(EffectClass effect) {
    AtomicInteger runs = new AtomicInteger();
    Tool broken =
        Tool.of(
            "broken",
            "",
            World.Order.class,
            effect,
            (input, context) -> {
              runs.incrementAndGet();
              throw new IllegalStateException("Try again.");
            });
    Program program = program(calls(call("c1", "broken", "o1")), text("Done."));
    Agent agent = agent(broken).build();

    AgentResult result = run(program, agent);

    assertEquals(RunStatus.COMPLETED, result.status());
    assertEquals(RunStatus.COMPLETED, program.agents.resume(agent, result.run()).status());
    assertEquals(1, runs.get());
    assertEquals(1, result.toolCalls());
    assertEquals(1, program.types(result.run()).stream().filter("ToolStarted"::equals).count());
  }

  @Test
  @Tag("A47")
  void an_agent_may_stop_at_the_first_failed_tool_and_be_resumed() {
    Program program =
        program(calls(call("c1", "look", "o1"), call("c2", "note", "o1")), text("Went on."));
    Agent agent =
        agent(
                World.failing("look", EffectClass.PURE),
                world.tool("note", EffectClass.IDEMPOTENT).build())
            .toolExecution(ToolExecution.DEFAULT.stoppingOnError())
            .build();

    AgentResult result = run(program, agent);

    RunFailed failure = result.state().failure().orElseThrow();
    assertEquals(FailureKind.TOOL_FAILED, failure.kind());
    assertTrue(failure.resumable());
    assertEquals(1, world.effects().size(), "the rest of a parallel batch ends first");

    AgentResult resumed = program.agents.resume(agent, result.run());
    assertEquals("Went on.", resumed.text());
    assertEquals(1, world.effects().size());
  }

  @Test
  @Tag("A47")
  void with_tools_one_by_one_the_first_failed_one_keeps_the_rest_from_beginning() {
    Program program =
        program(calls(call("c1", "look", "o1"), call("c2", "refund", "o1")), text("Went on."));
    Agent agent =
        agent(
                World.failing("look", EffectClass.ONCE),
                world.tool("refund", EffectClass.ONCE).build())
            .toolExecution(ToolExecution.DEFAULT.sequential().stoppingOnError())
            .build();

    AgentResult result = run(program, agent);

    assertEquals(FailureKind.TOOL_FAILED, result.state().failure().orElseThrow().kind());
    assertEquals(List.of(), world.effects());
    assertEquals(RunStatus.COMPLETED, program.agents.resume(agent, result.run()).status());
    assertEquals(1, world.effects().size());
  }

  @Test
  @Tag("A12")
  void a_run_whose_targets_all_fail_can_be_resumed_and_lists_every_attempt() {
    FakeModel.Answer answer =
        call -> {
          if (program.orElseThrow().types(program.get().runs().getFirst().run()).size() > 2) {
            return text("Well again.").give(call);
          }
          return status(503).give(call);
        };
    Program program = program(answer);
    Agent agent = agent().build();

    AgentResult failed = run(program, agent);

    RunFailed failure = failed.state().failure().orElseThrow();
    assertEquals(FailureKind.TARGETS_EXHAUSTED, failure.kind());
    assertTrue(failure.resumable());
    assertEquals(List.of(503), failure.attempts().stream().map(Attempt::status).toList());

    AgentResult resumed = program.agents.resume(agent, failed.run());
    assertEquals(RunStatus.COMPLETED, resumed.status());
    assertEquals("Well again.", resumed.text());
  }

  @Test
  @Tag("A154")
  void a_run_has_the_programs_own_id_or_a_uuid_of_version_7() {
    Program program = program(text("Hello."));
    Agent agent = agent().build();

    AgentResult own =
        program.agents.run(AgentRequest.builder(agent, "Hi.").runId("ticket:7").build());
    AgentResult made = run(program, agent);

    assertEquals("ticket:7", own.run().runId());
    assertEquals(7, UUID.fromString(made.run().runId()).version());
    assertThrows(
        ConflictException.class,
        () -> program.agents.run(AgentRequest.builder(agent, "Hi.").runId("ticket:7").build()));
  }

  /** What a tool is told. */
  record Note(String text) {}

  @Test
  @Tag("A152")
  void one_line_makes_a_tool_that_sees_its_call_and_the_programs_notes() {
    Program program =
        program(calls(new ToolCall("c1", "note", Json.parse("{\"text\":\"x\"}"))), text("Done."));
    Tool tool =
        Tool.builder(
                "note",
                "Notes.",
                Note.class,
                MethodHandles.lookup(),
                EffectClass.PURE,
                (input, context) -> new Note(input.text() + context.caller().metadata().get("who")))
            .build();

    AgentResult result =
        program.agents.run(
            AgentRequest.builder(agent(tool).build(), "Note it.")
                .metadata(Map.of("who", "ann"))
                .build());

    assertEquals("{text=xann}", output(results(result).getFirst()));
    assertEquals(Map.of("who", "ann"), result.state().started().metadata());
  }

  @Test
  void instructions_come_first_and_are_part_of_the_log() {
    Program program = program(text("Hello."));

    AgentResult result = run(program, agent().instructions("Be short.").build());

    assertEquals(
        List.of(Role.SYSTEM, Role.USER, Role.ASSISTANT),
        result.state().messages().stream().map(Message::role).toList());
    assertEquals(
        "Hello.",
        assertInstanceOf(RunCompleted.class, program.events(result.run()).getLast()).text());
  }

  @ParameterizedTest
  @EnumSource(EffectClass.class)
  @Tag("A46")
  void a_tool_that_runs_into_its_own_timeout_twice_is_not_run_for_ever(EffectClass effect)
      throws Exception {
    AtomicInteger began = new AtomicInteger();
    Semaphore beginnings = new Semaphore(0);
    CountDownLatch never = new CountDownLatch(1);
    Tool slow =
        Tool.builder(
                "slow",
                "",
                World.Order.class,
                effect,
                (input, context) -> {
                  began.incrementAndGet();
                  beginnings.release();
                  never.await();
                  return null;
                })
            .timeout(Duration.ofSeconds(5))
            .build();
    Program program = program(calls(call("c1", "slow", "o1")), text("Too slow."));
    int expected = effect == EffectClass.IDEMPOTENT ? 2 : 1;
    Thread clock =
        Thread.ofVirtual()
            .start(
                () -> {
                  try {
                    for (int i = 0; i < expected; i++) {
                      beginnings.acquire();
                      program.time.awaitAlarms(1);
                      program.time.advance(Duration.ofSeconds(5));
                    }
                  } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                  }
                });

    Agent agent = agent(slow).build();
    AgentResult result = run(program, agent);
    clock.join();

    assertEquals(expected, began.get());
    if (effect == EffectClass.PURE) {
      assertEquals(RunStatus.COMPLETED, result.status());
      assertTrue(results(result).getFirst().error());
    } else {
      assertEquals(RunStatus.NEEDS_RECONCILIATION, result.status());
      assertEquals(List.of("c1"), result.inDoubt().stream().map(c -> c.call().id()).toList());
      AgentResult again = program.agents.resume(agent, result.run());
      assertEquals(RunStatus.NEEDS_RECONCILIATION, again.status());
      assertFalse(again.driven());
    }
  }
}
