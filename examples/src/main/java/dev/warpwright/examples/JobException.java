package dev.warpwright.examples;

/** Ends a command; the message is the one line that the user sees. */
class JobException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  JobException(String message) {
    super(message);
  }

  @Override
  public String getMessage() {
    return String.valueOf(super.getMessage());
  }

  /** The arguments are wrong. */
  static final class Usage extends JobException {
    private static final long serialVersionUID = 1L;

    Usage(String message) {
      super(message);
    }
  }
}
