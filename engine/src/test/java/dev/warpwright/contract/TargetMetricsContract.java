package dev.warpwright.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.control.TargetMetrics;
import dev.warpwright.control.TargetMetrics.Measurement;
import dev.warpwright.control.TargetSnapshot;
import dev.warpwright.model.Target;
import dev.warpwright.testing.ManualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** What every {@link TargetMetrics} must do. */
@Timeout(60)
public abstract class TargetMetricsContract {
  /** The target that is measured. */
  protected static final Target TARGET = Target.of("openai", "gpt");

  /** The time that the metrics go by. */
  protected final ManualTime time = new ManualTime();

  /** Makes metrics with a window of 60 s that know nothing yet. */
  protected abstract TargetMetrics metrics(ManualTime time);

  /** What is known of the target, which has been measured. */
  protected static TargetSnapshot snapshot(TargetMetrics metrics) {
    return metrics.snapshot(TARGET).orElseThrow();
  }

  /** An attempt that succeeds after so long. */
  protected void succeed(TargetMetrics metrics, Target target, long millis) {
    try (Measurement measurement = metrics.begin(target)) {
      time.advance(Duration.ofMillis(millis));
      measurement.success(OptionalLong.empty());
    }
  }

  private static Optional<Duration> millis(long millis) {
    return Optional.of(Duration.ofMillis(millis));
  }

  /** Each way to end a measurement. */
  static Stream<Consumer<Measurement>> ends() {
    return Stream.of(
        measurement -> measurement.success(OptionalLong.of(100)),
        Measurement::error,
        Measurement::cancelled,
        Measurement::close);
  }

  @Test
  @Tag("R241")
  void of_a_target_that_was_never_measured_nothing_is_known() {
    TargetMetrics metrics = metrics(time);
    succeed(metrics, TARGET, 10);
    assertEquals(Optional.empty(), metrics.snapshot(Target.of("openai", "other")));
  }

  @Test
  @Tag("R240")
  void a_snapshot_tells_what_is_under_way_and_how_the_rest_ended() {
    TargetMetrics metrics = metrics(time);
    succeed(metrics, TARGET, 10);
    Measurement failing = metrics.begin(TARGET);
    Measurement cancelled = metrics.begin(TARGET);
    Measurement streaming = metrics.begin(TARGET);
    metrics.begin(TARGET);
    metrics.begin(TARGET);
    time.advance(Duration.ofMillis(20));
    streaming.firstText();
    failing.error();
    time.advance(Duration.ofSeconds(1));
    cancelled.cancelled();
    streaming.success(OptionalLong.of(11));
    Instant last = time.now();
    time.advance(Duration.ofSeconds(1));
    assertEquals(
        new TargetSnapshot(
            2,
            3,
            2,
            1,
            1,
            millis(20),
            millis(1_020),
            millis(20),
            OptionalDouble.of(10),
            Optional.of(last)),
        snapshot(metrics));
  }

  @Test
  @Tag("R240")
  void what_was_not_measured_is_absent_and_not_zero() {
    TargetMetrics metrics = metrics(time);
    Measurement running = metrics.begin(TARGET);
    assertEquals(
        new TargetSnapshot(
            1,
            0,
            0,
            0,
            0,
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            OptionalDouble.empty(),
            Optional.empty()),
        snapshot(metrics));
    running.success(OptionalLong.of(100));
    TargetSnapshot blocking = snapshot(metrics);
    assertEquals(millis(0), blocking.p50Latency());
    assertEquals(Optional.empty(), blocking.p95TimeToFirstText());
    assertEquals(OptionalDouble.empty(), blocking.p50TokensPerSecond());
  }

  @Test
  @Tag("R240")
  void each_target_is_measured_for_itself_its_deployment_included() {
    TargetMetrics metrics = metrics(time);
    Target deployment = new Target("openai", "gpt", Optional.of("eu"));
    succeed(metrics, TARGET, 10);
    succeed(metrics, deployment, 20);
    succeed(metrics, deployment, 20);
    assertEquals(1, snapshot(metrics).sampleCount());
    assertEquals(2, metrics.snapshot(deployment).orElseThrow().sampleCount());
    assertEquals(millis(20), metrics.snapshot(deployment).orElseThrow().p50Latency());
  }

