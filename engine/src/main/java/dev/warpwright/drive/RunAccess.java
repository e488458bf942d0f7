package dev.warpwright.drive;

import dev.warpwright.model.ConflictException;
import dev.warpwright.model.DeadlineExceededException;
import dev.warpwright.model.OperationCancelledException;
import dev.warpwright.model.OperationTrace;
import dev.warpwright.model.Redaction;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.NewRun;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunState;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.Writer;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.Outcome;
import dev.warpwright.task.TaskScope;
import dev.warpwright.task.TaskTree;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;

/**
 * How callers come to runs that others may drive: they queue them, or wait until nobody drives
 * them. Thread-safe.
 */
public final class RunAccess {
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final Writer QUEUER = Writer.outside("enqueue");

  private final RunStore store;
  private final TaskTree tasks;

  /**
   * Access to the runs of a store.
   *
   * @param store the store
   * @param tasks the tree that waits are part of
   */
  public RunAccess(RunStore store, TaskTree tasks) {
    this.store = store;
    this.tasks = tasks;
  }

  /**
   * Writes a run that nobody has begun; under a key that belongs to a run already, gives that.
   *
   * @param queued the run
   * @param requireSame refuses a run that was asked something else
   * @return the run that has the key now
   * @throws ConflictException if the run id exists
   */
  public RunKey enqueue(NewRun queued, Consumer<RunState> requireSame) {
    Deadline deadline = Deadline.after(tasks.time(), PATIENCE);
    List<LoggedEvent> log =
        List.of(new LoggedEvent(queued.run(), 1, QUEUER, queued.time(), queued.started()));
    try {
      store.adopt(log, RunState.of(log).standing(), deadline);
      return queued.run();
    } catch (ConflictException e) {
      RunKey taken =
          queued
              .started()
              .idempotencyKey()
              .flatMap(key -> store.find(queued.run().scope(), key, deadline))
              .orElseThrow(() -> e);
      requireSame.accept(RunState.of(store.load(taken, 1, deadline)));
      return taken;
    }
  }

  /**
   * Waits until nobody drives a run, in a task of whatever operation the caller is in, so that all
   * that ends it ends this.
   *
   * @param run the run
   * @param deadline until when
   * @param trace the operation so far, for what is thrown
   * @throws OperationCancelledException if the wait was cancelled; the run goes on
   * @throws DeadlineExceededException if the deadline passed first; the run goes on
   */
  public void awaitRelease(RunKey run, Deadline deadline, OperationTrace trace) {
    Outcome<Boolean> outcome;
    try (TaskScope waiting = tasks.open("attach", "attach to run " + run, deadline)) {
      outcome =
          waiting.call(
              "wait", "wait for release", deadline, () -> store.awaitRelease(run, deadline));
    }
    switch (outcome) {
      case Outcome.Success<Boolean>(Boolean released) when released -> {}
      case Outcome.Failure<Boolean>(Error error) -> throw error;
      case Outcome.Failure<Boolean>(RuntimeException failed) -> throw failed;
      case Outcome.Failure<Boolean>(Throwable cause) -> throw new IllegalStateException(cause);
      case Outcome.Cancelled<Boolean>(String reason, boolean abandoned) ->
          throw new OperationCancelledException(
              "The wait for run %s, which another caller drives, was cancelled (%s); the run goes on."
                  .formatted(run, Redaction.redact(reason)),
              null,
              trace.ofRun(run.runId()));
      case Outcome.Success<Boolean> late -> throw stillDriven(run, trace);
      case Outcome.TimedOut<Boolean> late -> throw stillDriven(run, trace);
    }
  }

  private static DeadlineExceededException stillDriven(RunKey run, OperationTrace trace) {
    return new DeadlineExceededException(
        "The deadline passed while run " + run + " was driven by another caller; it goes on.",
        null,
        trace.ofRun(run.runId()));
  }
}
