package dev.warpwright.adapters.google;

import dev.warpwright.adapters.http.ContextForm;
import dev.warpwright.adapters.http.ErrorTable;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What Google calls its failures: the names of google.rpc.Code. */
final class GeminiErrors {
  /** An input that is too long comes as a plain INVALID_ARGUMENT. */
  private static final List<ContextForm> CONTEXT_FORMS =
      List.of(
          ContextForm.of(
              "The input token count(?: \\(#\\))? exceeds the maximum number of tokens allowed"
                  + "(?: \\(#\\)| #)?"));

  /** A wrong key comes as INVALID_ARGUMENT with status 400. */
  private static final Map<String, Integer> REASONS = Map.of("api_key_invalid", 401);

  private GeminiErrors() {}

  /**
   * The table of a service.
   *
   * @param provider its name in messages
   */
  static ErrorTable table(String provider) {
    return new ErrorTable(
        provider,
        "x-request-id",
        names(),
        ErrorTable.COMMON_CONTEXT_NAMES,
        CONTEXT_FORMS,
        0,
        "",
        REASONS);
  }

  private static Map<String, Integer> names() {
    Map<String, Integer> names = new HashMap<>(ErrorTable.COMMON_NAMES);
    names.put("failed_precondition", 400);
    names.put("out_of_range", 400);
    names.put("unauthenticated", 401);
    names.put("permission_denied", 403);
    names.put("not_found", 404);
    names.put("already_exists", 409);
    names.put("aborted", 409);
    names.put("unimplemented", 501);
    names.put("unknown", 500);
    names.put("data_loss", 500);
    return names;
  }
}
