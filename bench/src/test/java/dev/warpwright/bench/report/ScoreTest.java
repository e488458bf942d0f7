package dev.warpwright.bench.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import org.junit.jupiter.api.Test;

class ScoreTest {
  @Test
  void one_spoilt_iteration_moves_neither_the_median_nor_the_middle_half() {
    assertEquals(new Score(3, 2, 4), Score.of(List.of(5.0, 1.0, 2.0, 4.0, 3.0)));
    assertEquals(new Score(3, 2, 4), Score.of(List.of(5_000.0, 1.0, 2.0, 4.0, 3.0)));
  }

  @Test
  void between_two_iterations_it_is_interpolated() {
    assertEquals(new Score(2.5, 1.75, 3.25), Score.of(List.of(1.0, 2.0, 3.0, 4.0)));
    assertEquals(new Score(7, 7, 7), Score.of(List.of(7.0)));
  }

  @Test
  void without_an_iteration_there_is_none() {
    assertThrows(IllegalArgumentException.class, () -> Score.of(List.of()));
  }

  @Test
  void of_several_runs_it_is_their_median_and_their_whole_range() {
    List<Score> runs = List.of(new Score(3, 0, 9), new Score(1, 0, 9), new Score(8, 0, 9));

    assertEquals(new Score(3, 1, 8), Score.ofRuns(runs));
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
