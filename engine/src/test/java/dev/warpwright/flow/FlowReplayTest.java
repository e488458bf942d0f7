package dev.warpwright.flow;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import dev.warpwright.agent.MortalStore;
import dev.warpwright.flow.FlowCrashMatrixTest.Scenario;
import dev.warpwright.flow.FlowCrashMatrixTest.World;
import dev.warpwright.model.ConflictException;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.StepFailedException;
import dev.warpwright.run.ApprovalDecision;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.ReplayDifference;
import dev.warpwright.run.RunExport;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunState;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.Runs;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.TaskTree;
import dev.warpwright.testing.ManualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Replays of runs of flows against their flow, and against others. */
@Timeout(120)
final class FlowReplayTest {
  private static final RunKey RUN = new RunKey(RunScope.DEFAULT, "run-1");

  private final ManualTime time = new ManualTime(Instant.parse("2026-01-01T12:00:00Z"), 1);
  private final RunStore store = RunStore.inMemory(time);
  private final TaskTree tasks = TaskTree.builder().time(time).build();
  private final Flows flows = Flows.on(tasks, store);
  private final Runs runs = Runs.in(store, time);

  static List<Scenario> scenarios() {
    return FlowCrashMatrixTest.scenarios();
  }

  private static Flow<String, String> flow(FlowBody<String, String> body) {
    return Flow.of("f", String.class, String.class, body);
  }

  private static Flow<String, String> flow(Scenario scenario, World world) {
    return Flow.builder(
            "f", String.class, String.class, (ctx, in) -> scenario.script().run(ctx, world, in))
        .policy(scenario.policy())
        .build();
  }

  private List<LoggedEvent> log(RunKey run) {
    return store.load(run, 1, Deadline.never());
  }

  private static Optional<ReplayDifference> replay(
      List<LoggedEvent> log, Flow<String, String> flow) {
    return Replay.ofRun(log).against(flow);
  }

  @ParameterizedTest
  @MethodSource("scenarios")
  @Tag("F69")
  @Tag("F70")
  @Tag("F71")
  void every_run_replays_and_so_does_each_part_of_it(Scenario scenario) {
    World world = new World();
    Flow<String, String> flow = flow(scenario, world);
    drive(scenario, flow, store, 0, false);
    Map<String, Integer> effects = effects(world);
    List<LoggedEvent> log = log(RUN);
    for (int events = 1; events <= log.size(); events++) {
      assertEquals(Optional.empty(), replay(log.subList(0, events), flow), "up to " + events);
    }
    assertEquals(effects, effects(world), "a replay does nothing");
    assertEquals(log, log(RUN));
  }

  @ParameterizedTest
  @MethodSource("scenarios")
  @Tag("F70")
  @Tag("F71")
  void a_run_whose_process_died_at_any_write_replays(Scenario scenario) {
    boolean died = true;
    for (int write = 1; died; write++) {
      for (boolean afterIt : new boolean[] {false, true}) {
        World world = new World();
        Flow<String, String> flow = flow(scenario, world);
        RunStore own = RunStore.inMemory(time);
        died = drive(scenario, flow, own, write, afterIt);
        drive(scenario, flow, own, 0, false);
        List<LoggedEvent> log = own.load(RUN, 1, Deadline.never());
        assertEquals(Optional.empty(), replay(log, flow), "died at write " + write);
      }
    }
  }

  private static Map<String, Integer> effects(World world) {
    Map<String, Integer> effects = new HashMap<>();
    world.effects.forEach((key, times) -> effects.put(key, times.get()));
    return effects;
  }

  /** Drives to the end, doing what persons do; whether the process died. */
  private boolean drive(
      Scenario scenario, Flow<String, String> flow, RunStore own, int fatalWrite, boolean afterIt) {
    MortalStore mortal = MortalStore.dyingAt(fatalWrite, afterIt, own);
    try {
      Flows driving = Flows.on(tasks, mortal);
      Runs outside = Runs.in(own, time);
      for (int patience = 0; patience < 20; patience++) {
        FlowResult<String> result =
            driving.run(
                FlowRequest.builder(flow, "in").runId("run-1").idempotencyKey("key").build());
        RunState state = result.state();
        if (state.isTerminal() || state.status() == RunStatus.FAILED) {
          return false;
        }
        switch (state.status()) {
          case WAITING_APPROVAL ->
              state
                  .pendingApprovals()
                  .forEach(ask -> outside.decide(RUN, ApprovalDecision.approve(ask.requestId())));
          case NEEDS_RECONCILIATION -> {
            var step = state.flow().orElseThrow().needingVerdicts().getFirst();
            outside.reconcile(
                RUN,
                new dev.warpwright.run.RunEvent.ToolReconciled(
                    step.position(),
                    step.started().orElseThrow().key(),
                    dev.warpwright.run.RunEvent.ToolReconciled.Verdict.NOT_EXECUTED,
                    Optional.empty(),
                    "ann"));
          }
          case WAITING -> {
            if (scenario.cancelled()) {
              var _ = outside.cancel(RUN);
            } else if (state.standing().signals().contains("word")) {
              Flows.on(tasks, own).signal(RUN, "word", "yes", "s1");
            } else {
              time.advance(Duration.ofDays(1));
            }
          }
          default -> {}
        }
      }
      return fail("The run does not come to an end.");
    } catch (MortalStore.Crash crash) {
      mortal.bury();
      return true;
    }
  }

