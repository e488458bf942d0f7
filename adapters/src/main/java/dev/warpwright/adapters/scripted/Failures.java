package dev.warpwright.adapters.scripted;

import dev.warpwright.adapters.http.ErrorTable;
import dev.warpwright.adapters.http.RetryAfter;
import dev.warpwright.json.StrictJson;
import dev.warpwright.model.ProviderException;
import java.net.http.HttpHeaders;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/** What an HTTP adapter would throw for the faults of a script. */
final class Failures {
  /** The code of a request that no rule matches. */
  static final String NO_RULE = "no_rule";

  private Failures() {}

  static ProviderException status(Fault.Status fault, String requestId, Instant now) {
    if (fault.status() == 200) {
      return success(fault, requestId);
    }
    String body =
        fault.body().map(Fault.Body::text).orElseGet(() -> ErrorBody.scripted(fault.status()));
    Optional<JsonNode> error = error(body);
    Optional<String> code = text(error, "code").or(() -> text(error, "type"));
    Optional<String> message = error.isPresent() ? text(error, "message") : Optional.of(body);
    return ProviderException.builder(
            ProviderException.Kind.HTTP_STATUS,
            "Scripted request failed with status " + fault.status() + ".")
        .status(fault.status())
        .code(code.orElse(null))
        .requestId(requestId)
        .providerMessage(message.orElse(null))
        .retryAfter(RetryAfter.read(headers(fault), error, fault.status(), now).orElse(null))
        .build();
  }

  /** A success is a failure if it holds an error, or anything that the script says itself. */
  private static ProviderException success(Fault.Status fault, String requestId) {
    Optional<JsonNode> error = error(fault.body().map(Fault.Body::text).orElse(""));
    Optional<String> code = text(error, "code").or(() -> text(error, "type"));
    return error.isEmpty()
        ? garbage(requestId)
        : event(code.orElse(null), text(error, "message").orElse(null), requestId);
  }

  static ProviderException event(Fault.ErrorEvent fault, String requestId) {
    return event(fault.code(), fault.message(), requestId);
  }

  private static ProviderException event(
      @Nullable String code, @Nullable String message, String requestId) {
    String name = code == null ? "" : code.toLowerCase(Locale.ROOT);
    boolean overflow = ErrorTable.COMMON_CONTEXT_NAMES.contains(name);
    return ProviderException.builder(
            overflow
                ? ProviderException.Kind.CONTEXT_LENGTH
                : ProviderException.Kind.PROVIDER_EVENT,
            "Scripted error inside a successful response.")
        .status(ErrorTable.COMMON_NAMES.getOrDefault(name, 0))
        .code(code)
        .requestId(requestId)
        .providerMessage(message)
        .build();
  }

  static ProviderException broken(String how) {
    return ProviderException.builder(
            ProviderException.Kind.READ, "The scripted connection " + how + ".")
        .build();
  }

  static ProviderException garbage(@Nullable String requestId) {
    return ProviderException.builder(
            ProviderException.Kind.PROTOCOL, "The scripted response cannot be understood.")
        .requestId(requestId)
        .build();
  }

  static ProviderException noRule(Conversation conversation, String requestId) {
    return ProviderException.builder(
            ProviderException.Kind.HTTP_STATUS, "Scripted request failed with status 500.")
        .status(500)
        .code(NO_RULE)
        .requestId(requestId)
        .providerMessage(noRuleText(conversation))
        .build();
  }

  /** Names the turn and never the content. */
  static String noRuleText(Conversation conversation) {
    return "No rule of the script matches turn "
        + conversation.turn()
        + " of a conversation of "
        + conversation.messages().size()
        + " messages.";
  }

  private static Optional<JsonNode> error(String body) {
    try {
      return Optional.of(StrictJson.read(body).path("error")).filter(JsonNode::isObject);
    } catch (JacksonException e) {
      return Optional.empty(); // a body in plain text
    }
  }

  private static Optional<String> text(Optional<JsonNode> error, String key) {
    return error
        .map(members -> members.path(key))
        .filter(JsonNode::isString)
        .map(JsonNode::stringValue);
  }

  private static HttpHeaders headers(Fault.Status fault) {
    Map<String, List<String>> fields = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    fault
        .headers()
        .forEach(
            field ->
                fields
                    .computeIfAbsent(field.getKey(), name -> new ArrayList<>())
                    .add(field.getValue()));
    return HttpHeaders.of(fields, (name, value) -> true);
  }
}
