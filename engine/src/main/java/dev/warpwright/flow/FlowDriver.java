package dev.warpwright.flow;

import dev.warpwright.agent.Invocation;
import dev.warpwright.drive.CancelWatch;
import dev.warpwright.effect.Effects;
import dev.warpwright.model.ConflictException;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.model.LimitExceededException;
import dev.warpwright.model.NonDeterminismException;
import dev.warpwright.model.OperationCancelledException;
import dev.warpwright.model.OperationTrace;
import dev.warpwright.model.Redaction;
import dev.warpwright.model.StepFailedException;
import dev.warpwright.model.WarpwrightException;
import dev.warpwright.run.FlowCall;
import dev.warpwright.run.Position;
import dev.warpwright.run.RunEvent;
import dev.warpwright.run.RunEvent.RunCompleted;
import dev.warpwright.run.RunEvent.RunFailed;
import dev.warpwright.run.RunEvent.RunStarted;
import dev.warpwright.run.RunEvent.RunSuspended;
import dev.warpwright.run.RunEvent.RunSuspended.Reason;
import dev.warpwright.run.RunEvent.RunTimedOut;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunLog;
import dev.warpwright.run.RunStatus;
import dev.warpwright.task.Cancellation;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.Outcome;
import dev.warpwright.task.TaskScope;
import dev.warpwright.task.TaskTree;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Drives one flow that this process owns: runs the body against the log until it ends or waits, and
 * writes down which.
 */
final class FlowDriver<I, O> {
  private final Flow<I, O> flow;
  private final RunLog log;
  private final FlowShow show;
  private final FlowLog shared;
  private final FlowDrive drive;
  private final Flows flows;
  private final Invocation invocation;
  private final TaskTree tasks;
  private final Deadline deadline; // of the invocation
  private final FlowTimeout timeout; // of the run
  private final CancelWatch cancel;
  private final Optional<FlowReplay> replay;
  private final FlowContext.Mode mode;
  private @Nullable FlowContext context; // set by the body's thread, read when that has ended

  FlowDriver(
      Flow<I, O> flow,
      RunLog log,
      FlowShow show,
      Flows flows,
      Invocation invocation,
      Deadline deadline,
      CancelWatch cancel) {
    this(
        flow,
        log,
        show,
        new FlowTimeout(log.state(), flows.tasks().time()),
        flows,
        invocation,
        deadline,
        cancel,
        Optional.empty());
  }

  /** One that does nothing but compare. */
  FlowDriver(Flow<I, O> flow, RunLog log, Flows flows, CancelWatch cancel, FlowReplay replay) {
    this(
        flow,
        log,
        new FlowShow(Optional.empty(), flows.tasks()),
        FlowTimeout.none(),
        flows,
        Invocation.DEFAULT,
        Deadline.never(),
        cancel,
        Optional.of(replay));
  }

  private FlowDriver(
      Flow<I, O> flow,
      RunLog log,
      FlowShow show,
      FlowTimeout timeout,
      Flows flows,
      Invocation invocation,
      Deadline deadline,
      CancelWatch cancel,
      Optional<FlowReplay> replay) {
    this.replay = replay;
    this.mode = replay.isPresent() ? FlowContext.Mode.RECORDED : FlowContext.Mode.LIVE;
    this.flow = flow;
    this.log = log;
    this.show = show;
    this.shared = new FlowLog(log, show);
    this.flows = flows;
    this.invocation = invocation;
    this.tasks = flows.tasks();
    this.deadline = deadline;
    this.cancel = cancel;
    this.timeout = timeout;
    this.drive = drive(shared, deadline.earlier(timeout.deadline()), false);
  }

