package dev.warpwright.adapters.ollama;

import static com.github.tomakehurst.wiremock.client.WireMock.aResponse;
import static com.github.tomakehurst.wiremock.client.WireMock.absent;
import static com.github.tomakehurst.wiremock.client.WireMock.equalTo;
import static com.github.tomakehurst.wiremock.client.WireMock.okJson;
import static com.github.tomakehurst.wiremock.client.WireMock.post;
import static com.github.tomakehurst.wiremock.client.WireMock.postRequestedFor;
import static com.github.tomakehurst.wiremock.client.WireMock.urlEqualTo;
import static com.github.tomakehurst.wiremock.core.WireMockConfiguration.wireMockConfig;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.github.tomakehurst.wiremock.WireMockServer;
import dev.warpwright.adapters.HttpAdapter;
import dev.warpwright.adapters.http.RawServer;
import dev.warpwright.adapters.http.RawServer.Close;
import dev.warpwright.model.Capability;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelCapabilities;
import dev.warpwright.model.ModelEvent;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.ProviderException.Kind;
import dev.warpwright.model.ToolHistory;
import dev.warpwright.model.ToolResult;
import dev.warpwright.model.ToolSpec;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The adapter as a whole, over HTTP. */
@Timeout(60)
final class OllamaTest {
  private static final WireMockServer SERVER = new WireMockServer(wireMockConfig().dynamicPort());
  private static final String PATH = "/api/chat";
  private static final String HELLO =
      """
      {"model":"llama","message":{"role":"assistant","content":"Hello."},"done":true,
       "done_reason":"stop","prompt_eval_count":9,"eval_count":2}
      """;
  private static final String LINES =
      "{\"message\":{\"content\":\"Hello 你🌍\"},\"done\":false}\n"
          + "{\"message\":{\"content\":\"\"},\"done\":true,\"done_reason\":\"stop\"}\n";

  private final List<ModelEvent> told = new ArrayList<>();
  private HttpAdapter adapter;

  @BeforeAll
  static void start() {
    SERVER.start();
  }

  @AfterAll
  static void stop() {
    SERVER.stop();
  }

  @BeforeEach
  void open() {
    SERVER.resetAll();
    adapter = builder().build();
  }

  @AfterEach
  void close() {
    assertEquals(0, adapter.openExchanges());
    adapter.close();
  }

  private static String http() {
    return "http://localhost:" + SERVER.port();
  }

  private static Ollama.Builder builder() {
    return Ollama.builder().baseUrl(URI.create(http()));
  }

  private static ModelCall hi() {
    return call(List.of(Message.user("Hi")));
  }

  private static ModelCall call(List<Message> messages) {
    return ModelCall.builder(messages)
        .tools(List.of(new ToolSpec("f", "Does.", Json.parse("{\"type\":\"object\"}"))))
        .build();
  }

  private static void answer(String type, int status, String body) {
    SERVER.stubFor(
        post(PATH)
            .willReturn(
                aResponse().withStatus(status).withHeader("Content-Type", type).withBody(body)));
  }

  private ProviderException failure() {
    ProviderException failure =
        assertThrows(ProviderException.class, () -> adapter.model("llama").generate(hi()));
    SERVER.verify(1, postRequestedFor(urlEqualTo(PATH)));
    return failure;
  }

  private ProviderException streamFailure() {
    SERVER.resetRequests();
    ProviderException failure =
        assertThrows(ProviderException.class, () -> adapter.model("llama").stream(hi(), told::add));
    SERVER.verify(1, postRequestedFor(urlEqualTo(PATH)));
    return failure;
  }

  // --- calls
  // --------------------------------------------------------------------------------------

