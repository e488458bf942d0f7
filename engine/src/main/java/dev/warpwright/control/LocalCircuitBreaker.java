package dev.warpwright.control;

import dev.warpwright.control.CircuitRefusal.Reason;
import dev.warpwright.model.Target;
import dev.warpwright.task.TimeSource;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

/**
 * The circuits of one process. What happens is decided by {@link Circuit#next}; here is only where
 * the states are kept. A call on a closed circuit without failures takes no lock, reads no clock,
 * writes no state, and allocates its permit and the event of its end.
 */
final class LocalCircuitBreaker implements CircuitBreaker {
  private final CircuitPolicy policy;
  private final TimeSource time;
  private final Consumer<? super CircuitTransition> observer;
  private final TargetTable<Slot> slots;

  LocalCircuitBreaker(
      CircuitPolicy policy, TimeSource time, Consumer<? super CircuitTransition> observer) {
    this.policy = policy;
    this.time = time;
    this.observer = observer;
    this.slots = new TargetTable<>(policy.maxTargets(), time::nanoTime, Slot::new);
  }

  /** One target's circuit; each permit is a user of it. */
  private static final class Slot extends TargetTable.Slot {
    final AtomicReference<Circuit> circuit = new AtomicReference<>(Circuit.INITIAL);

    /** Moves on, unless somebody else has moved on from the same state; false says so. */
    boolean replace(Circuit before, Circuit after) {
      return after.equals(before) || circuit.compareAndSet(before, after);
    }

    @Override
    boolean mayBeForgotten(long nowNanos) {
      return !(circuit.get() instanceof Circuit.Open open && open.isCooling(nowNanos));
    }
  }

  @Override
  public CircuitState state(Target target) {
    Slot slot = slots.find(target);
    if (slot == null) {
      return new CircuitState.Closed();
    }
    Circuit circuit = slot.circuit.get();
    long nowNanos = time.nanoTime();
    return circuit instanceof Circuit.Open open && !open.isCooling(nowNanos)
        ? new CircuitState.HalfOpen() // the next call will say so
        : describe(circuit, nowNanos, time.now());
  }

  @Override
  public CircuitDecision tryAcquire(Target target) {
    Slot slot = slots.enter(target);
    if (slot == null) {
      return new CircuitRefusal(Reason.TABLE_FULL, time.now());
    }
    while (true) {
      Circuit before = slot.circuit.get();
      if (before instanceof Circuit.Closed) {
        return new Permit(target, slot, before.epoch()); // whatever the time, and nothing changes
      }
      long nowNanos = time.nanoTime();
      Circuit after = Circuit.next(before, Circuit.Acquire.EVENT, nowNanos, policy);
      if (!Circuit.isLetThrough(before, after)) {
        slot.leave();
        return refusal(before, nowNanos);
      }
      if (slot.replace(before, after)) {
        report(target, before, after);
        return new Permit(target, slot, after.epoch());
      }
    }
  }

  private CircuitRefusal refusal(Circuit circuit, long nowNanos) {
    Instant now = time.now();
    return circuit instanceof Circuit.Open open
        ? new CircuitRefusal(Reason.OPEN, now.plusNanos(open.probesAtNanos() - nowNanos))
        : new CircuitRefusal(Reason.PROBING, now);
  }

  private void end(Target target, Slot slot, Circuit.Event event) {
    boolean setsCooldown = event instanceof Circuit.Failure; // else the time decides nothing
    long nowNanos = setsCooldown ? time.nanoTime() : 0;
    Circuit before;
    Circuit after;
    do {
      before = slot.circuit.get();
      after = Circuit.next(before, event, nowNanos, policy);
    } while (!slot.replace(before, after));
    slot.leave();
    report(target, before, after);
  }

  private void report(Target target, Circuit before, Circuit after) {
    if (before.epoch() == after.epoch()) {
      return;
    }
    try {
      long nowNanos = time.nanoTime();
      Instant now = time.now();
      observer.accept(
          new CircuitTransition(
              target, describe(before, nowNanos, now), describe(after, nowNanos, now), now));
    } catch (RuntimeException | Error dropped) {
      // The call that caused the change must not suffer for it.
    }
  }

  private static CircuitState describe(Circuit circuit, long nowNanos, Instant now) {
    return switch (circuit) {
      case Circuit.Closed _ -> new CircuitState.Closed();
      case Circuit.Open(long _, long probesAtNanos) ->
          new CircuitState.Open(now.plusNanos(probesAtNanos - nowNanos));
      case Circuit.HalfOpen _ -> new CircuitState.HalfOpen();
    };
  }

  private final class Permit implements CircuitPermit {
    private static final VarHandle ENDED;

    static {
      try {
        ENDED = MethodHandles.lookup().findVarHandle(Permit.class, "ended", boolean.class);
      } catch (ReflectiveOperationException e) {
        throw new ExceptionInInitializerError(e);
      }
    }

    private final Target target;
    private final Slot slot;
    private final long epoch;
    private volatile boolean ended; // set by whoever says first how the call ended

    Permit(Target target, Slot slot, long epoch) {
      this.target = target;
      this.slot = slot;
      this.epoch = epoch;
    }

    @Override
    public void success() {
      if (!endsNow()) {
        return;
      }
      if (Circuit.isUntroubled(slot.circuit.get())) {
        slot.leave(); // a success changes nothing
      } else {
        end(target, slot, new Circuit.Success(epoch));
      }
    }

    @Override
    public void failure(Optional<Duration> retryAfter) {
      if (endsNow()) {
        end(target, slot, new Circuit.Failure(epoch, retryAfter.orElse(Duration.ZERO)));
      }
    }

    @Override
    public void close() {
      if (endsNow()) {
        end(target, slot, new Circuit.Neutral(epoch));
      }
    }

    private boolean endsNow() {
      return !ended && ENDED.compareAndSet(this, false, true);
    }
  }
}
