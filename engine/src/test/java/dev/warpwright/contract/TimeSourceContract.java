package dev.warpwright.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.task.Alarm;
import dev.warpwright.task.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * What every {@link TimeSource} must do.
 *
 * <p>To check one, extend this class and say how to make it and how its time passes:
 *
 * <pre>{@code
 * final class MyTimeTest extends TimeSourceContract {
 *   private final MyTime time = new MyTime();
 *
 *   @Override
 *   protected TimeSource time() {
 *     return time;
 *   }
 *
 *   @Override
 *   protected void pass(Duration duration) {
 *     time.advance(duration); // nothing, if it passes by itself
 *   }
 * }
 * }</pre>
 *
 * <p>No alarm is farther away than 50 ms, except those that must not fire.
 */
@Timeout(60)
public abstract class TimeSourceContract {
  private static final int MANY = 2_000;

  /** The source under test, always the same one within a test. */
  protected abstract TimeSource time();

  /**
   * Lets time pass, and with it run what falls due, on a source whose time does not pass by itself;
   * does nothing on one whose time does.
   *
   * @param duration how long, zero or more
   */
  protected abstract void pass(Duration duration);

  private long in(long nanos) {
    return time().nanoTime() + nanos;
  }

  /** Passes time until something has come about. */
  @SuppressWarnings("ThreadPriorityCheck") // it only saves processor time
  private void until(String what, BooleanSupplier condition) {
    long start = System.nanoTime();
    while (!condition.getAsBoolean()) {
      assertTrue(System.nanoTime() - start < 10_000_000_000L, "waited 10 s for " + what);
      pass(Duration.ofMillis(1));
      Thread.yield();
    }
  }

