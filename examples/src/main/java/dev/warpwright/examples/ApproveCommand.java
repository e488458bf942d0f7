package dev.warpwright.examples;

import dev.warpwright.run.ApprovalDecision;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Approves what runs wait for. */
@Command(
    name = "approve",
    sortOptions = false,
    description = {
      "Approves, or denies, what runs wait for, and drives those runs on. Runs that an earlier"
          + " approve decided and did not bring to their end go on too.",
      "Exit code: 0 if no run failed, 1 otherwise, 2 for wrong arguments."
    })
final class ApproveCommand extends DecideCommand {
  @Option(names = "--deny", description = "Denies instead, as the command deny does.")
  private boolean deny;

  ApproveCommand(Console console) {
    super(console);
  }

  @Override
  ApprovalDecision decision(String requestId) {
    return deny ? DenyCommand.denial(requestId, null) : ApprovalDecision.approve(requestId);
  }

  @Override
  String done() {
    return deny ? "denied" : "given";
  }
}
