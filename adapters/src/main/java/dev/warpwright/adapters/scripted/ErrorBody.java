package dev.warpwright.adapters.scripted;

import dev.warpwright.json.StrictJson;
import org.jspecify.annotations.Nullable;

/** Error bodies in OpenAI's form. */
final class ErrorBody {
  private ErrorBody() {}

  /** An error object as text. */
  static String of(int status, String message, @Nullable String param, @Nullable String code) {
    var root = StrictJson.mapper().createObjectNode();
    root.putObject("error")
        .put("message", message)
        .put("type", type(status))
        .put("param", param)
        .put("code", code);
    return StrictJson.write(root);
  }

  /** What a scripted status says if the script gives it no body. */
  static String scripted(int status) {
    return of(status, "The script answers with status " + status + ".", null, null);
  }

  private static String type(int status) {
    return switch (status) {
      case 401 -> "authentication_error";
      case 403 -> "permission_error";
      case 404 -> "not_found_error";
      case 429 -> "rate_limit_error";
      default -> status >= 500 ? "server_error" : "invalid_request_error";
    };
  }
}
