package dev.warpwright.flow;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import dev.warpwright.agent.MortalStore;
import dev.warpwright.agent.OnTimeout;
import dev.warpwright.agent.RunPolicy;
import dev.warpwright.model.Json;
import dev.warpwright.model.StepFailedException;
import dev.warpwright.run.ApprovalDecision;
import dev.warpwright.run.FlowCall;
import dev.warpwright.run.FlowEvent;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.RunEvent;
import dev.warpwright.run.RunEvent.ToolReconciled;
import dev.warpwright.run.RunEvent.ToolReconciled.Verdict;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunQuery;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunState;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.RunSummary;
import dev.warpwright.run.Runs;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.TaskTree;
import dev.warpwright.testing.ManualTime;
import dev.warpwright.tool.EffectClass;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The process dies before and after each of its writes to the store, and the next one before and
 * after each of its own; then another drives the flow to its end. What comes out is the log of an
 * undisturbed run, and the world saw no effect twice that must not be repeated.
 */
@Timeout(300)
final class FlowCrashMatrixTest {
  private static final Duration DAY = Duration.ofDays(1);
  private static final Duration LIFE = Duration.ofDays(3);

  /** Effects by the key under which they were made, and how often each; outlives every process. */
  static final class World {
    final Map<String, AtomicInteger> effects = new ConcurrentHashMap<>();

    String act(StepInfo step) {
      effects.computeIfAbsent(step.idempotencyKey(), key -> new AtomicInteger()).incrementAndGet();
      return step.name() + "!";
    }

    boolean has(String key) {
      return effects.containsKey(key);
    }

    StepFinding find(String key, String name) {
      return has(key) ? StepFinding.succeeded(name + "!") : StepFinding.notExecuted();
    }
  }

  /**
   * A flow and what is done from outside while it waits.
   *
   * @param cancelled whether it is cancelled when it waits for the first time
   * @param policy of the flow
   */
  record Scenario(String name, Script script, boolean cancelled, RunPolicy policy) {
    Scenario(String name, Script script, boolean cancelled) {
      this(name, script, cancelled, RunPolicy.NONE);
    }

    @Override
    public String toString() {
      return name;
    }
  }

  interface Script {
    String run(FlowContext ctx, World world, String in) throws Exception;
  }

  private static String step(FlowContext ctx, World world, String name, StepOptions options) {
    return ctx.step(name, String.class, options, world::act);
  }

  private static StepRetry atOnce(int attempts) {
    return StepRetry.attempts(attempts).delays(Duration.ZERO, 1, Duration.ZERO);
  }