  @ParameterizedTest
  @CsvSource({
    "1, 1, 1",
    "2, 1, 2",
    "3, 2, 3",
    "4, 2, 4",
    "10, 5, 10",
    "19, 10, 19",
    "20, 10, 19",
    "21, 11, 20",
    "40, 20, 38",
    "41, 21, 39",
    "99, 50, 95",
    "100, 50, 95",
    "101, 51, 96"
  })
  @Tag("R242")
  void a_percentile_is_the_nearest_rank(int samples, int p50, int p95) {
    TargetMetrics metrics = metrics(time);
    for (int i = 0; i < samples; i++) {
      int value = 1 + (i * 37) % samples; // in no order; 37 shares no factor with the numbers above
      succeed(metrics, TARGET, value);
    }
    assertEquals(samples, snapshot(metrics).sampleCount());
    assertEquals(millis(p50), snapshot(metrics).p50Latency());
    assertEquals(millis(p95), snapshot(metrics).p95Latency());
  }

  @Test
  @Tag("R241")
  @Tag("R243")
  void a_sample_counts_while_it_is_younger_than_the_window() {
    TargetMetrics metrics = metrics(time);
    succeed(metrics, TARGET, 10);
    Instant first = time.now();
    time.advance(Duration.ofSeconds(30));
    Measurement failing = metrics.begin(TARGET);
    failing.error();
    Measurement cancelled = metrics.begin(TARGET);
    cancelled.cancelled();
    Instant second = time.now();

    time.advance(Duration.between(second, first.plusSeconds(60)).minusNanos(1));
    assertEquals(2, snapshot(metrics).sampleCount());
    time.advance(Duration.ofNanos(1)); // its age is the window now
    assertEquals(1, snapshot(metrics).sampleCount());
    assertEquals(0, snapshot(metrics).successes());
    assertEquals(millis(0), snapshot(metrics).p95Latency());

    time.advance(Duration.ofSeconds(30).minusNanos(1));
    assertEquals(1, snapshot(metrics).errors());
    assertEquals(1, snapshot(metrics).cancellations());
    time.advance(Duration.ofNanos(1));
    assertEquals(
        new TargetSnapshot(
            0,
            0,
            0,
            0,
            0,
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            OptionalDouble.empty(),
            Optional.of(second)),
        snapshot(metrics));
  }

  @Test
  @Tag("R244")
  void cancellations_and_cache_hits_are_no_evidence() {
    TargetMetrics metrics = metrics(time);
    succeed(metrics, TARGET, 10);
    Instant last = time.now();
    for (int i = 0; i < 10; i++) {
      Measurement cancelled = metrics.begin(TARGET);
      Measurement hit = metrics.begin(TARGET);
      time.advance(Duration.ofSeconds(1));
      cancelled.firstText();
      cancelled.cancelled();
      hit.firstText();
      hit.close();
    }
    assertEquals(
        new TargetSnapshot(
            0,
            1,
            1,
            0,
            10,
            millis(10),
            millis(10),
            Optional.empty(),
            OptionalDouble.empty(),
            Optional.of(last)),
        snapshot(metrics));
  }

  @ParameterizedTest
  @MethodSource("ends")
  @Tag("R245")
  void only_the_first_end_counts(Consumer<Measurement> end) {
    TargetMetrics once = metrics(time);
    TargetMetrics often = metrics(time);
    for (TargetMetrics metrics : List.of(once, often)) {
      metrics.begin(TARGET); // goes on
      end.accept(metrics.begin(TARGET));
    }
    Measurement again = often.begin(TARGET);
    again.close();
    Measurement ended = often.begin(TARGET);
    end.accept(ended);
    Measurement same = once.begin(TARGET);
    end.accept(same);
    ends().forEach(second -> second.accept(ended));
    ended.firstText();
    ends().forEach(second -> second.accept(again));
    assertEquals(snapshot(once), snapshot(often));
    assertEquals(1, snapshot(often).inFlight());
  }