  /**
   * Drives until the run ends or waits.
   *
   * @throws NonDeterminismException if the code does not fit the log; nothing was written
   * @throws OperationCancelledException if the invocation was cancelled; the run can be resumed
   * @throws ConflictException if somebody else owns the run now
   */
  void drive() {
    if (log.state().status() == RunStatus.RUNNING && timeout.hasPassed()) {
      timeOut();
      return;
    }
    Outcome<Json> outcome = runBody();
    shared.close();
    requireWritable(shared);
    if (cancel.isLost()) {
      throw new ConflictException(
          "The driver of run %s lost its lease; another one goes on with it."
              .formatted(log.state().run()),
          null,
          OperationTrace.NONE.ofRun(drive.runId()));
    }
    drive
        .broken()
        .filter(broken -> !drive.isRunBroken())
        .ifPresent(
            broken -> {
              throw broken;
            });
    if (cancel.isRequested() && log.state().cancellation().isEmpty()) {
      log.refresh();
    }
    if (cancel.isHandedBack() && !isThrough(outcome)) {
      throw new OperationCancelledException(
          "The run " + log.state().run() + " was handed back; another driver goes on with it.",
          null,
          OperationTrace.NONE.ofRun(drive.runId()));
    }
    if (log.state().status() == RunStatus.CANCEL_REQUESTED) {
      endCancel();
    } else {
      conclude(outcome);
    }
  }

  /** Throws what made the log unusable, if it is. */
  private static void requireWritable(FlowLog used) {
    switch (used.failure().orElse(null)) {
      case null -> {}
      case RuntimeException e -> throw e;
      case Error e -> throw e;
      case Throwable impossible -> throw new IllegalStateException(impossible);
    }
  }

  /** Whether the body has returned without having been told to leave. */
  private boolean isThrough(Outcome<Json> outcome) {
    return outcome instanceof Outcome.Success && !hasLeft();
  }

  private boolean hasLeft() {
    return context != null && context.hasLeft();
  }

  private Outcome<Json> runBody() {
    try (TaskScope scope = tasks.open("flow", "flow " + flow.id(), drive.deadline());
        Cancellation.Registration _ =
            cancel
                .handle()
                .onCancel(
                    reason -> {
                      if (cancel.isRequested()) {
                        drive.cancelAsked();
                      } else {
                        drive.ends();
                      }
                      scope.cancel(reason);
                    })) {
      drive.runsIn(scope);
      return scope.call("body", flow.id(), Deadline.never(), this::body);
    }
  }

  /** On the body's own thread. */
  private Json body() throws Exception {
    FlowContext own = FlowContext.ofBody(drive, new ArrayDeque<>(), mode);
    context = own;
    I input = input();
    return flow.output().write(Effects.forbidden(() -> flow.body().run(own, input)));
  }

  private I input() {
    try {
      return flow.input().read(log.state().started().input().orElseThrow());
    } catch (InvalidRequestException e) {
      throw drive.differs(
          "0", "input", "input of a type that cannot read it (" + e.getMessage() + ")");
    }
  }

  /** Writes down how the body was left. */
  private void conclude(Outcome<Json> outcome) {
    Optional<WarpwrightException> broken = drive.broken();
    switch (outcome) {
      case Outcome.Success<Json> hidden when broken.isPresent() -> failed(broken.get());
      case Outcome.Failure<Json> hidden when broken.isPresent() -> failed(broken.get());
      case Outcome.Failure<Json>(Unwind unwind) -> left();
      case Outcome.Failure<Json> wrapped when hasLeft() -> left();
      case Outcome.Success<Json> swallowed when hasLeft() -> left();
      case Outcome.Success<Json>(Json value) -> {
        requireAllReached();
        complete(value);
      }
      case Outcome.Failure<Json>(Throwable thrown) -> failed(thrown);
      case Outcome.TimedOut<Json> late -> deadlinePassed();
      case Outcome.Cancelled<Json> stopped -> cutOff(stopped.reason());
    }
  }

