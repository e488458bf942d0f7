package dev.warpwright.bench.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;

class ScoreTest {
  @Test
  void one_spoilt_iteration_moves_neither_the_median_nor_the_middle_half() {
    assertEquals(new Score(3, 2, 4), Score.of(5, 1, 2, 4, 3));
    assertEquals(new Score(3, 2, 4), Score.of(5_000, 1, 2, 4, 3));
  }

  @Test
  void between_two_iterations_it_is_interpolated() {
    assertEquals(new Score(2.5, 1.75, 3.25), Score.of(1, 2, 3, 4));
    assertEquals(new Score(7, 7, 7), Score.of(7));
  }

  @Test
  void without_an_iteration_there_is_none() {
    assertThrows(IllegalArgumentException.class, Score::of);
  }

  @Test
  void ratio_and_difference_are_as_wide_as_both_ranges_allow() {
    Score own = new Score(10, 8, 12);
    Score other = new Score(4, 2, 5);

    assertEquals(new Score(2.5, 1.6, 6), own.over(other));
    assertEquals(new Score(6, 3, 10), own.minus(other));
    assertEquals(new Score(5, 4, 6), own.times(0.5));
  }
}
