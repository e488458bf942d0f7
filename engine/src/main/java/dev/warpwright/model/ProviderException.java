package dev.warpwright.model;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * How a provider call failed, thrown by adapters.
 *
 * <p>It is outside the family that a caller catches: the gateway retries, falls back or wraps it as
 * the cause of a {@link WarpwrightException}. Decisions are made from {@link #kind()}, {@link
 * #status()} and {@link #code()} only, never from a text. {@link #getMessage()} is a fixed text of
 * the adapter; what the provider said stands apart in {@link #providerMessage()}, bounded and
 * redacted.
 */
public final class ProviderException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** What kind of failure it was. */
  public enum Kind {
    /** An HTTP status of 400 or above. */
    HTTP_STATUS,
    /** No connection: refused, unknown host, TLS handshake. */
    CONNECT,
    /** The connection broke while the answer was awaited or read. */
    READ,
    /** A limit of the adapter's own, such as the connect timeout, passed. */
    TIMEOUT,
    /** The answer breaks the protocol: content type, JSON, order of events, a bound. */
    PROTOCOL,
    /** An error object inside a successful response. */
    PROVIDER_EVENT,
    /** The input is longer than the model's context. */
    CONTEXT_LENGTH,
    /** Anything else. */
    OTHER
  }

  private final Kind kind;
  private final int status;
  private final @Nullable String code;
  private final @Nullable String requestId;
  private final @Nullable String providerMessage;
  private final @Nullable Duration retryAfter;

  private ProviderException(Builder builder) {
    super(builder.message, builder.cause);
    this.kind = builder.kind;
    this.status = builder.status;
    this.code = builder.code;
    this.requestId = builder.requestId;
    this.providerMessage = builder.providerMessage;
    this.retryAfter = builder.retryAfter;
  }

  /**
   * Begins an exception.
   *
   * @param kind the kind of failure
   * @param message a fixed text without content, URL or secret
   * @return a builder
   */
  public static Builder builder(Kind kind, String message) {
    return new Builder(kind, message);
  }

  /**
   * The kind of failure.
   *
   * @return the kind
   */
  public Kind kind() {
    return kind;
  }

  /**
   * The HTTP status, or the status that an error object inside a 200 response stands for.
   *
   * @return the status, or 0 if there is none
   */
  public int status() {
    return status;
  }

  /**
   * The provider's structured error code or, without one, its structured type.
   *
   * @return the code
   */
  public Optional<String> code() {
    return Optional.ofNullable(code);
  }

  /**
   * The provider's id of the request.
   *
   * @return the id
   */
  public Optional<String> requestId() {
    return Optional.ofNullable(requestId);
  }

  /**
   * What the provider said, bounded and redacted; for people, never for decisions.
   *
   * @return the text
   */
  public Optional<String> providerMessage() {
    return Optional.ofNullable(providerMessage);
  }

  /**
   * How long the provider asks to wait.
   *
   * @return the wait, zero or more
   */
  public Optional<Duration> retryAfter() {
    return Optional.ofNullable(retryAfter);
  }

  /** Collects the parts of a {@link ProviderException}; not thread-safe. */
  public static final class Builder {
    private final Kind kind;
    private final String message;
    private int status;
    private @Nullable String code;
    private @Nullable String requestId;
    private @Nullable String providerMessage;
    private @Nullable Duration retryAfter;
    private @Nullable Throwable cause;

    private Builder(Kind kind, String message) {
      this.kind = Objects.requireNonNull(kind, "kind");
      this.message = Objects.requireNonNull(message, "message");
    }

    /**
     * Sets the HTTP status.
     *
     * @param status 100 to 599
     * @return this builder
     */
    public Builder status(int status) {
      this.status = status;
      return this;
    }

    /**
     * Sets the structured code or type.
     *
     * @param code the code, or null for none
     * @return this builder
     */
    public Builder code(@Nullable String code) {
      this.code = code;
      return this;
    }

    /**
     * Sets the provider's request id.
     *
     * @param requestId the id, or null for none
     * @return this builder
     */
    public Builder requestId(@Nullable String requestId) {
      this.requestId = requestId;
      return this;
    }

    /**
     * Sets what the provider said; it is redacted here and cut at 2 000 characters.
     *
     * @param text the text, or null for none
     * @return this builder
     */
    public Builder providerMessage(@Nullable String text) {
      this.providerMessage = text == null ? null : Redaction.redact(cut(text));
      return this;
    }

    private static String cut(String text) {
      return text.length() <= 2_000 ? text : text.substring(0, 2_000) + "…";
    }

    /**
     * Sets the wait that the provider asks for.
     *
     * @param wait zero or more, or null for none
     * @return this builder
     */
    public Builder retryAfter(@Nullable Duration wait) {
      this.retryAfter = wait;
      return this;
    }

    /**
     * Sets the cause.
     *
     * @param cause the failure below, or null for none
     * @return this builder
     */
    public Builder cause(@Nullable Throwable cause) {
      this.cause = cause;
      return this;
    }

    /**
     * Makes the exception.
     *
     * @return the exception
     */
    public ProviderException build() {
      return new ProviderException(this);
    }
  }
}
