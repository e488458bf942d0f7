package dev.warpwright.flow;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import dev.warpwright.flow.FlowCrashMatrixTest.Scenario;
import dev.warpwright.flow.FlowCrashMatrixTest.World;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.Target;
import dev.warpwright.run.ApprovalDecision;
import dev.warpwright.run.FlowEvent.FlowStepStarted;
import dev.warpwright.run.ForkChanges;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.RunEvent;
import dev.warpwright.run.RunEvent.ApprovalRequested;
import dev.warpwright.run.RunEvent.ChildStarted;
import dev.warpwright.run.RunEvent.RunStarted;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunState;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.Runs;
import dev.warpwright.run.Worker;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.TaskTree;
import dev.warpwright.testing.ManualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Forks of runs of flows, at every event of their logs. */
@Timeout(120)
final class FlowForkTest {
  private static final Pattern NEAREST =
      Pattern.compile("below at which it can be is (none|\\d+), above (none|\\d+)\\.");

  private final ManualTime time = new ManualTime(Instant.parse("2026-01-01T12:00:00Z"), 1);
  private final RunStore store = RunStore.inMemory(time);
  private final TaskTree tasks = TaskTree.builder().time(time).build();
  private final Flows flows = Flows.on(tasks, store);
  private final Runs runs = Runs.in(store, time);
  private final World world = new World();

  static List<Scenario> scenarios() {
    return FlowCrashMatrixTest.scenarios();
  }

  private List<LoggedEvent> log(RunKey run) {
    return store.load(run, 1, Deadline.never());
  }

  /** Drives a run to its end, doing what persons do. */
  private RunState drive(Flow<String, String> flow, RunKey run, boolean cancelled) {
    for (int patience = 0; patience < 20; patience++) {
      RunState state = flows.resume(flow, run).state();
      if (state.isTerminal() || state.status() == RunStatus.FAILED) {
        return state;
      }
      switch (state.status()) {
        case WAITING_APPROVAL ->
            state
                .pendingApprovals()
                .forEach(ask -> runs.decide(run, ApprovalDecision.approve(ask.requestId())));
        case WAITING -> {
          if (cancelled) {
            var _ = runs.cancel(run);
          } else if (state.standing().signals().contains("word")) {
            flows.signal(run, "word", "yes", "s1");
          } else {
            time.advance(Duration.ofDays(1));
          }
        }
        default -> fail("The run " + state + " does not go on.");
      }
    }
    return fail("The run does not come to an end.");
  }

  @ParameterizedTest
  @MethodSource("scenarios")
  @Tag("F72")
  @Tag("F73")
  @Tag("F74")
  void a_fork_goes_on_from_any_event_at_which_nothing_is_under_way(Scenario scenario) {
    Flow<String, String> flow =
        Flow.builder(
                "f", String.class, String.class, (ctx, in) -> scenario.script().run(ctx, world, in))
            .policy(scenario.policy())
            .build();
    RunKey source = flows.enqueue(FlowRequest.builder(flow, "in").idempotencyKey("key").build());
    RunState end = drive(flow, source, scenario.cancelled());
    List<LoggedEvent> original = log(source);
    int forks = 0;
    for (long at = 1; at <= original.size(); at++) {
      Map<String, Integer> before = effects();
      Optional<RunKey> fork = fork(source, at);
      if (fork.isPresent()) {
        forks++;
        RunState left = drive(flow, fork.get(), scenario.cancelled());
        assertEquals(end.status(), left.status());
        assertEquals(end.output(), left.output());
        requireFork(original, log(fork.get()), at);
        before.forEach((key, times) -> assertEquals(times, effects().get(key), key));
        assertEquals(original, log(source));
      }
    }
    assertTrue(forks > 0);
    assertEquals(Optional.of(source), runs.find(source.scope(), "key"));
  }

  private Map<String, Integer> effects() {
    Map<String, Integer> effects = new HashMap<>();
    world.effects.forEach((key, times) -> effects.put(key, times.get()));
    return effects;
  }

