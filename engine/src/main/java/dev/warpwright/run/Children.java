package dev.warpwright.run;

import dev.warpwright.cost.CostTotal;
import dev.warpwright.model.CostValuation.Status;
import dev.warpwright.model.Money;
import dev.warpwright.model.Usage;
import dev.warpwright.run.RunEvent.ChildFinished;
import dev.warpwright.run.RunEvent.ChildStarted;
import dev.warpwright.run.RunState.Child;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The child runs of a run as its log knows them, and what they add to its totals. */
final class Children {
  /** A child is under way, and what it spends is in its own log. */
  private static final String UNDER_WAY = "child-under-way";

  private final Map<String, Child> all; // by run id, in order

  Children() {
    this(Map.of());
  }

  private Children(Map<String, Child> all) {
    this.all = new LinkedHashMap<>(all);
  }

  Children copy() {
    return new Children(all);
  }

  /** A child begins, or goes on after it had ended: what it ended with does not count any more. */
  void started(ChildStarted event) {
    all.put(event.childRunId(), new Child(event, Optional.empty()));
  }

  /** The end of a child that is under way. */
  void finished(ChildFinished event) {
    all.computeIfPresent(
        event.childRunId(), (id, child) -> new Child(child.started(), Optional.of(event)));
  }

  List<Child> all() {
    return List.copyOf(all.values());
  }

  /** By those that have ended. */
  RunTotals used() {
    RunTotals used = RunTotals.NONE;
    for (Child child : all.values()) {
      used = child.finished().map(Children::used).map(used::plus).orElse(used);
    }
    return used;
  }

  private static RunTotals used(ChildFinished end) {
    List<Money> cost = end.cost().flatMap(CostTotal::amount).map(List::of).orElse(List.of());
    return new RunTotals(end.toolCalls(), end.usage(), cost);
  }

  /** Empty if nothing was valued, here or in the run itself. */
  Optional<CostTotal> total(Optional<CostTotal> own) {
    List<CostTotal> parts = new ArrayList<>();
    own.ifPresent(parts::add);
    Set<String> gaps = new LinkedHashSet<>();
    for (Child child : all.values()) {
      child.finished().flatMap(ChildFinished::cost).ifPresent(parts::add);
      if (child.finished().filter(Children::wasNotAccounted).isPresent()) {
        gaps.add(RunCost.NOT_ACCOUNTED);
      }
    }
    if (all.values().stream().anyMatch(child -> child.finished().isEmpty())) {
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
