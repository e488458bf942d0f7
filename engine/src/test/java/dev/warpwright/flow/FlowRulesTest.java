package dev.warpwright.flow;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.ConflictException;
import dev.warpwright.model.Digest;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.model.NonDeterminismException;
import dev.warpwright.model.OperationCancelledException;
import dev.warpwright.model.StepFailedException;
import dev.warpwright.run.Append;
import dev.warpwright.run.ApprovalDecision;
import dev.warpwright.run.ApprovalSigner;
import dev.warpwright.run.FlowEvent.FlowStepFinished;
import dev.warpwright.run.FlowEvent.FlowStepStarted;
import dev.warpwright.run.FlowEvent.ParallelFinished;
import dev.warpwright.run.FlowEvent.ParallelFinished.BranchEnd;
import dev.warpwright.run.FlowEvent.TimerScheduled;
import dev.warpwright.run.ForwardingStore;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.RunEvent;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunLog;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.Runs;
import dev.warpwright.run.Writer;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.TaskTree;
import dev.warpwright.testing.ManualTime;
import dev.warpwright.tool.OutcomeUnknownException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class FlowRulesTest {
  private static final Duration DAY = Duration.ofDays(1);
  private static final StepRetry TWICE =
      StepRetry.attempts(2).delays(Duration.ZERO, 1, Duration.ZERO);

  private final ManualTime time = new ManualTime(Instant.parse("2026-01-01T12:00:00Z"), 7);
  private final RunStore store = RunStore.inMemory(time);
  private final TaskTree tasks = TaskTree.builder().time(time).build();
  private final Flows flows = Flows.on(tasks, store);
  private final Runs runs = Runs.in(store, time);
  private final List<String> effects = Collections.synchronizedList(new ArrayList<>());

  private static Flow<String, String> flow(FlowBody<String, String> body) {
    return Flow.of("f", String.class, String.class, body);
  }

  private String act(StepInfo step) {
    effects.add(step.name());
    return step.name();
  }

  private String step(FlowContext ctx, String name) {
    return ctx.step(name, String.class, this::act);
  }

  private static String fails(StepInfo step) {
    throw new IllegalStateException("no");
  }

  private static <E extends RunEvent> List<E> events(FlowResult<?> result, Class<E> type) {
    return result.log().stream()
        .map(LoggedEvent::event)
        .filter(type::isInstance)
        .map(type::cast)
        .toList();
  }

  // --- branches

  @Test
  @Tag("F27")
  @Tag("F30")
  void a_branch_that_waits_is_forgotten_when_another_one_fails() {
    Flow<String, String> flow =
        flow(
            (ctx, in) -> {
              String caught = "";
              try {
                var _ =
                    ctx.<String>parallel(
                        "all",
                        1,
                        List.of(
                            b -> step(b, "a") + b.approval("never asked again", in, DAY),
                            b -> b.step("b", String.class, FlowRulesTest::fails)));
              } catch (StepFailedException e) {
                caught = e.step();
              }
              return caught + ctx.awaitSignal("go", String.class);
            });
    FlowResult<String> result = flows.run(flow, "x");
    assertEquals(RunStatus.WAITING, result.status());
    assertEquals(List.of(), result.state().pendingApprovals());
    flows.signal(result.run(), "go", "!", "s");
    result = flows.resume(flow, result.run());
    assertEquals("b!", result.orThrow());
    assertEquals(
        List.of(BranchEnd.CANCELLED, BranchEnd.FAILED),
        events(result, ParallelFinished.class).getFirst().ends());
    assertEquals(List.of("a"), effects);
  }

  @Test
  @Tag("F27")
  @Tag("F28")
  void the_first_failure_interrupts_the_others_and_their_steps_are_recorded_as_cancelled() {
    CountDownLatch running = new CountDownLatch(1);
    Flow<String, String> flow =
        flow(
            (ctx, in) ->
                String.join(
                    "",
                    ctx.<String>parallel(
                        "all",
                        List.of(
                            b ->
                                b.step(
                                    "slow",
                                    String.class,
                                    s -> {
                                      running.countDown();
                                      new CountDownLatch(1).await();
                                      return "never";
                                    }),
                            b ->
                                b.step(
                                    "fails",
                                    String.class,
                                    s -> {
                                      running.await();
                                      throw new IllegalStateException("no");
                                    })))));
    FlowResult<String> result = flows.run(flow, "x");
    assertEquals(RunStatus.FAILED, result.status());
    FlowStepFinished slow =
        events(result, FlowStepFinished.class).stream()
            .filter(end -> end.name().equals("slow"))
            .findFirst()
            .orElseThrow();
    assertTrue(slow.value().isEmpty() && slow.error().isEmpty());
  }

  @Test
  @Tag("F51")
  void a_resume_after_a_failed_branch_makes_it_and_the_stopped_ones_again() {
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
                            b ->
                                String.join(
                                    "",
                                    b.<String>parallel(
                                        "inner",
                                        List.of(
                                            c ->
                                                step(c, "a") + c.awaitSignal("go", String.class)))),
                            b -> "" + b.approval("big", in, DAY).approved(),
                            b ->
                                b.step(
                                    "shaky",
                                    String.class,
                                    s -> {
                                      if (tries.incrementAndGet() == 1) {
                                        throw new IllegalStateException("no");
                                      }
                                      return "done";
                                    })))));
    FlowResult<String> result = flows.run(flow, "x");
    assertEquals(RunStatus.FAILED, result.status());
    result = flows.resume(flow, result.run());
    assertEquals(RunStatus.WAITING_APPROVAL, result.status());
    flows.signal(result.run(), "go", "!", "s");
    result =
        flows.resume(
            flow,
            result.run(),
            ApprovalDecision.approve(result.state().pendingApprovals().getFirst().requestId()));
    assertEquals("a!truedone", result.orThrow());
    assertEquals(List.of("a"), effects);
  }

  @Test
  @Tag("C45")
  @Tag("F26")
  @Tag("F29")
  @Tag("F31")
  void branches_give_their_values_in_order_and_are_not_run_again() {
    Flow<String, String> flow =
        flow(
            (ctx, in) -> {
              List<Branch<String>> all = new ArrayList<>();
              for (int i = 0; i < 20; i++) {
                String name = "b" + i;
                all.add(b -> step(b, name) + b.now() + b.random());
              }
              List<String> values = ctx.parallel("all", 4, all);
              return String.join(",", values) + ctx.awaitSignal("go", String.class);
            });
    FlowResult<String> result = flows.run(flow, "x");
    assertEquals(20, effects.size());
    time.advance(DAY);
    flows.signal(result.run(), "go", "", "s");
    String value = flows.resume(flow, result.run()).orThrow();
    assertTrue(value.startsWith("b02026-01-01T12:00:00Z"), value);
    assertEquals(20, value.split(",").length);
    assertEquals(20, effects.size());
  }

  @Test
  @Tag("F30")
  @Tag("F37")
  void a_timer_in_a_branch_is_due_while_another_one_waits_for_an_approval() {
    Flow<String, String> flow =
        flow(
            (ctx, in) ->
                String.join(
                    "",
                    ctx.<String>parallel(
                        "all",
                        List.of(
                            b -> "" + b.approval("one", in, DAY.multipliedBy(9)).approved(),
                            b -> b.approval("two", in, DAY.multipliedBy(9)) + step(b, "decided"),
                            b -> {
                              b.sleep(DAY);
                              return step(b, "awake");
                            }))));
    FlowResult<String> result = flows.run(flow, "x");
    assertEquals(RunStatus.WAITING_APPROVAL, result.status());
    time.advance(DAY);
    assertEquals(Optional.of(time.now()), result.state().standing().due());
    result = flows.resume(flow, result.run());
    assertEquals(List.of("awake"), effects);
    runs.decide(
        result.run(),
        ApprovalDecision.approve(
            result.state().pendingApprovals().stream()
                .filter(ask -> ask.tool().equals("two"))
                .findFirst()
                .orElseThrow()
                .requestId()));
    result = flows.resume(flow, result.run());
    assertEquals(List.of("awake", "decided"), effects);
    assertEquals(RunStatus.WAITING_APPROVAL, result.status());
  }

  @Test
  @Tag("F26")
  void all_branches_come_to_their_end_if_asked() {
    Flow<String, String> flow =
        flow(
            (ctx, in) ->
                ctx.<String>parallelAll(
                            "all",
                            1,
                            List.of(
                                b -> b.step("x", String.class, FlowRulesTest::fails),
                                b -> step(b, "y")))
                        .get(1)
                        .equals(new BranchOutcome.Completed<>("y"))
                    + "");
    assertEquals("true", flows.run(flow, "x").orThrow());
  }

  // --- unwinding

  @Test
  @Tag("F36")
  void a_body_that_goes_on_after_a_wait_fails() {
    Flow<String, String> flow =
        flow(
            (ctx, in) -> {
              try {
                ctx.sleep(DAY);
              } catch (Throwable swallowed) {
                return step(ctx, "must not happen");
              }
              return "";
            });
    FlowResult<String> result = flows.run(flow, "x");
    assertEquals(FailureKind.INVALID_REQUEST, result.state().failure().orElseThrow().kind());
    assertTrue(result.state().failure().get().message().contains("Catch Exception instead"));
    assertEquals(List.of(), effects);
  }

  @Test
  @Tag("F36")
  void a_wait_that_is_wrapped_or_dropped_by_body_or_branch_is_a_wait() {
    Flow<String, String> wraps =
        flow(
            (ctx, in) -> {
              try {
                return ctx.awaitSignal("go", String.class);
              } catch (Throwable wrapped) {
                throw new IllegalStateException(wrapped);
              }
            });
    Flow<String, String> drops =
        flow(
            (ctx, in) ->
                ctx.<String>parallel(
                        "all",
                        List.of(
                            b -> {
                              try {
                                return b.awaitSignal("go", String.class);
                              } catch (Throwable dropped) {
                                return "dropped";
                              }
                            }))
                    .getFirst());
    for (Flow<String, String> flow : List.of(wraps, drops)) {
      FlowResult<String> result = flows.run(flow, "x");
      assertEquals(RunStatus.WAITING, result.status());
      flows.signal(result.run(), "go", "gone", "s");
      assertEquals("gone", flows.resume(flow, result.run()).orThrow());
    }
  }

  @Test
  @Tag("F42")
  void a_resume_without_what_it_waits_for_appends_nothing() {
    Flow<String, String> flow = flow((ctx, in) -> ctx.awaitSignal("go", String.class));
    FlowResult<String> result = flows.run(flow, "x");
    for (int i = 0; i < 50; i++) { // more often than a run may be taken up without progress
      assertEquals(result.log(), flows.resume(flow, result.run()).log());
    }
  }

  @Test
  @Tag("F3")
  void a_context_is_refused_on_another_thread() {
    Flow<String, String> flow =
        flow((ctx, in) -> ctx.step("outer", String.class, s -> ctx.now().toString()));
    FlowResult<String> result = flows.run(flow, "x");
    assertEquals(FailureKind.INVALID_REQUEST, result.state().failure().orElseThrow().kind());
  }

  // --- determinism

  @Test
  @Tag("F44")
  @Tag("F46")
  void a_step_or_subject_that_differs_is_refused_and_nothing_is_written() {
    Flow<String, String> flow =
        flow((ctx, in) -> step(ctx, "one") + ctx.approval("big", "this", DAY).approved());
    FlowResult<String> result = flows.run(flow, "x");
    RunKey run = result.run();
    runs.decide(
        run, ApprovalDecision.approve(result.state().pendingApprovals().getFirst().requestId()));
    List<Flow<String, String>> others =
        List.of(
            flow((ctx, in) -> step(ctx, "other")),
            flow((ctx, in) -> step(ctx, "one") + ctx.approval("big", "that", DAY)),
            flow((ctx, in) -> "" + ctx.now()),
            flow((ctx, in) -> ctx.step("one", Integer.class, s -> 1) + ""));
    for (Flow<String, String> other : others) {
      NonDeterminismException differs =
          assertThrows(NonDeterminismException.class, () -> flows.resume(other, run));
      assertTrue(differs.getMessage().contains("at position"), differs.getMessage());
    }
    assertEquals(List.of("one"), effects);
    assertEquals("onetrue", flows.resume(flow, run).orThrow());
  }

  @Test
  @Tag("F45")
  void a_body_that_ends_before_its_log_is_refused() {
    Flow<String, String> flow =
        flow((ctx, in) -> step(ctx, "one") + ctx.awaitSignal("go", String.class));
    RunKey run = flows.run(flow, "x").run();
    flows.signal(run, "go", "!", "s");
    List<Flow<String, String>> shorter =
        List.of(
            flow((ctx, in) -> "early"),
            flow(
                (ctx, in) -> {
                  throw new IllegalStateException("early");
                }));
    for (Flow<String, String> other : shorter) {
      NonDeterminismException early =
          assertThrows(NonDeterminismException.class, () -> flows.resume(other, run));
      assertTrue(early.getMessage().contains("was not reached"), early.getMessage());
    }
    assertEquals("one!", flows.resume(flow, run).orThrow());
  }

  @Test
  @Tag("F47")
  @Tag("F48")
  void an_old_run_goes_on_in_the_old_way_and_a_change_has_one_version_in_a_run() {
    Flow<String, String> old =
        flow((ctx, in) -> step(ctx, "old") + ctx.awaitSignal("go", String.class));
    Flow<String, String> changed =
        flow(
            (ctx, in) -> {
              String way = ctx.version("change", 1, 2) == 1 ? step(ctx, "old") : step(ctx, "new");
              return way + ctx.awaitSignal("go", String.class) + ctx.version("change", 1, 7);
            });
    RunKey run = flows.run(old, "x").run();
    RunKey fresh = flows.run(changed, "x").run();
    for (RunKey each : List.of(run, fresh)) {
      flows.signal(each, "go", "!", "s");
    }
    assertEquals("old!1", flows.resume(changed, run).orThrow());
    assertEquals("new!2", flows.resume(changed, fresh).orThrow());
    assertEquals(List.of("old", "new"), effects);
  }

  @Test
  @Tag("F47")
  void a_version_that_the_code_does_not_know_any_more_is_refused() {
    RunKey run =
        flows
            .run(
                flow(
                    (ctx, in) -> ctx.version("change", 1, 1) + ctx.awaitSignal("go", String.class)),
                "x")
            .run();
    flows.signal(run, "go", "!", "s");
    assertThrows(
        NonDeterminismException.class,
        () ->
            flows.resume(
                flow(
                    (ctx, in) -> ctx.version("change", 2, 3) + ctx.awaitSignal("go", String.class)),
                run));
  }

  @Test
  @Tag("F48")
  void a_branch_that_comes_late_has_the_version_of_the_first_one() {
    int[] current = {1};
    Flow<String, String> flow =
        flow(
            (ctx, in) ->
                String.join(
                    "",
                    ctx.<String>parallel(
                        "all",
                        List.of(
                            b -> b.version("change", 1, current[0]) + "",
                            b -> {
                              b.sleep(DAY);
                              return b.version("change", 1, current[0]) + "";
                            }))));
    RunKey run = flows.run(flow, "x").run();
    current[0] = 2; // a new release
    time.advance(DAY);
    assertEquals("11", flows.resume(flow, run).orThrow());
  }

  @Test
  @Tag("F49")
  void a_run_is_bound_to_the_id_of_its_flow() {
    Flow<String, String> flow = flow((ctx, in) -> ctx.awaitSignal("go", String.class));
    RunKey run = flows.run(flow, "x").run();
    Flow<String, String> other = Flow.of("g", String.class, String.class, (ctx, in) -> in);
    assertThrows(ConflictException.class, () -> flows.resume(other, run));
  }

  @Test
  @Tag("F50")
  void a_check_finds_the_first_place_where_the_code_differs_from_a_log() {
    FlowBody<String, String> body =
        (ctx, in) -> {
          String made =
              String.join(
                  "",
                  ctx.<String>parallel(
                      "all", List.of(b -> step(b, "a"), b -> "" + b.approval("big", in, DAY))));
          return made + ctx.version("change", 1, 1) + ctx.awaitSignal("go", String.class);
        };
    FlowResult<String> waiting = flows.run(flow(body), "x");
    FlowResult<String> whole = flows.run(flow((ctx, in) -> step(ctx, "one") + in), "x");
    effects.clear();
    assertEquals(Optional.empty(), flows.check(flow(body), waiting.log()));
    assertEquals(
        Optional.empty(), flows.check(flow((ctx, in) -> step(ctx, "one") + in), whole.log()));
    Map<String, Flow<String, String>> changed =
        Map.of(
            "at position 1 ", flow((ctx, in) -> step(ctx, "two") + in),
            "at position 1 was not reached", flow((ctx, in) -> in),
            "another output", flow((ctx, in) -> step(ctx, "one")));
    changed.forEach(
        (why, flow) -> {
          String found = flows.check(flow, whole.log()).orElseThrow().getMessage();
          assertTrue(found.contains(why), found);
        });
    String inBranch =
        flows
            .check(
                flow(
                    (ctx, in) ->
                        ctx.<String>parallel("all", List.of(b -> step(b, "b"), b -> ""))
                            .getFirst()),
                waiting.log())
            .orElseThrow()
            .getMessage();
    assertTrue(inBranch.contains("at position 1/0/1 "), inBranch);
    assertEquals(List.of(), effects);
  }

  @Test
  @Tag("F4")
  void times_numbers_and_ids_are_read_once() {
    Flow<String, String> flow =
        flow(
            (ctx, in) -> {
              String seen = ctx.now() + " " + ctx.random() + " " + ctx.newId();
              effects.add(seen);
              return seen + ctx.awaitSignal("go", String.class);
            });
    RunKey run = flows.run(flow, "x").run();
    time.advance(DAY);
    flows.signal(run, "go", "", "s");
    flows.resume(flow, run).orThrow();
    assertEquals(2, effects.size());
    assertEquals(effects.get(0), effects.get(1));
  }

  // --- steps

  @Test
  @Tag("F15")
  @Tag("F23")
  void a_failure_is_replayed_with_its_kind_message_and_the_failures_before_it() {
    List<StepFailedException> seen = new ArrayList<>();
    Flow<String, String> flow =
        flow(
            (ctx, in) -> {
              try {
                return ctx.step(
                    "one",
                    String.class,
                    StepOptions.DEFAULT.retry(
                        StepRetry.attempts(3).delays(Duration.ZERO, 1, Duration.ZERO)),
                    s -> {
                      throw new IllegalStateException("attempt " + s.attempt());
                    });
              } catch (StepFailedException e) {
                seen.add(e);
              }
              return ctx.awaitSignal("go", String.class);
            });
    RunKey run = flows.run(flow, "x").run();
    flows.signal(run, "go", "", "s");
    flows.resume(flow, run).orThrow();
    for (StepFailedException each : seen) {
      assertEquals("Step \"one\" failed: attempt 3", each.getMessage());
      assertTrue(each.isOf(IllegalStateException.class));
      assertEquals(2, each.getSuppressed().length);
    }
    assertEquals(2, seen.size());
  }

  @Test
  @Tag("F16")
  void a_value_that_is_too_large_fails_its_step() {
    Flow<String, String> flow =
        Flow.builder(
                "f",
                String.class,
                String.class,
                (ctx, in) -> ctx.step("big", String.class, s -> "x".repeat(100)))
            .maxStepBytes(50)
            .build();
    FlowResult<String> result = flows.run(flow, "x");
    assertEquals(FailureKind.LIMIT, result.state().failure().orElseThrow().kind());
  }

  @Test
  @Tag("F18")
  void the_limit_of_all_runs_counts_from_the_first_failure() {
    Flow<String, String> flow =
        flow(
            (ctx, in) ->
                ctx.step(
                    "one",
                    String.class,
                    StepOptions.DEFAULT.retry(
                        StepRetry.attempts(9)
                            .delays(Duration.ofMinutes(4), 1, Duration.ofMinutes(4))
                            .jitter(0)
                            .within(Duration.ofMinutes(10))),
                    s -> {
                      effects.add("run " + s.attempt());
                      throw new IllegalStateException("no");
                    }));
    FlowResult<String> result = flows.run(flow, "x");
    while (result.status() == RunStatus.WAITING) {
      time.advance(Duration.ofMinutes(4));
      result = flows.resume(flow, result.run());
    }
    // at 0, 4 and 8 minutes; 12 would be too late
    assertEquals(List.of("run 1", "run 2", "run 3"), effects);
  }

  @Test
  @Tag("F20")
  void a_once_step_is_retried_only_if_it_was_not_executed() {
    for (boolean executed : new boolean[] {false, true}) {
      effects.clear();
      Flow<String, String> flow =
          flow(
              (ctx, in) ->
                  ctx.step(
                      "one",
                      String.class,
                      StepOptions.once().retry(TWICE),
                      s -> {
                        effects.add("run");
                        throw executed
                            ? new IllegalStateException("no")
                            : new NotExecutedException("no", null);
                      }));
      assertEquals(RunStatus.FAILED, flows.run(flow, "x").status());
      assertEquals(executed ? 1 : 2, effects.size());
    }
  }

  @Test
  @Tag("F21")
  void a_once_step_whose_run_is_known_not_to_have_been_is_judged_by_its_retries() {
    Flow<String, String> flow =
        flow(
            (ctx, in) ->
                ctx.step(
                    "one",
                    String.class,
                    StepOptions.once().reconciler(key -> StepFinding.notExecuted()),
                    s -> {
                      effects.add("run");
                      throw new OutcomeUnknownException(new IllegalStateException("who knows"));
                    }));
    FlowResult<String> result = flows.run(flow, "x");
    assertEquals(RunStatus.FAILED, result.status());
    assertEquals(List.of("run"), effects);
  }

  @Test
  @Tag("F14")
  void an_idempotent_step_of_unknown_outcome_is_run_once_more_and_then_needs_a_verdict() {
    Flow<String, String> flow =
        flow(
            (ctx, in) ->
                ctx.step(
                    "one",
                    String.class,
                    s -> {
                      effects.add(s.idempotencyKey());
                      throw new OutcomeUnknownException(new IllegalStateException("who knows"));
                    }));
    FlowResult<String> result = flows.run(flow, "x");
    assertEquals(RunStatus.NEEDS_RECONCILIATION, result.status());
    assertEquals(2, effects.size());
    assertEquals(effects.get(0), effects.get(1));
    assertEquals(RunStatus.NEEDS_RECONCILIATION, flows.resume(flow, result.run()).status());
  }

  @Test
  @Tag("F2")
  void a_key_attaches_to_its_run_and_another_input_is_a_conflict() {
    Flow<String, String> flow = flow((ctx, in) -> step(ctx, "one") + in);
    FlowRequest<String, String> request =
        FlowRequest.builder(flow, "x").idempotencyKey("k").build();
    FlowResult<String> first = flows.run(request);
    assertEquals(first.log(), flows.run(request).log());
    assertThrows(
        ConflictException.class,
        () -> flows.run(FlowRequest.builder(flow, "y").idempotencyKey("k").build()));
  }

  @Test
  @Tag("F51")
  void a_failure_that_the_body_has_dealt_with_is_not_made_again() {
    Flow<String, String> flow =
        flow(
            (ctx, in) -> {
              ctx.compensate("undo", this::act);
              try {
                return ctx.step("one", String.class, FlowRulesTest::fails);
              } catch (StepFailedException e) {
                ctx.runCompensations();
                throw e;
              }
            });
    FlowResult<String> result = flows.run(flow, "x");
    assertEquals(RunStatus.FAILED, flows.resume(flow, result.run()).status());
    assertEquals(List.of("undo"), effects);
  }

  // --- signals and approvals

  @Test
  @Tag("F38")
  void signals_are_received_once_each_in_their_order_and_by_one_branch_each() {
    Flow<String, String> flow =
        flow(
            (ctx, in) ->
                ctx.awaitSignal("go", String.class)
                    + ctx.awaitSignal("go", String.class)
                    + ctx
                        .<String>parallel(
                            "all",
                            List.of(
                                b -> b.awaitSignal("go", String.class),
                                b -> b.awaitSignal("go", String.class)))
                        .stream()
                        .sorted()
                        .toList());
    RunKey run = flows.run(flow, "x").run();
    assertTrue(flows.signal(run, "go", "1", "a"));
    assertFalse(flows.signal(run, "go", "1", "a"));
    assertTrue(flows.signal(run, "go", "2", "b"));
    assertTrue(flows.signal(run, "go", "3", "c"));
    assertTrue(flows.signal(run, "go", "4", "d"));
    assertEquals("12[3, 4]", flows.resume(flow, run).orThrow());
    assertEquals(List.of(), store.signals(run, Deadline.never()));
    assertThrows(ConflictException.class, () -> flows.signal(run, "go", "5", "e"));
  }

  @Test
  @Tag("F38")
  @Tag("F39")
  void a_signal_that_comes_after_the_timeout_was_recorded_changes_nothing() {
    Flow<String, String> flow =
        flow(
            (ctx, in) ->
                ctx.awaitSignal("go", String.class, DAY).orElse("none")
                    + ctx.awaitSignal("end", String.class));
    RunKey run = flows.run(flow, "x").run();
    time.advance(DAY);
    flows.resume(flow, run);
    flows.signal(run, "go", "late", "a");
    flows.signal(run, "end", "!", "b");
    assertEquals("none!", flows.resume(flow, run).orThrow());
  }

  @Test
  @Tag("F40")
  @Tag("F41")
  void an_approval_that_expires_is_denied_and_another_process_goes_on() {
    Flow<String, String> flow =
        flow((ctx, in) -> ctx.approval("big", Map.of("amount", 7), DAY).reason().orElse(""));
    FlowResult<String> result = flows.run(flow, "x");
    assertTrue(result.state().pendingApprovals().getFirst().digest().startsWith("sha256:"));
    time.advance(DAY);
    assertEquals("expired", Flows.on(tasks, store).resume(flow, result.run()).orThrow());
  }

  @Test
  @Tag("F40")
  void a_decision_that_the_signer_has_not_signed_is_refused() {
    ApprovalSigner signer = ApprovalSigner.hmacSha256(new byte[32]);
    Flow<String, String> flow = flow((ctx, in) -> "" + ctx.approval("big", in, DAY).approved());
    Flows signed = flows.signedBy(signer);
    FlowResult<String> result = signed.run(flow, "x");
    String request = result.state().pendingApprovals().getFirst().requestId();
    assertThrows(
        InvalidRequestException.class,
        () -> runs.decide(result.run(), ApprovalDecision.approve(request)));
    runs.signedBy(signer).decide(result.run(), ApprovalDecision.approve(request));
    assertThrows(
        InvalidRequestException.class,
        () ->
            flows
                .signedBy(
                    ApprovalSigner.hmacSha256(
                        new byte[] {
                          1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7,
                          8, 9, 1, 2, 3, 4, 5
                        }))
                .resume(flow, result.run()));
    assertEquals("true", signed.resume(flow, result.run()).orThrow());
  }

  // --- cancel, cut-off

  @Test
  @Tag("F53")
  void a_cancel_interrupts_a_step_and_the_next_call_says_so() throws Exception {
    CountDownLatch running = new CountDownLatch(1);
    AtomicInteger told = new AtomicInteger();
    Flow<String, String> flow =
        flow(
            (ctx, in) -> {
              ctx.onCancel("first", this::act);
              ctx.onCancel("second", this::act);
              try {
                ctx.run(
                    "slow",
                    s -> {
                      running.countDown();
                      new CountDownLatch(1).await();
                    });
              } catch (OperationCancelledException e) {
                told.incrementAndGet(); // code between calls may run many times
                throw e;
              }
              return "";
            });
    RunKey run = new RunKey(RunScope.DEFAULT, "r");
    FutureTask<FlowResult<String>> driven =
        new FutureTask<>(() -> flows.run(FlowRequest.builder(flow, "x").runId("r").build()));
    Thread.ofVirtual().start(driven);
    running.await();
    runs.cancel(run);
    assertEquals(RunStatus.CANCELLED, driven.get().status());
    assertTrue(told.get() > 0);
    assertEquals(List.of("second", "first"), effects);
  }

  @Test
  @Tag("F53")
  void a_once_step_that_a_cancel_interrupts_needs_a_verdict_first() throws Exception {
    CountDownLatch running = new CountDownLatch(1);
    Flow<String, String> flow =
        flow(
            (ctx, in) ->
                ctx.step(
                    "pay",
                    String.class,
                    StepOptions.once(),
                    s -> {
                      running.countDown();
                      new CountDownLatch(1).await();
                      return "";
                    }));
    RunKey run = new RunKey(RunScope.DEFAULT, "r");
    FutureTask<FlowResult<String>> driven =
        new FutureTask<>(() -> flows.run(FlowRequest.builder(flow, "x").runId("r").build()));
    Thread.ofVirtual().start(driven);
    running.await();
    runs.cancel(run);
    assertEquals(RunStatus.NEEDS_RECONCILIATION, driven.get().status());
    var doubt = driven.get().state().flow().orElseThrow().needingVerdicts().getFirst();
    runs.reconcile(
        run,
        new RunEvent.ToolReconciled(
            doubt.position(),
            doubt.started().orElseThrow().key(),
            RunEvent.ToolReconciled.Verdict.SUCCEEDED,
            Optional.of(Json.of("paid")),
            "ann"));
    assertEquals(RunStatus.CANCELLED, flows.resume(flow, run).status());
  }

  @Test
  @Tag("F51")
  void a_driver_that_is_interrupted_leaves_a_run_that_goes_on() throws Exception {
    CountDownLatch running = new CountDownLatch(1);
    AtomicInteger tries = new AtomicInteger();
    Flow<String, String> flow =
        flow(
            (ctx, in) ->
                ctx.step(
                    "slow",
                    String.class,
                    s -> {
                      if (tries.incrementAndGet() == 1) {
                        running.countDown();
                        new CountDownLatch(1).await();
                      }
                      return "done";
                    }));
    FutureTask<FlowResult<String>> driven =
        new FutureTask<>(() -> flows.run(FlowRequest.builder(flow, "x").runId("r").build()));
    Thread driver = Thread.ofVirtual().start(driven);
    running.await();
    driver.interrupt();
    assertInstanceOf(
        OperationCancelledException.class,
        assertThrows(ExecutionException.class, driven::get).getCause());
    assertEquals("done", flows.resume(flow, new RunKey(RunScope.DEFAULT, "r")).orThrow());
  }

  @Test
  @Tag("F53")
  void a_failed_step_is_not_retried_after_a_cancel_and_nothing_breaks() {
    RunKey run = new RunKey(RunScope.DEFAULT, "r");
    Flow<String, String> flow =
        flow(
            (ctx, in) ->
                ctx.step(
                    "one",
                    String.class,
                    StepOptions.once().retry(TWICE),
                    s -> {
                      effects.add("run");
                      runs.cancel(run);
                      throw new NotExecutedException("no", null);
                    }));
    FlowResult<String> result = flows.run(FlowRequest.builder(flow, "x").runId("r").build());
    if (result.status() == RunStatus.NEEDS_RECONCILIATION) { // the interrupt came first
      result = reconciled(flow, result);
    }
    assertEquals(RunStatus.CANCELLED, result.status());
    assertEquals(List.of("run"), effects);
  }

  private FlowResult<String> reconciled(Flow<String, String> flow, FlowResult<String> result) {
    var doubt = result.state().flow().orElseThrow().needingVerdicts().getFirst();
    runs.reconcile(
        result.run(),
        new RunEvent.ToolReconciled(
            doubt.position(),
            doubt.started().orElseThrow().key(),
            RunEvent.ToolReconciled.Verdict.NOT_EXECUTED,
            Optional.empty(),
            "ann"));
    return flows.resume(flow, result.run());
  }

  @Test
  @Tag("F53")
  void what_a_branch_begins_after_another_one_has_seen_the_cancel_is_left_out() {
    RunKey run = flows.run(flow((ctx, in) -> ctx.awaitSignal("go", String.class)), "x").run();
    Writer owner = store.acquire(run, Deadline.never()).orElseThrow();
    RunLog log = RunLog.open(store, run, owner, time, Deadline.never());
    log.append(new RunEvent.RunResumed("test"));
    runs.cancel(run);
    log.append(new TimerScheduled("2", "sleep", time.now())); // takes the cancel in
    log.append(new TimerScheduled("3", "sleep", time.now()));
    assertFalse(log.hasFailed());
    assertEquals(Optional.empty(), log.state().flow().orElseThrow().at("2"));
    assertEquals(Optional.empty(), log.state().flow().orElseThrow().at("3"));
  }

  @Test
  @Tag("F13")
  void the_key_of_a_step_is_made_of_its_run_and_its_position_alone() {
    List<String> keys = new ArrayList<>();
    List<String> expected = new ArrayList<>();
    Flow<String, String> flow =
        flow(
            (ctx, in) -> {
              for (int n = 1; n <= 3; n++) {
                ctx.run("step", StepOptions.pure(), step -> keys.add(step.idempotencyKey()));
                expected.add(key(ctx.runId(), "" + n));
              }
              ctx.parallel("both", List.<Branch<Integer>>of(b -> keyed(b, keys), b -> 0));
              expected.add(key(ctx.runId(), "4/0/1"));
              return "done";
            });
    Flows.on(tasks, store).run(flow, "x").orThrow();
    assertEquals(expected, keys);
  }

  private static int keyed(FlowContext branch, List<String> keys) {
    branch.run("step", step -> keys.add(step.idempotencyKey()));
    return 1;
  }

  private static String key(String runId, String position) {
    String subject = Json.of(Map.of("runId", runId, "position", position)).canonical();
    return runId + ":step_" + Digest.hex(subject);
  }

  @Test
  @Tag("F10")
  @Tag("F26")
  void branches_that_write_at_the_same_time_share_commits_and_lose_nothing() {
    int width = 100;
    int steps = 10;
    Queue<Thread> arrived = new ConcurrentLinkedQueue<>();
    List<Branch<Integer>> branches = new ArrayList<>();
    for (int i = 0; i < width; i++) {
      branches.add(
          b -> {
            arrived.add(Thread.currentThread());
            int sum = 0;
            for (int k = 0; k < steps; k++) {
              sum += b.step("s", Integer.class, s -> effects.add(s.position()) ? 1 : 0);
            }
            return sum;
          });
    }
    Flow<String, String> flow =
        flow(
            (ctx, in) ->
                ctx.<Integer>parallel("all", branches).stream().mapToInt(n -> n).sum() + "");
    AtomicInteger appends = new AtomicInteger();
    AtomicBoolean waited = new AtomicBoolean();
    RunStore slow =
        new ForwardingStore(store) {
          @Override
          public void append(Append append, Deadline deadline) {
            appends.incrementAndGet();
            boolean first = append.events().stream().anyMatch(FlowStepStarted.class::isInstance);
            if (first && waited.compareAndSet(false, true)) {
              awaitOthers(arrived, width);
            }
            super.append(append, deadline);
          }
        };
    FlowResult<String> result = Flows.on(tasks, slow).run(flow, "x");
    assertEquals(width * steps + "", result.orThrow());
    assertEquals((long) width * steps, effects.stream().distinct().count());
    assertEquals(width * steps, effects.size());
    assertEquals(width * steps, events(result, FlowStepFinished.class).size());
    int events = events(result, RunEvent.class).size();
    assertTrue(appends.get() <= events - (width - 2), () -> appends + " appends, " + events);
  }

  /** Until all others wait for the commit that this thread is about to make. */
  private static void awaitOthers(Queue<Thread> arrived, int count) {
    while (arrived.size() < count
        || arrived.stream()
            .filter(thread -> thread != Thread.currentThread())
            .anyMatch(thread -> thread.getState() != Thread.State.WAITING)) {
      LockSupport.parkNanos(1); // leaves the carrier to them
    }
  }

  @Test
  @Tag("F57")
  void a_long_run_is_read_once_and_each_step_costs_one_look() {
    int steps = 10_000;
    Flow<String, String> flow =
        Flow.builder(
                "f",
                String.class,
                String.class,
                (ctx, in) -> {
                  for (int i = 0; i < steps; i++) {
                    var _ = ctx.step("s", Integer.class, StepOptions.pure(), s -> 1);
                  }
                  return ctx.awaitSignal("go", String.class);
                })
            .maxStateBytes(64L * 1024 * 1024)
            .build();
    RunKey run = flows.run(flow, "x").run();
    flows.signal(run, "go", "done", "s");
    CountingStore counting = new CountingStore(store);
    assertEquals("done", Flows.on(tasks, counting).resume(flow, run).orThrow());
    assertTrue(counting.loaded.get() <= 3L * steps, () -> "events read: " + counting.loaded);
    assertTrue(counting.appends.get() <= 3, () -> "appends: " + counting.appends);
  }

  /** Counts what is read and written. */
  private static final class CountingStore extends ForwardingStore {
    final AtomicLong loaded = new AtomicLong();
    final AtomicInteger appends = new AtomicInteger();

    CountingStore(RunStore store) {
      super(store);
    }

    @Override
    public List<LoggedEvent> load(RunKey run, long fromSequence, Deadline deadline) {
      List<LoggedEvent> found = super.load(run, fromSequence, deadline);
      loaded.addAndGet(found.size());
      return found;
    }

    @Override
    public void append(Append append, Deadline deadline) {
      appends.incrementAndGet();
      super.append(append, deadline);
    }
  }
}
