package dev.warpwright.bench;

import dev.warpwright.Gateway;
import dev.warpwright.GenerateRequest;
import dev.warpwright.GenerateResult;
import dev.warpwright.bench.report.Question;
import dev.warpwright.model.ModelCall;
import dev.warpwright.tool.EffectClass;
import dev.warpwright.tool.Tool;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.infra.Blackhole;

/**
 * What tools cost that a model asks for at the same time and that do nothing: two model calls, and
 * between them the tools, each on a virtual thread of its own. Baselines: the same model calls and
 * tools in a row, and with an executor of virtual threads in the place of the tree of tasks.
 */
@Question(
    place = 6,
    value = "What do tools cost that run at the same time?",
    baseline = "executorOfVirtualThreads")
public class FanOutBenchmark extends Measured {
  /** How many tools. */
  @Param({"1", "4", "16"})
  public int tools = 1;

  private final ExecutorService virtualThreads = Executors.newVirtualThreadPerTaskExecutor();
  private final Tool tool =
      Tool.of(
          AskingModel.TOOL,
          "Does one step.",
          AskingModel.Input.class,
          EffectClass.PURE,
          (input, context) -> "done");
  private final GenerateRequest request = InstantModel.ask().tools(tool).maxSteps(2).build();
  private final ModelCall first = ModelCall.builder(request.messages()).build();
  private AskingModel model = new AskingModel(1, 1);
  private Gateway gateway = Gateway.builder().build();
  private List<Callable<String>> bareTools = List.of();

  /** Makes the model. */
  @Setup
  public void prepare() {
    AskingModel asking = new AskingModel(1, tools);
    model = asking;
    gateway = Gateway.builder().adapter(InstantModel.TARGET.provider(), id -> asking).build();
    bareTools = Collections.nCopies(tools, () -> "done");
  }

  /** Ends gateway and threads. */
  @TearDown
  public void close() {
    gateway.close();
    virtualThreads.close();
  }

  /**
   * One after the other, on the caller's thread.
   *
   * @param hole takes what comes
   * @throws Exception never
   */
  @Benchmark
  public void oneAfterTheOther(Blackhole hole) throws Exception {
    hole.consume(model.generate(first));
    for (Callable<String> bare : bareTools) {
      hole.consume(bare.call());
    }
    hole.consume(model.generate(first));
  }

  /**
   * The tools handed to an executor of virtual threads.
   *
   * @param hole takes what comes
   * @throws Exception never
   */
  @Benchmark
  public void executorOfVirtualThreads(Blackhole hole) throws Exception {
    hole.consume(model.generate(first));
    for (Future<String> result : virtualThreads.invokeAll(bareTools)) {
      hole.consume(result.get());
    }
    hole.consume(model.generate(first));
  }

  /**
   * An operation with tools.
   *
   * @return its result
   */
  @Benchmark
  public GenerateResult operation() {
    return gateway.generate(request);
  }
}