  @Test
  void the_monotonic_clock_never_goes_back() throws Exception {
    AtomicLong latest = new AtomicLong(time().nanoTime());
    List<FutureTask<Boolean>> readers = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      FutureTask<Boolean> reader = new FutureTask<>(() -> readsOn(latest));
      Thread.ofVirtual().start(reader);
      readers.add(reader);
    }
    for (int i = 0; i < 100; i++) {
      pass(Duration.ofNanos(i));
    }
    for (FutureTask<Boolean> reader : readers) {
      assertTrue(reader.get(60, TimeUnit.SECONDS), "a later reading was of an earlier time");
    }
  }

  /** Whether what is read is never before what another thread had published before. */
  private boolean readsOn(AtomicLong latest) {
    for (int i = 0; i < MANY; i++) {
      long before = latest.get();
      long now = time().nanoTime();
      if (now - before < 0) {
        return false;
      }
      latest.accumulateAndGet(now, (one, other) -> one - other < 0 ? other : one);
    }
    return true;
  }

  @Test
  void an_alarm_fires_once_and_never_early() {
    Random random = new Random(1);
    AtomicIntegerArray fired = new AtomicIntegerArray(MANY);
    AtomicInteger early = new AtomicInteger();
    List<Alarm> alarms = new ArrayList<>();
    for (int i = 0; i < MANY; i++) {
      int number = i;
      long at = in(random.nextInt(50_000_000));
      alarms.add(
          time()
              .alarm(
                  at,
                  () -> {
                    if (time().nanoTime() - at < 0) {
                      early.incrementAndGet();
                    }
                    fired.incrementAndGet(number);
                  }));
    }

    for (int i = 0; i < MANY; i++) {
      int number = i;
      until("alarm " + i, () -> fired.get(number) > 0);
      assertFalse(alarms.get(i).cancel(), "it has run, so it cannot be cancelled");
    }

    awaitAnAlarm();
    assertEquals(0, early.get());
    for (int i = 0; i < MANY; i++) {
      assertEquals(1, fired.get(i));
    }
  }

  /** When it has fired, all that was due before it has fired too. */
  private void awaitAnAlarm() {
    CountDownLatch last = new CountDownLatch(1);
    time().alarm(in(2_000_000), last::countDown);
    until("an alarm", () -> last.getCount() == 0);
  }

  @Test
  void an_alarm_of_the_past_is_due_at_once() {
    for (long ago : new long[] {0, 1, 5_000_000, Long.MAX_VALUE / 2}) {
      CountDownLatch fired = new CountDownLatch(1);
      time().alarm(in(-ago), fired::countDown);
      until("an alarm of " + ago + " ns ago", () -> fired.getCount() == 0);
    }
  }

  @Test
  void an_alarm_of_the_far_future_does_not_fire() {
    AtomicInteger fired = new AtomicInteger();
    List<Alarm> alarms = new ArrayList<>();
    for (long ahead :
        new long[] {3_600_000_000_000L, Long.MAX_VALUE / 2 - 1, Long.MAX_VALUE - 1_000_000_000}) {
      alarms.add(time().alarm(in(ahead), fired::incrementAndGet));
    }

    awaitAnAlarm();

    for (Alarm alarm : alarms) {
      assertTrue(alarm.cancel());
    }
    assertEquals(0, fired.get());
  }

  @Test
  void a_cancelled_alarm_never_fires() {
    AtomicInteger fired = new AtomicInteger();
    for (int i = 0; i < 100; i++) {
      Alarm alarm = time().alarm(in(20_000_000), fired::incrementAndGet);
      if (alarm.cancel()) {
        assertTrue(alarm.cancel(), "true for ever");
      } else {
        fired.decrementAndGet(); // the machine was so slow that it has fired, which is right, too
      }
    }
    for (int i = 0; i < 20; i++) {
      awaitAnAlarm();
    }
    assertEquals(0, fired.get());
  }

  @Test
  void each_alarm_is_either_cancelled_or_fires_however_close_the_race() throws Exception {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    AtomicInteger fired = new AtomicInteger();
    List<Alarm> alarms = new ArrayList<>();
    for (int i = 0; i < MANY; i++) {
      alarms.add(time().alarm(in(random.nextInt(5_000_000)), fired::incrementAndGet));
    }
    FutureTask<Integer> cancelling =
        new FutureTask<>(() -> (int) alarms.stream().filter(Alarm::cancel).count());
    Thread.ofVirtual().start(cancelling);
    until("the cancels", cancelling::isDone);
    int cancelled = cancelling.get();

    for (int i = 0; i < 5; i++) {
      awaitAnAlarm();
    }

    assertEquals(MANY, fired.get() + cancelled, "seed " + seed);
  }

  @Test
  void an_action_may_arm_the_next_alarm() {
    CountDownLatch steps = new CountDownLatch(5);
    armNext(steps);
    until("five alarms in a row", () -> steps.getCount() == 0);
  }

  private void armNext(CountDownLatch steps) {
    time()
        .alarm(
            in(1_000_000),
            () -> {
              steps.countDown();
              if (steps.getCount() > 0) {
                armNext(steps);
              }
            });
  }

  @Test
  @Tag("R133")
  void all_alarms_share_one_thread() {
    Set<Thread> threads = ConcurrentHashMap.newKeySet();
    CountDownLatch fired = new CountDownLatch(MANY);
    for (int i = 0; i < MANY; i++) {
      time()
          .alarm(
              in(i % 10 * 1_000_000L),
              () -> {
                threads.add(Thread.currentThread());
                fired.countDown();
              });
    }

    until("all alarms", () -> fired.getCount() == 0);

    assertEquals(1, threads.size(), threads::toString);
  }

  @Test
  void a_sleep_takes_its_time() throws Exception {
    FutureTask<Long> slept =
        new FutureTask<>(
            () -> {
              long start = time().nanoTime();
              time().sleep(Duration.ofMillis(20));
              return time().nanoTime() - start;
            });
    Thread.ofVirtual().start(slept);

    until("the end of the sleep", slept::isDone);

    assertTrue(slept.get() >= 20_000_000, () -> "slept " + slept.resultNow() + " ns");
  }

  @Test
  void a_sleep_of_no_time_returns_at_once() throws Exception {
    time().sleep(Duration.ZERO);
    time().sleep(Duration.ofMillis(-1));
    time().sleep(Duration.ofSeconds(Long.MIN_VALUE));
  }

  @Test
  void an_interrupt_ends_a_sleep() throws Exception {
    for (Duration duration : List.of(Duration.ofHours(1), Duration.ofSeconds(Long.MAX_VALUE))) {
      CountDownLatch ready = new CountDownLatch(1);
      FutureTask<Boolean> sleep =
          new FutureTask<>(
              () -> {
                ready.countDown();
                assertThrows(InterruptedException.class, () -> time().sleep(duration));
                return Thread.currentThread().isInterrupted();
              });
      Thread sleeper = Thread.ofVirtual().start(sleep);
      assertTrue(ready.await(60, TimeUnit.SECONDS));
      sleeper.interrupt();
      assertFalse(sleep.get(60, TimeUnit.SECONDS), "the flag is clear when it is thrown");
    }
  }

  @Test
  void an_interrupted_thread_does_not_fall_asleep() {
    Thread.currentThread().interrupt();
    assertThrows(InterruptedException.class, () -> time().sleep(Duration.ZERO));
    assertFalse(Thread.interrupted(), "the flag is clear when it is thrown");
  }

  @Test
  void random_numbers_differ_from_draw_to_draw_and_thread_to_thread() throws Exception {
    RandomGenerator mine = time().random();
    FutureTask<Long> elsewhere = new FutureTask<>(() -> time().random().nextLong());
    Thread.ofVirtual().start(elsewhere);
    long first = mine.nextLong();
    assertNotEquals(first, mine.nextLong());
    assertNotEquals(first, elsewhere.get(60, TimeUnit.SECONDS));
  }
}
