package dev.warpwright.model;

import java.util.LinkedHashSet;
import java.util.List;

/**
 * The targets that an operation may use: a primary and its fallbacks in order.
 *
 * <p>Nothing outside it is ever called. A route is reusable and immutable.
 *
 * @param primary the first choice
 * @param fallbacks the others, in order; may be empty
 */
public record Route(Target primary, List<Target> fallbacks) {
  /** Copies the list. */
  public Route {
    fallbacks = List.copyOf(fallbacks);
  }

  /**
   * A route.
   *
   * @param primary the first choice
   * @param fallbacks the others, in order
   * @return the route
   */
  public static Route of(Target primary, Target... fallbacks) {
    return new Route(primary, List.of(fallbacks));
  }

  /**
   * The targets in order, each once: the first occurrence of a duplicate is kept.
   *
   * @return primary, then fallbacks
   */
  public List<Target> candidates() {
    if (fallbacks.isEmpty()) {
      return List.of(primary);
    }
    LinkedHashSet<Target> distinct = new LinkedHashSet<>();
    distinct.add(primary);
    distinct.addAll(fallbacks);
    return List.copyOf(distinct);
  }
}
