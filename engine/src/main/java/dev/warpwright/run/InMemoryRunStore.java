package dev.warpwright.run;

import dev.warpwright.model.ConflictException;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.OperationTrace;
import dev.warpwright.task.Deadline;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The store of {@link RunStore#inMemory()}: maps behind one lock, which is never held long. */
final class InMemoryRunStore implements RunStore {
  private static final long EPOCH = 1;

  /** How often a waiting thread looks at its deadline, which may be on a test's own clock. */
  private static final long DEADLINE_CHECK_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  private static final Comparator<RunSummary> LATEST_FIRST =
      Comparator.comparing(RunSummary::updated)
          .reversed()
          .thenComparing(summary -> summary.run().runId());

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition released = lock.newCondition();
  private final Map<RunKey, Run> runs = new HashMap<>(); // guarded by lock
  private final Map<Claimed, RunKey> claims = new HashMap<>(); // guarded by lock
  private final RunWatches watches = new RunWatches();
  private long owners; // guarded by lock
  private boolean closed; // guarded by lock

  private record Claimed(RunScope scope, String idempotencyKey) {}

  /** A run's log and who owns it; guarded by the store's lock. */
  private static final class Run {
    final RunEvent.RunStarted started;
    final List<LoggedEvent> log = new ArrayList<>();
    RunStatus status = RunStatus.RUNNING;
    @Nullable Writer owner;

    Run(RunEvent.RunStarted started) {
      this.started = started;
    }

    Instant created() {
      return log.getFirst().time();
    }

    Instant updated() {
      return log.getLast().time();
    }
  }

  @Override
  public Claim create(NewRun run, Deadline deadline) {
    lock.lock();
    try {
      requireOpen();
      Optional<Claimed> claim = claim(run.run(), run.started());
      RunKey taken = claim.map(claims::get).orElse(null);
      if (taken != null) {
        return new Claim.Taken(taken);
      }
      if (runs.containsKey(run.run())) {
        throw conflict("The run " + run.run() + " exists already in its scope.");
      }
      Writer owner = nextOwner();
      Run created = new Run(run.started());
      created.owner = owner;
      created.log.add(new LoggedEvent(run.run(), 1, owner, run.time(), run.started()));
      runs.put(run.run(), created);
      claim.ifPresent(key -> claims.put(key, run.run()));
      return new Claim.Won(owner);
    } finally {
      lock.unlock();
    }
  }

  private static Optional<Claimed> claim(RunKey run, RunEvent.RunStarted started) {
    return started.idempotencyKey().map(key -> new Claimed(run.scope(), key));
  }

  @Override
  public void adopt(List<LoggedEvent> log, RunStatus status, Deadline deadline) {
    RunKey key = log.getFirst().run();
    RunEvent.RunStarted started = (RunEvent.RunStarted) log.getFirst().event();
    Run adopted = new Run(started);
    adopted.log.addAll(log);
    adopted.status = status;
    lock.lock();
    try {
      requireOpen();
      Optional<Claimed> claim = claim(key, started);
      RunKey taken = claim.map(claims::get).orElse(null);
      if (taken != null) {
        throw conflict(
            "The run " + key + " cannot be taken in: its key belongs to run " + taken + ".");
      }
      if (runs.containsKey(key)) {
        throw conflict("The run " + key + " exists already in its scope.");
      }
      runs.put(key, adopted);
      claim.ifPresent(name -> claims.put(name, key));
    } finally {
      lock.unlock();
    }
  }

  @Override
  public List<LoggedEvent> load(RunKey key, long fromSequence, Deadline deadline) {
    lock.lock();
    try {
      requireOpen();
      Run run = runs.get(key);
      if (run == null || fromSequence > run.log.size()) {
        return List.of();
      }
      int from = (int) Math.max(0, fromSequence - 1);
      return List.copyOf(run.log.subList(from, run.log.size()));
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void append(Append append, Deadline deadline) {
    lock.lock();
    try {
      requireOpen();
      Run run = require(append.run());
      judge(append, run);
      for (RunEvent event : append.events()) {
        run.log.add(
            new LoggedEvent(
                append.run(), run.log.size() + 1L, append.writer(), append.time(), event));
      }
      run.status = append.status();
    } finally {
      lock.unlock();
    }
    watches.wrote(append);
  }

  @Override
  public Watch watch(RunKey run, Consumer<? super List<RunEvent>> listener) {
    return watches.add(run, listener);
  }

  private static void judge(Append append, Run run) {
    if (append.writer().isOwner() && !append.writer().equals(run.owner)) {
      throw conflict(
          "The writer %s lost the run %s: it is owned by %s now; nothing was written."
              .formatted(append.writer(), append.run(), run.owner == null ? "nobody" : run.owner));
    }
    if (append.expectedSequence() != run.log.size()) {
      throw conflict(
          "The run %s stands at sequence %d, not at the expected %d; nothing was written."
              .formatted(append.run(), run.log.size(), append.expectedSequence()));
    }
    if (append.time().isBefore(run.updated())) {
      throw new InvalidRequestException(
          FailureKind.INVALID_REQUEST,
          "The time %s of an append to the run %s is before that of its last event, %s."
              .formatted(append.time(), append.run(), run.updated()));
    }
  }

  @Override
  public Optional<Writer> acquire(RunKey key, Deadline deadline) {
    lock.lock();
    try {
      requireOpen();
      Run run = require(key);
      if (run.owner != null) {
        return Optional.empty();
      }
      Writer owner = nextOwner();
      run.owner = owner;
      return Optional.of(owner);
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void release(RunKey key, Writer owner) {
    lock.lock();
    try {
      requireOpen();
      Run run = runs.get(key);
      if (run != null && owner.equals(run.owner)) {
        run.owner = null;
        released.signalAll();
      }
    } finally {
      lock.unlock();
    }
  }

  @Override
  public boolean awaitRelease(RunKey key, Deadline deadline) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      while (true) {
        requireOpen();
        Run run = runs.get(key);
        if (run == null || run.owner == null) {
          return true;
        }
        if (deadline.hasPassed()) {
          return false;
        }
        long nanos = Math.min(deadline.remainingNanos(), DEADLINE_CHECK_NANOS);
        var _ = released.await(nanos, TimeUnit.NANOSECONDS);
      }
    } finally {
      lock.unlock();
    }
  }

  @Override
  public Optional<RunKey> find(RunScope scope, String idempotencyKey, Deadline deadline) {
    lock.lock();
    try {
      requireOpen();
      return Optional.ofNullable(claims.get(new Claimed(scope, idempotencyKey)));
    } finally {
      lock.unlock();
    }
  }

  @Override
  public List<RunSummary> list(RunQuery query, Deadline deadline) {
    lock.lock();
    try {
      requireOpen();
      return runs.entrySet().stream()
          .filter(run -> run.getKey().scope().equals(query.scope()))
          .filter(
              run -> query.statuses().isEmpty() || query.statuses().contains(run.getValue().status))
          .map(run -> summary(run.getKey(), run.getValue()))
          .filter(
              summary ->
                  query.after().isEmpty() || LATEST_FIRST.compare(summary, query.after().get()) > 0)
          .sorted(LATEST_FIRST)
          .limit(query.limit())
          .toList();
    } finally {
      lock.unlock();
    }
  }

  private static RunSummary summary(RunKey key, Run run) {
    return new RunSummary(
        key,
        run.started.agentId(),
        run.started.idempotencyKey(),
        run.status,
        run.log.size(),
        run.created(),
        run.updated());
  }

  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
      released.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Another one for each ownership, so that it fences an earlier driver. */
  private Writer nextOwner() {
    return new Writer("memory#" + ++owners, EPOCH);
  }

  private void requireOpen() {
    if (closed) {
      throw new IllegalStateException("The store is closed.");
    }
  }

  private Run require(RunKey key) {
    Run run = runs.get(key);
    if (run == null) {
      throw conflict("The run " + key + " does not exist in its scope.");
    }
    return run;
  }

  private static ConflictException conflict(String message) {
    return new ConflictException(message, null, OperationTrace.NONE);
  }
}
