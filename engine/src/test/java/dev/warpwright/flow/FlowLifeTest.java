package dev.warpwright.flow;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.agent.Invocation;
import dev.warpwright.agent.OnTimeout;
import dev.warpwright.agent.RunBudget;
import dev.warpwright.agent.RunPolicy;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.model.NonDeterminismException;
import dev.warpwright.model.RunFailedException;
import dev.warpwright.run.Append;
import dev.warpwright.run.ForwardingStore;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.RunEvent;
import dev.warpwright.run.RunEvent.ToolReconciled;
import dev.warpwright.run.RunEvent.ToolReconciled.Verdict;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.Runs;
import dev.warpwright.run.Standing;
import dev.warpwright.run.Worker;
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
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How long a run of a flow lives: its timeout, and how it goes on in a fresh run. */
@Timeout(60)
final class FlowLifeTest {
  private static final Duration DAY = Duration.ofDays(1);
  private static final Duration HOUR = Duration.ofHours(1);

  private final ManualTime time = new ManualTime(Instant.parse("2026-01-01T12:00:00Z"), 7);
  private final RunStore store = RunStore.inMemory(time);
  private final TaskTree tasks = TaskTree.builder().time(time).build();
  private final Flows flows = Flows.on(tasks, store);
  private final Runs runs = Runs.in(store, time);
  private final List<String> effects = Collections.synchronizedList(new ArrayList<>());

  private static Flow<String, String> flow(RunPolicy policy, FlowBody<String, String> body) {
    return Flow.builder("f", String.class, String.class, body).policy(policy).build();
  }

  private String step(FlowContext ctx, String name) {
    return ctx.step(
        name,
        String.class,
        step -> {
          effects.add(name);
          return name;
        });
  }

  // --- timeout

  @Test
  @Tag("F52")
  void a_run_that_waits_too_long_is_ended_and_its_code_does_not_run_again() {
    Flow<String, String> flow =
        flow(
            RunPolicy.NONE.withTimeout(DAY),
            (ctx, in) -> step(ctx, "one") + ctx.awaitSignal("go", String.class));
    FlowResult<String> result = flows.run(flow, "x");
    assertEquals(Optional.of(time.now().plus(DAY)), result.state().standing().due());

    time.advance(DAY.minusSeconds(1));
    assertEquals(RunStatus.WAITING, flows.resume(flow, result.run()).status());
    time.advance(Duration.ofSeconds(1));
    flows.signal(result.run(), "go", "too late", "s");
    FlowResult<String> ended = flows.resume(flow, result.run());
    assertEquals(RunStatus.TIMED_OUT, ended.status());
    assertEquals(DAY, ended.state().timeout().orElseThrow().limit());
    RunFailedException late = assertThrows(RunFailedException.class, ended::orThrow);
    assertEquals(FailureKind.DEADLINE, late.kind());
    assertEquals(ended.log(), flows.resume(flow, result.run()).log());
    assertEquals(List.of("one"), effects);
  }

  @Test
  @Tag("F52")
  void waiting_for_an_approval_longer_than_the_run_may_live_is_due_at_its_end() {
    Flow<String, String> flow =
        flow(
            RunPolicy.NONE.withTimeout(DAY),
            (ctx, in) -> "" + ctx.approval("big", in, DAY.multipliedBy(9)).approved());
    FlowResult<String> result = flows.run(flow, "x");
    assertEquals(Optional.of(time.now().plus(DAY)), result.state().standing().due());
    time.advance(DAY);
    assertEquals(RunStatus.TIMED_OUT, flows.resume(flow, result.run()).status());
  }

  @Test
  @Tag("F52")
  void a_worker_ends_a_run_when_its_time_is_over() {
    Flow<String, String> flow =
        flow(
            RunPolicy.NONE.withTimeout(Duration.ofMinutes(1)),
            (ctx, in) -> ctx.awaitSignal("go", String.class));
    RunKey run = flows.enqueue(FlowRequest.builder(flow, "x").build());
    try (Worker worker = Worker.builder(store).drives(flows.driver(flow)).tasks(tasks).start()) {
      assertTrue(worker.awaitIdle(Duration.ofSeconds(30)));
      assertEquals(RunStatus.WAITING, runs.state(run).orElseThrow().status());
      time.advance(Duration.ofMinutes(1));
      assertTrue(worker.awaitIdle(Duration.ofSeconds(30)));
    }
    assertEquals(RunStatus.TIMED_OUT, runs.state(run).orElseThrow().status());
    assertEquals(Optional.empty(), runs.state(run).orElseThrow().standing().due());
  }

