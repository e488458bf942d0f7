package dev.warpwright.model;

import java.util.List;

/**
 * In which order the targets of an operation are tried, and why.
 *
 * @param orderedTargets the candidates in the order in which they are tried; an attempt's {@code
 *     targetRank} is an index into it
 * @param reasonCode why they stand in this order
 */
public record RouteDecision(List<Target> orderedTargets, ReasonCode reasonCode) {
  /** Why candidates stand in their order. */
  public enum ReasonCode {
    /** Primary first, then the fallbacks in request order. */
    ROUTING_ORDERED("The targets are tried in the order of the request.");

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

  /** Copies the list. */
  public RouteDecision {
    orderedTargets = List.copyOf(orderedTargets);
  }
}
