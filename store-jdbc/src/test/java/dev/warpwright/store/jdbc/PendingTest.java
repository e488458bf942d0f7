package dev.warpwright.store.jdbc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.task.Alarm;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.TimeSource;
import java.time.Duration;
import java.time.Instant;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

/** Either the caller gets the verdict or the store learns that it has gone. */
final class PendingTest {
  private static final Verdict<String> DONE = new Verdict.Done<>("done");
  private static final Verdict<String> WITHDRAWN = new Verdict.Done<>("withdrawn");
  private static final Verdict<String> UNKNOWN = new Verdict.Done<>("unknown");

  private final Pending<String> pending = new Pending<>();

  /** A clock at which somebody does something just before a caller's last look at it. */
  private record Interloper(Runnable action) implements TimeSource {
    @Override
    public long nanoTime() {
      action.run();
      return 0;
    }

    @Override
    public Instant now() {
      throw new UnsupportedOperationException();
    }

    @Override
    public Alarm alarm(long atNanoTime, Runnable action) {
      throw new UnsupportedOperationException();
    }

    @Override
    public RandomGenerator random() {
      throw new UnsupportedOperationException();
    }
  }

  /** Waits with a patience that is over, while something happens after the look for a verdict. */
  private Verdict<String> await(Runnable meanwhile) {
    Deadline passed = Deadline.after(TimeSource.system(), Duration.ZERO);
    Patience over = new Patience(passed, 0, new Interloper(meanwhile));
    return pending.await(over, WITHDRAWN, UNKNOWN);
  }

  @Test
  void a_verdict_that_comes_as_the_caller_is_about_to_leave_is_still_its_own() {
    assertTrue(pending.begin());

    assertEquals(DONE, await(() -> assertTrue(pending.settle(DONE))));

    assertTrue(pending.settle(UNKNOWN));
  }

  @Test
  void a_verdict_on_what_was_not_even_begun_is_the_callers_too() {
    assertEquals(DONE, await(() -> assertTrue(pending.settle(DONE))));
  }

  @Test
  void a_verdict_that_comes_when_the_caller_has_left_is_not_delivered() {
    assertTrue(pending.begin());

    assertEquals(UNKNOWN, await(() -> {}));

    assertFalse(pending.settle(DONE));
    assertFalse(pending.settle(DONE));
  }

  @Test
  void what_nobody_began_until_the_caller_left_cannot_be_begun() {
    assertEquals(WITHDRAWN, await(() -> {}));

    assertFalse(pending.begin());
    assertFalse(pending.settle(DONE));
  }

  @Test
  void what_is_begun_as_the_caller_is_about_to_leave_is_of_unknown_fate() {
    assertEquals(UNKNOWN, await(pending::begin));

    assertFalse(pending.settle(DONE));
  }
}
