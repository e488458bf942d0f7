package dev.warpwright.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.management.UnixOperatingSystemMXBean;
import java.io.BufferedReader;
import java.io.File;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Thousands of operations of 200 ms, and of streams of 20 s, at once, in a process with little
 * memory, without a retry: each gets its own answer, and nothing is left. What they took is
 * printed, not judged.
 */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class ManyAtOnceIT {
  private static final String HEAP = "-Xmx512m";

  @TempDir private Path folder;

  @Test
  void ten_thousand_operations_run_at_once_on_half_a_gigabyte() throws Exception {
    Map<String, Long> seen = client(ManyAtOnce.class, "10000");

    assertEquals(10_000, seen.get("answers"));
    assertEquals(10_000, seen.get("attempts"));
    assertEquals(0, seen.get("live tasks"));
    assertEquals(0, seen.get("running calls"));
    summary("10 000 operations at once, in the process", seen);
  }

  @Test
  void five_thousand_calls_over_HTTP_run_at_once_on_half_a_gigabyte() throws Exception {
    assumeTrue(openFiles() > 6_000, "each call has a connection, and each connection is a file");
    Process server = server();
    try (BufferedReader said = server.inputReader(StandardCharsets.UTF_8)) {
      Map<String, Long> seen = client(ManyAtOnce.class, "5000", said.readLine());
      server.outputWriter().close();

      assertEquals("requests: 5000, answered: 5000", said.readLine());
      assertEquals(5_000, seen.get("answers"));
      assertEquals(5_000, seen.get("attempts"));
      assertEquals(0, seen.get("live tasks"));
      assertEquals(0, seen.get("open exchanges"));
      summary("5 000 operations at once, over HTTP", seen);
    } finally {
      server.destroyForcibly();
    }
  }

  @Test
  void ten_thousand_streams_of_a_chunk_a_second_lose_nothing() throws Exception {
    Map<String, Long> seen = client(ManyStreams.class, "10000");

    assertEquals(10_000, seen.get("streams"));
    assertEquals(10_000L * ManyStreams.CHUNKS, seen.get("chunks"));
    assertEquals(0, seen.get("live tasks"));
    assertEquals(0, seen.get("running calls"));
    summary("10 000 streams at once, in the process", seen);
  }

  @Test
  void five_thousand_streams_over_HTTP_lose_nothing() throws Exception {
    assumeTrue(openFiles() > 6_000, "each stream has a connection, and each connection is a file");
    Process server = server();
    try (BufferedReader said = server.inputReader(StandardCharsets.UTF_8)) {
      Map<String, Long> seen = client(ManyStreams.class, "5000", said.readLine());
      server.outputWriter().close();

      assertEquals("requests: 5000, answered: 5000", said.readLine());
      assertEquals(5_000, seen.get("streams"));
      assertEquals(5_000L * ManyStreams.CHUNKS, seen.get("chunks"));
      assertEquals(0, seen.get("live tasks"));
      assertEquals(0, seen.get("open exchanges"));
      summary("5 000 streams at once, over HTTP", seen);
    } finally {
      server.destroyForcibly();
    }
  }

  private static Process server() throws Exception {
    return new ProcessBuilder(
            Jvm.command("java", HEAP, "-cp", classPath(), ServerProcess.class.getName()))
        .redirectErrorStream(true)
        .start();
  }

  private Map<String, Long> client(Class<?> program, String... arguments) throws Exception {
    List<String> java = new ArrayList<>();
    java.addAll(List.of(HEAP, "-cp", classPath(), program.getName()));
    java.addAll(List.of(arguments));
    String printed = Jvm.run(folder, "java", java.toArray(String[]::new));
    List<String> told = printed.lines().filter(line -> !line.startsWith("SLF4J")).toList();
    assertTrue(told.stream().allMatch(line -> line.matches("[A-Za-z ]+: \\d+")), printed);
    return told.stream()
        .map(line -> line.split(": ", 2))
        .collect(
            Collectors.toMap(
                said -> said[0], said -> Long.valueOf(said[1]), (a, b) -> b, TreeMap::new));
  }

  /** How many files a process here may have open; a JVM takes what it may have. */
  private static long openFiles() {
    return ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean unix
        ? unix.getMaxFileDescriptorCount()
        : Long.MAX_VALUE;
  }

  private static void summary(String what, Map<String, Long> seen) {
    System.out.printf(
        "%s: %d ms, at most %d MiB of heap%n",
        what, seen.get("wall ms"), seen.get("peak heap MiB"));
  }

  /** The packaged jars and the programs of these tests. */
  private static String classPath() throws Exception {
    Path tests =
        Path.of(ManyAtOnce.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    return PackagedJars.path() + File.pathSeparator + tests;
  }
}
