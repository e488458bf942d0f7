package dev.warpwright.mcp;

import dev.warpwright.model.ProviderException;
import dev.warpwright.model.ProviderException.Kind;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.Outcome;
import dev.warpwright.task.TaskScope;
import dev.warpwright.task.TaskTree;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Talks to a server over one session after the other: begins a session when there is none, numbers
 * requests, and tells the server when nobody waits for an answer any more. Safe for use by any
 * thread.
 */
final class Dialogue implements AutoCloseable {
  /** The first is asked for; of the others a server may choose. Each is enough for tools. */
  private static final String PREFERRED_VERSION = "2025-11-25";

  private static final Set<String> VERSIONS =
      Set.of(PREFERRED_VERSION, "2025-06-18", "2025-03-26", "2024-11-05");

  /** How long a notice may take, while nobody waits for it but {@link #close()}. */
  private static final Duration NOTICE_TIME = Duration.ofSeconds(2);

  private final Transport transport;
  private final TaskTree tasks;
  private final Duration timeout;
  private final AtomicLong lastId = new AtomicLong();
  private final AtomicReference<@Nullable Opening> opening = new AtomicReference<>();
  private final AtomicInteger notices = new AtomicInteger(); // under way
  private volatile @Nullable Session current; // written by whoever has the opening, and by close
  private volatile boolean closed;
  private volatile @Nullable TaskScope closing;

  Dialogue(Transport transport, TaskTree tasks, Duration timeout) {
    this.transport = transport;
    this.tasks = tasks;
    this.timeout = timeout;
  }

  /** One caller's work on a session, for which the others wait. */
  private record Opening(CountDownLatch done) {
    Opening() {
      this(new CountDownLatch(1));
    }
  }

  /** Work that is bounded by what it is called in alone. */
  @FunctionalInterface
  interface Work<T> {
    T run() throws ExchangeException, InterruptedException;
  }

  /**
   * Does something within the time limit for what is no tool call.
   *
   * @throws ExchangeException what the work threw, or that the time is over
   * @throws InterruptedException if the thread was interrupted; the work was too
   */
  <T> T withinTimeout(String name, Work<T> work) throws ExchangeException, InterruptedException {
    Callable<T> body = work::run;
    try (TaskScope scope = tasks.open("mcp", name)) {
      Deadline deadline = Deadline.after(tasks.time(), timeout);
      return switch (scope.call("mcp", name, deadline, body)) {
        case Outcome.Success<T>(T value) -> value;
        case Outcome.Failure<T>(ExchangeException e) -> throw e;
        case Outcome.Failure<T>(RuntimeException e) -> throw e;
        case Outcome.Failure<T>(Error e) -> throw e;
        case Outcome.Failure<T> _ -> throw new InterruptedException();
        case Outcome.TimedOut<T> _ ->
            throw ExchangeException.unknown(
                failure(Kind.TIMEOUT, "did not answer within " + timeout + "."));
        case Outcome.Cancelled<T> _ -> {
          Thread.interrupted();
          throw new InterruptedException();
        }
      };
    }
  }

  /** Makes sure that there is a session. */
  void connect() throws ExchangeException, InterruptedException {
    session();
  }

  /**
   * Asks the server something, without a time limit but an interrupt. If the session is found to be
   * over before the server can have acted, the request is made once more in another.
   *
   * @param method of the request
   * @param params of the request
   * @param reason why nobody waits any more, asked if the thread is interrupted
   * @return a result or a failure
   * @throws ExchangeException if neither came
   * @throws InterruptedException if the thread was interrupted; the server is being told
   */
  Incoming.Reply ask(String method, ObjectNode params, Supplier<String> reason)
      throws ExchangeException, InterruptedException {
    Session session = session();
    try {
      return askIn(session, method, params, reason);
    } catch (ExchangeException e) {
      if (!e.mayGoOnInAnotherSession() || closed) {
        throw e;
      }
    }
    return askIn(session(), method, params, reason);
  }

  private Incoming.Reply askIn(
      Session session, String method, ObjectNode params, Supplier<String> reason)
      throws ExchangeException, InterruptedException {
    long id = lastId.incrementAndGet();
    try {
      return session.exchange(id, Rpc.request(id, method, params));
    } catch (NeverSentException e) {
      throw e; // there is nothing to cancel
    } catch (InterruptedException e) {
      announce(session, Rpc.cancelled(id, reason.get()));
      throw e;
    }
  }

