package dev.warpwright.bench.durable;

import dev.warpwright.agent.AgentResult;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.run.RunStore;
import dev.warpwright.tool.EffectClass;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.annotations.Warmup;

/**
 * What one step of a run costs in memory: a model's answer and a tool's outcome, written, folded
 * and driven on. The time is that of a run of 100 steps by a hundredth. Baseline: the model and the
 * tool alone.
 *
 * <p>The aim is 15 µs.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(value = 1, jvmArgsAppend = "-Djmh.executor=VIRTUAL")
@Threads(1)
@Warmup(iterations = 5, time = 2)
@Measurement(iterations = 5, time = 2)
public class StepBenchmark {
  private static final int STEPS = 100;
  private static final ModelCall CALL =
      ModelCall.builder(List.of(Message.user("Take every step."))).build();

  private final TrivialAgent pure = TrivialAgent.of(STEPS, EffectClass.PURE, () -> {});
  private final TrivialAgent once = TrivialAgent.of(STEPS, EffectClass.ONCE, () -> {});
  private RunStore store = RunStore.inMemory();

  /** Forgets the runs that have ended, which a store in memory does not do by itself. */
  @Setup(Level.Iteration)
  public void empty() {
    store.close();
    store = RunStore.inMemory();
  }

  /** Ends the agents. */
  @TearDown
  public void close() {
    pure.close();
    once.close();
  }

  /**
   * The model and a tool that does nothing, called a hundred times.
   *
   * @return the last answer
   * @throws Exception never
   */
  @Benchmark
  @OperationsPerInvocation(STEPS)
  public ModelResponse modelAndToolAlone() throws Exception {
    ModelResponse answer = pure.model().generate(CALL);
    for (int step = 1; step < STEPS; step++) {
      answer = pure.model().generate(CALL);
    }
    return answer;
  }

  /**
   * A step whose tool has no effect, and no intent in the log.
   *
   * @return the run
   */
  @Benchmark
  @OperationsPerInvocation(STEPS)
  public AgentResult stepWithoutIntent() {
    return pure.run(pure.on(store));
  }

  /**
   * A step whose tool must run once.
   *
   * @return the run
   */
  @Benchmark
  @OperationsPerInvocation(STEPS)
  public AgentResult stepWithIntent() {
    return once.run(once.on(store));
  }
}
