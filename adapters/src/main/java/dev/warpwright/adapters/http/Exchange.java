package dev.warpwright.adapters.http;

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
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What every exchange does, whatever its answer is read into: JSON goes out by POST, a response
 * that is no answer fails the call, and the body of any other is handed on.
 *
 * <p>It knows no time limit but the connect timeout: {@code HttpRequest.timeout} ends with the
 * headers in current JDKs and may cut a healthy body in later ones. Whoever calls interrupts the
 * thread when its time is up; that closes the connection, before headers and in the body alike, and
 * ends the call with {@link InterruptedException}. Nothing is retried and no redirect is followed.
 * The body is read to its end or closed on every path. Thread-safe.
 */
final class Exchange {
  /** The longest answer that is read, in bytes. */
  static final int MAX_BODY_BYTES = 128 * 1024 * 1024;

  /** What is kept of a body that is no answer, in bytes. */
  static final int MAX_ERROR_BODY_BYTES = 64 * 1024;

  private final Transport transport;
  private final Failures failures;
  private final int maxBodyBytes;

  Exchange(Transport transport, Failures failures, int maxBodyBytes) {
    this.transport = transport;
    this.failures = failures;
    this.maxBodyBytes = maxBodyBytes;
  }

  /** Reads the body of an answer; it is closed afterwards. */
  @FunctionalInterface
  interface Reading<T> {
    T read(HttpResponse<ReceivedBody> answer) throws InterruptedException;
  }

  /** Sends a request and reads the answer. */
  <T> T post(
      URI uri, Map<String, String> headers, byte[] body, BodyType expected, Reading<T> reading)
      throws InterruptedException {
    HttpRequest request = posting(uri, headers, body, expected);
    try (Transport.Lease lease = lease()) {
      HeldBody held = new HeldBody(head -> whole(head, expected));
      try {
        HttpResponse<ReceivedBody> response = send(lease, request, held);
        requireAnswer(response, expected);
        return reading.read(response);
      } finally {
        held.release();
      }
    }
  }

  /** Sends a DELETE; only its status counts. */
  void delete(URI uri, Map<String, String> headers) throws InterruptedException {
    HttpRequest request = request(uri, headers).DELETE().build();
    try (Transport.Lease lease = lease()) {
      HeldBody held = new HeldBody(head -> null);
      try {
        HttpResponse<ReceivedBody> response = send(lease, request, held);
        if (response.statusCode() >= 400) {
          throw failures.status(
              response.statusCode(), response.headers(), errorBody(response.body()));
        }
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

  private static HttpRequest posting(
      URI uri, Map<String, String> headers, byte[] body, BodyType expected) {
    return request(uri, headers)
        .POST(HttpRequest.BodyPublishers.ofByteArray(body))
        .header("Content-Type", "application/json")
        .header("Accept", expected.accept())
        .build();
  }

  private static HttpRequest.Builder request(URI uri, Map<String, String> headers) {
    HttpRequest.Builder request = HttpRequest.newBuilder(uri);
    headers.forEach(request::header);
    if (uri.getScheme().equalsIgnoreCase("http")) {
      // Else the JDK offers an upgrade to HTTP/2, at which local model servers drop the body.
      request.version(HttpClient.Version.HTTP_1_1);
    }
    return request;
  }

  private HttpResponse<ReceivedBody> send(Transport.Lease lease, HttpRequest request, HeldBody held)
      throws InterruptedException {
    try {
      return lease.client().send(request, held);
    } catch (IOException e) {
      if (isNoHttp(e)) {
        lease.spoil();
      }
      throw broken(e, held.isOpened());
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

  /** An answer in JSON is of no use before it is complete; all else is read as far as wanted. */
  private @Nullable WholeBody whole(HttpResponse.ResponseInfo head, BodyType expected) {
    HttpHeaders headers = head.headers();
    long announced = announced(headers);
    return expected == BodyType.JSON
            && head.statusCode() >= 200
            && head.statusCode() < 300
            && announced <= maxBodyBytes
            && otherType(headers, expected).isEmpty()
        ? new WholeBody(announced, maxBodyBytes)
        : null;
  }

  /** How long the body is by its headers; 0 if they do not say. */
  private static long announced(HttpHeaders headers) {
    return headers.firstValueAsLong("content-length").orElse(0);
  }

  private void requireAnswer(HttpResponse<ReceivedBody> response, BodyType expected)
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
    Optional<String> otherType = otherType(headers, expected);
    if (otherType.isPresent()) {
      throw wrongType(otherType.get(), expected, response);
    }
    if (announced(headers) > maxBodyBytes) {
      throw tooLong(headers);
    }
  }

  /** How many bytes an answer may have. */
  int maxBodyBytes() {
    return maxBodyBytes;
  }

  /** The failure of an answer that has more bytes than it may. */
  ProviderException tooLong(HttpHeaders headers) {
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
      Interrupts.rethrow(e);
      // The status says what happened; that its body broke off changes nothing.
    }
    return kept.toByteArray();
  }

  /** An answer of another type may still be an error object, under this label or a wrong one. */
  private ProviderException wrongType(
      String type, BodyType expected, HttpResponse<ReceivedBody> response)
      throws InterruptedException {
    String what = "has the content type \"" + type + "\" instead of " + expected.words() + ".";
    return BodyType.EVENTS.matches(type) // which may have no end, and is no JSON
        ? failures.protocol(what, response.headers())
        : failures.otherBody(errorBody(response.body()), what, response.headers());
  }

  /**
   * A type that is not the expected one, without its parameters, in lower case, made harmless for a
   * message.
   */
  private static Optional<String> otherType(HttpHeaders headers, BodyType expected) {
    Optional<String> given = headers.firstValue("content-type");
    return given.isEmpty() || given.get().equals(expected.accept())
        ? Optional.empty()
        : contentType(given.get()).filter(type -> !expected.matches(type));
  }

  private static Optional<String> contentType(String given) {
    return Optional.of(given)
        .map(value -> value.split(";", 2)[0].strip().toLowerCase(Locale.ROOT))
        .filter(type -> !type.isEmpty())
        .map(type -> type.length() <= 100 ? type : type.substring(0, 100))
        .map(type -> type.replaceAll("[^a-z0-9!#$&^_.+/-]", "?"));
  }

  /** The failure of a connection, in the moment it is seen. */
  ProviderException broken(IOException failure, boolean headersSeen) throws InterruptedException {
    Interrupts.rethrow(failure);
    return transport.isClosed() ? closed(failure) : failures.io(failure, headersSeen);
  }

  private ProviderException closed(@Nullable IOException failure) {
    return failures.notSent("The adapter was closed.", failure);
  }
}
