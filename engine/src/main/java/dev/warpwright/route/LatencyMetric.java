package dev.warpwright.route;

/** Which latency an {@link AdaptivePolicy} looks at. */
public enum LatencyMetric {
  /** The whole attempt. */
  TOTAL,
  /** The time to the first text, which only streams have. */
  TTFT
}
