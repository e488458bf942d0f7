package dev.warpwright.agent;

import dev.warpwright.model.Money;
import dev.warpwright.model.Usage;
import dev.warpwright.run.RunTotals;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/** What a run's budget has left. Pure: each check says why it refuses, or nothing. */
final class Allowance {
  private final Optional<Counted> toolCalls;
  private final Optional<Counted> inputTokens;
  private final Optional<Counted> outputTokens;
  private final Optional<Counted> totalTokens;
  private final Optional<Money> maxCost;
  private final List<Money> costs;

  /** A limit, and what was used of it. */
  private record Counted(String what, String setting, long most, long used) {
    static Optional<Counted> of(String what, String setting, OptionalLong most, long used) {
      return most.stream().mapToObj(limit -> new Counted(what, setting, limit, used)).findFirst();
    }

    long left() {
      return most - used;
    }

    Optional<String> passed() {
      return used > most
          ? Optional.of(
              "The run has used %d %s; its budget (%s) is %d.".formatted(used, what, setting, most))
          : Optional.empty();
    }

    Optional<String> refuse(long needed) {
      return needed > left()
          ? Optional.of(
              "The run needs at least %d more %s, but its budget (%s) of %d has %d left."
                  .formatted(needed, what, setting, most, left()))
          : Optional.empty();
    }
  }

  Allowance(RunBudget budget, RunTotals used) {
    this.toolCalls =
        Counted.of(
            "tool calls",
            "maxToolCalls",
            budget.maxToolCalls().stream().asLongStream().findFirst(),
            used.toolCalls());
    this.inputTokens =
        Counted.of(
            "input tokens",
            "maxInputTokens",
            budget.maxInputTokens(),
            used.usage().input().tokens());
    this.outputTokens =
        Counted.of(
            "output tokens",
            "maxOutputTokens",
            budget.maxOutputTokens(),
            used.usage().output().tokens());
    this.totalTokens =
        Counted.of(
            "tokens", "maxTotalTokens", budget.maxTotalTokens(), used.usage().total().tokens());
    this.maxCost = budget.maxCost();
    this.costs = used.knownCosts();
  }

  /** Whether a limit is passed; then nothing more is begun. */
  Optional<String> passed() {
    return counted().stream()
        .flatMap(limit -> limit.passed().stream())
        .findFirst()
        .or(() -> maxCost.flatMap(most -> refuseCost(Money.zero(most.currency()))));
  }

  private List<Counted> counted() {
    List<Counted> limits = new ArrayList<>(4);
    toolCalls.ifPresent(limits::add);
    inputTokens.ifPresent(limits::add);
    outputTokens.ifPresent(limits::add);
    totalTokens.ifPresent(limits::add);
    return limits;
  }

  /** Whether so many tool calls do not fit. */
  Optional<String> refuseTools(long calls) {
    return toolCalls.flatMap(limit -> limit.refuse(calls));
  }

  /** Whether a model call of that estimated input, and any answer to it, does not fit. */
  Optional<String> refuseModel(long input) {
    return inputTokens
        .flatMap(limit -> limit.refuse(Math.max(1, input)))
        .or(() -> outputTokens.flatMap(limit -> limit.refuse(1)))
        .or(() -> totalTokens.flatMap(limit -> limit.refuse(input + 1)));
  }

  /** How long an answer may be to a call that is not refused. */
  OptionalInt mostOutput(long input) {
    long most =
        Math.min(
            outputTokens.map(Counted::left).orElse(Long.MAX_VALUE),
            totalTokens.map(limit -> limit.left() - input).orElse(Long.MAX_VALUE));
    return most == Long.MAX_VALUE
        ? OptionalInt.empty()
        : OptionalInt.of((int) Math.min(most, Integer.MAX_VALUE));
  }

  boolean limitsCost() {
    return maxCost.isPresent();
  }

  /** Whether so much more cannot be spent. */
  Optional<String> refuseCost(Money ceiling) {
    if (maxCost.isEmpty()) {
      return Optional.empty();
    }
    Money most = maxCost.get();
    List<Money> all = new ArrayList<>(costs);
    all.add(ceiling);
    for (Money sum : new RunTotals(0, Usage.ABSENT, all).knownCosts()) {
      if (!sum.sameCurrency(most)) {
        return Optional.of(
            "The run pays in %s; its budget (maxCost), %s, cannot be compared with that."
                .formatted(sum.currency(), most));
      }
      if (sum.compareTo(most) > 0) {
        return Optional.of(
            ceiling.signum() == 0
                ? "The run has cost %s; its budget (maxCost) is %s.".formatted(sum, most)
                : "The run would have cost up to %s after the next model call; its budget (maxCost) is %s."
                    .formatted(sum, most));
      }
    }
    return Optional.empty();
  }
}
