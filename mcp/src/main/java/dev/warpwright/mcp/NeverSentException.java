package dev.warpwright.mcp;

/** The thread was interrupted before any of its request was sent, and none of it will be. */
final class NeverSentException extends InterruptedException {
  private static final long serialVersionUID = 1L;

  NeverSentException() {}
}