  @Test
  @Tag("Y33")
  void a_call_is_one_post_of_json_without_a_key() throws Exception {
    SERVER.stubFor(post(PATH).willReturn(okJson(HELLO)));
    ModelResponse response = adapter.model("llama").generate(hi());
    assertEquals("Hello.", response.message().text());
    assertEquals(11, response.usage().total().tokens());
    SERVER.verify(
        1,
        postRequestedFor(urlEqualTo(PATH))
            .withHeader("Content-Type", equalTo("application/json"))
            .withHeader("Authorization", absent())
            .withRequestBody(
                equalTo(
                    "{\"model\":\"llama\",\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}],"
                        + "\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\","
                        + "\"description\":\"Does.\",\"parameters\":{\"type\":\"object\"}}}],"
                        + "\"stream\":false}")));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "application/x-ndjson",
        "Application/X-NDJSON; charset=utf-8",
        "application/json",
        "application/json; charset=utf-8"
      })
  @Tag("Y15")
  @Tag("Y33")
  @Tag("FR-S15")
  void a_stream_of_lines_is_taken_under_either_type(String type) throws Exception {
    answer(type, 200, LINES);
    assertEquals("Hello 你🌍", adapter.model("llama").stream(hi(), told::add).message().text());
    assertTrue(told.contains(new ModelEvent.Text("Hello 你🌍")));
    SERVER.verify(
        1,
        postRequestedFor(urlEqualTo(PATH)).withHeader("Accept", equalTo("application/x-ndjson")));
  }

  @Test
  @Tag("Y33")
  void a_key_travels_as_a_bearer_token() throws Exception {
    SERVER.stubFor(post(PATH).willReturn(okJson(HELLO)));
    try (HttpAdapter keyed = builder().apiKey("k-1").build()) {
      keyed.model("m").generate(hi());
      assertFalse(keyed.toString().contains("k-1"));
    }
    SERVER.verify(
        postRequestedFor(urlEqualTo(PATH)).withHeader("Authorization", equalTo("Bearer k-1")));
  }

  @ParameterizedTest
  @CsvSource({
    "'', /api/chat",
    "/, /api/chat",
    "/api, /api/chat",
    "/api/, /api/chat",
    "/proxy, /proxy/api/chat",
    "/proxy/api, /proxy/api/chat",
    "/myapi, /myapi/api/chat"
  })
  @Tag("Y34")
  void an_api_at_the_end_of_the_base_url_is_not_doubled(String base, String path) throws Exception {
    SERVER.stubFor(post(path).willReturn(okJson(HELLO)));
    try (HttpAdapter other = Ollama.builder().baseUrl(URI.create(http() + base)).build()) {
      assertEquals("Hello.", other.model("m").generate(hi()).message().text());
    }
  }

  @Test
  @Tag("Y28")
  @Tag("Y47")
  @Tag("FR-O05")
  void a_tool_round_goes_out_as_it_came_in() throws Exception {
    SERVER.stubFor(
        post(PATH)
            .willReturn(
                okJson(
                    """
                    {"message":{"role":"assistant","content":"","thinking":"Hm.\\n\\"ä\\"",
                     "tool_calls":[{"function":{"name":"f",
                      "arguments":{"id":2512292042121000001,"a":1.50}}}]},"done":true}
                    """)));
    ModelResponse first = adapter.model("llama").generate(hi());
    String id = first.message().toolCalls().getFirst().id();
    SERVER.resetAll();
    SERVER.stubFor(post(PATH).willReturn(okJson(HELLO)));
    adapter
        .model("llama")
        .generate(
            ModelCall.builder(
                    List.of(
                        Message.user("Hi"),
                        first.message(),
                        Message.tool(
                            List.of(
                                ToolResult.success(
                                    first.message().toolCalls().getFirst(), Json.of("3"))))))
                .build());
    SERVER.verify(
        postRequestedFor(urlEqualTo(PATH))
            .withRequestBody(
                equalTo(
                    """
                    {"model":"llama","messages":[{"role":"user","content":"Hi"},\
                    {"role":"assistant","content":"","thinking":"Hm.\\n\\"ä\\"","tool_calls":[\
                    {"id":"%s","function":{"name":"f",\
                    "arguments":{"id":2512292042121000001,"a":1.50}}}]},\
                    {"role":"tool","tool_name":"f","tool_call_id":"%s","content":"\\"3\\""}],\
                    "stream":false}\
                    """
                        .formatted(id, id))));
  }

  // --- failures
  // -----------------------------------------------------------------------------------

  @ParameterizedTest
  @CsvSource({
    "400, '\"llama\" does not support tools', HTTP_STATUS",
    "400, 'the input length exceeds the context length', CONTEXT_LENGTH",
    "404, 'model \"llama\" not found', HTTP_STATUS",
    "429, 'rate limit exceeded', HTTP_STATUS",
    "500, 'request (302 tokens) exceeds the available context size (256 tokens)', CONTEXT_LENGTH",
    "500, 'llama runner process has terminated', HTTP_STATUS",
    "502, 'the cloud cannot be reached', HTTP_STATUS",
    "503, 'server busy, please try again.  maximum pending requests exceeded', HTTP_STATUS"
  })
  @Tag("Y35")
  @Tag("Y38")
  void a_failed_status_is_kept_with_the_words(int status, String message, Kind kind) {
    answer("application/json", status, "{\"error\":" + Json.of(message).text() + "}");
    ProviderException failure = failure();
    assertEquals(kind, failure.kind());
    assertEquals(status, failure.status());
    assertEquals(message, failure.providerMessage().orElseThrow());
    assertEquals("Ollama request failed with status " + status + ".", failure.getMessage());
    assertEquals(kind, streamFailure().kind());
  }

  @ParameterizedTest
  @CsvSource({
    "'{\"error\":\"It broke.\"}', 500",
    "'{\"error\":\"Slow down.\",\"status\":429}', 429",
    "'{\"error\":\"gone\",\"status\":\"404\"}', 404"
  })
  @Tag("Y36")
  void an_error_in_a_200_has_its_own_status_or_500(String body, int status) {
    answer("application/json", 200, body);
    assertEquals(status, failure().status());
    assertEquals(Kind.PROVIDER_EVENT, streamFailure().kind());
    answer("application/x-ndjson", 200, body + "\n");
    assertEquals(status, streamFailure().status());
    answer("text/plain", 200, body);
    assertEquals(status, streamFailure().status());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"text/html", "text/event-stream", "text/plain", "application/octet-stream"})
  @Tag("Y16")
  @Tag("FR-S23")
  void an_answer_of_another_type_is_a_typed_failure_that_names_it(String type) {
    answer(type, 200, "<html><body>Sign in</body></html>");
    for (ProviderException failure : List.of(failure(), streamFailure())) {
      assertEquals(Kind.PROTOCOL, failure.kind());
      assertTrue(failure.getMessage().contains(type), failure.getMessage());
    }
  }

  @Test
  @Tag("Y16")
  void lines_for_a_blocking_call_are_a_typed_failure() {
    answer("application/x-ndjson", 200, LINES);
    assertTrue(failure().getMessage().contains("application/x-ndjson"));
    SERVER.resetRequests();
    answer("application/json", 200, LINES);
    assertEquals(Kind.PROTOCOL, failure().kind());
  }

  @Test
  void a_refused_connection_is_a_failure_to_connect() throws Exception {
    int port;
    try (ServerSocket nobody = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = nobody.getLocalPort();
    }
    try (HttpAdapter alone =
        Ollama.builder().baseUrl(URI.create("http://localhost:" + port)).build()) {
      assertEquals(
          Kind.CONNECT,
          assertThrows(ProviderException.class, () -> alone.model("m").generate(hi())).kind());
      assertEquals(
          Kind.CONNECT,
          assertThrows(ProviderException.class, () -> alone.model("m").stream(hi(), told::add))
              .kind());
    }
  }

  @Test
  @Tag("Y37")
  void waits_are_read() throws Exception {
    SERVER.stubFor(
        post(PATH)
            .willReturn(
                aResponse()
                    .withStatus(429)
                    .withHeader("retry-after", "Wed, 21 Oct 2026 07:28:09 GMT")));
    try (HttpAdapter clocked =
        builder().clock(InstantSource.fixed(Instant.parse("2026-10-21T07:28:00Z"))).build()) {
      ProviderException failure =
          assertThrows(ProviderException.class, () -> clocked.model("m").generate(hi()));
      assertEquals(Duration.ofSeconds(9), failure.retryAfter().orElseThrow());
    }
  }

  private static String chunk(String text) {
    int length = text.getBytes(StandardCharsets.UTF_8).length;
    return Integer.toHexString(length) + "\r\n" + text + "\r\n";
  }

  private static final String OPEN =
      "HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n";

  @Test
  @Tag("Y49")
  void the_answer_is_there_at_its_last_line_though_the_server_stays() throws Exception {
    Close close = new Close();
    try (RawServer server =
            new RawServer(
                c -> {
                  c.write(OPEN + chunk(LINES));
                  c.awaitClose(close);
                });
        HttpAdapter local = Ollama.builder().baseUrl(server.uri()).build()) {
      assertEquals("Hello 你🌍", local.model("m").stream(hi(), told::add).message().text());
      close.await();
    }
  }

  @Test
  @Tag("Y17")
  void a_stream_that_is_cut_before_its_last_line_is_broken() throws Exception {
    String first = LINES.substring(0, LINES.indexOf('\n') + 1);
    for (String end : List.of("", "0\r\n\r\n", "5\r\n")) {
      told.clear();
      try (RawServer server =
              new RawServer(
                  c -> {
                    c.write(OPEN + chunk(first) + end);
                    c.cut();
                  });
          HttpAdapter local = Ollama.builder().baseUrl(server.uri()).build()) {
        ProviderException failure =
            assertThrows(ProviderException.class, () -> local.model("m").stream(hi(), told::add));
        assertEquals(end.startsWith("0") ? Kind.PROTOCOL : Kind.READ, failure.kind());
        assertTrue(told.contains(new ModelEvent.Text("Hello 你🌍")));
      }
    }
  }

  // --- what the builder refuses
  // -------------------------------------------------------------------

  private static HttpAdapter from(Ollama.Builder builder, Map<String, String> environment) {
    return builder.fromEnvironment(environment::get).build();
  }

  @Test
  @Tag("Y34")
  void the_environment_is_read_when_asked_and_explicit_values_win() throws Exception {
    try (HttpAdapter plain = Ollama.builder().build();
        HttpAdapter set = from(Ollama.builder(), Map.of("OLLAMA_HOST", "0.0.0.0:7000/api"));
        HttpAdapter won = from(builder(), Map.of("OLLAMA_HOST", "example.com"));
        HttpAdapter blank = from(Ollama.builder(), Map.of("OLLAMA_HOST", " "))) {
      assertEquals("Ollama[http://localhost:11434]", plain.toString());
      assertEquals("Ollama[http://127.0.0.1:7000/api]", set.toString());
      assertEquals("Ollama[" + http() + "]", won.toString());
      assertEquals("Ollama[http://localhost:11434]", blank.toString());
    }
    SERVER.stubFor(post(PATH).willReturn(okJson(HELLO)));
    String host = "localhost:" + SERVER.port();
    try (HttpAdapter keyed =
        from(Ollama.builder(), Map.of("OLLAMA_HOST", host, "OLLAMA_API_KEY", "k-2"))) {
      keyed.model("m").generate(hi());
    }
    SERVER.verify(
        postRequestedFor(urlEqualTo(PATH)).withHeader("Authorization", equalTo("Bearer k-2")));
  }

  @Test
  void cleartext_goes_anywhere_as_long_as_no_key_does() throws Exception {
    URI far = URI.create("http://10.1.2.3:11434");
    try (HttpAdapter open = Ollama.builder().baseUrl(far).build();
        HttpAdapter named = from(Ollama.builder(), Map.of("OLLAMA_HOST", "nas"));
        HttpAdapter allowed =
            Ollama.builder().baseUrl(far).apiKey("k-3").allowCleartext().build()) {
      assertEquals("Ollama[http://10.1.2.3:11434]", open.toString());
      assertEquals("Ollama[http://nas:11434]", named.toString());
      assertEquals("Ollama[http://10.1.2.3:11434]", allowed.toString());
    }
    InvalidRequestException refused =
        assertThrows(
            InvalidRequestException.class,
            () -> Ollama.builder().baseUrl(far).apiKey("k-3").build());
    assertTrue(refused.getMessage().contains("cleartext"), refused.getMessage());
    assertFalse(refused.getMessage().contains("k-3"));
  }

  @Test
  @Tag("Y50")
  void a_model_takes_text_and_tools_and_no_history_of_tools_of_others() {
    ModelCapabilities capabilities = adapter.model("m").capabilities();
    assertEquals(
        ModelCapabilities.of(
            Capability.STREAMING, Capability.TOOLS, Capability.PARALLEL_TOOL_CALLS),
        capabilities);
    assertEquals(ToolHistory.NONE, capabilities.toolHistory());
  }
}
