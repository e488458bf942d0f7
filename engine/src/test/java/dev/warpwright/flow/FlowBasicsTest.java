package dev.warpwright.flow;

import static dev.warpwright.agent.FakeModel.text;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.GenerateRequest;
import dev.warpwright.agent.Agent;
import dev.warpwright.agent.AgentRequest;
import dev.warpwright.agent.FakeModel;
import dev.warpwright.agent.Program;
import dev.warpwright.agent.World;
import dev.warpwright.model.BudgetDeniedException;
import dev.warpwright.model.ConflictException;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.GuardrailException;
import dev.warpwright.model.GuardrailStage;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.NonDeterminismException;
import dev.warpwright.model.OperationCancelledException;
import dev.warpwright.model.OperationTrace;
import dev.warpwright.model.StepFailedException;
import dev.warpwright.run.ApprovalDecision;
import dev.warpwright.run.DecisionNeeded;
import dev.warpwright.run.FlowCall;
import dev.warpwright.run.FlowEvent.FlowStepFinished;
import dev.warpwright.run.FlowEvent.StepRetryScheduled;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.RunEvent.RunCompleted;
import dev.warpwright.run.RunEvent.RunFailed;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunQuery;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunState;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.Runs;
import dev.warpwright.run.Worker;
import dev.warpwright.task.TaskTree;
import dev.warpwright.testing.ManualTime;
import dev.warpwright.tool.EffectClass;
import dev.warpwright.tool.OutcomeUnknownException;
import java.lang.invoke.MethodHandles;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a flow is, what it may do between its calls, and how it is found again. */
@Timeout(60)
final class FlowBasicsTest {
  private static final Duration HOUR = Duration.ofHours(1);

  private final ManualTime time = new ManualTime(Instant.parse("2026-01-01T12:00:00Z"), 7);
  private final RunStore store = RunStore.inMemory(time);
  private final TaskTree tasks = TaskTree.builder().time(time).build();
  private final Flows flows = Flows.on(tasks, store);
  private final Runs runs = Runs.in(store, time);
  private final List<String> effects = Collections.synchronizedList(new ArrayList<>());

  record Line(String item, int count) {}

  private static Flow<String, String> flow(FlowBody<String, String> body) {
    return Flow.of("f", String.class, String.class, body);
  }

  private String step(FlowContext ctx, String name) {
    return ctx.step(
        name,
        String.class,
        step -> {
          effects.add(step.position());
          return name;
        });
  }

  // --- definition and run

  @Test
  @Tag("F1")
  void a_flow_has_an_id_of_its_own_and_a_version() {
    Flow<String, String> one = flow((ctx, in) -> in);
    assertEquals("1", one.version());
    assertEquals("f", one.id());
    InvalidRequestException twice =
        assertThrows(
            InvalidRequestException.class, () -> flows.driver(one, flow((ctx, in) -> "other")));
    assertTrue(twice.getMessage().contains("\"f\""), twice.getMessage());
    assertThrows(
        InvalidRequestException.class,
        () ->
            Worker.builder(store)
                .drives(flows.driver(one))
                .drives(flows.driver(flow((ctx, in) -> in))));
    for (String bad : List.of("", "a b", "x".repeat(65))) {
      assertThrows(
          InvalidRequestException.class,
          () -> Flow.of(bad, String.class, String.class, (ctx, in) -> in));
    }
  }

