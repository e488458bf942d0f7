package dev.warpwright.route;

/** What an {@link AdaptivePolicy} does about a target of which a signal is not known. */
public enum MissingSignal {
  /** It stays in the running, without credit: what is not known is never taken for good. */
  ALLOW,
  /** It is not tried. */
  REJECT
}
