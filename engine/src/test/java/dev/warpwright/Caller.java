package dev.warpwright;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.warpwright.task.TaskScope;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;

/** A thread that calls a gateway, while the test's thread moves time. */
final class Caller<T> {
  private final FutureTask<T> future;
  private final AtomicBoolean interrupted = new AtomicBoolean();
  private final Thread thread;

  private Caller(Callable<T> body) {
    this.future =
        new FutureTask<>(
            () -> {
              try {
                return body.call();
              } finally {
                interrupted.set(Thread.currentThread().isInterrupted());
              }
            });
    this.thread = Thread.ofVirtual().name("caller").start(future);
  }

  static <T> Caller<T> start(Callable<T> body) {
    return new Caller<>(body);
  }

  void interrupt() {
    thread.interrupt();
  }

  /**
   * Waits until the call is in this method and waits there in a scope: for a step of it that leaves
   * no trace to others, such as entering a shared call.
   */
  void awaitWaitIn(Class<?> type, String method) {
    Spine.until("a wait in " + type.getSimpleName() + "." + method, () -> waitsIn(type, method));
  }

  private boolean waitsIn(Class<?> type, String method) {
    StackTraceElement[] trace = thread.getStackTrace();
    for (int i = 1; i < trace.length; i++) {
      if (isIn(trace[i], type, method) && isIn(trace[i - 1], TaskScope.class, "await")) {
        return true;
      }
    }
    return false;
  }

  private static boolean isIn(StackTraceElement frame, Class<?> type, String method) {
    return frame.getClassName().equals(type.getName()) && frame.getMethodName().equals(method);
  }

  /** Whether the thread's interrupt flag was set when the call came back. */
  boolean leftInterrupted() {
    return interrupted.get();
  }

  /** What the call returned, within 10 s of real time. */
  T get() throws Exception {
    try {
      return future.get(60, TimeUnit.SECONDS);
    } catch (TimeoutException e) {
      AssertionError stuck = new AssertionError("the caller has not come back within 10 s");
      stuck.setStackTrace(thread.getStackTrace());
      throw stuck;
    }
  }

  /** What the call threw. */
  <E extends Throwable> E failure(Class<E> type) {
    return assertInstanceOf(type, assertThrows(ExecutionException.class, this::get).getCause());
  }
}
