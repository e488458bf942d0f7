package dev.warpwright.flow;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.flow.FlowTelemetry.FlowFinish;
import dev.warpwright.flow.FlowTelemetry.FlowStart;
import dev.warpwright.flow.FlowTelemetry.Resumed;
import dev.warpwright.flow.FlowTelemetry.StepEnd;
import dev.warpwright.flow.FlowTelemetry.StepFinish;
import dev.warpwright.flow.FlowTelemetry.StepStart;
import dev.warpwright.flow.FlowTelemetry.Suspended;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.StepFailedException;
import dev.warpwright.run.ApprovalDecision;
import dev.warpwright.run.RunEvent.RunSuspended.Reason;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.Runs;
import dev.warpwright.run.Timeline;
import dev.warpwright.run.Timeline.Entry;
import dev.warpwright.task.TaskTree;
import dev.warpwright.testing.ManualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What an observer is told of a flow, and what a timeline shows of it. */
@Timeout(60)
final class FlowTelemetryTest {
  private static final Duration HOUR = Duration.ofHours(1);

  private final ManualTime time = new ManualTime(Instant.parse("2026-01-01T12:00:00Z"), 7);
  private final RunStore store = RunStore.inMemory(time);
  private final TaskTree tasks = TaskTree.builder().time(time).build();
  private final LinkedBlockingQueue<FlowTelemetry> told = new LinkedBlockingQueue<>();
  private final Flows flows = Flows.on(tasks, store).observer(told::add);
  private final AtomicInteger tries = new AtomicInteger();

  private final Flow<String, String> flow =
      Flow.of(
          "f",
          String.class,
          String.class,
          (ctx, in) -> {
            ctx.step("pure", String.class, StepOptions.pure(), step -> in);
            ctx.sleep(HOUR);
            ctx.step(
                "shaky",
                String.class,
                StepOptions.DEFAULT.retry(StepRetry.attempts(2).delays(HOUR, 1, HOUR).jitter(0)),
                step -> {
                  if (tries.incrementAndGet() == 1) {
                    throw new IllegalStateException("no");
                  }
                  return in;
                });
            return ctx.step(
                "last",
                String.class,
                step -> {
                  if (tries.incrementAndGet() == 3) {
                    throw new IllegalStateException("no");
                  }
                  return in;
                });
          });

  private static StepFinish finish(String position, String name, int attempt, StepEnd end) {
    return new StepFinish(position, name, attempt, end, Duration.ZERO);
  }