  @Test
  @Tag("F5")
  void a_run_goes_through_the_statuses_of_every_run() throws Exception {
    Set<RunStatus> seen = new LinkedHashSet<>();
    CountDownLatch atWork = new CountDownLatch(1);
    CountDownLatch asked = new CountDownLatch(1);
    Flow<String, String> flow =
        flow(
            (ctx, in) -> {
              step(ctx, "one");
              ctx.sleep(HOUR);
              ctx.approval("big", in, HOUR);
              ctx.run(
                  "pay",
                  StepOptions.once().reconciler(key -> StepFinding.unknown()),
                  step -> {
                    if (in.equals("doubt")) {
                      throw new OutcomeUnknownException(new IllegalStateException());
                    }
                  });
              if (in.equals("hang")) {
                ctx.run(
                    "hang",
                    step -> {
                      atWork.countDown();
                      awaitStubbornly(asked);
                    });
              }
              if (in.equals("fail")) {
                throw new IllegalStateException("no");
              }
              return in;
            });
    for (String in : List.of("ok", "doubt", "fail")) {
      RunKey run = flows.enqueue(FlowRequest.builder(flow, in).build());
      seen.add(flows.result(flow, run).status());
      seen.add(flows.resume(flow, run).status());
      time.advance(HOUR);
      seen.add(flows.resume(flow, run).status());
      time.advance(HOUR);
      seen.add(flows.resume(flow, run).status());
    }
    RunKey run = flows.run(flow, "hang").run();
    time.advance(HOUR);
    var _ = flows.resume(flow, run);
    time.advance(HOUR);
    FutureTask<FlowResult<String>> drive = new FutureTask<>(() -> flows.resume(flow, run));
    Thread.ofVirtual().start(drive);
    atWork.await();
    seen.add(flows.result(flow, run).status());
    seen.add(runs.cancel(run).status());
    asked.countDown();
    seen.add(drive.get().status());
    Set<RunStatus> all = EnumSet.allOf(RunStatus.class);
    all.remove(RunStatus.TIMED_OUT); // see FlowLifeTest
    assertEquals(all, seen);
  }

  /** Waits through interrupts. */
  private static void awaitStubbornly(CountDownLatch gate) {
    while (true) {
      try {
        gate.await();
        return;
      } catch (InterruptedException e) {
        // noticed, not obeyed
      }
    }
  }

  @Test
  @Tag("F6")
  void what_a_body_returns_is_recorded_and_so_is_what_it_throws() {
    FlowResult<Line> done =
        flows.run(
            Flow.builder("f", String.class, Line.class, (ctx, in) -> new Line(in, 2))
                .lookup(MethodHandles.lookup())
                .build(),
            "tea");
    assertEquals(new Line("tea", 2), done.orThrow());
    RunCompleted end = assertInstanceOf(RunCompleted.class, done.log().getLast().event());
    assertEquals("{\"item\":\"tea\",\"count\":2}", end.output().orElseThrow().text());

    FlowResult<String> failed =
        flows.run(
            flow(
                (ctx, in) -> {
                  throw new BudgetDeniedException("broke", null, OperationTrace.NONE);
                }),
            "x");
    RunFailed failure = assertInstanceOf(RunFailed.class, failed.log().getLast().event());
    assertEquals(FailureKind.BUDGET_DENIED, failure.kind());
  }

  @Test
  @Tag("F7")
  @SuppressWarnings("NullAway") // that is what is refused
  void what_cannot_be_written_is_refused_where_it_comes_from() {
    Flow<Line, String> flow =
        Flow.builder(
                "f",
                Line.class,
                String.class,
                (ctx, in) ->
                    ctx.step("line", Line.class, step -> new Line(null, 1)).item()
                        + step(ctx, "must not happen"))
            .lookup(MethodHandles.lookup())
            .build();
    assertThrows(InvalidRequestException.class, () -> flows.run(flow, new Line(null, 1)));
    assertEquals(List.of(), runs.list(RunQuery.all(RunScope.DEFAULT)));

    FlowResult<String> failed = flows.run(flow, new Line("tea", 1));
    RunFailed failure = assertInstanceOf(RunFailed.class, failed.log().getLast().event());
    assertEquals(Optional.of("1"), failure.position());
    FlowStepFinished end =
        failed.log().stream()
            .map(LoggedEvent::event)
            .filter(FlowStepFinished.class::isInstance)
            .map(FlowStepFinished.class::cast)
            .findFirst()
            .orElseThrow();
    assertTrue(end.value().isEmpty() && end.error().isPresent());
    assertEquals(List.of(), effects);

    FlowResult<String> nothing = flows.run(flow((ctx, in) -> null), "x");
    assertEquals(RunStatus.FAILED, nothing.status());
  }