  static List<Scenario> scenarios() {
    return List.of(
        new Scenario(
            "sequence",
            (ctx, world, in) -> {
              String all = step(ctx, world, "one", StepOptions.DEFAULT);
              all += step(ctx, world, "two", StepOptions.pure());
              for (int i = 0; i < 2; i++) {
                all += step(ctx, world, "loop", StepOptions.once());
              }
              return all + ctx.version("change", 1, 3);
            },
            false),
        new Scenario(
            "retries",
            (ctx, world, in) -> {
              Map<String, AtomicInteger> failures = world.effects;
              try {
                return ctx.step(
                    "shaky",
                    String.class,
                    StepOptions.DEFAULT.retry(atOnce(3)),
                    step -> {
                      String key = "failed " + step.idempotencyKey();
                      AtomicInteger seen = failures.computeIfAbsent(key, k -> new AtomicInteger());
                      seen.set(1);
                      throw new IllegalStateException("no");
                    });
              } catch (StepFailedException e) {
                return step(ctx, world, "instead of " + e.type(), StepOptions.DEFAULT);
              }
            },
            false),
        new Scenario(
            "waits",
            (ctx, world, in) -> {
              Decision decision = ctx.approval("big", "subject", DAY);
              String word = ctx.awaitSignal("word", String.class);
              ctx.sleep(DAY);
              Optional<String> never = ctx.awaitSignal("never", String.class, DAY);
              return decision.approved()
                  + word
                  + never.isPresent()
                  + step(ctx, world, "last", StepOptions.once());
            },
            false),
        new Scenario(
            "parallel",
            (ctx, world, in) ->
                String.join(
                    ",",
                    ctx.<String>parallel(
                        "all",
                        1,
                        List.of(
                            b -> "" + b.approval("in branch", 1, DAY).approved(),
                            b ->
                                step(b, world, "a", StepOptions.once())
                                    + step(b, world, "b", StepOptions.DEFAULT),
                            b -> {
                              b.sleep(DAY);
                              return step(b, world, "c", StepOptions.DEFAULT);
                            }))),
            false),
        new Scenario(
            "failed branch",
            (ctx, world, in) -> {
              String caught = "";
              try {
                var _ =
                    ctx.<String>parallel(
                        "all",
                        1,
                        List.of(
                            b -> {
                              // in doubt it would wait, and be stopped for the other one
                              String done = step(b, world, "a", StepOptions.DEFAULT);
                              b.onCancel("undo a", world::act);
                              return done + b.awaitSignal("unsent", String.class);
                            },
                            b -> {
                              throw new IllegalStateException(
                                  step(b, world, "b", StepOptions.DEFAULT));
                            }));
              } catch (IllegalStateException e) {
                caught = e.getMessage();
              }
              return caught + ctx.awaitSignal("word", String.class);
            },
            false),
        new Scenario(
            "once with reconciler",
            (ctx, world, in) ->
                step(
                    ctx,
                    world,
                    "pay",
                    StepOptions.once().reconciler(key -> world.find(key, "pay"))),
            false),
        new Scenario(
            "compensation",
            (ctx, world, in) -> {
              ctx.compensate("undo one", world::act);
              String one = step(ctx, world, "one", StepOptions.once());
              ctx.compensate("undo two", world::act);
              try {
                return ctx.step(
                    "two",
                    String.class,
                    step -> {
                      throw new IllegalStateException("no");
                    });
              } catch (StepFailedException e) {
                ctx.runCompensations();
                return one + "taken back";
              }
            },
            false),
        new Scenario(
            "failure",
            (ctx, world, in) -> {
              ctx.compensate("undo", world::act);
              try {
                return ctx.step(
                    "one",
                    String.class,
                    step -> {
                      throw new IllegalStateException("no");
                    });
              } catch (StepFailedException e) {
                ctx.runCompensations();
                throw e;
              }
            },
            false),
        new Scenario(
            "cancel",
            (ctx, world, in) -> {
              String one = step(ctx, world, "one", StepOptions.once());
              ctx.onCancel("undo one", world::act);
              ctx.onCancel("undo more", world::act);
              return one + ctx.awaitSignal("unsent", String.class);
            },
            true),
        new Scenario(
            "cancel of branches",
            (ctx, world, in) ->
                String.join(
                    ",",
                    ctx.<String>parallel(
                        "all",
                        List.of(
                            b -> {
                              b.onCancel("undo first", world::act);
                              return b.awaitSignal("unsent", String.class);
                            },
                            b -> {
                              b.onCancel("undo second", world::act);
                              return b.awaitSignal("unsent", String.class);
                            }))),
            true),
        new Scenario(
            "timeout", FlowCrashMatrixTest::unending, false, RunPolicy.NONE.withTimeout(LIFE)),
        new Scenario(
            "timeout that cancels",
            FlowCrashMatrixTest::unending,
            false,
            RunPolicy.NONE.withTimeout(LIFE).withOnTimeout(OnTimeout.CANCEL_REQUESTED)),
        new Scenario(
            "continuation",
            (ctx, world, in) -> {
              String all = in + step(ctx, world, "one", StepOptions.once());
              return all.length() < 12 ? ctx.continueAs(all) : all;
            },
            false,
            RunPolicy.NONE.withTimeout(LIFE)));
  }

  private static String unending(FlowContext ctx, World world, String in) {
    String one = step(ctx, world, "one", StepOptions.once());
    ctx.onCancel("undo one", world::act);
    ctx.sleep(DAY);
    return one + ctx.awaitSignal("unsent", String.class);
  }

