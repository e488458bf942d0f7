package dev.warpwright.mcp;

import dev.warpwright.model.ProviderException;

/** An exchange with a server that brought no answer, and what is known of its request. */
final class ExchangeException extends Exception {
  private static final long serialVersionUID = 1L;

  private final ProviderException failure;
  private final boolean mayHaveActed;
  private final boolean sessionOver;

  /**
   * Says what is known.
   *
   * @param failure what happened
   * @param mayHaveActed whether the server may have begun to do what was asked
   * @param sessionOver whether another session may bring an answer
   */
  ExchangeException(ProviderException failure, boolean mayHaveActed, boolean sessionOver) {
    super(failure.getMessage(), failure);
    this.failure = failure;
    this.mayHaveActed = mayHaveActed;
    this.sessionOver = sessionOver;
  }

  /** A request that the server surely has not acted on. */
  static ExchangeException notActedOn(ProviderException failure) {
    return new ExchangeException(failure, false, false);
  }

  /** A request that may have been acted on. */
  static ExchangeException unknown(ProviderException failure) {
    return new ExchangeException(failure, true, false);
  }

  boolean mayHaveActed() {
    return mayHaveActed;
  }

  /** Whether the same request can be made again in another session. */
  boolean mayGoOnInAnotherSession() {
    return sessionOver && !mayHaveActed;
  }

  ProviderException failure() {
    return failure;
  }
}
