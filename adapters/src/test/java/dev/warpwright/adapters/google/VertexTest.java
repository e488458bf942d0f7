package dev.warpwright.adapters.google;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.adapters.AccessToken;
import dev.warpwright.adapters.HttpAdapter;
import dev.warpwright.adapters.http.RawServer;
import dev.warpwright.model.Capability;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelEvent;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.ToolChoice;
import dev.warpwright.model.ToolHistory;
import dev.warpwright.model.ToolSpec;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Vertex over sockets: where each publisher's models are asked, and with which credential. */
@Timeout(60)
final class VertexTest {
  private static final String GEMINI =
      "{\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"Hello.\"}]},"
          + "\"finishReason\":\"STOP\"}],\"usageMetadata\":{\"promptTokenCount\":4,"
          + "\"candidatesTokenCount\":2,\"totalTokenCount\":6}}";
  private static final String MESSAGES =
      "{\"content\":[{\"type\":\"text\",\"text\":\"Hello.\"}],\"stop_reason\":\"end_turn\","
          + "\"usage\":{\"input_tokens\":4,\"output_tokens\":2}}";
  private static final String CHAT =
      "{\"choices\":[{\"message\":{\"content\":\"Hello.\"},\"finish_reason\":\"stop\"}],"
          + "\"usage\":{\"prompt_tokens\":4,\"completion_tokens\":2,\"total_tokens\":6}}";
  private static final ToolSpec CLOCK =
      new ToolSpec("clock", "The time.", Json.parse("{\"type\":\"object\"}"));

  private record Answer(String status, String type, String body) {}

  private final Deque<Answer> answers = new ArrayDeque<>(); // guarded by itself
  private final RawServer server;
  private final List<HttpAdapter> opened = new ArrayList<>();

  VertexTest() throws IOException {
    server =
        new RawServer(
            connection -> {
              Answer answer;
              synchronized (answers) {
                answer = answers.removeFirst();
              }
              connection.answer(answer.status, answer.type, answer.body);
            });
  }

  @AfterEach
  void nothingIsOpen() throws IOException {
    for (HttpAdapter adapter : opened) {
      assertEquals(0, adapter.openExchanges());
      adapter.close();
    }
    server.close();
  }

  private void answers(String status, String type, String body) {
    synchronized (answers) {
      answers.add(new Answer(status, type, body));
    }
  }

  private void answers(String body) {
    answers("200 OK", "application/json", body);
  }

  private Vertex.Builder builder() {
    return Vertex.builder("my-project", "us-central1").baseUrl(server.uri());
  }

  private HttpAdapter open(Vertex.Builder builder) {
    HttpAdapter adapter = builder.build();
    opened.add(adapter);
    return adapter;
  }

  private static ModelCall hi() {
    return ModelCall.builder(List.of(Message.user("Hi"))).build();
  }

  private String lastRequest() {
    return server.requests().getLast();
  }

  private static String body(String request) {
    return request.substring(request.indexOf("\r\n\r\n") + 4);
  }

  private static String path(String request) {
    return request.substring(0, request.indexOf("\r\n"));
  }

  private String answerOf(String modelId) {
    if (modelId.contains("gemini")) {
      return GEMINI;
    }
    return modelId.startsWith("anthropic/") ? MESSAGES : CHAT;
  }

  @ParameterizedTest
  @CsvSource({
    "gemini-2.5-pro, /publishers/google/models/gemini-2.5-pro:generateContent",
    "google/gemini-2.5-flash, /publishers/google/models/gemini-2.5-flash:generateContent",
    "anthropic/claude-sonnet-4@20250514,"
        + " /publishers/anthropic/models/claude-sonnet-4@20250514:rawPredict",
    "mistralai/mistral-medium-3, /publishers/mistralai/models/mistral-medium-3:rawPredict",
    "ai21/jamba-1.5-large@001, /publishers/ai21/models/jamba-1.5-large@001:rawPredict",
    "google/gemma-3-27b-it, /endpoints/openapi/chat/completions",
    "meta/llama-4-maverick-17b-128e-instruct-maas, /endpoints/openapi/chat/completions",
    "deepseek-ai/deepseek-v3.1-maas, /endpoints/openapi/chat/completions",
    "qwen/qwen3-coder-480b-a35b-instruct-maas, /endpoints/openapi/chat/completions",
    "zai-org/glm-4.7-maas, /endpoints/openapi/chat/completions",
    "moonshotai/kimi-k2-thinking-maas, /endpoints/openapi/chat/completions",
    "minimaxai/minimax-m2-maas, /endpoints/openapi/chat/completions",
    "xai/grok-4, /endpoints/openapi/chat/completions",
    "openai/gpt-oss-120b-maas, /endpoints/openapi/chat/completions"
  })
  void the_publisher_decides_where_a_model_is_asked_and_in_which_protocol(
      String modelId, String path) throws Exception {
    answers(answerOf(modelId));
    ModelResponse response = open(builder().apiKey("ya29.x")).model(modelId).generate(hi());
    assertEquals("Hello.", response.message().text());
    assertEquals(6, response.usage().total().tokens());
    assertEquals("POST " + path + " HTTP/1.1", path(lastRequest()));
    assertTrue(lastRequest().contains("Authorization: Bearer ya29.x\r\n"), lastRequest());
  }

