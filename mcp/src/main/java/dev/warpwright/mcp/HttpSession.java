package dev.warpwright.mcp;

import dev.warpwright.adapters.http.BodyType;
import dev.warpwright.adapters.http.Connection;
import dev.warpwright.adapters.http.StreamExchange;
import dev.warpwright.mcp.Incoming.Reply;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.ProviderException.Kind;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.TaskScope;
import dev.warpwright.task.TaskTree;
import java.io.IOException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.UnknownHostException;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpHeaders;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Pattern;
import javax.net.ssl.SSLHandshakeException;
import org.jspecify.annotations.Nullable;

/**
 * A session over HTTP, which the server names in its first answer if it keeps one at all.
 *
 * <p>A request is sent and its answer read by the calling thread; an interrupt closes that
 * connection. Source of the rules: revision 2025-11-25, basic/transports.
 */
final class HttpSession implements Session {
  private static final String SESSION_ID = "Mcp-Session-Id";
  private static final Pattern SESSION_ID_FORM = Pattern.compile("[!-~]{1,1024}");
  private static final int NOT_FOUND = 404;
  private static final int REQUEST_TIMEOUT = 408;
  private static final Duration END_TIME = Duration.ofSeconds(2);

  private final Connection connection;
  private final String path;
  private final TaskTree tasks;
  private final Answers answers;
  private volatile @Nullable String id; // written by the first exchange
  private volatile @Nullable String version; // written once, behind the first exchange
  private volatile boolean over;

  HttpSession(Connection connection, String path, TaskTree tasks, Answers answers) {
    this.connection = connection;
    this.path = path;
    this.tasks = tasks;
    this.answers = answers;
  }

  @Override
  public Reply exchange(long requestId, byte[] request)
      throws ExchangeException, InterruptedException {
    return post(request, headers -> reader(requestId, headers));
  }

  private StreamExchange.Body<Reply> reader(long requestId, HttpHeaders headers) {
    if (version == null) {
      noteId(headers);
    }
    return new HttpAnswer(
        requestId, headers, connection.failures(), asked -> answers.answer(this, asked));
  }

  private void noteId(HttpHeaders headers) {
    String given = headers.firstValue(SESSION_ID).orElse(null);
    if (given != null && !SESSION_ID_FORM.matcher(given).matches()) {
      throw connection
          .failures()
          .protocol("names a session by something else than visible characters.", headers);
    }
    id = given;
  }

  @Override
  public void send(byte[] message) throws ExchangeException, InterruptedException {
    try {
      post(message, _ -> new Passed());
    } catch (ExchangeException e) {
      ProviderException failure = e.failure();
      boolean taken = failure.kind() == Kind.PROTOCOL && failure.status() == 0;
      if (!taken) { // with a success that says more than it should
        throw e;
      }
    }
  }

  private <T> T post(byte[] message, StreamExchange.Opening<T> opening)
      throws ExchangeException, InterruptedException {
    Map<String, String> headers = headers();
    try {
      return connection.stream(path, headers, message, BodyType.JSON_OR_EVENTS, opening);
    } catch (ProviderException e) {
      boolean lost = e.status() == NOT_FOUND && headers.containsKey(SESSION_ID);
      over |= lost;
      throw new ExchangeException(e, mayHaveActed(e), lost);
    }
  }

  private Map<String, String> headers() {
    Map<String, String> headers = new HashMap<>();
    String session = id;
    if (session != null) {
      headers.put(SESSION_ID, session);
    }
    String agreed = version;
    if (agreed != null) {
      headers.put("MCP-Protocol-Version", agreed);
    }
    return headers;
  }

  /**
   * Whether the server may have begun to work on a request. It has not if the request never reached
   * it, or if it says that it refuses it; everything behind that is not known.
   */
  static boolean mayHaveActed(ProviderException failure) {
    return switch (failure.kind()) {
      case HTTP_STATUS, CONTEXT_LENGTH, PROTOCOL ->
          failure.status() < 300 || failure.status() >= 500 || failure.status() == REQUEST_TIMEOUT;
      case CONNECT, TIMEOUT -> !neverConnected(failure);
      // Not sent; but if it was closed while it was under way, a failure of the connection is
      // below.
      case OTHER -> failure.getCause() instanceof IOException;
      default -> true;
    };
  }

  private static boolean neverConnected(ProviderException failure) {
    for (Throwable cause = failure.getCause(); cause != null; cause = cause.getCause()) {
      if (cause instanceof ConnectException
          || cause instanceof UnknownHostException
          || cause instanceof NoRouteToHostException
          || cause instanceof HttpConnectTimeoutException
          || cause instanceof SSLHandshakeException) {
        return true;
      }
    }
    return false;
  }

  @Override
  public void agreed(String agreedVersion) {
    version = agreedVersion;
  }

  @Override
  public boolean isOver() {
    return over;
  }

  /** Tells the server, which need not care, and waits a short time for that. */
  @Override
  public void close() {
    boolean told = over || id == null;
    over = true;
    if (told) {
      return;
    }
    try (TaskScope scope = tasks.open("mcp", "mcp end")) {
      scope.call("mcp", "mcp end", Deadline.after(tasks.time(), END_TIME), this::delete);
    }
  }

  private boolean delete() throws InterruptedException {
    try {
      connection.delete(path, headers());
      return true;
    } catch (ProviderException _) {
      return false; // many servers do not offer it
    }
  }

  /** Passes over what comes back where nothing is expected. */
  private static final class Passed implements StreamExchange.Body<Boolean> {
    @Override
    public boolean read(byte[] bytes, int length) {
      return false;
    }

    @Override
    public Boolean end() {
      return true;
    }
  }
}
