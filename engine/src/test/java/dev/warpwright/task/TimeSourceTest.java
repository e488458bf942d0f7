package dev.warpwright.task;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.testing.ManualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The system's time and the manual one. */
class TimeSourceTest {
  private final TimeSource system = TimeSource.system();
  private final ManualTime manual = new ManualTime();
  private final List<String> trail = new ArrayList<>();

  @Test
  void an_alarm_of_the_system_fires_on_the_timer_and_never_early() throws Exception {
    for (long micros : new long[] {0, 1, 500, 1_000, 3_000, 20_000, 90_000}) {
      CountDownLatch fired = new CountDownLatch(1);
      AtomicLong firedAt = new AtomicLong();
      List<String> threads = new ArrayList<>();
      long at = system.nanoTime() + micros * 1000;
      Alarm alarm =
          system.alarm(
              at,
              () -> {
                firedAt.set(system.nanoTime());
                threads.add(Thread.currentThread().getName());
                fired.countDown();
              });
      TaskFixture.await("the alarm", fired);
      assertTrue(firedAt.get() - at >= 0);
      assertEquals(List.of("warpwright-timer"), threads);
      assertFalse(alarm.cancel());
    }
  }

  @Test
  void an_action_that_throws_does_not_take_the_timer_along() throws Exception {
    Thread.UncaughtExceptionHandler before = Thread.getDefaultUncaughtExceptionHandler();
    CountDownLatch reported = new CountDownLatch(1);
    Thread.setDefaultUncaughtExceptionHandler((thread, thrown) -> reported.countDown());
    try {
      system.alarm(
          system.nanoTime(),
          () -> {
            throw new AssertionError();
          });
      TaskFixture.await("the report", reported);
      CountDownLatch next = new CountDownLatch(1);
      system.alarm(system.nanoTime(), next::countDown);
      TaskFixture.await("the next alarm", next);
    } finally {
      Thread.setDefaultUncaughtExceptionHandler(before);
    }
  }

  @Test
  @Tag("R133")
  void a_thousand_owners_that_wait_for_deadlines_share_one_timer_thread() throws Exception {
    TaskTree tree = TaskTree.builder().build();
    CountDownLatch release = new CountDownLatch(1);
    List<Owner<Outcome<String>>> owners = new ArrayList<>();
    int alarmsBefore = SystemTime.INSTANCE.pendingAlarms(); // of earlier tests; it may become less
    for (int i = 0; i < 1000; i++) {
      owners.add(
          Owner.start(
              () -> {
                try (TaskScope scope = tree.open("operation", "op")) {
                  return scope.call(
                      "attempt",
                      "one",
                      Deadline.after(system, Duration.ofMinutes(10)),
                      () -> {
                        release.await();
                        return "done";
                      });
                }
              }));
    }
    TaskFixture.until("a thousand alarms", () -> SystemTime.INSTANCE.pendingAlarms() >= 1000);
    TaskFixture.until("a thousand tasks", () -> tree.liveCount() >= 2000);
    assertEquals(2000, tree.liveCount(), "a scope and a task each, and nothing to watch the clock");
    assertEquals(
        1,
        Thread.getAllStackTraces().keySet().stream() // the platform threads
            .filter(thread -> thread.getName().startsWith("warpwright"))
            .count());
    release.countDown();
    for (Owner<Outcome<String>> owner : owners) {
      assertEquals(new Outcome.Success<>("done"), owner.get());
    }
    assertTrue(SystemTime.INSTANCE.pendingAlarms() <= alarmsBefore);
  }

  @Test
  @Tag("R121")
  void in_real_time_a_stubborn_task_holds_its_caller_up_until_deadline_and_grace() {
    TaskTree tree = TaskTree.builder().abandonGrace(Duration.ofMillis(20)).build();
    Stubborn body = new Stubborn();
    Outcome<String> outcome;
    long start;
    int deadlineMillis = 30;
    do { // once more with twice the time, if all of it goes by before the body has begun
      start = system.nanoTime();
      Duration limit = Duration.ofMillis(deadlineMillis);
      try (TaskScope scope = tree.open("operation", "op")) {
        outcome = scope.call("attempt", "one", Deadline.after(system, limit), body);
      }
      deadlineMillis *= 2;
    } while (!body.hasStarted() && deadlineMillis < 60_000);
    assertEquals(new Outcome.TimedOut<>(true), outcome);
    long millis = (system.nanoTime() - start) / 1_000_000;
    assertTrue(millis >= deadlineMillis / 2 + 20, "not before: " + millis);
    assertTrue(millis < 60_000, "and not for ever: " + millis);
    body.release();
    TaskFixture.until("its end", () -> tree.abandoned().isEmpty());
  }

