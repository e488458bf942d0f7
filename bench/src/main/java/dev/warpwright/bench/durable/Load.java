package dev.warpwright.bench.durable;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * Callers, each on a virtual thread, that make one call after the other for a while. What is
 * counted is what was done between two moments, whatever was under way then.
 *
 * @param warmup how long they go on before it counts
 * @param window how long it counts
 */
record Load(Duration warmup, Duration window) {
  /** What a caller does again and again. */
  interface Call {
    void once() throws Exception;
  }

  /** What each caller does. */
  interface Caller {
    Call caller(int number) throws Exception;
  }

  /**
   * What came of it.
   *
   * @param units how much was done
   * @param seconds in what time
   * @param p50 half of the calls took no longer
   * @param p99 99 of 100 calls took no longer
   * @param counted what the database counted meanwhile
   */
  record Outcome(
      long units, double seconds, Duration p50, Duration p99, Database.Counters counted) {
    double perSecond() {
      return units / seconds;
    }

    OptionalDouble perUnit(OptionalLong count) {
      return count.isPresent() && units > 0
          ? OptionalDouble.of(count.getAsLong() / (double) units)
          : OptionalDouble.empty();
    }
  }

  /**
   * Runs it.
   *
   * @param callers how many at once
   * @param meter counts what is done
   * @param work what they do
   * @param database on which
   */
  Outcome run(int callers, Meter meter, Caller work, Database database) throws Exception {
    List<Call> calls = new ArrayList<>(callers);
    for (int n = 0; n < callers; n++) {
      calls.add(work.caller(n));
    }
    Stop stop = new Stop();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<?>> running = new ArrayList<>(callers);
      for (Call call : calls) {
        running.add(threads.submit(() -> repeat(call, meter, stop)));
      }
      try {
        Thread.sleep(warmup);
        Database.Counters before = database.counters();
        meter.clearLatencies();
        long begun = System.nanoTime();
        long unitsBefore = meter.units();
        Thread.sleep(window);
        long units = meter.units() - unitsBefore;
        double seconds = (System.nanoTime() - begun) / (double) TimeUnit.SECONDS.toNanos(1);
        Outcome outcome =
            new Outcome(
                units,
                seconds,
                meter.percentile(0.5),
                meter.percentile(0.99),
                database.counters().since(before));
        stop.now = true;
        requireNoFailure(running);
        return outcome;
      } finally {
        stop.now = true;
      }
    }
  }

  private static final class Stop {
    volatile boolean now;
  }

  private static Void repeat(Call call, Meter meter, Stop stop) throws Exception {
    while (!stop.now) {
      long begun = System.nanoTime();
      call.once();
      meter.took(System.nanoTime() - begun);
    }
    return null;
  }

  private static void requireNoFailure(List<Future<?>> callers) throws Exception {
    for (Future<?> caller : callers) {
      try {
        caller.get();
      } catch (ExecutionException e) {
        throw new IllegalStateException("A caller failed.", e.getCause());
      }
    }
  }
}
