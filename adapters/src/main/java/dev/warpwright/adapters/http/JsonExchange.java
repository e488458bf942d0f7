package dev.warpwright.adapters.http;

import dev.warpwright.json.StrictJson;
import dev.warpwright.model.ProviderException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.ProtocolException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodySubscribers;
import java.nio.channels.ClosedByInterruptException;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/**
 * One blocking exchange: JSON out by POST, JSON back.
 *
 * <p>It knows no time limit but the connect timeout: {@code HttpRequest.timeout} ends with the
 * headers in current JDKs and may cut a healthy body in later ones. Whoever calls interrupts the
 * thread when its time is up; that closes the connection, before headers and in the body alike, and
 * ends the call with {@link InterruptedException}. Nothing is retried and no redirect is followed.
 * The body is read to its end or closed on every path. Thread-safe.
 */
public final class JsonExchange {
  /** The longest answer that is read, in bytes. */
  public static final int MAX_BODY_BYTES = 128 * 1024 * 1024;

  /** What is kept of the body of a failed response, in bytes. */
  public static final int MAX_ERROR_BODY_BYTES = 64 * 1024;

  private final Transport transport;
  private final Failures failures;
  private final int maxBodyBytes;

  /**
   * Makes exchanges of one protocol.
   *
   * @param transport where they run
   * @param failures how they fail
   */
  public JsonExchange(Transport transport, Failures failures) {
    this(transport, failures, MAX_BODY_BYTES);
  }

  JsonExchange(Transport transport, Failures failures, int maxBodyBytes) {
    this.transport = transport;
    this.failures = failures;
    this.maxBodyBytes = maxBodyBytes;
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
    HttpRequest request = request(uri, headers, body);
    try (Transport.Lease lease = lease()) {
      HeldBody held = new HeldBody();
      try {
        return read(send(lease, request, held), reader);
      } finally {
        held.release();
      }
    }
  }

  private Transport.Lease lease() {
    Transport.Lease lease;
    try {
      lease = transport.lease();
    } catch (RuntimeException e) { // such as for want of file descriptors
      throw failures.notSent("No HTTP client could be made.", e);
    }
    if (lease == null) {
      throw closed(null);
    }
    return lease;
  }

