package dev.warpwright.task;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.testing.ManualTime;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("R131")
class DeadlineTest {
  private final ManualTime time = new ManualTime();

  private Deadline in(long millis) {
    return Deadline.after(time, Duration.ofMillis(millis));
  }

  @Test
  void what_remains_shrinks_with_time_and_stops_at_zero() {
    Deadline deadline = in(1500); // the clock wraps around in between
    assertEquals(Duration.ofMillis(1500), deadline.remaining());
    time.advance(Duration.ofMillis(1499));
    assertEquals(1_000_000, deadline.remainingNanos());
    assertFalse(deadline.hasPassed());
    time.advance(Duration.ofMillis(1));
    assertTrue(deadline.hasPassed());
    assertEquals(Duration.ZERO, deadline.remaining());
    time.advance(Duration.ofDays(365));
    assertTrue(deadline.hasPassed());
    assertEquals(0, deadline.remainingNanos());
  }

  @Test
  void a_zero_or_negative_duration_has_passed_at_once() {
    assertTrue(in(0).hasPassed());
    assertTrue(in(-5).hasPassed());
    assertEquals(Duration.ZERO, in(-5).remaining());
  }

  @Test
  void never_does_not_pass_and_later_than_all_others() {
    Deadline soon = in(1);
    assertTrue(Deadline.never().isNever());
    assertFalse(Deadline.never().hasPassed());
    assertEquals(Duration.ofNanos(Long.MAX_VALUE), Deadline.never().remaining());
    assertSame(soon, Deadline.never().earlier(soon));
    assertSame(soon, soon.earlier(Deadline.never()));
    assertSame(Deadline.never(), Deadline.never().earlier(Deadline.never()));
    assertFalse(soon.isNever());
  }

  @Test
  void the_earlier_of_two_wins_in_either_order_also_across_the_wrap() {
    Deadline first = in(900);
    Deadline second = in(1100);
    assertSame(first, first.earlier(second));
    assertSame(first, second.earlier(first));
    time.advance(Duration.ofMillis(1050));
    assertSame(first, second.earlier(first));
  }

  @Test
  void deadlines_of_different_clocks_are_compared_by_what_remains() {
    ManualTime other = new ManualTime();
    other.advance(Duration.ofDays(3));
    Deadline mine = in(200);
    Deadline theirs = Deadline.after(other, Duration.ofMillis(100));
    assertSame(theirs, mine.earlier(theirs));
    assertSame(theirs, theirs.earlier(mine));
  }

  @Test
  void durations_beyond_half_the_range_of_the_clock_are_never() {
    assertTrue(Deadline.after(time, Duration.ofSeconds(Long.MAX_VALUE)).isNever());
    assertTrue(Deadline.after(time, Duration.ofNanos(Long.MAX_VALUE)).isNever());
    assertTrue(Deadline.after(time, Duration.ofDays(147 * 366)).isNever());
    Deadline century = Deadline.after(time, Duration.ofDays(100 * 365));
    assertFalse(century.isNever());
    assertEquals(Duration.ofDays(100 * 365), century.remaining());
  }

  @Test
  void deadlines_are_equal_if_they_are_the_same_instant_of_the_same_clock() {
    assertEquals(in(5), in(5));
    assertEquals(in(5).hashCode(), in(5).hashCode());
    assertNotEquals(in(5), in(6));
    assertNotEquals(in(5), Deadline.after(new ManualTime(), Duration.ofMillis(5)));
    assertNotEquals(in(5), Deadline.never());
  }

  @Test
  void it_prints_what_remains() {
    assertEquals("in PT0.005S", in(5).toString());
    assertEquals("passed", in(0).toString());
    assertEquals("never", Deadline.never().toString());
  }
}
