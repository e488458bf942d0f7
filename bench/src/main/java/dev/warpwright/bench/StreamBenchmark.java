package dev.warpwright.bench;

import dev.warpwright.Gateway;
import dev.warpwright.GenerateRequest;
import dev.warpwright.GenerateResult;
import dev.warpwright.StreamEvent;
import dev.warpwright.TextStream;
import dev.warpwright.adapters.scripted.ScriptedAnswer;
import dev.warpwright.adapters.scripted.ScriptedModel;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.Route;
import dev.warpwright.model.StreamingModel;
import dev.warpwright.model.Target;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
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
import org.openjdk.jmh.infra.Blackhole;

/**
 * What a stream costs over the scripted model, read from a virtual thread. The difference between
 * 100 pieces and one, by 99, is the cost of a piece; a stream of one piece is the most that can
 * stand before the first event. Baselines: the bare model, and what it costs to hand 100 texts from
 * one virtual thread to another.
 *
 * <p>The limit of silence is on, as by default.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(value = 1, jvmArgsAppend = "-Djmh.executor=VIRTUAL")
@Threads(1)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
public class StreamBenchmark {
  private static final int PIECES = 100;
  private static final ModelCall CALL = ModelCall.builder(List.of(Message.user("Hello"))).build();

  private final StreamingModel hundred = model(PIECES);
  private final StreamingModel one = model(1);
  private final Gateway gateway =
      Gateway.builder().adapter("hundred", id -> hundred).adapter("one", id -> one).build();
  private final GenerateRequest askHundred = ask("hundred");
  private final GenerateRequest askOne = ask("one");

  private static StreamingModel model(int pieces) {
    return ScriptedModel.builder()
        .otherwise(
            ScriptedAnswer.pieces(Collections.nCopies(pieces, "word ").toArray(String[]::new)))
        .build();
  }

  private static GenerateRequest ask(String provider) {
    return GenerateRequest.builder(Route.of(Target.of(provider, "scripted")), "Hello").build();
  }

  /** Ends the gateway. */
  @TearDown
  public void close() {
    gateway.close();
  }

  /** 100 pieces told by the model to nobody in particular. */
  @Benchmark
  public ModelResponse bareHundred(Blackhole hole) throws InterruptedException {
    return hundred.stream(CALL, hole::consume);
  }

  /** One piece told by the model. */
  @Benchmark
  public ModelResponse bareOne(Blackhole hole) throws InterruptedException {
    return one.stream(CALL, hole::consume);
  }

  /** 100 texts handed over from one virtual thread to another by a bounded queue of the JDK. */
  @Benchmark
  public void queueOfHundred(Blackhole hole) throws InterruptedException {
    BlockingQueue<String> queue = new ArrayBlockingQueue<>(256);
    Thread writer =
        Thread.startVirtualThread(
            () -> {
              for (int i = 0; i < PIECES; i++) {
                queue.add("word ");
              }
            });
    for (int i = 0; i < PIECES; i++) {
      hole.consume(queue.take());
    }
    writer.join();
  }

  /** 100 pieces, each read as an event. */
  @Benchmark
  public void eventsOfHundred(Blackhole hole) {
    try (TextStream stream = gateway.streamText(askHundred)) {
      for (StreamEvent event : stream) {
        hole.consume(event);
      }
    }
  }

  /** 100 pieces that are only collected. */
  @Benchmark
  public GenerateResult collectHundred() {
    try (TextStream stream = gateway.streamText(askHundred)) {
      return stream.collect();
    }
  }

  /** One piece, read as an event, to the end. */
  @Benchmark
  public void eventsOfOne(Blackhole hole) {
    try (TextStream stream = gateway.streamText(askOne)) {
      for (StreamEvent event : stream) {
        hole.consume(event);
      }
    }
  }

  /** The same answer, blocking. */
  @Benchmark
  public GenerateResult generateHundred() {
    return gateway.generate(askHundred);
  }
}
