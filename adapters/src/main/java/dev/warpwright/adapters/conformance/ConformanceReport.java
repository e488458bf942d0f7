package dev.warpwright.adapters.conformance;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Objects;

/**
 * What a run of {@link Conformance} has found. Immutable.
 *
 * @param subject which model, where
 * @param results one for each check that was chosen, in their order
 */
public record ConformanceReport(String subject, List<CheckResult> results) {
  /** Copies the list. */
  public ConformanceReport {
    Objects.requireNonNull(subject, "subject");
    results = List.copyOf(results);
  }

  /** A report of a run that could not be made. */
  static ConformanceReport blocked(String subject, Collection<Check> checks, String reason) {
    return new ConformanceReport(
        subject,
        checks.stream()
            .sorted()
            .map(check -> new CheckResult(check, CheckOutcome.BLOCKED, reason, Duration.ZERO, 0))
            .toList());
  }

  /**
   * Whether the server passed: something did, and nothing failed or was blocked.
   *
   * @return true if it did; what was skipped or not shown does not count
   */
  public boolean passed() {
    return count(CheckOutcome.PASSED) > 0
        && count(CheckOutcome.FAILED) == 0
        && count(CheckOutcome.BLOCKED) == 0;
  }

  /**
   * How many checks ended so.
   *
   * @param outcome how
   * @return the count
   */
  public int count(CheckOutcome outcome) {
    return (int) results.stream().filter(result -> result.outcome() == outcome).count();
  }

  /**
   * How many calls were made.
   *
   * @return the count
   */
  public int calls() {
    return results.stream().mapToInt(CheckResult::calls).sum();
  }

  /**
   * How many calls the checks may make at most.
   *
   * @return the bound
   */
  public int maxCalls() {
    return results.stream().mapToInt(result -> result.check().maxCalls()).sum();
  }

  /**
   * The report for people: a line for each check, and one with the counts.
   *
   * @return plain text of several lines, the last one ended too
   */
  public String table() {
    StringBuilder table = new StringBuilder(subject).append("\n\n");
    row(table, "check", "outcome", "calls", "time", "detail");
    for (CheckResult result : results) {
      row(
          table,
          result.check().label(),
          words(result.outcome()),
          Integer.toString(result.calls()),
          result.took().toMillis() + " ms",
          result.detail());
    }
    table.append('\n');
    for (CheckOutcome outcome : CheckOutcome.values()) {
      table.append("%d %s, ".formatted(count(outcome), words(outcome)));
    }
    return table.append("%d of at most %d calls\n".formatted(calls(), maxCalls())).toString();
  }

  private static void row(
      StringBuilder table, String check, String outcome, String calls, String time, String detail) {
    table
        .append(
            "%-20s %-9s %5s %9s  %s".formatted(check, outcome, calls, time, detail).stripTrailing())
        .append('\n');
  }

  private static String words(CheckOutcome outcome) {
    return outcome == CheckOutcome.FAILED
        ? outcome.name() // is not to be overlooked
        : outcome.name().toLowerCase(Locale.ROOT).replace('_', ' ');
  }
}
