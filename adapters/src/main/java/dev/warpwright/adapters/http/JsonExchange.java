package dev.warpwright.adapters.http;

import dev.warpwright.json.StrictJson;
import dev.warpwright.model.ProviderException;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpHeaders;
import java.net.http.HttpResponse;
import java.util.Map;
import java.util.Optional;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/**
 * One blocking exchange: JSON out by POST, JSON back.
 *
 * <p>It sets no time limit of its own beyond the connect timeout: an interrupt of the calling
 * thread closes the connection and ends the call. Nothing is retried and no redirect is followed.
 * Thread-safe.
 */
public final class JsonExchange {
  private final Failures failures;
  private final Exchange exchange;

  /**
   * Makes exchanges of one protocol.
   *
   * @param transport where they run
   * @param failures how they fail
   */
  public JsonExchange(Transport transport, Failures failures) {
    this(transport, failures, Exchange.MAX_BODY_BYTES);
  }

  JsonExchange(Transport transport, Failures failures, int maxBodyBytes) {
    this.failures = failures;
    this.exchange = new Exchange(transport, failures, maxBodyBytes);
  }

  /**
   * Reads an answer.
   *
   * @param <T> what it is read into
   */
  @FunctionalInterface
  public interface Reader<T> {
    /**
     * Reads the answer.
     *
     * @param answer the answer
     * @return what it says
     * @throws ProviderException if it breaks the protocol; any other runtime exception is turned
     *     into one
     */
    T read(Answer answer);

    /**
     * Looks at an answer that holds an error object, before the call fails of it.
     *
     * @param failure what the error object says
     * @param answer the answer around it
     * @return the failure of the call; by default the same
     */
    default ProviderException failed(ProviderException failure, Answer answer) {
      return failure;
    }
  }

  /**
   * Sends a request and reads the answer.
   *
   * @param <T> what the answer is read into
   * @param uri where to
   * @param headers the protocol's own headers, checked; content type and accept are added
   * @param body JSON
   * @param reader reads the answer
   * @return what the reader returned
   * @throws ProviderException if the call failed
   * @throws InterruptedException if the thread was interrupted; the connection is closed
   */
  public <T> T post(URI uri, Map<String, String> headers, byte[] body, Reader<T> reader)
      throws InterruptedException {
    return exchange.post(uri, headers, body, BodyType.JSON, answer -> read(answer, reader));
  }

  private <T> T read(HttpResponse<ReceivedBody> response, Reader<T> reader)
      throws InterruptedException {
    HttpHeaders headers = response.headers();
    byte[] body = body(response);
    JsonNode json = json(body, headers);
    Answer answer = new Answer(json, body, headers);
    Optional<ErrorObject> error = ErrorObject.in(json);
    if (error.isPresent()) {
      throw reader.failed(failures.event(error.get(), headers), answer);
    }
    try {
      return reader.read(answer);
    } catch (RuntimeException e) {
      throw failures.misunderstood(e, headers);
    }
  }

  private JsonNode json(byte[] body, HttpHeaders headers) {
    try {
      return StrictJson.readDocument(body);
    } catch (JacksonException e) {
      // The exception's own text may quote the content.
      long good = e.getLocation() == null ? 0 : Math.max(0, e.getLocation().getByteOffset());
      throw failures.protocol(
          "is no JSON that is accepted (one value, at most %d levels deep); it breaks off after %d"
                  .formatted(StrictJson.MAX_DEPTH, good)
              + " of %d bytes.".formatted(body.length),
          headers);
    } catch (RuntimeException _) { // such as a number whose exponent is beyond all bounds
      throw failures.protocol("holds a value that cannot be read.", headers);
    }
  }

  private byte[] body(HttpResponse<ReceivedBody> response) throws InterruptedException {
    byte[] body;
    try {
      body = response.body().whole(exchange.maxBodyBytes());
    } catch (IOException e) {
      throw exchange.broken(e, true);
    }
    if (body.length > exchange.maxBodyBytes()) {
      throw exchange.tooLong(response.headers());
    }
    return body;
  }
}
