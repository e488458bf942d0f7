package dev.warpwright.bench;

import dev.warpwright.Gateway;
import dev.warpwright.GenerateRequest;
import dev.warpwright.GenerateResult;
import dev.warpwright.bench.report.Question;
import dev.warpwright.control.CachePolicy;
import dev.warpwright.control.ResponseCache;
import dev.warpwright.model.LanguageModel;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelCapabilities;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.Route;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.infra.Blackhole;

/**
 * What the cache costs: an answer that is in it, and one that is not and that {@value #TOGETHER}
 * callers ask for at the same time, of whom one asks the model, which gives way a few times before
 * it answers. Baselines: the same without a cache.
 */
@Question(place = 8, value = "What does the cache of answers cost?", baseline = "noCache")
public class CacheBenchmark extends Measured {
  private static final String SCOPE = "bench";
  private static final int TOGETHER = 16;

  private static final LanguageModel GIVING_WAY =
      new LanguageModel() {
        @Override
        public ModelCapabilities capabilities() {
          return InstantModel.HELLO.capabilities();
        }

        @Override
        public boolean honoursInterrupts() {
          return true;
        }

        @Override
        public ModelResponse generate(ModelCall call) {
          for (int n = 0; n < TOGETHER; n++) {
            Crowd.giveWay();
          }
          return InstantModel.HELLO.generate(call);
        }
      };

  private final Gateway plain = gateway(InstantModel.HELLO, Optional.empty());
  private final Gateway cached = gateway(InstantModel.HELLO, Optional.of(policy()));
  private final Gateway plainGivingWay = gateway(GIVING_WAY, Optional.empty());
  private final Gateway cachedGivingWay = gateway(GIVING_WAY, Optional.of(policy()));
  private final GenerateRequest request = InstantModel.ask().build();
  private final GenerateRequest cacheable = InstantModel.ask().cacheScope(SCOPE).build();
  private final AtomicLong questions = new AtomicLong();
  private final Crowd crowd = Crowd.onVirtualThreads();

  private static CachePolicy policy() {
    return CachePolicy.of(ResponseCache.inMemory(), SCOPE);
  }

  private static Gateway gateway(LanguageModel model, Optional<CachePolicy> policy) {
    Gateway.Builder builder =
        Gateway.builder().adapter(InstantModel.TARGET.provider(), id -> model);
    policy.ifPresent(builder::cache);
    return builder.build();
  }

  /** Ends gateways and threads. */
  @TearDown
  public void close() {
    crowd.close();
    plain.close();
    cached.close();
    plainGivingWay.close();
    cachedGivingWay.close();
  }

  /**
   * The model asked, without a cache.
   *
   * @return the answer
   */
  @Benchmark
  public GenerateResult noCache() {
    return plain.generate(request);
  }

  /**
   * An answer that is in the cache.
   *
   * @return the answer
   */
  @Benchmark
  public GenerateResult hit() {
    return cached.generate(cacheable);
  }

  /**
   * A new question, asked by all at once; for each of them.
   *
   * @param hole takes the answers
   * @throws Exception never
   */
  @Benchmark
  @OperationsPerInvocation(TOGETHER)
  public void sharedMiss(Blackhole hole) throws Exception {
    GenerateRequest fresh =
        GenerateRequest.builder(
                Route.of(InstantModel.TARGET), "Question " + questions.incrementAndGet())
            .cacheScope(SCOPE)
            .build();
    crowd.call(TOGETHER, 1, () -> cachedGivingWay.generate(fresh), hole);
  }

  /**
   * The model asked by all at once, without a cache; for each of them.
   *
   * @param hole takes the answers
   * @throws Exception never
   */
  @Benchmark
  @OperationsPerInvocation(TOGETHER)
  public void sharedMissWithoutCache(Blackhole hole) throws Exception {
    crowd.call(TOGETHER, 1, () -> plainGivingWay.generate(request), hole);
  }
}
