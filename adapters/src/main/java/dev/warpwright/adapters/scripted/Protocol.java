package dev.warpwright.adapters.scripted;

import java.io.IOException;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A provider's protocol on the server's side: requests to conversations, responses and errors to
 * bodies. It knows nothing of rules and sockets.
 */
sealed interface Protocol permits OpenAiProtocol, MessagesApi, GeminiApi, OllamaApi, ConverseApi {
  /** Whether requests to this path are of this protocol. */
  boolean serves(String path);

  /** The header field that carries the id of a request. */
  String requestIdHeader();

  /**
   * Checks the header fields.
   *
   * @param key the key that a request must carry, null if none is needed
   */
  void checkHeaders(ServerRequest request, @Nullable String key) throws RefusedException;

  /** Reads a request and refuses what the real service refuses. */
  ModelRequest read(ServerRequest request) throws RefusedException;

  /** Writes an answer as a whole. */
  String write(Said said);

  /** Tells an answer event by event. */
  void stream(Said said, EventSink sink) throws IOException, InterruptedException;

  /** Tells that the provider failed in the middle of a stream; {@code told} events came before. */
  void streamError(Fault.ErrorEvent error, long told, Said said, EventSink sink)
      throws IOException, InterruptedException;

  /** How the events of its streams are written; server-sent events by default. */
  default StreamFraming framing() {
    return StreamFraming.EVENTS;
  }

  /** An event that only shows that the server lives, as it is written with line feeds. */
  String heartbeat();

  /** The same as bytes. */
  default byte[] heartbeat(WireForm.LineEnd lineEnd) {
    return StreamFraming.bytes(heartbeat(), lineEnd);
  }

  /** The header fields that say beside an error's body what it is. */
  default Map<String, String> errorHeaders(int status) {
    return Map.of();
  }

  /**
   * Writes an error.
   *
   * @param param the place in the request's body that it is about, if it is about one
   */
  String error(int status, String message, @Nullable String param);

  /** Writes that the script has no answer, so that a client sees the code. */
  String scriptError(String message, String code);

  /** Writes an error by its code, as it stands in a body of status 200. */
  String error(String code, String message);
}
