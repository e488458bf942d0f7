package dev.warpwright.bench.durable;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.function.IntConsumer;

/** Does something very often, {@value #PLACES} times at once. */
final class AtOnce {
  private static final int PLACES = 64;

  private AtOnce() {}

  /** Does it with each number below a count, each on a virtual thread; fails if one fails. */
  static void each(int count, IntConsumer work) throws InterruptedException, ExecutionException {
    Semaphore places = new Semaphore(PLACES);
    List<Future<?>> begun = new ArrayList<>();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int n = 0; n < count; n++) {
        int number = n;
        places.acquire();
        begun.add(
            threads.submit(
                () -> {
                  try {
                    work.accept(number);
                  } finally {
                    places.release();
                  }
                }));
      }
      for (Future<?> each : begun) {
        each.get();
      }
    }
  }
}