  @Test
  @Tag("F8")
  void the_code_between_the_calls_asks_no_model_and_begins_no_run() {
    Program program = Program.on(store, FakeModel.of(text("a")));
    Flows all = Flows.on(program.agents);
    Agent agent = Agent.builder("a", Program.ROUTE).build();
    GenerateRequest request = GenerateRequest.builder(Program.ROUTE, "Hello").build();
    List<FlowBody<String, String>> wrong =
        List.of(
            (ctx, in) -> program.gateway.generate(request).text(),
            (ctx, in) -> program.gateway.streamText(request).collect().text(),
            (ctx, in) -> program.agents.run(AgentRequest.builder(agent, in).build()).text(),
            (ctx, in) ->
                all.run(Flow.of("g", String.class, String.class, (c, i) -> i), in).orThrow(),
            (ctx, in) ->
                ctx.<String>parallel("all", List.of(b -> program.gateway.generate(request).text()))
                    .getFirst());
    for (FlowBody<String, String> body : wrong) {
      FlowResult<String> refused = all.run(flow(body), "x");
      RunFailed failure = refused.state().failure().orElseThrow();
      assertEquals(FailureKind.INVALID_REQUEST, failure.kind());
      assertTrue(failure.message().contains("ctx."), failure.message());
    }
    Flow<String, String> right =
        flow(
            (ctx, in) ->
                ctx.step("ask", String.class, step -> program.gateway.generate(request).text())
                    + ctx.agent(agent, in).text()
                    + ctx.<String>parallel(
                            "all",
                            List.of(
                                b ->
                                    b.step(
                                        "ask",
                                        String.class,
                                        step -> program.gateway.generate(request).text())))
                        .getFirst());
    assertEquals("aaa", all.run(right, "x").orThrow());
    program.assertNothingIsLeft();
  }

  // --- steps

  @Test
  @Tag("F12")
  void steps_of_one_name_are_known_by_their_places() {
    Flow<String, String> flow =
        flow(
            (ctx, in) -> {
              for (int i = 0; i < 2; i++) {
                step(ctx, "same");
              }
              ctx.parallel("all", List.of("a", "b"), (b, item) -> step(b, "same"));
              step(ctx, "same");
              return in;
            });
    flows.run(flow, "x").orThrow();
    assertEquals(List.of("1", "2", "3/0/1", "3/1/1", "4"), effects.stream().sorted().toList());
  }

  @Test
  @Tag("F13")
  void a_step_is_told_who_it_is_and_its_key_stays_the_same() {
    List<StepInfo> told = new ArrayList<>();
    Flow<String, String> flow =
        flow(
            (ctx, in) ->
                ctx.step(
                        "shaky",
                        String.class,
                        StepOptions.DEFAULT
                            .retry(StepRetry.attempts(3).delays(HOUR, 1, HOUR))
                            .timeout(HOUR),
                        step -> {
                          told.add(step);
                          if (told.size() < 3) {
                            throw new IllegalStateException("no");
                          }
                          return in;
                        })
                    + ctx.step("other", String.class, step -> step.idempotencyKey()));
    FlowResult<String> result = flows.run(flow, "x");
    while (!result.state().isTerminal()) {
      time.advance(HOUR.multipliedBy(2));
      result = flows.resume(flow, result.run());
    }
    assertEquals(List.of(1, 2, 3), told.stream().map(StepInfo::attempt).toList());
    assertEquals(1, told.stream().map(StepInfo::idempotencyKey).distinct().count());
    for (StepInfo step : told) {
      assertEquals(result.run().runId(), step.runId());
      assertEquals("shaky", step.name());
      assertEquals("1", step.position());
      assertFalse(step.deadline().hasPassed() && step.attempt() == 3);
    }
    assertFalse(result.orThrow().contains(told.getFirst().idempotencyKey()));
    assertTrue(told.getFirst().deadline().hasPassed());
  }

  @Test
  @Tag("F17")
  void code_between_the_steps_runs_again_and_steps_do_not() {
    AtomicInteger between = new AtomicInteger();
    Flow<String, String> flow =
        flow(
            (ctx, in) -> {
              between.incrementAndGet();
              return step(ctx, "one") + ctx.awaitSignal("go", String.class);
            });
    RunKey run = flows.run(flow, "x").run();
    flows.signal(run, "go", "!", "s");
    flows.resume(flow, run).orThrow();
    assertEquals(2, between.get());
    assertEquals(1, effects.size());
  }

