package dev.warpwright.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.openjdk.jmh.infra.Blackhole;

/**
 * Callers that all call at the same time. JMH's own threads are not used for that: its virtual ones
 * would never give way to each other in a call that does not block, and what it reports of them is
 * the time of each, not that of all.
 */
final class Crowd implements AutoCloseable {
  /** How many callers a crowd has. */
  static final int CALLERS = 64;

  /** How many calls each of them makes in one invocation. */
  static final int CALLS = 100;

  /** How many calls that is. */
  static final int ALL = CALLERS * CALLS;

  private final ExecutorService threads;

  private Crowd(ExecutorService threads) {
    this.threads = threads;
  }

  static Crowd onVirtualThreads() {
    return new Crowd(Executors.newVirtualThreadPerTaskExecutor());
  }

  /** Its threads are started by the first invocation and kept. */
  static Crowd onPlatformThreads() {
    return new Crowd(Executors.newFixedThreadPool(CALLERS));
  }

  /** Makes {@link #CALLS} calls by each of {@link #CALLERS} callers. */
  void call(Callable<?> call, Blackhole hole) throws Exception {
    call(CALLERS, CALLS, call, hole);
  }

  /** Makes calls by so many callers, and comes back when all are done. */
  void call(int callers, int calls, Callable<?> call, Blackhole hole) throws Exception {
    List<Future<?>> running = new ArrayList<>(callers);
    for (int caller = 0; caller < callers; caller++) {
      running.add(
          threads.submit(
              () -> {
                for (int n = 0; n < calls; n++) {
                  hole.consume(call.call());
                }
                return null;
              }));
    }
    for (Future<?> caller : running) {
      try {
        caller.get();
      } catch (ExecutionException e) {
        throw new IllegalStateException("A caller failed.", e.getCause());
      }
    }
  }

  /** Lets others run, as a call does that waits for its network. */
  @SuppressWarnings("ThreadPriorityCheck") // no order is relied on
  static void giveWay() {
    Thread.yield();
  }

  @Override
  public void close() {
    threads.close();
  }
}
