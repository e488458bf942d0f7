package dev.warpwright.adapters.http;

import java.net.http.HttpClient;
import java.time.Duration;
import java.util.concurrent.ThreadFactory;

/**
 * The HTTP client of one adapter, made here or lent by the application, shared by all its calls.
 *
 * <p>Thread-safe. {@link #close()} ends a client that was made here and leaves a lent one alone.
 */
public final class Transport implements AutoCloseable {
  private final HttpClient client;
  private final boolean owned;
  private volatile boolean closed;

  private Transport(HttpClient client, boolean owned) {
    this.client = client;
    this.owned = owned;
  }

  /**
   * Makes a client.
   *
   * <p>Its tasks run on virtual threads: the JDK's default executor keeps a platform thread per
   * call in flight. The executor is a plain function, so it has no life of its own to end.
   *
   * @param connectTimeout how long a connection may take
   * @return the transport that owns it
   */
  public static Transport own(Duration connectTimeout) {
    if (!connectTimeout.isPositive()) {
      throw Refusal.configuration(
          "connectTimeout must be positive, but is " + connectTimeout + ".");
    }
    ThreadFactory threads =
        Thread.ofVirtual()
            .name("warpwright-http-", 0)
            .inheritInheritableThreadLocals(false)
            .factory();
    HttpClient client =
        HttpClient.newBuilder()
            .connectTimeout(connectTimeout)
            .followRedirects(HttpClient.Redirect.NEVER)
            .executor(task -> threads.newThread(task).start())
            .build();
    return new Transport(client, true);
  }

  /**
   * Borrows a client of the application.
   *
   * @param client a client that follows no redirects
   * @return the transport, which never closes it
   */
  public static Transport borrow(HttpClient client) {
    if (client.followRedirects() != HttpClient.Redirect.NEVER) {
      throw Refusal.configuration(
          "The HttpClient must not follow redirects, since it would take the credentials along, but"
              + " its policy is "
              + client.followRedirects()
              + ". Build it with followRedirects(HttpClient.Redirect.NEVER), the JDK's default.");
    }
    return new Transport(client, false);
  }

  HttpClient client() {
    return client;
  }

  boolean isClosed() {
    return closed;
  }

  /**
   * Refuses new calls; aborts the open ones of a client that was made here, without waiting for
   * them. Whoever wants them to end drains before closing.
   */
  @Override
  public void close() {
    closed = true;
    if (owned) {
      // HttpClient.close() would wait for open exchanges.
      client.shutdown();
      client.shutdownNow();
    }
  }
}