  private RunKey ran(FlowBody<String, String> body) {
    return flows.run(flow(body), "in").run();
  }

  private ReplayDifference difference(RunKey run, FlowBody<String, String> changed) {
    List<LoggedEvent> log = log(run);
    ReplayDifference found = replay(log, flow(changed)).orElseThrow();
    assertEquals(log, log(run));
    assertFalse(found.toString().contains("secret"), found.toString());
    return found;
  }

  private static String step(FlowContext ctx, String name) {
    return ctx.step(name, String.class, step -> "secret");
  }

  @Test
  @Tag("F70")
  void a_changed_flow_is_reported_at_the_first_difference() {
    RunKey run =
        ran(
            (ctx, in) -> {
              step(ctx, "a");
              ctx.sleep(Duration.ofDays(1));
              return step(ctx, "b");
            });
    time.advance(Duration.ofDays(1));
    flows.resume(
        flow(
            (ctx, in) -> {
              step(ctx, "a");
              ctx.sleep(Duration.ofDays(1));
              return step(ctx, "b");
            }),
        run);
    assertEquals(RunStatus.COMPLETED, runs.state(run).orElseThrow().status());

    ReplayDifference renamed = difference(run, (ctx, in) -> step(ctx, "x"));
    assertEquals(2, renamed.sequence());
    assertTrue(renamed.toString().contains("the log has the step \"a\""), renamed.toString());
    assertTrue(renamed.recordedJson().orElseThrow().text().contains("\"name\":\"a\""));

    ReplayDifference less = difference(run, (ctx, in) -> step(ctx, "a"));
    assertEquals(4, less.sequence());
    assertTrue(less.toString().contains("does not come to the recorded timer"), less.toString());

    ReplayDifference more =
        difference(
            run,
            (ctx, in) -> {
              step(ctx, "a");
              ctx.sleep(Duration.ofDays(1));
              step(ctx, "b");
              return step(ctx, "c");
            });
    assertEquals(log(run).size(), more.sequence());
    assertTrue(more.toString().contains("the code makes the step \"c\""), more.toString());

    ReplayDifference other =
        difference(
            run,
            (ctx, in) -> {
              step(ctx, "a");
              ctx.sleep(Duration.ofDays(1));
              return step(ctx, "b") + "!";
            });
    assertEquals(log(run).size(), other.sequence());
    assertTrue(other.producedJson().orElseThrow().text().contains("secret!"));

    ReplayDifference failing =
        difference(
            run,
            (ctx, in) -> {
              step(ctx, "a");
              ctx.sleep(Duration.ofDays(1));
              step(ctx, "b");
              throw new IllegalStateException("secret");
            });
    assertTrue(failing.toString().contains("with RunFailed by INTERNAL"), failing.toString());

    ReplayDifference waiting =
        difference(
            run,
            (ctx, in) -> {
              step(ctx, "a");
              ctx.approval("sleep", "x", Duration.ofDays(1));
              return step(ctx, "b");
            });
    assertEquals(4, waiting.sequence());
  }

