package dev.warpwright.adapters.conformance;

/** How a check ended. */
public enum CheckOutcome {
  /** What was asked for came, in the form that the protocol has for it. */
  PASSED,
  /** It did not come, or in another form. */
  FAILED,
  /** The server did nothing wrong, and not what was to be looked at: a model cannot be forced. */
  NOT_SHOWN,
  /**
   * It was not asked for: the model does not declare it, its adapter does not send such a call, or
   * an earlier answer is missing.
   */
  SKIPPED,
  /** Nothing was asked, for want of a credential or of a place to ask. That is never a pass. */
  BLOCKED
}