  @Test
  @Tag("F19")
  void a_failed_run_of_a_step_is_recorded_before_its_wait_and_a_resume_waits_what_remains() {
    AtomicInteger tries = new AtomicInteger();
    Flow<String, String> flow =
        flow(
            (ctx, in) ->
                ctx.step(
                    "shaky",
                    String.class,
                    StepOptions.DEFAULT.retry(
                        StepRetry.attempts(2).delays(HOUR, 1, HOUR).jitter(0)),
                    step -> {
                      if (tries.incrementAndGet() == 1) {
                        throw new IllegalStateException("not yet");
                      }
                      return in;
                    }));
    FlowResult<String> waiting = flows.run(flow, "x");
    assertEquals(RunStatus.WAITING, waiting.status());
    StepRetryScheduled failure =
        waiting.log().stream()
            .map(LoggedEvent::event)
            .filter(StepRetryScheduled.class::isInstance)
            .map(StepRetryScheduled.class::cast)
            .findFirst()
            .orElseThrow();
    assertEquals("not yet", failure.error().message());
    Instant due = time.now().plus(HOUR);
    assertEquals(due, failure.dueAt());

    time.advance(Duration.ofMinutes(40));
    Flows other = Flows.on(TaskTree.builder().time(time).build(), store);
    assertEquals(waiting.log(), other.resume(flow, waiting.run()).log());
    assertEquals(Optional.of(due), waiting.state().standing().due());
    time.advance(Duration.ofMinutes(20));
    assertEquals("x", other.resume(flow, waiting.run()).orThrow());
  }

  @Test
  @Tag("F22")
  void failures_that_another_run_cannot_mend_are_not_retried() {
    List<Exception> hopeless =
        List.of(
            new InvalidRequestException(FailureKind.INVALID_REQUEST, "no"),
            new ConflictException("no", null, OperationTrace.NONE),
            new NonDeterminismException("no", OperationTrace.NONE),
            new GuardrailException(
                GuardrailStage.INPUT, "g", Optional.empty(), Map.of(), OperationTrace.NONE),
            new BudgetDeniedException("no", null, OperationTrace.NONE),
            new OperationCancelledException("no", null, OperationTrace.NONE));
    for (Exception thrown : hopeless) {
      AtomicInteger tries = new AtomicInteger();
      FlowResult<String> result =
          flows.run(
              flow(
                  (ctx, in) ->
                      ctx.step(
                          "s",
                          String.class,
                          StepOptions.retry(3),
                          step -> {
                            tries.incrementAndGet();
                            throw thrown;
                          })),
              "x");
      assertEquals(RunStatus.FAILED, result.status(), thrown::toString);
      assertEquals(1, tries.get(), thrown::toString);
    }
  }

  @Test
  @Tag("F14")
  void a_reconciler_gives_a_value_of_the_step() {
    StepFunction<Line> lost =
        step -> {
          throw new OutcomeUnknownException(new IllegalStateException());
        };
    Flow<String, String> flow =
        Flow.builder(
                "f",
                String.class,
                String.class,
                (ctx, in) ->
                    ctx.step(
                            "order",
                            Line.class,
                            StepOptions.once()
                                .reconciler(
                                    key ->
                                        in.equals("wrong")
                                            ? StepFinding.succeeded(17)
                                            : StepFinding.succeeded(new Line(in, 3))),
                            lost)
                        .toString())
            .lookup(MethodHandles.lookup())
            .build();
    assertEquals("Line[item=tea, count=3]", flows.run(flow, "tea").orThrow());
    RunKey run = new RunKey(RunScope.DEFAULT, "wrong");
    ConflictException refused =
        assertThrows(ConflictException.class, () -> flows.run(flow, "wrong", "wrong"));
    assertTrue(refused.getMessage().contains("java.lang.Integer"), refused.getMessage());
    assertEquals(RunStatus.RUNNING, flows.result(flow, run).status()); // as it was
  }

  // --- control flow

