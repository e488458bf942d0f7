package dev.warpwright.control;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.contract.TargetMetricsContract;
import dev.warpwright.control.TargetMetrics.Measurement;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Target;
import dev.warpwright.testing.ManualTime;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The metrics of one process: the contract and their bounds. */
final class LocalTargetMetricsTest extends TargetMetricsContract {
  private static final Target A = Target.of("p", "a");
  private static final Target B = Target.of("p", "b");
  private static final Target C = Target.of("p", "c");

  @Override
  protected TargetMetrics metrics(ManualTime time) {
    return TargetMetrics.local(Duration.ofSeconds(60), 128, 256, time);
  }

  private TargetMetrics ofTwoTargets() {
    return TargetMetrics.local(Duration.ofSeconds(60), 2, 256, time);
  }

  @ParameterizedTest
  @CsvSource({
    "PT0S, 128, 256, 'window must be between PT0.001S and PT24H, but is PT0S.'",
    "PT-1S, 128, 256, 'window must be between PT0.001S and PT24H, but is PT-1S.'",
    "PT24H0.000000001S, 128, 256,"
        + " 'window must be between PT0.001S and PT24H, but is PT24H0.000000001S.'",
    "PT1M, 0, 256, 'maxTargets must be between 1 and 10000, but is 0.'",
    "PT1M, 10001, 256, 'maxTargets must be between 1 and 10000, but is 10001.'",
    "PT1M, 128, 0, 'maxSamplesPerTarget must be between 1 and 10000, but is 0.'",
    "PT1M, 128, 10001, 'maxSamplesPerTarget must be between 1 and 10000, but is 10001.'"
  })
  @Tag("R239")
  void a_value_out_of_its_bounds_is_refused_by_name(
      Duration window, int maxTargets, int maxSamples, String message) {
    var refused =
        assertThrows(
            InvalidRequestException.class,
            () -> TargetMetrics.local(window, maxTargets, maxSamples));
    assertEquals(message, refused.getMessage());
    assertEquals(FailureKind.INVALID_CONFIGURATION, refused.kind());
  }

  @Test
  @Tag("R239")
  void the_bounds_themselves_are_allowed() {
    assertDoesNotThrow(() -> TargetMetrics.local(Duration.ofMillis(1), 1, 1));
    assertDoesNotThrow(() -> TargetMetrics.local(Duration.ofHours(24), 10_000, 10_000));
  }

  @Test
  @Tag("R239")
  void by_default_128_targets_have_256_samples() {
    TargetMetrics metrics = TargetMetrics.local();
    for (int i = 0; i < 300; i++) {
      metrics.begin(A).success(OptionalLong.empty());
    }
    assertEquals(256, metrics.snapshot(A).orElseThrow().sampleCount());
    for (int i = 0; i < 127; i++) {
      metrics.begin(Target.of("p", "model-" + i)).error();
    }
    assertTrue(metrics.snapshot(A).isPresent());
    metrics.begin(B).error();
    assertFalse(metrics.snapshot(A).isPresent());
  }

  @Test
  @Tag("R248")
  void beyond_the_number_of_samples_the_oldest_go() {
    TargetMetrics metrics = TargetMetrics.local(Duration.ofHours(1), 1, 3, time);
    for (int millis = 1; millis <= 5; millis++) {
      succeed(metrics, TARGET, millis);
    }
    assertEquals(3, snapshot(metrics).sampleCount());
    assertEquals(Optional.of(Duration.ofMillis(4)), snapshot(metrics).p50Latency());
    assertEquals(Optional.of(Duration.ofMillis(5)), snapshot(metrics).p95Latency());
    for (int i = 0; i < 10; i++) {
      metrics.begin(TARGET).cancelled();
    }
    assertEquals(3, snapshot(metrics).cancellations());
    assertEquals(3, snapshot(metrics).sampleCount(), "cancellations push no sample out");
  }

  @Test
  @Tag("R247")
  void a_full_store_forgets_the_idle_target_that_was_measured_least_recently() {
    TargetMetrics metrics = ofTwoTargets();
    succeed(metrics, A, 1);
    succeed(metrics, B, 1);
    succeed(metrics, A, 1);
    succeed(metrics, C, 1); // in the place of B
    assertEquals(2, metrics.snapshot(A).orElseThrow().sampleCount());
    assertEquals(Optional.empty(), metrics.snapshot(B));
    assertEquals(1, metrics.snapshot(C).orElseThrow().sampleCount());
  }

  @Test
  @Tag("R247")
  void the_end_of_a_measurement_is_a_touch_and_a_look_is_none() {
    TargetMetrics metrics = ofTwoTargets();
    Measurement slow = metrics.begin(A);
    succeed(metrics, B, 1);
    time.advance(Duration.ofMillis(1));
    slow.success(OptionalLong.empty());
    assertTrue(metrics.snapshot(B).isPresent());
    succeed(metrics, C, 1); // in the place of B
    assertTrue(metrics.snapshot(A).isPresent());
    assertEquals(Optional.empty(), metrics.snapshot(B));
  }

  @Test
  @Tag("R247")
  void while_all_are_active_a_new_target_stays_unmeasured() {
    TargetMetrics metrics = ofTwoTargets();
    Measurement a = metrics.begin(A);
    Measurement b = metrics.begin(B);
    Measurement unmeasured = metrics.begin(C);
    assertEquals(Optional.empty(), metrics.snapshot(C));
    b.close();
    unmeasured.firstText();
    unmeasured.success(OptionalLong.of(5));
    unmeasured.error();
    unmeasured.cancelled();
    unmeasured.close();
    assertEquals(Optional.empty(), metrics.snapshot(C));
    succeed(metrics, C, 1); // in the place of B
    assertEquals(1, metrics.snapshot(C).orElseThrow().sampleCount());
    assertEquals(Optional.empty(), metrics.snapshot(B));
    assertEquals(1, metrics.snapshot(A).orElseThrow().inFlight());
    a.close();
  }
}
