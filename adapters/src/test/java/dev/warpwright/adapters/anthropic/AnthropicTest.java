package dev.warpwright.adapters.anthropic;

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
import com.github.tomakehurst.wiremock.http.Fault;
import dev.warpwright.adapters.HttpAdapter;
import dev.warpwright.adapters.http.RawServer;
import dev.warpwright.adapters.http.RawServer.Close;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelCapabilities;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.ProviderException.Kind;
import dev.warpwright.model.ToolChoice;
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
import java.util.concurrent.TimeUnit;
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
final class AnthropicTest {
  private static final WireMockServer SERVER = new WireMockServer(wireMockConfig().dynamicPort());
  private static final String HELLO =
      """
      {"type":"message","content":[{"type":"text","text":"Hello."}],"stop_reason":"end_turn",
       "usage":{"input_tokens":9,"output_tokens":2}}
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
    adapter = builder().apiKey("sk-ant-test").build();
  }

  @AfterEach
  void close() {
    adapter.close();
  }

  private static String http() {
    return "http://localhost:" + SERVER.port();
  }

  private static Anthropic.Builder builder() {
    return Anthropic.builder().baseUrl(URI.create(http() + "/v1/"));
  }

  private static ModelCall hi() {
    return call(List.of(Message.user("Hi")));
  }

  private static ModelCall call(List<Message> messages) {
    return ModelCall.builder(messages)
        .tools(List.of(new ToolSpec("f", "Does.", Json.parse("{\"type\":\"object\"}"))))
        .build();
  }

  private ProviderException failure() {
    ProviderException failure =
        assertThrows(ProviderException.class, () -> adapter.model("claude-x").generate(hi()));
    SERVER.verify(1, postRequestedFor(urlEqualTo("/v1/messages")));
    return failure;
  }

  private static void answer(String body) {
    SERVER.stubFor(post("/v1/messages").willReturn(okJson(body).withHeader("request-id", "req_9")));
  }

  // --- calls
  // --------------------------------------------------------------------------------------

  @Test
  @Tag("Y33")
  void a_call_is_one_post_of_json_with_the_key_in_a_header_only() throws Exception {
    answer(HELLO);
    ModelResponse response = adapter.model("claude-x").generate(hi());
    assertEquals("Hello.", response.message().text());
    assertEquals("req_9", response.requestId().orElseThrow());
    assertEquals(11, response.usage().total().tokens());
    SERVER.verify(
        1,
        postRequestedFor(urlEqualTo("/v1/messages"))
            .withHeader("Content-Type", equalTo("application/json"))
            .withHeader("x-api-key", equalTo("sk-ant-test"))
            .withHeader("Authorization", absent())
            .withHeader("anthropic-version", equalTo("2023-06-01"))
            .withHeader("anthropic-beta", absent())
            .withRequestBody(
                equalTo(
                    "{\"model\":\"claude-x\",\"max_tokens\":1024,"
                        + "\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}],"
                        + "\"tools\":[{\"name\":\"f\",\"description\":\"Does.\","
                        + "\"input_schema\":{\"type\":\"object\"}}],\"stream\":false}")));
  }

  @Test
  void version_and_betas_travel_in_headers_and_no_key_sends_none() throws Exception {
    answer(HELLO);
    try (HttpAdapter keyless =
        builder().version("2026-01-01").beta("a-1", "b-2").beta("a-1").build()) {
      keyless.model("m").generate(hi());
    }
    SERVER.verify(
        postRequestedFor(urlEqualTo("/v1/messages"))
            .withHeader("x-api-key", absent())
            .withHeader("anthropic-version", equalTo("2026-01-01"))
            .withHeader("anthropic-beta", equalTo("a-1,b-2")));
  }

  @Test
  @Tag("FR-A07")
  @Tag("Y47")
  @Tag("Y28")
  void a_tool_round_with_thinking_goes_out_byte_for_byte_as_it_came_in() throws Exception {
    String content =
        """
        [{"type":"thinking","thinking":"Hm.\\n\\"ä\\"","signature":"EqQBCg+/=="},\
        {"type":"redacted_thinking","data":"EmwK+/="},{"type":"text","text":"Look."},\
        {"type":"tool_use","id":"toolu_1","name":"f","input":{"id":2512292042121000001,"a":1.50}}]\
        """;
    answer("{\"content\":" + content + ",\"stop_reason\":\"tool_use\"}");
    try (HttpAdapter thinker = builder().thinkingBudget(1_024).build()) {
      ModelResponse first = thinker.model("m").generate(hi());
      SERVER.resetAll();
      answer(HELLO);
      thinker
          .model("m")
          .generate(
              call(
                  List.of(
                      Message.user("Hi"),
                      first.message(),
                      Message.tool(
                          List.of(
                              ToolResult.failure(
                                  first.message().toolCalls().getFirst(), "No."))))));
      SERVER.verify(
          postRequestedFor(urlEqualTo("/v1/messages"))
              .withRequestBody(
                  equalTo(
                      """
                      {"model":"m","max_tokens":2048,"messages":[{"role":"user","content":"Hi"},\
                      {"role":"assistant","content":%s},{"role":"user","content":[\
                      {"type":"tool_result","tool_use_id":"toolu_1","content":"No.",\
                      "is_error":true}]}],"tools":[{"name":"f","description":"Does.",\
                      "input_schema":{"type":"object"}}],\
                      "thinking":{"type":"enabled","budget_tokens":1024},"stream":false}\
                      """
                          .formatted(content))));
    }
  }

  // --- failures
  // -----------------------------------------------------------------------------------

  private static String error(String type, String message) {
    return """
    {"type":"error","error":{"type":"%s","message":"%s"},"request_id":"req_1"}
    """
        .formatted(type, message);
  }

  @ParameterizedTest
  @CsvSource({
    "400, invalid_request_error, 'max_tokens: Field required', HTTP_STATUS",
    "400, invalid_request_error, 'prompt is too long: 200001 tokens > 200000 maximum',"
        + " CONTEXT_LENGTH",
    "400, invalid_request_error, 'input length and `max_tokens` exceed context limit: 199000 +"
        + " 8000 > 200000, decrease input length or `max_tokens` and try again', HTTP_STATUS",
    "400, invalid_request_error, 'prompt is too long', HTTP_STATUS",
    "401, authentication_error, m, HTTP_STATUS",
    "402, billing_error, m, HTTP_STATUS",
    "403, permission_error, m, HTTP_STATUS",
    "404, not_found_error, m, HTTP_STATUS",
    "413, request_too_large, m, CONTEXT_LENGTH",
    "429, rate_limit_error, 'INSUFFICIENT QUOTA', HTTP_STATUS",
    "500, api_error, m, HTTP_STATUS",
    "504, timeout_error, m, HTTP_STATUS",
    "529, overloaded_error, Overloaded, HTTP_STATUS"
  })
  @Tag("Y35")
  @Tag("Y38")
  @Tag("FR-R09")
  @Tag("FR-R11")
  @Tag("FR-A03")
  void a_failed_status_is_classified_by_structure(
      int status, String type, String message, Kind kind) {
    SERVER.stubFor(
        post("/v1/messages")
            .willReturn(
                aResponse()
                    .withStatus(status)
                    .withHeader("Content-Type", "application/json")
                    .withHeader("request-id", "req_1")
                    .withBody(error(type, message))));
    ProviderException failure = failure();
    assertEquals(kind, failure.kind());
    assertEquals(status, failure.status());
    assertEquals(type, failure.code().orElseThrow());
    assertEquals("req_1", failure.requestId().orElseThrow());
    assertEquals(message, failure.providerMessage().orElseThrow());
    assertEquals("Anthropic request failed with status " + status + ".", failure.getMessage());
    assertTrue(failure.retryAfter().isEmpty());
  }

  @ParameterizedTest
  @CsvSource({
    "overloaded_error, 529, PROVIDER_EVENT",
    "rate_limit_error, 429, PROVIDER_EVENT",
    "billing_error, 402, PROVIDER_EVENT",
    "timeout_error, 408, PROVIDER_EVENT",
    "api_error, 500, PROVIDER_EVENT",
    "request_too_large, 0, CONTEXT_LENGTH",
    "invalid_request_error, 400, PROVIDER_EVENT",
    "authentication_error, 401, PROVIDER_EVENT",
    "permission_error, 403, PROVIDER_EVENT",
    "not_found_error, 404, PROVIDER_EVENT",
    "brand_new_error, 0, PROVIDER_EVENT"
  })
  @Tag("Y36")
  @Tag("FR-X01")
  void an_error_in_a_200_counts_as_the_status_that_its_type_stands_for(
      String type, int status, Kind kind) {
    answer(error(type, "m"));
    ProviderException failure = failure();
    assertEquals(kind, failure.kind());
    assertEquals(status, failure.status());
    assertEquals(type, failure.code().orElseThrow());
  }

  @Test
  @Tag("Y37")
  @Tag("FR-R01")
  @Tag("FR-R03")
  @Tag("FR-R07")
  void waits_are_read_in_every_form() throws Exception {
    String[][] headers = {
      {"retry-after", "Thu, 22 Oct 2026 07:28:00 GMT", "PT24H"},
      {"retry-after", "1.5", "PT1.5S"},
      {"retry-after-ms", "250", "PT0.25S"},
      {"retry-after", "Tue, 20 Oct 2026 07:28:00 GMT", "PT0S"}
    };
    for (String[] header : headers) {
      SERVER.resetAll();
      SERVER.stubFor(
          post("/v1/messages")
              .willReturn(aResponse().withStatus(529).withHeader(header[0], header[1])));
      assertEquals(Duration.parse(header[2]), clockedFailure().retryAfter().orElseThrow());
    }
    SERVER.resetAll();
    SERVER.stubFor(
        post("/v1/messages")
            .willReturn(
                aResponse()
                    .withStatus(429)
                    .withHeader("anthropic-ratelimit-requests-remaining", "0")
                    .withHeader("anthropic-ratelimit-requests-reset", "2026-10-21T07:28:07Z")));
    assertEquals(Duration.ofSeconds(7), clockedFailure().retryAfter().orElseThrow());
  }

  private static ProviderException clockedFailure() throws Exception {
    try (HttpAdapter clocked =
        builder().clock(InstantSource.fixed(Instant.parse("2026-10-21T07:28:00Z"))).build()) {
      return assertThrows(ProviderException.class, () -> clocked.model("m").generate(hi()));
    }
  }

  @Test
  @Tag("Y16")
  @Tag("FR-S23")
  void an_event_stream_for_a_blocking_call_is_a_typed_error_that_names_the_type() {
    SERVER.stubFor(
        post("/v1/messages")
            .willReturn(
                aResponse()
                    .withHeader("Content-Type", "text/event-stream; charset=utf-8")
                    .withBody("event: message_start\ndata: {}\n\n")));
    ProviderException failure = failure();
    assertEquals(Kind.PROTOCOL, failure.kind());
    assertTrue(failure.getMessage().contains("text/event-stream"), failure.getMessage());
  }

  @ParameterizedTest
  @EnumSource(
      value = Fault.class,
      names = {"EMPTY_RESPONSE", "CONNECTION_RESET_BY_PEER"})
  @Tag("R103")
  void a_fault_of_the_connection_is_reported_and_the_request_not_repeated(Fault fault) {
    SERVER.stubFor(post("/v1/messages").willReturn(aResponse().withFault(fault)));
    assertEquals(Kind.READ, failure().kind());
  }

  @Test
  void what_cannot_be_sent_is_refused_without_a_request() throws Exception {
    ModelCall named =
        ModelCall.builder(List.of(Message.user("Hi"))).toolChoice(ToolChoice.REQUIRED).build();
    ProviderException refused =
        assertThrows(ProviderException.class, () -> adapter.model("m").generate(named));
    assertEquals(Kind.UNSUPPORTED, refused.kind());
    SERVER.verify(0, postRequestedFor(urlEqualTo("/v1/messages")));
  }

  @Test
  @Tag("Y20")
  @Tag("FR-C01")
  void an_interrupt_ends_a_call_as_interrupted_and_closes_the_connection() throws Exception {
    Close close = new Close();
    CountDownLatch arrived = new CountDownLatch(1);
    try (RawServer server =
            new RawServer(
                c -> {
                  arrived.countDown();
                  c.awaitClose(close);
                });
        HttpAdapter claude = Anthropic.builder().baseUrl(server.uri()).build()) {
      CountDownLatch interrupted = new CountDownLatch(1);
      Thread caller =
          Thread.ofVirtual()
              .start(
                  () -> {
                    assertThrows(
                        InterruptedException.class, () -> claude.model("m").generate(hi()));
                    interrupted.countDown();
                  });
      assertTrue(arrived.await(60, TimeUnit.SECONDS));
      caller.interrupt();
      close.await();
      assertTrue(interrupted.await(60, TimeUnit.SECONDS));
    }
  }

  // --- the builder
  // --------------------------------------------------------------------------------

  @ParameterizedTest
  @ValueSource(strings = {"", " ", "sk-s3cr3t\n", "sk s3cr3t", "sk-ß3cr3t"})
  void what_cannot_stand_in_a_header_is_refused_without_being_shown(String value) {
    for (Runnable setter :
        List.<Runnable>of(
            () -> Anthropic.builder().apiKey(value),
            () -> Anthropic.builder().version(value),
            () -> Anthropic.builder().beta("a", value))) {
      InvalidRequestException refused = assertThrows(InvalidRequestException.class, setter::run);
      assertEquals(FailureKind.INVALID_CONFIGURATION, refused.kind());
      assertFalse(refused.getMessage().contains("3cr3t"), refused.getMessage());
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1_023, 0, -1, Integer.MAX_VALUE})
  void a_budget_out_of_its_bounds_is_refused(int tokens) {
    InvalidRequestException refused =
        assertThrows(
            InvalidRequestException.class, () -> Anthropic.builder().thinkingBudget(tokens));
    assertTrue(refused.getMessage().contains("1024"), refused.getMessage());
  }

  @Test
  @Tag("Y34")
  void anthropic_itself_needs_a_key_and_the_message_says_how() {
    InvalidRequestException refused =
        assertThrows(
            InvalidRequestException.class,
            () -> Anthropic.builder().fromEnvironment(name -> null).build());
    assertTrue(refused.getMessage().contains("ANTHROPIC_API_KEY"), refused.getMessage());
    try (HttpAdapter claude = Anthropic.builder().apiKey("k").build()) {
      assertEquals("Anthropic[https://api.anthropic.com/v1]", claude.toString());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"/env", "/env/", "/env/v1", "/env/v1/"})
  @Tag("Y34")
  void the_environments_url_is_that_of_anthropics_own_programs(String path) throws Exception {
    SERVER.stubFor(post("/env/v1/messages").willReturn(okJson(HELLO)));
    Map<String, String> environment =
        Map.of("ANTHROPIC_API_KEY", "env-key", "ANTHROPIC_BASE_URL", http() + path);
    try (HttpAdapter claude = Anthropic.builder().fromEnvironment(environment::get).build()) {
      claude.model("m").generate(hi());
    }
    SERVER.verify(
        1,
        postRequestedFor(urlEqualTo("/env/v1/messages"))
            .withHeader("x-api-key", equalTo("env-key")));
  }

  @Test
  @Tag("Y34")
  void what_the_program_sets_wins_over_the_environment() throws Exception {
    answer(HELLO);
    Map<String, String> environment =
        Map.of("ANTHROPIC_API_KEY", "env-key", "ANTHROPIC_BASE_URL", "https://127.0.0.1:9/x");
    try (HttpAdapter claude = builder().apiKey("own").fromEnvironment(environment::get).build()) {
      claude.model("m").generate(hi());
    }
    SERVER.verify(
        1, postRequestedFor(urlEqualTo("/v1/messages")).withHeader("x-api-key", equalTo("own")));
  }

  @Test
  @Tag("R377")
  void the_endpoint_rule_holds_and_cleartext_can_be_allowed() {
    Anthropic.Builder builder =
        Anthropic.builder().baseUrl(URI.create("http://models.internal/v1"));
    assertThrows(InvalidRequestException.class, builder::build);
    try (HttpAdapter allowed = builder.allowCleartext().build()) {
      assertEquals("Anthropic[http://models.internal/v1]", allowed.toString());
    }
  }

  @Test
  @Tag("Y23")
  @Tag("Y26")
  void a_lent_client_is_used_and_not_closed_and_has_its_own_connect_timeout() throws Exception {
    answer(HELLO);
    try (HttpClient lent = HttpClient.newHttpClient()) {
      HttpAdapter claude = builder().httpClient(lent).build();
      claude.model("m").generate(hi());
      claude.close();
      assertFalse(lent.isTerminated());
      assertEquals(
          Kind.OTHER,
          assertThrows(ProviderException.class, () -> claude.model("m").generate(hi())).kind());
      Anthropic.Builder both = builder().httpClient(lent).connectTimeout(Duration.ofSeconds(1));
      assertThrows(InvalidRequestException.class, both::build);
    }
  }

  @Test
  void nothing_shows_the_key_and_models_can_use_tools() {
    Anthropic.Builder builder = builder().apiKey("sk-ant-s3cr3t");
    try (HttpAdapter claude = builder.build()) {
      for (Object shown : List.of(builder, claude, claude.model("claude-x"))) {
        assertFalse(shown.toString().contains("s3cr3t"), shown.toString());
      }
      assertTrue(claude.model("claude-x").toString().contains("claude-x"));
      assertEquals(
          ModelCapabilities.TEXT_AND_TOOLS.with(ToolHistory.NATIVE),
          claude.model("claude-x").capabilities());
    }
  }
}