  @Test
  @Tag("F52")
  void a_step_is_interrupted_at_the_end_of_the_life_and_the_run_is_over() throws Exception {
    CountDownLatch running = new CountDownLatch(1);
    Flow<String, String> flow =
        flow(
            RunPolicy.NONE.withTimeout(HOUR),
            (ctx, in) ->
                ctx.step(
                    "slow",
                    String.class,
                    step -> {
                      running.countDown();
                      new CountDownLatch(1).await();
                      return "never";
                    }));
    FutureTask<FlowResult<String>> drive = new FutureTask<>(() -> flows.run(flow, "x"));
    Thread.ofVirtual().start(drive);
    running.await();
    time.advance(HOUR);
    assertEquals(RunStatus.TIMED_OUT, drive.get().status());
  }

  @Test
  @Tag("F52")
  void a_once_step_in_doubt_needs_its_verdict_before_the_run_times_out() {
    Flow<String, String> flow =
        flow(
            RunPolicy.NONE.withTimeout(HOUR),
            (ctx, in) ->
                ctx.step(
                    "pay",
                    String.class,
                    StepOptions.once(),
                    step -> {
                      time.advance(HOUR);
                      throw new OutcomeUnknownException(new IllegalStateException("who knows"));
                    }));
    FlowResult<String> result = flows.run(flow, "x");
    assertEquals(RunStatus.NEEDS_RECONCILIATION, result.status());
    var step = result.state().flow().orElseThrow().needingVerdicts().getFirst();
    RunStatus after =
        runs.reconcile(
                result.run(),
                new ToolReconciled(
                    step.position(),
                    step.started().orElseThrow().key(),
                    Verdict.SUCCEEDED,
                    Optional.of(Json.of("paid")),
                    "ann"))
            .status();
    assertEquals(
        RunStatus.TIMED_OUT,
        after == RunStatus.TIMED_OUT ? after : flows.resume(flow, result.run()).status());
  }

  @Test
  @Tag("F52")
  void a_timeout_may_cancel_so_that_the_flow_takes_back_what_it_did() {
    Flow<String, String> flow =
        flow(
            RunPolicy.NONE.withTimeout(DAY).withOnTimeout(OnTimeout.CANCEL_REQUESTED),
            (ctx, in) -> {
              ctx.onCancel("undo", step -> effects.add("undo"));
              return step(ctx, "one") + ctx.awaitSignal("go", String.class);
            });
    RunKey run = flows.run(flow, "x").run();
    time.advance(DAY);
    assertEquals(RunStatus.CANCELLED, flows.resume(flow, run).status());
    assertEquals(List.of("one", "undo"), effects);
  }

  @Test
  @Tag("F52")
  void a_request_brings_its_own_timeout_and_the_time_in_the_queue_counts() {
    Flow<String, String> flow = flow(RunPolicy.NONE.withTimeout(DAY), (ctx, in) -> step(ctx, in));
    Invocation shorter = Invocation.builder().policy(RunPolicy.NONE.withTimeout(HOUR)).build();
    FlowResult<String> result =
        flows.run(FlowRequest.builder(flow, "x").invocation(shorter).build());
    assertEquals(Optional.of(time.now().plus(HOUR)), result.state().endsAt());

    RunKey queued = flows.enqueue(FlowRequest.builder(flow, "y").build());
    time.advance(DAY);
    assertEquals(RunStatus.TIMED_OUT, flows.resume(flow, queued).status());
    assertEquals(List.of("x"), effects);
  }

  @Test
  @Tag("F52")
  void the_policy_of_a_flow_has_no_budget() {
    RunPolicy paid = RunPolicy.NONE.withBudget(RunBudget.builder().maxToolCalls(1).build());
    assertThrows(InvalidRequestException.class, () -> flow(paid, (ctx, in) -> in));
    Flow<String, String> flow = flow(RunPolicy.NONE, (ctx, in) -> in);
    assertThrows(
        InvalidRequestException.class,
        () ->
            flows.run(
                FlowRequest.builder(flow, "x")
                    .invocation(Invocation.builder().policy(paid).build())
                    .build()));
  }

  // --- continuation

  private static final FlowBody<String, String> COUNTS =
      (ctx, in) -> in.length() < 4 ? ctx.continueAs(in + "x") : in;

