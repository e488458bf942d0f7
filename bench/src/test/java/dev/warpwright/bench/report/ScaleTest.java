package dev.warpwright.bench.report;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;

class ScaleTest {
  @Test
  void it_spans_the_decades_of_all_scores() {
    Scale scale = Scale.of(List.of(new Score(50, 30, 80), new Score(2_000, 1_500, 2_500)));

    assertEquals(new Scale(1, 4), scale);
    assertEquals(List.of(10.0, 100.0, 1_000.0, 10_000.0), scale.ticks());
  }

  @Test
  void a_place_is_logarithmic_and_never_outside() {
    Scale scale = new Scale(1, 3);

    assertEquals(0, scale.percent(10));
    assertEquals(50, scale.percent(100), 1e-9);
    assertEquals(100, scale.percent(1_000), 1e-9);
    assertEquals(0, scale.percent(0));
    assertEquals(100, scale.percent(1e9));
  }

  @Test
  void equal_scores_have_a_decade_too() {
    assertEquals(new Scale(2, 3), Scale.of(List.of(new Score(100, 100, 100))));
    assertEquals(new Scale(-1, 0), Scale.of(List.of(new Score(0, 0, 0))));
  }
}
