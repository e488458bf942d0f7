package dev.warpwright.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A program of the JDK that tests run as its own process: {@code java}, {@code javac}. */
final class Jvm {
  private Jvm() {}

  /** Runs a program to its end and returns what it has printed, errors included. */
  static String run(Path folder, String program, String... arguments)
      throws IOException, InterruptedException {
    Path output = Files.createTempFile(folder, program, ".txt");
    Process process =
        new ProcessBuilder(command(program, arguments))
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    try {
      boolean ended = process.waitFor(120, TimeUnit.SECONDS);
      String printed = Files.readString(output, StandardCharsets.UTF_8).replace("\r\n", "\n");
      assertTrue(ended, () -> "it has not ended within 120 s: " + printed);
      assertEquals(0, process.exitValue(), printed);
      return printed;
    } finally {
      process.destroyForcibly();
    }
  }

  /** The command that starts a program of the JDK that these tests run on. */
  static List<String> command(String program, String... arguments) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", program).toString());
    command.addAll(List.of(arguments));
    return command;
  }
}