  @Test
  @Tag("F58")
  void a_flow_goes_on_in_a_fresh_run_with_an_empty_log() {
    Flow<String, String> flow = flow(RunPolicy.NONE.withTimeout(DAY), COUNTS);
    FlowResult<String> first =
        flows.run(
            FlowRequest.builder(flow, "x")
                .runId("loop")
                .idempotencyKey("key")
                .metadata(Map.of("who", "me"))
                .build());
    assertEquals(RunStatus.COMPLETED, first.status());
    assertEquals(Optional.empty(), first.output());
    assertEquals(
        FailureKind.UNFINISHED, assertThrows(RunFailedException.class, first::orThrow).kind());
    assertEquals(
        first.log(), flows.run(FlowRequest.builder(flow, "x").idempotencyKey("key").build()).log());

    RunKey second = first.continuedAs().orElseThrow();
    assertEquals(new RunKey(RunScope.DEFAULT, "loop:2"), second);
    assertEquals(RunStatus.QUEUED, runs.state(second).orElseThrow().status());
    time.advance(HOUR);
    FlowResult<String> third =
        flows.resume(flow, flows.resume(flow, second).continuedAs().orElseThrow());
    assertEquals("loop:3", third.run().runId());
    assertEquals(Map.of("who", "me"), third.state().started().metadata());
    assertEquals(Optional.of(third.state().startedAt().plus(DAY)), third.state().endsAt());
    assertEquals("loop:4", third.continuedAs().orElseThrow().runId());
    assertEquals("xxxx", flows.resume(flow, third.continuedAs().get()).orThrow());
  }

  @Test
  @Tag("F58")
  void a_worker_drives_the_runs_in_which_a_flow_goes_on() {
    Flow<String, String> flow = flow(RunPolicy.NONE, COUNTS);
    RunKey run = flows.enqueue(FlowRequest.builder(flow, "x").runId("loop").build());
    try (Worker worker = Worker.builder(store).drives(flows.driver(flow)).tasks(tasks).start()) {
      assertTrue(worker.awaitIdle(Duration.ofSeconds(30)));
    }
    assertEquals(Optional.of("loop:2"), runs.state(run).orElseThrow().continuedAs());
    assertEquals(
        Optional.of(Json.of("xxxx")),
        runs.state(new RunKey(RunScope.DEFAULT, "loop:4")).orElseThrow().output());
  }

  @Test
  @Tag("F58")
  void signals_that_were_not_received_go_on_to_the_fresh_run() {
    Flow<String, String> flow =
        flow(
            RunPolicy.NONE,
            (ctx, in) -> {
              String word = ctx.awaitSignal("word", String.class);
              return word.equals("end") ? in : ctx.continueAs(in + word);
            });
    RunKey run = flows.run(flow, "").run();
    flows.signal(run, "word", "a", "s1");
    flows.signal(run, "word", "b", "s2");
    flows.signal(run, "word", "end", "s3");
    FlowResult<String> result = flows.resume(flow, run);
    while (result.continuedAs().isPresent()) {
      result = flows.resume(flow, result.continuedAs().get());
    }
    assertEquals("ab", result.orThrow());
  }

  @Test
  @Tag("F58")
  void a_cancel_that_comes_before_the_old_run_has_ended_cancels_the_fresh_one_too() {
    Flow<String, String> flow = flow(RunPolicy.NONE, COUNTS);
    RunStore cancelling =
        new ForwardingStore(store) {
          @Override
          public void adopt(List<LoggedEvent> log, Standing standing, Deadline deadline) {
            super.adopt(log, standing, deadline);
            var _ = runs.cancel(new RunKey(RunScope.DEFAULT, "loop"));
          }
        };
    FlowResult<String> result =
        Flows.on(tasks, cancelling).run(FlowRequest.builder(flow, "x").runId("loop").build());
    assertEquals(RunStatus.CANCELLED, result.status());
    RunKey next = new RunKey(RunScope.DEFAULT, "loop:2");
    assertEquals(RunStatus.CANCELLED, flows.resume(flow, next).status());
  }

  @Test
  @Tag("F58")
  void a_flow_goes_on_only_from_its_body_with_its_input_and_not_as_a_child() {
    List<FlowBody<String, String>> wrong =
        List.of(
            (ctx, in) -> ctx.continueAs(17),
            (ctx, in) -> ctx.<String>parallel("all", List.of(b -> b.continueAs("x"))).getFirst(),
            (ctx, in) -> ctx.child(Flow.of("g", String.class, String.class, COUNTS), "x"),
            (ctx, in) -> {
              try {
                return ctx.continueAs("x");
              } catch (Throwable swallowed) {
                return step(ctx, "must not happen");
              }
            });
    for (FlowBody<String, String> body : wrong) {
      FlowResult<String> result = flows.run(flow(RunPolicy.NONE, body), "x");
      assertEquals(RunStatus.FAILED, result.status());
      assertEquals(FailureKind.INVALID_REQUEST, result.state().failure().orElseThrow().kind());
    }
    assertEquals(List.of(), effects);
  }

