package dev.warpwright.examples;

import dev.warpwright.Gateway;
import dev.warpwright.GenerateRequest;
import dev.warpwright.GenerateResult;
import dev.warpwright.adapters.HttpAdapter;
import dev.warpwright.adapters.openai.OpenAi;
import dev.warpwright.adapters.scripted.ScriptedAnswer;
import dev.warpwright.adapters.scripted.ScriptedModel;
import dev.warpwright.control.RetryPolicy;
import dev.warpwright.model.ProviderAdapter;
import dev.warpwright.model.Route;
import dev.warpwright.model.Target;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;

/**
 * A process that runs so many operations at once, each on a virtual thread, and says what came of
 * them. Arguments: how many; then a base URL, or nothing for a model inside the process that takes
 * {@link #LATENCY}.
 */
final class ManyAtOnce {
  static final Duration LATENCY = Duration.ofMillis(200);

  static final RetryPolicy NONE = new RetryPolicy(0, Duration.ZERO, 0);

  private ManyAtOnce() {}

  public static void main(String[] args) throws Exception {
    int operations = Integer.parseInt(args[0]);
    if (args.length == 1) {
      ScriptedModel model = ScriptedModel.answering(call -> echo(call.messages().getLast().text()));
      run(operations, model);
      say("running calls", model.running());
    } else {
      try (HttpAdapter openAi = openAi(URI.create(args[1]))) {
        run(operations, openAi);
        say("open exchanges", openAi.openExchanges());
      }
    }
  }

  /** Where the processor is busy with other things, the last connection may come late. */
  static HttpAdapter openAi(URI baseUrl) {
    return OpenAi.builder().baseUrl(baseUrl).connectTimeout(Duration.ofMinutes(1)).build();
  }

  private static ScriptedAnswer echo(String words) {
    return ScriptedAnswer.text(words).withLatency(LATENCY);
  }

  private static void run(int operations, ProviderAdapter adapter) throws Exception {
    Gateway gateway = Gateway.builder().adapter("many", adapter).retry(NONE).build();
    CountDownLatch start = new CountDownLatch(1);
    List<FutureTask<GenerateResult>> calls = new ArrayList<>();
    for (int i = 0; i < operations; i++) {
      GenerateRequest request =
          GenerateRequest.builder(Route.of(Target.of("many", "model")), "Operation " + i).build();
      FutureTask<GenerateResult> call =
          new FutureTask<>(
              () -> {
                start.await();
                return gateway.generate(request);
              });
      Thread.ofVirtual().start(call);
      calls.add(call);
    }
    long began = System.nanoTime();
    start.countDown();
    Set<String> answers = new HashSet<>();
    int attempts = 0;
    for (int i = 0; i < operations; i++) {
      GenerateResult result = calls.get(i).get();
      attempts += result.attempts().size();
      if (!result.text().equals("Operation " + i)) {
        throw new IllegalStateException("operation " + i + " has the answer of another");
      }
      answers.add(result.text());
    }
    long wallMillis = (System.nanoTime() - began) / 1_000_000;
    say("answers", answers.size());
    say("attempts", attempts);
    say("live tasks", gateway.tasks().liveCount());
    say("wall ms", wallMillis);
    say("peak heap MiB", peakHeap() / (1024 * 1024));
  }

  static void say(String what, long number) {
    System.out.println(what + ": " + number);
  }

  /** The sum of what each part of the heap had at its own peak: never less than the peak. */
  static long peakHeap() {
    return ManagementFactory.getMemoryPoolMXBeans().stream()
        .filter(pool -> pool.getType() == MemoryType.HEAP)
        .map(MemoryPoolMXBean::getPeakUsage)
        .mapToLong(usage -> usage.getUsed())
        .sum();
  }
}