  private static HttpRequest request(URI uri, Map<String, String> headers, byte[] body) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(uri)
            .POST(HttpRequest.BodyPublishers.ofByteArray(body))
            .header("Content-Type", "application/json")
            .header("Accept", "application/json");
    headers.forEach(request::header);
    if (uri.getScheme().equalsIgnoreCase("http")) {
      // Else the JDK offers an upgrade to HTTP/2, at which local model servers drop the body.
      request.version(HttpClient.Version.HTTP_1_1);
    }
    return request.build();
  }

  private HttpResponse<InputStream> send(Transport.Lease lease, HttpRequest request, HeldBody held)
      throws InterruptedException {
    try {
      return lease.client().send(request, held);
    } catch (IOException e) {
      if (isNoHttp(e)) {
        lease.spoil();
      }
      throw broken(e, false);
    } catch (RuntimeException e) {
      lease.spoil(); // a content length that is no number ends here
      throw failures.notSent("The HTTP client refused the request.", e);
    }
  }

  /** After every other failure the JDK closes the connection. */
  private static boolean isNoHttp(IOException failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof ProtocolException) {
        return true;
      }
    }
    return false;
  }

  private <T> T read(HttpResponse<InputStream> response, Reader<T> reader)
      throws InterruptedException {
    int status = response.statusCode();
    HttpHeaders headers = response.headers();
    if (status >= 400) {
      throw failures.status(status, headers, errorBody(response.body()));
    }
    if (status < 200 || status >= 300) {
      throw failures.protocol(
          "has status %d, which is no answer; a redirect is not followed, so check the base URL."
              .formatted(status),
          headers,
          status,
          null);
    }
    Optional<String> otherType = contentType(headers).filter(type -> !isJson(type));
    if (otherType.isPresent()) {
      throw wrongType(otherType.get(), response);
    }
    byte[] body = body(response);
    JsonNode json = json(body, headers);
    Answer answer = new Answer(json, body, headers);
    Optional<ErrorObject> error = ErrorObject.in(json);
    if (error.isPresent()) {
      throw reader.failed(failures.event(error.get(), headers), answer);
    }
    return understood(answer, reader);
  }

  private <T> T understood(Answer answer, Reader<T> reader) {
    try {
      return reader.read(answer);
    } catch (ProviderException e) {
      throw e;
    } catch (JacksonException _) {
      throw failures.protocol(
          "has a value of another type than the protocol says.", answer.headers());
    } catch (RuntimeException e) {
      throw failures.protocol("could not be understood.", answer.headers(), 0, e);
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

  private byte[] body(HttpResponse<InputStream> response) throws InterruptedException {
    if (response.headers().firstValueAsLong("content-length").orElse(0) > maxBodyBytes) {
      throw tooLong(response.headers());
    }
    byte[] body;
    try {
      body = response.body().readNBytes(maxBodyBytes + 1);
    } catch (IOException e) {
      throw broken(e, true);
    }
    if (body.length > maxBodyBytes) {
      throw tooLong(response.headers());
    }
    return body;
  }

  private ProviderException tooLong(HttpHeaders headers) {
    return failures.protocol("is longer than the bound of " + maxBodyBytes + " bytes.", headers);
  }

  /** What came of the body, cut at the bound; a body that breaks off is kept as far as it came. */
  private static byte[] errorBody(InputStream body) throws InterruptedException {
    ByteArrayOutputStream kept = new ByteArrayOutputStream();
    byte[] buffer = new byte[8 * 1024];
    try {
      int read = 0;
      while (read >= 0 && kept.size() < MAX_ERROR_BODY_BYTES) {
        kept.write(buffer, 0, read);
        read = body.read(buffer, 0, Math.min(buffer.length, MAX_ERROR_BODY_BYTES - kept.size()));
      }
    } catch (IOException e) {
      rethrowInterrupt(e);
      // The status says what happened; that its body broke off changes nothing.
    }
    return kept.toByteArray();
  }

  /** An answer of another type than JSON may still be an error object with a wrong label. */
  private ProviderException wrongType(String type, HttpResponse<InputStream> response)
      throws InterruptedException {
    if (!type.equals("text/event-stream")) { // which may have no end, and is no JSON
      ErrorObject error = errorWithWrongLabel(errorBody(response.body()));
      if (error != null) {
        return failures.event(error, response.headers());
      }
    }
    return failures.protocol(
        "has the content type \"" + type + "\" instead of JSON.", response.headers());
  }

  private static @Nullable ErrorObject errorWithWrongLabel(byte[] body) {
    try {
      return ErrorObject.in(StrictJson.readDocument(body)).orElse(null);
    } catch (RuntimeException _) {
      return null;
    }
  }

  /** The type without its parameters, in lower case, made harmless for a message. */
  private static Optional<String> contentType(HttpHeaders headers) {
    return headers
        .firstValue("content-type")
        .map(value -> value.split(";", 2)[0].strip().toLowerCase(Locale.ROOT))
        .filter(type -> !type.isEmpty())
        .map(type -> type.length() <= 100 ? type : type.substring(0, 100))
        .map(type -> type.replaceAll("[^a-z0-9!#$&^_.+/-]", "?"));
  }

  private static boolean isJson(String type) {
    return type.endsWith("/json") || type.endsWith("+json");
  }

  private ProviderException broken(IOException failure, boolean headersSeen)
      throws InterruptedException {
    rethrowInterrupt(failure);
    return transport.isClosed() ? closed(failure) : failures.io(failure, headersSeen);
  }

  private ProviderException closed(@Nullable IOException failure) {
    return failures.notSent("The adapter was closed.", failure);
  }

  private static void rethrowInterrupt(IOException failure) throws InterruptedException {
    boolean interrupted = Thread.interrupted();
    for (Throwable cause = failure; cause != null && !interrupted; cause = cause.getCause()) {
      interrupted =
          cause instanceof InterruptedException || cause instanceof ClosedByInterruptException;
    }
    if (interrupted) {
      throw new InterruptedException();
    }
  }

  /**
   * Hands out the body as a stream and remembers it.
   *
   * <p>An interrupt may hit {@code send} in the moment in which the headers arrive: then the caller
   * gets no response, and the JDK nobody who closes it. So the stream is noted where it is made,
   * and {@link #release()} closes it, or whichever comes after it.
   */
  private static final class HeldBody implements HttpResponse.BodyHandler<InputStream> {
    private @Nullable InputStream stream; // guarded by this
    private boolean released; // guarded by this

    @Override
    public HttpResponse.BodySubscriber<InputStream> apply(HttpResponse.ResponseInfo response) {
      HttpResponse.BodySubscriber<InputStream> subscriber = BodySubscribers.ofInputStream();
      subscriber.getBody().thenAccept(opened -> close(swap(opened))); // complete from the start
      return subscriber;
    }

    void release() {
      InputStream opened;
      synchronized (this) {
        released = true;
        opened = stream;
        stream = null;
      }
      close(opened);
    }

    /** Holds the stream and returns the one to close: the one before it, or itself if too late. */
    private synchronized @Nullable InputStream swap(InputStream opened) {
      if (released) {
        return opened;
      }
      InputStream before = stream;
      stream = opened;
      return before;
    }

    private static void close(@Nullable InputStream opened) {
      if (opened == null) {
        return;
      }
      try {
        opened.close();
      } catch (IOException _) {
        // It is given up, not awaited.
      }
    }
  }
}
