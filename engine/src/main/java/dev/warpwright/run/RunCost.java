package dev.warpwright.run;

import dev.warpwright.cost.CostTotal;
import dev.warpwright.model.Attempt;
import dev.warpwright.model.CostValuation;
import dev.warpwright.model.Money;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * What the model calls of a run cost, added up as its log is folded. Each attempt is given once: by
 * the answer of its step or, if the step has none, by the failure that ended it.
 */
final class RunCost {
  /** A call whose cost the log does not have, since the process died before it was written. */
  private static final String LOST_CALL = "lost-call";

  /** A call that was made while costs were not accounted. */
  static final String NOT_ACCOUNTED = "not-accounted";

  private final List<CostValuation> calls;
  private final Set<String> gaps;

  RunCost() {
    this(List.of(), Set.of());
  }

  private RunCost(List<CostValuation> calls, Set<String> gaps) {
    this.calls = new ArrayList<>(calls);
    this.gaps = new LinkedHashSet<>(gaps);
  }

  RunCost copy() {
    return new RunCost(calls, gaps);
  }

  void add(List<Attempt> attempts) {
    for (Attempt attempt : attempts) {
      attempt.cost().ifPresent(calls::add);
      if (attempt.cost().isEmpty() && wasAnswered(attempt)) {
        gaps.add(NOT_ACCOUNTED);
      }
    }
  }

  /** Whether the target was certainly called; one that was cut off may not have been. */
  private static boolean wasAnswered(Attempt attempt) {
    return attempt.ok() || attempt.reasonCode() == Attempt.ReasonCode.PROVIDER_ERROR;
  }

  /** A step began, and its driver was gone before it wrote what became of it. */
  void mayHaveLostACall() {
    gaps.add(LOST_CALL);
  }

  /** The costs that are known, one for each call that has one. */
  List<Money> known() {
    return calls.stream().flatMap(call -> call.amount().stream()).toList();
  }

  /** Empty if nothing was valued. */
  Optional<CostTotal> total() {
    if (calls.isEmpty()) {
      return Optional.empty();
    }
    CostTotal known = CostTotal.of(calls);
    if (gaps.isEmpty()) {
      return Optional.of(known);
    }
    List<String> reasons = new ArrayList<>(known.unknownReasons());
    reasons.addAll(gaps);
    return Optional.of(new CostTotal(CostValuation.Status.UNKNOWN, Optional.empty(), reasons));
  }
}
