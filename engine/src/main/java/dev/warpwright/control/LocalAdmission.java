package dev.warpwright.control;

import dev.warpwright.control.Gate.Waiter;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Target;
import dev.warpwright.task.Alarm;
import dev.warpwright.task.TimeSource;
import java.time.Duration;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** The controller of {@link AdmissionController#local(AdmissionPolicy)}. */
final class LocalAdmission implements AdmissionController {

  /*
   * One lock guards everything, and is held for arithmetic only: threads are woken and alarms armed
   * without it.
   *
   * Nobody is handed a permit. A waiter takes it on its own thread, under the lock, when it is the
   * first of its queue and all limits have room; until then it holds nothing. So no permit is ever
   * under way to a thread that is interrupted or gives up at that moment: either it has taken it and
   * returns it, or it leaves the queue and the next one is looked at.
   *
   * A waiter sleeps until it is told to look, which happens only
   *  - when it is the first, and a release, a reconciliation or the one before it lets it in;
   *  - when it has become the first, and a limit per minute keeps it out: it looks once, to set its
   *    alarm to the end of the window, which only the first one watches;
   *  - by its own alarm, at the window's end or the end of its patience.
   * While somebody waits nobody else is let in, so what the first one saw can only become better. A
   * waiter costs a place in a list and one alarm, and looks a few times however long the queue is.
   */

  private static final long LONGEST_SWEEP_PAUSE_NANOS = TimeUnit.MINUTES.toNanos(1);

  private final AdmissionPolicy policy;
  private final TimeSource time;
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<Target, Gate> gates = new HashMap<>(); // guarded by lock
  private int inFlight; // guarded by lock; over all gates
  private int waiting; // guarded by lock; over all gates
  private long sweepNanos; // guarded by lock; no gate can be taken out earlier
  private long looks; // guarded by lock; of waiters, for tests

  LocalAdmission(AdmissionPolicy policy, TimeSource time) {
    this.policy = Objects.requireNonNull(policy, "policy");
    this.time = Objects.requireNonNull(time, "time");
    this.sweepNanos = time.nanoTime();
  }

  @Override
  public Admission tryAcquire(AdmissionRequest request) {
    AdmissionLimit never = neverAdmitted(request);
    if (never != null) {
      return denied(request, never);
    }
    long now = time.nanoTime();
    lock.lock();
    try {
      return enter(request, now);
    } finally {
      lock.unlock();
    }
  }

  @Override
  public Admission.Decision acquire(AdmissionRequest request) throws InterruptedException {
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
    AdmissionLimit never = neverAdmitted(request);
    if (never != null) {
      return denied(request, never);
    }
    long now = time.nanoTime();
    long remaining = request.deadline().remainingNanos();
    if (remaining == 0) {
      return denied(request, AdmissionLimit.DEADLINE, Duration.ZERO, Duration.ZERO);
    }
    long queueTimeout = policy.queueTimeout().toNanos();
    Waiter waiter;
    lock.lock();
    try {
      if (enter(request, now) instanceof Admission.Decision decision) {
        return decision;
      }
      long giveUpNanos = now + Math.min(queueTimeout, remaining);
      waiter = join(request, now, giveUpNanos);
    } finally {
      lock.unlock();
    }
    LocalPermit permit = await(waiter);
    if (permit != null) {
      return new Admission.Admitted(permit);
    }
    Duration waited = Duration.ofNanos(time.nanoTime() - now);
    return remaining < queueTimeout
        ? denied(request, AdmissionLimit.DEADLINE, Duration.ofNanos(remaining), waited)
        : denied(request, AdmissionLimit.QUEUE_TIMEOUT, policy.queueTimeout(), waited);
  }

  /** What keeps a request out whatever else goes on; null if nothing does. */
  private @Nullable AdmissionLimit neverAdmitted(AdmissionRequest request) {
    if (policy.tokensPerMinute().isEmpty()) {
      return null;
    }
    if (request.estimatedTokens().isEmpty()) {
      return AdmissionLimit.MAX_TOKENS_MISSING;
    }
    boolean fits = request.estimatedTokens().getAsLong() <= policy.tokensPerMinute().getAsLong();
    return fits ? null : AdmissionLimit.REQUEST_TOO_LARGE;
  }

  /** What the limit of tokens counts for a request: nothing if there is none. */
  private long tokensOf(AdmissionRequest request) {
    return policy.tokensPerMinute().isPresent() ? request.estimatedTokens().orElseThrow() : 0;
  }

  /** Judges a request that has just come. Under the lock. */
  private Admission enter(AdmissionRequest request, long nowNanos) {
    Gate gate = gate(request.target(), nowNanos);
    if (gate == null) {
      return denied(request, AdmissionLimit.TARGET_TABLE);
    }
    AdmissionLimit obstacle = AdmissionLimit.QUEUE_FULL;
    if (!gate.hasWaiters()) {
      long tokens = tokensOf(request);
      obstacle = gate.quota.obstacle(tokens, nowNanos);
      if (obstacle == null) {
        return new Admission.Admitted(take(gate, tokens, nowNanos));
      }
    }
    if (waiting < policy.maxQueue()) {
      return Admission.MUST_WAIT;
    }
    return denied(request, policy.maxQueue() == 0 ? obstacle : AdmissionLimit.QUEUE_FULL);
  }

  /** Puts a request that must wait at the end of its queue. Under the lock. */
  private Waiter join(AdmissionRequest request, long nowNanos, long giveUpNanos) {
    Gate gate =
        Objects.requireNonNull(gates.get(request.target()), "the gate that it must wait at");
    Waiter waiter = new Waiter(gate, tokensOf(request), nowNanos, giveUpNanos);
    gate.join(waiter);
    waiting++;
    return waiter;
  }

  /** Takes from all limits of a target. Under the lock. */
  private LocalPermit take(Gate gate, long tokens, long nowNanos) {
    inFlight++;
    return new LocalPermit(this, gate, tokens, gate.quota.take(tokens, nowNanos));
  }

  /** Waits for its turn; null if it has waited long enough. Leaves the queue in any case. */
  private @Nullable LocalPermit await(Waiter waiter) throws InterruptedException {
    try {
      while (true) {
        if (Thread.interrupted()) {
          throw new InterruptedException();
        }
        waiter.willLook();
        long now = time.nanoTime();
        if (now - waiter.giveUpNanos >= 0) {
          return null;
        }
        LocalPermit permit = look(waiter, now);
        if (permit != null) {
          return permit;
        }
        Alarm alarm = time.alarm(waiter.alarmNanos, waiter);
        waiter.park();
        alarm.cancel();
      }
    } finally {
      leave(waiter);
    }
  }

  private @Nullable LocalPermit look(Waiter waiter, long nowNanos) {
    LocalPermit permit = null;
    Waiter next = null;
    lock.lock();
    try {
      looks++;
      if (waiter.gate.isTurnOf(waiter, nowNanos)) {
        permit = take(waiter.gate, waiter.tokens, nowNanos);
        next = remove(waiter);
      }
    } finally {
      lock.unlock();
    }
    tellToLook(next);
    return permit;
  }

  private void leave(Waiter waiter) {
    Waiter next = null;
    lock.lock();
    try {
      if (waiter.queued) {
        next = remove(waiter);
      }
    } finally {
      lock.unlock();
    }
    tellToLook(next);
  }

  /** Takes a waiter out of its queue; returns who is to look then. Under the lock. */
  private @Nullable Waiter remove(Waiter waiter) {
    waiter.gate.leave(waiter);
    waiting--;
    noteIdle(waiter.gate);
    return waiter.gate.toWake();
  }

  /** Ends a call. */
  void release(LocalPermit permit) {
    Waiter next;
    lock.lock();
    try {
      if (permit.closed) {
        return;
      }
      permit.closed = true;
      permit.gate.quota.release();
      inFlight--;
      noteIdle(permit.gate);
      next = permit.gate.toWake();
    } finally {
      lock.unlock();
    }
    tellToLook(next);
  }

  /** Corrects the tokens of a call, the first time that it is asked. */
  void reconcile(LocalPermit permit, long totalTokens) {
    if (totalTokens < 0) {
      throw new InvalidRequestException(
          FailureKind.INVALID_REQUEST,
          "totalTokens must be 0 or more, but is " + totalTokens + ".");
    }
    Waiter next;
    lock.lock();
    try {
      if (permit.closed || permit.reconciled) {
        return;
      }
      permit.reconciled = true;
      permit.gate.quota.reconcile(permit.window, permit.tokens, totalTokens);
      next = permit.gate.toWake();
    } finally {
      lock.unlock();
    }
    tellToLook(next);
  }

  private static void tellToLook(@Nullable Waiter waiter) {
    if (waiter != null) {
      waiter.run();
    }
  }

  /** The gate of a target; null if the table has no room for another one. Under the lock. */
  private @Nullable Gate gate(Target target, long nowNanos) {
    Gate gate = gates.get(target);
    if (gate == null && hasRoom(nowNanos)) {
      gate = new Gate(policy);
      gates.put(target, gate);
    }
    return gate;
  }

  private boolean hasRoom(long nowNanos) {
    if (gates.size() >= policy.maxTargets() && nowNanos - sweepNanos >= 0) {
      sweep(nowNanos);
    }
    return gates.size() < policy.maxTargets();
  }

  /** Takes out what is idle and has no window left, and notes when it is worth looking again. */
  private void sweep(long nowNanos) {
    sweepNanos = nowNanos + LONGEST_SWEEP_PAUSE_NANOS;
    Iterator<Gate> all = gates.values().iterator();
    while (all.hasNext()) {
      Gate gate = all.next();
      if (gate.isIdle() && !gate.quota.isWindowOpen(nowNanos)) {
        all.remove();
      } else {
        noteIdle(gate);
      }
    }
  }

  /** An idle gate can be taken out when its window has ended. Under the lock. */
  private void noteIdle(Gate gate) {
    if (gate.isIdle() && gate.quota.windowEndNanos() - sweepNanos < 0) {
      sweepNanos = gate.quota.windowEndNanos();
    }
  }

  private Admission.Denied denied(AdmissionRequest request, AdmissionLimit limit) {
    Object configured =
        switch (limit) {
          case MAX_CONCURRENT -> policy.maxConcurrent();
          case REQUESTS_PER_MINUTE -> policy.requestsPerMinute().orElseThrow();
          case TOKENS_PER_MINUTE, REQUEST_TOO_LARGE, MAX_TOKENS_MISSING ->
              policy.tokensPerMinute().orElseThrow();
          case QUEUE_FULL -> policy.maxQueue();
          case TARGET_TABLE -> policy.maxTargets();
          case QUEUE_TIMEOUT, DEADLINE -> throw new IllegalArgumentException(limit.toString());
        };
    return denied(request, limit, configured, Duration.ZERO);
  }

  private static Admission.Denied denied(
      AdmissionRequest request, AdmissionLimit limit, Object configured, Duration waited) {
    return new Admission.Denied(request.target(), limit, configured.toString(), waited);
  }

  /** How often waiters looked so far. */
  long looks() {
    lock.lock();
    try {
      return looks;
    } finally {
      lock.unlock();
    }
  }

  /** Shows how many calls are in flight, how many requests wait, and for how many targets. */
  @Override
  public String toString() {
    int calls;
    int requests;
    int targets;
    lock.lock();
    try {
      calls = inFlight;
      requests = waiting;
      targets = gates.size();
    } finally {
      lock.unlock();
    }
    return "local admission: %d in flight, %d waiting, %d targets"
        .formatted(calls, requests, targets);
  }
}
