package dev.warpwright.bench.load;

import com.sun.management.HotSpotDiagnosticMXBean;
import com.sun.management.HotSpotDiagnosticMXBean.ThreadDumpFormat;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;

/** The threads of this process. */
public final class Threads {
  private Threads() {}

  /**
   * How many there are, virtual ones too.
   *
   * @return the count
   * @throws IOException if they cannot be listed
   */
  public static long count() throws IOException {
    Path dump = Files.createTempDirectory("warpwright-bench").resolve("threads.json");
    try {
      ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class)
          .dumpThreads(dump.toString(), ThreadDumpFormat.JSON);
      return Files.readAllLines(dump).stream().filter(line -> line.contains("\"tid\":")).count();
    } finally {
      Files.deleteIfExists(dump);
      Files.delete(dump.getParent());
    }
  }
}