  @Test
  @Tag("R246")
  @Tag("C22")
  void the_first_text_is_no_end_and_latency_covers_the_whole_attempt() {
    TargetMetrics metrics = metrics(time);
    Measurement measurement = metrics.begin(TARGET);
    time.advance(Duration.ofMillis(100));
    measurement.firstText();
    assertEquals(1, snapshot(metrics).inFlight());
    assertEquals(0, snapshot(metrics).sampleCount());
    assertEquals(Optional.empty(), snapshot(metrics).p95TimeToFirstText());
    time.advance(Duration.ofMillis(400));
    measurement.firstText(); // of a later text; the first stays the first
    measurement.success(OptionalLong.empty());
    assertEquals(millis(100), snapshot(metrics).p95TimeToFirstText());
    assertEquals(millis(500), snapshot(metrics).p50Latency());
    assertEquals(millis(500), snapshot(metrics).p95Latency());
  }

  @Test
  @Tag("R246")
  void a_first_text_right_at_the_begin_is_measured_as_well() {
    TargetMetrics metrics = metrics(time);
    Measurement measurement = metrics.begin(TARGET);
    measurement.firstText();
    time.advance(Duration.ofSeconds(1));
    measurement.firstText();
    measurement.success(OptionalLong.of(3));
    assertEquals(millis(0), snapshot(metrics).p95TimeToFirstText());
    assertEquals(OptionalDouble.of(2), snapshot(metrics).p50TokensPerSecond());
  }

  @ParameterizedTest
  @CsvSource({"101, 1000, 100", "2, 1000, 1", "11, 250, 40", "4, 2000, 1.5"})
  @Tag("R253")
  @Tag("C28")
  void throughput_is_the_tokens_after_the_first_over_the_time_after_it(
      long tokens, long millis, double expected) {
    TargetMetrics metrics = metrics(time);
    Measurement measurement = metrics.begin(TARGET);
    time.advance(Duration.ofMillis(700));
    measurement.firstText();
    time.advance(Duration.ofMillis(millis));
    measurement.success(OptionalLong.of(tokens));
    Measurement cached = metrics.begin(TARGET);
    cached.firstText();
    time.advance(Duration.ofMillis(1));
    cached.close();
    assertEquals(expected, snapshot(metrics).p50TokensPerSecond().orElseThrow(), 1e-9);
  }

  @Test
  @Tag("R253")
  void without_a_success_with_two_tokens_and_time_for_them_there_is_no_throughput() {
    TargetMetrics metrics = metrics(time);
    stream(metrics, 1_000, measurement -> measurement.success(OptionalLong.of(1)));
    stream(metrics, 1_000, measurement -> measurement.success(OptionalLong.of(0)));
    stream(metrics, 1_000, measurement -> measurement.success(OptionalLong.empty()));
    stream(metrics, 0, measurement -> measurement.success(OptionalLong.of(100)));
    stream(metrics, 1_000, Measurement::error);
    stream(metrics, 1_000, Measurement::cancelled);
    assertEquals(OptionalDouble.empty(), snapshot(metrics).p50TokensPerSecond());
    stream(metrics, 1_000, measurement -> measurement.success(OptionalLong.of(31)));
    stream(metrics, 1_000, measurement -> measurement.success(OptionalLong.of(11)));
    stream(metrics, 1_000, measurement -> measurement.success(OptionalLong.of(21)));
    assertEquals(OptionalDouble.of(20), snapshot(metrics).p50TokensPerSecond());
  }

  private void stream(TargetMetrics metrics, long millis, Consumer<Measurement> end) {
    Measurement measurement = metrics.begin(TARGET);
    measurement.firstText();
    time.advance(Duration.ofMillis(millis));
    end.accept(measurement);
  }

  @Test
  void a_snapshot_changes_nothing() {
    TargetMetrics metrics = metrics(time);
    succeed(metrics, TARGET, 10);
    TargetSnapshot first = snapshot(metrics);
    for (int i = 0; i < 10; i++) {
      assertEquals(first, snapshot(metrics));
    }
    assertTrue(metrics.snapshot(TARGET).isPresent());
  }
}
