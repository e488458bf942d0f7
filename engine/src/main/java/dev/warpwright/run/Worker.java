package dev.warpwright.run;

import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.TaskScope;
import dev.warpwright.task.TaskTree;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;

/**
 * Drives whatever is due in a store: queued runs, runs whose process died, runs whose approval was
 * decided or has expired. Any number of processes may have a worker on the same database; each run
 * is driven by one of them at a time.
 *
 * {@snippet :
 * try (Worker worker = Worker.builder(store).drives(agents.driver(triage)).start()) {
 *   shutdown.await(); // the runs go on meanwhile
 * }
 * }
 *
 * <p>It looks for due runs when it has started, when a run slot gets free and more was due, when
 * the next known one becomes due, and else every {@link Builder#pollInterval}. While the store
 * fails it waits longer and longer, up to 30 s, and goes on. A run that cannot be driven, as when
 * it is bound to another agent, is handed back with its problem after such a wait, and is
 * quarantined when that happens {@value RunStore#MAX_CLAIMS} times in a row.
 *
 * <p>It announces to the store what it drives; a store holds one such announcement, so a program
 * gives all its drivers to one worker. It closes neither the store nor anything else: whoever made
 * them does so after the worker. Thread-safe.
 */
public final class Worker implements AutoCloseable {
  private static final Duration DEFAULT_PATIENCE = Duration.ofSeconds(10);
  private static final Duration FOREVER = Duration.ofSeconds(Long.MAX_VALUE);

  private final TaskTree tree;
  private final WorkerLoop loop;
  private final CountDownLatch left = new CountDownLatch(1);

  /** Who waits for it to be idle. */
  private final Set<TaskScope> waiters = ConcurrentHashMap.newKeySet();

  private Worker(Builder builder, Map<String, RunDriver> drivers) {
    this.tree = Objects.requireNonNullElseGet(builder.tasks, () -> TaskTree.builder().build());
    this.loop =
        new WorkerLoop(
            builder.store,
            drivers,
            builder.maxRuns,
            builder.pollInterval,
            tree,
            () -> waiters.forEach(TaskScope::wake));
  }

  /**
   * Begins a worker.
   *
   * @param store where the runs are
   * @return a builder
   */
  public static Builder builder(RunStore store) {
    return new Builder(store);
  }

  /** Collects the options of a worker; not thread-safe. */
  public static final class Builder {
    private static final int MAX_RUNS = 10_000;
    private static final Duration MIN_POLL = Duration.ofSeconds(1);
    private static final Duration MAX_POLL = Duration.ofHours(1);

    private final RunStore store;
    private final Map<String, RunDriver> drivers = new HashMap<>();
    private int maxRuns = 64;
    private Duration pollInterval = MIN_POLL;
    private @Nullable TaskTree tasks;

    private Builder(RunStore store) {
      this.store = Objects.requireNonNull(store, "store");
    }

    /**
     * Adds what it drives runs with.
     *
     * @param drivers at least one before {@link #start}
     * @return this builder
     * @throws InvalidRequestException if two drive runs of the same agent
     */
    public Builder drives(RunDriver... drivers) {
      for (RunDriver driver : drivers) {
        for (String id : driver.drives()) {
          if (this.drivers.putIfAbsent(id, driver) != null) {
            throw invalid("Two drivers of a worker drive runs of \"" + id + "\".");
          }
        }
      }
      return this;
    }

    /**
     * Limits how many runs it drives at the same time.
     *
     * @param runs 1 to 10 000; 64 by default
     * @return this builder
     */
    public Builder maxRuns(int runs) {
      if (runs < 1 || runs > MAX_RUNS) {
        throw invalid("maxRuns must be between 1 and %d, but is %d.".formatted(MAX_RUNS, runs));
      }
      this.maxRuns = runs;
      return this;
    }

