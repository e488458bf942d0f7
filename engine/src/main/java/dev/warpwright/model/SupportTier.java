package dev.warpwright.model;

/** How well a model serves agents, as its adapter declares it; the constants rise. */
public enum SupportTier {
  /** Nothing is claimed. */
  NONE,
  /** The least that is claimed. */
  TIER_C,
  /** More than {@link #TIER_C}, less than {@link #TIER_A}. */
  TIER_B,
  /** The most that is claimed. */
  TIER_A;

  /**
   * Whether this tier is as high as another.
   *
   * @param required the other
   * @return true if it is the same or higher
   */
  public boolean atLeast(SupportTier required) {
    return compareTo(required) >= 0;
  }
}
