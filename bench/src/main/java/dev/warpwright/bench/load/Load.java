package dev.warpwright.bench.load;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
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
public record Load(Duration warmup, Duration window) {
  /** What a caller does again and again. */
  @FunctionalInterface
  public interface Call {
    /**
     * Does it.
     *
     * @throws Exception ends the load
     */
    void once() throws Exception;
  }

  /** What each caller does. */
  @FunctionalInterface
  public interface Caller {
    /**
     * Makes a caller ready.
     *
     * @param number which, from 0
     * @return what it does
     * @throws Exception ends the load
     */
    Call caller(int number) throws Exception;
  }

  /**
   * Something that counts by itself, read when the window opens and when it closes.
   *
   * @param <C> what it counts
   */
  @FunctionalInterface
  public interface Counted<C> {
    /**
     * Reads it.
     *
     * @return the counts so far
     * @throws Exception ends the load
     */
    C read() throws Exception;
  }

  /**
   * What came of it.
   *
   * @param <C> what was counted besides
   * @param units how much was done
   * @param seconds in what time
   * @param p50 half of the calls took no longer
   * @param p99 99 of 100 calls took no longer
   * @param before what was counted when the window opened
   * @param after what was counted when it closed
   */
  public record Outcome<C>(
      long units, double seconds, Duration p50, Duration p99, C before, C after) {
    /**
     * How much was done in a second.
     *
     * @return the rate
     */
    public double perSecond() {
      return units / seconds;
    }
  }

  /**
   * Runs it.
   *
   * @param <C> what is counted besides
   * @param callers how many at once
   * @param meter counts what is done
   * @param work what they do
   * @param counted what is counted besides
   * @return what came of it
   * @throws Exception if a caller failed
   */
  public <C> Outcome<C> run(int callers, Meter meter, Caller work, Counted<C> counted)
      throws Exception {
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
        C before = counted.read();
        meter.clearLatencies();
        long begun = System.nanoTime();
        long unitsBefore = meter.units();
        Thread.sleep(window);
        long units = meter.units() - unitsBefore;
        double seconds = (System.nanoTime() - begun) / (double) TimeUnit.SECONDS.toNanos(1);
        Outcome<C> outcome =
            new Outcome<>(
                units,
                seconds,
                meter.percentile(0.5),
                meter.percentile(0.99),
                before,
                counted.read());
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

  private static void requireNoFailure(List<Future<?>> callers) throws InterruptedException {
    for (Future<?> caller : callers) {
      try {
        caller.get();
      } catch (ExecutionException e) {
        throw new IllegalStateException("A caller failed.", e.getCause());
      }
    }
  }
}
