package dev.warpwright.store.jdbc;

/** The store's threads end by themselves; whoever waits for that is not cut short. */
final class Threads {
  private Threads() {}

  /** Waits for the end of a thread; an interrupt is pending again afterwards. */
  static void join(Thread thread) {
    boolean interrupted = false;
    while (thread.isAlive()) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
