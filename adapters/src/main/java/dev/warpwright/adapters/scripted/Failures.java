package dev.warpwright.adapters.scripted;

import dev.warpwright.json.StrictJson;
import dev.warpwright.model.ProviderException;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/** What an HTTP adapter would throw for the faults of a script. */
final class Failures {
  /** The code of a request that no rule matches. */
  static final String NO_RULE = "no_rule";

  private static final BigDecimal MAX_WAIT_SECONDS = BigDecimal.valueOf(86_400);

  private Failures() {}

  static ProviderException status(Fault.Status fault) {
    JsonNode error = error(fault.body());
    String code = text(error, "code");
    return ProviderException.builder(
            ProviderException.Kind.HTTP_STATUS,
            "Scripted request failed with status " + fault.status() + ".")
        .status(fault.status())
        .code(code == null ? text(error, "type") : code)
        .providerMessage(text(error, "message"))
        .retryAfter(retryAfter(fault))
        .build();
  }

  static ProviderException broken(String how) {
    return ProviderException.builder(
            ProviderException.Kind.READ, "The scripted connection " + how + ".")
        .build();
  }

  static ProviderException garbage() {
    return ProviderException.builder(
            ProviderException.Kind.PROTOCOL, "The scripted response cannot be understood.")
        .build();
  }

  static ProviderException noRule(Conversation conversation) {
    return ProviderException.builder(
            ProviderException.Kind.HTTP_STATUS, "Scripted request failed with status 500.")
        .status(500)
        .code(NO_RULE)
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

  private static JsonNode error(String body) {
    try {
      return StrictJson.read(body).path("error");
    } catch (JacksonException e) {
      return StrictJson.mapper().createObjectNode(); // a body in plain text has no error object
    }
  }

  private static @Nullable String text(JsonNode error, String key) {
    JsonNode value = error.path(key);
    return value.isString() ? value.stringValue() : null;
  }

  /** The wait in seconds or milliseconds; a date is not looked at, so the result is always one. */
  private static @Nullable Duration retryAfter(Fault.Status fault) {
    Duration seconds = null;
    for (Map.Entry<String, String> field : fault.headers()) {
      if (field.getKey().equalsIgnoreCase("retry-after-ms")) {
        return wait(field.getValue(), 3);
      }
      if (field.getKey().equalsIgnoreCase("retry-after")) {
        seconds = wait(field.getValue(), 0);
      }
    }
    return seconds;
  }

  private static @Nullable Duration wait(String value, int decimals) {
    try {
      BigDecimal seconds = new BigDecimal(value.strip()).movePointLeft(decimals);
      if (seconds.signum() < 0 || seconds.compareTo(MAX_WAIT_SECONDS) > 0) {
        return null;
      }
      return Duration.ofNanos(seconds.movePointRight(9).longValue());
    } catch (NumberFormatException e) {
      return null; // a date, or nothing that a client would understand
    }
  }
}