  /** Empty if that is refused; then what the refusal says of the nearest sequences is true. */
  private Optional<RunKey> fork(RunKey source, long at) {
    try {
      return Optional.of(runs.fork(source, at));
    } catch (InvalidRequestException e) {
      Matcher nearest = NEAREST.matcher(e.getMessage());
      assertTrue(nearest.find(), e.getMessage());
      requireNearest(source, at, nearest.group(1), -1);
      requireNearest(source, at, nearest.group(2), 1);
      return Optional.empty();
    }
  }

  private void requireNearest(RunKey source, long at, String said, int direction) {
    long size = log(source).size();
    long allowed = at + direction;
    while (allowed >= 1 && allowed <= size && !canFork(source, allowed)) {
      allowed += direction;
    }
    assertEquals(allowed < 1 || allowed > size ? "none" : String.valueOf(allowed), said);
  }

  private boolean canFork(RunKey source, long at) {
    try {
      return runs.delete(runs.fork(source, at));
    } catch (InvalidRequestException e) {
      return false;
    }
  }

  private static void requireFork(List<LoggedEvent> source, List<LoggedEvent> fork, long at) {
    RunStarted started = (RunStarted) fork.getFirst().event();
    assertEquals(Optional.empty(), started.idempotencyKey());
    assertEquals(
        source.getFirst().run().runId() + " " + at,
        started.forkedFrom().map(from -> from.runId() + " " + from.sequence()).orElseThrow());
    for (int i = 1; i < at; i++) {
      assertEquals(source.get(i).event(), fork.get(i).event());
      assertEquals(source.get(i).time(), fork.get(i).time());
    }
    String id = fork.getFirst().run().runId();
    for (LoggedEvent logged : fork.subList((int) at, fork.size())) {
      if (logged.event() instanceof FlowStepStarted step) {
        assertTrue(step.key().startsWith(id), step.key());
      } else if (logged.event() instanceof ApprovalRequested asked) {
        assertTrue(
            source.stream()
                .map(LoggedEvent::event)
                .filter(ApprovalRequested.class::isInstance)
                .noneMatch(
                    other -> ((ApprovalRequested) other).requestId().equals(asked.requestId())));
      }
    }
  }

  @Test
  @Tag("F73")
  void what_is_under_way_is_named() {
    Flow<String, String> child =
        Flow.of("c", String.class, String.class, (ctx, in) -> ctx.awaitSignal("w", String.class));
    Flow<String, String> flow =
        Flow.of(
            "f",
            String.class,
            String.class,
            (ctx, in) ->
                "" + ctx.approval("big", in, Duration.ofDays(1)).approved() + ctx.child(child, in));
    RunKey run = flows.run(flow, "x").run();
    assertRefused(run, 2, "it waited for an approval", "1", "none");
    String ask = runs.state(run).orElseThrow().pendingApprovals().getFirst().requestId();
    flows.resume(flow, run, ApprovalDecision.approve(ask));
    RunEvent last = log(run).getLast().event();
    assertTrue(last instanceof RunEvent.RunSuspended, String.valueOf(last));
    long size = log(run).size();
    assertRefused(run, size, "a child run was under way", String.valueOf(size - 2), "none");
    runs.cancel(run);
    assertRefused(run, size + 1, "it was to be cancelled", String.valueOf(size - 2), "none");
    assertThrows(InvalidRequestException.class, () -> runs.fork(run, 0));
    assertThrows(InvalidRequestException.class, () -> runs.fork(run, size + 100));
    assertThrows(InvalidRequestException.class, () -> runs.fork(new RunKey(run.scope(), "-"), 1));
  }

  private void assertRefused(RunKey run, long at, String why, String below, String above) {
    InvalidRequestException refused =
        assertThrows(InvalidRequestException.class, () -> runs.fork(run, at));
    assertTrue(refused.getMessage().contains(why), refused.getMessage());
    assertTrue(
        refused.getMessage().endsWith("can be is " + below + ", above " + above + "."),
        refused.getMessage());
  }

