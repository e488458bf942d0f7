package dev.warpwright.flow;

import dev.warpwright.agent.Invocation;
import dev.warpwright.model.Digest;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.LimitExceededException;
import dev.warpwright.model.NonDeterminismException;
import dev.warpwright.model.OperationCancelledException;
import dev.warpwright.model.OperationTrace;
import dev.warpwright.model.WarpwrightException;
import dev.warpwright.run.ApprovalSigner;
import dev.warpwright.run.FlowCall;
import dev.warpwright.run.RunEvent;
import dev.warpwright.run.RunEvent.RunStarted;
import dev.warpwright.run.RunEvent.RunStarted.ForkedFrom;
import dev.warpwright.run.RunEvent.RunSuspended.Reason;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunState;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.Signal;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.TaskScope;
import dev.warpwright.task.TaskTree;
import dev.warpwright.task.TimeSource;
import dev.warpwright.tool.JsonType;
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
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What the contexts of one drive of a flow share: the log, the clock, and what the drive has come
 * to. Thread-safe: branches use it at the same time.
 */
final class FlowDrive {
  /** A wait that is not longer is made on the spot; for a longer one the run is suspended. */
  static final Duration MAX_WAIT_ON_THE_SPOT = Duration.ofSeconds(1);

  private static final Instant FOREVER = Instant.parse("9999-12-31T23:59:59Z");

  final FlowLog log;
  final TaskTree tasks;
  final TimeSource time;
  final Flow<?, ?> flow;
  final Flows flows;
  final Invocation invocation;
  final Map<String, String> metadata; // of the run, and of its children
  final Optional<ApprovalSigner> signer;
  private final RunKey run;
  private final RunStarted started;
  private final List<String> runIds; // its own, and those of the runs that it was cut off from
  private final RunStore store;
  private final Deadline deadline;
  private final boolean undoing; // what is done on a cancel, which is not stopped by it

  private final Map<Class<?>, JsonType<?>> types = new ConcurrentHashMap<>();
  private final Set<String> visited = ConcurrentHashMap.newKeySet();
  private final Set<String> takenSignals = ConcurrentHashMap.newKeySet();
  private final Queue<Wait> waits = new ConcurrentLinkedQueue<>();

  /** Where the calls of branches are that were stopped: they need not be made again. */
  private final Set<String> stopped = ConcurrentHashMap.newKeySet();

  private Optional<FlowReplay> replay = Optional.empty(); // set before the body begins

  /** What the run is to go on in, once its body has said so. */
  private volatile @Nullable RunStarted continuation;

  private volatile boolean swallowed; // an Unwind was, by the body
  private volatile boolean full; // something could not be written
  private volatile boolean over; // set by the driver
  private volatile boolean cancelAsked; // set by the driver
  private volatile @Nullable TaskScope whole; // what the body runs in; set by the driver

  /** What breaks the drive, whatever the body makes of it. */
  private final AtomicReference<@Nullable WarpwrightException> broken = new AtomicReference<>();

  /** Something that a branch waits for. */
  record Wait(Reason reason, String what, String position) {}

  FlowDrive(
      FlowLog log,
      Flow<?, ?> flow,
      Flows flows,
      Invocation invocation,
      RunState state,
      Deadline deadline,
      boolean undoing) {
    this.log = log;
    this.flow = flow;
    this.flows = flows;
    this.invocation = invocation;
    this.started = state.started();
    this.metadata = started.metadata();
    this.tasks = flows.tasks();
    this.time = tasks.time();
    this.run = state.run();
    this.runIds =
        Stream.concat(
                Stream.of(run.runId()),
                state.started().forkedFrom().stream()
                    .flatMap(ForkedFrom::all)
                    .map(ForkedFrom::runId))
            .toList();
    this.store = flows.store();
    this.deadline = deadline;
    this.signer = flows.signer();
    this.undoing = undoing;
  }

  String runId() {
    return run.runId();
  }

  /** Under which ids what is recorded may have been asked for. */
  List<String> runIds() {
    return runIds;
  }

  /** Told before the body begins: nothing is to be done, all is to be found in the log. */
  FlowDrive replaying(FlowReplay by) {
    replay = Optional.of(by);
    return this;
  }

  Optional<FlowReplay> replay() {
    return replay;
  }

  /** Told by the driver before the body begins. */
  void runsIn(TaskScope scope) {
    whole = scope;
  }

  /** Until when the drive may take, as its caller and all around it want it. */
  Deadline deadline() {
    TaskScope scope = whole;
    return scope == null ? deadline : scope.deadline();
  }

  RunKey run() {
    return run;
  }

  Lookup lookup() {
    return flow.lookup();
  }

