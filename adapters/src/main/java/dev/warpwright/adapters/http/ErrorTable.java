package dev.warpwright.adapters.http;

import java.net.http.HttpHeaders;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * One protocol's table of failures. {@link Failures} does the mapping, this is what it knows.
 *
 * @param provider the provider's name in messages
 * @param requestIdHeader the header that carries the provider's id of a request
 * @param statusByName structured codes and types, in lower case, and the status that each stands
 *     for inside a successful response
 * @param contextNames codes and types, in lower case, that say that the input is too long
 * @param contextForms the closed table of whole messages that say so without a code
 * @param otherwise the status of an error inside a successful response when nothing structured
 *     tells it; 0 if that is not known
 * @param typeHeader the header that carries the type of an error whose body has none; empty if
 *     there is none
 * @param statusByReason reasons in an error's details, in lower case, that tell its status better
 *     than the response's own
 */
public record ErrorTable(
    String provider,
    String requestIdHeader,
    Map<String, Integer> statusByName,
    Set<String> contextNames,
    List<ContextForm> contextForms,
    int otherwise,
    String typeHeader,
    Map<String, Integer> statusByReason) {
  /** The code that is never retried on the same target, whatever the status. */
  static final String INSUFFICIENT_QUOTA = "insufficient_quota";

  /** The name that stands for every code that is a number and has no status of its own. */
  public static final String OTHER_NUMBERS = "#";

  private static final int PAYLOAD_TOO_LARGE = 413;
  private static final Pattern NUMBER = Pattern.compile("\\d+");
  private static final Pattern TYPE = Pattern.compile("[A-Za-z0-9_.-]{1,200}");
  private static final Pattern STATUS = Pattern.compile("[1-5]\\d\\d");

  /**
   * The names that all protocols share: what OpenAI, Anthropic, Google and Amazon call the same
   * things.
   */
  public static final Map<String, Integer> COMMON_NAMES =
      Map.ofEntries(
          Map.entry("overloaded_error", 529),
          Map.entry("server_is_overloaded", 503),
          Map.entry("unavailable", 503),
          Map.entry("rate_limit_error", 429),
          Map.entry("rate_limit_exceeded", 429),
          Map.entry("resource_exhausted", 429),
          Map.entry("throttlingexception", 429),
          Map.entry(INSUFFICIENT_QUOTA, 402),
          Map.entry("billing_error", 402),
          Map.entry("timeout_error", 408),
          Map.entry("deadline_exceeded", 504),
          Map.entry("api_error", 500),
          Map.entry("server_error", 500),
          Map.entry("internal", 500),
          Map.entry("invalid_request_error", 400),
          Map.entry("invalid_argument", 400),
          Map.entry("not_found_error", 404),
          Map.entry("authentication_error", 401),
          Map.entry("permission_error", 403));

  /** The names that all protocols share for an input longer than the context window. */
  public static final Set<String> COMMON_CONTEXT_NAMES =
      Set.of("context_length_exceeded", "context_window_exceeded", "request_too_large");

  /** Copies the collections. */
  public ErrorTable {
    statusByName = Map.copyOf(statusByName);
    contextNames = Set.copyOf(contextNames);
    contextForms = List.copyOf(contextForms);
    statusByReason = Map.copyOf(statusByReason);
  }

  /**
   * A table of a protocol that gives its errors a status or a name.
   *
   * @param provider the provider's name in messages
   * @param requestIdHeader the header that carries the provider's id of a request
   * @param statusByName structured codes and types and the status that each stands for
   * @param contextNames codes and types that say that the input is too long
   * @param contextForms whole messages that say so without a code
   */
  public ErrorTable(
      String provider,
      String requestIdHeader,
      Map<String, Integer> statusByName,
      Set<String> contextNames,
      List<ContextForm> contextForms) {
    this(provider, requestIdHeader, statusByName, contextNames, contextForms, 0, "", Map.of());
  }

  /**
   * An error with the type that the response's headers give it, or else its member {@code __type},
   * if the body gives it no name otherwise.
   *
   * <p>Amazon's services write {@code Type:http://…} or {@code namespace#Type} there. Source:
   * Smithy's AWS restJson1 protocol, operation errors.
   */
  ErrorObject named(ErrorObject error, HttpHeaders headers) {
    if (typeHeader.isEmpty() || error.code() != null || error.type() != null) {
      return error;
    }
    return headers
        .firstValue(typeHeader)
        .or(() -> error.details().map(body -> body.path("__type").asString("")))
        .map(value -> value.split(":", 2)[0])
        .map(value -> value.substring(value.indexOf('#') + 1).strip())
        .filter(type -> TYPE.matcher(type).matches())
        .map(error::withType)
        .orElse(error);
  }

  /**
   * The status of an error: the one that its reason stands for, else the real one, else the
   * embedded one, else the one that its code or type stands for.
   *
   * @param httpStatus the response's status if it is 400 or above, else 0
   * @param error what the body says
   * @return the status; {@link #otherwise} if nothing structured tells
   */
  int status(int httpStatus, ErrorObject error) {
    Optional<String> reason = tellingReason(error);
    if (reason.isPresent()) {
      return statusByReason.getOrDefault(lower(reason.get()), httpStatus);
    }
    if (httpStatus != 0) {
      return httpStatus;
    }
    if (error.embeddedStatus().isPresent()) {
      return error.embeddedStatus().getAsInt();
    }
    String code = lower(error.code());
    int others = NUMBER.matcher(code).matches() ? statusByName.getOrDefault(OTHER_NUMBERS, 0) : 0;
    int byCode = statusByName.getOrDefault(code, others);
    return byCode != 0 ? byCode : statusByName.getOrDefault(lower(error.type()), otherwise);
  }

  /**
   * The one name that decisions see: a reason that tells the status, else the exhausted quota
   * wherever it stands, else the code, unless it only repeats a status, else the type.
   */
  @Nullable String decidingName(ErrorObject error) {
    Optional<String> reason = tellingReason(error);
    if (reason.isPresent()) {
      return reason.get();
    }
    String code = error.code();
    String type = error.type();
    if (isQuota(code) || isQuota(type)) {
      return INSUFFICIENT_QUOTA;
    }
    boolean codeIsName = code != null && !STATUS.matcher(code).matches();
    return codeIsName || type == null ? code : type;
  }

  /** Whether the input was too long for the model. */
  boolean isContextOverflow(int status, ErrorObject error) {
    if (isQuota(error.code()) || isQuota(error.type())) {
      return false;
    }
    if (status == PAYLOAD_TOO_LARGE
        || contextNames.contains(lower(error.code()))
        || contextNames.contains(lower(error.type()))) {
      return true;
    }
    String message = error.message();
    return message != null
        && mayHideContextOverflow(status)
        && contextForms.stream().anyMatch(form -> form.matches(message));
  }

  /** A plain 400 or 422, a server error around the message, or an error without any status. */
  private static boolean mayHideContextOverflow(int status) {
    return status == 0 || status == 400 || status == 422 || status >= 500;
  }

  private Optional<String> tellingReason(ErrorObject error) {
    return statusByReason.isEmpty()
        ? Optional.empty()
        : error.reasons().stream()
            .filter(reason -> statusByReason.containsKey(lower(reason)))
            .findFirst();
  }

  private static boolean isQuota(@Nullable String name) {
    return lower(name).equals(INSUFFICIENT_QUOTA);
  }

  private static String lower(@Nullable String name) {
    return name == null ? "" : name.toLowerCase(Locale.ROOT);
  }
}
