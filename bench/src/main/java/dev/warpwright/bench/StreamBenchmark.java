package dev.warpwright.bench;

import dev.warpwright.Gateway;
import dev.warpwright.GenerateRequest;
import dev.warpwright.GenerateResult;
import dev.warpwright.StreamEvent;
import dev.warpwright.TextStream;
import dev.warpwright.adapters.scripted.ScriptedAnswer;
import dev.warpwright.adapters.scripted.ScriptedModel;
import dev.warpwright.bench.report.Question;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.StreamingModel;
import java.util.Collections;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.infra.Blackhole;

/**
 * What a stream costs over the scripted model, whose chunks are made beforehand. The difference
 * between 100 chunks and one, by 99, is the cost of a chunk; a stream of one chunk is the most that
 * can stand before the first event. Baselines: the bare model, and what it costs to hand as many
 * texts from one virtual thread to another.
 *
 * <p>The limit of silence is on, as by default.
 */
@Question(
    place = 4,
    value = "What does it cost to read an answer while it comes?",
    baseline = "bareModel")
public class StreamBenchmark extends Measured {
  /** How many chunks the answer comes in. */
  @Param({"1", "100"})
  public int chunks = 1;

  private StreamingModel model = ScriptedModel.answering("");
  private Gateway gateway = Gateway.builder().build();
  private final GenerateRequest request = InstantModel.ask().build();

  /** Makes the answer. */
  @Setup
  public void prepare() {
    StreamingModel scripted =
        ScriptedModel.builder()
            .otherwise(
                ScriptedAnswer.pieces(Collections.nCopies(chunks, "word ").toArray(String[]::new)))
            .build();
    model = scripted;
    gateway = Gateway.builder().adapter(InstantModel.TARGET.provider(), id -> scripted).build();
  }

  /** Ends the gateway. */
  @TearDown
  public void close() {
    gateway.close();
  }

  /**
   * The chunks told by the model to nobody in particular.
   *
   * @param hole takes them
   * @return the answer
   * @throws InterruptedException never
   */
  @Benchmark
  public ModelResponse bareModel(Blackhole hole) throws InterruptedException {
    return model.stream(InstantModel.CALL, hole::consume);
  }

  /**
   * As many texts handed over from one virtual thread to another by a bounded queue of the JDK.
   *
   * @param hole takes them
   * @throws InterruptedException never
   */
  @Benchmark
  public void queueBetweenThreads(Blackhole hole) throws InterruptedException {
    BlockingQueue<String> queue = new ArrayBlockingQueue<>(256);
    Thread writer =
        Thread.startVirtualThread(
            () -> {
              for (int i = 0; i < chunks; i++) {
                queue.add("word ");
              }
            });
    for (int i = 0; i < chunks; i++) {
      hole.consume(queue.take());
    }
    writer.join();
  }

  /**
   * The stream, each event read.
   *
   * @param hole takes them
   */
  @Benchmark
  public void eventsRead(Blackhole hole) {
    try (TextStream stream = gateway.streamText(request)) {
      for (StreamEvent event : stream) {
        hole.consume(event);
      }
    }
  }

  /**
   * The stream, only collected.
   *
   * @return the result
   */
  @Benchmark
  public GenerateResult collected() {
    try (TextStream stream = gateway.streamText(request)) {
      return stream.collect();
    }
  }

  /**
   * The same answer, not streamed.
   *
   * @return the result
   */
  @Benchmark
  public GenerateResult generate() {
    return gateway.generate(request);
  }
}
