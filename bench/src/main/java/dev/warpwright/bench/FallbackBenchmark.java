package dev.warpwright.bench;

import dev.failsafe.Failsafe;
import dev.failsafe.FailsafeExecutor;
import dev.failsafe.Fallback;
import dev.warpwright.Gateway;
import dev.warpwright.GenerateRequest;
import dev.warpwright.GenerateResult;
import dev.warpwright.bench.report.Question;
import dev.warpwright.control.RetryPolicy;
import dev.warpwright.model.LanguageModel;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelCapabilities;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.Route;
import dev.warpwright.model.Target;
import io.github.resilience4j.core.CallableUtils;
import java.time.Duration;
import java.util.concurrent.Callable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.TearDown;

/**
 * What a fallback costs: two targets fail at once with status 503, each time with a new exception,
 * and the third answers; no retry and no wait in between. The baseline is the same in plain Java.
 */
@Question(place = 3, value = "What does it cost when two targets fail?", baseline = "plainCatch")
public class FallbackBenchmark extends Measured {
  private static final Down DOWN = new Down();

  private static final class Down implements LanguageModel {
    @Override
    public ModelCapabilities capabilities() {
      return ModelCapabilities.TEXT;
    }

    @Override
    public boolean honoursInterrupts() {
      return true;
    }

    @Override
    public ModelResponse generate(ModelCall call) {
      throw ProviderException.builder(ProviderException.Kind.HTTP_STATUS, "It is down.")
          .status(503)
          .build();
    }
  }

  private final Gateway gateway =
      InstantModel.HELLO
          .gateway()
          .adapter("down", id -> DOWN)
          .retry(new RetryPolicy(0, Duration.ZERO, 0))
          .build();
  private final GenerateRequest request =
      GenerateRequest.builder(
              Route.of(
                  Target.of("down", "first"), Target.of("down", "second"), InstantModel.TARGET),
              "Hello")
          .build();
  private final Callable<ModelResponse> resilience4j =
      CallableUtils.recover(
          CallableUtils.recover(FallbackBenchmark::down, failure -> down()),
          failure -> InstantModel.HELLO.generate(InstantModel.CALL));
  private final FailsafeExecutor<ModelResponse> failsafe =
      Failsafe.with(
          Fallback.<ModelResponse>of(() -> InstantModel.HELLO.generate(InstantModel.CALL)),
          Fallback.<ModelResponse>of(FallbackBenchmark::down));

  private static ModelResponse down() {
    return DOWN.generate(InstantModel.CALL);
  }

  /** Ends the gateway. */
  @TearDown
  public void close() {
    gateway.close();
  }

  /**
   * The three calls, with two catch clauses.
   *
   * @return the third's answer
   */
  @Benchmark
  public ModelResponse plainCatch() {
    try {
      return down();
    } catch (ProviderException first) {
      try {
        return down();
      } catch (ProviderException second) {
        return InstantModel.HELLO.generate(InstantModel.CALL);
      }
    }
  }

  /**
   * A route of three targets.
   *
   * @return the third's answer, with the two attempts before
   */
  @Benchmark
  public GenerateResult route() {
    return gateway.generate(request);
  }

  /**
   * Resilience4j's recovery, twice.
   *
   * @return the third's answer
   * @throws Exception never
   */
  @Benchmark
  public ModelResponse resilience4j() throws Exception {
    return resilience4j.call();
  }

  /**
   * Two fallbacks of Failsafe.
   *
   * @return the third's answer
   */
  @Benchmark
  public ModelResponse failsafe() {
    return failsafe.get(FallbackBenchmark::down);
  }
}