  @Test
  @Tag("F50")
  @Tag("F58")
  void a_check_knows_where_a_run_went_on() {
    FlowResult<String> went = flows.run(flow(RunPolicy.NONE, COUNTS), "x");
    FlowResult<String> returned = flows.run(flow(RunPolicy.NONE, COUNTS), "xxxx");
    assertEquals(Optional.empty(), flows.check(flow(RunPolicy.NONE, COUNTS), went.log()));
    assertEquals(Optional.empty(), flows.check(flow(RunPolicy.NONE, COUNTS), returned.log()));
    Flow<String, String> other =
        flow(RunPolicy.NONE, (ctx, in) -> in.length() < 4 ? in : ctx.continueAs("x"));
    assertTrue(flows.check(other, went.log()).isPresent());
    assertTrue(flows.check(other, returned.log()).isPresent());
  }

  /** Dies once, at the end of a run: before it is written, or after. */
  private RunStore dying(boolean written, Runnable before) {
    AtomicBoolean dies = new AtomicBoolean(true);
    return new ForwardingStore(store) {
      @Override
      public void append(Append append, Deadline deadline) {
        boolean now =
            append.events().stream().anyMatch(RunEvent.RunCompleted.class::isInstance)
                && dies.getAndSet(false);
        if (now) {
          before.run();
        }
        if (!now || written) {
          super.append(append, deadline);
        }
        if (now) {
          throw new IllegalStateException("The process dies.");
        }
      }
    };
  }

  private void dies(RunStore dying, Flow<String, String> flow, String input) {
    Flows mortal = Flows.on(tasks, dying);
    assertThrows(IllegalStateException.class, () -> mortal.run(flow, "loop", input));
  }

  private static RunKey loop(String id) {
    return new RunKey(RunScope.DEFAULT, id);
  }

  private static final FlowBody<String, String> GOES_ON_ONCE =
      (ctx, in) -> in.isEmpty() ? ctx.continueAs("x") : in + ctx.awaitSignal("word", String.class);

  @Test
  @Tag("F58")
  void a_signal_that_comes_just_before_the_end_of_the_old_run_is_not_lost() {
    Flow<String, String> flow = flow(RunPolicy.NONE, GOES_ON_ONCE);
    dies(dying(true, () -> flows.signal(loop("loop"), "word", "!", "s1")), flow, "");
    assertEquals(RunStatus.COMPLETED, runs.state(loop("loop")).orElseThrow().status());
    assertEquals("x!", flows.resume(flow, loop("loop:2")).orThrow());
  }

  @Test
  @Tag("F55")
  @Tag("F58")
  void an_old_run_ends_though_the_fresh_one_has_ended_before_it() {
    Flow<String, String> flow =
        flow(RunPolicy.NONE, (ctx, in) -> in.isEmpty() ? ctx.continueAs("x") : in);
    dies(dying(false, () -> {}), flow, "");
    assertEquals("x", flows.resume(flow, loop("loop:2")).orThrow());
    flows.signal(loop("loop"), "word", "nobody waits for it", "s1");
    FlowResult<String> ended = flows.resume(flow, loop("loop"));
    assertEquals(RunStatus.COMPLETED, ended.status());
    assertEquals(Optional.of(loop("loop:2")), ended.continuedAs());
  }

  @Test
  @Tag("F52")
  @Tag("F58")
  void a_run_that_times_out_before_it_has_ended_leaves_no_fresh_run_behind() {
    Flow<String, String> flow = flow(RunPolicy.NONE.withTimeout(DAY), GOES_ON_ONCE);
    RunKey old = flows.enqueue(FlowRequest.builder(flow, "").runId("loop").build());
    time.advance(HOUR);
    Flows mortal = Flows.on(tasks, dying(false, () -> {}));
    assertThrows(IllegalStateException.class, () -> mortal.resume(flow, old));
    time.advance(DAY.minus(HOUR));
    assertEquals(RunStatus.TIMED_OUT, flows.resume(flow, old).status());
    assertEquals(RunStatus.CANCELLED, flows.resume(flow, loop("loop:2")).status());
  }

