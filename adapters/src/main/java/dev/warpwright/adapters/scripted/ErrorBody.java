package dev.warpwright.adapters.scripted;

import dev.warpwright.json.StrictJson;
import org.jspecify.annotations.Nullable;

/** Error bodies in OpenAI's form. */
final class ErrorBody {
  private ErrorBody() {}

  /** An error object as text. */
  static String of(int status, String message, @Nullable String param, @Nullable String code) {
    return of(type(status), message, param, code);
  }

  private static String of(
      String type, String message, @Nullable String param, @Nullable String code) {
    var root = StrictJson.mapper().createObjectNode();
    root.putObject("error")
        .put("message", message)
        .put("type", type)
        .put("param", param)
        .put("code", code);
    return StrictJson.write(root);
  }

  /** What a scripted status says if the script gives it no body. */
  static String scripted(int status) {
    return of(status, scriptedText(status), null, null);
  }

  static String scriptedText(int status) {
    return "The script answers with status " + status + ".";
  }

  /** What a script that has no answer says: a type of its own, so that the code speaks. */
  static String ofScript(String message, String code) {
    return of("script_error", message, null, code);
  }

  /** An error inside a success; the code speaks. */
  static String ofCode(String code, String message) {
    return of("server_error", message, null, code);
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
