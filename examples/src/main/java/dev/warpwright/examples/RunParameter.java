package dev.warpwright.examples;

import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunScope;
import picocli.CommandLine.Parameters;

/** The run that a command is about. */
final class RunParameter {
  @Parameters(paramLabel = "RUN", description = "The id of the run, as the command runs lists it.")
  private String run = "";

  RunKey key() {
    if (run.isBlank()) {
      throw new JobException.Usage("The id of the run must not be blank.");
    }
    return new RunKey(RunScope.DEFAULT, run);
  }
}
