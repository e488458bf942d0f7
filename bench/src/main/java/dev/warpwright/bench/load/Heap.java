package dev.warpwright.bench.load;

import java.lang.management.ManagementFactory;

/** What this process keeps. */
public final class Heap {
  private Heap() {}

  /**
   * The bytes of the heap that are in use after a collection.
   *
   * @return the bytes
   */
  public static long used() {
    for (int n = 0; n < 3; n++) {
      System.gc();
    }
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
  }
}
