package dev.warpwright.flow;

import dev.warpwright.agent.Invocation;
import dev.warpwright.drive.CancelWatch;
import dev.warpwright.model.ConflictException;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.Json;
import dev.warpwright.model.NonDeterminismException;
import dev.warpwright.model.OperationCancelledException;
import dev.warpwright.model.OperationTrace;
import dev.warpwright.model.Redaction;
import dev.warpwright.model.StepFailedException;
import dev.warpwright.model.WarpwrightException;
import dev.warpwright.run.FlowCall;
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
  private final Deque<FlowContext.Undo> onCancel = new ArrayDeque<>();

  FlowDriver(
      Flow<I, O> flow,
      RunLog log,
      Flows flows,
      Invocation invocation,
      Deadline deadline,
      CancelWatch cancel) {
    this.flow = flow;
    this.log = log;
    this.shared = new FlowLog(log);
    this.flows = flows;
    this.invocation = invocation;
    this.tasks = flows.tasks();
    this.deadline = deadline;
    this.cancel = cancel;
    this.drive = new FlowDrive(shared, flow, flows, invocation, log.state(), deadline);
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
    if (log.hasFailed()) {
      throw cause(outcome).orElseGet(() -> new IllegalStateException("The log failed."));
    }
    if (cancel.isLost()) {
      throw new ConflictException(
          "The driver of run %s lost its lease; another one goes on with it."
              .formatted(log.state().run()),
          null,
          OperationTrace.NONE.ofRun(drive.runId()));
    }
    if (cancel.isRequested() && log.state().cancellation().isEmpty()) {
      log.refresh();
    }
    if (log.state().status() == RunStatus.CANCEL_REQUESTED) {
      endCancel();
      return;
    }
    if (cancel.isHandedBack()) {
      throw new OperationCancelledException(
          "The run " + log.state().run() + " was handed back; another driver goes on with it.",
          null,
          OperationTrace.NONE.ofRun(drive.runId()));
    }
    drive
        .broken()
        .filter(NonDeterminismException.class::isInstance)
        .ifPresent(
            broken -> {
              throw broken;
            });
    conclude(outcome);
  }

  private Outcome<Json> runBody() {
    try (TaskScope scope = tasks.open("flow", "flow " + flow.id(), deadline);
        Cancellation.Registration _ =
            cancel
                .handle()
                .onCancel(
                    reason -> {
                      if (!cancel.isRequested()) {
                        drive.ends();
                      }
                      scope.cancel(reason);
                    })) {
      return scope.call("body", flow.id(), Deadline.never(), this::body);
    }
  }

  /** On the body's own thread. */
  private Json body() throws Exception {
    I input = flow.input().read(log.state().started().input().orElseThrow());
    return flow.output().write(flow.body().run(FlowContext.ofBody(drive, onCancel), input));
  }

  private static Optional<RuntimeException> cause(Outcome<Json> outcome) {
    return outcome instanceof Outcome.Failure<Json>(RuntimeException failure)
        ? Optional.of(failure)
        : Optional.empty();
  }

  /** Writes down how the body was left. */
  private void conclude(Outcome<Json> outcome) {
    Optional<WarpwrightException> broken = drive.broken();
    switch (outcome) {
      case Outcome.Success<Json>(Json value) when broken.isEmpty() && drive.waits().isEmpty() -> {
        drive.notReached().stream()
            .findFirst()
            .ifPresent(
                call -> {
                  throw drive.notReached(call);
                });
        end(new RunCompleted(value));
      }
      case Outcome.Failure<Json>(Unwind unwind) when broken.isEmpty() -> left();
      case Outcome.Success<Json> swallowed when broken.isEmpty() -> left();
      case Outcome.Failure<Json>(Throwable thrown) ->
          failed(broken.<Throwable>map(e -> e).orElse(thrown));
      case Outcome.Success<Json> hidden -> failed(broken.orElseThrow());
      case Outcome.TimedOut<Json> late ->
          end(failure(FailureKind.DEADLINE, "The deadline of the invocation passed.", null));
      case Outcome.Cancelled<Json> stopped -> cutOff(stopped.reason());
    }
  }

  /** The body was left: the run waits, or the drive was cut off. */
  private void left() {
    List<FlowDrive.Wait> waits = drive.waits();
    if (drive.isOver() || waits.isEmpty()) {
      if (deadline.hasPassed()) {
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
    String position = thrown instanceof StepFailedException step ? step.position() : null;
    if (position == null) {
      for (FlowCall call : drive.notReached()) {
        throw drive.notReached(call);
      }
    }
    FailureKind kind =
        thrown instanceof WarpwrightException known ? known.kind() : FailureKind.INTERNAL;
    String message =
        thrown instanceof WarpwrightException
            ? String.valueOf(thrown.getMessage())
            : "The flow threw " + thrown.getClass().getName() + ".";
    end(failure(kind, message, position));
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

  /** Takes back what was registered for a cancel, each as a step, and ends the run. */
  private void endCancel() {
    FlowLog writer = new FlowLog(log);
    FlowDrive undoing = new FlowDrive(writer, flow, flows, invocation, log.state(), deadline);
    try (TaskScope scope = tasks.open("cancel", "cancel of " + drive.runId(), deadline)) {
      Outcome<@Nullable Void> outcome =
          scope.call("cancel", flow.id(), Deadline.never(), () -> undo(undoing));
      writer.close();
      if (log.hasFailed()) {
        throw outcome instanceof Outcome.Failure(RuntimeException failure)
            ? failure
            : new IllegalStateException("The log failed.");
      }
      if (outcome instanceof Outcome.Success || outcome instanceof Outcome.Failure) {
        log.append(log.endOfCancel(List.of()));
      }
    }
  }

  private @Nullable Void undo(FlowDrive undoing) {
    FlowContext context = FlowContext.ofCancel(undoing);
    while (!onCancel.isEmpty()) {
      FlowContext.Undo next = onCancel.pop();
      try {
        context.run(next.name(), next.action());
      } catch (StepFailedException recorded) {
        // its failure is in the log; the others are taken back all the same
      }
    }
    return null;
  }
}