  @Test
  @Tag("F70")
  void what_a_step_is_recorded_as_must_be_what_it_is() {
    StepRetry twice = StepRetry.attempts(2).delays(Duration.ZERO, 1, Duration.ZERO);
    FlowBody<String, String> body =
        (ctx, in) -> {
          step(ctx, "a");
          ctx.step("p", Integer.class, StepOptions.pure(), step -> 7);
          try {
            return ctx.step("r", String.class, StepOptions.DEFAULT.retry(twice), this::fails);
          } catch (StepFailedException e) {
            return "no";
          }
        };
    RunKey run = ran(body);
    assertEquals(Optional.empty(), replay(log(run), flow(body)));
    record Change(String what, StepOptions a, StepOptions p, StepOptions r) {}
    for (Change change :
        List.of(
            new Change("as IDEMPOTENT", StepOptions.once(), StepOptions.pure(), retry(twice)),
            new Change("as IDEMPOTENT", StepOptions.pure(), StepOptions.pure(), retry(twice)),
            new Change("as PURE", StepOptions.DEFAULT, StepOptions.DEFAULT, retry(twice)),
            new Change(
                "retry of step",
                StepOptions.DEFAULT,
                StepOptions.pure(),
                retry(StepRetry.attempts(1))),
            new Change(
                "failure of step",
                StepOptions.DEFAULT,
                StepOptions.pure(),
                retry(StepRetry.attempts(3))))) {
      ReplayDifference found =
          difference(
              run,
              (ctx, in) -> {
                ctx.step("a", String.class, change.a(), step -> "secret");
                ctx.step("p", Integer.class, change.p(), step -> 7);
                try {
                  return ctx.step("r", String.class, change.r(), this::fails);
                } catch (StepFailedException e) {
                  return "no";
                }
              });
      assertTrue(found.toString().contains(change.what()), found.toString());
    }
    ReplayDifference type =
        difference(
            run,
            (ctx, in) -> {
              step(ctx, "a");
              ctx.step("p", String.class, StepOptions.pure(), step -> "7");
              return "";
            });
    assertTrue(type.toString().contains("value of step \"p\""), type.toString());
  }

  private static StepOptions retry(StepRetry retry) {
    return StepOptions.DEFAULT.retry(retry);
  }

  private String fails(StepInfo step) {
    throw new IllegalStateException("secret");
  }

  @Test
  @Tag("F71")
  void child_runs_are_replayed_with_their_parents() {
    Flow<String, String> child =
        Flow.of("c", String.class, String.class, (ctx, in) -> step(ctx, "s") + in);
    RunKey run = ran((ctx, in) -> ctx.child(child, "1") + ctx.child(child, "2"));
    List<List<LoggedEvent>> logs = runs.logs(run);
    assertEquals(3, logs.size());
    assertEquals(
        Optional.empty(),
        Replay.of(logs).against(flow((ctx, in) -> ctx.child(child, "1") + ctx.child(child, "2"))));

    Flow<String, String> changed =
        Flow.of("c", String.class, String.class, (ctx, in) -> step(ctx, "t") + in);
    ReplayDifference below =
        Replay.of(logs)
            .against(flow((ctx, in) -> ctx.child(child, "1") + ctx.child(changed, "2")))
            .orElseThrow();
    assertEquals(logs.get(2).getFirst().run(), below.run());
    assertEquals(2, below.sequence());

    ReplayDifference otherInput =
        Replay.of(logs)
            .against(flow((ctx, in) -> ctx.child(child, "1") + ctx.child(child, "3")))
            .orElseThrow();
    assertTrue(otherInput.toString().contains("with another input"), otherInput.toString());

    assertThrows(
        InvalidRequestException.class,
        () -> replay(logs.getFirst(), flow((ctx, in) -> ctx.child(child, "1"))));
    assertThrows(ConflictException.class, () -> replay(logs.get(1), flow((ctx, in) -> in)));
  }

  @Test
  @Tag("F70")
  void a_fork_and_an_import_replay_like_their_source() {
    FlowBody<String, String> body =
        (ctx, in) ->
            step(ctx, "a")
                + ctx.approval("ok", in, Duration.ofDays(1)).approved()
                + ctx.now()
                + ctx.random()
                + step(ctx, "b");
    RunKey run = ran(body);
    String ask = runs.state(run).orElseThrow().pendingApprovals().getFirst().requestId();
    flows.resume(flow(body), run, ApprovalDecision.approve(ask));
    RunKey fork = runs.fork(run, log(run).size() - 3);
    assertEquals(RunStatus.COMPLETED, flows.resume(flow(body), fork).status());
    assertEquals(Optional.empty(), replay(log(fork), flow(body)));
    assertEquals(Optional.empty(), replay(RunExport.read(RunExport.write(log(run))), flow(body)));
  }

  @Test
  @Tag("F71")
  void a_run_that_goes_on_in_another_one_replays() {
    FlowBody<String, String> body =
        (ctx, in) ->
            in.length() < 3 ? ctx.continueAs(in + step(ctx, "a").charAt(0)) : step(ctx, "b");
    RunKey run = ran(body);
    RunKey next =
        new RunKey(run.scope(), runs.state(run).orElseThrow().continuedAs().orElseThrow());
    assertEquals(RunStatus.COMPLETED, flows.resume(flow(body), next).status());
    assertEquals(Optional.empty(), replay(log(run), flow(body)));
    assertEquals(Optional.empty(), replay(log(next), flow(body)));
    ReplayDifference ended = difference(run, (ctx, in) -> step(ctx, "a"));
    assertEquals(log(run).size(), ended.sequence());
  }
}
