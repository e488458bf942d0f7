package dev.warpwright.control;

import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Target;
import dev.warpwright.task.TimeSource;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Measures attempts for each target, its deployment included: how many are under way, how long they
 * took, how they ended.
 *
 * <pre>{@code
 * try (Measurement measurement = metrics.begin(target)) {
 *   ModelResponse response = call(target);
 *   measurement.success(OptionalLong.of(response.usage().output().tokens()));
 * } catch (ProviderException e) {
 *   measurement.error();
 * }
 * }</pre>
 *
 * <p>All methods are called on the thread of the operation and between its own steps: they must be
 * quick, must not wait and must do no I/O. The gateway ignores what they throw; a failing {@link
 * #begin} leaves the attempt unmeasured. Implementations are safe for use by any thread, and keep
 * numbers only: no prompt, no output, no error text, no credential.
 */
public interface TargetMetrics {
  /**
   * Begins to measure an attempt.
   *
   * @param target the target
   * @return the measurement, which the caller must end
   */
  Measurement begin(Target target);

  /**
   * What was measured so far. It changes nothing.
   *
   * @param target the target
   * @return the snapshot, empty if nothing is known of the target
   */
  Optional<TargetSnapshot> snapshot(Target target);

  /**
   * One attempt that is being measured.
   *
   * <p>Only the first of its ends counts; after it every method does nothing. Safe for use by any
   * thread.
   */
  interface Measurement extends AutoCloseable {
    /** The first text of a stream has arrived; only the first call counts. */
    void firstText();

    /**
     * The attempt succeeded. For a stream that is its complete end.
     *
     * @param outputTokens the output tokens that the provider reported, if it did
     */
    void success(OptionalLong outputTokens);

    /**
     * The attempt failed, and it is the target's doing. A caller's mistake is not told as an error:
     * it just {@linkplain #close() closes}.
     */
    void error();

    /** The attempt was cancelled, or denied before the provider was called. */
    void cancelled();

    /**
     * If no end was told, the attempt ended without saying anything of the target, such as one
     * answered from a cache: nothing is counted.
     */
    @Override
    void close();
  }

  /**
   * Metrics that measure nothing.
   *
   * @return the one instance
   */
  static TargetMetrics none() {
    return NoMetrics.INSTANCE;
  }

  /**
   * Metrics of this process: a window of 60 s, 128 targets, 256 samples for each, on the system's
   * time.
   *
   * @return metrics that know nothing yet
   */
  static TargetMetrics local() {
    return local(Duration.ofSeconds(60), 128, 256);
  }

  /**
   * Metrics of this process on the system's time.
   *
   * @param window how long a sample counts; 1 ms to 24 h
   * @param maxTargets how many targets are measured; 1 to 10 000
   * @param maxSamplesPerTarget how many samples are kept for each; 1 to 10 000
   * @return metrics that know nothing yet
   * @throws InvalidRequestException if a value is out of its bounds
   */
  static TargetMetrics local(Duration window, int maxTargets, int maxSamplesPerTarget) {
    return local(window, maxTargets, maxSamplesPerTarget, TimeSource.system());
  }

  /**
   * Metrics of this process.
   *
   * <p>A sample counts while it is younger than the window. Beyond {@code maxTargets} a new target
   * takes the place of the one that was measured least recently and has nothing under way; if there
   * is none, the attempt is not measured. Beyond {@code maxSamplesPerTarget} the oldest sample
   * goes. A snapshot copies and sorts the samples.
   *
   * @param window how long a sample counts; 1 ms to 24 h
   * @param maxTargets how many targets are measured; 1 to 10 000
   * @param maxSamplesPerTarget how many samples are kept for each; 1 to 10 000
   * @param time its clocks
   * @return metrics that know nothing yet
   * @throws InvalidRequestException if a value is out of its bounds
   */
  static TargetMetrics local(
      Duration window, int maxTargets, int maxSamplesPerTarget, TimeSource time) {
    Bounds.between("window", window, Duration.ofMillis(1), Duration.ofHours(24));
    Bounds.between("maxTargets", maxTargets, 1, 10_000);
    Bounds.between("maxSamplesPerTarget", maxSamplesPerTarget, 1, 10_000);
    return new LocalTargetMetrics(
        window.toNanos(), maxTargets, maxSamplesPerTarget, Objects.requireNonNull(time, "time"));
  }
}
