package dev.warpwright.adapters.google;

import static com.github.tomakehurst.wiremock.client.WireMock.aResponse;
import static com.github.tomakehurst.wiremock.client.WireMock.absent;
import static com.github.tomakehurst.wiremock.client.WireMock.anyUrl;
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
import dev.warpwright.model.FailureKind;
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
import java.net.URI;
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

/** The adapter as a whole, against a server that somebody else wrote. */
@Timeout(60)
final class GeminiTest {
  private static final WireMockServer SERVER = new WireMockServer(wireMockConfig().dynamicPort());
  private static final String PATH = "/v1beta/models/g-3:generateContent";
  private static final String HELLO =
      """
      {"candidates":[{"content":{"parts":[{"text":"Hello."}],"role":"model"},"finishReason":"STOP"}],
       "usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":2,"totalTokenCount":11},
       "responseId":"r9"}
      """;
  private static final String SECRET = "AIza-s3cr3t";

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
    adapter = builder().apiKey(SECRET).build();
  }

  @AfterEach
  void close() {
    adapter.close();
  }

  private static String http() {
    return "http://localhost:" + SERVER.port();
  }

  private static Gemini.Builder builder() {
    return Gemini.builder().baseUrl(URI.create(http() + "/v1beta/"));
  }

  private static ModelCall call(Message... messages) {
    return ModelCall.builder(List.of(messages))
        .tools(List.of(new ToolSpec("f", "Does.", Json.parse("{\"type\":\"object\"}"))))
        .build();
  }

  private static ModelCall hi() {
    return call(Message.user("Hi"));
  }

  private static void answer(String body) {
    SERVER.stubFor(post(anyUrl()).willReturn(okJson(body)));
  }

  private ProviderException failure() {
    ProviderException failure =
        assertThrows(ProviderException.class, () -> adapter.model("g-3").generate(hi()));
    SERVER.verify(1, postRequestedFor(anyUrl()));
    return failure;
  }

  @Test
  @Tag("Y33")
  void a_call_is_one_post_of_json_with_the_key_in_a_header_only() throws Exception {
    answer(HELLO);
    ModelResponse response = adapter.model("g-3").generate(hi());
    assertEquals("Hello.", response.message().text());
    assertEquals("r9", response.requestId().orElseThrow());
    SERVER.verify(
        1,
        postRequestedFor(urlEqualTo(PATH))
            .withHeader("Content-Type", equalTo("application/json"))
            .withHeader("x-goog-api-key", equalTo(SECRET))
            .withHeader("Authorization", absent())
            .withRequestBody(
                equalTo(
                    "{\"contents\":[{\"role\":\"user\",\"parts\":[{\"text\":\"Hi\"}]}],"
                        + "\"tools\":[{\"functionDeclarations\":[{\"name\":\"f\","
                        + "\"description\":\"Does.\"}]}]}")));
  }

  @Test
  @Tag("Y33")
  void a_stream_has_a_path_of_its_own_and_comes_as_events() throws Exception {
    SERVER.stubFor(
        post(anyUrl())
            .willReturn(
                aResponse()
                    .withHeader("Content-Type", "text/event-stream")
                    .withBody("data: " + HELLO.replace("\n", " ") + "\r\n\r\n")));
    List<ModelEvent> told = new ArrayList<>();
    assertEquals("Hello.", adapter.model("g-3").stream(hi(), told::add).message().text());
    assertEquals(new ModelEvent.Text("Hello."), told.getFirst());
    SERVER.verify(
        1,
        postRequestedFor(urlEqualTo("/v1beta/models/g-3:streamGenerateContent?alt=sse"))
            .withHeader("Accept", equalTo("text/event-stream"))
            .withHeader("x-goog-api-key", equalTo(SECRET)));
  }

  @Test
  @Tag("FR-G05")
  @Tag("FR-G07")
  @Tag("Y47")
  @Tag("Y28")
  void a_tool_round_goes_out_byte_for_byte_as_it_came_in() throws Exception {
    String parts =
        """
        [{"text":"Look."},{"functionCall":{"id":"x1","name":"f",\
        "args":{"id":2512292042121000001,"a":1.50}},"thoughtSignature":"EqQBCg+/=="},\
        {"functionCall":{"name":"f","args":{}},"thoughtSignature":"second"}]\
        """;
    answer("{\"candidates\":[{\"content\":{\"parts\":" + parts + "},\"finishReason\":\"STOP\"}]}");
    Message first = adapter.model("g-3").generate(hi()).message();
    SERVER.resetAll();
    answer(HELLO);
    List<ToolResult> results =
        first.toolCalls().stream().map(c -> ToolResult.success(c, Json.of("ok"))).toList();
    adapter.model("models/g-3").generate(call(Message.user("Hi"), first, Message.tool(results)));
    SERVER.verify(
        postRequestedFor(urlEqualTo(PATH))
            .withRequestBody(
                equalTo(
                    """
                    {"contents":[{"role":"user","parts":[{"text":"Hi"}]},\
                    {"role":"model","parts":%s},{"role":"user","parts":[\
                    {"functionResponse":{"id":"x1","name":"f","response":{"output":"ok"}}},\
                    {"functionResponse":{"name":"f","response":{"output":"ok"}}}]}],\
                    "tools":[{"functionDeclarations":[{"name":"f","description":"Does."}]}]}\
                    """
                        .formatted(parts))));
  }

  @ParameterizedTest
  @CsvSource({
    "g-3, g-3",
    "models/g-3, g-3",
    "g 3+a%2F, g%203%2Ba%252F",
    "g@001, g@001",
    "a:b, a%3Ab",
    "ä, %C3%A4"
  })
  void an_id_is_one_segment_of_the_path(String id, String segment) throws Exception {
    answer(HELLO);
    adapter.model(id).generate(hi());
    SERVER.verify(
        1, postRequestedFor(urlEqualTo("/v1beta/models/" + segment + ":generateContent")));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        "models/",
        "a/b",
        "models/a/b",
        "tunedModels/x",
        "a?b",
        "a#b",
        "a\nb",
        "a\0"
      })
  void an_id_that_parts_the_path_is_refused(String id) {
    InvalidRequestException refused =
        assertThrows(InvalidRequestException.class, () -> adapter.model(id));
    assertEquals(FailureKind.INVALID_CONFIGURATION, refused.kind());
  }

  // --- failures ----------------------------------------------------------------------------------

  private static String error(int code, String status, String message) {
    return "{\"error\":{\"code\":%d,\"message\":\"%s\",\"status\":\"%s\"}}"
        .formatted(code, message, status);
  }

  @ParameterizedTest
  @CsvSource({
    "400, INVALID_ARGUMENT, 'API key not valid.', HTTP_STATUS",
    "400, INVALID_ARGUMENT, 'The input token count (1048577) exceeds the maximum number of tokens"
        + " allowed (1048576).', CONTEXT_LENGTH",
    "400, INVALID_ARGUMENT, 'The input token count exceeds the maximum number of tokens allowed"
        + " 1048576.', CONTEXT_LENGTH",
    "400, INVALID_ARGUMENT, 'maxOutputTokens exceeds the maximum number of tokens', HTTP_STATUS",
    "403, PERMISSION_DENIED, m, HTTP_STATUS",
    "404, NOT_FOUND, m, HTTP_STATUS",
    "429, RESOURCE_EXHAUSTED, m, HTTP_STATUS",
    "500, INTERNAL, m, HTTP_STATUS",
    "503, UNAVAILABLE, 'The model is overloaded.', HTTP_STATUS",
    "504, DEADLINE_EXCEEDED, m, HTTP_STATUS"
  })
  @Tag("Y35")
  @Tag("Y38")
  void a_failed_status_is_classified_by_structure(
      int status, String name, String message, Kind kind) {
    for (String body :
        List.of(error(status, name, message), "[" + error(status, name, message) + "]")) {
      SERVER.resetAll();
      SERVER.stubFor(
          post(anyUrl())
              .willReturn(
                  aResponse()
                      .withStatus(status)
                      .withHeader("Content-Type", "application/json")
                      .withBody(body)));
      ProviderException failure = failure();
      assertEquals(kind, failure.kind());
      assertEquals(status, failure.status());
      assertEquals(name, failure.code().orElseThrow());
      assertEquals(message, failure.providerMessage().orElseThrow());
      assertEquals("Gemini request failed with status " + status + ".", failure.getMessage());
    }
  }

  @ParameterizedTest
  @CsvSource({
    "RESOURCE_EXHAUSTED, 429",
    "UNAVAILABLE, 503",
    "DEADLINE_EXCEEDED, 504",
    "INTERNAL, 500",
    "INVALID_ARGUMENT, 400",
    "FAILED_PRECONDITION, 400",
    "UNAUTHENTICATED, 401",
    "PERMISSION_DENIED, 403",
    "NOT_FOUND, 404",
    "BRAND_NEW, 0"
  })
  @Tag("Y36")
  void an_error_in_a_200_counts_as_the_status_that_its_name_stands_for(String name, int status) {
    answer("{\"error\":{\"message\":\"m\",\"status\":\"" + name + "\"}}");
    ProviderException failure = failure();
    assertEquals(Kind.PROVIDER_EVENT, failure.kind());
    assertEquals(status, failure.status());
    assertEquals(name, failure.code().orElseThrow());
  }

  @ParameterizedTest
  @CsvSource({"30s, PT30S", "1.5s, PT1.5S", "0s, PT0S", "0.000000001s, PT0.000000001S"})
  @Tag("Y37")
  void the_wait_stands_in_the_details(String delay, Duration expected) {
    SERVER.stubFor(
        post(anyUrl())
            .willReturn(
                aResponse()
                    .withStatus(429)
                    .withBody(
                        """
                        {"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"m","details":[
                          {"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[]},
                          {"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"%s"}]}}
                        """
                            .formatted(delay))));
    assertEquals(expected, failure().retryAfter().orElseThrow());
  }

  @Test
  @Tag("Y37")
  void a_header_counts_more_and_may_be_a_date() throws Exception {
    SERVER.stubFor(
        post(anyUrl())
            .willReturn(
                aResponse()
                    .withStatus(503)
                    .withHeader("retry-after", "Thu, 22 Oct 2026 07:28:00 GMT")
                    .withBody(
                        "{\"error\":{\"details\":[{\"@type\":\"x.RetryInfo\",\"retryDelay\":\"3s\"}]}}")));
    try (HttpAdapter clocked =
        builder().clock(InstantSource.fixed(Instant.parse("2026-10-21T07:28:00Z"))).build()) {
      ProviderException failure =
          assertThrows(ProviderException.class, () -> clocked.model("g-3").generate(hi()));
      assertEquals(Duration.ofDays(1), failure.retryAfter().orElseThrow());
    }
  }

  @Test
  @Tag("FR-W01")
  void a_key_that_the_server_echoes_is_not_shown() {
    SERVER.stubFor(
        post(anyUrl())
            .willReturn(
                aResponse()
                    .withStatus(400)
                    .withBody(
                        error(400, "INVALID_ARGUMENT", "No: " + SECRET + " ?key=" + SECRET))));
    ProviderException failure = failure();
    String shown = failure + " " + failure.providerMessage() + failure.code();
    assertFalse(shown.contains("s3cr3t"), shown);
    for (Object object : List.of(builder().apiKey(SECRET), adapter, adapter.model("g-3"))) {
      assertFalse(object.toString().contains("s3cr3t"), object.toString());
    }
  }

  @ParameterizedTest
  @CsvSource({"400, HTTP_STATUS", "200, PROVIDER_EVENT"})
  void a_wrong_key_is_one_though_the_service_calls_it_an_argument(int status, Kind kind) {
    SERVER.stubFor(
        post(anyUrl())
            .willReturn(
                aResponse()
                    .withStatus(status)
                    .withBody(
                        """
                        {"error":{"code":400,"message":"API key not valid.",
                         "status":"INVALID_ARGUMENT","details":[
                          {"@type":"type.googleapis.com/google.rpc.LocalizedMessage"},
                          {"@type":"type.googleapis.com/google.rpc.ErrorInfo",
                           "reason":"API_KEY_INVALID","domain":"googleapis.com"}]}}
                        """)));

    ProviderException failure = failure();

    assertEquals(kind, failure.kind());
    assertEquals(401, failure.status());
    assertEquals("API_KEY_INVALID", failure.code().orElseThrow());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "[{\"reason\":\"FIELD_INVALID\"}]",
        "[{\"reason\":7},\"API_KEY_INVALID\"]",
        "\"API_KEY_INVALID\"",
        "null"
      })
  void another_argument_that_is_wrong_is_no_wrong_key(String details) {
    SERVER.stubFor(
        post(anyUrl())
            .willReturn(
                aResponse()
                    .withStatus(400)
                    .withBody(
                        "{\"error\":{\"code\":400,\"message\":\"API_KEY_INVALID\","
                            + "\"status\":\"INVALID_ARGUMENT\",\"details\":"
                            + details
                            + "}}")));

    ProviderException failure = failure();

    assertEquals(400, failure.status());
    assertEquals("INVALID_ARGUMENT", failure.code().orElseThrow());
  }

  // --- the builder -------------------------------------------------------------------------------

  @Test
  @Tag("Y34")
  void gemini_itself_needs_a_key_and_the_message_says_how() {
    InvalidRequestException refused =
        assertThrows(
            InvalidRequestException.class,
            () -> Gemini.builder().fromEnvironment(name -> null).build());
    assertTrue(refused.getMessage().contains("GEMINI_API_KEY"), refused.getMessage());
    try (HttpAdapter gemini = Gemini.builder().apiKey("k").build()) {
      assertEquals("Gemini[https://generativelanguage.googleapis.com/v1beta]", gemini.toString());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"/env", "/env/", "/env/v1beta"})
  @Tag("Y34")
  void the_environments_url_is_that_of_googles_own_programs(String path) throws Exception {
    answer(HELLO);
    Map<String, String> environment =
        Map.of("GEMINI_API_KEY", "env-key", "GOOGLE_GEMINI_BASE_URL", http() + path);
    try (HttpAdapter gemini = Gemini.builder().fromEnvironment(environment::get).build()) {
      gemini.model("g-3").generate(hi());
    }
    SERVER.verify(
        1,
        postRequestedFor(urlEqualTo("/env" + PATH))
            .withHeader("x-goog-api-key", equalTo("env-key")));
  }

  @Test
  @Tag("Y50")
  void models_can_use_tools_and_declare_no_tool_history() {
    ModelCapabilities capabilities = adapter.model("g-3").capabilities();
    assertEquals(ModelCapabilities.TEXT_AND_TOOLS, capabilities);
    assertEquals(ToolHistory.NONE, capabilities.toolHistory());
  }

  @Test
  void what_a_program_declares_is_asked_by_the_plain_id() {
    try (HttpAdapter own =
        builder()
            .capabilities(
                id -> id.equals("g-3") ? ModelCapabilities.TEXT : ModelCapabilities.TEXT_AND_TOOLS)
            .build()) {
      assertEquals(ModelCapabilities.TEXT, own.model("models/g-3").capabilities());
    }
  }
}
