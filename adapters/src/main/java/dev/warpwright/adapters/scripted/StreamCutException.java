package dev.warpwright.adapters.scripted;

import java.io.IOException;

/** The script ends a stream here; the connection is as good as before. */
final class StreamCutException extends IOException {
  private static final long serialVersionUID = 1L;

  private final Fault.End end;

  StreamCutException(Fault.End end) {
    super("The script ends the stream: " + end + ".");
    this.end = end;
  }

  /** How the body ends. */
  Fault.End end() {
    return end;
  }

  /** There may be ten thousand of them, and nobody looks for their place. */
  @Override
  public Throwable fillInStackTrace() {
    return this;
  }
}
