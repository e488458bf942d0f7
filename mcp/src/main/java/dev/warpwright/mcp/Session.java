package dev.warpwright.mcp;

import dev.warpwright.mcp.Incoming.Reply;

/**
 * One session with a server: what a first message begins and what the server, its process or the
 * connection may end at any time. Safe for use by any thread.
 */
interface Session extends AutoCloseable {
  /**
   * Sends a request and waits for what ends it, without a limit of its own. An interrupt ends the
   * wait; the server is not told here.
   *
   * @param id the request's id, used once
   * @param request the whole message
   * @return what ended it
   * @throws ExchangeException if there will be no answer
   * @throws InterruptedException if the thread was interrupted; a {@link NeverSentException} if the
   *     server surely hears nothing of the request
   */
  Reply exchange(long id, byte[] request) throws ExchangeException, InterruptedException;

  /**
   * Sends a message that is not answered.
   *
   * @param message the whole message
   * @throws ExchangeException if it could not be sent
   * @throws InterruptedException if the thread was interrupted
   */
  void send(byte[] message) throws ExchangeException, InterruptedException;

  /**
   * Says which revision of the protocol both sides agreed on, before anything but the first request
   * was sent.
   *
   * @param version the revision
   */
  void agreed(String version);

  /** Whether it is certain that nothing comes of another request. */
  boolean isOver();

  /** Ends it, and tells the server if that can be done in a short time. */
  @Override
  void close();
}
