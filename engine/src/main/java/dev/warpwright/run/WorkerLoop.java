package dev.warpwright.run;

import dev.warpwright.model.OperationCancelledException;
import dev.warpwright.model.Redaction;
import dev.warpwright.model.WarpwrightException;
import dev.warpwright.task.Cancellation;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.Outcome;
import dev.warpwright.task.Task;
import dev.warpwright.task.TaskScope;
import dev.warpwright.task.TaskTree;
import dev.warpwright.task.TimeSource;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a worker's thread does: take up what is due while there are free slots, collect what has
 * ended, wait for whichever comes first; and at the end let the runs come to theirs, or hand them
 * back.
 *
 * <p>One thread decides everything. Others only leave something for it to see, a stop, a ticket of
 * who waits for idleness, the number of drives that are over, and wake it.
 */
final class WorkerLoop {
  private static final Logger LOG = LoggerFactory.getLogger(WorkerLoop.class);
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final Duration MAX_BACK_OFF = Duration.ofSeconds(30);
  private static final int MAX_DOUBLINGS = 5;
  private static final int MAX_PROBLEM = 500;

  /** What a driver gets to write down, after it was told to hand back, before it is given up. */
  private static final Duration LAST_WORDS = Duration.ofSeconds(10);

  private final RunStore store;
  private final Map<String, RunDriver> drivers;
  private final int maxRuns;
  private final Duration pollInterval;
  private final TaskTree tree;
  private final TimeSource time;
  private final Runnable onChange;

  private final Cancellation stopping = new Cancellation();
  private final Cancellation handBack = new Cancellation();
  private final AtomicReference<@Nullable Deadline> stopBy = new AtomicReference<>();
  private final AtomicLong tickets = new AtomicLong(); // of those who wait for idleness
  private final AtomicLong over = new AtomicLong(); // drives that have ended
  private final AtomicInteger failuresInARow = new AtomicInteger(); // of drives
  private volatile long idleTicket; // written by the worker's thread
  private volatile WorkerStatus status = WorkerStatus.NONE; // written by the worker's thread
  private volatile boolean gaveUp; // written by the worker's thread
  private volatile @Nullable TaskScope running; // written by the worker's thread

  // From here on: the worker's thread only.
  private final Map<Task<?>, DueRuns.Taken> inFlight = new HashMap<>();
  private long collected; // of those that are over
  private boolean announced;
  private boolean moreDue;
  private int storeFailures; // in a row
  private Deadline nextLook;

  /** How a drive ended. */
  private enum Ending {
    ENDED,
    HANDED_BACK,
    FAILED
  }

  WorkerLoop(
      RunStore store,
      Map<String, RunDriver> drivers,
      int maxRuns,
      Duration pollInterval,
      TaskTree tree,
      Runnable onChange) {
    this.store = store;
    this.drivers = drivers;
    this.maxRuns = maxRuns;
    this.pollInterval = pollInterval;
    this.tree = tree;
    this.time = tree.time();
    this.onChange = onChange;
    this.nextLook = Deadline.after(time, Duration.ZERO);
  }

  WorkerStatus status() {
    return status;
  }

  /** Whether, of a worker that has ended, every run came to its end or a wait. */
  boolean hasEndedAll() {
    return status.handedBack() == 0 && !gaveUp;
  }

  /** Asks to be told whether the worker is idle from now on. Any thread. */
  long askIfIdle() {
    long ticket = tickets.incrementAndGet();
    wake();
    return ticket;
  }

  /** Whether the worker was idle after the ticket was drawn. Any thread. */
  boolean wasIdle(long ticket) {
    return idleTicket >= ticket;
  }

  /** Stops the worker until a deadline, or the one it has if that is earlier. Any thread. */
  void stop(Deadline by) {
    stopBy.updateAndGet(now -> now == null ? by : now.earlier(by));
    stopping.cancel("the worker stops");
    wake();
  }

  private void wake() {
    TaskScope scope = running;
    if (scope != null) {
      scope.wake();
    }
  }

  void run() {
    try (TaskScope scope = tree.open("runs", "runs")) {
      running = scope;
      while (stopBy.get() == null && !scope.isCancelled()) {
        if (isTimeToLook()) {
          look(scope);
        }
        scope.await(this::hasNews, hasFreeSlot() ? nextLook : Deadline.never());
        collect(scope);
      }
      drain(scope);
    } finally {
      giveUpWhatStillRuns();
      announceNothing();
    }
  }

  private boolean hasFreeSlot() {
    return inFlight.size() < maxRuns;
  }

  private boolean hasNews() {
    return stopBy.get() != null
        || over.get() > collected
        || (hasFreeSlot() && isThereReasonToLook());
  }

  private boolean isTimeToLook() {
    return hasFreeSlot() && (nextLook.hasPassed() || isThereReasonToLook());
  }

  private boolean isThereReasonToLook() {
    return storeFailures == 0 && (moreDue || (inFlight.isEmpty() && tickets.get() > idleTicket));
  }

  private void look(TaskScope scope) {
    long ticket = tickets.get();
    int limit = maxRuns - inFlight.size();
    DueRuns due;
    try {
      if (!announced) {
        store.announce(drivers.keySet(), patience());
        announced = true;
      }
      due = store.acquireDue(drivers.keySet(), limit, patience());
    } catch (IllegalStateException closed) {
      LOG.error("The worker ends, as its store is closed.");
      stop(Deadline.after(time, Duration.ZERO));
      return;
    } catch (RuntimeException | Error e) { // whatever it was, it must not end the worker
      moreDue = false;
      storeFailures++;
      Duration pause = backOff(storeFailures);
      nextLook = Deadline.after(time, pause);
      LOG.warn("The worker could not look for due runs, and does so again in {}: {}", pause, of(e));
      return;
    }
    storeFailures = 0;
    due.taken().forEach(run -> begin(scope, run));
    moreDue = due.taken().size() == limit;
    nextLook =
        Deadline.after(
            time,
            due.next()
                .filter(Duration::isPositive)
                .filter(next -> next.compareTo(pollInterval) < 0)
                .orElse(pollInterval));
    if (inFlight.isEmpty()) {
      idleTicket = ticket;
      onChange.run();
    }
  }

