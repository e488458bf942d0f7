package dev.warpwright.adapters.scripted;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A model server on the loopback address that plays a {@link Script}, faults included, over real
 * sockets.
 *
 * <p>It speaks OpenAI's Chat Completions at {@code POST …/chat/completions} and Responses at {@code
 * POST …/responses}, Anthropic's Messages at {@code POST …/messages}, Google's generateContent at
 * {@code POST …/models/…:generateContent}, Ollama's chat at {@code POST …/api/chat}, Bedrock's
 * Converse at {@code POST …/model/{id}/converse} and {@code …/converse-stream}, whole or as a
 * stream as the request asks, and {@code GET /health} for people, in HTTP/1.1 that it writes byte
 * by byte itself, so that it can also break the protocol at any byte. A request that no rule
 * matches is answered by status 500 with the error code (with Anthropic and Bedrock, the error
 * type) {@code no_rule}; requests that a real server refuses (an unknown path, a wrong method or
 * key, a history that breaks the protocol's rules, thinking that is not as it was) are refused with
 * 400, 401, 403, 404, 405, 411 or 413 and an error body of the protocol.
 *
 * {@snippet :
 * Script script = Script.parse("""
 *     { "rules": [ { "when": {}, "answer": { "text": "Hello." } } ],
 *       "faults": [ { "every": 3, "status": 503 } ] }
 *     """);
 * try (ScriptedServer server = ScriptedServer.start(script)) {
 *   URI baseUrl = server.uri(); // http://127.0.0.1:…/v1
 *   // … point an adapter at baseUrl and call it …
 *   RecordedExchange first = server.awaitRequest(1, Duration.ofSeconds(5));
 *   System.out.println(first.body());
 * }
 * }
 *
 * <p>A client that goes away in the middle of a stream is seen at once while the stream pauses or
 * stalls, and at the next write otherwise; {@link #awaitClose} tells how many events it had been
 * sent.
 *
 * <p>One virtual thread and about 1 kB of buffer per connection; all methods may be called from any
 * thread. It is meant for the machine it runs on: it speaks cleartext and has no time limits of its
 * own.
 */
public final class ScriptedServer implements AutoCloseable {
  private static final int BACKLOG = 4_096;

  private final ServerSocket listener;
  private final ServerLog log;
  private final Endpoint endpoint;
  private final Thread acceptor;
  private final Set<Connection> connections = ConcurrentHashMap.newKeySet();
  private volatile boolean closed;

  private ScriptedServer(Builder builder) throws IOException {
    this.log = new ServerLog(builder.recordLast);
    this.endpoint = new Endpoint(builder.script, builder.requiredKey, builder.maxRequestBytes, log);
    this.listener = new ServerSocket();
    try {
      listener.bind(
          new InetSocketAddress(InetAddress.getByAddress(new byte[] {127, 0, 0, 1}), builder.port),
          BACKLOG);
    } catch (IOException e) {
      listener.close();
      throw e;
    }
    this.acceptor = Thread.ofVirtual().name(threadName("accept")).unstarted(this::acceptAll);
  }

  /**
   * Starts a server on a free port.
   *
   * @param script what it plays
   * @return the server, ready for connections
   * @throws UncheckedIOException if no socket can be bound
   */
  public static ScriptedServer start(Script script) {
    return builder(script).start();
  }

  /**
   * Begins a server.
   *
   * @param script what it plays
   * @return a builder
   */
  public static Builder builder(Script script) {
    return new Builder(script);
  }

  private void acceptAll() {
    for (long number = 1; !closed; number++) {
      try {
        accept(listener.accept(), number);
      } catch (IOException e) {
        // Closed, or the client was gone before it was accepted, or no file descriptor is left: a
        // moment's rest keeps the last one from turning the loop hot.
        LockSupport.parkNanos(1_000_000);
      }
    }
  }

  private void accept(Socket socket, long number) {
    String name = threadName(Long.toString(number));
    Connection connection =
        new Connection(socket, number, name, endpoint, log, connections::remove);
    connections.add(connection);
    log.connected();
    connection.start();
    if (closed) {
      connection.abort(); // close() may have looked at the set before this one was in it
    }
  }

  private String threadName(String part) {
    return "scripted-server-" + port() + "-" + part;
  }

  /**
   * The base URL for a client of any protocol.
   *
   * @return {@code http://127.0.0.1:port/v1}
   */
  public URI uri() {
    return URI.create("http://127.0.0.1:" + port() + "/v1");
  }

  /**
   * The port that it listens on.
   *
   * @return the port, also after {@link #close()}
   */
  public int port() {
    return listener.getLocalPort();
  }

  /**
   * How many requests for an answer have arrived: read to their end, authorised and well-formed. It
   * is their number that faults count.
   *
   * @return the count
   */
  public long requests() {
    return log.requests();
  }

  /**
   * How many exchanges had this outcome. An exchange is counted before the first byte of its
   * response is written, so a client that has a response finds it counted.
   *
   * @param outcome the outcome
   * @return the count
   */
  public long count(ExchangeOutcome outcome) {
    return log.count(outcome);
  }

  /**
   * The latest exchanges, oldest first, without those of {@code GET /health}.
   *
   * @return at most as many as {@link Builder#recordLast} says, fewer if their bodies are large
   */
  public List<RecordedExchange> exchanges() {
    return log.exchanges();
  }

  /**
   * Waits until the n-th request for an answer has arrived.
   *
   * @param number its number, from 1
   * @param timeout how long to wait at most
   * @return the exchange; its response may not have been written yet
   * @throws InterruptedException if the thread was interrupted
   * @throws IllegalStateException if it has not arrived in time, or is no longer recorded
   */
  public RecordedExchange awaitRequest(long number, Duration timeout) throws InterruptedException {
    return log.awaitRequest(number, timeout);
  }

  /**
   * How many connections are open.
   *
   * @return the count
   */
  public int openConnections() {
    return log.open();
  }

  /**
   * How many streams are open: their head was sent and their end was not.
   *
   * @return the count
   */
  public int openStreams() {
    return log.streams();
  }

  /**
   * How many connections have been accepted.
   *
   * @return the count
   */
  public long acceptedConnections() {
    return log.accepted();
  }

  /**
   * Waits until at most so many connections are open.
   *
   * @param atMost how many may be open
   * @param timeout how long to wait at most
   * @throws InterruptedException if the thread was interrupted
   * @throws IllegalStateException if more are open still
   */
  public void awaitOpenConnections(int atMost, Duration timeout) throws InterruptedException {
    log.awaitOpen(atMost, timeout);
  }

  /**
   * Where clients closed their connections, in the order in which the server saw it. Connections
   * that the server itself ended are not among them.
   *
   * @return at most the last 1 000
   */
  public List<ClientClose> closes() {
    return log.closes();
  }

  /**
   * Waits until the client of an exchange has closed its connection while it was owed a response.
   *
   * @param number the number of the request, from 1
   * @param timeout how long to wait at most
   * @return the close
   * @throws InterruptedException if the thread was interrupted
   * @throws IllegalStateException if the server has not seen it in time
   */
  public ClientClose awaitClose(long number, Duration timeout) throws InterruptedException {
    return log.awaitClose(number, timeout);
  }

  /**
   * Ends all connections and threads at once and waits until they are gone; nothing is left. May be
   * called more than once. An interrupt of the caller is kept for later.
   */
  @Override
  public void close() {
    closed = true;
    try {
      listener.close();
    } catch (IOException e) {
      throw new UncheckedIOException("The listening socket cannot be closed.", e);
    } finally {
      joinAll();
    }
  }

  private void joinAll() {
    boolean interrupted = false;
    while (true) {
      try {
        acceptor.join(); // after it no connection is added
        for (Connection connection : connections) {
          connection.abort();
        }
        for (Connection connection : connections) {
          connection.join();
        }
        break;
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Shows the address. */
  @Override
  public String toString() {
    return "ScriptedServer[" + uri() + (closed ? ", closed]" : "]");
  }

  /** Collects the options of a {@link ScriptedServer}; not thread-safe. */
  public static final class Builder {
    private final Script script;
    private int port;
    private @Nullable String requiredKey;
    private int maxRequestBytes = 16 * 1024 * 1024;
    private int recordLast = 100;

    private Builder(Script script) {
      this.script = Objects.requireNonNull(script, "script");
    }

    /**
     * Sets the port; by default a free one is chosen.
     *
     * @param number 0 to 65535; 0 means a free one
     * @return this builder
     */
    public Builder port(int number) {
      this.port = checked("port", number, 0, 65_535);
      return this;
    }

    /**
     * Answers only requests that carry this key, as {@code authorization: Bearer …} or {@code
     * api-key} with OpenAI's protocols, as {@code x-api-key} with Messages, as {@code
     * x-goog-api-key} with generateContent, and as {@code authorization: Bearer …} with Ollama's
     * and Bedrock's, whose signatures it does not know; by default none is needed.
     *
     * @param key the key
     * @return this builder
     */
    public Builder requireKey(String key) {
      this.requiredKey = Objects.requireNonNull(key, "key");
      return this;
    }

    /**
     * Sets how large a request's body may be; 16 MiB by default. A larger one is refused with 413.
     *
     * @param bytes 1 byte to 1 GiB
     * @return this builder
     */
    public Builder maxRequestBytes(int bytes) {
      this.maxRequestBytes = checked("maxRequestBytes", bytes, 1, 1024 * 1024 * 1024);
      return this;
    }

    /**
     * Sets how many exchanges are recorded; 100 by default. However many, their bodies are kept up
     * to 16 MiB together, and always that of the latest.
     *
     * @param exchanges 0 to 100 000
     * @return this builder
     */
    public Builder recordLast(int exchanges) {
      this.recordLast = checked("recordLast", exchanges, 0, 100_000);
      return this;
    }

    private static int checked(String name, int value, int min, int max) {
      if (value < min || value > max) {
        throw new IllegalArgumentException(
            name + " must be " + min + " to " + max + ", but is " + value + ".");
      }
      return value;
    }

    /**
     * Starts the server.
     *
     * @return the server, ready for connections
     * @throws UncheckedIOException if the port is taken or no socket can be bound
     */
    public ScriptedServer start() {
      try {
        ScriptedServer server = new ScriptedServer(this);
        server.acceptor.start();
        return server;
      } catch (IOException e) {
        throw new UncheckedIOException(
            "The scripted server cannot listen on port " + port + ".", e);
      }
    }
  }
}
