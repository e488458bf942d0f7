package dev.warpwright.cost;

/** What a cache counter that the provider did not report means. */
public enum CacheAssumption {
  /** Nobody knows, so the cost is unknown. */
  UNKNOWN,
  /** No token: the cost is estimated, and the assumption listed in it. */
  NONE
}
