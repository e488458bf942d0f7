package dev.warpwright.tool;

import dev.warpwright.model.Json;
import dev.warpwright.model.ToolCall;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.Outcome;
import dev.warpwright.task.Task;
import dev.warpwright.task.TaskScope;
import dev.warpwright.task.TimeSource;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Runs the tool calls of one step as children of a scope, and decides what each end means.
 *
 * <p>A call is run again by itself in one case only: a repeatable tool whose own timeout passed,
 * once, under the same key. Confined to the scope's owner thread.
 */
public final class ToolRunner {
  private final TaskScope scope;
  private final TimeSource time;
  private final ToolExecution options;
  private final boolean modelDeclaresParallel;
  private final ToolCaller caller;
  private final ToolJournal journal;

  /**
   * A runner.
   *
   * @param scope the scope whose children the tools become; owned by the calling thread
   * @param time the scope's time source
   * @param options how calls are run
   * @param modelDeclaresParallel whether the model that asked declares parallel tool calls
   * @param caller on whose behalf they run
   * @param journal what is told before and after each run
   */
  public ToolRunner(
      TaskScope scope,
      TimeSource time,
      ToolExecution options,
      boolean modelDeclaresParallel,
      ToolCaller caller,
      ToolJournal journal) {
    this.scope = scope;
    this.time = time;
    this.options = options;
    this.modelDeclaresParallel = modelDeclaresParallel;
    this.caller = caller;
    this.journal = journal;
  }

  /** One run under way, and what its body reports even when nobody waits for it any more. */
  private record Slot(int index, ToolRun run, Task<?> task, AtomicReference<ToolEnd.Known> said) {}

  /**
   * The runs that begin at once, before any other has ended: those whose intents belong into the
   * commit that brought the calls.
   *
   * @param runs all runs of a step
   * @return the first of them
   */
  public List<ToolRun> firstWave(List<ToolRun> runs) {
    return runs.isEmpty() ? runs : runs.subList(0, width(runs));
  }

  private int width(List<ToolRun> runs) {
    return options.width(runs.size(), modelDeclaresParallel);
  }

  /**
   * Asks a tool's reconciler what became of a call.
   *
   * @param tool the tool
   * @param call the call
   * @param key the idempotency key that the tool was given
   * @return what is known; unknown if the tool has no reconciler, or it failed or was cut off
   */
  public Reconciler.Finding reconcile(Tool tool, ToolCall call, String key) {
    Outcome<Reconciler.Finding> outcome =
        scope.call(
            "reconciler",
            "reconcile " + tool.name(),
            tool.timeout().map(limit -> Deadline.after(time, limit)).orElse(Deadline.never()),
            () -> tool.reconcile(key, call.input()));
    return switch (outcome) {
      case Outcome.Success<Reconciler.Finding>(Reconciler.Finding finding) -> finding;
      case Outcome.Failure<Reconciler.Finding>(Error error) -> throw error;
      default -> new Reconciler.Finding.Unknown();
    };
  }

  /**
   * Runs them all and waits until each has its end. Never throws because a tool failed.
   *
   * @param runs the runs, in call order
   * @return their ends, in the same order
   * @throws Error if a tool threw an error; the others are cancelled first
   */
  public List<ToolEnd> run(List<ToolRun> runs) {
    ToolEnd[] ends = new ToolEnd[runs.size()];
    Deque<Integer> waiting = new ArrayDeque<>();
    for (int i = 0; i < runs.size(); i++) {
      waiting.add(i);
    }
    IdentityHashMap<Task<?>, Slot> running = new IdentityHashMap<>();
    while (!waiting.isEmpty() || !running.isEmpty()) {
      start(runs, ends, waiting, running);
      if (!running.isEmpty()) {
        end(Objects.requireNonNull(running.remove(scope.joinAny(running.keySet()))), ends, running);
      }
    }
    return List.of(ends);
  }

