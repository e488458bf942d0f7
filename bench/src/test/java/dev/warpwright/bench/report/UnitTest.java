package dev.warpwright.bench.report;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class UnitTest {
  @Test
  void a_tick_has_no_more_digits_than_it_needs() {
    assertEquals("0.1 ns", Unit.TIME.tick(0.1));
    assertEquals("1 ns", Unit.TIME.tick(1));
    assertEquals("10 µs", Unit.TIME.tick(1e4));
    assertEquals("100 ms", Unit.TIME.tick(1e8));
    assertEquals("1 kB", Unit.HEAP.tick(1e3));
    assertEquals("10", Unit.RATE.tick(10));
    assertEquals("10,000", Unit.RATE.tick(1e4));
  }

  @Test
  void a_rate_has_a_digit_behind_the_point_only_if_it_is_small() {
    assertEquals("8.5", Unit.RATE.text(8.54));
    assertEquals("18,701", Unit.RATE.text(18_701.2));
  }
}
