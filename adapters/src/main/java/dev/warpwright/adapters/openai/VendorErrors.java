package dev.warpwright.adapters.openai;

import dev.warpwright.adapters.http.ErrorTable;
import dev.warpwright.adapters.protocol.openai.OpenAiErrors;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/** What the vendors call their failures, beside what they share with OpenAI. */
final class VendorErrors {
  private VendorErrors() {}

  /** The common names only. */
  static ErrorTable named(String provider, String requestIdHeader) {
    return OpenAiErrors.table(provider, requestIdHeader, Map.of(), Set.of());
  }

  /** DashScope's error codes. */
  static ErrorTable qwen() {
    return OpenAiErrors.table(
        "Qwen",
        "x-request-id",
        Map.ofEntries(
            Map.entry("invalidparameter", 400),
            Map.entry("invalid_parameter_error", 400),
            Map.entry("datainspectionfailed", 400),
            Map.entry("data_inspection_failed", 400),
            Map.entry("arrearage", 402),
            Map.entry("invalidapikey", 401),
            Map.entry("invalid_api_key", 401),
            Map.entry("accessdenied", 403),
            Map.entry("modelnotfound", 404),
            Map.entry("model_not_found", 404),
            Map.entry("requesttimeout", 408),
            Map.entry("throttling", 429),
            Map.entry("throttling.ratequota", 429),
            Map.entry("throttling.burstrate", 429),
            Map.entry("throttling.allocationquota", 429),
            Map.entry("limitrequests", 429),
            Map.entry("limit_requests", 429),
            Map.entry("internalerror", 500),
            Map.entry("internalerror.timeout", 504),
            Map.entry("modelservingerror", 503)),
        Set.of());
  }

  /** Moonshot's error types. */
  static ErrorTable kimi() {
    return OpenAiErrors.table(
        "Kimi",
        "msh-request-id",
        Map.of(
            "engine_overloaded_error", 429,
            "rate_limit_reached_error", 429,
            "exceeded_current_quota_error", 402,
            "invalid_authentication_error", 401,
            "permission_denied_error", 403,
            "resource_not_found_error", 404),
        Set.of());
  }

  /** Z.ai's numeric codes; those that are not known are the server's failure. */
  static ErrorTable zai() {
    Map<String, Integer> codes = new HashMap<>();
    codes.put(ErrorTable.OTHER_NUMBERS, 500);
    put(401, codes, 1000, 1001, 1003, 1005);
    put(429, codes, 1113, 1302, 1305, 1308, 1309, 1310, 1311);
    put(429, codes, 1313, 1314, 1315, 1316, 1317, 1318, 1319, 1320, 1321);
    put(400, codes, 1210, 1211, 1212, 1213, 1214, 1215, 1221, 1222, 1261, 1301);
    put(403, codes, 1220);
    return OpenAiErrors.table("Z.ai", "x-log-id", codes, Set.of("1261"));
  }

  private static void put(int status, Map<String, Integer> statusByName, int... codes) {
    for (int code : codes) {
      statusByName.put(Integer.toString(code), status);
    }
  }
}
