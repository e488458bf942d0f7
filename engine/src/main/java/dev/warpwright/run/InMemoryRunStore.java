package dev.warpwright.run;

import dev.warpwright.model.ConflictException;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.OperationTrace;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.TimeSource;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;
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

  private static final Comparator<Map.Entry<RunKey, Run>> LONGEST_DUE =
      Comparator.<Map.Entry<RunKey, Run>, Instant>comparing(
              entry -> entry.getValue().standing.due().orElse(Instant.MAX))
          .thenComparing(entry -> entry.getKey().runId());

  private final TimeSource time;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition released = lock.newCondition();
  private final Map<RunKey, Run> runs = new HashMap<>(); // guarded by lock
  private final Map<Claimed, RunKey> claims = new HashMap<>(); // guarded by lock
  private final RunWatches watches = new RunWatches();
  private Set<String> announced = Set.of(); // guarded by lock
  private long owners; // guarded by lock
  private boolean closed; // guarded by lock

  InMemoryRunStore(TimeSource time) {
    this.time = time;
  }

  private record Claimed(RunScope scope, String idempotencyKey) {}

  /** A run's log and who owns it; guarded by the store's lock. */
  private static final class Run {
    final RunEvent.RunStarted started;
    final List<LoggedEvent> log = new ArrayList<>();
    Standing standing;
    @Nullable Writer owner;
    int claims;
    @Nullable String problem;
    final Map<String, Signal> unread = new LinkedHashMap<>(); // by id, in the order of arrival
    final Set<String> signalIds = new HashSet<>(); // of all that ever came

    Run(RunEvent.RunStarted started, Standing standing) {
      this.started = started;
      this.standing = standing;
    }

    boolean hasAwaitedSignal() {
      return !unread.isEmpty()
          && unread.values().stream()
              .anyMatch(signal -> standing.signals().contains(signal.name()));
    }

    /** Whether a driver may take it up now that nobody owns it. */
    boolean isDue(Instant now) {
      return owner == null && standing.due().filter(due -> !due.isAfter(now)).isPresent();
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
      Run created = new Run(run.started(), Standing.due(RunStatus.RUNNING, run.time()));
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
  public void adopt(List<LoggedEvent> log, Standing standing, Deadline deadline) {
    RunKey key = log.getFirst().run();
    RunEvent.RunStarted started = (RunEvent.RunStarted) log.getFirst().event();
    Run adopted = new Run(started, standing);
    adopted.log.addAll(log);
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
      if (hasAwaitedEnd(key, standing)) {
        adopted.standing = standing.dueAt(adopted.updated());
      }
      if (standing.hasEnded()) {
        started.childOf().ifPresent(parent -> tell(parent, key, adopted.updated()));
      }
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
        if (event instanceof FlowEvent.SignalReceived received) {
          run.unread.remove(received.signalId());
        }
        run.log.add(
            new LoggedEvent(
                append.run(), run.log.size() + 1L, append.writer(), append.time(), event));
      }
      run.standing = append.standing();
      if (run.hasAwaitedSignal() || hasAwaitedEnd(append.run(), append.standing())) {
        run.standing = run.standing.dueAt(append.time());
      }
      continuation(append).map(runs::get).ifPresent(next -> handOver(run, next, append.time()));
      append.parent().ifPresent(parent -> tell(parent, append.run(), append.time()));
      if (isProgress(append)) {
        run.claims = 0;
        run.problem = null;
      }
      if (append.handsBack()) {
        run.owner = null;
        released.signalAll();
      }
    } finally {
      lock.unlock();
    }
    watches.wrote(append);
  }

  private static Optional<RunKey> continuation(Append append) {
    return append.continuedAs().map(next -> new RunKey(append.run().scope(), next));
  }

  /** The signals that a run has not received are those of the next one. Under the lock. */
  private static void handOver(Run run, Run next, Instant now) {
    if (next.standing.status().isFinal()) {
      return;
    }
    for (Signal signal : run.unread.values()) {
      if (next.signalIds.add(signal.id())) {
        next.unread.put(signal.id(), signal);
      }
    }
    run.unread.clear();
    if (next.hasAwaitedSignal()) {
      next.standing = next.standing.dueAt(now);
    }
  }

  /** Whether a child run has ended that the run awaits. Under the lock. */
  private boolean hasAwaitedEnd(RunKey key, Standing standing) {
    return !standing.children().isEmpty()
        && standing.children().stream()
            .map(child -> runs.get(new RunKey(key.scope(), child)))
            .anyMatch(child -> child != null && child.standing.hasEnded());
  }

  /** Makes a parent due that awaits the end of the run. Under the lock. */
  private void tell(String parentId, RunKey child, Instant now) {
    Run parent = runs.get(new RunKey(child.scope(), parentId));
    if (parent != null && parent.standing.children().contains(child.runId())) {
      parent.standing = parent.standing.dueAt(now);
    }
  }

  private static boolean isProgress(Append append) {
    return append.writer().isOwner()
        && !append.events().stream().allMatch(RunEvent.RunResumed.class::isInstance);
  }

  @Override
  public Watch watch(RunKey run, RunListener listener) {
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
    for (RunEvent event : append.events()) {
      if (event instanceof FlowEvent.SignalReceived received
          && !run.unread.containsKey(received.signalId())) {
        throw conflict(
            "The signal %s of the run %s is not there or was consumed; nothing was written."
                .formatted(received.signalId(), append.run()));
      }
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
      if (run.claims >= MAX_CLAIMS) {
        throw conflict(
            "The run %s is quarantined: it was taken up %d times without progress. Look at what the"
                    .formatted(key, MAX_CLAIMS)
                + " list says of it, then readmit it.");
      }
      return Optional.of(taken(run));
    } finally {
      lock.unlock();
    }
  }

  private Writer taken(Run run) {
    run.claims++;
    return owned(run);
  }

  private Writer owned(Run run) {
    Writer owner = nextOwner();
    run.owner = owner;
    return owner;
  }

  @Override
  public Optional<Writer> borrow(RunKey key, Deadline deadline) {
    lock.lock();
    try {
      requireOpen();
      Run run = require(key);
      return run.owner == null ? Optional.of(owned(run)) : Optional.empty();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public DueRuns acquireDue(Set<String> agentIds, int limit, Deadline deadline) {
    lock.lock();
    try {
      requireOpen();
      Instant now = time.now();
      List<DueRuns.Taken> taken =
          drivable(agentIds)
              .filter(entry -> entry.getValue().isDue(now))
              .sorted(LONGEST_DUE)
              .limit(limit)
              .map(
                  entry ->
                      new DueRuns.Taken(
                          entry.getKey(),
                          entry.getValue().started.drivenBy(),
                          taken(entry.getValue())))
              .toList();
      Optional<Instant> next =
          drivable(agentIds)
              .filter(entry -> entry.getValue().owner == null)
              .flatMap(entry -> entry.getValue().standing.due().stream())
              .filter(due -> due.isAfter(now))
              .min(Instant::compareTo);
      return new DueRuns(taken, next.map(due -> Duration.between(now, due)));
    } finally {
      lock.unlock();
    }
  }

  private Stream<Map.Entry<RunKey, Run>> drivable(Set<String> agentIds) {
    return runs.entrySet().stream()
        .filter(entry -> agentIds.contains(entry.getValue().started.drivenBy()))
        .filter(entry -> entry.getValue().claims < MAX_CLAIMS);
  }

  @Override
  public void announce(Set<String> agentIds, Deadline deadline) {
    lock.lock();
    try {
      requireOpen();
      announced = Set.copyOf(agentIds);
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void release(RunKey key, Writer owner, Optional<String> problem) {
    lock.lock();
    try {
      requireOpen();
      Run run = runs.get(key);
      if (run != null && owner.equals(run.owner)) {
        run.owner = null;
        problem.ifPresent(why -> run.problem = why);
        released.signalAll();
      }
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void readmit(RunKey key, Deadline deadline) {
    lock.lock();
    try {
      requireOpen();
      Run run = require(key);
      run.claims = run.claims >= MAX_CLAIMS ? 0 : run.claims;
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
          .filter(run -> isWanted(run.getKey(), run.getValue(), query))
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

  private static boolean isWanted(RunKey key, Run run, RunQuery query) {
    return key.scope().equals(query.scope())
        && (query.statuses().isEmpty() || query.statuses().contains(run.standing.status()))
        && query.metadata().entrySet().stream().allMatch(note -> isNoted(run, note))
        && (!query.quarantined() || run.claims >= MAX_CLAIMS);
  }

  private static boolean isNoted(Run run, Map.Entry<String, String> note) {
    return note.getKey().length() <= RunQuery.MAX_SEARCHED
        && note.getValue().length() <= RunQuery.MAX_SEARCHED
        && run.started.metadata().entrySet().contains(note);
  }

  @Override
  public boolean signal(RunKey key, Signal signal, Deadline deadline) {
    lock.lock();
    try {
      requireOpen();
      Run run = require(key);
      if (run.signalIds.contains(signal.id())) {
        return false;
      }
      if (run.standing.status().isFinal()) {
        throw conflict("The run " + key + " has ended; it takes no signal.");
      }
      run.signalIds.add(signal.id());
      run.unread.put(signal.id(), signal);
      if (run.standing.signals().contains(signal.name())) {
        run.standing = run.standing.dueAt(time.now());
      }
      return true;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public List<Signal> signals(RunKey key, Deadline deadline) {
    lock.lock();
    try {
      requireOpen();
      Run run = runs.get(key);
      return run == null ? List.of() : List.copyOf(run.unread.values());
    } finally {
      lock.unlock();
    }
  }

  @Override
  public List<RunSummary> stranded(RunScope scope, int limit, Deadline deadline) {
    lock.lock();
    try {
      requireOpen();
      Instant now = time.now();
      return runs.entrySet().stream()
          .filter(entry -> entry.getKey().scope().equals(scope))
          .filter(entry -> entry.getValue().isDue(now))
          .filter(
              entry ->
                  entry.getValue().claims >= MAX_CLAIMS
                      || !announced.contains(entry.getValue().started.drivenBy()))
          .sorted(LONGEST_DUE)
          .limit(limit)
          .map(entry -> summary(entry.getKey(), entry.getValue()))
          .toList();
    } finally {
      lock.unlock();
    }
  }

  private static RunSummary summary(RunKey key, Run run) {
    return new RunSummary(
        key,
        run.started.drivenBy(),
        run.started.idempotencyKey(),
        run.standing,
        run.log.size(),
        run.created(),
        run.updated(),
        run.claims,
        Optional.ofNullable(run.problem));
  }

  @Override
  public boolean delete(RunKey key, Deadline deadline) {
    lock.lock();
    try {
      requireOpen();
      Run run = runs.get(key);
      if (run == null) {
        return false;
      }
      if (run.owner != null) {
        throw conflict("The run " + key + " is being driven; it was not deleted.");
      }
      if (run.standing.status() == RunStatus.NEEDS_RECONCILIATION) {
        throw conflict(
            "The run " + key + " waits for a verdict on a tool; decide it, then delete the run.");
      }
      remove(key, run);
      return true;
    } finally {
      lock.unlock();
    }
  }

  private void remove(RunKey key, Run run) {
    runs.remove(key);
    claim(key, run.started).ifPresent(claimed -> claims.remove(claimed, key));
  }

  @Override
  public int deleteExpired(Instant before, Set<RunStatus> statuses, int limit, Deadline deadline) {
    lock.lock();
    try {
      requireOpen();
      int deleted = 0;
      int last;
      do { // without their parents, child runs can be deleted too
        List<Map.Entry<RunKey, Run>> expired =
            runs.entrySet().stream()
                .filter(entry -> entry.getValue().owner == null)
                .filter(entry -> statuses.contains(entry.getValue().standing.status()))
                .filter(entry -> entry.getValue().updated().isBefore(before))
                .filter(entry -> !hasParent(entry.getKey(), entry.getValue()))
                .limit(limit - deleted)
                .toList();
        expired.forEach(entry -> remove(entry.getKey(), entry.getValue()));
        last = expired.size();
        deleted += last;
      } while (last > 0 && deleted < limit);
      return deleted;
    } finally {
      lock.unlock();
    }
  }

  /** Whether the run that it is a child of is here. Under the lock. */
  private boolean hasParent(RunKey key, Run run) {
    return run.started
        .childOf()
        .filter(id -> runs.containsKey(new RunKey(key.scope(), id)))
        .isPresent();
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
