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
    /**
     * A tool that the provider runs itself failed, and may have acted; see {@link #mayHaveActed}.
     */
    TOOL_CALL,
    /** The input is longer than the model's context. */
    CONTEXT_LENGTH,
    /**
     * The adapter sent nothing, since its target cannot take the call: a choice of tools that the
     * protocol has no word for, a temperature where it is fixed. The message is the adapter's own
     * and says what to change. The gateway skips the target.
     */
    UNSUPPORTED,
    /** Anything else. */
    OTHER
  }

  /** What kind of failure it was. */
  private final Kind kind;

  /** The HTTP status, 0 if there is none. */
  private final int status;

  /** The structured code or type. */
  private final @Nullable String code;

  /** The provider's id of the request, redacted. */
  private final @Nullable String requestId;

  /** What the provider said, redacted. */
  private final @Nullable String providerMessage;

  /** Whether a tool of the provider may have acted. */
  private final boolean mayHaveActed;

  /** Whether the provider says that the same call may be made again. */
  private final boolean repeatable;

  /** How long the provider asks to wait. */
  private final @Nullable Duration retryAfter;

  /** Where it happened; absent after deserialisation. */
  private final transient @Nullable Target target;

  private ProviderException(Builder builder) {
    super(
        Redaction.redact(builder.message),
        builder.cause == null ? null : Redaction.redact(builder.cause));
    this.kind = builder.kind;
    this.status = builder.status;
    this.code = builder.code;
    this.requestId = builder.requestId;
    this.providerMessage = builder.providerMessage;
    this.retryAfter = builder.retryAfter;
    this.mayHaveActed = builder.mayHaveActed;
    this.repeatable = builder.repeatable;
    this.target = null;
  }

  private ProviderException(ProviderException original, Target target) {
    super(original.getMessage(), original.getCause());
    this.kind = original.kind;
    this.status = original.status;
    this.code = original.code;
    this.requestId = original.requestId;
    this.providerMessage = original.providerMessage;
    this.retryAfter = original.retryAfter;
    this.mayHaveActed = original.mayHaveActed;
    this.repeatable = original.repeatable;
    this.target = target;
    setStackTrace(original.getStackTrace());
    for (Throwable suppressed : original.getSuppressed()) {
      addSuppressed(Redaction.redact(suppressed));
    }
  }

  /**
   * Begins an exception.
   *
   * @param kind the kind of failure
   * @param message a fixed text without content, URL or secret; it is redacted all the same
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
   * The provider's id of the request, bounded and redacted.
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

  /**
   * Whether a tool that the provider runs may have acted before the call failed: then nothing is
   * tried again, on any target.
   *
   * @return true for a {@link Kind#TOOL_CALL} whose effects were not ruled out; false for any other
   *     kind
   */
  public boolean mayHaveActed() {
    return kind == Kind.TOOL_CALL && mayHaveActed;
  }

  /**
   * Whether a failed tool call of the provider may be tried again.
   *
   * @return true for a {@link Kind#TOOL_CALL} without effects that the provider calls repeatable
   */
  public boolean repeatable() {
    return kind == Kind.TOOL_CALL && !mayHaveActed && repeatable;
  }

  /**
   * Which target failed.
   *
   * @return the target, once the gateway has said it; an adapter does not know it
   */
  public Optional<Target> target() {
    return Optional.ofNullable(target);
  }

  /**
   * The same failure, naming the target. The gateway calls it; an adapter may throw one exception
   * many times.
   *
   * @param target which target failed
   * @return a copy with the stack trace, cause and suppressed exceptions of this one
   */
  public ProviderException at(Target target) {
    return new ProviderException(this, target);
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
    private boolean mayHaveActed = true;
    private boolean repeatable;
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
     * Sets the structured code or type; it is redacted here and cut at 256 characters.
     *
     * @param code the code, or null for none
     * @return this builder
     */
    public Builder code(@Nullable String code) {
      this.code = code == null ? null : redacted(code);
      return this;
    }

    /** Cut last: what is left of a key that was cut might not be recognised. */
    private static String redacted(String text) {
      String clean = Redaction.redact(text);
      return clean.length() <= 256 ? clean : clean.substring(0, 256);
    }

    /**
     * Says of a {@link Kind#TOOL_CALL} that the tool has certainly not acted; without this it
     * counts as one that may have.
     *
     * @param repeatable whether the same call may be made again
     * @return this builder
     */
    public Builder withoutEffects(boolean repeatable) {
      this.mayHaveActed = false;
      this.repeatable = repeatable;
      return this;
    }

    /**
     * Sets the provider's request id; it is redacted here and cut at 256 characters, since a server
     * may echo anything in it.
     *
     * @param requestId the id, or null for none
     * @return this builder
     */
    public Builder requestId(@Nullable String requestId) {
      this.requestId = requestId == null ? null : redacted(requestId);
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
     * Sets the cause; if a text in its chain holds a secret, a copy without it takes its place.
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