  /** The body was left: the run waits, or the drive was cut off. */
  private void left() {
    List<FlowDrive.Wait> waits = drive.waits();
    Optional<RunStarted> continuation = drive.continuation();
    if (continuation.isPresent() && !drive.isOver()) {
      continueAs(continuation.get());
      return;
    }
    if (drive.isOver() || waits.isEmpty()) {
      if (drive.deadline().hasPassed()) {
        deadlinePassed();
        return;
      }
      cutOff(cancel.handle().reason().orElse("it was interrupted"));
      return;
    }
    Reason reason =
        waits.stream()
            .map(FlowDrive.Wait::reason)
            .min(Comparator.comparingInt(FlowDriver::rank))
            .get();
    List<String> awaited =
        waits.stream()
            .filter(wait -> wait.reason() == reason)
            .map(FlowDrive.Wait::what)
            .distinct()
            .sorted()
            .toList();
    Nesting nesting = new Nesting(shared.journal());
    List<RunEvent> events = new ArrayList<>(log.endOfChildren(nesting::isStoppedForGood));
    events.add(new RunSuspended(reason, awaited, Optional.empty()));
    write(events);
  }

  private void continueAs(RunStarted started) {
    requireAllReached();
    if (!log.state().needingVerdicts().isEmpty()) {
      awaitVerdicts();
      return;
    }
    RunKey run = continuation().queue(started, flows.access());
    endForGood(RunCompleted.continuedAs(run.runId()));
  }

  private Continuation continuation() {
    return new Continuation(log.state(), flows.store(), tasks.time(), deadline);
  }

  private void deadlinePassed() {
    if (timeout.hasPassed()) {
      timeOut();
    } else {
      end(failure(FailureKind.DEADLINE, "The deadline of the invocation passed.", null));
    }
  }

  private void timeOut() {
    RunEvent end = timeout.end();
    if (end instanceof RunTimedOut) {
      if (replay.isEmpty()) {
        continuation().cancel();
      }
      endForGood(end);
    } else {
      write(List.of(end));
    }
  }

  /** What a person has to do comes first. */
  private static int rank(Reason reason) {
    return switch (reason) {
      case RECONCILIATION -> 0;
      case APPROVAL -> 1;
      case CHILD -> 2;
      case SIGNAL -> 3;
      case TIMER -> 4;
    };
  }

  private void failed(Throwable thrown) {
    if (thrown instanceof Error error) {
      end(failure(FailureKind.INTERNAL, "Unexpected " + error.getClass().getName() + ".", null));
      throw error;
    }
    if (drive.broken().isEmpty()) {
      requireAllReached();
    }
    String position =
        thrown instanceof StepFailedException step
                && new Nesting(shared.journal()).isLast(step.position())
            ? step.position()
            : null;
    FailureKind kind =
        thrown instanceof WarpwrightException known ? known.kind() : FailureKind.INTERNAL;
    String message =
        thrown instanceof WarpwrightException
            ? String.valueOf(thrown.getMessage())
            : "The flow threw " + thrown.getClass().getName() + ".";
    RunFailed failure = failure(kind, message, position);
    if (failure.resumable()) {
      end(failure);
    } else {
      endForGood(failure);
    }
  }

  private void requireAllReached() {
    for (FlowCall call : drive.notReached()) {
      throw drive.notReached(call);
    }
  }

  private void complete(Json value) {
    try {
      endForGood(new RunCompleted(value));
    } catch (LimitExceededException tooLarge) {
      end(failure(FailureKind.LIMIT, String.valueOf(tooLarge.getMessage()), null));
    }
  }

  private void cutOff(String reason) {
    end(
        failure(
            FailureKind.CANCELLED,
            "The invocation was cancelled: " + Redaction.redact(reason),
            null));
    throw new OperationCancelledException(
        "The invocation was cancelled (" + reason + "); the run can be resumed.",
        null,
        OperationTrace.NONE.ofRun(drive.runId()));
  }

  private static RunFailed failure(FailureKind kind, String message, @Nullable String position) {
    boolean resumable =
        switch (kind) {
          case INVALID_REQUEST, INVALID_CONFIGURATION, INVALID_SCOPE, INVALID_HISTORY ->
              position != null;
          default -> true;
        };
    return new RunFailed(kind, message, resumable, 0, List.of(), Optional.ofNullable(position));
  }