  @ParameterizedTest
  @MethodSource("scenarios")
  @Tag("F9")
  @Tag("F10")
  @Tag("F14")
  @Tag("F29")
  @Tag("F52")
  @Tag("F54")
  @Tag("F55")
  @Tag("F58")
  void a_crash_at_any_write_loses_nothing_and_does_nothing_twice(Scenario scenario) {
    Life undisturbed = new Life(scenario);
    int writes = undisturbed.live(0, false);
    undisturbed.assertOnce("undisturbed");
    assertTrue(undisturbed.state().status().isFinal() || undisturbed.state().failure().isPresent());

    for (int write = 1; write <= writes; write++) {
      for (boolean afterIt : new boolean[] {false, true}) {
        crashAndCrashAgain(undisturbed, write, afterIt);
      }
    }
  }

  /** All lives in which the first process dies at a given write. */
  private static void crashAndCrashAgain(Life undisturbed, int write, boolean afterIt) {
    for (int next = 0; ; next++) {
      for (boolean nextAfterIt : new boolean[] {false, true}) {
        Life life = new Life(undisturbed.scenario);
        life.live(write, afterIt);
        int secondLife = next == 0 ? 0 : life.live(next, nextAfterIt);
        life.live(0, false);
        String what =
            "died %s write %d, then %s write %d"
                .formatted(
                    afterIt ? "after" : "before", write, nextAfterIt ? "after" : "before", next);
        assertEquals(undisturbed.story(), life.story(), what);
        life.assertOnce(what);
        if (next > 0 && secondLife < next) {
          return; // the second process was through before that write
        }
      }
    }
  }

  /** What becomes of a run in a store and a world that outlive every process. */
  private static final class Life {
    final Scenario scenario;
    final ManualTime time = new ManualTime(Instant.parse("2026-01-01T12:00:00Z"), 1);
    final RunStore store = RunStore.inMemory(time);
    final World world = new World();
    final Flow<String, String> flow;

    Life(Scenario scenario) {
      this.scenario = scenario;
      this.flow =
          Flow.builder(
                  "f",
                  String.class,
                  String.class,
                  (ctx, in) -> scenario.script().run(ctx, world, in))
              .policy(scenario.policy())
              .build();
    }

    /** One process that drives the run as far as it gets; returns its number of writes. */
    int live(int fatalWrite, boolean afterIt) {
      MortalStore mortal = MortalStore.dyingAt(fatalWrite, afterIt, store);
      try {
        drive(Flows.on(TaskTree.builder().time(time).build(), mortal));
      } catch (MortalStore.Crash crash) {
        mortal.bury();
      }
      return mortal.writes();
    }

    private void drive(Flows flows) {
      for (int patience = 0; patience < 20; patience++) {
        FlowResult<String> result =
            flows.run(FlowRequest.builder(flow, "in").runId("run-1").idempotencyKey("key").build());
        while (result.continuedAs().isPresent()) {
          result = flows.resume(flow, result.continuedAs().get());
        }
        if (result.state().isTerminal() || result.status() == RunStatus.FAILED) {
          return;
        }
        actFromOutside(result.state());
      }
      fail("The run does not come to an end: " + story());
    }

    /** What persons do, and the clock. */
    private void actFromOutside(RunState state) {
      Runs runs = Runs.in(store, time);
      if (scenario.cancelled() && state.status() == RunStatus.WAITING) {
        var _ = runs.cancel(state.run());
        return;
      }
      switch (state.status()) {
        case WAITING_APPROVAL ->
            state
                .pendingApprovals()
                .forEach(
                    ask -> runs.decide(state.run(), ApprovalDecision.approve(ask.requestId())));
        case NEEDS_RECONCILIATION -> decide(runs, state);
        case WAITING -> {
          if (state.standing().signals().contains("word")) {
            Flows.on(TaskTree.builder().time(time).build(), store)
                .signal(state.run(), "word", "yes", "s1");
          } else {
            time.advance(DAY);
          }
        }
        default -> {}
      }
    }