  @Test
  @Tag("F53")
  void a_loop_that_catches_every_exception_ends_on_a_cancel() {
    AtomicInteger caught = new AtomicInteger();
    Flow<String, String> flow =
        flow(
            RunPolicy.NONE,
            (ctx, in) -> {
              while (true) {
                try {
                  step(ctx, "one");
                  ctx.sleep(HOUR);
                } catch (Exception told) {
                  if (caught.incrementAndGet() > 100) {
                    throw new AssertionError("it is told again and again");
                  }
                }
              }
            });
    RunKey run = flows.run(flow, "x").run();
    var _ = runs.cancel(run);
    assertEquals(RunStatus.CANCELLED, flows.resume(flow, run).status());
    assertEquals(List.of("one"), effects);
  }

  @Test
  @Tag("F38")
  @Tag("F46")
  void a_signal_of_another_type_does_not_end_the_run_and_code_that_can_read_it_goes_on() {
    Flow<String, String> numbers =
        flow(RunPolicy.NONE, (ctx, in) -> in + ctx.awaitSignal("n", Integer.class));
    RunKey run = flows.run(numbers, "x").run();
    flows.signal(run, "n", "seven", "s1");
    assertThrows(NonDeterminismException.class, () -> flows.resume(numbers, run));
    assertThrows(NonDeterminismException.class, () -> flows.resume(numbers, run));
    Flow<String, String> words =
        flow(RunPolicy.NONE, (ctx, in) -> in + ctx.awaitSignal("n", String.class));
    assertEquals("xseven", flows.resume(words, run).orThrow());
  }

  // --- what cannot be written

  @Test
  @Tag("F16")
  @Tag("F55")
  void a_loop_that_catches_every_exception_ends_when_its_log_is_full() {
    AtomicInteger made = new AtomicInteger();
    Flow<String, String> flow =
        Flow.builder(
                "f",
                String.class,
                String.class,
                (ctx, in) -> {
                  while (true) {
                    try {
                      ctx.run("poll", StepOptions.pure(), step -> made.incrementAndGet());
                    } catch (Exception full) {
                      if (made.get() > 1000) {
                        throw new AssertionError("it acts, and nothing is written");
                      }
                    }
                  }
                })
            .maxStateBytes(5_000)
            .build();
    FlowResult<String> result = flows.run(flow, "x");
    assertEquals(RunStatus.FAILED, result.status());
    assertEquals(FailureKind.LIMIT, result.state().failure().orElseThrow().kind());
    assertTrue(result.state().failure().orElseThrow().resumable());
  }

  @Test
  @Tag("F44")
  @Tag("F46")
  void a_difference_in_a_branch_writes_nothing() {
    AtomicBoolean changed = new AtomicBoolean();
    Flow<String, String> flow =
        flow(
            RunPolicy.NONE,
            (ctx, in) ->
                ctx.<String>parallel(
                        "both",
                        List.of(
                            one ->
                                changed.get()
                                    ? step(one, "other")
                                    : one.awaitSignal("go", String.class),
                            two -> step(two, "two")))
                    .toString());
    FlowResult<String> waits = flows.run(flow, "x");
    assertEquals(RunStatus.WAITING, waits.status());
    flows.signal(waits.run(), "go", "!", "s1");
    changed.set(true);
    assertThrows(NonDeterminismException.class, () -> flows.resume(flow, waits.run()));
    changed.set(false);
    assertEquals("[!, two]", flows.resume(flow, waits.run()).orThrow());
    assertEquals(List.of("two"), effects);
  }

  @Test
  @Tag("F46")
  void a_difference_in_a_branch_leaves_the_step_of_another_one_to_the_right_code() {
    AtomicBoolean changed = new AtomicBoolean();
    CountDownLatch running = new CountDownLatch(1);
    Flow<String, String> flow =
        flow(
            RunPolicy.NONE,
            (ctx, in) ->
                ctx.<String>parallel(
                        "both",
                        List.of(
                            one -> {
                              if (changed.get()) {
                                running.await();
                                return step(one, "other");
                              }
                              return step(one, "one");
                            },
                            two ->
                                two.awaitSignal("go", String.class)
                                    + two.step(
                                        "two",
                                        String.class,
                                        step -> {
                                          if (changed.get()) {
                                            running.countDown();
                                            new CountDownLatch(1).await();
                                          }
                                          return "two";
                                        })))
                    .toString());
    RunKey run = flows.run(flow, "x").run();
    flows.signal(run, "go", "!", "s1");
    changed.set(true);
    assertThrows(NonDeterminismException.class, () -> flows.resume(flow, run));
    changed.set(false);
    assertEquals("[one, !two]", flows.resume(flow, run).orThrow());
    assertEquals(List.of("one"), effects);
  }
}
