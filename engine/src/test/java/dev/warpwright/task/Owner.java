package dev.warpwright.task;

import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** A virtual thread that owns scopes, while the test's thread moves time. */
final class Owner<T> {
  private final FutureTask<T> future;
  private final Thread thread;

  private Owner(Callable<T> body) {
    this.future =
        new FutureTask<>(
            () -> {
              T value = body.call();
              if (Node.innermost() != null) {
                throw new AssertionError("left in the thread-local: " + Node.innermost());
              }
              return value;
            });
    this.thread = Thread.ofVirtual().name("owner").start(future);
  }

  static <T> Owner<T> start(Callable<T> body) {
    return new Owner<>(body);
  }

  Thread thread() {
    return thread;
  }

  /** What the thread returned, within a minute of real time; what it threw is thrown. */
  T get() throws Exception {
    try {
      return future.get(60, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof Error error) {
        throw error;
      }
      throw (Exception) e.getCause();
    } catch (TimeoutException e) {
      AssertionError stuck = new AssertionError("the owner has not returned within a minute");
      stuck.setStackTrace(thread.getStackTrace());
      throw stuck;
    }
  }
}