  @Test
  @Tag("F24")
  void loops_branches_and_tries_are_those_of_java_however_they_are_nested() {
    Flow<Integer, String> flow =
        Flow.of(
            "f",
            Integer.class,
            String.class,
            (ctx, in) -> {
              StringBuilder all = new StringBuilder();
              for (int round = 0; round < in; round++) {
                List<String> values =
                    ctx.parallel(
                        "round",
                        List.of("a", "b"),
                        (b, item) -> {
                          String found = "";
                          try {
                            for (int i = 0; i < 3; i++) {
                              found += step(b, item + i);
                              if (i == 1 && item.equals("b")) {
                                b.run(
                                    "fails",
                                    step -> {
                                      throw new IllegalStateException("no");
                                    });
                              }
                            }
                          } catch (StepFailedException e) {
                            found += b.awaitSignal("go", String.class);
                          }
                          return found;
                        });
                all.append(String.join("", values));
                if (values.getLast().endsWith("stop")) {
                  break;
                }
              }
              return all.toString();
            });
    RunKey run = flows.run(flow, 9).run();
    flows.signal(run, "go", "!", "s1");
    assertEquals(RunStatus.WAITING, flows.resume(flow, run).status());
    flows.signal(run, "go", "stop", "s2");
    FlowResult<String> result = flows.resume(flow, run);
    assertEquals("a0a1a2b0b1!a0a1a2b0b1stop", result.orThrow());
    assertEquals(10, effects.size());
    assertEquals(Optional.empty(), flows.check(flow, result.log()));
  }

  @Test
  @Tag("F26")
  void a_branch_for_each_item_gives_its_value_in_order() {
    AtomicInteger atOnce = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    Flow<Integer, String> flow =
        Flow.of(
            "f",
            Integer.class,
            String.class,
            (ctx, in) -> {
              List<Integer> items = IntStream.range(0, in).boxed().toList();
              List<Integer> doubled =
                  ctx.parallel(
                      "double",
                      2,
                      items,
                      (b, item) ->
                          b.step(
                              "double",
                              Integer.class,
                              step -> {
                                most.accumulateAndGet(atOnce.incrementAndGet(), Math::max);
                                atOnce.decrementAndGet();
                                return 2 * item;
                              }));
              List<BranchOutcome<Integer>> odd =
                  ctx.parallelAll(
                      "odd",
                      2,
                      items,
                      (b, item) -> {
                        if (item == 1) {
                          throw new IllegalStateException("odd");
                        }
                        return item;
                      });
              return doubled + " " + (odd.get(1) instanceof BranchOutcome.Failed<Integer>);
            });
    assertEquals("[0, 2, 4, 6, 8] true", flows.run(flow, 5).orThrow());
    assertTrue(most.get() <= 2);
  }

  @Test
  @Tag("F12")
  void branches_that_are_nested_too_deep_are_refused_before_anything_is_written() {
    Flow<Integer, String> flow =
        Flow.of("f", Integer.class, String.class, (ctx, in) -> nested(ctx, in));
    assertEquals("deep", flows.run(flow, 60).orThrow());
    FlowResult<String> refused = flows.run(flow, 70);
    RunFailed failure = refused.state().failure().orElseThrow();
    assertEquals(FailureKind.INVALID_REQUEST, failure.kind());
    assertTrue(failure.message().contains("nested too deep"), failure.message());
  }

  private static String nested(FlowContext ctx, int depth) throws Exception {
    return depth == 0
        ? ctx.step("s", String.class, step -> "deep")
        : ctx.<String>parallel("p", List.of(b -> nested(b, depth - 1))).getFirst();
  }

  @Test
  @Tag("F30")
  void a_worker_goes_on_as_soon_as_one_of_several_approvals_is_decided() {
    Flow<String, String> flow =
        flow(
            (ctx, in) ->
                String.join(
                    "",
                    ctx.parallel(
                        "all",
                        List.of("one", "two"),
                        (b, item) -> b.approval(item, in, HOUR.multipliedBy(99)) + step(b, item))));
    FlowResult<String> waiting = flows.run(flow, "x");
    try (Worker worker = Worker.builder(store).drives(flows.driver(flow)).tasks(tasks).start()) {
      assertTrue(worker.awaitIdle(Duration.ofSeconds(30)));
      assertEquals(List.of(), effects);
      runs.decide(
          waiting.run(),
          ApprovalDecision.approve(waiting.state().pendingApprovals().getLast().requestId()));
      assertTrue(worker.awaitIdle(Duration.ofSeconds(30)));
    }
    assertEquals(List.of("1/1/2"), effects);
    assertEquals(RunStatus.WAITING_APPROVAL, flows.result(flow, waiting.run()).status());
  }

