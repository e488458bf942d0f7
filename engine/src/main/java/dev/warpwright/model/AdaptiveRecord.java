package dev.warpwright.model;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * All that an adaptive order was decided from and what came of it, so that it can be read, and
 * scored again, long after.
 *
 * @param policyVersion the version of the policy
 * @param operation the number of the operation, counted by its gateway from 1
 * @param candidates the targets that passed the other checks, in the order of the request
 * @param exploration the target that goes first in order to be measured, if this operation explores
 * @param affinity the target that served this conversation before, if there is one
 */
public record AdaptiveRecord(
    String policyVersion,
    long operation,
    List<Candidate> candidates,
    Optional<Target> exploration,
    Optional<Affinity> affinity) {
  /** Copies the list. */
  public AdaptiveRecord {
    candidates = List.copyOf(candidates);
  }

  /** What a policy looks at. */
  public enum Signal {
    /** The score of an evaluation. */
    QUALITY("quality"),
    /** The time that calls take. */
    LATENCY("latency"),
    /** What the call will cost. */
    COST("cost"),
    /** How many calls are under way. */
    LOAD("load"),
    /** The share of calls that fail. */
    ERROR_RATE("errorRate"),
    /** How fast text comes. */
    THROUGHPUT("throughput");

    private final String label;

    Signal(String label) {
      this.label = label;
    }

    /**
     * The name in messages and reports.
     *
     * @return the name, such as {@code errorRate}
     */
    public String label() {
      return label;
    }
  }

  /**
   * One target in the decision.
   *
   * @param target the target
   * @param quality its quality for the intent of the request, if the policy has a profile
   * @param cost the quote of the call, if it is known
   * @param signals what was measured
   * @param score the score, the higher the better; empty if and only if the target was excluded
   * @param missing the signals that the policy wanted and nobody had
   * @param exclusions why it is not tried, such as {@code quality-floor}; empty if it is
   */
  public record Candidate(
      Target target,
      Optional<Quality> quality,
      Optional<Money> cost,
      TargetSignals signals,
      Optional<Double> score,
      List<Signal> missing,
      List<String> exclusions) {
    /** Copies the lists. */
    public Candidate {
      missing = List.copyOf(missing);
      exclusions = List.copyOf(exclusions);
    }
  }

  /**
   * The quality of a target.
   *
   * @param score from 0 to 1
   * @param evaluationVersion names the evaluation that found it
   */
  public record Quality(double score, String evaluationVersion) {}

  /**
   * The target that served a conversation before.
   *
   * @param target the target
   * @param maxScoreLoss how much worse than the best it may be
   * @param followed whether it goes first for that reason
   */
  public record Affinity(Target target, double maxScoreLoss, boolean followed) {}

  /**
   * The targets in the order in which they are tried: the higher score first, equal scores as in
   * the request, before them the one that explores or that affinity keeps.
   *
   * @return the candidates that were not excluded
   */
  public List<Target> order() {
    List<Target> order =
        new ArrayList<>(
            candidates.stream()
                .filter(candidate -> candidate.score().isPresent())
                .sorted(Comparator.comparing(AdaptiveRecord::scoreOf, Comparator.reverseOrder()))
                .map(Candidate::target)
                .toList());
    first().filter(order::remove).ifPresent(order::addFirst);
    return List.copyOf(order);
  }

  private Optional<Target> first() {
    return exploration.or(() -> affinity.filter(Affinity::followed).map(Affinity::target));
  }

  private static double scoreOf(Candidate candidate) {
    return candidate.score().orElse(Double.NEGATIVE_INFINITY);
  }

  /**
   * What is recorded of a target.
   *
   * @param target the target
   * @return its part of the decision; empty if it did not pass the other checks
   */
  public Optional<Candidate> candidate(Target target) {
    Predicate<Candidate> isIt = candidate -> candidate.target().equals(target);
    return candidates.stream().filter(isIt).findFirst();
  }
}
