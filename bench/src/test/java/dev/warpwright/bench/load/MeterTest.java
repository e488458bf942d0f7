package dev.warpwright.bench.load;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

class MeterTest {
  private final Meter meter = new Meter();

  @Test
  void units_are_counted() {
    meter.unit();
    meter.unit();

    assertEquals(2, meter.units());
  }

  @Test
  void a_percentile_is_that_of_the_sorted_latencies_to_a_sixteenth() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    long[] nanos = random.longs(10_000, 1_000, 50_000_000).toArray();
    Arrays.stream(nanos).forEach(meter::took);
    Arrays.sort(nanos);

    for (double share : new double[] {0.01, 0.5, 0.9, 0.99, 1}) {
      long exact = nanos[(int) Math.ceil(share * nanos.length) - 1];
      long told = meter.percentile(share).toNanos();
      assertTrue(
          told >= exact && told <= exact * 17 / 16 + 1,
          "seed " + seed + ": " + share + " is " + exact + ", told as " + told);
    }
  }

  @Test
  void a_rare_long_latency_shows_in_the_99th_percentile_only() {
    for (int n = 0; n < 980; n++) {
      meter.took(1_000);
    }
    for (int n = 0; n < 20; n++) {
      meter.took(1_000_000_000);
    }

    assertTrue(meter.percentile(0.5).toNanos() < 1_100);
    assertTrue(meter.percentile(0.99).compareTo(Duration.ofSeconds(1)) >= 0);
  }

  @Test
  void without_a_call_there_is_no_latency() {
    assertEquals(Duration.ZERO, meter.percentile(0.99));
  }

  @Test
  void latencies_that_were_cleared_do_not_count() {
    meter.took(1_000_000_000);
    meter.clearLatencies();
    meter.took(1_000);

    assertTrue(meter.percentile(1).toNanos() < 1_100);
  }
}
