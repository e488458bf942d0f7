package dev.warpwright.task;

import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A body that ignores interrupts until it is released. */
final class Stubborn implements Callable<String> {
  private final CountDownLatch started = new CountDownLatch(1);
  private final CountDownLatch released = new CountDownLatch(1);
  private final CountDownLatch interrupted = new CountDownLatch(1);

  @Override
  public String call() {
    started.countDown();
    while (true) {
      try {
        released.await();
        return "late";
      } catch (InterruptedException e) {
        interrupted.countDown(); // noticed, not obeyed
      }
    }
  }

  void release() {
    released.countDown();
  }

  boolean hasStarted() {
    return started.getCount() == 0;
  }

  void awaitStarted() throws InterruptedException {
    TaskFixture.await("start", started);
  }

  void awaitInterrupted() throws InterruptedException {
    TaskFixture.await("interrupt", interrupted);
  }

  boolean wasInterrupted() throws InterruptedException {
    return interrupted.await(0, TimeUnit.SECONDS);
  }
}