    /**
     * Sets after which time without a sign of something due it looks again. So long may a run wait
     * that another process has queued or left.
     *
     * @param interval 1 s to 1 h; 1 s by default
     * @return this builder
     */
    public Builder pollInterval(Duration interval) {
      if (interval.compareTo(MIN_POLL) < 0 || interval.compareTo(MAX_POLL) > 0) {
        throw invalid(
            "pollInterval must be between %d s and %d s, but is %s."
                .formatted(MIN_POLL.toSeconds(), MAX_POLL.toSeconds(), interval));
      }
      this.pollInterval = interval;
      return this;
    }

    /**
     * Sets the tree of tasks that the runs are part of, and whose clocks the worker goes by.
     *
     * @param tasks a tree of its own by default; that of a gateway shows the worker in the
     *     gateway's diagnostics
     * @return this builder
     */
    public Builder tasks(TaskTree tasks) {
      this.tasks = Objects.requireNonNull(tasks, "tasks");
      return this;
    }

    /**
     * Starts the worker, on a thread of its own. It looks for runs at once; a store that fails is
     * tried again.
     *
     * @return the worker; whoever starts it stops or closes it
     * @throws InvalidRequestException if it has no driver
     */
    public Worker start() {
      if (drivers.isEmpty()) {
        throw invalid("A worker needs a driver; give it one with drives(...).");
      }
      Worker worker = new Worker(this, Map.copyOf(drivers));
      if (!worker.tree.detach("worker", "worker", FOREVER, worker::work)) {
        throw new IllegalStateException("The system has no thread for the worker.");
      }
      return worker;
    }

    private static InvalidRequestException invalid(String message) {
      return new InvalidRequestException(FailureKind.INVALID_CONFIGURATION, message);
    }
  }

  private void work() {
    try {
      loop.run();
    } finally {
      left.countDown();
      waiters.forEach(TaskScope::wake);
    }
  }

  /**
   * How it stands.
   *
   * @return its numbers at one moment
   */
  public WorkerStatus status() {
    return loop.status();
  }

  /**
   * Waits until there is nothing to do: it has looked in the store after this was called, found
   * nothing due, and drives nothing. For batch jobs. Runs that wait, for a decision or for a time,
   * do not count, and neither do those that other workers drive.
   *
   * @param timeout how long to wait at most
   * @return true if it was idle; false if the time passed or the worker stopped first, or the
   *     thread was interrupted, whose interrupt status is then set
   */
  public boolean awaitIdle(Duration timeout) {
    Deadline until = Deadline.after(tree.time(), timeout);
    try (TaskScope waiting = tree.open("await", "until the worker is idle", until)) {
      waiters.add(waiting);
      try {
        long ticket = loop.askIfIdle();
        return waiting.await(() -> loop.wasIdle(ticket) || left.getCount() == 0, until)
            && loop.wasIdle(ticket);
      } finally {
        waiters.remove(waiting);
      }
    }
  }

  /**
   * Stops it: takes up nothing more, lets the runs end or come to a wait, and hands back what has
   * not by then, unfinished but not failed: another worker goes on with it at once, and what was
   * paid for is kept. Returns when no run is driven any more. Of several stops the shortest
   * patience counts; on a stopped worker this does nothing.
   *
   * <p>An interrupt of the calling thread ends the patience and stays set.
   *
   * @param patience how long the runs get; not negative
   * @return whether all runs came to their end or a wait, and none was handed back
   */
  public boolean stop(Duration patience) {
    if (patience.isNegative()) {
      throw new InvalidRequestException(
          FailureKind.INVALID_REQUEST, "patience must not be negative, but is " + patience + ".");
    }
    loop.stop(Deadline.after(tree.time(), patience));
    boolean interrupted = false;
    while (true) {
      try {
        left.await();
        break;
      } catch (InterruptedException e) {
        interrupted = true;
        loop.stop(Deadline.after(tree.time(), Duration.ZERO)); // and that is soon over
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    return loop.hasEndedAll();
  }

  /** Stops it as {@link #stop} does, with ten seconds of patience. */
  @Override
  public void close() {
    var _ = stop(DEFAULT_PATIENCE);
  }

  /** Shows how it stands. */
  @Override
  public String toString() {
    return "Worker[" + status() + "]";
  }
}
