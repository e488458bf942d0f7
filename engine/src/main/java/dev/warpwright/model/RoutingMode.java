package dev.warpwright.model;

/** In which order a request wants its targets tried. */
public enum RoutingMode {
  /** Primary first, then the fallbacks as they stand in the request. */
  ORDERED,
  /** The quickest first, whatever they cost. */
  SPEED,
  /** A compromise between price, speed and, for reasoning, ability. */
  BALANCED,
  /** The most capable first, whatever their latency. */
  QUALITY
}
