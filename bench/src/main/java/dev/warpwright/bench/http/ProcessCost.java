package dev.warpwright.bench.http;

import com.sun.management.OperatingSystemMXBean;
import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;

/**
 * What this process has spent so far, all of its threads together.
 *
 * @param cpuNanos processor time
 * @param allocatedBytes of the heap
 */
record ProcessCost(long cpuNanos, long allocatedBytes) {
  static ProcessCost now() {
    return new ProcessCost(
        ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getProcessCpuTime(),
        ManagementFactory.getPlatformMXBean(ThreadMXBean.class).getTotalThreadAllocatedBytes());
  }

  ProcessCost since(ProcessCost before) {
    return new ProcessCost(cpuNanos - before.cpuNanos, allocatedBytes - before.allocatedBytes);
  }
}
