package dev.warpwright.store.jdbc;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** URLs of fresh databases, and a look at what a store may have left behind. */
final class Databases {
  private static final AtomicInteger NUMBER = new AtomicInteger();

  private Databases() {}

  /** A database in memory that lives until the JVM ends. */
  static String inMemory() {
    return "jdbc:h2:mem:store" + NUMBER.incrementAndGet() + ";DB_CLOSE_DELAY=-1";
  }

  static String inFile(Path folder) {
    return "jdbc:h2:async:" + folder.toAbsolutePath() + "/runs";
  }

  static void assertNoThreadLeft() {
    assertEquals(
        List.of(),
        Thread.getAllStackTraces().keySet().stream()
            .map(Thread::getName)
            .filter(name -> name.startsWith("warpwright-store"))
            .toList());
  }
}
