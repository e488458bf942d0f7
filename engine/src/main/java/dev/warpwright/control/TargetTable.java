package dev.warpwright.control;

import dev.warpwright.model.Target;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What a control keeps for each target, for a bounded number of targets.
 *
 * <p>Whoever works on a slot enters it and leaves it again; a slot is not forgotten meanwhile. When
 * the table is full, a new target takes the place of the one that was touched least recently among
 * those that nobody uses and that {@linkplain Slot#mayBeForgotten may be forgotten}.
 *
 * <p>Safe for use by any thread.
 *
 * @param <S> what is kept
 */
final class TargetTable<S extends TargetTable.Slot> {
  /*
   * A known target is found and entered without a lock. One counter decides between the users of a
   * slot and its removal: entering adds one to it, and removal is a compare-and-set from 0 to
   * FORGOTTEN, from which no number of late entries gets back to 0. Whoever comes too late looks
   * the target up once more, under the lock, where nothing is being removed.
   *
   * The search for a victim is linear. It happens only when a full table meets a new target; a
   * table that does so all the time is too small.
   *
   * Which slot was touched least recently does not change while one and the same is touched again
   * and again, so only a touch of another one than the last reads the clock and writes anything.
   * Of two that are touched at once either may seem the later one, until the next such change.
   */
  private static final int FORGOTTEN = Integer.MIN_VALUE;

  private final int maxTargets;
  private final LongSupplier nanoTime;
  private final Supplier<S> newSlot;
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<Target, S> slots = new ConcurrentHashMap<>(); // changed under lock, read freely
  private volatile @Nullable Slot lastTouched; // a hint; written by whoever touches another one

  /**
   * An empty table.
   *
   * @param maxTargets its capacity
   * @param nanoTime the monotonic clock
   * @param newSlot makes the slot of a new target; called under the lock, so it only allocates
   */
  TargetTable(int maxTargets, LongSupplier nanoTime, Supplier<S> newSlot) {
    this.maxTargets = maxTargets;
    this.nanoTime = nanoTime;
    this.newSlot = newSlot;
  }

  /** What is kept of one target. */
  abstract static class Slot {
    private final AtomicInteger users = new AtomicInteger(); // negative: forgotten
    private volatile long touchedNanos; // when it was touched after another one; a hint

    /** How many are using it. */
    final int users() {
      return Math.max(0, users.get());
    }

    /** Ends one use. */
    final void leave() {
      users.getAndDecrement();
    }

    /**
     * Whether nothing is lost with it. It is asked under the table's lock while nobody uses the
     * slot; it decides from values and calls nothing.
     */
    abstract boolean mayBeForgotten(long nowNanos);

    private boolean enter() {
      return users.getAndIncrement() >= 0;
    }

    private boolean forget(long nowNanos) {
      if (!users.compareAndSet(0, FORGOTTEN)) {
        return false;
      }
      if (mayBeForgotten(nowNanos)) { // it may have changed before the last user left
        return true;
      }
      users.set(0);
      return false;
    }
  }

  /**
   * The slot of a target, which the caller now uses and must leave.
   *
   * @return the slot, a new one if there is none, or null if the table is full and none of its
   *     slots can go
   */
  @Nullable S enter(Target target) {
    S slot = slots.get(target);
    if (slot == null || !enter(slot)) {
      slot = enterUnderLock(target, nanoTime.getAsLong());
    }
    if (slot != null) {
      touch(slot);
    }
    return slot;
  }

  private @Nullable S enterUnderLock(Target target, long nowNanos) {
    lock.lock();
    try {
      S slot = slots.get(target);
      if (slot == null) {
        if (slots.size() >= maxTargets && !makeRoom(nowNanos)) {
          return null;
        }
        slot = newSlot.get();
        slots.put(target, slot);
      }
      enter(slot);
      return slot;
    } finally {
      lock.unlock();
    }
  }

  /** Makes a slot that the caller uses the most recently touched one. */
  @SuppressWarnings("ReferenceEquality") // a slot is its own identity
  void touch(Slot slot) {
    if (lastTouched != slot) {
      lastTouched = slot;
      slot.touchedNanos = nanoTime.getAsLong();
    }
  }

  /** The slot of a target, if there is one, for a look at it. */
  @Nullable S find(Target target) {
    return slots.get(target);
  }

  private static boolean enter(Slot slot) {
    return slot.enter();
  }

  /** Guarded by the lock. */
  private boolean makeRoom(long nowNanos) {
    while (true) {
      Target victim = null;
      Slot oldest = null;
      for (Map.Entry<Target, S> entry : slots.entrySet()) {
        Slot slot = entry.getValue();
        if (slot.users() == 0
            && slot.mayBeForgotten(nowNanos)
            && (oldest == null || slot.touchedNanos - oldest.touchedNanos < 0)) {
          victim = entry.getKey();
          oldest = slot;
        }
      }
      if (victim == null || oldest == null) {
        return false;
      }
      if (oldest.forget(nowNanos)) {
        slots.remove(victim);
        return true;
      }
    }
  }
}