  @Test
  @Tag("F27")
  @Tag("F33")
  void the_child_of_a_branch_that_was_stopped_is_cancelled() {
    World world = new World();
    Agent agent =
        Agent.builder("finder", Program.ROUTE)
            .tools(world.tool("refund", EffectClass.ONCE).requiresApproval().build())
            .build();
    Program program =
        Program.on(store, FakeModel.of(FakeModel.calls(FakeModel.call("c1", "refund", "o1"))));
    Flows all = Flows.on(program.agents);
    Flow<String, String> flow =
        flow(
            (ctx, in) -> {
              try {
                var _ =
                    ctx.<String>parallel(
                        "all",
                        1,
                        List.of(
                            b -> b.agent(agent, in).text(),
                            b -> {
                              throw new IllegalStateException("no");
                            }));
              } catch (IllegalStateException e) {
                return in.equals("end") ? in : ctx.awaitSignal("go", String.class);
              }
              return "";
            });
    for (String in : List.of("wait", "end")) {
      FlowResult<String> result = all.run(flow, in);
      RunState child = child(result);
      assertEquals(RunStatus.CANCELLED, child.status(), in);
      if (in.equals("wait")) {
        assertEquals(RunStatus.WAITING, result.status());
        all.signal(result.run(), "go", "gone", "s");
        assertEquals("gone", all.resume(flow, result.run()).orThrow());
      }
    }
  }

  private RunState child(FlowResult<?> parent) {
    String id = parent.state().children().getFirst().started().childRunId();
    return runs.state(new RunKey(RunScope.DEFAULT, id)).orElseThrow();
  }

  @Test
  @Tag("F51")
  void the_child_of_a_stopped_branch_is_left_as_long_as_a_resume_may_go_on_with_it() {
    World world = new World();
    Agent agent =
        Agent.builder("finder", Program.ROUTE)
            .tools(world.tool("refund", EffectClass.ONCE).requiresApproval().build())
            .build();
    Program program =
        Program.on(
            store,
            FakeModel.of(FakeModel.calls(FakeModel.call("c1", "refund", "o1")), text("refunded")));
    Flows all = Flows.on(program.agents);
    AtomicInteger tries = new AtomicInteger();
    Flow<String, String> flow =
        flow(
            (ctx, in) ->
                String.join(
                    "",
                    ctx.<String>parallel(
                        "all",
                        1,
                        List.of(
                            b -> b.agent(agent, in).text(),
                            b ->
                                b.step(
                                    "shaky",
                                    String.class,
                                    step -> {
                                      if (tries.incrementAndGet() == 1) {
                                        throw new IllegalStateException("no");
                                      }
                                      return "!";
                                    })))));
    FlowResult<String> failed = all.run(flow, "x");
    assertEquals(RunStatus.FAILED, failed.status());
    RunState child = child(failed);
    assertEquals(RunStatus.WAITING_APPROVAL, child.status());
    program.agents.resume(
        agent,
        child.run(),
        ApprovalDecision.approve(child.pendingApprovals().getFirst().requestId()));
    assertEquals("refunded!", all.resume(flow, failed.run()).orThrow());
  }

  // --- compensations

  @Test
  @Tag("F54")
  void what_was_done_is_taken_back_last_first_and_each_undoing_is_a_step() {
    Flow<String, String> flow =
        flow(
            (ctx, in) -> {
              try {
                for (String name : List.of("one", "two", "three")) {
                  step(ctx, name);
                  ctx.compensate("undo " + name, step -> effects.add("undo " + name));
                }
                throw new IllegalStateException("no");
              } catch (IllegalStateException e) {
                ctx.runCompensations();
                ctx.runCompensations(); // nothing is registered any more
                return ctx.awaitSignal("go", String.class);
              }
            });
    FlowResult<String> result = flows.run(flow, "x");
    List<String> undone = List.of("undo three", "undo two", "undo one");
    assertEquals(undone, effects.subList(3, effects.size()));
    assertEquals(
        undone,
        result.state().flow().orElseThrow().calls().stream()
            .map(FlowCall::name)
            .filter(name -> name.startsWith("undo"))
            .toList());
    flows.signal(result.run(), "go", "done", "s");
    assertEquals("done", flows.resume(flow, result.run()).orThrow());
    assertEquals(6, effects.size());
  }