  @Test
  void a_model_of_the_shared_endpoint_is_named_with_its_publisher() throws Exception {
    answers(CHAT);
    open(builder().apiKey("x")).model("deepseek-ai/deepseek-v3.1-maas").generate(hi());
    assertEquals(
        "{\"model\":\"deepseek-ai/deepseek-v3.1-maas\","
            + "\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}],\"stream\":false}",
        body(lastRequest()));
  }

  @Test
  void messages_have_the_version_in_the_body_and_the_model_in_the_path() throws Exception {
    answers(MESSAGES);
    open(builder().apiKey("x")).model("anthropic/claude-opus-4-5").generate(hi());
    assertEquals(
        "{\"anthropic_version\":\"vertex-2023-10-16\",\"max_tokens\":1024,"
            + "\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}],\"stream\":false}",
        body(lastRequest()));
  }

  @Test
  void a_required_tool_is_any_at_mistral_and_its_streams_have_no_options() throws Exception {
    answers(
        "200 OK",
        "text/event-stream",
        "data: {\"choices\":[{\"delta\":{\"content\":\"Hello.\"},\"finish_reason\":\"stop\"}]}\n\n"
            + "data: [DONE]\n\n");
    ModelCall call =
        ModelCall.builder(List.of(Message.user("Hi")))
            .tools(List.of(CLOCK))
            .toolChoice(ToolChoice.REQUIRED)
            .build();
    StringBuilder told = new StringBuilder();
    open(builder().apiKey("x")).model("mistralai/mistral-medium-3").stream(
        call, event -> told.append(event instanceof ModelEvent.Text(String t) ? t : ""));
    assertEquals("Hello.", told.toString());
    assertEquals(
        "POST /publishers/mistralai/models/mistral-medium-3:streamRawPredict HTTP/1.1",
        path(lastRequest()));
    assertEquals(
        "{\"model\":\"mistral-medium-3\",\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}],"
            + "\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"clock\","
            + "\"description\":\"The time.\",\"parameters\":{\"type\":\"object\"}}}],"
            + "\"tool_choice\":\"any\",\"stream\":true}",
        body(lastRequest()));
  }

  @Test
  void open_models_of_openai_are_told_that_tools_are_left_to_them() throws Exception {
    answers(CHAT);
    HttpAdapter vertex = open(builder().apiKey("x"));
    ModelCall.Builder call = ModelCall.builder(List.of(Message.user("Hi"))).tools(List.of(CLOCK));
    vertex.model("openai/gpt-oss-120b-maas").generate(call.build());
    assertTrue(body(lastRequest()).contains("\"tool_choice\":\"auto\""), lastRequest());
    for (ToolChoice choice : List.of(ToolChoice.REQUIRED, new ToolChoice.Named("clock"))) {
      ProviderException refused =
          assertThrows(
              ProviderException.class,
              () ->
                  vertex
                      .model("openai/gpt-oss-120b-maas")
                      .generate(call.toolChoice(choice).build()));
      assertEquals(ProviderException.Kind.UNSUPPORTED, refused.kind());
    }
    assertEquals(1, server.requests().size());
  }

  @Test
  @Tag("Y50")
  void a_model_of_which_nothing_is_known_has_the_tool_history_of_its_protocol() {
    HttpAdapter vertex = open(builder().tokens(() -> AccessToken.of("t")));
    assertEquals(
        ToolHistory.NATIVE, vertex.model("anthropic/claude-new").capabilities().toolHistory());
    for (String other : List.of("gemini-new", "xai/new", "mistralai/new")) {
      assertEquals(ToolHistory.NONE, vertex.model(other).capabilities().toolHistory(), other);
    }
  }

  @Test
  @Tag("R103")
  void a_refused_token_is_dropped_and_the_call_is_not_sent_again() throws Exception {
    AtomicInteger fetched = new AtomicInteger();
    HttpAdapter vertex =
        open(builder().tokens(() -> AccessToken.of("ya29." + fetched.incrementAndGet())));
    answers(
        "401 Unauthorized",
        "application/json",
        "{\"error\":{\"code\":401,\"message\":\"Bad token"
            + " ya29.1\",\"status\":\"UNAUTHENTICATED\"}}");
    ProviderException refused =
        assertThrows(ProviderException.class, () -> vertex.model("gemini-2.5-pro").generate(hi()));
    assertEquals(401, refused.status());
    assertFalse(refused.providerMessage().orElseThrow().contains("ya29"));
    assertEquals(1, server.requests().size());

    answers(GEMINI);
    answers(GEMINI);
    vertex.model("gemini-2.5-pro").generate(hi());
    vertex.model("gemini-2.5-pro").generate(hi());
    assertTrue(lastRequest().contains("Authorization: Bearer ya29.2\r\n"), lastRequest());
    assertEquals(2, fetched.get());
  }

