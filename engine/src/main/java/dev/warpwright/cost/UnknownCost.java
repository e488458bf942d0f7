package dev.warpwright.cost;

/** What is done about a price or cost that is not known. */
public enum UnknownCost {
  /** It is let through. */
  ALLOW,
  /** It is refused: unknown is not cheap. */
  REJECT
}
