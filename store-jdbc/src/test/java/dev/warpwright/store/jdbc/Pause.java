package dev.warpwright.store.jdbc;

import java.util.concurrent.locks.LockSupport;

/** Waits a little, where it is another process that goes on meanwhile. */
final class Pause {
  private Pause() {}

  static void millis(long millis) {
    long end = System.nanoTime() + millis * 1_000_000;
    for (long left = end - System.nanoTime(); left > 0; left = end - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
  }
}
