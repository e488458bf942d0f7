package dev.warpwright.examples;

import dev.warpwright.run.ApprovalDecision;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Denies what runs wait for. */
@Command(
    name = "deny",
    sortOptions = false,
    description = {
      "Denies what runs wait for, and drives those runs on: the agents are told.",
      "Exit code: 0 if no run failed, 1 otherwise, 2 for wrong arguments."
    })
final class DenyCommand extends DecideCommand {
  @Option(names = "--reason", paramLabel = "TEXT", description = "Why; the agent is told.")
  private @Nullable String reason;

  DenyCommand(Console console) {
    super(console);
  }

  static ApprovalDecision denial(String requestId, @Nullable String reason) {
    return ApprovalDecision.deny(
        requestId, reason == null ? "a person looked at it and said no." : reason);
  }

  @Override
  ApprovalDecision decision(String requestId) {
    return denial(requestId, reason);
  }

  @Override
  String done() {
    return "denied";
  }
}