  @Test
  @Tag("R103")
  void a_token_that_is_refused_inside_a_successful_answer_is_dropped_too() throws Exception {
    AtomicInteger fetched = new AtomicInteger();
    HttpAdapter vertex =
        open(builder().tokens(() -> AccessToken.of("ya29." + fetched.incrementAndGet())));
    answers("{\"error\":{\"code\":401,\"message\":\"m\",\"status\":\"UNAUTHENTICATED\"}}");
    answers(GEMINI);
    ProviderException refused =
        assertThrows(ProviderException.class, () -> vertex.model("gemini-2.5-pro").generate(hi()));
    assertEquals(ProviderException.Kind.PROVIDER_EVENT, refused.kind());
    vertex.model("gemini-2.5-pro").generate(hi());
    assertTrue(lastRequest().contains("Authorization: Bearer ya29.2\r\n"), lastRequest());
  }

  @Test
  void a_token_that_cannot_be_had_is_a_failure_of_the_target() {
    HttpAdapter vertex =
        open(
            builder()
                .tokens(
                    () -> {
                      throw new IOException("no metadata server");
                    }));
    ProviderException failed =
        assertThrows(ProviderException.class, () -> vertex.model("gemini-2.5-pro").generate(hi()));
    assertEquals(ProviderException.Kind.CONNECT, failed.kind());
    assertEquals(0, server.requests().size());
  }

  @ParameterizedTest
  @CsvSource({"403, PERMISSION_DENIED", "404, NOT_FOUND", "429, RESOURCE_EXHAUSTED"})
  void what_google_refuses_is_classified_whatever_the_publisher(int status, String name) {
    HttpAdapter vertex = open(builder().apiKey("x"));
    for (String modelId :
        List.of("gemini-2.5-pro", "anthropic/claude-opus-4-5", "meta/llama-4-scout")) {
      answers(
          status + " No",
          "application/json; charset=UTF-8",
          "[{\"error\":{\"code\":%d,\"message\":\"No.\",\"status\":\"%s\",\"details\":[{\"@type\":\"type.googleapis.com/google.rpc.RetryInfo\",\"retryDelay\":\"1.5s\"}]}}]"
              .formatted(status, name));
      ProviderException refused =
          assertThrows(ProviderException.class, () -> vertex.model(modelId).generate(hi()));
      assertEquals(status, refused.status());
      assertEquals(name, refused.code().orElseThrow());
      assertEquals(1_500, refused.retryAfter().orElseThrow().toMillis());
    }
  }

  @ParameterizedTest
  @CsvSource({
    "us-central1,"
        + " https://us-central1-aiplatform.googleapis.com/v1/projects/p-1/locations/us-central1",
    "global, https://aiplatform.googleapis.com/v1/projects/p-1/locations/global"
  })
  void the_location_decides_the_host(String location, String base) {
    try (HttpAdapter vertex = Vertex.builder("p-1", location).apiKey("x").build()) {
      assertEquals("Vertex[" + base + "]", vertex.toString());
    }
  }

  @Test
  void what_is_known_of_a_model_does_not_depend_on_naming_google() {
    HttpAdapter vertex = open(builder().apiKey("x"));
    assertEquals(
        vertex.model("gemini-2.5-pro").capabilities(),
        vertex.model("google/gemini-2.5-pro").capabilities());
    assertTrue(vertex.model("google/gemini-2.5-pro").capabilities().has(Capability.REASONING));
  }

  @Test
  void without_a_credential_the_default_ones_are_asked_at_the_first_call() {
    try (HttpAdapter vertex = Vertex.builder("p-1", "global").build()) {
      assertEquals(0, vertex.openExchanges());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "p/x", "p x", "p?x", "P"})
  void a_project_or_location_that_cannot_be_in_a_url_is_refused(String wrong) {
    for (String message :
        List.of(
            assertThrows(InvalidRequestException.class, () -> Vertex.builder(wrong, "global"))
                .getMessage(),
            assertThrows(InvalidRequestException.class, () -> Vertex.builder("p-1", wrong))
                .getMessage())) {
      assertTrue(message.contains("must match"), message);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"nobody/model", "anthropic/", "anthropic/a/b", "a?b", "google/x#y", ""})
  void an_id_of_an_unknown_publisher_or_with_another_path_is_refused(String modelId) {
    HttpAdapter vertex = open(builder().apiKey("x"));
    assertThrows(InvalidRequestException.class, () -> vertex.model(modelId));
  }
}
