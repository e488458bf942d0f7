package dev.warpwright.bench;

import dev.warpwright.Gateway;
import dev.warpwright.GenerateRequest;
import dev.warpwright.GenerateResult;
import dev.warpwright.control.AdmissionController;
import dev.warpwright.control.AdmissionPolicy;
import dev.warpwright.control.BudgetStore;
import dev.warpwright.control.CachePolicy;
import dev.warpwright.control.CircuitBreaker;
import dev.warpwright.control.CircuitPolicy;
import dev.warpwright.control.ReservationRule;
import dev.warpwright.control.ResponseCache;
import dev.warpwright.control.TargetMetrics;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.LanguageModel;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelCapabilities;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.Money;
import dev.warpwright.model.Route;
import dev.warpwright.model.Target;
import dev.warpwright.model.Usage;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.annotations.Warmup;

/**
 * What routing costs around a model that answers at once, called from a platform thread; see {@link
 * GenerateOnVirtualThreadBenchmark} for a virtual one.
 *
 * <p>Baselines in the same run: the bare model, and one virtual thread started and joined, which is
 * the least that a call with a deadline on its own thread can cost. Peers in the same run: the five
 * policies of Resilience4j and of Failsafe that people put around such a call, their time limits on
 * virtual threads.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Threads(1)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
public class GenerateBenchmark {
  private static final Target TARGET = Target.of("none", "instant");
  private static final ModelResponse ANSWER =
      new ModelResponse(
          Message.assistant("Hello."),
          new FinishReason(FinishReason.Kind.STOP, "stop"),
          Usage.reported(10, 2),
          Optional.empty());
  private static final LanguageModel MODEL =
      new LanguageModel() {
        @Override
        public ModelCapabilities capabilities() {
          return ModelCapabilities.TEXT;
        }

        @Override
        public ModelResponse generate(ModelCall call) {
          return ANSWER;
        }
      };

  private final Gateway gateway = Gateway.builder().adapter("none", modelId -> MODEL).build();
  private final GenerateRequest request =
      GenerateRequest.builder(Route.of(TARGET), "Hello").build();
  private final Gateway controlled =
      Gateway.builder()
          .adapter("none", modelId -> MODEL)
          .circuitBreaker(CircuitBreaker.local(CircuitPolicy.DEFAULT))
          .admission(
              AdmissionController.local(
                  AdmissionPolicy.builder(1_000_000).requestsPerMinute(Integer.MAX_VALUE).build()))
          .metrics(TargetMetrics.local())
          .costAccounting(Prices.accounting(TARGET))
          .budget(
              BudgetStore.local(Money.of("9000000000", "USD")),
              ReservationRule.fixed(Money.of("0.000001", "USD")))
          .build();
  private final GenerateRequest controlledRequest =
      GenerateRequest.builder(Route.of(TARGET), "Hello").budgetScope("bench").build();
  private final Gateway cached =
      Gateway.builder()
          .adapter("none", modelId -> MODEL)
          .cache(CachePolicy.of(ResponseCache.inMemory(), "bench"))
          .build();
  private final GenerateRequest cachedRequest =
      GenerateRequest.builder(Route.of(TARGET), "Hello").cacheScope("bench").build();
  private final ModelCall call = ModelCall.builder(request.messages()).build();

  private final ExecutorService virtualThreads = Executors.newVirtualThreadPerTaskExecutor();
  private final Peers peers = new Peers(virtualThreads);

  /** Ends the peers' threads. */
  @TearDown
  public void close() {
    virtualThreads.close();
    gateway.close();
    controlled.close();
    cached.close();
  }

  /**
   * Resilience4j: retry, circuit breaker, rate limiter, bulkhead and time limiter.
   *
   * @return the model's answer
   * @throws Exception never
   */
  @Benchmark
  public ModelResponse resilience4j() throws Exception {
    return peers.resilience4j(() -> MODEL.generate(call));
  }

  /**
   * Failsafe: retry, circuit breaker, rate limiter, bulkhead and timeout.
   *
   * @return the model's answer
   */
  @Benchmark
  public ModelResponse failsafe() {
    return peers.failsafe(() -> MODEL.generate(call));
  }

  /**
   * The model alone.
   *
   * @return its answer
   * @throws InterruptedException never
   */
  @Benchmark
  public ModelResponse bareModel() throws InterruptedException {
    return MODEL.generate(call);
  }

  /**
   * One virtual thread started and joined.
   *
   * @return the thread
   * @throws InterruptedException never
   */
  @Benchmark
  public Thread threadStartedAndJoined() throws InterruptedException {
    Thread thread = Thread.startVirtualThread(() -> {});
    thread.join();
    return thread;
  }

  /**
   * The routed operation with nothing switched on.
   *
   * @return its result
   */
  @Benchmark
  public GenerateResult generate() {
    return gateway.generate(request);
  }

  /**
   * The routed operation with circuit, admission by concurrency and rate, metrics, valuation and
   * budget.
   *
   * @return its result
   */
  @Benchmark
  public GenerateResult generateUnderControls() {
    return controlled.generate(controlledRequest);
  }

  /**
   * The routed operation whose answer is in the cache.
   *
   * @return its result
   */
  @Benchmark
  public GenerateResult generateFromCache() {
    return cached.generate(cachedRequest);
  }
}
