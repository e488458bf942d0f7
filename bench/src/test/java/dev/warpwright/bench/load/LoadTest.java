package dev.warpwright.bench.load;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class LoadTest {
  private final Load load = new Load(Duration.ofMillis(20), Duration.ofMillis(20));
  private final Meter meter = new Meter();

  @Test
  void only_what_is_done_within_the_window_counts() throws Exception {
    Load.Outcome<Long> outcome = load.run(2, meter, number -> meter::unit, meter::units);

    assertTrue(outcome.units() <= outcome.after() - outcome.before(), outcome::toString);
    assertEquals(outcome.units() / outcome.seconds(), outcome.perSecond());
  }

  @Test
  void a_caller_that_fails_ends_the_load_with_its_failure() {
    IllegalArgumentException failure = new IllegalArgumentException("It broke.");

    IllegalStateException thrown =
        assertThrows(
            IllegalStateException.class,
            () ->
                load.run(
                    2,
                    meter,
                    number ->
                        () -> {
                          throw failure;
                        },
                    () -> 0));

    assertEquals(failure, thrown.getCause());
  }
}