  private List<FlowTelemetry.Event> next(int count) throws InterruptedException {
    List<FlowTelemetry.Event> events = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      events.add(told.take().event());
    }
    assertEquals(List.of(), List.copyOf(told));
    return events;
  }

  @Test
  @Tag("F56")
  void an_observer_is_told_of_starts_steps_waits_and_of_the_end_once() throws Exception {
    RunKey run = flows.run(flow, "x").run();
    assertEquals(
        List.of(
            new FlowStart(),
            new StepStart("1", "pure", 1),
            finish("1", "pure", 1, StepEnd.SUCCEEDED),
            new Suspended(Reason.TIMER, 1)),
        next(4));
    time.advance(HOUR);
    flows.resume(flow, run);
    assertEquals(
        List.of(
            new Resumed("what it waited for is there"),
            new StepStart("3", "shaky", 1),
            finish("3", "shaky", 1, StepEnd.TO_BE_RETRIED),
            new Suspended(Reason.TIMER, 1)),
        next(4));
    time.advance(HOUR);
    flows.resume(flow, run);
    assertEquals(
        List.of(
            new Resumed("what it waited for is there"),
            new StepStart("3", "shaky", 2),
            finish("3", "shaky", 2, StepEnd.SUCCEEDED),
            new StepStart("4", "last", 1),
            finish("4", "last", 1, StepEnd.FAILED),
            new FlowFinish(RunStatus.FAILED, Optional.of(FailureKind.INTERNAL), true)),
        next(6));
    flows.resume(flow, run).orThrow();
    assertEquals(
        List.of(
            new Resumed("resumed after a failure"),
            new StepStart("4", "last", 2),
            finish("4", "last", 2, StepEnd.SUCCEEDED),
            new FlowFinish(RunStatus.COMPLETED, Optional.empty(), false)),
        next(4));
    flows.resume(flow, run).orThrow();
    assertEquals(List.of(), next(0));
  }

  @Test
  @Tag("F56")
  void an_observer_that_fails_changes_nothing_and_what_it_is_told_names_the_run() throws Exception {
    Flows failing =
        Flows.on(tasks, store)
            .observer(
                telemetry -> {
                  told.add(telemetry);
                  throw new AssertionError("no");
                });
    FlowResult<String> result =
        failing.run(Flow.of("f", String.class, String.class, (ctx, in) -> in), "x");
    assertEquals("x", result.orThrow());
    for (int i = 0; i < 2; i++) {
      FlowTelemetry telemetry = told.take();
      assertEquals(result.run(), telemetry.run());
      assertEquals("f", telemetry.flowId());
    }
  }

  @Test
  @Tag("F56")
  void a_queued_flow_starts_when_it_is_taken_up_and_a_cancel_is_told_as_its_end() throws Exception {
    RunKey run = flows.enqueue(FlowRequest.builder(flow, "x").build());
    assertEquals(List.of(), next(0));
    flows.resume(flow, run);
    assertEquals(new FlowStart(), next(4).getFirst());
    Runs.in(store, time).cancel(run);
    flows.resume(flow, run);
    assertEquals(new FlowFinish(RunStatus.CANCELLED, Optional.empty(), false), next(2).getLast());
  }

  // --- timeline

  private static void print(List<? extends Entry> entries, String indent, List<String> lines) {
    for (Entry entry : entries) {
      lines.add(
          indent + entry + entry.duration().map(taken -> " " + taken.toMinutes() + "m").orElse(""));
      print(entry.parts(), indent + "  ", lines);
    }
  }

  @Test
  @Tag("F56")
  void a_timeline_shows_steps_retries_branches_iterations_and_approvals() {
    Flow<String, String> nested =
        Flow.of(
            "f",
            String.class,
            String.class,
            (ctx, in) -> {
              for (int i = 0; i < 2; i++) {
                ctx.step("loop", String.class, StepOptions.pure(), step -> in);
              }
              ctx.parallel(
                  "all",
                  1,
                  List.of("a", "b"),
                  (b, item) ->
                      item.equals("a")
                          ? "" + b.approval("big", in, HOUR.multipliedBy(9)).approved()
                          : b.step(
                              "shaky",
                              String.class,
                              StepOptions.DEFAULT.retry(
                                  StepRetry.attempts(2).delays(HOUR, 1, HOUR).jitter(0)),
                              step -> {
                                if (tries.incrementAndGet() == 1) {
                                  throw new IllegalStateException("no");
                                }
                                return in;
                              }));
              try {
                ctx.run(
                    "fails",
                    step -> {
                      throw new IllegalStateException("no");
                    });
              } catch (StepFailedException e) {
                ctx.child(Flow.of("g", String.class, String.class, (c, i) -> i), in);
              }
              return in;
            });
    FlowResult<String> result = flows.run(nested, "x");
    time.advance(HOUR);
    result = flows.resume(nested, result.run());
    time.advance(HOUR);
    result =
        flows.resume(
            nested,
            result.run(),
            ApprovalDecision.approve(result.state().pendingApprovals().getFirst().requestId()));
    assertEquals("x", result.orThrow());
    List<String> lines = new ArrayList<>();
    print(Runs.in(store, time).timeline(result.run()).entries(), "", lines);
    assertTrue(
        lines.containsAll(
            List.of(
                "step loop: SUCCEEDED 0m",
                "parallel all: SUCCEEDED 120m",
                "  branch 0: SUCCEEDED 120m",
                "    approval big: SUCCEEDED 120m",
                "      approval: approved 120m",
                "    step shaky: SUCCEEDED 60m",
                "      try 1, IDEMPOTENT: FAILED 0m",
                "      try 2, IDEMPOTENT: SUCCEEDED 0m",
                "step fails: FAILED 0m",
                "child run flow:g: SUCCEEDED 0m")),
        () -> String.join("\n", lines));
    assertEquals(2, lines.stream().filter("step loop: SUCCEEDED 0m"::equals).count());
  }

  @Test
  @Tag("F56")
  void a_timeline_of_a_run_that_ended_early_leaves_nothing_open() {
    Flow<String, String> waits =
        Flow.of(
            "f",
            String.class,
            String.class,
            (ctx, in) ->
                ctx.<String>parallel("all", List.of(b -> b.awaitSignal("unsent", String.class)))
                    .getFirst());
    RunKey run = flows.run(waits, "x").run();
    Runs runs = Runs.in(store, time);
    Timeline open = runs.timeline(run);
    assertTrue(open.entries().getFirst().end().isEmpty());
    runs.cancel(run);
    assertEquals(RunStatus.CANCELLED, flows.resume(waits, run).status());
    assertTrue(runs.timeline(run).entries().getFirst().end().isPresent());
  }
}
