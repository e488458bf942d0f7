package dev.warpwright.agent;

import dev.warpwright.run.Append;
import dev.warpwright.run.DueRuns;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.NewRun;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunListener;
import dev.warpwright.run.RunQuery;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.RunSummary;
import dev.warpwright.run.Signal;
import dev.warpwright.run.Standing;
import dev.warpwright.run.Writer;
import dev.warpwright.task.Deadline;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/**
 * A store as one process sees it: the process dies at one of its writes, just before or just after
 * it took place, and from then on nothing that it does reaches the store.
 */
public final class MortalStore implements RunStore {
  /** The process is dead. */
  public static final class Crash extends Error {
    private static final long serialVersionUID = 1L;

    Crash() {
      super("The process died.");
    }
  }

  private final RunStore survivor;
  private final int fatalWrite;
  private final boolean afterIt;
  private final Map<Writer, RunKey> owned = new ConcurrentHashMap<>();
  private int writes; // guarded by this
  private boolean dead; // guarded by this

  private MortalStore(RunStore survivor, int fatalWrite, boolean afterIt) {
    this.survivor = survivor;
    this.fatalWrite = fatalWrite;
    this.afterIt = afterIt;
  }

  /** A process that does not die. */
  public static MortalStore immortal(RunStore survivor) {
    return new MortalStore(survivor, 0, false);
  }

  /** A process that dies at its n-th write, counted from 1. */
  public static MortalStore dyingAt(int write, boolean afterIt, RunStore survivor) {
    return new MortalStore(survivor, write, afterIt);
  }

  /** How many writes it began. */
  public synchronized int writes() {
    return writes;
  }

  /** What the store finds out when the process is gone: its runs have no owner any more. */
  public void bury() {
    owned.forEach((owner, run) -> survivor.release(run, owner));
  }

  private synchronized <T> T write(Supplier<T> write) {
    requireAlive();
    writes++;
    if (writes == fatalWrite && !afterIt) {
      die();
    }
    T result = write.get();
    if (writes == fatalWrite) {
      die();
    }
    return result;
  }

  private void die() {
    dead = true;
    throw new Crash();
  }

  private synchronized void requireAlive() {
    if (dead) {
      throw new Crash();
    }
  }

  @Override
  public Claim create(NewRun run, Deadline deadline) {
    return write(
        () -> {
          Claim claim = survivor.create(run, deadline);
          if (claim instanceof Claim.Won(Writer owner)) {
            owned.put(owner, run.run());
          }
          return claim;
        });
  }

  @Override
  public void adopt(List<LoggedEvent> log, Standing standing, Deadline deadline) {
    var _ =
        write(
            () -> {
              survivor.adopt(log, standing, deadline);
              return true;
            });
  }

  @Override
  public void append(Append append, Deadline deadline) {
    var _ =
        write(
            () -> {
              survivor.append(append, deadline);
              return true;
            });
  }

  @Override
  public Optional<Writer> acquire(RunKey run, Deadline deadline) {
    return write(
        () -> {
          Optional<Writer> owner = survivor.acquire(run, deadline);
          owner.ifPresent(writer -> owned.put(writer, run));
          return owner;
        });
  }

  @Override
  public Optional<Writer> borrow(RunKey run, Deadline deadline) {
    return write(
        () -> {
          Optional<Writer> owner = survivor.borrow(run, deadline);
          owner.ifPresent(writer -> owned.put(writer, run));
          return owner;
        });
  }

  @Override
  public DueRuns acquireDue(Set<String> agentIds, int limit, Deadline deadline) {
    return write(
        () -> {
          DueRuns due = survivor.acquireDue(agentIds, limit, deadline);
          due.taken().forEach(taken -> owned.put(taken.owner(), taken.run()));
          return due;
        });
  }

  @Override
  public boolean signal(RunKey run, Signal signal, Deadline deadline) {
    return write(() -> survivor.signal(run, signal, deadline));
  }

  @Override
  public List<Signal> signals(RunKey run, Deadline deadline) {
    requireAlive();
    return survivor.signals(run, deadline);
  }

  @Override
  public void announce(Set<String> agentIds, Deadline deadline) {
    requireAlive();
    survivor.announce(agentIds, deadline);
  }

  @Override
  public void readmit(RunKey run, Deadline deadline) {
    requireAlive();
    survivor.readmit(run, deadline);
  }

  @Override
  public List<RunSummary> stranded(RunScope scope, int limit, Deadline deadline) {
    requireAlive();
    return survivor.stranded(scope, limit, deadline);
  }

  @Override
  public boolean delete(RunKey run, Deadline deadline) {
    return write(() -> survivor.delete(run, deadline));
  }

  @Override
  public int deleteExpired(Instant before, Set<RunStatus> statuses, int limit, Deadline deadline) {
    return write(() -> survivor.deleteExpired(before, statuses, limit, deadline));
  }

  @Override
  public void release(RunKey run, Writer owner, Optional<String> problem) {
    var _ =
        write(
            () -> {
              survivor.release(run, owner, problem);
              return true;
            });
  }

  @Override
  public List<LoggedEvent> load(RunKey run, long fromSequence, Deadline deadline) {
    requireAlive();
    return survivor.load(run, fromSequence, deadline);
  }

  @Override
  public boolean awaitRelease(RunKey run, Deadline deadline) throws InterruptedException {
    requireAlive();
    return survivor.awaitRelease(run, deadline);
  }

  @Override
  public Watch watch(RunKey run, RunListener listener) {
    return survivor.watch(run, listener);
  }

  @Override
  public Optional<RunKey> find(RunScope scope, String idempotencyKey, Deadline deadline) {
    requireAlive();
    return survivor.find(scope, idempotencyKey, deadline);
  }

  @Override
  public List<RunSummary> list(RunQuery query, Deadline deadline) {
    requireAlive();
    return survivor.list(query, deadline);
  }

  @Override
  public void close() {}
}
