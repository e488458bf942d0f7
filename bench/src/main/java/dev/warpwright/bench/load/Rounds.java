package dev.warpwright.bench.load;

import dev.warpwright.model.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** The file of a load program: what it measured, round by round, and where. */
public final class Rounds {
  private Rounds() {}

  /**
   * Writes it.
   *
   * @param file the file
   * @param program the program's class
   * @param environment where it was measured
   * @param rounds the figures of each round
   * @throws IOException if it cannot be written
   */
  public static void write(
      Path file,
      Class<?> program,
      Map<String, String> environment,
      List<? extends List<? extends Map<String, ?>>> rounds)
      throws IOException {
    Files.writeString(
        file,
        Json.of(Map.of("program", program.getName(), "environment", environment, "rounds", rounds))
            .text());
  }
}