  /** Starts as many as may run at the same time. */
  private void start(
      List<ToolRun> runs,
      ToolEnd[] ends,
      Deque<Integer> waiting,
      IdentityHashMap<Task<?>, Slot> running) {
    List<Integer> wave = new ArrayList<>();
    while (!waiting.isEmpty() && running.size() + wave.size() < width(runs)) {
      wave.add(waiting.remove());
    }
    if (wave.isEmpty()) {
      return;
    }
    if (over()) {
      wave.forEach(index -> ends[index] = new ToolEnd.CutOff());
      return;
    }
    journal.starting(wave.stream().map(runs::get).toList());
    wave.forEach(index -> fork(index, runs.get(index), running));
  }

  /** Whether the operation is at its end, so that nothing new begins. */
  private boolean over() {
    return scope.isCancelled() || scope.deadline().hasPassed();
  }

  private void fork(int index, ToolRun run, IdentityHashMap<Task<?>, Slot> running) {
    Deadline deadline =
        run.tool().timeout().map(limit -> Deadline.after(time, limit)).orElse(Deadline.never());
    ToolContext context =
        new ToolContext(
            caller, run.call().id(), run.key(), run.attempt(), deadline.earlier(scope.deadline()));
    AtomicReference<ToolEnd.Known> said = new AtomicReference<>();
    Task<?> task =
        scope.fork("tool", "tool " + run.tool().name(), deadline, () -> body(run, context, said));
    running.put(task, new Slot(index, run, task, said));
  }

  /** On the tool's own thread. What it returns is known, also if nobody waits any more. */
  private @Nullable Void body(ToolRun run, ToolContext context, AtomicReference<ToolEnd.Known> said)
      throws Exception {
    long begin = time.nanoTime();
    Json output = run.tool().call(run.call().input(), context);
    said.set(new ToolEnd.Known(output, false, Optional.empty(), since(begin)));
    return null;
  }

  private Duration since(long begin) {
    return Duration.ofNanos(time.nanoTime() - begin);
  }

  private void end(Slot slot, ToolEnd[] ends, IdentityHashMap<Task<?>, Slot> running) {
    ToolEnd.Known said = slot.said().get();
    ToolEnd end =
        said != null
            ? said
            : switch (slot.task().outcome()) {
              case Outcome.Success<?> success ->
                  throw new IllegalStateException("It said nothing.");
              case Outcome.Failure<?>(Throwable cause) -> thrown(slot.run(), cause);
              case Outcome.TimedOut<?> timedOut -> timedOut(slot, running);
              case Outcome.Cancelled<?> cancelled -> cutOff(slot.run());
            };
    if (end == null) {
      return; // runs again
    }
    if (end instanceof ToolEnd.Known known) {
      journal.ended(slot.run(), known);
    }
    ends[slot.index()] = end;
  }

  private ToolEnd thrown(ToolRun run, Throwable cause) {
    return switch (cause) {
      case Error error -> {
        scope.cancel("a tool threw an error");
        scope.join();
        throw error;
      }
      // Interrupted without our doing: whether it had acted by then is not known.
      case InterruptedException interrupted -> cutOff(run);
      case ToolException meant -> failed(String.valueOf(meant.getMessage()), meant);
      default -> failed("Tool failed.", cause);
    };
  }

  private static ToolEnd.Known failed(String messageForModel, @Nullable Throwable cause) {
    return new ToolEnd.Known(
        Json.of(messageForModel), true, Optional.ofNullable(cause), Duration.ZERO);
  }

  /** Null if the call runs again. */
  private @Nullable ToolEnd timedOut(Slot slot, IdentityHashMap<Task<?>, Slot> running) {
    ToolRun run = slot.run();
    if (over()) {
      return cutOff(run);
    }
    return switch (run.tool().effect()) {
      case PURE -> failed("Tool timed out after " + run.tool().timeout().orElseThrow() + ".", null);
      case ONCE -> new ToolEnd.Unknown();
      case IDEMPOTENT -> {
        if (run.attempt() > 1) {
          yield new ToolEnd.Unknown();
        }
        ToolRun again = run.again();
        journal.starting(List.of(again));
        fork(slot.index(), again, running);
        yield null;
      }
    };
  }

  private static ToolEnd cutOff(ToolRun run) {
    return run.tool().effect() == EffectClass.ONCE ? new ToolEnd.Unknown() : new ToolEnd.CutOff();
  }
}