  /** Ends the run, and before it the child runs that are under way. */
  private void endForGood(RunEvent end) {
    List<RunEvent> ended = log.endOfChildren();
    if (!ended.isEmpty()) {
      log.append(ended);
    }
    end(end);
  }

  /** Ends the run or, while a step needs a verdict, records that it would have ended. */
  private void end(RunEvent end) {
    if (log.state().needingVerdicts().isEmpty()) {
      write(List.of(end));
    } else {
      write(
          List.of(
              new RunSuspended(
                  Reason.RECONCILIATION,
                  log.state().needingVerdicts(),
                  end instanceof RunFailed failure ? Optional.of(failure) : Optional.empty(),
                  end instanceof RunTimedOut late ? Optional.of(late) : Optional.empty())));
    }
  }

  private void awaitVerdicts() {
    write(
        List.of(
            new RunSuspended(
                Reason.RECONCILIATION, log.state().needingVerdicts(), Optional.empty())));
  }

  private void write(List<RunEvent> events) {
    log.append(events);
    if (log.state().status() == RunStatus.CANCEL_REQUESTED) {
      endCancel();
    }
  }

  /**
   * Takes back what was registered for a cancel, each as a step, and ends the run. What that is
   * follows from the log alone, by one more replay: how far branches came at the same time must not
   * matter, since the next process has to find the same if this one dies.
   */
  private void endCancel() {
    FlowLog writer = new FlowLog(log, show);
    FlowDrive again = drive(writer, deadline, false);
    FlowDrive undoing = drive(writer, deadline, true);
    try (TaskScope scope = tasks.open("cancel", "cancel of " + drive.runId(), deadline)) {
      again.runsIn(scope);
      undoing.runsIn(scope);
      Outcome<@Nullable Void> outcome =
          scope.call("cancel", flow.id(), Deadline.never(), () -> undo(again, undoing));
      writer.close();
      requireWritable(writer);
      again
          .broken()
          .or(undoing::broken)
          .ifPresent(
              broken -> {
                throw broken;
              });
      if (outcome instanceof Outcome.Failure(Error error) && !(error instanceof Unwind)) {
        throw error;
      }
      if (!undoing.isOver()) { // else the next driver goes on with it
        continuation().cancel();
        log.append(log.endOfCancel(List.of()));
      }
    }
  }

  private FlowDrive drive(FlowLog writer, Deadline until, boolean undoing) {
    FlowDrive made = new FlowDrive(writer, flow, flows, invocation, log.state(), until, undoing);
    replay.ifPresent(made::replaying);
    return made;
  }

  private @Nullable Void undo(FlowDrive again, FlowDrive undoing) {
    List<FlowContext.Undo> registered = registered(again);
    if (again.broken().isPresent()) {
      return null;
    }
    FlowContext context = FlowContext.ofCancel(undoing, mode);
    for (FlowContext.Undo next : registered) {
      try {
        context.run(next.name(), next.action());
      } catch (StepFailedException recorded) {
        // its failure is in the log; the others are taken back all the same
      }
    }
    return null;
  }

  /** Last first; of branches, by their positions. */
  private List<FlowContext.Undo> registered(FlowDrive again) {
    Deque<FlowContext.Undo> found = new ArrayDeque<>();
    try {
      I input = input();
      FlowContext context = FlowContext.ofBody(again, found, FlowContext.Mode.STOPPED);
      var _ = Effects.forbidden(() -> flow.body().run(context, input));
    } catch (Unwind end) {
      // where the log ends
    } catch (Exception cancelled) {
      // what the body makes of the cancel; that was seen before
    }
    synchronized (found) { // branches have ended, or were left behind
      return found.stream()
          .sorted((one, other) -> Position.compare(other.after(), one.after()))
          .toList();
    }
  }
}
