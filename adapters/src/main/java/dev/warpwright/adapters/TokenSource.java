package dev.warpwright.adapters;

import java.io.IOException;

/**
 * Fetches access tokens, for providers that take them in place of a key: Vertex, Azure with Entra,
 * a gateway of a company's own.
 *
 * <p>It is asked when a call needs a token and the one at hand is missing, was refused with status
 * 401, or ends within a minute, and by one thread at a time: calls that need a token meanwhile wait
 * for the same one. It need not keep tokens itself. Thread-safe.
 */
@FunctionalInterface
public interface TokenSource {
  /**
   * Fetches a token; may block.
   *
   * <p>It runs on the thread of the call that needs the token, inside that call's time limit. An
   * interrupt ends the call: the method ends at once by throwing {@link InterruptedException}, and
   * another call that waits for a token asks again.
   *
   * @return a token that is valid now
   * @throws IOException if none can be had: the call fails with kind CONNECT, and so do the calls
   *     that waited with it. A {@link dev.warpwright.model.ProviderException} fails them as it is
   * @throws InterruptedException if the thread was interrupted
   */
  AccessToken fetch() throws IOException, InterruptedException;
}
