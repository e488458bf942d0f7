package dev.warpwright.route;

/**
 * The program's own order of targets. It takes the place of the built-in scores, except for
 * requests that ask for {@link dev.warpwright.model.RoutingMode#ORDERED} themselves.
 *
 * <p>Called on the caller's thread, once for each target of every operation: it must be quick and
 * thread-safe.
 */
@FunctionalInterface
public interface TargetScorer {
  /**
   * Scores a target.
   *
   * @param context what is known of it
   * @return a finite number, the higher the earlier; equal scores keep the order of the request
   */
  double score(ScoringContext context);
}
