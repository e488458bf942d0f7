package dev.warpwright.mcp;

/** How a server is reached. */
interface Transport extends AutoCloseable {
  /**
   * Begins a session in which nothing was said yet.
   *
   * @return the session
   * @throws ExchangeException if the server cannot be reached; nothing was asked of it
   */
  Session open() throws ExchangeException;

  /** Gives back what sessions share. */
  @Override
  void close();

  /** Where the server is, without a secret. */
  @Override
  String toString();
}
