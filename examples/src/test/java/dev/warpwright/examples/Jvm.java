package dev.warpwright.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A program of the JDK that tests run as its own process: {@code java}, {@code javac}. */
final class Jvm {
  private Jvm() {}

  /** A process and its output, which goes to a file. Closing it ends it. */
  record Running(Process process, Path output) implements AutoCloseable {
    /** Waits for its end and returns what it has printed; it must not have failed. */
    String await() throws IOException, InterruptedException {
      boolean ended = process.waitFor(120, TimeUnit.SECONDS);
      assertTrue(ended, () -> "it has not ended within 120 s: " + printed());
      assertEquals(0, process.exitValue(), this::printed);
      return printed();
    }

    private String printed() {
      try (InputStream in = Files.newInputStream(output)) {
        return new String(in.readAllBytes(), StandardCharsets.UTF_8).replace("\r\n", "\n");
      } catch (IOException e) {
        return "no output: " + e;
      }
    }

    @Override
    public void close() {
      process.destroyForcibly();
    }
  }

  /** Runs a program to its end and returns what it has printed, errors included. */
  static String run(Path folder, String program, String... arguments)
      throws IOException, InterruptedException {
    Path output = Files.createTempFile(folder, program, ".txt");
    try (Running running = start(folder, output, program, arguments)) {
      return running.await();
    }
  }

  private static Running start(Path folder, Path output, String program, String... arguments)
      throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", program).toString());
    command.addAll(List.of(arguments));
    Process process =
        new ProcessBuilder(command)
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    return new Running(process, output);
  }
}
