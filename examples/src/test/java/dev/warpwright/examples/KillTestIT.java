package dev.warpwright.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** The kill test with a few kills; {@code examples/kill-test.sh} alone makes twenty. */
class KillTestIT {
  @TempDir Path folder;

  @Test
  @EnabledOnOs({OS.LINUX, OS.MAC})
  void nothingIsLostAndNothingHappensTwice() throws Exception {
    Path output = folder.resolve("output");
    ProcessBuilder command =
        new ProcessBuilder("bash", "kill-test.sh", "target/warpwright-examples.jar", "3", "1");
    command
        .environment()
        .put("JAVA", Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.environment().put("CONCURRENCY", "16");
    Process test = command.redirectErrorStream(true).redirectOutput(output.toFile()).start();
    boolean ended = test.waitFor(5, TimeUnit.MINUTES);
    if (!ended) {
      test.descendants().forEach(ProcessHandle::destroyForcibly);
      test.destroyForcibly();
    }
    String text = Files.readString(output, StandardCharsets.UTF_8);
    assertTrue(ended, text);
    assertEquals(0, test.exitValue(), text);
    System.out.print(text);
  }
}
