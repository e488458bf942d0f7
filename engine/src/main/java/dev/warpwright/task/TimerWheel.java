package dev.warpwright.task;

import org.jspecify.annotations.Nullable;

/**
 * A hierarchical timing wheel: which alarms are due at a given instant, and when to look again. It
 * reads no clock and starts no thread; {@link SystemTime} does both.
 *
 * <p>Safe for use by any thread; one short lock guards it.
 */
final class TimerWheel {

  /*
   * Time is counted in ticks of 2^20 ns (1.05 ms) since the wheel was made. A tick number has at
   * most 43 bits, so eight levels of 64 slots reach as far as a long counts nanoseconds: a slot of
   * level n is 64^n ticks wide.
   *
   * Where an alarm hangs follows from its tick and the wheel's own: the level is that of the highest
   * group of six bits in which the two differ, the slot is the alarm's value in that group. (Tokio
   * places its timers in this way; the classic wheel of Varghese and Lauck goes by distance instead
   * and needs slots that wrap around.) Three things follow.
   *
   *  - All alarms of a level share the higher groups with the wheel and are ahead of it in their own.
   *    So all of level n are due before any of level n + 1, and within a level the lowest slot is the
   *    next one. With one bit per slot in a long, "what comes next" is the first level that is not
   *    zero and its lowest bit, however many alarms are pending.
   *  - A slot of level 0 holds one tick. An alarm's tick is its instant rounded up, and the wheel
   *    fires what is not ahead of the last full tick: never early, and at most one tick late.
   *  - Moving the wheel forward keeps every alarm in its place until the wheel reaches the start of
   *    its slot. Then the slot is spread over the levels below, so an alarm moves at most seven
   *    times in its life, and one that is cancelled before then does not move at all.
   *
   * The sleeper need only wake at the start of the next occupied slot. A cancel does not move that
   * instant back (the sleeper finds nothing and plans again); arming an alarm whose slot starts
   * earlier wakes it. So a program that arms and cancels the same timeout again and again wakes the
   * sleeper about once per timeout, not once per alarm.
   *
   * Instants are compared by difference, so the clock may wrap. Alarms lie up to 2^63 - 1 ns ahead of
   * the real time, the wheel's own position lags behind it by at most the age of the process. What
   * seems to lie more than 2^62 ns (146 years) in the past is therefore a far future that wrapped.
   */

  static final int TICK_BITS = 20;
  static final long TICK_NANOS = 1L << TICK_BITS;

  private static final int GROUP_BITS = 6;
  private static final int SLOTS = 1 << GROUP_BITS;
  private static final int LEVELS = 8;
  private static final long LAST_TICK = Long.MAX_VALUE >>> TICK_BITS;
  private static final long NO_WAKE = Long.MAX_VALUE;

  private final long origin; // the nanoTime of tick 0
  private final Runnable wakeSleeper; // called without the lock

  private final @Nullable Entry[] slots = new Entry[LEVELS * SLOTS]; // guarded by this
  private final long[] occupied = new long[LEVELS]; // guarded by this; one bit per slot
  private long position; // guarded by this; the tick up to which all is done
  private long plannedWake = NO_WAKE; // guarded by this; the tick at which the sleeper looks again
  private int pending; // guarded by this
  private long steps; // guarded by this; entries linked and unlinked and slots spread, for tests

  /**
   * @param origin the current nanoTime
   * @param wakeSleeper called when an alarm was armed that is due before the planned wake-up
   */
  TimerWheel(long origin, Runnable wakeSleeper) {
    this.origin = origin;
    this.wakeSleeper = wakeSleeper;
  }

  /** Arms an alarm. O(1). */
  Alarm arm(long atNanoTime, Runnable action) {
    Entry entry = new Entry(this, action);
    boolean earlier;
    synchronized (this) {
      entry.tick = tickOf(atNanoTime);
      link(entry);
      pending++;
      long wake = slotStart(entry.slot / SLOTS, entry.slot % SLOTS);
      earlier = wake < plannedWake;
      if (earlier) {
        plannedWake = wake;
      }
    }
    if (earlier) {
      wakeSleeper.run();
    }
    return entry;
  }

  /** Takes out one alarm that is due and returns its action; null if none is. */
  synchronized @Nullable Runnable pollDue(long nowNanoTime) {
    long now = Math.max(position, (nowNanoTime - origin) >> TICK_BITS);
    while (true) {
      int level = firstOccupiedLevel();
      if (level == LEVELS) {
        break;
      }
      int slot = Long.numberOfTrailingZeros(occupied[level]);
      long start = slotStart(level, slot);
      if (start > now) {
        break;
      }
      position = start;
      if (level == 0) {
        return fire(slot);
      }
      spread(level * SLOTS + slot);
    }
    position = now;
    return null;
  }

