package dev.warpwright.model;

import org.jspecify.annotations.Nullable;

/**
 * A stream failed after it had shown output: it broke off, the provider reported an error in it, it
 * ended without a finish signal, or it went silent. Nothing is tried again, since the reader has
 * seen a part of the answer: no other target's text is ever put behind it.
 */
public final class StreamBrokenException extends WarpwrightException {
  private static final long serialVersionUID = 1L;

  /** What had come of the answer. */
  private final String partialText;

  /** What the provider had reported; absent after deserialisation. */
  private final transient @Nullable Usage usage;

  /**
   * Makes the exception.
   *
   * @param kind {@link FailureKind#STREAM_BROKEN}, {@link FailureKind#STREAM_IDLE}, or {@link
   *     FailureKind#PROVIDER_TOOL} if a tool that the provider runs itself may have acted
   * @param message names what broke it, without content
   * @param partialText the text that had come of the broken answer
   * @param usage what the provider had reported for it
   * @param cause the failure
   * @param trace the operation so far
   */
  public StreamBrokenException(
      FailureKind kind,
      String message,
      String partialText,
      Usage usage,
      @Nullable Throwable cause,
      OperationTrace trace) {
    super(kind, message, cause, trace);
    this.partialText = partialText;
    this.usage = usage;
  }

  /**
   * The text that had come of the answer that broke: of the step in which it happened, not of those
   * before.
   *
   * @return the text, may be empty
   */
  public String partialText() {
    return partialText;
  }

  /**
   * What the provider had reported to have used for the answer that broke.
   *
   * @return the counters; those that had not come are absent
   */
  public Usage usage() {
    return usage == null ? Usage.ABSENT : usage;
  }
}
