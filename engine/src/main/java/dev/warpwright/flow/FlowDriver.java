package dev.warpwright.flow;

import dev.warpwright.agent.Invocation;
import dev.warpwright.drive.CancelWatch;
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
import dev.warpwright.run.RunEvent.RunSuspended;
import dev.warpwright.run.RunEvent.RunSuspended.Reason;
import dev.warpwright.run.RunLog;
import dev.warpwright.run.RunStatus;
import dev.warpwright.task.Cancellation;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.Outcome;
import dev.warpwright.task.TaskScope;
import dev.warpwright.task.TaskTree;
import java.util.ArrayDeque;
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
  private final FlowLog shared;
  private final FlowDrive drive;
  private final Flows flows;
  private final Invocation invocation;
  private final TaskTree tasks;
  private final Deadline deadline;
  private final CancelWatch cancel;
  private final Optional<FlowReplay> replay;
  private final FlowContext.Mode mode;
  private @Nullable FlowContext context; // set by the body's thread, read when that has ended

  FlowDriver(
      Flow<I, O> flow,
      RunLog log,
      Flows flows,
      Invocation invocation,
      Deadline deadline,
      CancelWatch cancel) {
    this(flow, log, flows, invocation, deadline, cancel, Optional.empty());
  }

  /** One that does nothing but compare. */
  FlowDriver(Flow<I, O> flow, RunLog log, Flows flows, CancelWatch cancel, FlowReplay replay) {
    this(flow, log, flows, Invocation.DEFAULT, Deadline.never(), cancel, Optional.of(replay));
  }

  private FlowDriver(
      Flow<I, O> flow,
      RunLog log,
      Flows flows,
      Invocation invocation,
      Deadline deadline,
      CancelWatch cancel,
      Optional<FlowReplay> replay) {
    this.replay = replay;
    this.mode = replay.isPresent() ? FlowContext.Mode.RECORDED : FlowContext.Mode.LIVE;
    this.flow = flow;
    this.log = log;
    this.shared = new FlowLog(log);
    this.flows = flows;
    this.invocation = invocation;
    this.tasks = flows.tasks();
    this.deadline = deadline;
    this.cancel = cancel;
    this.drive = drive(shared, false);
  }

  /**
   * Drives until the run ends or waits.
   *
   * @throws NonDeterminismException if the code does not fit the log; nothing was written
   * @throws OperationCancelledException if the invocation was cancelled; the run can be resumed
   * @throws ConflictException if somebody else owns the run now
   */
  void drive() {
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
        .filter(broken -> !drive.isSwallowed())
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
    try (TaskScope scope = tasks.open("flow", "flow " + flow.id(), deadline);
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
    return flow.output().write(flow.body().run(own, input()));
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
      case Outcome.TimedOut<Json> late ->
          end(failure(FailureKind.DEADLINE, "The deadline of the invocation passed.", null));
      case Outcome.Cancelled<Json> stopped -> cutOff(stopped.reason());
    }
  }

  /** The body was left: the run waits, or the drive was cut off. */
  private void left() {
    List<FlowDrive.Wait> waits = drive.waits();
    if (drive.isOver() || waits.isEmpty()) {
      if (drive.deadline().hasPassed()) {
        end(failure(FailureKind.DEADLINE, "The deadline of the invocation passed.", null));
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
    log.append(new RunSuspended(reason, awaited, Optional.empty()));
    if (log.state().status() == RunStatus.CANCEL_REQUESTED) {
      endCancel();
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
        thrown instanceof StepFailedException step && isLast(step.position())
            ? step.position()
            : null;
    FailureKind kind =
        thrown instanceof WarpwrightException known ? known.kind() : FailureKind.INTERNAL;
    String message =
        thrown instanceof WarpwrightException
            ? String.valueOf(thrown.getMessage())
            : "The flow threw " + thrown.getClass().getName() + ".";
    end(failure(kind, message, position));
  }

  /**
   * Whether nothing was called after a step and the parallels around it: else the body has dealt
   * with its failure, and making it again would lead another way than the log goes.
   */
  private boolean isLast(String position) {
    String at = position;
    while (true) {
      int cut = at.lastIndexOf('/');
      String path = at.substring(0, cut + 1);
      int next = Integer.parseInt(at.substring(cut + 1)) + 1;
      if (shared.journal().at(path + next).isPresent()) {
        return false;
      }
      if (cut < 0) {
        return true;
      }
      at = at.substring(0, at.lastIndexOf('/', cut - 1)); // the parallel around it
    }
  }

  private void requireAllReached() {
    for (FlowCall call : drive.notReached()) {
      throw drive.notReached(call);
    }
  }

  private void complete(Json value) {
    try {
      end(new RunCompleted(value));
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

  /** Ends the run or, while a step needs a verdict, records that it would have ended. */
  private void end(RunEvent end) {
    List<String> doubtful = log.state().needingVerdicts();
    log.append(
        doubtful.isEmpty()
            ? end
            : new RunSuspended(
                Reason.RECONCILIATION,
                doubtful,
                end instanceof RunFailed failure ? Optional.of(failure) : Optional.empty()));
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
    FlowLog writer = new FlowLog(log);
    FlowDrive again = drive(writer, false);
    FlowDrive undoing = drive(writer, true);
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
        log.append(log.endOfCancel(List.of()));
      }
    }
  }

  private FlowDrive drive(FlowLog writer, boolean undoing) {
    FlowDrive made = new FlowDrive(writer, flow, flows, invocation, log.state(), deadline, undoing);
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
      var _ = flow.body().run(FlowContext.ofBody(again, found, FlowContext.Mode.STOPPED), input());
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
