package dev.warpwright;

import dev.warpwright.control.CircuitBreaker;
import dev.warpwright.control.CircuitPermit;
import dev.warpwright.control.TargetMetrics;
import dev.warpwright.control.TargetMetrics.Measurement;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.Target;
import dev.warpwright.model.TokenCount;
import java.util.OptionalLong;
import java.util.function.Consumer;

/**
 * What an attempt says of its target's health, told to its circuit and to its metrics. Only what
 * the target did counts: our own refusals, a cancel, the operation's deadline and a caller's
 * mistake say nothing. A metrics hook that throws is ignored. The permit stays its holder's, who
 * closes it.
 */
final class HealthReport implements AutoCloseable {
  private final CircuitPermit circuit;
  private final Measurement measurement;

  HealthReport(CircuitPermit circuit, TargetMetrics metrics, Target target) {
    this.circuit = circuit;
    this.measurement = begin(metrics, target);
  }

  private static Measurement begin(TargetMetrics metrics, Target target) {
    try {
      return metrics.begin(target);
    } catch (RuntimeException ignored) {
      return TargetMetrics.none().begin(target);
    }
  }

  void answered(TokenCount output) {
    circuit.success();
    boolean reported = output.provenance() == TokenCount.Provenance.REPORTED;
    OptionalLong tokens = reported ? OptionalLong.of(output.tokens()) : OptionalLong.empty();
    try {
      measurement.success(tokens);
    } catch (RuntimeException ignored) {
      // as in tell, but without a lambda that holds the number
    }
  }

  void failed(ProviderException failure) {
    if (CircuitBreaker.isHealthFailure(failure)) {
      circuit.failure(failure.retryAfter());
      tell(Measurement::error);
    }
  }

  /** The first text of a stream has come. */
  void hasText() {
    tell(Measurement::firstText);
  }

  /** A stream broke after it was shown, or went silent: that always counts. */
  void broken(ProviderException failure) {
    circuit.failure(failure.retryAfter());
    tell(Measurement::error);
  }

  /** Cancelled, cut off by the operation's deadline, or denied before the target was called. */
  void cutOff() {
    tell(Measurement::cancelled);
  }

  private void tell(Consumer<Measurement> what) {
    try {
      what.accept(measurement);
    } catch (RuntimeException ignored) {
      // a hook of the program cannot fail its call
    }
  }

  /** If nothing was told, the attempt says nothing of its target. */
  @Override
  public void close() {
    tell(Measurement::close);
  }
}
