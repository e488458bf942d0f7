package dev.warpwright.flow;

import dev.warpwright.agent.Agent;
import dev.warpwright.agent.AgentResult;
import dev.warpwright.model.Digest;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.model.NonDeterminismException;
import dev.warpwright.model.OperationCancelledException;
import dev.warpwright.model.StepFailedException;
import dev.warpwright.run.ApprovalSignatures;
import dev.warpwright.run.FlowCall;
import dev.warpwright.run.FlowEvent.Observed;
import dev.warpwright.run.FlowEvent.SignalAwaited;
import dev.warpwright.run.FlowEvent.SignalReceived;
import dev.warpwright.run.FlowEvent.SignalTimedOut;
import dev.warpwright.run.FlowEvent.TimerFired;
import dev.warpwright.run.FlowEvent.TimerScheduled;
import dev.warpwright.run.FlowEvent.VersionMarked;
import dev.warpwright.run.Position;
import dev.warpwright.run.RunEvent.ApprovalDecided;
import dev.warpwright.run.RunEvent.ApprovalRequested;
import dev.warpwright.run.RunEvent.RunSuspended.Reason;
import dev.warpwright.run.RunIds;
import dev.warpwright.run.RunState;
import dev.warpwright.run.Signal;
import dev.warpwright.tool.JsonType;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Through which a flow learns everything from outside and does everything that has an effect. Each
 * call is recorded in the run's log; when the body runs again, after a wait or a crash, a call that
 * is recorded gives its recorded result.
 *
 * <p>A call is known by its place: the third call of the body is compared with the third call that
 * is recorded. So the body must make the same calls in the same order each time. Its statements
 * between the calls may run many times: they must have no effect, and must not read the clock, a
 * random number, the environment or anything else that may differ. A call that does not fit the log
 * ends the drive with a {@link NonDeterminismException}; nothing is written then.
 *
 * <p>A call that has to wait for long, for a time, a signal or a person, does not return: the body
 * is left by an error that it must not catch, the run holds no thread and no memory, and the body
 * runs again when what it waits for is there.
 *
 * <p>Confined to the thread that it is given to; a branch of a {@link #parallel} has a context of
 * its own. Calls end early, by an error that must not be caught, when the drive is cut off by its
 * deadline or its caller; when the run is cancelled, the next call that is not recorded throws an
 * {@link dev.warpwright.model.OperationCancelledException}.
 */
public final class FlowContext {
  /** Where the calls of what is done on a cancel are. */
  static final String CANCEL_PATH = "cancel/";

  private static final int MAX_NAME = 128;

  private final FlowDrive drive;
  private final String path;
  private final Thread owner = Thread.currentThread();
  private final Map<String, Integer> versions;
  private final Deque<Undo> compensations;
  private final Deque<Undo> onCancel;
  private final Mode mode;
  private int ordinal;
  private boolean left; // by an Unwind
  private boolean told; // that the run is to be cancelled
  private volatile boolean givenUp; // set by the thread that started this branch

  /** What calls may be made. */
  enum Mode {
    /** All. */
    LIVE,
    /** Those that are recorded: the log says that this branch has ended. */
    ENDED,
    /** Those that are recorded and over; then this branch, or a check of the log, ends. */
    STOPPED,
    /** Those that are recorded; one that is not over waits, any other is a difference. */
    RECORDED
  }

  /**
   * Something that is done to take something back.
   *
   * @param after the last call before it was registered
   */
  record Undo(String name, StepAction action, String after) {}

  private FlowContext(
      FlowDrive drive,
      String path,
      Map<String, Integer> versions,
      Deque<Undo> compensations,
      Deque<Undo> onCancel,
      Mode mode) {
    this.drive = drive;
    this.path = path;
    this.versions = versions;
    this.compensations = compensations;
    this.onCancel = onCancel;
    this.mode = mode;
  }

  /** The context of the body; on the body's thread. */
  static FlowContext ofBody(FlowDrive drive, Deque<Undo> onCancel, Mode mode) {
    return new FlowContext(drive, "", new HashMap<>(), new ArrayDeque<>(), onCancel, mode);
  }

  /** The context of what is done on a cancel. */
  static FlowContext ofCancel(FlowDrive drive, Mode mode) {
    return new FlowContext(
        drive, CANCEL_PATH, new HashMap<>(), new ArrayDeque<>(), new ArrayDeque<>(), mode);
  }

  /**
   * The context of a branch; on the branch's thread.
   *
   * @param branchPath where its calls are
   */
  FlowContext branch(String branchPath, Mode branchMode) {
    return new FlowContext(
        drive, branchPath, new HashMap<>(versions), new ArrayDeque<>(), onCancel, branchMode);
  }

  /** Whether this is a branch that was stopped, as the log has it. */
  boolean isStopped() {
    return mode == Mode.STOPPED;
  }

  /** Whether this is a replay, in which nothing is done. */
  boolean isRecorded() {
    return mode == Mode.RECORDED;
  }

  /** Whether its body was to be left, whatever it has made of that. */
  boolean hasLeft() {
    return left;
  }

  /** Nothing of this branch counts any more, whatever a thread that is left behind does. */
  void giveUp() {
    givenUp = true;
  }

  /**
   * The run.
   *
   * @return its id
   */
  public String runId() {
    return drive.runId();
  }

  /**
   * Runs a step with the default options: idempotent, once, without a timeout.
   *
   * @param name what it is called in the log
   * @param type of its value: a record, a sealed interface of records, an enum, String, a number or
   *     another type that {@link JsonType} knows
   * @param function what it does
   * @param <T> the type of its value
   * @return the value, recorded before this returns
   * @throws StepFailedException if it failed for good, now or when it was recorded
   */
  public <T> T step(String name, Class<T> type, StepFunction<? extends T> function) {
    return step(name, type, StepOptions.DEFAULT, function);
  }

  /**
   * Runs a step; see {@link #step(String, Class, StepFunction)}.
   *
   * @param name what it is called in the log
   * @param type of its value
   * @param options effect class, retries, timeout
   * @param function what it does
   * @param <T> the type of its value
   * @return the value, recorded before this returns
   * @throws StepFailedException if it failed for good, now or when it was recorded
   */
  public <T> T step(
      String name, Class<T> type, StepOptions options, StepFunction<? extends T> function) {
    return step(name, drive.type(type), options, function);
  }

  /**
   * Runs a step whose value's type is no class, such as a list; see {@link #step(String, Class,
   * StepFunction)}.
   *
   * @param name what it is called in the log
   * @param type of its value
   * @param options effect class, retries, timeout
   * @param function what it does
   * @param <T> the type of its value
   * @return the value, recorded before this returns
   * @throws StepFailedException if it failed for good, now or when it was recorded
   */
  public <T> T step(
      String name, JsonType<T> type, StepOptions options, StepFunction<? extends T> function) {
    Json value =
        journaled(
            name, options, step -> type.write(function.run(step)), found -> write(type, found));
    try {
      T read = type.read(value);
      drive
          .replay()
          .ifPresent(replay -> replay.requireValue(drive, path + ordinal, name, value, type, read));
      return read;
    } catch (InvalidRequestException e) {
      throw drive.differs(
          path + ordinal,
          "value of step \"" + name + "\"",
          "step with a type that cannot read it (" + e.getMessage() + ")");
    }
  }

  /**
   * Runs a step that has no value, with the default options.
   *
   * @param name what it is called in the log
   * @param action what it does
   * @throws StepFailedException if it failed for good, now or when it was recorded
   */
  public void run(String name, StepAction action) {
    run(name, StepOptions.DEFAULT, action);
  }

  /**
   * Runs a step that has no value.
   *
   * @param name what it is called in the log
   * @param options effect class, retries, timeout
   * @param action what it does
   * @throws StepFailedException if it failed for good, now or when it was recorded
   */
  public void run(String name, StepOptions options, StepAction action) {
    journaled(
        name,
        options,
        step -> {
          action.run(step);
          return Json.of(null);
        },
        Json::of);
  }

  @SuppressWarnings("unchecked") // what does not fit is found out by the writing
  private static <T> Json write(JsonType<T> type, @Nullable Object found) {
    return type.write((T) Objects.requireNonNull(found));
  }

  private Json journaled(
      String name,
      StepOptions options,
      StepFunction<Json> function,
      Function<@Nullable Object, Json> writer) {
    String position = next(name);
    Optional<FlowCall.Step> recorded = recorded(position, FlowCall.Step.class, "step", name);
    drive
        .replay()
        .ifPresent(by -> recorded.ifPresent(step -> by.requireStep(drive, step, options)));
    return leaving(
        () ->
            new StepCall(drive, this, position, name, options, function, writer).result(recorded));
  }

  /**
   * Reads the clock, once: the same in every replay.
   *
   * @return the time of the first run of this call
   */
  public Instant now() {
    return Instant.parse(observed(Observed.Source.TIME, () -> drive.time.now().toString()));
  }

  /**
   * Draws a random number, once: the same in every replay.
   *
   * @return 0 or more, less than 1
   */
  public double random() {
    return Double.parseDouble(
        observed(Observed.Source.RANDOM, () -> Double.toString(drive.time.random().nextDouble())));
  }

  /**
   * Makes a fresh id, once: the same in every replay.
   *
   * @return a UUID of version 7
   */
  public String newId() {
    return observed(Observed.Source.ID, () -> RunIds.next(drive.time));
  }

  private String observed(Observed.Source source, Supplier<String> read) {
    String name = source.name().toLowerCase(Locale.ROOT);
    String position = next(name);
    Optional<FlowCall.Observation> recorded =
        recorded(position, FlowCall.Observation.class, "observation", name);
    if (recorded.isPresent()) {
      return String.valueOf(recorded.get().value().value());
    }
    requireNotCancelled();
    String value = read.get();
    drive.append(new Observed(position, source, Json.of(value)));
    requireRecorded(position);
    return value;
  }

  /**
   * Waits for a time, durably: the time is recorded at the first run of this call, and a process
   * that dies meanwhile leaves what remains to the next. For more than a second the run is
   * suspended, so somebody has to drive it on, such as a {@link dev.warpwright.run.Worker}.
   *
   * @param duration how long; zero and less pass at once
   */
  public void sleep(Duration duration) {
    timer("sleep", () -> drive.in(duration));
  }

  /**
   * Waits until an instant, durably; see {@link #sleep}.
   *
   * @param instant until when, such as one that follows from {@link #now()}
   */
  public void sleepUntil(Instant instant) {
    timer("sleepUntil", () -> drive.noLater(instant));
  }

  private void timer(String name, Supplier<Instant> due) {
    String position = next(name);
    Optional<FlowCall.Timer> recorded = recorded(position, FlowCall.Timer.class, "timer", name);
    if (recorded.isPresent() && recorded.get().fired()) {
      return;
    }
    requireNotCancelled();
    Instant at = recorded.map(FlowCall.Timer::due).orElseGet(due);
    if (recorded.isEmpty()) {
      drive.append(new TimerScheduled(position, name, at));
      requireRecorded(position);
    }
    leaving(
        () -> {
          if (!drive.waitUntil(at, name)) {
            throw drive.suspend(Reason.TIMER, position, position);
          }
          return true;
        });
    drive.append(new TimerFired(position));
  }

  /**
   * Waits for a signal as long as it takes; see {@link #awaitSignal(String, Class, Duration)}.
   *
   * @param name the signal's name
   * @param type what it brings
   * @param <T> its type
   * @return what it brought
   */
  public <T> T awaitSignal(String name, Class<T> type) {
    return awaitSignal(name, type, Optional.empty()).orElseThrow();
  }

  /**
   * Waits for a signal that somebody sends with {@link Flows#signal}. One that was sent before is
   * there; each is received once, those of one name in the order in which they came.
   *
   * @param name the signal's name
   * @param type what it brings
   * @param timeout how long to wait from the first run of this call on
   * @param <T> its type
   * @return what it brought; empty if none came in time
   */
  public <T> Optional<T> awaitSignal(String name, Class<T> type, Duration timeout) {
    return awaitSignal(name, type, Optional.of(timeout));
  }

  private <T> Optional<T> awaitSignal(String name, Class<T> type, Optional<Duration> timeout) {
    String position = next(name);
    Optional<FlowCall.Signal> recorded = recorded(position, FlowCall.Signal.class, "signal", name);
    JsonType<T> json = drive.type(type);
    if (recorded.isPresent() && recorded.get().isOver()) {
      return recorded
          .get()
          .received()
          .map(received -> read(json, position, name, received.value()));
    }
    requireNotCancelled();
    Optional<Instant> due = recorded.isPresent() ? recorded.get().due() : timeout.map(drive::in);
    if (recorded.isEmpty()) {
      drive.append(new SignalAwaited(position, name, due));
      requireRecorded(position);
    }
    Optional<Signal> signal = drive.takeSignal(name);
    if (signal.isPresent()) {
      drive.append(new SignalReceived(position, signal.get().id(), signal.get().value()));
      requireOver(position);
      return signal.map(found -> read(json, position, name, found.value()));
    }
    if (due.filter(end -> !drive.time.now().isBefore(end)).isPresent()) {
      drive.append(new SignalTimedOut(position));
      return Optional.empty();
    }
    return leaving(
        () -> {
          throw drive.suspend(Reason.SIGNAL, position, position);
        });
  }

  /** What is sent from outside must not end the run: code that can read it goes on. */
  private <T> T read(JsonType<T> type, String position, String name, Json value) {
    try {
      return type.read(value);
    } catch (InvalidRequestException e) {
      throw drive.differs(
          position,
          "value of signal \"" + name + "\"",
          "signal with a type that cannot read it (" + e.getMessage() + ")");
    }
  }

  /**
   * Asks somebody to decide, and waits for it: the run is suspended, and goes on when the decision
   * is there. A decision is bound to the subject as it is shown.
   *
   * @param name what is to be decided
   * @param subject what is shown to whoever decides: a record or another value that is written as
   *     JSON
   * @param timeout how long to wait from the first run of this call on; then it counts as denied
   *     with the reason {@code expired}
   * @return the decision
   */
  public Decision approval(String name, Object subject, Duration timeout) {
    String position = next(name);
    Optional<FlowCall.Approval> recorded =
        recorded(position, FlowCall.Approval.class, "approval", name);
    Json shown = Json.parse(JsonType.toJson(subject, drive.lookup()).canonical());
    String digest = digest(drive.runId(), position, name, shown);
    if (recorded.isPresent()) {
      String asked = recorded.get().request().digest();
      if (drive.runIds().stream()
          .noneMatch(id -> asked.equals("sha256:" + digest(id, position, name, shown)))) {
        throw drive.differs(
            position,
            "approval \"" + name + "\" of another subject",
            "approval \"" + name + "\" of this one");
      }
      if (drive.replay().isEmpty()) {
        requireAuthentic(recorded.get());
      }
      Optional<ApprovalDecided> decided = recorded.get().decision();
      if (decided.isPresent()) {
        return new Decision(
            decided.get().approve(), decided.get().decidedBy(), decided.get().reason());
      }
    }
    requireNotCancelled();
    if (recorded.isEmpty()) {
      ApprovalRequested request =
          new ApprovalRequested(
              "approval_" + digest,
              "sha256:" + digest,
              1,
              position,
              name,
              drive.flow.version(),
              shown,
              Optional.of(drive.in(timeout)),
              Optional.empty());
      drive.append(ApprovalSignatures.sign(request, drive.signer));
      requireRecorded(position);
    }
    String awaited =
        recorded.map(asked -> asked.request().requestId()).orElse("approval_" + digest);
    return leaving(
        () -> {
          throw drive.suspend(Reason.APPROVAL, awaited, position);
        });
  }

  /** One that was tampered with ends the drive; nothing is written. */
  private void requireAuthentic(FlowCall.Approval approval) {
    try {
      ApprovalSignatures.requireAuthentic(
          new RunState.Approval(approval.request(), approval.decision()), drive.signer);
    } catch (InvalidRequestException e) {
      throw drive.fail(e);
    }
  }

  private static String digest(String runId, String position, String name, Json subject) {
    Map<String, Object> parts = new LinkedHashMap<>();
    parts.put("runId", runId);
    parts.put("position", position);
    parts.put("name", name);
    parts.put("subject", subject);
    return Digest.hex(Json.of(parts).canonical());
  }

  /**
   * Runs branches side by side, and waits until all have ended. The first failure of one stops the
   * others: their steps are interrupted and nothing more of them begins.
   *
   * @param name what it is called in the log
   * @param branches the branches
   * @param <T> the type of their values
   * @return their values, in the order of the branches
   * @throws Exception the first failure, as the branch threw it
   */
  public <T> List<T> parallel(String name, List<? extends Branch<? extends T>> branches)
      throws Exception {
    return parallel(name, Integer.MAX_VALUE, branches);
  }

  /**
   * Runs branches side by side, not all at once; see {@link #parallel(String, List)}.
   *
   * @param name what it is called in the log
   * @param maxConcurrency how many at the same time, 1 or more
   * @param branches the branches
   * @param <T> the type of their values
   * @return their values, in the order of the branches
   * @throws Exception the first failure, as the branch threw it
   */
  public <T> List<T> parallel(
      String name, int maxConcurrency, List<? extends Branch<? extends T>> branches)
      throws Exception {
    return branches(name, maxConcurrency, branches, true).values();
  }

  /**
   * Runs branches side by side and lets each come to its end, also if others fail.
   *
   * @param name what it is called in the log
   * @param maxConcurrency how many at the same time, 1 or more
   * @param branches the branches
   * @param <T> the type of their values
   * @return how they ended, in the order of the branches
   */
  public <T> List<BranchOutcome<T>> parallelAll(
      String name, int maxConcurrency, List<? extends Branch<? extends T>> branches) {
    return this.<T>branches(name, maxConcurrency, branches, false).outcomes();
  }

  /**
   * Runs a branch for each of some items, side by side; see {@link #parallel(String, List)}.
   *
   * @param name what it is called in the log
   * @param items the items: each time the same ones in the same order
   * @param each what is done for an item
   * @param <I> an item
   * @param <T> what comes of it
   * @return what came of them, in the order of the items
   * @throws Exception the first failure, as the branch threw it
   */
  public <I, T> List<T> parallel(
      String name, List<? extends I> items, FlowBody<? super I, ? extends T> each)
      throws Exception {
    return parallel(name, Integer.MAX_VALUE, items, each);
  }

  /**
   * Runs a branch for each of some items, not all at once; see {@link #parallel(String, List,
   * FlowBody)}.
   *
   * @param name what it is called in the log
   * @param maxConcurrency how many at the same time, 1 or more
   * @param items the items
   * @param each what is done for an item
   * @param <I> an item
   * @param <T> what comes of it
   * @return what came of them, in the order of the items
   * @throws Exception the first failure, as the branch threw it
   */
  public <I, T> List<T> parallel(
      String name,
      int maxConcurrency,
      List<? extends I> items,
      FlowBody<? super I, ? extends T> each)
      throws Exception {
    return this.<T>branches(name, maxConcurrency, forEach(items, each), true).values();
  }

  /**
   * Runs a branch for each of some items and lets each come to its end; see {@link #parallelAll}.
   *
   * @param name what it is called in the log
   * @param maxConcurrency how many at the same time, 1 or more
   * @param items the items
   * @param each what is done for an item
   * @param <I> an item
   * @param <T> what comes of it
   * @return how they ended, in the order of the items
   */
  public <I, T> List<BranchOutcome<T>> parallelAll(
      String name,
      int maxConcurrency,
      List<? extends I> items,
      FlowBody<? super I, ? extends T> each) {
    return this.<T>branches(name, maxConcurrency, forEach(items, each), false).outcomes();
  }

  private static <I, T> List<Branch<T>> forEach(
      List<? extends I> items, FlowBody<? super I, ? extends T> each) {
    return items.stream().<Branch<T>>map(item -> own -> each.run(own, item)).toList();
  }

  private <T> Branches<T> branches(
      String name,
      int maxConcurrency,
      List<? extends Branch<? extends T>> branches,
      boolean failFast) {
    if (maxConcurrency < 1) {
      throw new InvalidRequestException(
          FailureKind.INVALID_REQUEST,
          "The maxConcurrency of a parallel must be 1 or more, but is " + maxConcurrency + ".");
    }
    String position = next(name);
    Optional<FlowCall.Parallel> recorded =
        recorded(position, FlowCall.Parallel.class, "parallel of " + branches.size(), name);
    recorded
        .filter(call -> call.branches() != branches.size())
        .ifPresent(
            call -> {
              throw drive.differs(
                  position,
                  call.kind() + " \"" + name + "\"",
                  "parallel of " + branches.size() + " \"" + name + "\"");
            });
    return leaving(
        () ->
            new Branches<T>(drive, this, position, name, List.copyOf(branches), failFast)
                .run(maxConcurrency, recorded));
  }

  /**
   * Runs an agent as a child run: with a log of its own, cancelled together with this run. If it
   * waits, this run waits for it.
   *
   * @param agent the agent
   * @param prompt what it is asked
   * @return how it was left: completed
   * @throws StepFailedException if its run failed, was cancelled or timed out; {@link
   *     StepFailedException#kind()} says why. A resume of this run goes on with the child
   */
  public AgentResult agent(Agent agent, String prompt) {
    String position = next(agent.id());
    Optional<FlowCall.Child> recorded =
        recorded(position, FlowCall.Child.class, "child run of", agent.id());
    return leaving(
        () -> new ChildCall(drive, this, position, agent.id()).ofAgent(recorded, agent, prompt));
  }

  /**
   * Runs another flow as a child run; see {@link #agent}.
   *
   * @param flow the flow
   * @param input what it is given
   * @param <I> its type
   * @param <O> what the flow returns
   * @return what it returned
   * @throws StepFailedException if its run failed, was cancelled or timed out
   */
  public <I, O> O child(Flow<I, O> flow, I input) {
    String name = "flow:" + flow.id();
    String position = next(name);
    Optional<FlowCall.Child> recorded =
        recorded(position, FlowCall.Child.class, "child run of", name);
    return leaving(() -> new ChildCall(drive, this, position, name).ofFlow(recorded, flow, input));
  }

  /**
   * Chooses between versions of the code: what was written before a change goes on in the old way.
   *
   * @param changeId names the change; the same in the whole run
   * @param minSupported the oldest version that the code still knows
   * @param current the version for runs that come here for the first time
   * @return the version by which this run goes on; {@code minSupported} for a run that passed this
   *     place before the call was in the code
   * @throws NonDeterminismException if the run needs a version that is older than {@code
   *     minSupported}
   */
  public int version(String changeId, int minSupported, int current) {
    requireUsable(changeId);
    Integer known = versions.get(changeId);
    if (known != null) {
      return supported(changeId, minSupported, known);
    }
    String position = path + (ordinal + 1);
    Optional<FlowCall> call = drive.log.journal().at(position);
    int version;
    if (call.orElse(null) instanceof FlowCall.Version(String at, String name, int recorded)
        && name.equals(changeId)) {
      next(changeId);
      var _ = recorded(position, FlowCall.Version.class, "version", changeId);
      version = recorded;
    } else if (call.isPresent() || mode == Mode.ENDED) {
      version = minSupported; // it passed here before the call was in the code
    } else if (mode == Mode.STOPPED) {
      throw stoppedHere();
    } else if (mode == Mode.RECORDED) {
      throw beyond(position, "version", changeId);
    } else {
      requireNotCancelled();
      next(changeId);
      var _ = recorded(position, FlowCall.Version.class, "version", changeId);
      version = drive.log.journal().version(changeId).orElse(current); // another branch's
      drive.append(new VersionMarked(position, changeId, version));
      requireRecorded(position);
    }
    versions.put(changeId, version);
    return supported(changeId, minSupported, version);
  }

  private int supported(String changeId, int minSupported, int version) {
    if (version < minSupported) {
      throw drive.differs(
          path + (ordinal + 1),
          "version " + version + " of \"" + changeId + "\"",
          "version " + minSupported + " of \"" + changeId + "\" or newer");
    }
    return version;
  }

  /**
   * Registers how something is taken back that was done, for {@link #runCompensations()}. Nothing
   * is recorded.
   *
   * @param name what the step is called in the log
   * @param action what it does
   */
  public void compensate(String name, StepAction action) {
    requireUsable(name);
    compensations.push(new Undo(name, action, path + ordinal));
  }

  /**
   * Takes back what was registered with {@link #compensate} in this context, last first, each as a
   * step; after that nothing is registered.
   *
   * @throws StepFailedException if one failed; the others stay registered
   */
  public void runCompensations() {
    while (!compensations.isEmpty()) {
      Undo undo = compensations.peek();
      run(undo.name(), undo.action());
      compensations.pop();
    }
  }

  /**
   * Registers what is done if the run is cancelled, after the body has ended: last first, each as a
   * step.
   *
   * @param name what the step is called in the log
   * @param action what it does
   */
  public void onCancel(String name, StepAction action) {
    requireUsable(name);
    synchronized (onCancel) {
      onCancel.push(new Undo(name, action, path + ordinal));
    }
  }

  /**
   * Ends this run as COMPLETED and goes on in a fresh run of the same flow, which begins with an
   * empty log: for flows that never end. The last call of a body, written {@code return
   * ctx.continueAs(next)}; it never returns.
   *
   * <p>The fresh run is queued, for a {@link dev.warpwright.run.Worker} or a {@link Flows#resume};
   * {@link FlowResult#continuedAs()} tells which it is. It has the scope and the metadata of this
   * run, its timeout anew, and the signals that this one has not received.
   *
   * @param input what the fresh run is given: a value of the flow's input type
   * @param <T> whatever the body returns
   * @return never
   * @throws InvalidRequestException in a branch, in a child run, and for an input of another type
   */
  @SuppressWarnings("TypeParameterUnusedInFormals") // it never returns
  public <T> T continueAs(Object input) {
    requireUsable("continueAs");
    if (!path.isEmpty()) {
      throw new InvalidRequestException(
          FailureKind.INVALID_REQUEST,
          "Only the body of a flow goes on in another run, not a branch of it.");
    }
    if (mode != Mode.STOPPED) {
      requireNotCancelled();
    }
    Unwind end = drive.continueWith(input);
    return leaving(
        () -> {
          throw end;
        });
  }

  private String next(String name) {
    requireUsable(name);
    ordinal++;
    String position = path + ordinal;
    if (position.length() > Position.MAX_LENGTH) {
      throw new InvalidRequestException(
          FailureKind.INVALID_REQUEST,
          "Branches are nested too deep: the position of call \"%s\" has %d characters, more than %d."
              .formatted(name, position.length(), Position.MAX_LENGTH));
    }
    return position;
  }

  private void requireUsable(String name) {
    if (Thread.currentThread() != owner) {
      throw new InvalidRequestException(
          FailureKind.INVALID_REQUEST,
          "The context of a flow was used on another thread than its own: inside a step, a thread"
              + " of the program or another branch. A branch uses the context that it is given, a"
              + " step none.");
    }
    if (name.isBlank() || name.length() > MAX_NAME) {
      throw new InvalidRequestException(
          FailureKind.INVALID_REQUEST,
          "The name of a call of a flow must have 1 to %d characters and not be blank, but has %d."
              .formatted(MAX_NAME, name.length()));
    }
    if (told) {
      throw Unwind.NOW; // a loop that catches every exception would try for ever
    }
    if (left) {
      throw drive.swallowed();
    }
    if (givenUp || drive.broken().isPresent()) {
      left = true;
      throw Unwind.NOW;
    }
  }

  private <C extends FlowCall> Optional<C> recorded(
      String position, Class<C> type, String kind, String name) {
    Optional<C> call = drive.recorded(position, type, kind, name);
    if (mode == Mode.STOPPED && call.filter(FlowContext::isPassed).isEmpty()) {
      throw stoppedHere();
    }
    if (mode == Mode.RECORDED) {
      if (call.isEmpty()) {
        throw beyond(position, kind, name);
      }
      var _ = leaving(() -> !waitsForMore(call.get()));
    }
    if (call.isEmpty() && mode == Mode.ENDED) {
      throw drive.differs(position, "end of the branch", kind + " \"" + name + "\"");
    }
    return call;
  }

  /** Whether a replay has a call before it that leads on though it is not over; leaves if not. */
  private boolean waitsForMore(FlowCall call) {
    return !(call instanceof FlowCall.Parallel || call instanceof FlowCall.Approval)
        && drive.replay().orElseThrow().waits(drive, call);
  }

  /** A replay makes a call that the log does not have. */
  private RuntimeException beyond(String position, String kind, String name) {
    return leaving(
        () -> {
          throw drive.replay().orElseThrow().beyond(drive, position, kind, name);
        });
  }

  /** Whether a branch that was stopped had come past a call. */
  private static boolean isPassed(FlowCall call) {
    return switch (call) {
      case FlowCall.Parallel inIt -> true;
      case FlowCall.Child child -> child.isOver() && !child.wasCancelled(); // that, to stop it
      default -> call.isOver();
    };
  }

  /** As it was when the branch, or the whole body, was stopped in this place. */
  private RuntimeException stoppedHere() {
    return leaving(
        () -> {
          throw drive.cutOff();
        });
  }

  /** What is not recorded does not begin any more once the run is to be cancelled. */
  void requireNotCancelled() {
    if (drive.isCancelled() || givenUp || Thread.currentThread().isInterrupted()) {
      leaving(
          () -> {
            if (givenUp) {
              throw Unwind.NOW;
            }
            throw drive.cutOff();
          });
    }
  }

  /** What began was left out of the log if somebody asked to cancel the run before. */
  void requireRecorded(String position) {
    if (drive.log.journal().at(position).isEmpty()) {
      told = true;
      throw drive.runCancelled();
    }
  }

  private void requireOver(String position) {
    if (drive.log.journal().at(position).filter(FlowCall::isOver).isEmpty()) {
      told = true;
      throw drive.runCancelled();
    }
  }

  /** Notes that the body is being left, if it is. */
  private <T extends @Nullable Object> T leaving(Supplier<T> work) {
    try {
      return work.get();
    } catch (Unwind unwind) {
      left = true;
      throw unwind;
    } catch (OperationCancelledException cancelled) {
      told = true;
      throw cancelled;
    }
  }
}