  /** Tells the server, beside whoever was interrupted, who does not wait for that. */
  private void announce(Session session, byte[] notice) {
    notices.incrementAndGet();
    boolean started = tasks.detach("mcp", "mcp notice", NOTICE_TIME, () -> tell(session, notice));
    if (!started) {
      noticeEnded();
    }
  }

  private void tell(Session session, byte[] notice) {
    try {
      session.send(notice);
    } catch (ExchangeException | InterruptedException _) {
      // The server finds out by itself, or never.
    } finally {
      noticeEnded();
    }
  }

  private void noticeEnded() {
    notices.decrementAndGet();
    TaskScope waiting = closing;
    if (waiting != null) {
      waiting.wake();
    }
  }

  /** The session, or another one if it is over. One caller begins it and the others wait. */
  private Session session() throws ExchangeException, InterruptedException {
    while (true) {
      Session session = current;
      if (session != null && !session.isOver()) {
        return session;
      }
      Opening mine = new Opening();
      Opening other = opening.compareAndExchange(null, mine);
      if (other != null) {
        other.done().await(); // however it ends, we look again
      } else {
        try {
          renew();
        } finally {
          opening.set(null);
          mine.done().countDown();
        }
      }
    }
  }

  private void renew() throws ExchangeException, InterruptedException {
    Session before = current;
    if (before != null) {
      if (!before.isOver()) {
        return; // somebody was quicker
      }
      before.close();
    }
    Session begun;
    try {
      begun = withinTimeout("mcp begin", this::begin);
    } catch (ExchangeException e) {
      throw ExchangeException.notActedOn(e.failure()); // nothing was asked but to begin
    } catch (ProviderException e) {
      throw ExchangeException.notActedOn(e);
    }
    current = begun;
    if (closed) {
      begun.close();
      throw isClosed();
    }
  }

  private Session begin() throws ExchangeException, InterruptedException {
    if (closed) {
      throw isClosed();
    }
    Session session = transport.open();
    boolean begun = false;
    try {
      session.agreed(initialize(session));
      session.send(Rpc.notification("notifications/initialized", Rpc.object()));
      begun = true;
      return session;
    } finally {
      if (!begun) {
        session.close();
      }
    }
  }

  /**
   * The revision that the server chose. This request is never cancelled: the protocol forbids it.
   */
  private String initialize(Session session) throws ExchangeException, InterruptedException {
    ObjectNode params = Rpc.object();
    params.put("protocolVersion", PREFERRED_VERSION);
    params.set("capabilities", Rpc.object());
    ObjectNode client = Rpc.object();
    client.put("name", "warpwright");
    client.put("version", "0.1.0");
    params.set("clientInfo", client);
    long id = lastId.incrementAndGet();
    JsonNode result =
        result(session.exchange(id, Rpc.request(id, "initialize", params)), "to begin a session");
    String version = Rpc.text(result, "protocolVersion");
    if (!VERSIONS.contains(version)) {
      throw failure(Kind.PROTOCOL, "speaks no revision of the protocol that is known here.");
    }
    return version;
  }

  /**
   * The result of a request that has to succeed.
   *
   * @param reply what came
   * @param purpose completes "refused …"
   * @return an object
   * @throws ProviderException if it is a failure, or no object
   */
  static JsonNode result(Incoming.Reply reply, String purpose) {
    return switch (reply) {
      case Incoming.Result(long _, JsonNode value) when value.isObject() -> value;
      case Incoming.Result _ -> throw failure(Kind.PROTOCOL, "sent a result that is no object.");
      case Incoming.Failure(long _, long code, String message) ->
          throw ProviderException.builder(
                  Kind.PROVIDER_EVENT, "The tool server refused " + purpose + ".")
              .code(Long.toString(code))
              .providerMessage(message)
              .build();
    };
  }

  static ProviderException failure(Kind kind, String what) {
    return ProviderException.builder(kind, "The tool server " + what).build();
  }

  private static ExchangeException isClosed() {
    return ExchangeException.notActedOn(
        ProviderException.builder(Kind.OTHER, "The client of the tool server was closed.").build());
  }

  /** Lets notices out for a short time, then ends the session. */
  @Override
  public void close() {
    closed = true;
    try (TaskScope scope = tasks.open("mcp", "mcp close")) {
      closing = scope;
      scope.await(() -> notices.get() == 0, Deadline.after(tasks.time(), NOTICE_TIME));
      closing = null;
    }
    Session session = current;
    if (session != null) {
      session.close();
    }
    transport.close();
  }

  @Override
  public String toString() {
    return transport.toString();
  }
}
