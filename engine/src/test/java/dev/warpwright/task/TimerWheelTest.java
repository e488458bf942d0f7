package dev.warpwright.task;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@SuppressWarnings("ReturnValueIgnored")
class TimerWheelTest {
  private static final long TICK = TimerWheel.TICK_NANOS;

  private final List<String> fired = new ArrayList<>();
  private int wakeUps;

  private TimerWheel wheel(long origin) {
    return new TimerWheel(origin, () -> wakeUps++);
  }

  private Runnable fires(String name) {
    return () -> fired.add(name);
  }

  private static void runDue(TimerWheel wheel, long now) {
    Runnable action;
    while ((action = wheel.pollDue(now)) != null) {
      action.run();
    }
  }

  @Test
  void an_alarm_fires_at_the_first_tick_that_is_not_before_it() {
    TimerWheel wheel = wheel(0);
    wheel.arm(10 * TICK, fires("on the tick"));
    wheel.arm(10 * TICK + 1, fires("after the tick"));
    runDue(wheel, 10 * TICK - 1);
    assertEquals(List.of(), fired);
    runDue(wheel, 10 * TICK);
    assertEquals(List.of("on the tick"), fired);
    runDue(wheel, 11 * TICK - 1);
    assertEquals(List.of("on the tick"), fired);
    runDue(wheel, 11 * TICK);
    assertEquals(List.of("on the tick", "after the tick"), fired);
    assertEquals(0, wheel.pending());
  }

  @Test
  void an_alarm_for_the_past_is_due_at_once() {
    TimerWheel wheel = wheel(0);
    runDue(wheel, 1000 * TICK);
    wheel.arm(5, fires("past"));
    assertTrue(wheel.planWake(1000 * TICK) <= 0);
    runDue(wheel, 1000 * TICK);
    assertEquals(List.of("past"), fired);
  }

  @Test
  void a_cancelled_alarm_does_not_fire_and_cancel_keeps_saying_so() {
    TimerWheel wheel = wheel(0);
    Alarm alarm = wheel.arm(TICK, fires("cancelled"));
    assertTrue(alarm.cancel());
    assertTrue(alarm.cancel());
    runDue(wheel, 10 * TICK);
    assertEquals(List.of(), fired);
    assertEquals(Long.MAX_VALUE, wheel.planWake(10 * TICK));
  }

  @Test
  void an_alarm_that_has_been_taken_out_to_run_cannot_be_cancelled() {
    TimerWheel wheel = wheel(0);
    Alarm alarm = wheel.arm(TICK, fires("ran"));
    assertNotNull(wheel.pollDue(TICK));
    assertFalse(alarm.cancel());
    assertFalse(alarm.cancel());
  }

  @Test
  void an_alarm_that_is_due_can_be_cancelled_until_it_is_its_turn() {
    TimerWheel wheel = wheel(0);
    Alarm one = wheel.arm(TICK, fires("one"));
    Alarm two = wheel.arm(TICK, fires("two"));
    Runnable first = wheel.pollDue(TICK);
    assertNotNull(first);
    first.run();
    assertTrue(fired.equals(List.of("one")) ? two.cancel() : one.cancel());
    assertNull(wheel.pollDue(TICK));
    assertEquals(1, fired.size());
  }

  @Test
  @Tag("R129")
  void a_cancelled_alarm_holds_on_to_nothing() {
    TimerWheel wheel = wheel(0);
    Object[] payload = {new Object()};
    Runnable action = payload[0]::hashCode;
    WeakReference<Object> reference = new WeakReference<>(payload[0]);
    Alarm alarm = wheel.arm(TimeUnit.DAYS.toNanos(1), action);
    action = null;
    payload[0] = null;
    assertTrue(alarm.cancel());
    TaskFixture.until(
        "collection",
        () -> {
          System.gc();
          return reference.get() == null;
        });
    assertEquals(0, wheel.pending());
    assertTrue(alarm.cancel()); // the handle is alive, the action is not
  }

  @Test
  void only_an_alarm_before_the_planned_look_wakes_the_sleeper() {
    TimerWheel wheel = wheel(0);
    wheel.arm(20 * TICK, fires("first"));
    assertEquals(1, wakeUps);
    assertEquals(20 * TICK, wheel.planWake(0));
    wheel.arm(30 * TICK, fires("later"));
    assertEquals(1, wakeUps);
    wheel.arm(10 * TICK, fires("earlier"));
    assertEquals(2, wakeUps);
    assertEquals(10 * TICK, wheel.planWake(0));
  }

  @Test
  void arming_and_cancelling_one_timeout_over_and_over_wakes_the_sleeper_once_per_timeout() {
    TimerWheel wheel = wheel(0);
    long timeout = TimeUnit.SECONDS.toNanos(120);
    long planned = Long.MAX_VALUE;
    int looks = 0;
    for (long now = 0; now < 10 * timeout; now += timeout / 1000) {
      Alarm alarm = wheel.arm(now + timeout, fires("timeout"));
      if (wakeUps > 0 || now >= planned) {
        wakeUps = 0;
        looks++;
        runDue(wheel, now);
        long nanos = wheel.planWake(now);
        planned = nanos == Long.MAX_VALUE ? nanos : now + nanos;
      }
      alarm.cancel();
    }
    assertEquals(List.of(), fired);
    assertTrue(looks <= 40, "looks: " + looks);
  }

