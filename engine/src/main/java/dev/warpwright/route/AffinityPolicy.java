package dev.warpwright.route;

import java.time.Duration;

/**
 * For how long, for how many conversations, and at what price a target is kept.
 *
 * @param ttl how long an entry lasts after it was stored; more than 0, at most 24 h
 * @param maxEntries how many conversations are remembered; 1 to 100 000
 * @param maxScoreLoss how much lower than the best score the kept target's may be; 0 or more
 */
public record AffinityPolicy(Duration ttl, int maxEntries, double maxScoreLoss) {
  private static final Duration MAX_TTL = Duration.ofHours(24);

  /** 5 minutes, 1000 conversations, and no loss of score. */
  public static final AffinityPolicy DEFAULT = new AffinityPolicy(Duration.ofMinutes(5), 1000, 0);

  /** Checks the bounds. */
  public AffinityPolicy {
    Bounds.positive("The affinity's ttl", ttl);
    if (ttl.compareTo(MAX_TTL) > 0) {
      throw Bounds.invalid(
          "The affinity's ttl must be at most " + MAX_TTL + ", but is " + ttl + ".");
    }
    Bounds.between("The affinity's maxEntries", maxEntries, 1, 100_000);
    Bounds.atLeast("The affinity's maxScoreLoss", maxScoreLoss, 0);
  }
}
