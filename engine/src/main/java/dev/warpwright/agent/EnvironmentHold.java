package dev.warpwright.agent;

import dev.warpwright.Operation;
import dev.warpwright.agent.HookFailure.Hook;
import dev.warpwright.model.ConflictException;
import dev.warpwright.model.HookFailedException;
import dev.warpwright.model.WarpwrightException;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunStatus;
import dev.warpwright.task.Outcome;
import dev.warpwright.task.TaskTree;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The environment of one invocation: acquired before its run is driven, released when that is over,
 * also if it comes so late that nobody waits for it any more.
 */
final class EnvironmentHold implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final Agent agent;
  private final Hooks hooks;
  private final TaskTree tasks;
  private final ReentrantLock lock = new ReentrantLock();
  private ExecutionEnvironment.@Nullable Handle handle; // guarded by lock
  private boolean closed; // guarded by lock

  EnvironmentHold(Agent agent, Hooks hooks, TaskTree tasks) {
    this.agent = agent;
    this.hooks = hooks;
    this.tasks = tasks;
  }

  /**
   * Acquires the environment, if the agent has one.
   *
   * @throws ConflictException if it is not the one that the agent's runs are bound to
   * @throws HookFailedException if it could not be acquired
   * @throws WarpwrightException if the operation has come to its end
   */
  void acquire(Operation operation, RunKey run, int step) {
    if (agent.environment().isEmpty()) {
      return;
    }
    ExecutionEnvironment environment = agent.environment().get();
    Outcome<String> outcome =
        operation.call("environment", "acquire environment", () -> keep(environment.acquire(run)));
    switch (outcome) {
      case Outcome.Success<String>(String found) -> requireBound(run, found, operation);
      case Outcome.Failure<String>(Throwable cause) -> {
        hooks.reports(Hook.ENVIRONMENT, cause);
        throw new HookFailedException(
            "The execution environment of agent \"%s\" could not be acquired: %s."
                .formatted(agent.id(), cause.getClass().getName()),
            cause,
            operation.trace());
      }
      default ->
          throw operation
              .end(step)
              .orElseThrow(
                  () -> new IllegalStateException("The environment ended without a reason."));
    }
  }

  private void requireBound(RunKey run, String found, Operation operation) {
    String bound = agent.binding().environment().orElseThrow();
    if (!found.equals(bound)) {
      throw new ConflictException(
          "Run %s is bound to the environment \"%s\", but \"%s\" was acquired."
              .formatted(run, bound, found),
          null,
          operation.trace());
    }
  }

  /** On the task's thread, perhaps when the invocation is over. */
  private String keep(ExecutionEnvironment.Handle acquired) {
    boolean late;
    lock.lock();
    try {
      late = closed;
      if (!late) {
        handle = acquired;
      }
    } finally {
      lock.unlock();
    }
    if (late) {
      release(acquired);
    }
    return acquired.fingerprint();
  }

  /** Releases what was acquired, and waits until that is done or its time is over. */
  @Override
  public void close() {
    ExecutionEnvironment.Handle acquired;
    lock.lock();
    try {
      closed = true;
      acquired = handle;
      handle = null;
    } finally {
      lock.unlock();
    }
    if (acquired != null) {
      CountDownLatch over = new CountDownLatch(1);
      Runnable release =
          () -> {
            try {
              release(acquired);
            } finally {
              over.countDown();
            }
          };
      if (tasks.detach("environment", "release environment", PATIENCE, release)) {
        await(over);
      } else {
        release.run();
      }
    }
  }

  private void release(ExecutionEnvironment.Handle acquired) {
    Optional<RunStatus> status = hooks.leftAs();
    try {
      acquired.release(status);
    } catch (Throwable e) { // whatever it is, it must not keep the run
      hooks.reports(Hook.ENVIRONMENT, e);
    }
  }

  /**
   * However the caller is interrupted: who drives the run next must not meet the old environment.
   */
  private void await(CountDownLatch over) {
    var alarm = tasks.time().alarm(tasks.time().nanoTime() + PATIENCE.toNanos(), over::countDown);
    boolean interrupted = false;
    while (true) {
      try {
        over.await();
        break;
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    var _ = alarm.cancel();
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
