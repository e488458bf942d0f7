package dev.warpwright.tool;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.Json;
import dev.warpwright.model.ToolCall;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.TaskScope;
import dev.warpwright.task.TaskTree;
import dev.warpwright.testing.LeakCheck;
import dev.warpwright.testing.Leftovers;
import dev.warpwright.testing.ManualTime;
import java.lang.invoke.MethodHandles;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Runs batches of calls on manual time, keeps their journal, and checks after each test that no
 * task and no alarm is left.
 */
final class ToolBatch implements AfterEachCallback {
  static final Duration GRACE = Duration.ofMillis(100);

  private final LeakCheck leaks = new LeakCheck();
  final ManualTime time = leaks.watch(new ManualTime());
  final TaskTree tree = TaskTree.builder().time(time).abandonGrace(GRACE).build();
  final ConcurrentLinkedQueue<String> trail = new ConcurrentLinkedQueue<>();
  final RunningKeys runningKeys = new RunningKeys();
  ToolExecution options = ToolExecution.DEFAULT;
  boolean modelDeclaresParallel = true;
  private final List<CountDownLatch> gates = new ArrayList<>();

  ToolBatch() {
    leaks.watch(Leftovers.of(tree));
  }

  /** What all tools of these tests take. */
  public record Input(String text) {}

  final ToolJournal journal =
      new ToolJournal() {
        @Override
        public void starting(List<ToolRun> runs) {
          trail.add("starting " + runs.stream().map(ToolBatch::name).toList());
        }

        @Override
        public void ended(ToolRun run, ToolEnd.Known end) {
          trail.add("ended " + name(run) + (end.error() ? " badly" : ""));
        }

        @Override
        public void endedLate(ToolRun run, ToolEnd.Known end) {
          trail.add("ended late " + name(run));
        }
      };

  private static String name(ToolRun run) {
    return run.call().id() + (run.attempt() == 1 ? "" : " again");
  }

  static Tool.Builder<Input> tool(EffectClass effect, ToolFunction<? super Input> function) {
    return Tool.builder("tool", "A tool.", Input.class, MethodHandles.lookup(), effect, function);
  }

  /** Runs of a tool under the ids a, b, c … */
  static List<ToolRun> runs(Tool tool, int count) {
    List<ToolRun> runs = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      String id = Character.toString('a' + i);
      ToolCall call = new ToolCall(id, "tool", Json.of(Map.of("text", id)));
      runs.add(new ToolRun(call, tool, 1, i, "key-" + id, 1));
    }
    return runs;
  }

  static List<ToolRun> one(Tool tool) {
    return runs(tool, 1);
  }

  ToolRunner runner(TaskScope scope) {
    return new ToolRunner(
        scope,
        time,
        options,
        modelDeclaresParallel,
        new ToolCaller("run-1", Map.of()),
        journal,
        runningKeys);
  }

  /** Runs them in a scope of the calling thread. */
  List<ToolEnd> run(List<ToolRun> runs) {
    return run(runs, Deadline.never());
  }

  List<ToolEnd> run(List<ToolRun> runs, Deadline deadline) {
    try (TaskScope scope = tree.open("operation", "operation", deadline)) {
      return runner(scope).run(runs);
    }
  }

  /** Does it on another thread, while the test's thread moves time. */
  static <T> FutureTask<T> elsewhere(Callable<T> body) {
    FutureTask<T> future = new FutureTask<>(body);
    Thread.ofVirtual().start(future);
    return future;
  }

  static <T> T get(FutureTask<T> future) throws Exception {
    try {
      return future.get(60, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      throw new AssertionError(e.getCause());
    }
  }

  /** Opened when the test ends. */
  CountDownLatch gate() {
    CountDownLatch gate = new CountDownLatch(1);
    gates.add(gate);
    return gate;
  }

  static void await(CountDownLatch latch) throws InterruptedException {
    assertTrue(latch.await(60, TimeUnit.SECONDS), "waited 10 s");
  }

  static void awaitStubbornly(CountDownLatch gate) {
    while (true) {
      try {
        gate.await();
        return;
      } catch (InterruptedException e) {
        // ignored: that is the point
      }
    }
  }

  void awaitWaitOf(Duration wait) throws InterruptedException {
    time.awaitAlarmIn(wait);
  }

  @SuppressWarnings("ThreadPriorityCheck") // it only saves processor time
  static void until(BooleanSupplier condition) {
    long start = System.nanoTime();
    while (!condition.getAsBoolean()) {
      assertTrue(System.nanoTime() - start < 10_000_000_000L, "waited 10 s");
      Thread.yield();
    }
  }

  @Override
  public void afterEach(ExtensionContext context) {
    gates.forEach(CountDownLatch::countDown);
    leaks.afterEach(context);
  }
}
