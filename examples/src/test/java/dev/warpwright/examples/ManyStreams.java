package dev.warpwright.examples;

import dev.warpwright.Gateway;
import dev.warpwright.GenerateRequest;
import dev.warpwright.TextStream;
import dev.warpwright.adapters.HttpAdapter;
import dev.warpwright.adapters.scripted.ScriptedAnswer;
import dev.warpwright.adapters.scripted.ScriptedChunks;
import dev.warpwright.adapters.scripted.ScriptedModel;
import dev.warpwright.model.ProviderAdapter;
import dev.warpwright.model.Route;
import dev.warpwright.model.Target;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * A process that holds so many streams open at once, each of {@link #CHUNKS} chunks with a {@link
 * #PAUSE} between two, and says what came of them. Arguments: how many; then a base URL, or nothing
 * for a model inside the process.
 */
final class ManyStreams {
  static final Duration PAUSE = Duration.ofSeconds(1);
  static final int CHUNKS = 20;

  private static final String WORDS =
      IntStream.range(0, CHUNKS).mapToObj(i -> "word" + i).collect(Collectors.joining(" "));

  private ManyStreams() {}

  public static void main(String[] args) throws Exception {
    int streams = Integer.parseInt(args[0]);
    if (args.length == 1) {
      ScriptedModel model =
          ScriptedModel.builder()
              .otherwise(
                  ScriptedAnswer.text(WORDS).withChunks(ScriptedChunks.words(1).withPause(PAUSE)))
              .build();
      run(streams, model);
      ManyAtOnce.say("running calls", model.running());
    } else {
      try (HttpAdapter openAi = ManyAtOnce.openAi(URI.create(args[1]))) {
        run(streams, openAi);
        ManyAtOnce.say("open exchanges", openAi.openExchanges());
      }
    }
  }

  private static void run(int streams, ProviderAdapter adapter) throws Exception {
    Gateway gateway = Gateway.builder().adapter("many", adapter).retry(ManyAtOnce.NONE).build();
    GenerateRequest request =
        GenerateRequest.builder(Route.of(Target.of("many", "model")), WORDS).build();
    long began = System.nanoTime();
    List<FutureTask<Integer>> readers = new ArrayList<>();
    for (int i = 0; i < streams; i++) {
      FutureTask<Integer> reader = new FutureTask<>(() -> read(gateway, request));
      Thread.ofVirtual().start(reader);
      readers.add(reader);
    }
    long chunks = 0;
    for (FutureTask<Integer> reader : readers) {
      chunks += reader.get();
    }
    long wallMillis = (System.nanoTime() - began) / 1_000_000;
    ManyAtOnce.say("streams", readers.size());
    ManyAtOnce.say("chunks", chunks);
    ManyAtOnce.say("live tasks", gateway.tasks().liveCount());
    ManyAtOnce.say("wall ms", wallMillis);
    ManyAtOnce.say("peak heap MiB", ManyAtOnce.peakHeap() / (1024 * 1024));
  }

  /** How many chunks came; together they must be the answer. */
  private static int read(Gateway gateway, GenerateRequest request) {
    StringBuilder text = new StringBuilder();
    int chunks = 0;
    try (TextStream stream = gateway.streamText(request)) {
      for (String piece : stream.text()) {
        text.append(piece);
        chunks++;
      }
      if (!text.toString().equals(WORDS) || !stream.collect().text().equals(WORDS)) {
        throw new IllegalStateException("a stream lost something: " + text);
      }
    }
    return chunks;
  }
}
