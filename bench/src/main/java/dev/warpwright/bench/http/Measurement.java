package dev.warpwright.bench.http;

import dev.warpwright.bench.http.HttpFigure.Value;
import dev.warpwright.bench.http.HttpOptions.What;
import dev.warpwright.bench.load.Heap;
import dev.warpwright.bench.load.Load;
import dev.warpwright.bench.load.Meter;
import dev.warpwright.model.Json;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** The process in which one client is measured. It says what it found in JSON, and nothing else. */
final class Measurement {
  private static final int WARMUP_CALLS = 100;

  private final HttpOptions options;
  private final Clients who;
  private final What what;

  private Measurement(HttpOptions options) {
    this.options = options;
    this.who = options.clients().getFirst();
    this.what = options.what().getFirst();
  }

  /**
   * Measures one client and one thing.
   *
   * @param arguments as {@link HttpOptions#arguments} makes them
   */
  public static void main(String[] arguments) throws Exception {
    Measurement measurement = new Measurement(HttpOptions.parse(arguments));
    List<HttpFigure> figures = new ArrayList<>();
    try (ServerProcess server = ServerProcess.start()) {
      if (measurement.what.isHeld()) {
        figures.add(measurement.held(server));
      } else {
        for (int callers : measurement.options.callers()) {
          figures.add(measurement.load(server, callers));
        }
      }
    }
    System.out.println(Json.of(figures.stream().map(HttpFigure::toMap).toList()).text());
    System.out.flush();
    Runtime.getRuntime().halt(0); // calls that are held would never end
  }

  private HttpFigure load(ServerProcess server, int callers) throws Exception {
    try (ChatClient client = who.open(server.uri(), callers)) {
      Meter meter = new Meter();
      Load.Outcome<ProcessCost> outcome =
          options.load().run(callers, meter, number -> call(client, meter), ProcessCost::now);
      ProcessCost spent = outcome.after().since(outcome.before());
      Map<Value, Double> values = new EnumMap<>(Value.class);
      values.put(Value.PER_SECOND, outcome.perSecond());
      values.put(Value.P50_MICROS, outcome.p50().toNanos() / 1e3);
      values.put(Value.P99_MICROS, outcome.p99().toNanos() / 1e3);
      if (outcome.units() > 0) {
        values.put(Value.CPU_MICROS, spent.cpuNanos() / 1e3 / outcome.units());
        values.put(Value.ALLOCATED_BYTES, spent.allocatedBytes() / (double) outcome.units());
      }
      return new HttpFigure(who, what, callers, values);
    }
  }

  private Load.Call call(ChatClient client, Meter meter) {
    return () -> {
      Dialogue.requireAnswer(
          what == What.CALLS
              ? client.ask(Dialogue.QUESTION)
              : client.stream(Dialogue.QUESTION, () -> {}));
      meter.unit();
    };
  }

  /** Heap and threads with so many calls in flight, and without them. */
  private HttpFigure held(ServerProcess server) throws Exception {
    ChatClient client = who.open(server.uri(), options.held()); // never closed: it would wait
    for (int n = 0; n < WARMUP_CALLS; n++) {
      Dialogue.requireAnswer(client.ask(Dialogue.QUESTION));
      Dialogue.requireAnswer(client.stream(Dialogue.QUESTION, () -> {}));
    }
    long requestsBefore = server.requests();
    long heapBefore = Heap.used();
    AtomicInteger streaming = new AtomicInteger();
    CompletableFuture<Throwable> failure = new CompletableFuture<>();
    List<Thread> callers = new ArrayList<>(options.held());
    for (int n = 0; n < options.held(); n++) {
      callers.add(Thread.startVirtualThread(() -> hold(client, streaming, failure)));
    }
    while (!failure.isDone()
        && (what == What.HELD_STREAMS
            ? streaming.get() < options.held()
            : server.requests() - requestsBefore < options.held())) {
      TimeUnit.MILLISECONDS.sleep(100);
    }
    if (failure.isDone()) {
      throw new IllegalStateException("A call was not held.", failure.get());
    }
    TimeUnit.SECONDS.sleep(1); // until the last has gone to rest
    long heap = Heap.used() - heapBefore;
    Map<Value, Double> values = new EnumMap<>(Value.class);
    values.put(Value.HEAP_BYTES, heap / (double) callers.size());
    values.put(
        Value.PLATFORM_THREADS, (double) ManagementFactory.getThreadMXBean().getThreadCount());
    return new HttpFigure(who, what, options.held(), values);
  }

  private void hold(
      ChatClient client, AtomicInteger streaming, CompletableFuture<Throwable> failure) {
    try {
      if (what == What.HELD_CALLS) {
        client.ask(Dialogue.HELD_CALL);
      } else {
        client.stream(Dialogue.HELD_STREAM, streaming::incrementAndGet);
      }
      throw new IllegalStateException("An answer came that should have been held.");
    } catch (Exception e) {
      failure.complete(e);
    }
  }
}
