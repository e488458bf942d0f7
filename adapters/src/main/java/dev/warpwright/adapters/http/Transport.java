package dev.warpwright.adapters.http;

import java.net.http.HttpClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ThreadFactory;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The HTTP client of one adapter, made here or lent by the application, shared by all its calls.
 *
 * <p>The JDK's client keeps the connection on which something came that is no HTTP open until the
 * client itself ends. So a client that was made here is retired at such an answer: later calls get
 * a fresh one, and it ends with the last call that still runs on it. At most {@link #MAX_RETIRED}
 * retired clients exist at a time; beyond that the current one stays in use until one of them has
 * ended, and is retired then. Nothing can be done for a lent client.
 *
 * <p>Thread-safe. {@link #close()} ends the clients that were made here and leaves a lent one
 * alone.
 */
public final class Transport implements AutoCloseable {
  /** How many retired clients may be about to end, each with a thread of the JDK's. */
  static final int MAX_RETIRED = 8;

  private static final Duration LONGEST_END = Duration.ofMinutes(1);

  private final Supplier<HttpClient> maker;
  private final boolean owned;
  private final Set<Shared> retired = new HashSet<>(); // guarded by this, as are its elements
  private @Nullable Shared current; // guarded by this; made by the first call after a retirement
  private volatile boolean closed; // written under this

  private Transport(Supplier<HttpClient> maker, boolean owned) {
    this.maker = maker;
    this.owned = owned;
    this.current = new Shared(maker.get());
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
          "connectTimeout must be more than 0, but is " + connectTimeout + ".");
    }
    ThreadFactory threads =
        Thread.ofVirtual().name("warpwright-http").inheritInheritableThreadLocals(false).factory();
    return own(
        () ->
            HttpClient.newBuilder()
                .connectTimeout(connectTimeout)
                .followRedirects(HttpClient.Redirect.NEVER)
                .executor(task -> threads.newThread(task).start())
                .build());
  }

  static Transport own(Supplier<HttpClient> maker) {
    return new Transport(maker, true);
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
    return new Transport(() -> client, false);
  }

  /**
   * The client for one exchange, to be closed when the body has been read or given up.
   *
   * @return the lease, or null if the transport is closed
   */
  synchronized @Nullable Lease lease() {
    if (closed) {
      return null;
    }
    if (current == null) {
      current = new Shared(maker.get());
    }
    current.running++;
    return new Lease(current);
  }

  /** Whether the clients are made here, and so are the JDK's own. */
  boolean isOwn() {
    return owned;
  }

  boolean isClosed() {
    return closed;
  }

  /** How many leases are held. */
  synchronized int leases() {
    int running = current == null ? 0 : current.running;
    for (Shared shared : retired) {
      running += shared.running;
    }
    return running;
  }

  /**
   * Refuses new calls; aborts the open ones of the clients that were made here, without waiting for
   * them. Whoever wants them to end drains before closing.
   */
  @Override
  public void close() {
    List<Shared> ending;
    synchronized (this) {
      closed = true;
      ending = new ArrayList<>(retired);
      if (current != null) {
        ending.add(current);
      }
    }
    if (owned) {
      ending.forEach(Shared::abort);
    }
  }

  private synchronized void spoil(Shared shared) {
    if (owned) {
      shared.spoiled = true;
      retire();
    }
  }

  private void release(Shared shared) {
    boolean unused;
    synchronized (this) {
      shared.running--;
      unused = shared.running == 0 && retired.contains(shared);
    }
    if (unused) {
      end(shared);
    }
  }

  /**
   * Retires the current client if that is due and allowed, and returns it if no call runs on it.
   */
  private @Nullable Shared retire() { // the caller holds the lock
    Shared leaving = current;
    if (leaving == null || !leaving.spoiled || closed || retired.size() >= MAX_RETIRED) {
      return null;
    }
    retired.add(leaving);
    current = null;
    return leaving.running == 0 ? leaving : null;
  }

  /** Ends a retired client whose last call has ended; it counts until it is gone. */
  private void end(Shared unused) {
    unused.abort();
    Thread.ofVirtual()
        .name("warpwright-http-end")
        .inheritInheritableThreadLocals(false)
        .start(
            () -> {
              try {
                unused.client.awaitTermination(LONGEST_END);
              } catch (InterruptedException _) {
                // nobody knows this thread
              }
              ended(unused);
            });
  }

  private void ended(Shared gone) {
    Shared next;
    synchronized (this) {
      retired.remove(gone);
      next = retire();
    }
    if (next != null) {
      end(next);
    }
  }

  /** A client and the calls that run on it. */
  private static final class Shared {
    final HttpClient client;
    int running;
    boolean spoiled;

    Shared(HttpClient client) {
      this.client = client;
    }

    /** Ends it without waiting, as HttpClient.close() would. */
    void abort() {
      client.shutdown();
      client.shutdownNow();
    }
  }

  /** One exchange's hold on a client: it is not ended below it, unless the transport is closed. */
  final class Lease implements AutoCloseable {
    private final Shared shared;

    private Lease(Shared shared) {
      this.shared = shared;
    }

    HttpClient client() {
      return shared.client;
    }

    /** Says that the client may have kept a connection of this exchange that nobody will close. */
    void spoil() {
      Transport.this.spoil(shared);
    }

    /** Ends the hold; called once. */
    @Override
    public void close() {
      release(shared);
    }
  }
}