  @Test
  @Tag("F72")
  void a_child_run_of_the_source_is_reused_and_a_later_one_is_the_forks_own() {
    List<String> made = new ArrayList<>();
    Flow<String, String> child =
        Flow.of(
            "c",
            String.class,
            String.class,
            (ctx, in) ->
                ctx.step(
                    "s",
                    String.class,
                    step -> {
                      made.add(in);
                      return in + "!";
                    }));
    Flow<String, String> flow =
        Flow.of(
            "f",
            String.class,
            String.class,
            (ctx, in) -> ctx.child(child, "a") + ctx.child(child, "b"));
    FlowResult<String> source = flows.run(flow, "x");
    RunKey fork = runs.fork(source.run(), 3);
    assertEquals("a!b!", flows.resume(flow, fork).orThrow());
    assertEquals(List.of("a", "b", "b"), made);
    assertEquals(children(source.log()).getFirst(), children(log(fork)).getFirst());
    assertFalse(children(source.log()).contains(children(log(fork)).getLast()));
    assertEquals(2, runs.deleteWithChildren(fork), "it and its own child");
    assertFalse(log(new RunKey(fork.scope(), children(source.log()).getFirst())).isEmpty());
  }

  private static List<String> children(List<LoggedEvent> log) {
    return log.stream()
        .map(LoggedEvent::event)
        .filter(ChildStarted.class::isInstance)
        .map(event -> ((ChildStarted) event).childRunId())
        .toList();
  }

  @Test
  @Tag("F72")
  void a_fork_of_a_fork_knows_its_past() {
    Flow<String, String> flow =
        Flow.of(
            "f",
            String.class,
            String.class,
            (ctx, in) -> {
              boolean one = ctx.approval("one", in, Duration.ofDays(1)).approved();
              boolean two = ctx.approval("two", in, Duration.ofDays(1)).approved();
              return "" + one + two + ctx.step("s", String.class, step -> step.idempotencyKey());
            });
    RunKey first = flows.run(flow, "x").run();
    RunState end = drive(flow, first, false);
    assertTrue(end.output().orElseThrow().text().contains(first.runId()));
    RunKey second = runs.fork(first, 5); // decided and resumed
    drive(flow, second, false);
    RunKey third = runs.fork(second, log(second).size() - 3); // both decided
    RunState last = drive(flow, third, false);
    assertTrue(last.output().orElseThrow().text().contains("truetrue" + third.runId()));
    assertEquals(
        List.of(second.runId(), first.runId()),
        last.started().forkedFrom().orElseThrow().all().map(from -> from.runId()).toList());
    RunKey fourth = runs.fork(third, 1); // before the cuts
    assertEquals(
        List.of(third.runId()),
        runs.state(fourth)
            .orElseThrow()
            .started()
            .forkedFrom()
            .orElseThrow()
            .all()
            .map(from -> from.runId())
            .toList());
  }

  @Test
  @Tag("F72")
  void a_worker_drives_a_fork() {
    Flow<String, String> flow =
        Flow.of(
            "f",
            String.class,
            String.class,
            (ctx, in) ->
                ctx.step("a", String.class, step -> in) + ctx.step("b", String.class, step -> in));
    RunKey source = flows.run(flow, "x").run();
    RunKey fork = runs.fork(source, 3);
    try (Worker _ = Worker.builder(store).drives(flows.driver(flow)).start()) {
      while (!runs.state(fork).orElseThrow().isTerminal()) {
        Thread.onSpinWait();
      }
    }
    assertEquals(Optional.of(Json.of("xx")), runs.state(fork).orElseThrow().output());
  }

  @Test
  @Tag("F73")
  void a_flow_has_nothing_to_change_but_how_large_it_may_become() {
    Flow<String, String> flow =
        Flow.of("f", String.class, String.class, (ctx, in) -> ctx.awaitSignal("w", String.class));
    RunKey run = flows.run(flow, "x").run();
    for (ForkChanges wrong :
        List.of(
            ForkChanges.builder().addMessage(Message.user("Hi.")).build(),
            ForkChanges.builder().replaceLastMessage(Message.user("Hi.")).build(),
            ForkChanges.builder().targets(List.of(Target.of("a", "b"))).build())) {
      assertThrows(InvalidRequestException.class, () -> runs.fork(run, 1, wrong));
    }
    RunKey fork = runs.fork(run, 3, ForkChanges.builder().maxStateBytes(5_000).build());
    assertEquals(5_000, runs.state(fork).orElseThrow().maxBytes());
    flows.signal(fork, "w", "mine", "s1");
    assertEquals("mine", flows.resume(flow, fork).orThrow());
    assertEquals(RunStatus.WAITING, flows.resume(flow, run).status());
  }
}
