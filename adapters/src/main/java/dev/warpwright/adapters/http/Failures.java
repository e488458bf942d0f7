package dev.warpwright.adapters.http;

import dev.warpwright.json.StrictJson;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.ProviderException.Kind;
import dev.warpwright.model.Redaction;
import java.io.IOException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.ProtocolException;
import java.net.UnknownHostException;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpHeaders;
import java.net.http.HttpTimeoutException;
import java.time.InstantSource;
import java.util.Objects;
import java.util.Optional;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.SSLPeerUnverifiedException;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/**
 * Turns everything that can go wrong with an exchange into a {@link ProviderException}: the one
 * place where failures get their kind. What a protocol calls things is in its {@link ErrorTable}.
 *
 * <p>Pure but for the clock, which turns points in time into waits.
 */
public final class Failures {
  private static final int LONGEST_REQUEST_ID = 256;

  private final ErrorTable table;
  private final InstantSource clock;
  private final Authorization authorization;

  /**
   * Maps failures of one protocol.
   *
   * @param table what the protocol calls things
   * @param clock the wall clock
   * @param authorization what the connection authenticates with: a server may echo its secret in
   *     words that no general rule of redaction recognises, so it is looked for literally
   */
  public Failures(ErrorTable table, InstantSource clock, Authorization authorization) {
    this.table = table;
    this.clock = clock;
    this.authorization = authorization;
  }

  private @Nullable String hide(@Nullable String text) {
    if (text == null) {
      return null;
    }
    String hidden = text;
    for (String secret : authorization.secrets()) {
      hidden = hidden.replace(secret, Redaction.REPLACEMENT);
    }
    return hidden;
  }

  /**
   * The provider's id of a request.
   *
   * @param headers the response's headers
   * @return the id, if it is there and of a reasonable length
   */
  public Optional<String> requestId(HttpHeaders headers) {
    return headers.firstValue(table.requestIdHeader()).flatMap(this::requestId);
  }

  private Optional<String> requestId(ErrorObject error) {
    return error.details().flatMap(details -> requestId(details.path("request_id").asString("")));
  }

  /**
   * An id of a request that stands elsewhere.
   *
   * @param id the id; it may be blank
   * @return the id, if it is there and of a reasonable length
   */
  public Optional<String> requestId(String id) {
    return id.isBlank() || id.length() > LONGEST_REQUEST_ID
        ? Optional.empty()
        : Optional.of(Redaction.redact(Objects.requireNonNull(hide(id))));
  }

  /** A status of 400 or above. */
  ProviderException status(int status, HttpHeaders headers, byte[] body) {
    return classified(
        Kind.HTTP_STATUS,
        table.provider() + " request failed with status " + status + ".",
        status,
        ErrorObject.of(body),
        headers);
  }

  /**
   * A stream that ends before it has shown any output or said that it is finished.
   *
   * @param headers the response's headers
   * @return the exception, of kind PROTOCOL
   */
  public ProviderException noEvents(HttpHeaders headers) {
    return ProviderException.builder(Kind.PROTOCOL, "The stream ended before emitting an event.")
        .requestId(requestId(headers).orElse(null))
        .build();
  }

  /**
   * An error object inside a successful response.
   *
   * @param error the error
   * @param headers the response's headers
   * @return the exception, of kind PROVIDER_EVENT or CONTEXT_LENGTH
   */
  public ProviderException event(ErrorObject error, HttpHeaders headers) {
    return classified(
        Kind.PROVIDER_EVENT,
        table.provider() + " reported an error inside a successful response.",
        0,
        error,
        headers);
  }

  private ProviderException classified(
      Kind kind, String message, int httpStatus, ErrorObject said, HttpHeaders headers) {
    ErrorObject error = table.named(said, headers);
    int status = table.status(httpStatus, error);
    boolean overflow = table.isContextOverflow(status, error);
    return ProviderException.builder(overflow ? Kind.CONTEXT_LENGTH : kind, message)
        .status(status)
        .code(hide(table.decidingName(error)))
        .requestId(requestId(headers).or(() -> requestId(error)).orElse(null))
        .providerMessage(hide(error.message()))
        .retryAfter(RetryAfter.read(headers, error.details(), status, clock.instant()).orElse(null))
        .build();
  }

