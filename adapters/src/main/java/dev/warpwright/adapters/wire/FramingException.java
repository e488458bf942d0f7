package dev.warpwright.adapters.wire;

/** A stream that cannot be cut into events or lines. */
public final class FramingException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** What is wrong. */
  private final String what;

  /**
   * Says why.
   *
   * @param what completes "the answer …"; a fixed text without content
   */
  public FramingException(String what) {
    super("The stream " + what, null, false, false);
    this.what = what;
  }

  /** What completes "the answer …". */
  String what() {
    return what;
  }
}
