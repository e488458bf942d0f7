package dev.warpwright.adapters.http;

import dev.warpwright.model.ProviderException;
import java.net.URI;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** An adapter's way to its provider: where, with which headers, and how it fails. Thread-safe. */
public final class Connection implements AutoCloseable {
  private static final int UNAUTHORIZED = 401;

  private final Endpoint endpoint;
  private final Map<String, String> headers;
  private final Authorization authorization;
  private final Optional<PublicAddresses> onlyPublic;
  private final Transport transport;
  private final Failures failures;
  private final JsonExchange exchange;
  private final StreamExchange streams;
  private volatile @Nullable Place last; // to which most calls go again

  Connection(
      Endpoint endpoint,
      Map<String, String> headers,
      Authorization authorization,
      Optional<PublicAddresses> onlyPublic,
      Transport transport,
      Failures failures) {
    this.endpoint = endpoint;
    this.headers = Map.copyOf(headers);
    this.authorization = authorization;
    this.onlyPublic = onlyPublic;
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
    URI uri = resolve(path);
    return authorized(uri, body, all -> exchange.post(uri, all, body, reader));
  }

  /**
   * Sends a request and reads the answer while it comes; see {@link StreamExchange#post}.
   *
   * @param <T> what the answer is read into
   * @param path what is added to the base URL; begins with a slash
   * @param body JSON
   * @param expected what the answer comes as
   * @param opening makes what reads the answer
   * @return what the reader returned
   * @throws ProviderException if the call failed
   * @throws InterruptedException if the thread was interrupted, or the reader threw it; the
   *     connection is closed
   */
  public <T> T stream(
      String path, byte[] body, BodyType expected, StreamExchange.Opening<T> opening)
      throws InterruptedException {
    URI uri = resolve(path);
    return authorized(uri, body, all -> streams.post(uri, all, body, expected, opening));
  }

  /**
   * As {@link #stream(String, byte[], BodyType, StreamExchange.Opening)}, with headers that are of
   * this request alone.
   *
   * @param <T> what the answer is read into
   * @param path what is added to the base URL; empty, or begins with a slash
   * @param more the headers, checked; none that proves the right
   * @param body JSON
   * @param expected what the answer comes as
   * @param opening makes what reads the answer
   * @return what the reader returned
   * @throws ProviderException if the call failed
   * @throws InterruptedException if the thread was interrupted, or the reader threw it; the
   *     connection is closed
   */
  public <T> T stream(
      String path,
      Map<String, String> more,
      byte[] body,
      BodyType expected,
      StreamExchange.Opening<T> opening)
      throws InterruptedException {
    URI uri = resolve(path);
    return authorized(
        uri, body, all -> streams.post(uri, with(more, all), body, expected, opening));
  }

  /**
   * Sends a DELETE; what comes of it does not matter, unless it fails.
   *
   * @param path what is added to the base URL; empty, or begins with a slash
   * @param more headers of this request alone, checked
   * @throws ProviderException if the server refused it or did not answer
   * @throws InterruptedException if the thread was interrupted; the connection is closed
   */
  public void delete(String path, Map<String, String> more) throws InterruptedException {
    URI uri = resolve(path);
    authorized(
        uri,
        new byte[0],
        all -> {
          streams.delete(uri, with(more, all));
          return "";
        });
  }

  private static Map<String, String> with(Map<String, String> more, Map<String, String> all) {
    Map<String, String> together = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    together.putAll(more);
    together.putAll(all);
    return together;
  }

  /** Sends a request with all its headers. */
  @FunctionalInterface
  private interface Sending<T> {
    T send(Map<String, String> headers) throws InterruptedException;
  }

  private <T> T authorized(URI uri, byte[] body, Sending<T> sending) throws InterruptedException {
    Optional<String> refusal = onlyPublic.flatMap(addresses -> addresses.refusal(uri.getHost()));
    if (refusal.isPresent()) {
      throw failures.notSent(refusal.get(), null);
    }
    Map<String, String> proof = authorization.headers(uri, headers, body);
    try {
      return sending.send(headers.isEmpty() ? proof : together(proof));
    } catch (ProviderException e) {
      if (e.status() == UNAUTHORIZED) {
        authorization.refused(proof);
      }
      throw e;
    }
  }

  private Map<String, String> together(Map<String, String> proof) {
    Map<String, String> all = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    all.putAll(headers);
    all.putAll(proof); // what it was made for must arrive
    return all;
  }

  /** A path and what it becomes. */
  private record Place(String path, URI uri) {}

  private URI resolve(String path) {
    Place place = last;
    if (place == null || !place.path().equals(path)) {
      place = new Place(path, endpoint.resolve(path));
      last = place;
    }
    return place.uri();
  }

  /**
   * Whether an exchange is certain to end soon after an interrupt. It does in all that is done
   * here; a client that the program lent, the source of a token or of credentials, and the resolver
   * that looks an address up are not known.
   *
   * @return false if one of these takes part
   */
  public boolean honoursInterrupts() {
    return transport.isOwn() && authorization.atHand() && onlyPublic.isEmpty();
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