  /** How values of a class are read and written; found once, as a replay reads many. */
  @SuppressWarnings("unchecked") // each class has the type of its own
  <T> JsonType<T> type(Class<T> type) {
    return (JsonType<T>) types.computeIfAbsent(type, each -> JsonType.of(each, lookup()));
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
    replay.ifPresent(by -> by.differs(position, recorded, attempted));
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

  /** Adds events; what the log has no room for ends the run, since a replay knows nothing of it. */
  void append(RunEvent... events) {
    try {
      log.append(events);
    } catch (LimitExceededException e) {
      full = true;
      throw undoing ? e : fail(e); // a cancel is carried out all the same
    }
  }

  /**
   * Whether what breaks the drive ends the run too: the body went on though it was to be left, or
   * the log is full.
   */
  boolean isRunBroken() {
    return (swallowed && broken.get() instanceof InvalidRequestException)
        || (full && broken.get() instanceof LimitExceededException);
  }

  Optional<WarpwrightException> broken() {
    return Optional.ofNullable(broken.get());
  }

  /** The drive is cut off, by its caller, its deadline or the loss of the run. */
  void ends() {
    over = true;
  }

  /** Somebody asked to cancel the run, which the log may not say yet. */
  void cancelAsked() {
    cancelAsked = true;
  }

  /** Whether the run is to be cancelled, so that nothing begins any more. */
  boolean isCancelled() {
    return !undoing && (cancelAsked || log.isCancelRequested());
  }

  /** Whether the drive is cut off, or broken: then no end is written of what it stops. */
  boolean isOver() {
    TaskScope scope = whole;
    return over
        || broken.get() != null
        || deadline().hasPassed()
        || (scope != null && scope.isCancelled() && !isCancelled()); // its caller was interrupted
  }

  /** Leaves the body, or tells it of the cancel if that is why. */
  RuntimeException cutOff() {
    if (isCancelled() && !over) {
      throw runCancelled();
    }
    throw Unwind.NOW;
  }

  /** Leaves the body: the call is to wait for something. */
  Unwind suspend(Reason reason, String what, String position) {
    waits.add(new Wait(reason, what, position));
    return Unwind.NOW;
  }

  /** Leaves the body: the run ends and goes on in a fresh one. */
  Unwind continueWith(Object input) {
    continuation = Continuation.started(flow, started, run, input);
    return Unwind.NOW;
  }

  Optional<RunStarted> continuation() {
    return Optional.ofNullable(continuation);
  }

  /** Nothing of a branch that was stopped is waited for, and none of its calls must be reached. */
  void stopped(String branchPath) {
    stopped.add(branchPath);
    waits.removeIf(wait -> wait.position().startsWith(branchPath));
  }

  List<Wait> waits() {
    return List.copyOf(waits);
  }

  /** The calls that are recorded and that the body has not made. */
  List<FlowCall> notReached() {
    return log.journal().calls().stream()
        .filter(call -> !visited.contains(call.position()))
        .filter(call -> !call.position().startsWith(FlowContext.CANCEL_PATH))
        .filter(call -> stopped.stream().noneMatch(call.position()::startsWith))
        .toList();
  }

  NonDeterminismException notReached(FlowCall call) {
    replay.ifPresent(by -> by.notReached(call));
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
    swallowed = true;
    return fail(
        new InvalidRequestException(
            FailureKind.INVALID_REQUEST,
            "The body of flow \"%s\" went on after a call that suspended the run %s: it must not catch"
                    .formatted(flow.id(), run)
                + " Throwable or Error around calls of its context. Catch Exception instead."));
  }

  /** The key under which a step acts. */
  String key(String position) {
    return key(runId(), position);
  }

  /** The keys under which a step may have acted that is recorded. */
  Stream<String> keys(String position) {
    return runIds.stream().map(id -> key(id, position));
  }

  private static String key(String id, String position) {
    // Canonical JSON as it stands: neither has a character that would be escaped.
    String subject = "{\"position\":\"" + position + "\",\"runId\":\"" + id + "\"}";
    return id + ":step_" + Digest.hex(subject);
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
    throw cutOff();
  }

  /**
   * Takes the oldest signal of a name that was not consumed, and that no other branch has taken.
   */
  Optional<Signal> takeSignal(String name) {
    return signals().stream()
        .filter(signal -> signal.name().equals(name))
        .filter(signal -> takenSignals.add(signal.id()))
        .findFirst();
  }

  private List<Signal> signals() {
    try {
      return store.signals(run, deadline());
    } catch (WarpwrightException e) {
      fail(e); // the body must not go another way because the store did not answer
      throw Unwind.NOW;
    }
  }

  /** A time from now on, not later than all that a log can hold. */
  Instant in(Duration wait) {
    Instant now = time.now();
    return wait.compareTo(Duration.between(now, FOREVER)) > 0
        ? FOREVER
        : wait.isNegative() ? now : now.plus(wait);
  }

  /** A time, or the last one that a log can hold. */
  Instant noLater(Instant instant) {
    return instant.isAfter(FOREVER)
        ? FOREVER
        : instant.isBefore(Instant.EPOCH) ? Instant.EPOCH : instant;
  }
}
