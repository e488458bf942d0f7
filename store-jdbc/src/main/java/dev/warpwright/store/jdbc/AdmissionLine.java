package dev.warpwright.store.jdbc;

import dev.warpwright.control.Admission;
import dev.warpwright.control.AdmissionLimit;
import dev.warpwright.control.AdmissionPolicy;
import dev.warpwright.model.Target;
import dev.warpwright.store.jdbc.AdmissionWindow.Correction;
import dev.warpwright.task.Alarm;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * What this process has to do with one target: its calls in flight, its requests in the order in
 * which they came, and what is to be told to the database. The lock of {@link JdbcAdmission} guards
 * it.
 */
final class AdmissionLine {
  final Target target;
  final LinkedHashSet<Waiter> waiters = new LinkedHashSet<>();
  final List<Correction> corrections = new ArrayList<>();
  long inFlight;
  boolean running; // a round is under way or submitted
  boolean shareChanged; // since the last round began
  long pauseNanos; // before the next round, if nothing happens here
  @Nullable Alarm nextRound;

  AdmissionLine(Target target) {
    this.target = target;
  }

  /** Whether there is something to tell or to ask at once. */
  boolean isDue() {
    boolean anyNew = !waiters.isEmpty() && !waiters.getLast().judged;
    return shareChanged || !corrections.isEmpty() || anyNew;
  }

  boolean isIdle() {
    return !running && inFlight == 0 && !shareChanged && waiters.isEmpty();
  }

  /** What a round is to judge; what comes after this is for the next one. */
  Intake take() {
    Intake intake = new Intake(List.copyOf(waiters), List.copyOf(corrections), inFlight);
    corrections.clear();
    shareChanged = false;
    return intake;
  }

  /** A request that waits for its answer. */
  static final class Waiter {
    final AdmissionLine line;
    final long tokens;
    final boolean mayWait;
    private final Thread thread = Thread.currentThread();
    private volatile boolean woken;
    volatile boolean judged; // by at least one round; written under the lock
    volatile @Nullable Verdict<Admission.Decision> answer; // written under the lock

    /**
     * A request of the calling thread.
     *
     * @param tokens what it wants
     * @param mayWait whether it had a place in the queue when it came; otherwise it is judged once
     */
    Waiter(AdmissionLine line, long tokens, boolean mayWait) {
      this.line = line;
      this.tokens = tokens;
      this.mayWait = mayWait;
    }

    /** Forgets earlier calls to look; its own thread, before it looks. */
    void willLook() {
      woken = false;
    }

    /** Parks until it is told to look, or interrupted. */
    void park() {
      while (!woken && !thread.isInterrupted()) {
        LockSupport.park(this);
      }
    }

    /** Tells it to look. */
    void wake() {
      woken = true;
      LockSupport.unpark(thread);
    }
  }

  /** What one round judges, as it was when the round began. */
  record Intake(List<Waiter> waiters, List<Correction> corrections, long inFlight) {

    /** Whether the target's row is needed, not only this process's share. */
    boolean needsTarget() {
      return !waiters.isEmpty() || !corrections.isEmpty();
    }

    /**
     * Admits from the front while all limits have room. Behind one who waits nobody is admitted.
     *
     * @param before the window, and what the others have in flight
     */
    Plan judge(AdmissionPolicy policy, AdmissionWindow before, long others, long nowMillis) {
      AdmissionWindow window = before;
      for (Correction correction : corrections) {
        window = window.correct(correction);
      }
      Map<Waiter, Long> admitted = new LinkedHashMap<>();
      Map<Waiter, AdmissionLimit> denied = new LinkedHashMap<>();
      AdmissionLimit obstacle = null;
      for (Waiter waiter : waiters) {
        if (obstacle != null) {
          if (!waiter.mayWait) {
            denied.put(waiter, AdmissionLimit.QUEUE_FULL);
          }
          continue;
        }
        boolean full = others + inFlight + admitted.size() >= policy.maxConcurrent();
        AdmissionLimit limit =
            full
                ? AdmissionLimit.MAX_CONCURRENT
                : window.obstacle(policy, waiter.tokens, nowMillis);
        if (limit == null) {
          window = window.admit(policy, waiter.tokens, nowMillis);
          admitted.put(waiter, window.number());
        } else if (waiter.mayWait) {
          obstacle = limit;
        } else {
          denied.put(waiter, policy.maxQueue() == 0 ? limit : AdmissionLimit.QUEUE_FULL);
        }
      }
      long leftMillis =
          obstacle == null || obstacle == AdmissionLimit.MAX_CONCURRENT
              ? Long.MAX_VALUE
              : window.leftMillis(nowMillis);
      return new Plan(window, admitted, denied, leftMillis);
    }

    /** Nobody can be admitted, since the target has no row. */
    Plan denyAll() {
      Map<Waiter, AdmissionLimit> denied = new LinkedHashMap<>();
      waiters.forEach(waiter -> denied.put(waiter, AdmissionLimit.TARGET_TABLE));
      return new Plan(AdmissionWindow.NONE, Map.of(), denied, Long.MAX_VALUE);
    }
  }

  /**
   * What comes of a round.
   *
   * @param admitted who is admitted, each in the window of that number
   * @param denied who is not, and need not wait
   * @param leftMillis when the window ends that keeps out the first who waits; the largest long if
   *     it is not a window that does
   */
  record Plan(
      AdmissionWindow window,
      Map<Waiter, Long> admitted,
      Map<Waiter, AdmissionLimit> denied,
      long leftMillis) {
    static final Plan NOTHING = new Plan(AdmissionWindow.NONE, Map.of(), Map.of(), Long.MAX_VALUE);
  }
}
