package dev.warpwright.model;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * In which order the targets of an operation are tried, and why.
 *
 * <p>Part of the durable log: a component is never renamed or removed, and a new one is optional.
 *
 * @param orderedTargets the candidates in the order in which they are tried; an attempt's {@code
 *     targetRank} is an index into it. Those that an adaptive policy did not rank stand last, in
 *     the order of the request
 * @param reasonCode why they stand in this order
 * @param ranking what was asked for and how each target was judged; decisions of old logs have none
 * @param adaptive what an adaptive policy decided from; empty unless one did
 */
public record RouteDecision(
    List<Target> orderedTargets,
    ReasonCode reasonCode,
    Optional<Ranking> ranking,
    Optional<AdaptiveRecord> adaptive) {
  /** Why candidates stand in their order. */
  public enum ReasonCode {
    /** Primary first, then the fallbacks in request order. */
    ROUTING_ORDERED("The targets are tried in the order of the request."),
    /** By the score of {@link RoutingMode#SPEED}. */
    ROUTING_SPEED("The targets are tried by declared speed: tier and latency bias."),
    /** By the score of {@link RoutingMode#BALANCED}. */
    ROUTING_BALANCED(
        "The targets are tried by a balance of declared tier, price and latency bias."),
    /** By the score of {@link RoutingMode#QUALITY}. */
    ROUTING_QUALITY("The targets are tried by declared quality: tier and price."),
    /** By the program's own scorer. */
    ROUTING_SCORER("The targets are tried in the order of the program's own scores."),
    /** By an adaptive policy. */
    ROUTING_ADAPTIVE("The targets are tried in the order of the adaptive policy's scores.");

    private final String reason;

    ReasonCode(String reason) {
      this.reason = reason;
    }

    /**
     * The reason in words, the same for every decision with this code.
     *
     * @return one sentence
     */
    public String reason() {
      return reason;
    }
  }

  /**
   * What was asked for, and how each target was judged.
   *
   * @param mode the mode that the request asked for, if it did
   * @param intent what the request is for
   * @param standings one for each ordered target, or none if there is nothing to say of any
   */
  public record Ranking(Optional<RoutingMode> mode, TaskIntent intent, List<Standing> standings) {
    /** Copies the list. */
    public Ranking {
      standings = LateList.copyOf(standings);
    }

    /**
     * A ranking whose standings are worked out when somebody reads them, as they hold estimates
     * that mostly nobody looks at.
     *
     * @param mode the mode that the request asked for, if it did
     * @param intent what the request is for
     * @param targets how many standings there are
     * @param standings works them out from values that do not change: it may be called late, by any
     *     thread, and more than once
     * @return the ranking
     */
    public static Ranking late(
        Optional<RoutingMode> mode,
        TaskIntent intent,
        int targets,
        Supplier<List<Standing>> standings) {
      return new Ranking(mode, intent, new LateList<>(targets, standings));
    }
  }

  /**
   * How one target was judged.
   *
   * @param score its score, the higher the better, if it was given one
   * @param unknownFacts facts that the score looked for and nobody declared: each counted nothing
   * @param estimatedCost what the call will cost without help of a cache, if cost accounting is on
   */
  public record Standing(
      Optional<Double> score, List<String> unknownFacts, Optional<CostValuation> estimatedCost) {
    /** Copies the list. */
    public Standing {
      unknownFacts = List.copyOf(unknownFacts);
    }
  }

  /** Copies the list, and checks that there are as many standings as targets. */
  public RouteDecision {
    orderedTargets = List.copyOf(orderedTargets);
    int targets = orderedTargets.size();
    int standings = ranking.map(judged -> judged.standings().size()).orElse(0);
    if (standings != 0 && standings != targets) {
      throw new IllegalArgumentException(
          "A decision has one standing for each target, but %d for %d."
              .formatted(standings, targets));
    }
  }

  /**
   * A decision of which only the order is known.
   *
   * @param orderedTargets the candidates in order
   * @param reasonCode why they stand in this order
   */
  public RouteDecision(List<Target> orderedTargets, ReasonCode reasonCode) {
    this(orderedTargets, reasonCode, Optional.empty(), Optional.empty());
  }

  /**
   * The mode that the request asked for.
   *
   * @return the mode; ORDERED if it asked for none
   */
  public RoutingMode mode() {
    return ranking.flatMap(Ranking::mode).orElse(RoutingMode.ORDERED);
  }

  /**
   * What the request is for.
   *
   * @return the intent; CHAT if it is not recorded
   */
  public TaskIntent intent() {
    return ranking.map(Ranking::intent).orElse(TaskIntent.CHAT);
  }

  /**
   * The scores of the targets that have one.
   *
   * @return the scores, in the order of the targets
   */
  public Map<Target, Double> scores() {
    return judged(Standing::score);
  }

  /**
   * The facts that a score looked for and nobody declared; each counted nothing.
   *
   * @return the names of the facts, such as {@code price}, by target; targets without one are left
   *     out
   */
  public Map<Target, List<String>> unknownFacts() {
    return judged(standing -> Optional.of(standing.unknownFacts()).filter(all -> !all.isEmpty()));
  }

  /**
   * What the call will cost at each target if no cache helps: an estimate and no limit.
   *
   * @return one quote for each target, in their order; none if cost accounting is off
   */
  public Map<Target, CostValuation> estimatedCosts() {
    return judged(Standing::estimatedCost);
  }

  /**
   * How a target was judged.
   *
   * @param rank its index in the order
   * @return its standing, if anything was to be said
   */
  public Optional<Standing> standing(int rank) {
    return ranking.map(Ranking::standings).filter(all -> !all.isEmpty()).map(all -> all.get(rank));
  }

  private <T> Map<Target, T> judged(Function<Standing, Optional<T>> part) {
    Map<Target, T> found = new LinkedHashMap<>();
    for (int rank = 0; rank < orderedTargets.size(); rank++) {
      Target target = orderedTargets.get(rank);
      standing(rank).flatMap(part).ifPresent(value -> found.put(target, value));
    }
    return found;
  }

  /**
   * Explains the decision to a person: the reason, then one line for each target.
   *
   * @return some lines of text; not a format to parse
   */
  public String describe() {
    return describe(List.of());
  }

  /**
   * Explains the decision to a person, together with what became of the targets.
   *
   * @param attempts the attempts of the operation
   * @return some lines of text; not a format to parse
   */
  public String describe(List<Attempt> attempts) {
    return new DecisionText(this, attempts).text();
  }

  /** Shows the reason code and the targets in order. */
  @Override
  public String toString() {
    return reasonCode + " " + orderedTargets;
  }
}
