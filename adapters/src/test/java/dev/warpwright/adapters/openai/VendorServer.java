package dev.warpwright.adapters.openai;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.warpwright.adapters.ModelFacts;
import dev.warpwright.adapters.ModelTrait;
import dev.warpwright.adapters.http.ConnectionSettings;
import dev.warpwright.adapters.http.RawServer;
import dev.warpwright.model.Capability;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelCapabilities;
import dev.warpwright.model.ModelEvent;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.Reasoning.Effort;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;

/** A vendor's models before a server that answers what a test wants. */
final class VendorServer implements AutoCloseable {
  static final Instant NOW = Instant.ofEpochMilli(1_741_305_570_000L);

  private static final String CHAT =
      "{\"choices\":[{\"message\":{\"content\":\"Hi.\"},\"finish_reason\":\"stop\"}]}";
  private static final String RESPONSES =
      """
      {"status":"completed","output":[{"type":"message","content":[{"type":"output_text",\
      "text":"Hi."}]}]}\
      """;
  private static final String CHAT_STREAM = "data: " + CHAT.replace("message", "delta") + "\n\n";
  private static final String RESPONSES_STREAM =
      "data: {\"type\":\"response.completed\",\"response\":" + RESPONSES + "}\n\n";

  private final RawServer server = new RawServer(this::serve);
  private final List<ModelEvent> told = new ArrayList<>();
  private volatile String status = "200 OK";
  private volatile String headers = "";
  private volatile String answer = "";

  VendorServer() throws IOException {}

  static ModelFacts facts(ModelTrait... traits) {
    return facts(Set.of(), traits);
  }

  /** Of a model that can reason. */
  static ModelFacts reasoning(ModelTrait... traits) {
    return facts(Set.of(), traits)
        .with(ModelCapabilities.TEXT_AND_TOOLS.with(Capability.REASONING));
  }

  static ModelFacts facts(Set<Effort> efforts, ModelTrait... traits) {
    return new ModelFacts(
        ModelCapabilities.TEXT_AND_TOOLS,
        OptionalLong.empty(),
        OptionalLong.empty(),
        efforts,
        Set.of(traits));
  }

  URI uri() {
    return server.uri();
  }

  /** What the server answers from now on, whole or as a stream. */
  VendorServer answering(String body) {
    return answering("200 OK", "", body);
  }

  /** The same with a status and lines of headers. */
  VendorServer answering(String line, String moreHeaders, String body) {
    status = line;
    headers = moreHeaders.isEmpty() ? "" : moreHeaders + "\r\n";
    answer = body;
    return this;
  }

  private void serve(RawServer.Connection connection) throws IOException {
    String request = server.requests().getLast();
    boolean streamed = request.contains("\"stream\":true");
    boolean responses = lastPath().endsWith("/responses");
    String body = answer;
    if (body.isEmpty() && streamed) {
      body = responses ? RESPONSES_STREAM : CHAT_STREAM;
    } else if (body.isEmpty()) {
      body = responses ? RESPONSES : CHAT;
    }
    boolean events = body.startsWith("data:") || body.startsWith(":") || body.startsWith("event:");
    connection.write(
        "HTTP/1.1 %s\r\nContent-Type: %s\r\n%sContent-Length: %d\r\n\r\n%s"
            .formatted(
                status,
                events ? "text/event-stream" : "application/json",
                headers,
                body.getBytes(StandardCharsets.UTF_8).length,
                body));
  }

  /** A model of a vendor, reached here; an Azure or Bedrock vendor brings its own base URL. */
  VendorModel model(Vendor vendor, ModelFacts facts, Api forced) {
    ConnectionSettings settings = new ConnectionSettings(vendor.defaults());
    settings.apiKey("key-1");
    settings.clock(InstantSource.fixed(NOW));
    if (!vendor.defaults().baseUrl().toString().startsWith(uri().toString())) {
      settings.baseUrl(uri());
    }
    return new VendorModel(settings.connect(Map.of(), vendor.errors()), "m", facts, vendor, forced);
  }

  ModelResponse ask(Vendor vendor, ModelFacts facts, ModelCall call) throws InterruptedException {
    return model(vendor, facts, null).generate(call);
  }

  ModelResponse stream(Vendor vendor, ModelFacts facts, ModelCall call)
      throws InterruptedException {
    told.clear();
    return model(vendor, facts, null).stream(call, told::add);
  }

  /** What the last stream told, signs of life left out. */
  List<ModelEvent> told() {
    return told.stream().filter(event -> !event.equals(ModelEvent.ALIVE)).toList();
  }

  /** The body with which a vendor is asked for a whole answer. */
  String body(Vendor vendor, ModelFacts facts, ModelCall call) throws InterruptedException {
    ask(vendor, facts, call);
    return lastBody();
  }

  /** The message of a refusal before anything is sent, whole and streamed. */
  String refusal(Vendor vendor, ModelFacts facts, Api forced, ModelCall call) {
    int before = server.requests().size();
    VendorModel model = model(vendor, facts, forced);
    ProviderException whole = assertThrows(ProviderException.class, () -> model.generate(call));
    ProviderException streamed =
        assertThrows(ProviderException.class, () -> model.stream(call, event -> {}));
    assertEquals(whole.getMessage(), streamed.getMessage());
    assertEquals(before, server.requests().size(), "nothing is sent");
    return whole.getMessage();
  }

  String lastRequest() {
    return server.requests().getLast();
  }

  String lastBody() {
    String request = lastRequest();
    return request.substring(request.indexOf("\r\n\r\n") + 4);
  }

  String lastPath() {
    return lastRequest().split(" ", 3)[1];
  }

  @Override
  public void close() throws IOException {
    server.close();
  }
}
