package dev.warpwright.tool;

import dev.warpwright.model.GuardrailException;
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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Runs the tool calls of one step as children of a scope, and decides what each end means.
 *
 * <p>A call is run again by itself in one case only: a repeatable tool whose own timeout passed, or
 * that does not know whether it has acted, once, under the same key. Confined to the scope's owner
 * thread.
 */
public final class ToolRunner {
  /** What a model is told of a failure whose text is not meant for it. */
  static final String FAILED = "Tool failed.";

  /** What stands in place of an output to which a guardrail objects. */
  public static final String WITHHELD = "The output of the tool is withheld.";

  private final TaskScope scope;
  private final TimeSource time;
  private final ToolExecution options;
  private final boolean modelDeclaresParallel;
  private final ToolCaller caller;
  private final ToolJournal journal;
  private final RunningKeys runningKeys;

  /**
   * A runner.
   *
   * @param scope the scope whose children the tools become; owned by the calling thread
   * @param time the scope's time source
   * @param options how calls are run
   * @param modelDeclaresParallel whether the model that asked declares parallel tool calls
   * @param caller on whose behalf they run
   * @param journal what is told before and after each run
   * @param runningKeys what is still at work, shared by all operations of a gateway
   */
  public ToolRunner(
      TaskScope scope,
      TimeSource time,
      ToolExecution options,
      boolean modelDeclaresParallel,
      ToolCaller caller,
      ToolJournal journal,
      RunningKeys runningKeys) {
    this.scope = scope;
    this.time = time;
    this.options = options;
    this.modelDeclaresParallel = modelDeclaresParallel;
    this.caller = caller;
    this.journal = journal;
    this.runningKeys = runningKeys;
  }

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
   * @return what is known; unknown if the tool has no reconciler, if that failed or was cut off, or
   *     if an earlier run of the call was given up and is still at work
   * @throws GuardrailException if the call has taken place and its output must not be shown
   */
  public Reconciler.Finding reconcile(Tool tool, ToolCall call, String key) {
    if (runningKeys.contains(key)) {
      return new Reconciler.Finding.Unknown();
    }
    Outcome<Reconciler.Finding> outcome =
        scope.call(
            "reconciler",
            "reconcile " + tool.name(),
            tool.timeout().map(limit -> Deadline.after(time, limit)).orElse(Deadline.never()),
            () -> tool.reconcile(key, call, caller));
    return switch (outcome) {
      case Outcome.Success<Reconciler.Finding>(Reconciler.Finding finding) when finding != null ->
          finding;
      case Outcome.Failure<Reconciler.Finding>(Error error) -> throw error;
      case Outcome.Failure<Reconciler.Finding>(GuardrailException triggered) -> throw triggered;
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
    return new Batch(runs).run();
  }

  /** Whether the operation is at its end, so that nothing new begins. */
  private boolean over() {
    return scope.isCancelled()
        || Thread.currentThread().isInterrupted()
        || scope.deadline().hasPassed();
  }

  /** A run under way. */
  private static final class Slot {
    final int index;
    final ToolRun run;
    final long startNanos;

    /** What it returned, or that it was given up before: whichever comes first stays. */
    private final AtomicReference<@Nullable ToolEnd> said = new AtomicReference<>();

    private final AtomicBoolean taken = new AtomicBoolean();

    Slot(int index, ToolRun run, long startNanos) {
      this.index = index;
      this.run = run;
      this.startNanos = startNanos;
    }

    /** Asked by the tool's thread before it does anything; true only the first time. */
    boolean begins() {
      return taken.compareAndSet(false, true);
    }

    /** Called by the tool's thread when it returns; false if nobody listens any more. */
    boolean says(ToolEnd.Known end) {
      return said.compareAndSet(null, end);
    }

    /** Called by the owner, which listens no more; what the tool has said, if anything. */
    ToolEnd.@Nullable Known giveUp() {
      return said.compareAndSet(null, new ToolEnd.Unknown()) ? null : (ToolEnd.Known) said.get();
    }

    /** Asked by the owner about a run that was given up; if true, it will never begin. */
    boolean neverBegan() {
      return taken.compareAndSet(false, true);
    }
  }

  /** The runs of one step on their way to their ends. */
  private final class Batch {
    private final List<ToolRun> runs;
    private final int width;
    private final ToolEnd[] ends;
    private final Deque<Integer> waiting = new ArrayDeque<>();
    private final Map<Task<?>, Slot> running = new LinkedHashMap<>();
    private boolean stopped;

    Batch(List<ToolRun> runs) {
      this.runs = runs;
      this.width = width(runs);
      this.ends = new ToolEnd[runs.size()];
      for (int i = 0; i < runs.size(); i++) {
        waiting.add(i);
      }
    }

    List<ToolEnd> run() {
      while (!waiting.isEmpty() || !running.isEmpty()) {
        begin();
        if (!running.isEmpty()) {
          Task<?> done = scope.joinNext().orElseThrow();
          end(Objects.requireNonNull(running.remove(done)), done.outcome());
        }
      }
      return List.of(ends);
    }

    /** Begins as many as may run at the same time. */
    private void begin() {
      List<Integer> wave = new ArrayList<>();
      while (!waiting.isEmpty() && running.size() + wave.size() < width) {
        wave.add(waiting.remove());
      }
      if (wave.isEmpty()) {
        return;
      }
      if (stopped || over()) {
        wave.forEach(index -> ends[index] = new ToolEnd.CutOff());
        return;
      }
      journal.starting(wave.stream().map(runs::get).toList());
      wave.forEach(index -> begin(index, runs.get(index)));
    }

    /** One that nothing runs beside need not have a thread, if it declares so. */
    private void begin(int index, ToolRun run) {
      Deadline own =
          run.tool().timeout().map(limit -> Deadline.after(time, limit)).orElse(Deadline.never());
      ToolContext context =
          new ToolContext(
              caller, run.call().id(), run.key(), run.attempt(), own.earlier(scope.deadline()));
      Slot slot = new Slot(index, run, time.nanoTime());
      String name = "tool " + run.tool().name();
      if (width == 1 && run.tool().honoursInterrupts()) {
        end(slot, scope.callHere("tool", name, own, () -> body(slot, context)));
      } else {
        running.put(scope.fork("tool", name, own, () -> body(slot, context)), slot);
      }
    }

    private void end(Slot slot, Outcome<?> outcome) {
      ToolEnd.Known said = slot.giveUp();
      ToolEnd end =
          said != null
              ? said
              : switch (outcome) {
                case Outcome.Success<?> success -> throw new IllegalStateException("Said nothing.");
                case Outcome.Failure<?>(OutcomeUnknownException open) -> doesNotKnow(slot, open);
                case Outcome.Failure<?>(Throwable cause) -> thrown(slot, cause);
                case Outcome.TimedOut<?> timedOut -> timedOut(slot);
                case Outcome.Cancelled<?> cancelled -> cutOff(slot);
              };
      if (end == null) {
        return; // runs again
      }
      if (end instanceof ToolEnd.Known known) {
        stopped |= known.error() && options.stopOnError() && width == 1;
        stopped |= known.guardrail().isPresent();
        journal.ended(slot.run, known);
      }
      ends[slot.index] = end;
    }

    /** Null if the call runs again. */
    private @Nullable ToolEnd timedOut(Slot slot) {
      if (over()) {
        return cutOff(slot);
      }
      ToolRun run = slot.run;
      boolean nothingDone = run.attempt() == 1 && slot.neverBegan();
      if (run.tool().effect() == EffectClass.PURE || nothingDone) {
        String limit = String.valueOf(run.tool().timeout().orElseThrow());
        return failed(slot, "Tool timed out after " + limit + ".", null);
      }
      return againOrUnknown(slot);
    }

    /** Null if the call runs again. */
    private @Nullable ToolEnd doesNotKnow(Slot slot, OutcomeUnknownException open) {
      if (slot.run.tool().effect() == EffectClass.PURE) {
        return failed(slot, FAILED, open);
      }
      return over() ? cutOff(slot) : againOrUnknown(slot);
    }

    /** Null if the call runs again. */
    private @Nullable ToolEnd againOrUnknown(Slot slot) {
      ToolRun run = slot.run;
      if (run.tool().effect() == EffectClass.ONCE || run.attempt() > 1 || hasLapsed(slot)) {
        return new ToolEnd.Unknown();
      }
      ToolRun again = run.again();
      journal.starting(List.of(again));
      begin(slot.index, again);
      return null;
    }
  }

  /** Whether the key of a run is not honoured any more, so that running it again may act twice. */
  private boolean hasLapsed(Slot slot) {
    return slot.run
        .tool()
        .idempotencyWindow()
        .filter(window -> since(slot).compareTo(window) >= 0)
        .isPresent();
  }

  /** On the tool's own thread. */
  private @Nullable Void body(Slot slot, ToolContext context) throws Exception {
    String key = slot.run.key();
    runningKeys.begin(key);
    try {
      return slot.begins() ? work(slot, context) : null;
    } finally {
      runningKeys.end(key);
    }
  }

  private @Nullable Void work(Slot slot, ToolContext context) throws Exception {
    ToolRun run = slot.run;
    // A run that follows another of the same call finishes what that one may have done.
    if (run.attempt() == 1 && !run.tool().isEnabled(run.call().input(), caller)) {
      Json refusal = Json.of(ToolSet.notEnabled(run.tool()));
      slot.says(new ToolEnd.Known(refusal, true, false, Optional.empty(), Duration.ZERO));
      return null;
    }
    Json output = run.tool().call(run.call(), context);
    ToolEnd.Known end = new ToolEnd.Known(output, false, true, Optional.empty(), since(slot));
    if (!slot.says(end) && run.tool().effect() != EffectClass.PURE) {
      journal.endedLate(run, end);
    }
    return null;
  }

  private ToolEnd thrown(Slot slot, Throwable cause) {
    return switch (cause) {
      case Error error -> {
        scope.cancel("a tool threw an error");
        scope.join();
        throw error;
      }
      case ToolException meant -> failed(slot, meant.messageForModel(), meant);
      case GuardrailException triggered -> failed(slot, WITHHELD, triggered);
      case ReplacedFailure replaced ->
          new ToolEnd.Known(
              replaced.output(), true, true, Optional.ofNullable(replaced.getCause()), since(slot));
      default -> failed(slot, FAILED, cause);
    };
  }

  private ToolEnd.Known failed(Slot slot, String messageForModel, @Nullable Throwable cause) {
    return new ToolEnd.Known(
        Json.of(messageForModel), true, true, Optional.ofNullable(cause), since(slot));
  }

  private Duration since(Slot slot) {
    return Duration.ofNanos(time.nanoTime() - slot.startNanos);
  }

  private static ToolEnd cutOff(Slot slot) {
    return slot.neverBegan() || slot.run.tool().effect() != EffectClass.ONCE
        ? new ToolEnd.CutOff()
        : new ToolEnd.Unknown();
  }
}
