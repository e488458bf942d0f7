package dev.warpwright.adapters.bedrock;

import dev.warpwright.adapters.http.ContextForm;
import dev.warpwright.adapters.http.ErrorTable;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What Bedrock calls its failures. Over HTTP the type stands in a header; inside a stream it is
 * that of an exception. Source of names and statuses: the service model of Bedrock's runtime.
 */
final class BedrockErrors {
  private static final Map<String, Integer> NAMES =
      Map.ofEntries(
          Map.entry("throttlingexception", 429),
          Map.entry("modelnotreadyexception", 429),
          Map.entry("modeltimeoutexception", 408),
          Map.entry("modelerrorexception", 424),
          Map.entry("modelstreamerrorexception", 424),
          Map.entry("validationexception", 400),
          Map.entry("servicequotaexceededexception", 400),
          Map.entry("accessdeniedexception", 403),
          Map.entry("resourcenotfoundexception", 404),
          Map.entry("internalserverexception", 500),
          Map.entry("serviceunavailableexception", 503));

  /** A model's own words may stand behind those of the service. */
  private static final String OF_MODEL = "(?:the model returned the following errors: )?";

  /** An input that is too long comes as a plain ValidationException. */
  private static final List<ContextForm> CONTEXT_FORMS =
      List.of(
          ContextForm.of(OF_MODEL + "input is too long for (?:the )?requested model"),
          ContextForm.of(
              OF_MODEL + "prompt is too long: (?<input>#) tokens > (?<window>#) maximum"),
          ContextForm.of(
              OF_MODEL
                  + "too many input tokens\\. Max input tokens: #, request input token count: #"),
          ContextForm.of(
              OF_MODEL + "input tokens exceeded: number of input tokens exceeds maximum length"));

  /** The table. */
  static final ErrorTable TABLE =
      new ErrorTable(
          "Bedrock",
          "x-amzn-requestid",
          names(),
          ErrorTable.COMMON_CONTEXT_NAMES,
          CONTEXT_FORMS,
          0,
          "x-amzn-errortype",
          Map.of());

  private BedrockErrors() {}

  private static Map<String, Integer> names() {
    Map<String, Integer> names = new HashMap<>(ErrorTable.COMMON_NAMES);
    names.putAll(NAMES);
    return names;
  }
}
