package dev.warpwright.drive;

import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunSnapshot;
import dev.warpwright.run.RunStore;
import dev.warpwright.task.Deadline;
import java.util.LinkedHashMap;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.concurrent.locks.ReentrantLock;

/**
 * How drivers come to the logs of runs: a long one that a driver of this process has left, and that
 * has not ended, is kept as it was left, so that the next driver loads and folds only what is new.
 * Without that a run that is resumed over and over would cost the square of its length.
 *
 * <p>What is kept is never authoritative. It counts only if the store still has its last event at
 * its place, the same to the byte, with the same writer and time; else the run was deleted, and
 * perhaps begun anew or taken in from elsewhere, and all of it is loaded. So is a run that was not
 * kept, or no longer. What is not noticed is a log that somebody changed before its last event.
 *
 * <p>Bounded by an estimate of the memory that is taken: the runs that nobody has asked for since
 * the longest time go first, and one that has ended goes at once. Thread-safe.
 */
public final class FoldCache {
  /** How much is kept unless the program says otherwise, in bytes: 32 MiB. */
  public static final long DEFAULT_MAX_BYTES = 32L * 1024 * 1024;

  /** A shorter log is loaded as well: so a run that waits early on holds no memory. */
  static final int MIN_EVENTS = 64;

  private final RunStore store;
  private final long maxBytes;
  private final ReentrantLock lock = new ReentrantLock();

  /** The one that was asked for last at the end; guarded by lock. */
  private final SequencedMap<RunKey, RunSnapshot> kept = new LinkedHashMap<>(16, 0.75f, true);

  private long bytes; // of what is kept; guarded by lock

  /**
   * A cache in which nothing is kept yet.
   *
   * @param store where the runs are
   * @param maxBytes how much is kept, 0 for nothing
   * @throws InvalidRequestException if that is negative
   */
  public FoldCache(RunStore store, long maxBytes) {
    if (maxBytes < 0) {
      throw new InvalidRequestException(
          FailureKind.INVALID_CONFIGURATION,
          "foldCache must be 0 bytes or more, but is " + maxBytes + ".");
    }
    this.store = store;
    this.maxBytes = maxBytes;
  }

  /**
   * Reads a run.
   *
   * @param run the run
   * @param deadline until when the store is waited for
   * @return the run as it is now, empty if the store does not have it
   * @throws InvalidRequestException if its log breaks a rule
   */
  public Optional<RunSnapshot> find(RunKey run, Deadline deadline) {
    Optional<RunSnapshot> known = known(run);
    Optional<RunSnapshot> now =
        known.isPresent()
            ? known.get().refreshed(store, deadline)
            : RunSnapshot.load(store, run, deadline);
    if (known.isPresent() && (now.isEmpty() || now.get().state().isTerminal())) {
      forget(run);
    }
    return now;
  }

  /**
   * Reads a run that must be there.
   *
   * @param run the run
   * @param deadline until when the store is waited for
   * @return the run as it is now
   * @throws InvalidRequestException if the store does not have it, or its log breaks a rule
   */
  public RunSnapshot load(RunKey run, Deadline deadline) {
    return find(run, deadline).orElseThrow(() -> missing(run));
  }

  /**
   * Reads what is new of a run that the caller has read before.
   *
   * @param known what was read
   * @param deadline until when the store is waited for
   * @return the run as it is now, the same object if nothing is new
   * @throws InvalidRequestException if the store does not have it any more, or its log breaks a
   *     rule
   */
  public RunSnapshot refresh(RunSnapshot known, Deadline deadline) {
    return known.refreshed(store, deadline).orElseThrow(() -> missing(known.state().run()));
  }

  private static InvalidRequestException missing(RunKey run) {
    return new InvalidRequestException(
        FailureKind.INVALID_REQUEST, "There is no run " + run + " in this scope.");
  }

  /**
   * Keeps a run as a driver has left it, if its log is long, has not ended, and there is room.
   *
   * @param left what was read and written
   */
  public void keep(RunSnapshot left) {
    RunKey run = left.state().run();
    long weight = left.weight();
    lock.lock();
    try {
      forget(run);
      if (weight <= maxBytes && isWorthIt(left)) {
        kept.put(run, left);
        bytes += weight;
      }
      while (bytes > maxBytes) {
        forget(kept.firstEntry().getKey());
      }
    } finally {
      lock.unlock();
    }
  }

  private static boolean isWorthIt(RunSnapshot left) {
    return left.events().size() >= MIN_EVENTS && !left.state().isTerminal();
  }

  private Optional<RunSnapshot> known(RunKey run) {
    lock.lock();
    try {
      return Optional.ofNullable(kept.get(run));
    } finally {
      lock.unlock();
    }
  }

  /**
   * Keeps a run no longer.
   *
   * @param run the run
   */
  public void forget(RunKey run) {
    lock.lock();
    try {
      RunSnapshot gone = kept.remove(run);
      bytes -= gone == null ? 0 : gone.weight();
    } finally {
      lock.unlock();
    }
  }

  /** How much is kept. */
  long bytes() {
    lock.lock();
    try {
      return bytes;
    } finally {
      lock.unlock();
    }
  }
}
