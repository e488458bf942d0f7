package dev.warpwright.control;

import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A target's quota and the requests that wait for it, in the order of their arrival. The lock of
 * {@link LocalAdmission} guards it.
 */
final class Gate {
  final TargetQuota quota;
  private @Nullable Waiter first;
  private @Nullable Waiter last;

  Gate(AdmissionPolicy policy) {
    this.quota = new TargetQuota(policy);
  }

  boolean hasWaiters() {
    return first != null;
  }

  /** Whether no call is in flight and none waits; the window may still be open. */
  boolean isIdle() {
    return first == null && quota.inFlight() == 0;
  }

  void join(Waiter waiter) {
    waiter.queued = true;
    waiter.previous = last;
    if (last == null) {
      first = waiter;
    } else {
      last.next = waiter;
    }
    last = waiter;
  }

  /** Takes a waiter out, wherever it stands. */
  void leave(Waiter waiter) {
    Waiter previous = waiter.previous;
    Waiter next = waiter.next;
    if (previous == null) {
      first = next;
    } else {
      previous.next = next;
    }
    if (next == null) {
      last = previous;
    } else {
      next.previous = previous;
    }
    waiter.previous = null;
    waiter.next = null;
    waiter.queued = false;
  }

  /** Whether all limits have room for a waiter. If not, plans when it looks again. */
  boolean isTurnOf(Waiter waiter, long nowNanos) {
    waiter.lookedNanos = nowNanos;
    waiter.watchesWindow = false;
    waiter.alarmNanos = waiter.giveUpNanos;
    if (first != waiter) {
      return false;
    }
    AdmissionLimit obstacle = quota.obstacle(waiter.tokens, nowNanos);
    if (obstacle != null && obstacle != AdmissionLimit.MAX_CONCURRENT) {
      waiter.watchesWindow = true;
      long endNanos = quota.windowEndNanos();
      if (endNanos - waiter.giveUpNanos < 0) {
        waiter.alarmNanos = endNanos;
      }
    }
    return obstacle == null;
  }

  /**
   * The first waiter, if it should look again: because it can be admitted, or because it must watch
   * the end of the window and does not yet. While calls in flight are in its way it need not look;
   * the release of one asks again.
   *
   * <p>It is judged by the time of its own last look. If the window has ended since, either it
   * watches the window and its alarm is due, or it is told to look.
   */
  @Nullable Waiter toWake() {
    if (first == null) {
      return null;
    }
    AdmissionLimit obstacle = quota.obstacle(first.tokens, first.lookedNanos);
    if (obstacle == null) {
      return first;
    }
    return obstacle == AdmissionLimit.MAX_CONCURRENT || first.watchesWindow ? null : first;
  }

  /** A request in the queue, which is also the action of the alarm that wakes it. */
  static final class Waiter implements Runnable {
    final Gate gate;
    final long tokens;
    final long giveUpNanos;
    private final Thread thread;
    private volatile boolean woken;

    // All guarded by the controller's lock.
    private @Nullable Waiter previous;
    private @Nullable Waiter next;
    boolean queued;
    long lookedNanos;
    boolean watchesWindow;
    long alarmNanos;

    /**
     * A request of the calling thread.
     *
     * @param tokens what it wants
     * @param nowNanos when it came
     * @param giveUpNanos when it will have waited long enough
     */
    Waiter(Gate gate, long tokens, long nowNanos, long giveUpNanos) {
      this.gate = gate;
      this.tokens = tokens;
      this.lookedNanos = nowNanos;
      this.giveUpNanos = giveUpNanos;
      this.alarmNanos = giveUpNanos;
      this.thread = Thread.currentThread();
    }

    /** Forgets earlier calls to look; its own thread, before it looks. */
    void willLook() {
      woken = false;
    }

    /**
     * Parks until it is told to look, or interrupted. The flag, not the park, remembers the call:
     * whoever arms an alarm may park in a lock on the way, and use up the wake-up.
     */
    void park() {
      while (!woken && !thread.isInterrupted()) {
        LockSupport.park(this);
      }
    }

    /** Tells it to look. */
    @Override
    public void run() {
      woken = true;
      LockSupport.unpark(thread);
    }

    @Override
    public String toString() {
      return "admission of " + thread.getName();
    }
  }
}
