package dev.warpwright.run;

import dev.warpwright.model.FailureKind;
import dev.warpwright.model.Usage;
import dev.warpwright.run.RunEvent.ChildFinished;
import dev.warpwright.run.RunEvent.ChildStarted;
import dev.warpwright.run.RunEvent.RunFailed;
import dev.warpwright.run.RunEvent.ToolFinished;
import dev.warpwright.run.RunEvent.ToolReconciled;
import dev.warpwright.run.RunEvent.ToolReconciled.Verdict;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** Makes the record of a child run for its parent. */
public final class ChildEnds {
  private ChildEnds() {}

  /**
   * The record of a child run that has ended, for good or as its parent sees it.
   *
   * @param begun how it began in the parent's log
   * @param child its state: COMPLETED, FAILED or CANCELLED
   * @param log its log
   * @return the record
   */
  public static ChildFinished of(ChildStarted begun, RunState child, List<LoggedEvent> log) {
    return new ChildFinished(
        begun.callId(),
        begun.childRunId(),
        child.status(),
        child.text(),
        child.step(),
        (int) log.stream().map(LoggedEvent::event).filter(ChildEnds::answersCall).count(),
        child.toolErrors(),
        child.totalUsage(),
        child.totalCost(),
        child.failure().map(RunFailed::kind),
        Duration.between(child.startedAt(), child.updatedAt()));
  }

  private static boolean answersCall(RunEvent event) {
    return switch (event) {
      case ToolFinished e -> true;
      case ToolReconciled e -> e.verdict() != Verdict.NOT_EXECUTED;
      case ChildFinished e -> true;
      default -> false;
    };
  }

  /**
   * The record of a child run that never came to be, as what it was asked broke a rule.
   *
   * @param begun how it began in the parent's log
   * @param kind what kind of failure
   * @return the record
   */
  public static ChildFinished refused(ChildStarted begun, FailureKind kind) {
    return new ChildFinished(
        begun.callId(),
        begun.childRunId(),
        RunStatus.FAILED,
        "",
        0,
        0,
        0,
        Usage.ABSENT,
        Optional.empty(),
        Optional.of(kind),
        Duration.ZERO);
  }
}
