package dev.warpwright.flow;

import dev.warpwright.flow.FlowTelemetry.Event;
import dev.warpwright.flow.FlowTelemetry.FlowFinish;
import dev.warpwright.flow.FlowTelemetry.FlowStart;
import dev.warpwright.flow.FlowTelemetry.Resumed;
import dev.warpwright.flow.FlowTelemetry.StepEnd;
import dev.warpwright.flow.FlowTelemetry.StepFinish;
import dev.warpwright.flow.FlowTelemetry.StepStart;
import dev.warpwright.flow.FlowTelemetry.Suspended;
import dev.warpwright.run.FlowCall;
import dev.warpwright.run.FlowEvent.FlowStepFinished;
import dev.warpwright.run.FlowEvent.FlowStepStarted;
import dev.warpwright.run.FlowEvent.StepRetryScheduled;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.RunEvent.RunCancelled;
import dev.warpwright.run.RunEvent.RunCompleted;
import dev.warpwright.run.RunEvent.RunFailed;
import dev.warpwright.run.RunEvent.RunResumed;
import dev.warpwright.run.RunEvent.RunSuspended;
import dev.warpwright.run.RunEvent.RunTimedOut;
import dev.warpwright.run.RunEvent.ToolReconciled;
import dev.warpwright.run.RunEvent.ToolReconciled.Verdict;
import dev.warpwright.run.RunLog;
import dev.warpwright.run.RunState;
import dev.warpwright.run.RunStatus;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.TaskScope;
import dev.warpwright.task.TaskTree;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayDeque;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Tells an observer what one drive of a flow does: reads off the log what the drive has appended
 * since it looked last. The reading is done by whoever writes the log; the calls are made one after
 * the other by a task for which nobody waits, and without calls there is no thread.
 */
final class FlowShow {
  private static final int MAX_WAITING = 256;
  private static final Duration MAX_CALL = Duration.ofSeconds(1);

  /** Its calls are bounded one by one. */
  private static final Duration UNBOUNDED = ChronoUnit.FOREVER.getDuration();

  private final Optional<FlowObserver> observer;
  private final TaskTree tasks;
  private final ReentrantLock lock = new ReentrantLock();
  private final Queue<FlowTelemetry> waiting = new ArrayDeque<>(); // guarded by lock
  private boolean telling; // guarded by lock

  /** Up to which event it has looked. Used by whoever writes the log. */
  private long seen;

  FlowShow(Optional<FlowObserver> observer, TaskTree tasks) {
    this.observer = observer;
    this.tasks = tasks;
  }

  /** Called with the log as it was found, or created. */
  void begins(RunLog log) {
    seen = log.state().sequence();
    if (seen == 1) {
      tell(log.state(), tasks.time().now(), new FlowStart());
    }
  }

  /** Tells what this drive has written since the last time. */
  void look(RunLog log) {
    if (observer.isEmpty()) {
      return;
    }
    for (LoggedEvent logged : log.since(seen)) {
      seen = logged.sequence();
      if (logged.writer().isOwner()) {
        event(logged, log.state()).ifPresent(event -> tell(log.state(), logged.time(), event));
      }
    }
  }

  /** A step begins that has no intent in the log. Any thread. */
  void pureStepStarts(RunLog log, String position, String name, int attempt) {
    tell(log.state(), tasks.time().now(), new StepStart(position, name, attempt));
  }

  private static Optional<Event> event(LoggedEvent logged, RunState state) {
    return Optional.ofNullable(
        switch (logged.event()) {
          case FlowStepStarted begin ->
              new StepStart(begin.position(), begin.name(), begin.attempt());
          case StepRetryScheduled failed ->
              new StepFinish(
                  failed.position(),
                  failed.name(),
                  failed.attempt(),
                  StepEnd.TO_BE_RETRIED,
                  Duration.ZERO);
          case FlowStepFinished end ->
              new StepFinish(end.position(), end.name(), end.attempt(), end(end), end.duration());
          case ToolReconciled found when found.verdict() != Verdict.NOT_EXECUTED ->
              new StepFinish(
                  found.callId(),
                  name(found.callId(), state),
                  0,
                  found.verdict() == Verdict.SUCCEEDED ? StepEnd.SUCCEEDED : StepEnd.FAILED,
                  Duration.ZERO);
          case RunResumed resumed when logged.sequence() > 2 -> new Resumed(resumed.cause());
          case RunSuspended wait -> new Suspended(wait.reason(), wait.awaited().size());
          case RunCompleted end -> finish(RunStatus.COMPLETED);
          case RunCancelled end -> finish(RunStatus.CANCELLED);
          case RunTimedOut end -> finish(RunStatus.TIMED_OUT);
          case RunFailed end ->
              new FlowFinish(RunStatus.FAILED, Optional.of(end.kind()), end.resumable());
          default -> null;
        });
  }

  private static StepEnd end(FlowStepFinished end) {
    return end.value().isPresent()
        ? StepEnd.SUCCEEDED
        : end.error().isPresent() ? StepEnd.FAILED : StepEnd.CANCELLED;
  }

  private static String name(String position, RunState state) {
    return state.flow().flatMap(journal -> journal.at(position)).map(FlowCall::name).orElse("");
  }

  private static FlowFinish finish(RunStatus status) {
    return new FlowFinish(status, Optional.empty(), false);
  }

  private void tell(RunState state, Instant time, Event event) {
    if (observer.isEmpty()) {
      return;
    }
    FlowTelemetry telemetry =
        new FlowTelemetry(state.run(), state.started().agentId(), time, event);
    boolean begin;
    lock.lock();
    try {
      if (waiting.size() >= MAX_WAITING && !(event instanceof FlowFinish)) {
        return;
      }
      waiting.add(telemetry);
      begin = !telling;
      telling = true;
    } finally {
      lock.unlock();
    }
    if (begin && !tasks.detach("observer", "flow observer", UNBOUNDED, this::tellAll)) {
      giveUp();
    }
  }

  /** There is no thread now; the next event tries again. */
  private void giveUp() {
    lock.lock();
    try {
      telling = false;
    } finally {
      lock.unlock();
    }
  }

  private void tellAll() {
    try (TaskScope scope = tasks.open("observer", "calls")) {
      for (FlowTelemetry next = next(); next != null; next = next()) {
        FlowTelemetry telemetry = next;
        var _ = // what it throws is its own
            scope.call(
                "observer",
                "flow observer",
                Deadline.after(tasks.time(), MAX_CALL),
                () -> {
                  observer.orElseThrow().onTelemetry(telemetry);
                  return null;
                });
      }
    }
  }

  private @Nullable FlowTelemetry next() {
    lock.lock();
    try {
      FlowTelemetry next = waiting.poll();
      telling = next != null;
      return next;
    } finally {
      lock.unlock();
    }
  }
}
