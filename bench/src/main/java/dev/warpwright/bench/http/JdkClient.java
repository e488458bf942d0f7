package dev.warpwright.bench.http;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The floor: the JDK's client on virtual threads with the JSON work that any client has to do, and
 * nothing else.
 */
final class JdkClient implements ChatClient {
  private static final String DATA = "data: ";
  private static final String DONE = "[DONE]";

  private final JsonMapper json = JsonMapper.builder().build();
  private final ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor();
  private final HttpClient client = httpClient().executor(executor).build();
  private final URI uri;

  JdkClient(URI base) {
    this.uri = URI.create(base + "/chat/completions");
  }

  /** The settings with which peers that use the JDK's client are quickest too. */
  static HttpClient.Builder httpClient() {
    return HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1);
  }

  private HttpRequest request(String question, boolean stream) {
    ObjectNode body = json.createObjectNode().put("model", Clients.TARGET.modelId());
    ArrayNode messages = body.putArray("messages");
    messages.addObject().put("role", "system").put("content", Dialogue.SYSTEM);
    messages.addObject().put("role", "user").put("content", question);
    if (stream) {
      body.put("stream", true);
    }
    return HttpRequest.newBuilder(uri)
        .header("Content-Type", "application/json")
        .header("Authorization", "Bearer " + Clients.KEY)
        .POST(BodyPublishers.ofByteArray(json.writeValueAsBytes(body)))
        .build();
  }

  @Override
  public String ask(String question) throws IOException, InterruptedException {
    HttpResponse<byte[]> response =
        client.send(request(question, false), BodyHandlers.ofByteArray());
    requireOk(response);
    JsonNode body = json.readTree(response.body());
    if (body.path("usage").path("completion_tokens").asInt() < 1) {
      throw new IOException("The usage is missing.");
    }
    return body.path("choices").path(0).path("message").path("content").asString();
  }

  private static void requireOk(HttpResponse<?> response) throws IOException {
    if (response.statusCode() != 200) {
      throw new IOException("The status is " + response.statusCode() + ".");
    }
  }

  @Override
  public String stream(String question, Runnable atEach) throws IOException, InterruptedException {
    HttpResponse<InputStream> response =
        client.send(request(question, true), BodyHandlers.ofInputStream());
    requireOk(response);
    StringBuilder text = new StringBuilder();
    try (BufferedReader lines =
        new BufferedReader(new InputStreamReader(response.body(), StandardCharsets.UTF_8))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        if (line.startsWith(DATA) && !line.startsWith(DONE, DATA.length())) {
          JsonNode chunk = json.readTree(line.substring(DATA.length()));
          String piece = chunk.path("choices").path(0).path("delta").path("content").asString("");
          if (!piece.isEmpty()) {
            text.append(piece);
            atEach.run();
          }
        }
      }
    }
    return text.toString();
  }

  @Override
  public void close() {
    client.close();
    executor.close();
  }
}
