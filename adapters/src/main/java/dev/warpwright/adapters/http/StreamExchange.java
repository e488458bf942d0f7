package dev.warpwright.adapters.http;

import dev.warpwright.model.ProviderException;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpHeaders;
import java.net.http.HttpResponse;
import java.util.Map;

/**
 * One exchange whose answer is read while it comes: JSON out by POST, a stream back.
 *
 * <p>Everything happens on the calling thread. No time limit is set beyond the connect timeout: an
 * interrupt of the calling thread closes the connection and ends the call, before headers, while it
 * waits for bytes and between them. A body that is cut off, by a reset or before the end that it
 * announced, fails the call, unless the reader had all it wanted. Nothing is retried and no
 * redirect is followed. Thread-safe.
 */
public final class StreamExchange {
  private static final int BUFFER_BYTES = 4 * 1024;

  /** How often the end of a body is looked for when the answer is complete. */
  private static final int END_LOOKS = 20;

  private static final int END_LOOK_MILLIS = 1;

  private final Exchange exchange;

  /**
   * Makes exchanges of one protocol.
   *
   * @param transport where they run
   * @param failures how they fail
   */
  public StreamExchange(Transport transport, Failures failures) {
    this(transport, failures, Exchange.MAX_BODY_BYTES);
  }

  StreamExchange(Transport transport, Failures failures, int maxBodyBytes) {
    this.exchange = new Exchange(transport, failures, maxBodyBytes);
  }

  /**
   * Makes what reads an answer, once its headers are there.
   *
   * @param <T> what the answer is read into
   */
  @FunctionalInterface
  public interface Opening<T> {
    /**
     * Begins an answer.
     *
     * @param headers the response's headers
     * @return its reader, used by the calling thread only
     */
    Body<T> open(HttpHeaders headers);
  }

  /**
   * Reads the body of one answer. It fails by throwing {@link ProviderException}; whatever else it
   * throws goes through as it is.
   *
   * @param <T> what the answer is read into
   */
  public interface Body<T> {
    /**
     * Takes the next bytes, as the network brought them.
     *
     * @param bytes a buffer that is used again
     * @param length how many bytes of it count, at least one
     * @return whether more is wanted; after false only {@link #end} is called
     * @throws InterruptedException if nobody wants the answer any more
     */
    boolean read(byte[] bytes, int length) throws InterruptedException;

    /**
     * Ends the answer: the body has ended as it should, or no more was wanted.
     *
     * @return what was read
     * @throws InterruptedException if nobody wants the answer any more
     */
    T end() throws InterruptedException;
  }

  /**
   * Sends a request and reads the answer.
   *
   * @param <T> what the answer is read into
   * @param uri where to
   * @param headers the protocol's own headers, checked; content type and accept are added
   * @param body JSON
   * @param expected what the answer comes as
   * @param opening makes what reads the answer
   * @return what the reader returned at the end
   * @throws ProviderException if the call failed
   * @throws InterruptedException if the thread was interrupted, or the reader threw it; the
   *     connection is closed
   */
  public <T> T post(
      URI uri, Map<String, String> headers, byte[] body, BodyType expected, Opening<T> opening)
      throws InterruptedException {
    return exchange.post(uri, headers, body, expected, answer -> read(answer, opening));
  }

  /** Sends a DELETE and passes over the body of what comes back. */
  void delete(URI uri, Map<String, String> headers) throws InterruptedException {
    exchange.delete(uri, headers);
  }

  private <T> T read(HttpResponse<ReceivedBody> answer, Opening<T> opening)
      throws InterruptedException {
    HttpHeaders headers = answer.headers();
    Body<T> body = opening.open(headers);
    byte[] buffer = new byte[BUFFER_BYTES];
    long sum = 0;
    int length = next(answer.body(), buffer);
    while (length >= 0) {
      sum += length;
      if (sum > exchange.maxBodyBytes()) {
        throw exchange.tooLong(headers);
      }
      if (!body.read(buffer, length)) {
        awaitEnd(answer.body(), buffer);
        break;
      }
      length = next(answer.body(), buffer);
    }
    return body.end();
  }

  /** The body does not look at interrupts while it has bytes at hand. */
  private int next(InputStream body, byte[] buffer) throws InterruptedException {
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
    try {
      return body.read(buffer);
    } catch (IOException e) {
      throw exchange.broken(e, true);
    }
  }

  /**
   * Reads on to the body's end, so that the connection can be used again. A server may keep it open
   * for ever, so nothing is read that would have to be waited for, and after some looks the body is
   * given up.
   */
  private static void awaitEnd(ReceivedBody body, byte[] buffer) throws InterruptedException {
    try {
      for (int look = 0; look < END_LOOKS; look++) {
        if (body.available() > 0) {
          body.read(buffer);
        } else if (body.awaitEnd(END_LOOK_MILLIS)) {
          return;
        }
      }
    } catch (IOException e) {
      Interrupts.rethrow(e);
      // The answer is complete; how its body ends changes nothing.
    }
  }
}