  // --- finding runs, telling persons

  @Test
  @Tag("F2")
  void an_id_of_the_programs_own_is_one_run_and_its_result_is_read_without_driving() {
    Flow<String, String> flow =
        flow((ctx, in) -> step(ctx, "one") + ctx.awaitSignal("go", String.class));
    FlowResult<String> waiting = flows.run(flow, "order-1", "x");
    assertEquals("order-1", waiting.run().runId());
    assertEquals(waiting.log(), flows.run(flow, "order-1", "x").log());
    assertThrows(ConflictException.class, () -> flows.run(flow, "order-1", "y"));
    flows.signal(waiting.run(), "go", "!", "s");
    assertEquals(RunStatus.WAITING, flows.result(flow, waiting.run()).status());
    assertEquals("one!", flows.run(flow, "order-1", "x").orThrow());
    FlowResult<String> read = flows.result(flow, waiting.run());
    assertEquals("one!", read.orThrow());
    assertFalse(read.driven());
    assertEquals(1, effects.size());

    assertThrows(
        InvalidRequestException.class,
        () -> flows.result(flow, new RunKey(RunScope.DEFAULT, "nobody")));
    assertThrows(
        ConflictException.class,
        () ->
            flows.result(
                Flow.of("other", String.class, String.class, (ctx, in) -> in), waiting.run()));
    FlowRequest<String, String> request =
        FlowRequest.builder(flow, "x").idempotencyKey("order-1").build();
    assertEquals(Optional.of("one!"), flows.find(request).flatMap(FlowResult::output));
    assertEquals(
        Optional.empty(),
        flows.find(FlowRequest.builder(flow, "x").idempotencyKey("order-2").build()));
    assertThrows(
        ConflictException.class,
        () -> flows.find(FlowRequest.builder(flow, "y").idempotencyKey("order-1").build()));
    assertThrows(
        InvalidRequestException.class, () -> flows.find(FlowRequest.builder(flow, "x").build()));
  }

  @Test
  @Tag("A153")
  void a_listener_is_told_when_a_flow_begins_to_need_a_person() throws Exception {
    LinkedBlockingQueue<DecisionNeeded> told = new LinkedBlockingQueue<>();
    Flows telling = flows.onDecisionNeeded(told::add);
    Flow<String, String> flow =
        flow(
            (ctx, in) -> {
              ctx.sleep(HOUR);
              ctx.approval("big", in, HOUR);
              ctx.run(
                  "pay",
                  StepOptions.once(),
                  step -> {
                    throw new OutcomeUnknownException(new IllegalStateException());
                  });
              return in;
            });
    FlowResult<String> result = telling.run(flow, "x");
    time.advance(HOUR);
    result = telling.resume(flow, result.run());
    DecisionNeeded approval = told.take();
    assertEquals(new DecisionNeeded(result.run(), "f", RunStatus.WAITING_APPROVAL, 1), approval);
    time.advance(HOUR);
    telling.resume(flow, result.run());
    assertEquals(RunStatus.NEEDS_RECONCILIATION, told.take().status());
    assertTrue(told.isEmpty());
  }

  @Test
  @Tag("A107")
  void an_agents_run_is_found_by_its_request_and_read_by_its_key() {
    Program program = Program.on(store, FakeModel.of(text("Done.")));
    Agent agent = Agent.builder("a", Program.ROUTE).build();
    AgentRequest request = AgentRequest.builder(agent, "Do it.").idempotencyKey("k").build();
    assertEquals(Optional.empty(), program.agents.find(request));
    RunKey run = program.agents.run(request).run();
    assertEquals("Done.", program.agents.find(request).orElseThrow().text());
    assertFalse(program.agents.find(request).orElseThrow().driven());
    assertEquals("Done.", program.agents.result(agent, run).text());
    assertThrows(
        ConflictException.class,
        () ->
            program.agents.find(
                AgentRequest.builder(agent, "Something else.").idempotencyKey("k").build()));
    assertThrows(
        InvalidRequestException.class,
        () -> program.agents.result(Agent.builder("b", Program.ROUTE).build(), run));
    assertThrows(
        InvalidRequestException.class,
        () -> program.agents.find(AgentRequest.builder(agent, "Do it.").build()));
  }
}
