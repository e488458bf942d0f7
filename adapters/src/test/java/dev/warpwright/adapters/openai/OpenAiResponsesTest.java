package dev.warpwright.adapters.openai;

import static com.github.tomakehurst.wiremock.client.WireMock.aResponse;
import static com.github.tomakehurst.wiremock.client.WireMock.absent;
import static com.github.tomakehurst.wiremock.client.WireMock.equalTo;
import static com.github.tomakehurst.wiremock.client.WireMock.matchingJsonPath;
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
import dev.warpwright.model.Capability;
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
import java.net.URI;
import java.net.http.HttpClient;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
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
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The adapter as a whole, against a server that somebody else wrote. */
@Timeout(60)
final class OpenAiResponsesTest {
  private static final WireMockServer SERVER = new WireMockServer(wireMockConfig().dynamicPort());
  private static final String PATH = "/v1/responses";
  private static final String HELLO =
      """
      {"status":"completed","output":[{"type":"message","role":"assistant","content":[
         {"type":"output_text","text":"Hello."}]}],
       "usage":{"input_tokens":9,"output_tokens":2,"total_tokens":11}}
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
    adapter = builder().apiKey("sk-test").build();
  }

  @AfterEach
  void close() {
    assertEquals(0, adapter.openExchanges());
    adapter.close();
  }

  private static OpenAi.Builder builder() {
    return OpenAi.builder()
        .api(Api.RESPONSES)
        .baseUrl(URI.create("http://localhost:" + SERVER.port() + "/v1/"))
        .clock(InstantSource.fixed(Instant.parse("2025-03-06T23:59:30Z")));
  }

  private static ModelCall hi() {
    return ModelCall.builder(List.of(Message.user("Hi"))).build();
  }

  private ProviderException failure() {
    ProviderException failure =
        assertThrows(ProviderException.class, () -> adapter.model("gpt-x").generate(hi()));
    SERVER.verify(1, postRequestedFor(urlEqualTo(PATH)));
    return failure;
  }

  private static void answers(String body) {
    SERVER.stubFor(post(PATH).willReturn(okJson(body).withHeader("x-request-id", "req_9")));
  }

  @Test
  @Tag("Y33")
  void a_call_is_one_post_of_json_with_the_key_in_a_header_only() throws Exception {
    answers(HELLO);
    ModelResponse response = adapter.model("gpt-x").generate(hi());
    assertEquals("Hello.", response.message().text());
    assertEquals(FinishReason.Kind.STOP, response.finishReason().kind());
    assertEquals("req_9", response.requestId().orElseThrow());
    assertEquals(11, response.usage().total().tokens());
    SERVER.verify(
        1,
        postRequestedFor(urlEqualTo(PATH))
            .withHeader("Content-Type", equalTo("application/json"))
            .withHeader("Authorization", equalTo("Bearer sk-test"))
            .withHeader("OpenAI-Organization", absent())
            .withHeader("OpenAI-Project", absent())
            .withRequestBody(
                equalTo(
                    "{\"model\":\"gpt-x\",\"input\":[{\"role\":\"user\",\"content\":[{\"type\":"
                        + "\"input_text\",\"text\":\"Hi\"}]}],\"store\":false,\"stream\":false}")));
  }

  @Test
  void organization_and_project_travel_in_headers_and_no_key_sends_no_authorization()
      throws Exception {
    answers(HELLO);
    try (HttpAdapter keyless =
        builder()
            .header("OpenAI-Organization", "org-1")
            .header("OpenAI-Project", "proj 1")
            .build()) {
      keyless.model("m").generate(hi());
    }
    SERVER.verify(
        postRequestedFor(urlEqualTo(PATH))
            .withHeader("Authorization", absent())
            .withHeader("OpenAI-Organization", equalTo("org-1"))
            .withHeader("OpenAI-Project", equalTo("proj 1")));
  }

  @Test
  @Tag("R69")
  void a_model_that_is_declared_to_reason_is_asked_for_its_reasoning_and_another_is_not()
      throws Exception {
    answers(HELLO);
    try (HttpAdapter declared =
        builder()
            .capabilities(
                id ->
                    id.equals("thinker")
                        ? ModelCapabilities.TEXT_AND_TOOLS.with(Capability.REASONING)
                        : ModelCapabilities.TEXT_AND_TOOLS)
            .build()) {
      declared.model("thinker").generate(hi());
      declared.model("talker").generate(hi());
    }
    SERVER.verify(
        postRequestedFor(urlEqualTo(PATH))
            .withRequestBody(matchingJsonPath("$.model", equalTo("thinker")))
            .withRequestBody(
                matchingJsonPath("$.include[0]", equalTo("reasoning.encrypted_content"))));
    SERVER.verify(
        postRequestedFor(urlEqualTo(PATH))
            .withRequestBody(matchingJsonPath("$.model", equalTo("talker")))
            .withRequestBody(matchingJsonPath("$.include", absent())));
  }

  @Test
  @Tag("FR-Q01")
  @Tag("Y28")
  @Tag("Y31")
  @Tag("Y47")
  @Tag("FR-N03")
  void a_tool_round_goes_out_as_it_came_in() throws Exception {
    String thought =
        "{\"id\":\"rs_1\",\"type\":\"reasoning\",\"summary\":[],\"encrypted_content\":\"gAA/+==\"}";
    answers(
        """
        {"status":"completed","output":[%s,
          {"type":"function_call","id":"fc_1","call_id":"call_1","name":"f",
           "arguments":"\\"{\\\\\\"a\\\\\\":3}\\""},
          {"type":"function_call","id":"fc_2","call_id":"call_2","name":"f",
           "arguments":"{\\"id\\": 2512292042121000001, \\"a\\": 1.50}"},
          {"type":"message","content":[{"type":"output_text","text":"Wait."}]}]}
        """
            .formatted(thought));
    ModelResponse first = adapter.model("m").generate(hi());
    List<ToolCall> calls = first.message().toolCalls();
    SERVER.resetAll();
    answers(HELLO);
    List<ToolResult> results =
        List.of(
            ToolResult.success(calls.getFirst(), Json.parse("9223372036854775817")),
            ToolResult.failure(calls.getLast(), "No."));
    adapter
        .model("m")
        .generate(
            ModelCall.builder(List.of(Message.user("Hi"), first.message(), Message.tool(results)))
                .build());
    SERVER.verify(
        postRequestedFor(urlEqualTo(PATH))
            .withRequestBody(
                equalTo(
                    """
                    {"model":"m","input":[\
                    {"role":"user","content":[{"type":"input_text","text":"Hi"}]},%s,\
                    {"type":"function_call","call_id":"call_1","name":"f",\
                    "arguments":"{\\"a\\":3}"},\
                    {"type":"function_call","call_id":"call_2","name":"f",\
                    "arguments":"{\\"id\\":2512292042121000001,\\"a\\":1.50}"},\
                    {"role":"assistant","content":[{"type":"output_text","text":"Wait."}]},\
                    {"type":"function_call_output","call_id":"call_1",\
                    "output":"9223372036854775817"},\
                    {"type":"function_call_output","call_id":"call_2",\
                    "output":"{\\"error\\":{\\"message\\":\\"No.\\"}}"}],\
                    "store":false,"stream":false}\
                    """
                        .formatted(thought))));
  }

  // --- failures
  // ------------------------------------------------------------------------------------

  @ParameterizedTest
  @CsvSource({
    "400, invalid_request_error, , HTTP_STATUS, invalid_request_error",
    "400, invalid_request_error, context_length_exceeded, CONTEXT_LENGTH, context_length_exceeded",
    "401, invalid_request_error, invalid_api_key, HTTP_STATUS, invalid_api_key",
    "429, insufficient_quota, insufficient_quota, HTTP_STATUS, insufficient_quota",
    "429, requests, rate_limit_exceeded, HTTP_STATUS, rate_limit_exceeded",
    "500, server_error, , HTTP_STATUS, server_error"
  })
  @Tag("Y35")
  @Tag("R85")
  @Tag("R89")
  void a_failed_status_is_classified_by_structure(
      int status, String type, String code, Kind kind, String expected) {
    SERVER.stubFor(
        post(PATH)
            .willReturn(
                aResponse()
                    .withStatus(status)
                    .withHeader("Content-Type", "application/json")
                    .withHeader("x-request-id", "req_1")
                    .withBody(
                        "{\"error\":{\"message\":\"m\",\"type\":\"%s\",\"param\":null,\"code\":%s}}"
                            .formatted(type, code == null ? null : "\"" + code + "\""))));
    ProviderException failure = failure();
    assertEquals(kind, failure.kind());
    assertEquals(status, failure.status());
    assertEquals(expected, failure.code().orElse(null));
    assertEquals("req_1", failure.requestId().orElseThrow());
    assertEquals("m", failure.providerMessage().orElseThrow());
    assertEquals("OpenAI request failed with status " + status + ".", failure.getMessage());
  }

  @ParameterizedTest
  @CsvSource({
    "server_error, 500",
    "rate_limit_exceeded, 429",
    "server_is_overloaded, 503",
    "insufficient_quota, 402",
    "invalid_prompt, 0",
  })
  @Tag("Y36")
  @Tag("R90")
  @Tag("FR-X07")
  void an_answer_that_failed_keeps_the_providers_code(String code, int status) {
    answers(
        """
        {"id":"resp_1","status":"failed","error":{"code":"%s","message":"m"},
         "output":[{"type":"message","content":[{"type":"output_text","text":"Half"}]}]}
        """
            .formatted(code));
    ProviderException failure = failure();
    assertEquals(Kind.PROVIDER_EVENT, failure.kind());
    assertEquals(status, failure.status());
    assertEquals(code, failure.code().orElseThrow());
    assertEquals("req_9", failure.requestId().orElseThrow());
  }

  @Test
  @Tag("FR-X05")
  @Tag("Y37")
  @Tag("R99")
  void a_rate_limit_in_a_200_body_has_its_reset_time() {
    answers(
        """
        {"error":{"code":429,"message":"Rate limit exceeded",
         "metadata":{"headers":{"X-RateLimit-Reset":"1741305600000"}}}}
        """);
    ProviderException failure = failure();
    assertEquals(429, failure.status());
    assertEquals(Duration.ofSeconds(30), failure.retryAfter().orElseThrow());
  }

  @Test
  @Tag("FR-X09")
  @Tag("Y38")
  void a_context_overflow_under_a_server_error_is_one() {
    answers(
        """
        {"status":"failed","output":[],"error":{"code":"server_error",
         "message":"Your input exceeds the context window of this model"}}
        """);
    assertEquals(Kind.CONTEXT_LENGTH, failure().kind());
  }

  @Test
  @Tag("R97")
  void what_a_hosted_tool_may_have_done_is_not_done_again() {
    answers(
        """
        {"status":"failed","error":{"code":"server_error","message":"m"},
         "output":[{"type":"mcp_call","id":"mcp_1","name":"pay","arguments":"{}","error":null}]}
        """);
    ProviderException failure = failure();
    assertEquals(Kind.TOOL_CALL, failure.kind());
    assertTrue(failure.mayHaveActed());
    assertEquals(500, failure.status());
    assertEquals("m", failure.providerMessage().orElseThrow());
    assertEquals("req_9", failure.requestId().orElseThrow());
  }

  @ParameterizedTest
  @CsvSource({
    "mcp, 500, TOOL_CALL",
    "mcp, 408, TOOL_CALL",
    "mcp, 429, HTTP_STATUS",
    "mcp, 400, HTTP_STATUS",
    "code_interpreter, 503, TOOL_CALL",
    "brand_new, 500, TOOL_CALL",
    "web_search, 500, HTTP_STATUS",
    "web_search_preview, 500, HTTP_STATUS",
    "file_search, 500, HTTP_STATUS",
    "function, 500, HTTP_STATUS"
  })
  @Tag("R97")
  void a_failed_status_leaves_open_what_an_offered_tool_has_done(
      String type, int status, Kind kind) {
    SERVER.stubFor(post(PATH).willReturn(aResponse().withStatus(status)));
    ProviderException failure = failureWith(type);
    assertEquals(kind, failure.kind());
    assertEquals(status, failure.status());
    assertEquals(kind == Kind.TOOL_CALL, failure.mayHaveActed());
  }

  @ParameterizedTest
  @CsvSource({"mcp, true", "brand_new, true", "web_search, false", "function, false"})
  @Tag("R97")
  void a_model_says_of_a_call_whether_its_provider_may_act(String type, boolean acts) {
    ModelCall call =
        ModelCall.builder(List.of(Message.user("Hi")))
            .providerOptions(Json.parse("{\"tools\":[{\"type\":\"" + type + "\"}]}"))
            .build();
    try (HttpAdapter adapter = OpenAi.builder().api(Api.RESPONSES).apiKey("key").build()) {
      assertEquals(acts, adapter.model("m").mayAct(call));
      assertFalse(adapter.model("m").mayAct(ModelCall.builder(call.messages()).build()));
    }
  }

  @Test
  @Tag("R97")
  void an_answer_that_did_not_come_or_cannot_be_read_leaves_it_open_too() {
    SERVER.stubFor(post(PATH).willReturn(aResponse().withFault(Fault.CONNECTION_RESET_BY_PEER)));
    assertTrue(failureWith("mcp").mayHaveActed());
    answers("{\"status\":\"completed\"}");
    assertTrue(failureWith("mcp").mayHaveActed());
    answers("{\"error\":{\"code\":\"server_error\"}}");
    assertTrue(failureWith("mcp").mayHaveActed());
  }

  @Test
  @Tag("R97")
  void what_was_refused_or_whose_items_show_no_call_has_done_nothing() {
    for (String body :
        List.of(
            "{\"error\":{\"code\":\"rate_limit_exceeded\"}}",
            "{\"status\":\"failed\",\"error\":{\"code\":\"server_error\"},\"output\":[]}",
            "{\"error\":{\"code\":\"context_length_exceeded\"}}")) {
      answers(body);
      ProviderException failure = failureWith("mcp");
      assertFalse(failure.mayHaveActed(), body);
      assertFalse(failure.kind() == Kind.TOOL_CALL, body);
    }
  }

  private ProviderException failureWith(String hostedTool) {
    ModelCall call =
        ModelCall.builder(List.of(Message.user("Hi")))
            .providerOptions(Json.parse("{\"tools\":[{\"type\":\"" + hostedTool + "\"}]}"))
            .build();
    return assertThrows(ProviderException.class, () -> adapter.model("gpt-x").generate(call));
  }

  @ParameterizedTest
  @CsvSource({"Retry-After, 1.5, 1500", "retry-after-ms, 250, 250", "Retry-After, 86400, 86400000"})
  @Tag("FR-R03")
  @Tag("FR-R05")
  @Tag("R99")
  void a_wait_is_reported_and_not_judged(String header, String value, long millis) {
    SERVER.stubFor(post(PATH).willReturn(aResponse().withStatus(429).withHeader(header, value)));
    assertEquals(Duration.ofMillis(millis), failure().retryAfter().orElseThrow());
  }

  @Test
  @Tag("Y16")
  void an_event_stream_for_a_blocking_call_is_a_typed_error_that_names_the_type() {
    SERVER.stubFor(
        post(PATH)
            .willReturn(
                aResponse()
                    .withHeader("Content-Type", "text/event-stream")
                    .withBody("event: error\ndata: {\"type\":\"error\"}\n\n")));
    ProviderException failure = failure();
    assertEquals(Kind.PROTOCOL, failure.kind());
    assertTrue(failure.getMessage().contains("text/event-stream"), failure.getMessage());
  }

  @ParameterizedTest
  @EnumSource(Fault.class)
  @Tag("R91")
  void a_fault_of_the_connection_is_reported_and_the_request_not_repeated(Fault fault) {
    SERVER.stubFor(post(PATH).willReturn(aResponse().withFault(fault)));
    assertEquals(Kind.READ, failure().kind());
  }

  // --- the builder
  // ---------------------------------------------------------------------------------

  @ParameterizedTest
  @ValueSource(strings = {"", " ", "sk-s3cr3t\n", "sk s3cr3t", "sk-ß3cr3t"})
  void a_key_that_cannot_stand_in_a_header_is_refused_without_being_shown(String key) {
    InvalidRequestException refused =
        assertThrows(
            InvalidRequestException.class, () -> OpenAi.builder().api(Api.RESPONSES).apiKey(key));
    assertFalse(refused.getMessage().contains("3cr3t"), refused.getMessage());
  }

  @Test
  @Tag("R377")
  void the_endpoint_rule_holds_and_cleartext_can_be_allowed() {
    OpenAi.Builder builder =
        OpenAi.builder().api(Api.RESPONSES).baseUrl(URI.create("http://models.internal/v1"));
    assertThrows(InvalidRequestException.class, builder::build);
    try (HttpAdapter allowed = builder.allowCleartext().build()) {
      assertEquals("OpenAi[http://models.internal/v1]", allowed.toString());
    }
  }

  @Test
  @Tag("Y34")
  void the_environment_is_read_only_when_asked_and_explicit_values_win() throws Exception {
    answers(HELLO);
    assertThrows(InvalidRequestException.class, () -> OpenAi.builder().api(Api.RESPONSES).build());
    Map<String, String> environment =
        Map.of("OPENAI_API_KEY", "env-key", "OPENAI_BASE_URL", "http://localhost:1/v1");
    try (HttpAdapter openAi = builder().fromEnvironment(environment::get).build()) {
      openAi.model("m").generate(hi());
    }
    SERVER.verify(
        postRequestedFor(urlEqualTo(PATH)).withHeader("Authorization", equalTo("Bearer env-key")));
  }

  @Test
  @Tag("Y26")
  void a_lent_client_is_used_and_not_closed() throws Exception {
    answers(HELLO);
    try (HttpClient lent = HttpClient.newHttpClient()) {
      HttpAdapter openAi = builder().httpClient(lent).build();
      openAi.model("m").generate(hi());
      openAi.close();
      assertFalse(lent.isTerminated());
      ProviderException closed =
          assertThrows(ProviderException.class, () -> openAi.model("m").generate(hi()));
      assertEquals(Kind.OTHER, closed.kind());
    }
  }

  @Test
  @Tag("Y50")
  void nothing_shows_the_key_and_models_can_use_tools() {
    OpenAi.Builder builder = builder().apiKey("sk-s3cr3t");
    assertEquals("OpenAi.Builder[key set]", builder.toString());
    assertEquals("OpenAi.Builder[key not set]", OpenAi.builder().toString());
    try (HttpAdapter openAi = builder.build()) {
      for (Object shown : List.of(openAi, openAi.model("gpt-x"))) {
        assertFalse(shown.toString().contains("s3cr3t"), shown.toString());
      }
      assertTrue(openAi.model("gpt-x").toString().contains("gpt-x"));
      assertEquals(
          ModelCapabilities.TEXT_AND_TOOLS.with(ToolHistory.JSON),
          openAi.model("gpt-x").capabilities());
    }
  }
}
