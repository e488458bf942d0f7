package dev.warpwright.flow;

import dev.warpwright.run.FlowCall;
import dev.warpwright.run.FlowEvent.ParallelFinished.BranchEnd;
import dev.warpwright.run.FlowJournal;

/** How the recorded calls of a flow stand to each other: what is in which branch, and what last. */
final class Nesting {
  private final FlowJournal journal;

  Nesting(FlowJournal journal) {
    this.journal = journal;
  }

  /**
   * Whether nothing was called after a call and the parallels around it: else the body has dealt
   * with its failure, and making it again would lead another way than the log goes.
   */
  boolean isLast(String position) {
    String at = position;
    while (true) {
      int cut = at.lastIndexOf('/');
      String path = at.substring(0, cut + 1);
      int next = Integer.parseInt(at.substring(cut + 1)) + 1;
      if (journal.at(path + next).isPresent()) {
        return false;
      }
      if (cut < 0) {
        return true;
      }
      at = at.substring(0, at.lastIndexOf('/', cut - 1)); // the parallel around it
    }
  }

  /** Whether a call is in a branch that was stopped and that no resume makes again. */
  boolean isStoppedForGood(String position) {
    String at = position;
    for (int cut = at.lastIndexOf('/'); cut > 0; cut = at.lastIndexOf('/')) {
      int branchCut = at.lastIndexOf('/', cut - 1);
      if (branchCut < 0) {
        return false; // what is done on a cancel
      }
      int branch = Integer.parseInt(at.substring(branchCut + 1, cut));
      at = at.substring(0, branchCut);
      if (wasStopped(at, branch) && !isLast(at)) {
        return true;
      }
    }
    return false;
  }

  private boolean wasStopped(String parallel, int branch) {
    return journal.at(parallel).stream()
        .filter(FlowCall.Parallel.class::isInstance)
        .map(FlowCall.Parallel.class::cast)
        .flatMap(call -> call.finished().stream())
        .anyMatch(finished -> finished.ends().get(branch) == BranchEnd.CANCELLED);
  }
}
