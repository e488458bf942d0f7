package dev.warpwright.adapters.scripted;

import dev.warpwright.model.Json;
import java.io.IOException;

/** The three protocols, for tests that any of them must pass. */
enum Wire {
  CHAT,
  RESPONSES,
  MESSAGES;

  /** A request with one user message. */
  String request(String user, boolean stream) {
    String text = Json.of(user).text();
    String message = "[{\"role\":\"user\",\"content\":" + text + "}]";
    String body =
        switch (this) {
          case CHAT -> "\"messages\":" + message;
          case RESPONSES -> "\"input\":" + message;
          case MESSAGES -> "\"max_tokens\":99,\"messages\":" + message;
        };
    return "{\"model\":\"m-1\"," + body + (stream ? ",\"stream\":true}" : "}");
  }

  RawClient ask(RawClient client, String user, boolean stream) throws IOException {
    return send(client, request(user, stream));
  }

  RawClient send(RawClient client, String body) throws IOException {
    return switch (this) {
      case CHAT -> client.post(body);
      case RESPONSES -> client.postTo("/v1/responses", body);
      case MESSAGES -> client.postMessages(body);
    };
  }

  Streamed stream(RawClient client, String user) throws IOException {
    return Streamed.read(ask(client, user, true));
  }
}
