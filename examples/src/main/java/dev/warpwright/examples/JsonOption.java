package dev.warpwright.examples;

import dev.warpwright.model.Json;
import java.util.Map;
import picocli.CommandLine.Option;

/** The option for programs that read what a command says. */
final class JsonOption {
  @Option(
      names = "--json",
      description = "Prints JSON, an object a line; its members are in docs/operating.md.")
  private boolean wanted;

  boolean isWanted() {
    return wanted;
  }

  /** Prints an object, or the line for people. */
  void print(Console console, Map<String, Object> object, String line) {
    console.print(wanted ? Json.of(object).text() : line);
  }
}
