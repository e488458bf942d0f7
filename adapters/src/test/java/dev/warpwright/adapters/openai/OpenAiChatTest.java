package dev.warpwright.adapters.openai;

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
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.github.tomakehurst.wiremock.WireMockServer;
import com.github.tomakehurst.wiremock.http.Fault;
import dev.warpwright.adapters.HttpAdapter;
import dev.warpwright.adapters.http.RawServer;
import dev.warpwright.adapters.http.RawServer.Close;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelCapabilities;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.ProviderException.Kind;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.ToolHistory;
import dev.warpwright.model.ToolResult;
import dev.warpwright.model.ToolSpec;
import java.net.URI;
import java.net.http.HttpClient;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The adapter as a whole, against a server that somebody else wrote. */
@Timeout(60)
final class OpenAiChatTest {
  private static final WireMockServer SERVER =
      new WireMockServer(wireMockConfig().dynamicPort().dynamicHttpsPort());
  private static final String HELLO =
      """
      {"choices":[{"message":{"role":"assistant","content":"Hello."},"finish_reason":"stop"}],
       "usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11}}
      """;

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
    adapter = OpenAi.builder().apiKey("sk-test").baseUrl(base()).build();
  }

  @AfterEach
  void close() {
    adapter.close();
  }

  private static String http() {
    return "http://localhost:" + SERVER.port();
  }

  private static URI base() {
    return URI.create(http() + "/v1/");
  }

  private static ModelCall hi() {
    return call(List.of(Message.user("Hi")), List.of());
  }

  private static ModelCall call(List<Message> messages, List<ToolSpec> tools) {
    return ModelCall.builder(messages).tools(tools).build();
  }

  private ProviderException failure() {
    ProviderException failure =
        assertThrows(ProviderException.class, () -> adapter.model("gpt-x").generate(hi()));
    SERVER.verify(1, postRequestedFor(urlEqualTo("/v1/chat/completions")));
    return failure;
  }

  @Test
  @Tag("Y33")
  void a_call_is_one_post_of_json_with_the_key_in_a_header_only() throws Exception {
    SERVER.stubFor(
        post("/v1/chat/completions").willReturn(okJson(HELLO).withHeader("x-request-id", "req_9")));
    ModelResponse response = adapter.model("gpt-x").generate(hi());
    assertEquals("Hello.", response.message().text());
    assertEquals(FinishReason.Kind.STOP, response.finishReason().kind());
    assertEquals("req_9", response.requestId().orElseThrow());
    assertEquals(11, response.usage().total().tokens());
    SERVER.verify(
        1,
        postRequestedFor(urlEqualTo("/v1/chat/completions"))
            .withHeader("Content-Type", equalTo("application/json"))
            .withHeader("Authorization", equalTo("Bearer sk-test"))
            .withHeader("OpenAI-Organization", absent())
            .withHeader("OpenAI-Project", absent())
            .withRequestBody(
                equalTo(
                    "{\"model\":\"gpt-x\",\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}],"
                        + "\"stream\":false}")));
  }

  @Test
  void organization_and_project_travel_in_headers_and_no_key_sends_no_authorization()
      throws Exception {
    SERVER.stubFor(post("/v1/chat/completions").willReturn(okJson(HELLO)));
    try (HttpAdapter keyless =
        OpenAi.builder()
            .baseUrl(base())
            .header("OpenAI-Organization", "org-1")
            .header("OpenAI-Project", "proj 1")
            .build()) {
      keyless.model("m").generate(hi());
    }
    SERVER.verify(
        postRequestedFor(urlEqualTo("/v1/chat/completions"))
            .withHeader("Authorization", absent())
            .withHeader("OpenAI-Organization", equalTo("org-1"))
            .withHeader("OpenAI-Project", equalTo("proj 1")));
  }

  @Test
  @Tag("Y28")
  @Tag("Y31")
  @Tag("FR-T19")
  @Tag("FR-N03")
  void a_tool_round_goes_out_as_it_came_in_and_double_encoding_is_undone_once() throws Exception {
    SERVER.stubFor(
        post("/v1/chat/completions")
            .willReturn(
                okJson(
                    """
                    {"choices":[{"message":{"content":null,"tool_calls":[
                      {"id":"call_1","type":"function","function":{"name":"f",
                       "arguments":"\\"{\\\\\\"a\\\\\\":3}\\""}},
                      {"id":"call_2","type":"function","function":{"name":"f",
                       "arguments":"{\\"id\\": 2512292042121000001, \\"a\\": 1.50}"}}]},
                     "finish_reason":"tool_calls"}]}
                    """)));
    ToolSpec tool = new ToolSpec("f", "Does.", Json.parse("{\"type\":\"object\"}"));
    ModelResponse first =
        adapter.model("m").generate(call(List.of(Message.user("Hi")), List.of(tool)));
    List<ToolCall> calls = first.message().toolCalls();
    assertEquals("{\"a\":3}", calls.getFirst().input().text());

    SERVER.resetAll();
    SERVER.stubFor(post("/v1/chat/completions").willReturn(okJson(HELLO)));
    adapter
        .model("m")
        .generate(
            call(
                List.of(
                    Message.user("Hi"),
                    first.message(),
                    Message.tool(
                        List.of(
                            ToolResult.success(calls.getFirst(), Json.parse("9223372036854775817")),
                            ToolResult.failure(calls.getLast(), "No.")))),
                List.of(tool)));
    SERVER.verify(
        postRequestedFor(urlEqualTo("/v1/chat/completions"))
            .withRequestBody(
                equalTo(
                    """
                    {"model":"m","messages":[{"role":"user","content":"Hi"},\
                    {"role":"assistant","content":null,"tool_calls":[\
                    {"id":"call_1","type":"function","function":{"name":"f",\
                    "arguments":"{\\"a\\":3}"}},\
                    {"id":"call_2","type":"function","function":{"name":"f",\
                    "arguments":"{\\"id\\":2512292042121000001,\\"a\\":1.50}"}}]},\
                    {"role":"tool","tool_call_id":"call_1","content":"9223372036854775817"},\
                    {"role":"tool","tool_call_id":"call_2",\
                    "content":"{\\"error\\":{\\"message\\":\\"No.\\"}}"}],\
                    "tools":[{"type":"function","function":{"name":"f","description":"Does.",\
                    "parameters":{"type":"object"}}}],"stream":false}\
                    """)));
  }

  // --- failures ----------------------------------------------------------------------------------

  @ParameterizedTest
  @CsvSource({
    "400, '{\"error\":{\"message\":\"m\",\"type\":\"invalid_request_error\",\"param\":\"x\","
        + "\"code\":null}}', HTTP_STATUS, invalid_request_error",
    "400, '{\"error\":{\"message\":\"m\",\"type\":\"invalid_request_error\",\"param\":null,"
        + "\"code\":\"context_length_exceeded\"}}', CONTEXT_LENGTH, context_length_exceeded",
    "401, '{\"error\":{\"message\":\"m\",\"type\":\"invalid_request_error\","
        + "\"code\":\"invalid_api_key\"}}', HTTP_STATUS, invalid_api_key",
    "429, '{\"error\":{\"message\":\"m\",\"type\":\"insufficient_quota\","
        + "\"code\":\"insufficient_quota\"}}', HTTP_STATUS, insufficient_quota",
    "429, '{\"error\":{\"message\":\"m\",\"type\":\"requests\","
        + "\"code\":\"rate_limit_exceeded\"}}', HTTP_STATUS, rate_limit_exceeded",
    "500, '{\"error\":{\"message\":\"m\",\"type\":\"server_error\"}}', HTTP_STATUS, server_error",
    "503, 'upstream gone', HTTP_STATUS, ",
    "400, '{\"object\":\"error\",\"message\":\"This model''s maximum context length is 10 tokens."
        + " However, your request has 20 input tokens.\",\"code\":400}', CONTEXT_LENGTH, 400"
  })
  @Tag("Y35")
  @Tag("Y38")
  @Tag("R103")
  void a_failed_status_is_classified_by_structure(int status, String body, Kind kind, String code) {
    SERVER.stubFor(
        post("/v1/chat/completions")
            .willReturn(
                aResponse()
                    .withStatus(status)
                    .withHeader("Content-Type", "application/json")
                    .withHeader("x-request-id", "req_1")
                    .withBody(body)));
    ProviderException failure = failure();
    assertEquals(kind, failure.kind());
    assertEquals(status, failure.status());
    assertEquals(code, failure.code().orElse(null));
    assertEquals("req_1", failure.requestId().orElseThrow());
    assertEquals("OpenAI request failed with status " + status + ".", failure.getMessage());
  }

  @Test
  @Tag("Y37")
  @Tag("FR-R05")
  void a_wait_is_measured_from_the_adapters_clock_and_not_judged() throws Exception {
    SERVER.stubFor(
        post("/v1/chat/completions")
            .willReturn(
                aResponse()
                    .withStatus(429)
                    .withHeader("Retry-After", "Thu, 22 Oct 2026 07:28:00 GMT")));
    try (HttpAdapter clocked =
        OpenAi.builder()
            .baseUrl(base())
            .clock(InstantSource.fixed(Instant.parse("2026-10-21T07:28:00Z")))
            .build()) {
      ProviderException failure =
          assertThrows(ProviderException.class, () -> clocked.model("m").generate(hi()));
      assertEquals(Duration.ofDays(1), failure.retryAfter().orElseThrow());
    }
  }

  @ParameterizedTest
  @CsvSource({
    "'{\"error\":{\"message\":\"quota exceeded\"}}', 0",
    "'{\"error\":\"overloaded\",\"choices\":[]}', 0",
    "'{\"error\":{\"code\":429},\"choices\":[{\"message\":{\"content\":\"x\"}}]}', 429",
    "'{\"code\":\"503\",\"message\":\"busy\"}', 503"
  })
  @Tag("Y36")
  @Tag("FR-X03")
  void an_error_in_a_200_is_never_an_empty_success(String body, int status) {
    SERVER.stubFor(post("/v1/chat/completions").willReturn(okJson(body)));
    ProviderException failure = failure();
    assertEquals(Kind.PROVIDER_EVENT, failure.kind());
    assertEquals(status, failure.status());
  }

  @Test
  @Tag("Y16")
  @Tag("FR-S23")
  @Tag("FR-X03")
  void an_event_stream_for_a_blocking_call_is_a_typed_error_that_names_the_type() {
    SERVER.stubFor(
        post("/v1/chat/completions")
            .willReturn(
                aResponse()
                    .withHeader("Content-Type", "text/event-stream; charset=utf-8")
                    .withBody(
                        "data: {\"error\":{\"message\":\"quota exceeded\"}}\n\ndata: [DONE]\n\n")));
    ProviderException failure = failure();
    assertEquals(Kind.PROTOCOL, failure.kind());
    assertTrue(failure.getMessage().contains("text/event-stream"), failure.getMessage());
  }

  @ParameterizedTest
  @EnumSource(Fault.class)
  @Tag("R91")
  @Tag("R103")
  void a_fault_of_the_connection_is_reported_and_the_request_not_repeated(Fault fault) {
    SERVER.stubFor(post("/v1/chat/completions").willReturn(aResponse().withFault(fault)));
    ProviderException failure = failure();
    // Random data is cut before its first line ends, so it may have become HTTP.
    assertEquals(Kind.READ, failure.kind(), fault + ": " + failure.getCause());
  }

  @Test
  @Tag("R91")
  void a_certificate_that_nobody_vouches_for_is_a_connect_failure() throws Exception {
    try (HttpAdapter tls =
        OpenAi.builder()
            .apiKey("k")
            .baseUrl(URI.create("https://localhost:" + SERVER.httpsPort() + "/v1"))
            .build()) {
      ProviderException failure =
          assertThrows(ProviderException.class, () -> tls.model("m").generate(hi()));
      assertEquals(Kind.CONNECT, failure.kind(), String.valueOf(failure.getCause()));
    }
  }

  @Test
  @Tag("Y20")
  @Tag("FR-C01")
  void an_interrupt_ends_a_call_as_interrupted_and_closes_the_connection() throws Exception {
    Close close = new Close();
    CountDownLatch arrived = new CountDownLatch(1);
    AtomicReference<Throwable> outcome = new AtomicReference<>();
    try (RawServer server =
            new RawServer(
                c -> {
                  arrived.countDown();
                  c.awaitClose(close);
                });
        HttpAdapter openAi = OpenAi.builder().baseUrl(server.uri()).build()) {
      Thread caller =
          Thread.ofVirtual()
              .start(
                  () ->
                      outcome.set(
                          assertThrows(
                              InterruptedException.class, () -> openAi.model("m").generate(hi()))));
      assertTrue(arrived.await(60, TimeUnit.SECONDS));
      caller.interrupt();
      close.await();
      assertTrue(caller.join(Duration.ofSeconds(10)));
      assertInstanceOf(InterruptedException.class, outcome.get());
    }
  }

  @Test
  void many_calls_at_once_share_one_adapter() throws Exception {
    SERVER.stubFor(post("/v1/chat/completions").willReturn(okJson(HELLO).withFixedDelay(20)));
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<ModelResponse>> calls =
          java.util.stream.IntStream.range(0, 100)
              .mapToObj(i -> threads.submit(() -> adapter.model("m" + i).generate(hi())))
              .toList();
      for (Future<ModelResponse> call : calls) {
        assertEquals("Hello.", call.get().message().text());
      }
    }
    SERVER.verify(100, postRequestedFor(urlEqualTo("/v1/chat/completions")));
  }

  // --- the builder -------------------------------------------------------------------------------

  @ParameterizedTest
  @ValueSource(strings = {"", " ", "sk-s3cr3t\n", "sk-s3cr3t\r\nEvil: 1", "sk s3cr3t", "sk-ß3cr3t"})
  void a_key_that_cannot_stand_in_a_header_is_refused_without_being_shown(String key) {
    InvalidRequestException refused =
        assertThrows(InvalidRequestException.class, () -> OpenAi.builder().apiKey(key));
    assertEquals(FailureKind.INVALID_CONFIGURATION, refused.kind());
    assertFalse(refused.getMessage().contains("3cr3t"), refused.getMessage());
  }

  @Test
  @Tag("R377")
  void the_endpoint_rule_holds_and_cleartext_can_be_allowed() {
    OpenAi.Builder builder = OpenAi.builder().baseUrl(URI.create("http://models.internal/v1"));
    assertThrows(InvalidRequestException.class, builder::build);
    try (HttpAdapter allowed = builder.allowCleartext().build()) {
      assertEquals("OpenAi[http://models.internal/v1]", allowed.toString());
    }
  }

  @Test
  void openai_itself_needs_a_key() {
    InvalidRequestException refused =
        assertThrows(InvalidRequestException.class, () -> OpenAi.builder().build());
    assertTrue(refused.getMessage().contains("apiKey("), refused.getMessage());
  }

  @Test
  @Tag("Y34")
  void the_environment_is_read_only_when_asked_and_explicit_values_win() throws Exception {
    SERVER.stubFor(post("/env/chat/completions").willReturn(okJson(HELLO)));
    SERVER.stubFor(post("/v1/chat/completions").willReturn(okJson(HELLO)));
    Map<String, String> environment =
        Map.of("OPENAI_API_KEY", "env-key", "OPENAI_BASE_URL", http() + "/env");
    OpenAi.Builder[] builders = {
      OpenAi.builder().fromEnvironment(environment::get),
      OpenAi.builder().apiKey("own").fromEnvironment(environment::get),
      OpenAi.builder().fromEnvironment(environment::get).apiKey("own").baseUrl(base()),
      OpenAi.builder().baseUrl(base()).fromEnvironment(environment::get),
    };
    for (OpenAi.Builder builder : builders) {
      try (HttpAdapter openAi = builder.build()) {
        openAi.model("m").generate(hi());
      }
    }
    for (String[] pathAndKey :
        new String[][] {{"/env", "env-key"}, {"/env", "own"}, {"/v1", "own"}, {"/v1", "env-key"}}) {
      SERVER.verify(
          1,
          postRequestedFor(urlEqualTo(pathAndKey[0] + "/chat/completions"))
              .withHeader("Authorization", equalTo("Bearer " + pathAndKey[1])));
    }
  }

  @Test
  @Tag("Y34")
  void blank_variables_count_as_not_set_and_bad_ones_are_named_without_being_shown() {
    Map<String, String> blank = Map.of("OPENAI_API_KEY", " ", "OPENAI_BASE_URL", "");
    InvalidRequestException noKey =
        assertThrows(
            InvalidRequestException.class,
            () -> OpenAi.builder().fromEnvironment(blank::get).build());
    assertTrue(noKey.getMessage().contains("needs an API key"), noKey.getMessage());
    for (Map<String, String> bad :
        List.of(
            Map.of("OPENAI_API_KEY", "s3cr3t\n"),
            Map.of("OPENAI_API_KEY", "k", "OPENAI_BASE_URL", "https://u:s3cr3t@h h"))) {
      InvalidRequestException refused =
          assertThrows(
              InvalidRequestException.class,
              () -> OpenAi.builder().fromEnvironment(bad::get).build());
      assertTrue(refused.getMessage().startsWith("OPENAI_"), refused.getMessage());
      assertFalse(refused.getMessage().contains("s3cr3t"), refused.getMessage());
    }
  }

  @Test
  @Tag("Y23")
  @Tag("Y26")
  void a_lent_client_is_used_not_closed_and_must_not_follow_redirects() throws Exception {
    SERVER.stubFor(post("/v1/chat/completions").willReturn(okJson(HELLO)));
    try (HttpClient lent = HttpClient.newHttpClient();
        HttpClient following =
            HttpClient.newBuilder().followRedirects(HttpClient.Redirect.NORMAL).build()) {
      HttpAdapter openAi = OpenAi.builder().baseUrl(base()).httpClient(lent).build();
      openAi.model("m").generate(hi());
      openAi.close();
      openAi.close();
      assertFalse(lent.isTerminated());
      ProviderException closed =
          assertThrows(ProviderException.class, () -> openAi.model("m").generate(hi()));
      assertEquals(Kind.OTHER, closed.kind());

      InvalidRequestException redirects =
          assertThrows(
              InvalidRequestException.class,
              () -> OpenAi.builder().baseUrl(base()).httpClient(following).build());
      assertTrue(redirects.getMessage().contains("NORMAL"), redirects.getMessage());
      InvalidRequestException timeout =
          assertThrows(
              InvalidRequestException.class,
              () ->
                  OpenAi.builder()
                      .baseUrl(base())
                      .httpClient(lent)
                      .connectTimeout(Duration.ofSeconds(1))
                      .build());
      assertTrue(timeout.getMessage().contains("connectTimeout"), timeout.getMessage());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"PT0S", "PT-1S"})
  @Tag("Y23")
  void a_connect_timeout_is_positive(Duration timeout) {
    assertThrows(InvalidRequestException.class, () -> OpenAi.builder().connectTimeout(timeout));
  }

  @Test
  void nothing_shows_the_key_and_models_can_use_tools() {
    OpenAi.Builder builder = OpenAi.builder().apiKey("sk-s3cr3t").baseUrl(base());
    try (HttpAdapter openAi = builder.build()) {
      for (Object shown : List.of(builder, openAi, openAi.model("gpt-x"))) {
        assertFalse(shown.toString().contains("s3cr3t"), shown.toString());
      }
      assertTrue(openAi.model("gpt-x").toString().contains("gpt-x"));
      assertEquals(
          ModelCapabilities.TEXT_AND_TOOLS.with(ToolHistory.JSON),
          openAi.model("gpt-x").capabilities());
    }
  }
}
