package dev.warpwright.examples;

import dev.warpwright.cost.CostTotal;
import dev.warpwright.model.CostValuation.Status;
import dev.warpwright.model.Usage;
import dev.warpwright.run.CallState;
import dev.warpwright.run.RunEvent.ApprovalRequested;
import dev.warpwright.run.RunState;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;

/** Where a run stands, in a few lines, and what to do about it. */
final class RunHeader {
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss").withZone(ZoneId.systemDefault());

  private RunHeader() {}

  static List<String> lines(RunState state) {
    List<String> lines = new ArrayList<>();
    lines.add("Run      %s".formatted(state.run()));
    lines.add("Status   %s%s".formatted(state.status(), state.isTerminal() ? "" : next(state)));
    lines.add(
        "Agent    %s%s"
            .formatted(
                state.started().agentId(),
                state.started().idempotencyKey().map(key -> ", key " + key).orElse("")));
    state
        .started()
        .forkedFrom()
        .ifPresent(
            from -> lines.add("Forked   from %s at %d".formatted(from.runId(), from.sequence())));
    lines.add(
        "Started  %s, last event %s".formatted(text(state.startedAt()), text(state.updatedAt())));
    lines.add("Steps    %d%s".formatted(state.step(), tokens(state.usage())));
    state.cost().ifPresent(cost -> lines.add("Cost     " + text(cost)));
    for (ApprovalRequested asked : state.pendingApprovals()) {
      lines.add(
          "Asks     %s %s%s"
              .formatted(
                  EventText.tool(asked),
                  asked.arguments().text(),
                  asked.expiresAt().map(end -> ", until " + text(end)).orElse("")));
    }
    for (CallState call : state.inDoubt()) {
      lines.add("In doubt %s %s".formatted(call.call().name(), call.call().input().text()));
    }
    return lines;
  }

  /** What brings an unfinished run on. */
  private static String next(RunState state) {
    return switch (state.status()) {
      case WAITING_APPROVAL -> ": decide with approve --run %s [--deny]".formatted(state.run());
      case NEEDS_RECONCILIATION -> ": look up what became of the calls in doubt";
      case QUEUED -> ": waits for a worker; see the command work";
      case WAITING -> ": a worker goes on with it when what it waits for is there";
      case RUNNING -> ": a worker goes on with it; see the command work";
      case FAILED -> ": resume it with resume %s".formatted(state.run());
      case CANCEL_REQUESTED -> ": cancel it again if nothing drives it";
      case COMPLETED, CANCELLED, TIMED_OUT -> "";
    };
  }

  private static String tokens(Usage usage) {
    return usage.input().isPresent() && usage.output().isPresent()
        ? ", %d tokens in and %d out".formatted(usage.input().tokens(), usage.output().tokens())
        : "";
  }

  private static String text(CostTotal cost) {
    return cost.amount()
        .map(amount -> amount + (cost.status() == Status.ESTIMATED ? ", estimated" : ""))
        .orElseGet(() -> "unknown: " + String.join(", ", cost.unknownReasons()));
  }

  private static String text(Instant time) {
    return TIME.format(time);
  }
}
