package dev.warpwright.examples;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Who decides at the command line, for the log. */
final class Operator {
  private Operator() {}

  /** The name that was given, else that of the user of this process. */
  static String name(@Nullable String given) {
    if (given != null && given.isBlank()) {
      throw new JobException.Usage("--by must not be blank.");
    }
    String user = Objects.requireNonNullElse(System.getProperty("user.name"), "");
    return given != null ? given : user.isBlank() ? "cli" : user;
  }
}
