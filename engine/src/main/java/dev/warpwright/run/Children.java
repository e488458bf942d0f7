package dev.warpwright.run;

import dev.warpwright.cost.CostTotal;
import dev.warpwright.model.CostValuation.Status;
import dev.warpwright.model.Money;
import dev.warpwright.model.Usage;
import dev.warpwright.run.RunEvent.ChildFinished;
import dev.warpwright.run.RunEvent.ChildStarted;
import dev.warpwright.run.RunState.Child;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** The child runs of a run as its log knows them, and what they add to its totals. */
final class Children {
  /** A child is under way, and what it spends is in its own log. */
  private static final String UNDER_WAY = "child-under-way";

  private final List<Child> all = new ArrayList<>();
  private RunTotals used = RunTotals.NONE; // by those that have ended
  private int underWay;

  void started(ChildStarted event) {
    all.add(new Child(event, Optional.empty()));
    underWay++;
  }

  /** The end of a child that is under way. */
  void finished(ChildFinished event) {
    all.replaceAll(
        child -> isEnd(event, child) ? new Child(child.started(), Optional.of(event)) : child);
    List<Money> cost = event.cost().flatMap(CostTotal::amount).map(List::of).orElse(List.of());
    used = used.plus(new RunTotals(event.toolCalls(), event.usage(), cost));
    underWay--;
  }

  private static boolean isEnd(ChildFinished event, Child child) {
    return child.finished().isEmpty()
        && child.started().childRunId().equals(event.childRunId())
        && child.started().callId().equals(event.callId());
  }

  List<Child> all() {
    return List.copyOf(all);
  }

  RunTotals used() {
    return used;
  }

  /** Empty if nothing was valued, here or in the run itself. */
  Optional<CostTotal> total(Optional<CostTotal> own) {
    List<CostTotal> parts = new ArrayList<>();
    own.ifPresent(parts::add);
    Set<String> gaps = new LinkedHashSet<>();
    for (Child child : all) {
      child.finished().flatMap(ChildFinished::cost).ifPresent(parts::add);
      if (child.finished().filter(Children::wasNotAccounted).isPresent()) {
        gaps.add(RunCost.NOT_ACCOUNTED);
      }
    }
    if (underWay > 0) {
      gaps.add(UNDER_WAY);
    }
    Optional<CostTotal> known = parts.stream().reduce(CostTotal::plus);
    return gaps.isEmpty() ? known : known.map(total -> unknown(total, gaps));
  }

  /** It was answered, and nobody knows what that cost. */
  private static boolean wasNotAccounted(ChildFinished end) {
    return end.cost().isEmpty() && !end.usage().equals(Usage.ABSENT);
  }

  private static CostTotal unknown(CostTotal known, Set<String> gaps) {
    List<String> reasons = new ArrayList<>(known.unknownReasons());
    reasons.addAll(gaps);
    return new CostTotal(Status.UNKNOWN, Optional.empty(), reasons);
  }
}