  /**
   * Plans the sleeper's next look: the nanoseconds from now until the next occupied slot starts,
   * zero or less if something is due, {@link Long#MAX_VALUE} if nothing is pending.
   */
  synchronized long planWake(long nowNanoTime) {
    int level = firstOccupiedLevel();
    if (level == LEVELS) {
      plannedWake = NO_WAKE;
      return Long.MAX_VALUE;
    }
    plannedWake = slotStart(level, Long.numberOfTrailingZeros(occupied[level]));
    return (plannedWake << TICK_BITS) - (nowNanoTime - origin);
  }

  /** The number of alarms that are armed. */
  synchronized int pending() {
    return pending;
  }

  /** The work done so far, in entries and slots touched. */
  synchronized long steps() {
    return steps;
  }

  private synchronized boolean cancel(Entry entry) {
    if (entry.slot >= 0) {
      unlink(entry);
      entry.slot = Entry.CANCELLED;
      entry.action = null;
      pending--;
    }
    return entry.slot == Entry.CANCELLED;
  }

  private @Nullable Runnable fire(int slot) {
    Entry entry = slots[slot];
    if (entry == null) {
      throw new AssertionError("slot " + slot + " is marked but empty");
    }
    unlink(entry);
    entry.slot = Entry.FIRED;
    pending--;
    Runnable action = entry.action;
    entry.action = null;
    return action;
  }

  /** Moves the alarms of a slot that the wheel has reached to the levels below. */
  private void spread(int index) {
    steps++;
    Entry entry = slots[index];
    slots[index] = null;
    occupied[index / SLOTS] &= ~(1L << index);
    while (entry != null) {
      Entry next = entry.next;
      entry.next = null;
      link(entry);
      entry = next;
    }
  }

  private void link(Entry entry) {
    steps++;
    long tick = Math.max(entry.tick, position); // overdue: due now
    int highestDifference = 63 - Long.numberOfLeadingZeros((tick ^ position) | 1);
    int level = highestDifference / GROUP_BITS;
    int slot = (int) (tick >>> (level * GROUP_BITS)) & (SLOTS - 1);
    int index = level * SLOTS + slot;
    Entry head = slots[index];
    entry.slot = index;
    entry.previous = null;
    entry.next = head;
    if (head != null) {
      head.previous = entry;
    }
    slots[index] = entry;
    occupied[level] |= 1L << slot;
  }

  private void unlink(Entry entry) {
    steps++;
    int index = entry.slot;
    Entry previous = entry.previous;
    Entry next = entry.next;
    if (next != null) {
      next.previous = previous;
    }
    if (previous != null) {
      previous.next = next;
    } else {
      slots[index] = next;
      if (next == null) {
        occupied[index / SLOTS] &= ~(1L << index); // a shift counts modulo 64, as the slots do
      }
    }
    entry.previous = null;
    entry.next = null;
  }

  private int firstOccupiedLevel() {
    int level = 0;
    while (level < LEVELS && occupied[level] == 0) {
      level++;
    }
    return level;
  }

  /** The first tick of a slot that is ahead of the wheel, or of the one it stands in. */
  private long slotStart(int level, int slot) {
    int shift = level * GROUP_BITS;
    long shared = position >>> (shift + GROUP_BITS) << (shift + GROUP_BITS);
    return shared | ((long) slot << shift);
  }

  /** The first tick that does not start before an instant. */
  private long tickOf(long atNanoTime) {
    long elapsed = position << TICK_BITS;
    long ahead = atNanoTime - (origin + elapsed);
    if (ahead < Long.MIN_VALUE / 2 || ahead > Long.MAX_VALUE - elapsed - TICK_NANOS) {
      return LAST_TICK;
    }
    return ahead <= 0 ? position : (elapsed + ahead + TICK_NANOS - 1) >>> TICK_BITS;
  }

  private static final class Entry implements Alarm {
    static final int FIRED = -1;
    static final int CANCELLED = -2;

    private final TimerWheel wheel;
    // All guarded by wheel.
    private @Nullable Runnable action;
    private @Nullable Entry previous;
    private @Nullable Entry next;
    private long tick;
    private int slot; // or FIRED or CANCELLED

    Entry(TimerWheel wheel, Runnable action) {
      this.wheel = wheel;
      this.action = action;
    }

    @Override
    public boolean cancel() {
      return wheel.cancel(this);
    }
  }
}