  private void begin(TaskScope scope, DueRuns.Taken run) {
    status = status.plusTaken();
    Task<Ending> task =
        scope.fork("run", "run " + run.run(), Deadline.never(), () -> drive(scope, run));
    inFlight.put(task, run);
    if (task.isDone() && task.outcome() instanceof Outcome.Failure<Ending>) {
      over.incrementAndGet(); // there was no thread for it
    }
  }

  /** On the run's own thread; throws nothing. */
  private Ending drive(TaskScope scope, DueRuns.Taken run) {
    try {
      Objects.requireNonNull(drivers.get(run.agentId())).drive(run, handBack);
      failuresInARow.set(0);
      return Ending.ENDED;
    } catch (Throwable e) { // an error of one run is no reason to end the others
      return leave(run, e);
    } finally {
      over.incrementAndGet();
      scope.wake();
    }
  }

  /** Hands back what could not be driven, after a while: it is due, and would be taken at once. */
  private Ending leave(DueRuns.Taken run, Throwable thrown) {
    if (thrown instanceof OperationCancelledException && handBack.isCancelled()) {
      release(run, Optional.empty());
      return Ending.HANDED_BACK;
    }
    String problem = of(thrown);
    LOG.warn("Run {} could not be driven: {}", run.run(), problem);
    try (TaskScope pause = tree.open("pause", "back off");
        Cancellation.Registration _ = stopping.onCancel(pause::cancel)) {
      var _ = pause.sleep(backOff(failuresInARow.incrementAndGet()));
    }
    release(run, Optional.of(problem));
    return Ending.FAILED;
  }

  private void release(DueRuns.Taken run, Optional<String> problem) {
    try {
      store.release(run.run(), run.owner(), problem);
    } catch (RuntimeException e) {
      LOG.warn("Run {} was not handed back: {}", run.run(), of(e));
    }
  }

  /** What was thrown, for a log and an operator; the message of a foreign one may hold anything. */
  private static String of(Throwable thrown) {
    String problem =
        thrown instanceof WarpwrightException known
            ? known.kind() + ": " + Redaction.redact(String.valueOf(known.getMessage()))
            : thrown.getClass().getName();
    return problem.length() <= MAX_PROBLEM ? problem : problem.substring(0, MAX_PROBLEM);
  }

  /** One second after the first failure, doubled with each, and a part of it by chance. */
  private Duration backOff(int failures) {
    Duration full = Duration.ofSeconds(1L << Math.min(failures - 1, MAX_DOUBLINGS));
    Duration most = full.compareTo(MAX_BACK_OFF) < 0 ? full : MAX_BACK_OFF;
    return most.minusNanos(time.random().nextLong(most.toNanos() / 4));
  }

  private void collect(TaskScope scope) {
    while (collected < over.get()) {
      Task<?> task = scope.joinNext().orElseThrow();
      collected++;
      DueRuns.Taken run = Objects.requireNonNull(inFlight.remove(task));
      switch (task.outcome()) {
        case Outcome.Success<?>(Ending ending) -> count(ending);
        case Outcome.Failure<?>(Throwable notStarted) -> {
          release(run, Optional.of(of(notStarted)));
          count(Ending.FAILED);
        }
        default -> { // given up; it owns its run until the store is closed
          count(Ending.FAILED);
          gaveUp = true;
        }
      }
    }
  }

  private void count(Ending ending) {
    status =
        switch (ending) {
          case ENDED -> status.plusEnded();
          case HANDED_BACK -> status.plusHandedBack();
          case FAILED -> status.plusFailed();
        };
  }

  private void drain(TaskScope scope) {
    while (!inFlight.isEmpty() && !stopsBy().hasPassed() && !scope.isCancelled()) {
      Deadline by = stopsBy();
      scope.await(() -> over.get() > collected || !by.equals(stopsBy()), by);
      collect(scope);
    }
    if (!inFlight.isEmpty()) {
      handBack.cancel("the worker stops and hands its runs back");
    }
    Deadline last = Deadline.after(time, LAST_WORDS);
    while (!inFlight.isEmpty() && !last.hasPassed() && !scope.isCancelled()) {
      scope.await(() -> over.get() > collected, last);
      collect(scope);
    }
  }

  private Deadline stopsBy() {
    Deadline by = stopBy.get();
    return by == null ? Deadline.after(time, Duration.ZERO) : by;
  }

  /** Drivers that did not hear: they still own their runs, until the store is closed. */
  private void giveUpWhatStillRuns() {
    for (DueRuns.Taken run : inFlight.values()) {
      LOG.error("The driver of run {} does not stop; the run is left to it.", run.run());
      count(Ending.FAILED);
      gaveUp = true;
    }
    inFlight.clear();
  }

  private void announceNothing() {
    try {
      store.announce(Set.of(), patience());
    } catch (RuntimeException e) {
      LOG.debug("The store was not told that the worker has ended: {}", of(e));
    }
  }

  private Deadline patience() {
    return Deadline.after(time, PATIENCE);
  }
}
