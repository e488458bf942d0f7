package dev.warpwright.bench.durable;

import java.lang.management.ManagementFactory;

/** What is on the heap of this process. */
final class Heap {
  private Heap() {}

  /** How many bytes are used behind a collection. */
  static long used() {
    for (int n = 0; n < 3; n++) {
      System.gc();
    }
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
  }
}
