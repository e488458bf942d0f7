package dev.warpwright.adapters.conformance;

/**
 * What a check has found.
 *
 * @param outcome how it ended
 * @param detail why; no text of a model
 */
record Verdict(CheckOutcome outcome, String detail) {
  static Verdict passed(String detail) {
    return new Verdict(CheckOutcome.PASSED, detail);
  }

  static Verdict failed(String detail) {
    return new Verdict(CheckOutcome.FAILED, detail);
  }

  static Verdict notShown(String detail) {
    return new Verdict(CheckOutcome.NOT_SHOWN, detail);
  }

  static Verdict skipped(String detail) {
    return new Verdict(CheckOutcome.SKIPPED, detail);
  }

  boolean isPassed() {
    return outcome == CheckOutcome.PASSED;
  }
}
