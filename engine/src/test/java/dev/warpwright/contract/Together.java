package dev.warpwright.contract;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;

/** Many who begin at the same moment. */
public final class Together {
  private Together() {}

  /** What one of many does. */
  public interface Part<T> {
    /** Does it. */
    T run(int number) throws Exception;
  }

  /** Runs all at once, each on a virtual thread; returns their results in order. */
  public static <T> List<T> run(int count, Part<T> part) throws Exception {
    CountDownLatch ready = new CountDownLatch(count);
    List<FutureTask<T>> tasks = new ArrayList<>();
    for (int n = 0; n < count; n++) {
      int number = n;
      FutureTask<T> task =
          new FutureTask<>(
              () -> {
                ready.countDown();
                ready.await();
                return part.run(number);
              });
      tasks.add(task);
      Thread.startVirtualThread(task);
    }
    List<T> results = new ArrayList<>();
    for (FutureTask<T> task : tasks) {
      results.add(task.get());
    }
    return results;
  }

  /** Lets others run: a virtual thread that does not block keeps its carrier otherwise. */
  @SuppressWarnings("ThreadPriorityCheck") // nothing depends on it but how much is interleaved
  public static void letOthersRun() {
    Thread.yield();
  }
}