  /**
   * A failure behind which tools that the provider runs itself were called, or may have been.
   *
   * @param failure what the provider reported
   * @param mayHaveActed false only if the protocol rules effects of these tools out
   * @return the same failure, of kind TOOL_CALL; repeatable if nothing can have happened and its
   *     status is one of those that pass
   */
  public ProviderException hostedTool(ProviderException failure, boolean mayHaveActed) {
    int status = failure.status();
    ProviderException.Builder failed =
        ProviderException.builder(
                Kind.TOOL_CALL,
                table.provider() + " failed where its own tools may have been called.")
            .status(status)
            .code(failure.code().orElse(null))
            .requestId(failure.requestId().orElse(null))
            .providerMessage(failure.providerMessage().orElse(null))
            .retryAfter(failure.retryAfter().orElse(null))
            .cause(failure.getCause());
    if (!mayHaveActed) {
      failed.withoutEffects(status == 408 || status == 429 || status >= 500);
    }
    return failed.build();
  }

  /**
   * An answer that breaks the protocol.
   *
   * @param what completes "OpenAI's answer …"; a fixed text without content
   * @param headers the response's headers
   * @return the exception, of kind PROTOCOL
   */
  public ProviderException protocol(String what, HttpHeaders headers) {
    return protocol(what, headers, 0, null);
  }

  ProviderException protocol(
      String what, HttpHeaders headers, int status, @Nullable Throwable cause) {
    return ProviderException.builder(Kind.PROTOCOL, table.provider() + "'s answer " + what)
        .status(status)
        .requestId(requestId(headers).orElse(null))
        .cause(cause)
        .build();
  }

  /**
   * What came where an answer was expected: an error object after all, or nothing that is known.
   *
   * @param body what came, or its beginning
   * @param what completes "OpenAI's answer …"; a fixed text without content
   * @param headers the response's headers
   * @return the exception: of the error that the body is, else of kind PROTOCOL
   */
  public ProviderException otherBody(byte[] body, String what, HttpHeaders headers) {
    try {
      JsonNode json = StrictJson.readDocument(body);
      Optional<ErrorObject> error =
          ErrorObject.in(json)
              .or(() -> ErrorObject.in(json.path("choices").path(0)))
              .or(() -> ErrorObject.bare(json));
      if (error.isPresent()) {
        return event(error.get(), headers);
      }
    } catch (RuntimeException _) {
      // no JSON that is accepted, so no error object
    }
    return protocol(what, headers);
  }

  /**
   * A surprise while an answer was understood.
   *
   * @param surprise what was thrown
   * @param headers the response's headers
   * @return the same if it is a {@link ProviderException}, else one of kind PROTOCOL
   */
  public ProviderException misunderstood(RuntimeException surprise, HttpHeaders headers) {
    return switch (surprise) {
      case ProviderException known -> known;
      case JacksonException _ ->
          protocol("has a value of another type than the protocol says.", headers);
      default -> protocol("could not be understood.", headers, 0, surprise);
    };
  }

  /** A failure of the connection, before or after the response's headers. */
  ProviderException io(IOException failure, boolean headersSeen) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof HttpConnectTimeoutException) {
        return io(Kind.TIMEOUT, "could not be connected to within the connect timeout.", failure);
      }
      if (cause instanceof HttpTimeoutException) {
        return io(Kind.TIMEOUT, "did not answer within a limit of the HTTP client.", failure);
      }
      if (cause instanceof ConnectException
          || cause instanceof UnknownHostException
          || cause instanceof NoRouteToHostException) {
        return io(Kind.CONNECT, "could not be connected to.", failure);
      }
      if (cause instanceof SSLHandshakeException
          || cause instanceof SSLPeerUnverifiedException
          || (cause instanceof SSLException && !headersSeen)) {
        return io(Kind.CONNECT, "could not be connected to: the TLS handshake failed.", failure);
      }
      if (cause instanceof ProtocolException) {
        return io(Kind.PROTOCOL, "did not answer in HTTP.", null); // the cause quotes the answer
      }
    }
    return io(
        Kind.READ,
        headersSeen
            ? "broke the connection while the answer was read."
            : "broke the connection before it answered.",
        failure);
  }

  private ProviderException io(Kind kind, String what, @Nullable IOException failure) {
    return ProviderException.builder(kind, table.provider() + " " + what).cause(failure).build();
  }

  /**
   * A JSON answer without what the protocol promises. Some compatible servers send the bare error
   * object with status 200.
   *
   * @param answer the answer
   * @param what completes "OpenAI's answer …"; a fixed text without content
   * @return the exception: of the error that the body is, else of kind PROTOCOL
   */
  public ProviderException withoutContent(Answer answer, String what) {
    return ErrorObject.bare(answer.json())
        .map(error -> event(error, answer.headers()))
        .orElseGet(() -> protocol(what, answer.headers()));
  }

  /**
   * A call that was not made.
   *
   * @param why a fixed text
   * @param cause the failure below, if there is one
   * @return the exception, of kind OTHER
   */
  public ProviderException notSent(String why, @Nullable Throwable cause) {
    return ProviderException.builder(Kind.OTHER, why).cause(cause).build();
  }
}
