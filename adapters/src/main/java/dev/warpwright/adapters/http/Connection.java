package dev.warpwright.adapters.http;

import dev.warpwright.model.ProviderException;
import java.net.URI;
import java.util.LinkedHashMap;
import java.util.Map;

/** An adapter's way to its provider: where, with which headers, and how it fails. Thread-safe. */
public final class Connection implements AutoCloseable {
  private final Endpoint endpoint;
  private final Map<String, String> headers;
  private final Transport transport;
  private final Failures failures;
  private final JsonExchange exchange;
  private final StreamExchange streams;

  Connection(
      Endpoint endpoint, Map<String, String> headers, Transport transport, Failures failures) {
    this.endpoint = endpoint;
    this.headers = new LinkedHashMap<>(headers); // in their order
    this.transport = transport;
    this.failures = failures;
    this.exchange = new JsonExchange(transport, failures);
    this.streams = new StreamExchange(transport, failures);
  }

  /**
   * The base URL.
   *
   * @return it, without a slash at its end
   */
  public URI base() {
    return endpoint.base();
  }

  /**
   * How exchanges fail.
   *
   * @return the mapping of failures
   */
  public Failures failures() {
    return failures;
  }

  /**
   * Sends a request and reads the answer; see {@link JsonExchange#post}.
   *
   * @param <T> what the answer is read into
   * @param path what is added to the base URL; begins with a slash
   * @param body JSON
   * @param reader reads the answer
   * @return what the reader returned
   * @throws ProviderException if the call failed
   * @throws InterruptedException if the thread was interrupted; the connection is closed
   */
  public <T> T post(String path, byte[] body, JsonExchange.Reader<T> reader)
      throws InterruptedException {
    return exchange.post(endpoint.resolve(path), headers, body, reader);
  }

  /**
   * Sends a request and reads the answer while it comes; see {@link StreamExchange#post}.
   *
   * @param <T> what the answer is read into
   * @param path what is added to the base URL; begins with a slash
   * @param body JSON
   * @param opening makes what reads the answer
   * @return what the reader returned
   * @throws ProviderException if the call failed
   * @throws InterruptedException if the thread was interrupted, or the reader threw it; the
   *     connection is closed
   */
  public <T> T stream(String path, byte[] body, StreamExchange.Opening<T> opening)
      throws InterruptedException {
    return streams.post(endpoint.resolve(path), headers, body, opening);
  }

  /**
   * How many exchanges are open: begun, and their answer neither read to its end nor given up.
   *
   * @return the number at this moment
   */
  public int openExchanges() {
    return transport.leases();
  }

  /** Refuses new calls and aborts open ones; a client that the program lent stays open. */
  @Override
  public void close() {
    transport.close();
  }

  /** Shows the base URL, no credential. */
  @Override
  public String toString() {
    return endpoint.base().toString();
  }
}