    /** A person looks into the world and says what became of a step. */
    private void decide(Runs runs, RunState state) {
      FlowCall.Step step = state.flow().orElseThrow().needingVerdicts().getFirst();
      FlowEvent.FlowStepStarted intent = step.started().orElseThrow();
      assertEquals(EffectClass.ONCE, intent.effect());
      boolean done = world.has(intent.key());
      runs.reconcile(
          state.run(),
          new ToolReconciled(
              step.position(),
              intent.key(),
              done ? Verdict.SUCCEEDED : Verdict.NOT_EXECUTED,
              done ? Optional.of(Json.of(step.name() + "!")) : Optional.empty(),
              "ann"));
    }

    /** Of the run, or the last one in which it goes on. */
    RunState state() {
      return RunState.of(store.load(runs().getLast(), 1, Deadline.never()));
    }

    /** All runs of the store, in the order in which they began. */
    List<RunKey> runs() {
      return store.list(RunQuery.all(RunScope.DEFAULT), Deadline.never()).stream()
          .map(RunSummary::run)
          .sorted(Comparator.comparing(RunKey::runId))
          .toList();
    }

    private List<LoggedEvent> log() {
      return runs().stream().flatMap(run -> store.load(run, 1, Deadline.never()).stream()).toList();
    }

    /** Every effect of a step that must not be repeated was made at most once. */
    void assertOnce(String what) {
      log().stream()
          .map(LoggedEvent::event)
          .filter(FlowEvent.FlowStepStarted.class::isInstance)
          .map(FlowEvent.FlowStepStarted.class::cast)
          .filter(started -> started.effect() == EffectClass.ONCE)
          .forEach(
              started ->
                  assertEquals(
                      1, world.effects.get(started.key()).get(), () -> what + ": " + started));
    }

    /**
     * What happened, call by call, without the traces that crashes leave; branches beside each
     * other have no order.
     */
    Map<String, List<String>> story() {
      Map<String, List<String>> story = new TreeMap<>();
      for (LoggedEvent logged : log()) {
        tell(logged.run().runId(), logged.event(), story);
      }
      return story;
    }

    private static void tell(String run, RunEvent event, Map<String, List<String>> story) {
      String line =
          switch (event) {
            case FlowEvent.FlowStepStarted e -> null; // may be repeated
            case FlowEvent.FlowStepFinished e -> e.name() + e.value() + e.error();
            case ToolReconciled e when e.verdict() == Verdict.NOT_EXECUTED -> null;
            case ToolReconciled e -> ended(e);
            case FlowEvent.StepRetryScheduled e -> e.name() + " again after " + e.error();
            case FlowEvent.TimerScheduled e -> "timer " + e.name();
            case FlowEvent.SignalAwaited e -> "awaits " + e.name();
            case RunEvent.ApprovalRequested e -> "asked " + e.requestId();
            case RunEvent.ApprovalDecided e -> "decided " + e.approve() + e.reason();
            case FlowEvent e -> e.toString();
            case RunEvent.RunSuspended e -> null; // may be repeated, and over less
            case RunEvent.RunResumed e -> null;
            case RunEvent.RunFailed e -> "failed " + e.kind() + e.position();
            case RunEvent.RunCompleted e -> "completed " + e.output() + e.continuedAs();
            case RunEvent e -> e.getClass().getSimpleName();
          };
      String position =
          switch (event) {
            case FlowEvent e -> e.position();
            case ToolReconciled e -> e.callId();
            default -> "";
          };
      if (line != null) {
        List<String> lines = story.computeIfAbsent(run + " " + position, p -> new ArrayList<>());
        if (lines.isEmpty() || !lines.getLast().equals(line) || !line.startsWith("failed ")) {
          lines.add(line); // a failed run was resumed, to fail again
        }
      }
    }

    private static String ended(ToolReconciled verdict) {
      String value = String.valueOf(verdict.output().orElseThrow().value());
      return value.substring(0, value.length() - 1) + verdict.output() + Optional.empty();
    }
  }
}
