package dev.warpwright.flow;

import dev.warpwright.agent.Invocation;
import dev.warpwright.model.Digest;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.model.NonDeterminismException;
import dev.warpwright.model.OperationCancelledException;
import dev.warpwright.model.OperationTrace;
import dev.warpwright.model.WarpwrightException;
import dev.warpwright.run.FlowCall;
import dev.warpwright.run.RunEvent.RunSuspended.Reason;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunState;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.Signal;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.TaskScope;
import dev.warpwright.task.TaskTree;
import dev.warpwright.task.TimeSource;
import java.lang.invoke.MethodHandles.Lookup;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * What the contexts of one drive of a flow share: the log, the clock, and what the drive has come
 * to. Thread-safe: branches use it at the same time.
 */
final class FlowDrive {
  /** A wait that is not longer is made on the spot; for a longer one the run is suspended. */
  static final Duration MAX_WAIT_ON_THE_SPOT = Duration.ofSeconds(1);

  final FlowLog log;
  final TaskTree tasks;
  final TimeSource time;
  final Flow<?, ?> flow;
  final Flows flows;
  final Invocation invocation;
  final Map<String, String> metadata; // of the run, and of its children
  private final RunKey run;
  private final RunStore store;
  private final Deadline deadline;

  private final Set<String> visited = ConcurrentHashMap.newKeySet();
  private final Set<String> takenSignals = ConcurrentHashMap.newKeySet();
  private final Queue<Wait> waits = new ConcurrentLinkedQueue<>();

  private volatile boolean over; // set by the driver

  /** What breaks the drive, whatever the body makes of it. */
  private final AtomicReference<@Nullable WarpwrightException> broken = new AtomicReference<>();

  /** Something that a branch waits for. */
  record Wait(Reason reason, String what) {}

  FlowDrive(
      FlowLog log,
      Flow<?, ?> flow,
      Flows flows,
      Invocation invocation,
      RunState state,
      Deadline deadline) {
    this.log = log;
    this.flow = flow;
    this.flows = flows;
    this.invocation = invocation;
    this.metadata = state.started().metadata();
    this.tasks = flows.tasks();
    this.time = tasks.time();
    this.run = state.run();
    this.store = flows.store();
    this.deadline = deadline;
  }

  String runId() {
    return run.runId();
  }

  Deadline deadline() {
    return deadline;
  }

  RunKey run() {
    return run;
  }

  Lookup lookup() {
    return flow.lookup();
  }

  /** What is recorded for a call; it must be the same call. */
  <C extends FlowCall> Optional<C> recorded(
      String position, Class<C> type, String kind, String name) {
    visited.add(position);
    Optional<FlowCall> call = log.journal().at(position);
    if (call.isEmpty()) {
      return Optional.empty();
    }
    if (!type.isInstance(call.get()) || !call.get().name().equals(name)) {
      throw differs(position, describe(call.get()), kind + " \"" + name + "\"");
    }
    return call.map(type::cast);
  }

  private static String describe(FlowCall call) {
    return call.kind() + " \"" + call.name() + "\"";
  }

  /** Ends the drive because the code differs from the log. */
  NonDeterminismException differs(String position, String recorded, String attempted) {
    return fail(
        new NonDeterminismException(
            "The flow \"%s\" (version %s) does something else than the log of run %s: at position %s"
                    .formatted(flow.id(), flow.version(), run, position)
                + " the log has the %s, the code makes the %s.".formatted(recorded, attempted)
                + " Nothing was written. Run the code that fits the log, or keep both ways apart"
                + " with ctx.version.",
            OperationTrace.NONE.ofRun(runId())));
  }

  /** Ends the drive with a failure that the body cannot hide. */
  <E extends WarpwrightException> E fail(E why) {
    broken.compareAndSet(null, why);
    return why;
  }

  Optional<WarpwrightException> broken() {
    return Optional.ofNullable(broken.get());
  }

  /** The drive is cut off, by its caller, its deadline or the loss of the run. */
  void ends() {
    over = true;
  }

  /** Whether the drive is cut off: then nothing more is written of what the branches do. */
  boolean isOver() {
    return over || deadline.hasPassed();
  }

  /** Leaves the body: the run is to wait for something. */
  Unwind suspend(Reason reason, String what) {
    waits.add(new Wait(reason, what));
    return Unwind.NOW;
  }

  List<Wait> waits() {
    return List.copyOf(waits);
  }

  /** The calls that are recorded and that the body has not made. */
  List<FlowCall> notReached() {
    return log.journal().calls().stream()
        .filter(call -> !visited.contains(call.position()))
        .filter(call -> !call.position().startsWith(FlowContext.CANCEL_PATH))
        .toList();
  }

  NonDeterminismException notReached(FlowCall call) {
    return fail(
        new NonDeterminismException(
            "The flow \"%s\" (version %s) ended before it made a call that the log of run %s has: the"
                    .formatted(flow.id(), flow.version(), run)
                + " recorded %s at position %s was not reached."
                    .formatted(describe(call), call.position())
                + " Nothing was written. Run the code that fits the log, or keep both ways apart"
                + " with ctx.version.",
            OperationTrace.NONE.ofRun(runId())));
  }

  OperationCancelledException runCancelled() {
    return new OperationCancelledException(
        "The run " + run + " was cancelled.", null, OperationTrace.NONE.ofRun(runId()));
  }

  InvalidRequestException swallowed() {
    return fail(
        new InvalidRequestException(
            FailureKind.INVALID_REQUEST,
            "The body of flow \"%s\" went on after a call that suspended the run %s: it must not catch"
                    .formatted(flow.id(), run)
                + " Throwable or Error around calls of its context. Catch Exception instead."));
  }

  /** The key under which a step acts. */
  String key(String position) {
    String subject = Json.of(Map.of("runId", runId(), "position", position)).canonical();
    return runId() + ":step_" + Digest.hex(subject);
  }

  /**
   * Waits until an instant, on the spot if it is near.
   *
   * @return false if the run has to be suspended for it
   */
  boolean waitUntil(Instant due, String name) {
    Duration remaining = Duration.between(time.now(), due);
    if (!remaining.isPositive()) {
      return true;
    }
    if (remaining.compareTo(MAX_WAIT_ON_THE_SPOT) > 0) {
      return false;
    }
    try (TaskScope scope = tasks.open("wait", name)) {
      if (scope.sleep(remaining)) {
        return true;
      }
    }
    throw Unwind.NOW; // stopped
  }

  /**
   * Takes the oldest signal of a name that was not consumed, and that no other branch has taken.
   */
  Optional<Signal> takeSignal(String name) {
    return store.signals(run, deadline).stream()
        .filter(signal -> signal.name().equals(name))
        .filter(signal -> takenSignals.add(signal.id()))
        .findFirst();
  }
}
