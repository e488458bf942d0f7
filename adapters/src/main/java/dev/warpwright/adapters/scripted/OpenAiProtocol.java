package dev.warpwright.adapters.scripted;

import dev.warpwright.json.StrictJson;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/** What OpenAI's two protocols have in common: keys, ids of requests, errors. */
abstract sealed class OpenAiProtocol implements Protocol permits ChatCompletions, ResponsesApi {
  /** Reads the body of a request. */
  abstract ModelRequest read(JsonNode body) throws RefusedException;

  @Override
  public final String requestIdHeader() {
    return "x-request-id";
  }

  @Override
  public final void checkHeaders(ServerRequest request, @Nullable String key)
      throws RefusedException {
    if (key != null
        && !request.header("authorization").equals(Optional.of("Bearer " + key))
        && !request.header("api-key").equals(Optional.of(key))) {
      throw new RefusedException(401, "The API key is missing or wrong.");
    }
  }

  @Override
  public final ModelRequest read(ServerRequest request) throws RefusedException {
    try {
      return read(StrictJson.readDocument(request.body()));
    } catch (JacksonException e) {
      throw new RefusedException(400, "The body of the request is no JSON that can be read.");
    }
  }

  @Override
  public final String error(int status, String message, @Nullable String param) {
    return ErrorBody.of(status, message, param, status == 401 ? "invalid_api_key" : null);
  }

  @Override
  public final String scriptError(String message, String code) {
    return ErrorBody.ofScript(message, code);
  }

  @Override
  public final String error(String code, String message) {
    return ErrorBody.ofCode(code, message);
  }

  @Override
  public final String heartbeat() {
    return ": heartbeat\n\n";
  }
}