  @Test
  void sleep_takes_its_time_and_leaves_no_alarm() throws Exception {
    long start = system.nanoTime();
    system.sleep(Duration.ofMillis(5));
    assertTrue(system.nanoTime() - start >= 5_000_000);
    system.sleep(Duration.ZERO);
    system.sleep(Duration.ofMillis(-1));

    Owner<Boolean> owner =
        Owner.start(
            () -> {
              manual.sleep(Duration.ofDays(30));
              return true;
            });
    manual.awaitAlarms(1);
    manual.advance(Duration.ofDays(30));
    assertTrue(owner.get());
    assertEquals(0, manual.pendingAlarms());
  }

  @Test
  void an_interrupt_ends_a_sleep() throws Exception {
    Owner<Boolean> owner =
        Owner.start(
            () -> {
              assertThrows(
                  InterruptedException.class,
                  () -> manual.sleep(Duration.ofSeconds(Long.MAX_VALUE)));
              return Thread.currentThread().isInterrupted();
            });
    manual.awaitAlarms(1);
    owner.thread().interrupt();
    assertFalse(owner.get());
    assertEquals(0, manual.pendingAlarms());
    Thread.currentThread().interrupt();
    assertThrows(InterruptedException.class, () -> manual.sleep(Duration.ZERO));
    assertFalse(Thread.currentThread().isInterrupted());
  }

  @Test
  void manual_time_moves_both_clocks_and_only_when_told() {
    Instant start = Instant.parse("2031-05-06T07:08:09Z");
    ManualTime time = new ManualTime(start, 7);
    long nanos = time.nanoTime();
    assertEquals(start, time.now());
    time.advance(Duration.ofMillis(1500));
    assertEquals(start.plusMillis(1500), time.now());
    assertEquals(1_500_000_000, time.nanoTime() - nanos);
    assertTrue(time.nanoTime() < nanos, "the monotonic clock has wrapped around");
    assertThrows(IllegalArgumentException.class, () -> time.advance(Duration.ofNanos(-1)));
  }

  @Test
  void manual_time_runs_what_is_due_in_order_each_at_its_instant() {
    long now = manual.nanoTime();
    manual.alarm(now + 20, () -> trail.add("20 at " + (manual.nanoTime() - now)));
    manual.alarm(
        now + 10,
        () -> {
          trail.add("10 at " + (manual.nanoTime() - now));
          manual.alarm(now + 15, () -> trail.add("15 at " + (manual.nanoTime() - now)));
        });
    manual.alarm(now + 10, () -> trail.add("10 again"));
    Alarm cancelled = manual.alarm(now + 12, () -> trail.add("cancelled"));
    manual.alarm(now - 5, () -> trail.add("past"));
    manual.alarm(now + Long.MAX_VALUE, () -> trail.add("farthest"));
    assertTrue(cancelled.cancel());
    assertTrue(cancelled.cancel());
    assertEquals(List.of(), trail);
    manual.advance(Duration.ofNanos(25));
    assertEquals(List.of("past", "10 at 10", "10 again", "15 at 15", "20 at 20"), trail);
    assertEquals(25, manual.nanoTime() - now);
    assertEquals(1, manual.pendingAlarms());
  }

  @Test
  void manual_randomness_repeats_itself_and_the_system_s_does_not() {
    RandomGenerator one = new ManualTime(Instant.EPOCH, 5).random();
    RandomGenerator two = new ManualTime(Instant.EPOCH, 5).random();
    assertEquals(one.nextLong(), two.nextLong());
    assertNotEquals(system.random().nextLong(), system.random().nextLong());
    assertSame(TimeSource.system(), system);
  }

  @Test
  void manual_time_names_what_is_pending() throws Exception {
    Owner<Boolean> owner =
        Owner.start(
            () -> {
              TaskTree tree = TaskTree.builder().time(manual).build();
              try (TaskScope scope = tree.open("operation", "op 17")) {
                return scope.sleep(Duration.ofSeconds(3));
              }
            });
    manual.awaitAlarms(1);
    assertTrue(manual.toString().contains("in PT3S"), manual.toString());
    assertTrue(manual.toString().contains("op 17"), manual.toString());
    manual.advance(Duration.ofSeconds(3));
    assertTrue(owner.get());
  }
}