  @ParameterizedTest
  @ValueSource(longs = {0, -1, Long.MAX_VALUE - 5, Long.MIN_VALUE, 1234567890123456789L})
  void the_farthest_alarm_is_kept_and_does_not_fire_early(long origin) {
    TimerWheel wheel = wheel(origin);
    long year = TimeUnit.DAYS.toNanos(365);
    Alarm farthest = wheel.arm(origin + Long.MAX_VALUE, fires("farthest"));
    for (int years = 1; years <= 100; years++) {
      runDue(wheel, origin + years * year);
    }
    // The wheel stands where it was last polled, the clock is ahead of it: the sum wraps.
    wheel.arm(origin + 110 * year + Long.MAX_VALUE, fires("beyond"));
    runDue(wheel, origin + 120 * year);
    assertEquals(List.of(), fired);
    assertTrue(wheel.planWake(origin + 120 * year) > 0);
    assertTrue(farthest.cancel());
    assertEquals(1, wheel.pending());
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void it_agrees_with_a_list_of_alarms_under_random_use(long seed) {
    try {
      new RandomUse(seed).run(20_000);
    } catch (Throwable thrown) {
      throw new AssertionError("seed " + seed, thrown);
    }
  }

  /**
   * Arms, cancels and lets time pass. A simulated sleeper polls only when the wheel has asked for
   * it, so each alarm must fire in the tick in which it falls due, or a wake-up was lost.
   */
  private static final class RandomUse {
    private final Random random;
    private final long origin;
    private final TimerWheel wheel;
    private final List<Model> armed = new ArrayList<>();
    private long elapsed;
    private long wakeAt = Long.MAX_VALUE;
    private boolean woken;

    RandomUse(long seed) {
      random = new Random(seed);
      origin = random.nextLong();
      wheel = new TimerWheel(origin, () -> woken = true);
    }

    private final class Model implements Runnable {
      final long at;
      final Alarm alarm;

      Model(long at) {
        this.at = at;
        this.alarm = wheel.arm(origin + at, this);
      }

      @Override
      public void run() {
        assertTrue(elapsed >= at, () -> "early by " + (at - elapsed));
        assertTrue(elapsed - at < TICK, () -> "late by " + (elapsed - at));
        assertTrue(armed.remove(this), "fired though not armed");
        assertFalse(alarm.cancel());
      }
    }

    void run(int rounds) {
      for (int round = 0; round < rounds; round++) {
        switch (random.nextInt(4)) {
          case 0, 1 -> armed.add(new Model(elapsed + distance(62)));
          case 2 -> {
            if (!armed.isEmpty()) {
              Model model = armed.remove(random.nextInt(armed.size()));
              assertTrue(model.alarm.cancel());
            }
          }
          default -> pass(distance(round % 100 == 0 ? 50 : 34));
        }
        if (woken) {
          look();
        }
        assertEquals(armed.size(), wheel.pending());
      }
    }

    /** Some distance, of any order of magnitude. */
    private long distance(int bits) {
      long far = random.nextLong() >>> (64 - 1 - random.nextInt(bits));
      return Math.min(far, Long.MAX_VALUE - elapsed);
    }

    private void pass(long nanos) {
      long target = elapsed > (1L << 61) ? elapsed : elapsed + nanos;
      while (wakeAt <= target) {
        elapsed = wakeAt;
        look();
      }
      elapsed = target;
      for (Model model : armed) {
        assertTrue(model.at > elapsed - TICK, () -> "missed by " + (elapsed - model.at));
      }
    }

    private void look() {
      woken = false;
      runDue(wheel, origin + elapsed);
      long nanos = wheel.planWake(origin + elapsed);
      assertTrue(nanos > 0, "due, but not taken out");
      wakeAt = nanos == Long.MAX_VALUE ? Long.MAX_VALUE : elapsed + nanos;
    }
  }

  @Test
  @Tag("R133")
  @Tag("FR-C07")
  void arming_and_cancelling_touch_one_slot_with_a_million_alarms_pending() {
    TimerWheel wheel = wheel(0);
    Random random = new Random(42);
    int million = 1_000_000;
    List<Alarm> alarms = new ArrayList<>(million);
    for (int i = 0; i < million; i++) {
      long before = wheel.steps();
      alarms.add(wheel.arm(random.nextLong(TimeUnit.DAYS.toNanos(1)), () -> {}));
      assertEquals(1, wheel.steps() - before);
    }
    assertEquals(million, wheel.pending());
    long before = wheel.steps();
    assertTrue(wheel.planWake(0) > 0);
    assertEquals(before, wheel.steps(), "planning looks at bits, not at alarms");
    for (int i = 0; i < million; i += 2) {
      assertTrue(alarms.get(i).cancel());
    }
    assertEquals(million / 2, wheel.steps() - before);
    before = wheel.steps();
    int ran = 0;
    while (wheel.pollDue(TimeUnit.DAYS.toNanos(1) + TICK) != null) {
      ran++;
    }
    assertEquals(million / 2, ran);
    // One day is below 64^5 ticks: each alarm moves down at most four levels and is taken out.
    assertTrue(wheel.steps() - before < 6L * ran, "steps: " + (wheel.steps() - before));
    assertEquals(0, wheel.pending());
  }
}
