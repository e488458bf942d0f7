package dev.warpwright.store.jdbc;

import java.sql.SQLException;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/** A hook that a test arms: at a boundary it blocks once, or fails so many times. */
final class Gate implements CommitHook {
  private final Map<Boundary, Integer> failures = new EnumMap<>(Boundary.class);
  private final AtomicInteger commits = new AtomicInteger();
  private volatile Stop stop = new Stop(null);

  /** One place where the journal is held. */
  static final class Stop {
    private final Boundary boundary;
    private final CountDownLatch reached = new CountDownLatch(1);
    private final CountDownLatch opened = new CountDownLatch(1);

    private Stop(Boundary boundary) {
      this.boundary = boundary;
    }

    void awaitReached() throws InterruptedException {
      reached.await();
    }

    void open() {
      opened.countDown();
    }
  }

  /** Holds the journal the next time it comes to a boundary. */
  Stop stopAt(Boundary boundary) {
    stop = new Stop(boundary);
    return stop;
  }

  /** Fails the next so many times that the journal comes to a boundary. */
  synchronized void failAt(Boundary boundary, int times) {
    failures.put(boundary, times);
  }

  /** Lets the journal go on wherever it is held. */
  void open() {
    stop.open();
  }

  /** How many transactions were committed. */
  int commits() {
    return commits.get();
  }

  /** How many failures have not happened yet. */
  synchronized int failuresLeft() {
    return failures.values().stream().mapToInt(Integer::intValue).sum();
  }

  @Override
  public void at(Boundary boundary) throws SQLException {
    boolean fails = takeFailure(boundary); // one that is armed during a stop is for the next time
    if (boundary == Boundary.AFTER_COMMIT) {
      commits.incrementAndGet();
    }
    Stop armed = stop;
    if (armed.boundary == boundary && armed.reached.getCount() > 0) {
      armed.reached.countDown();
      try {
        armed.opened.await();
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    }
    if (fails) {
      throw new SQLException("The test fails the database " + boundary + ".");
    }
  }

  private synchronized boolean takeFailure(Boundary boundary) {
    int left = failures.getOrDefault(boundary, 0);
    failures.put(boundary, Math.max(0, left - 1));
    return left > 0;
  }
}
