package dev.warpwright.adapters.openai;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelEvent;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.ProviderException.Kind;
import dev.warpwright.model.Role;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.ToolResult;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** How each vendor's failures are understood: whole and streamed, in a first and a later step. */
@Timeout(60)
final class VendorErrorsTest {
  private static final ModelCall FIRST = ModelCall.builder(List.of(Message.user("Hi"))).build();
  private static final ModelCall LATER =
      ModelCall.builder(
              List.of(
                  Message.user("Hi"),
                  new Message(Role.ASSISTANT, List.of(new ToolCall("c", "f", Json.EMPTY_OBJECT))),
                  new Message(Role.TOOL, List.of(new ToolResult("c", "f", Json.of(1), false)))))
          .build();

  private VendorServer server;

  @BeforeEach
  void start() throws IOException {
    server = new VendorServer();
  }

  @AfterEach
  void stop() throws IOException {
    server.close();
  }

  private static Vendor vendor(String id) {
    return VendorTest.vendors().stream()
        .filter(vendor -> vendor.id().equals(id))
        .findFirst()
        .orElseThrow();
  }

  /** The failure of every way to ask; all must be alike. */
  private ProviderException failure(String id, String line, String headers, String body) {
    List<ProviderException> failures = new ArrayList<>();
    VendorModel model = server.model(vendor(id), VendorServer.facts(), null);
    boolean sound = line.startsWith("200");
    for (ModelCall call : List.of(FIRST, LATER)) {
      server.answering(line, headers, body);
      failures.add(assertThrows(ProviderException.class, () -> model.generate(call)));
      failures.add(assertThrows(ProviderException.class, () -> model.stream(call, event -> {})));
      if (sound) {
        server.answering(line, headers, "data: " + body + "\n\ndata: [DONE]\n\n");
        failures.add(assertThrows(ProviderException.class, () -> model.stream(call, event -> {})));
        server.answering(
            line,
            headers,
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"H\"}}]}\n\ndata: "
                + body
                + "\n\n");
        List<ModelEvent> told = new ArrayList<>();
        failures.add(assertThrows(ProviderException.class, () -> model.stream(call, told::add)));
        boolean inChat = vendor(id).rule().choose(call, VendorServer.facts(), true) == Api.CHAT;
        assertEquals(inChat, told.contains(new ModelEvent.Text("H")));
      }
    }
    ProviderException first = failures.getFirst();
    for (ProviderException other : failures) {
      assertEquals(first.kind(), other.kind());
      assertEquals(first.status(), other.status());
      assertEquals(first.code(), other.code());
      assertEquals(first.retryAfter(), other.retryAfter());
      assertEquals(first.requestId(), other.requestId());
    }
    return first;
  }

  private static void assertIs(Kind kind, int status, String code, ProviderException failure) {
    assertEquals(kind, failure.kind());
    assertEquals(status, failure.status());
    assertEquals(Optional.of(code), failure.code());
  }

  @ParameterizedTest
  @CsvSource({
    "1000, 401", "1001, 401", "1003, 401", "1005, 401", "1113, 429", "1302, 429", "1305, 429",
    "1308, 429", "1309, 429", "1310, 429", "1311, 429", "1313, 429", "1321, 429", "1210, 400",
    "1215, 400", "1221, 400", "1222, 400", "1301, 400", "1220, 403", "1234, 500", "1312, 500",
    "1999, 500", "2001, 500", "17, 500", "123456789012345678901, 500"
  })
  @Tag("Y36")
  void a_numeric_code_of_z_ai_with_status_200_acts_as_its_status(String code, int status) {
    for (String body :
        List.of(
            "{\"error\":{\"code\":\"" + code + "\",\"message\":\"Not now.\"}}",
            "{\"code\":" + code + ",\"msg\":\"Not now.\"}",
            "{\"code\":\"" + code + "\",\"message\":\"Not now.\"}")) {
      ProviderException failure = failure("zai", "200 OK", "x-log-id: log-1", body);
      assertIs(Kind.PROVIDER_EVENT, status, code, failure);
      assertEquals(Optional.of("Not now."), failure.providerMessage());
      assertEquals(Optional.of("log-1"), failure.requestId());
    }
  }

  @Test
  void a_prompt_that_is_too_long_for_z_ai_is_one() {
    assertIs(
        Kind.CONTEXT_LENGTH,
        400,
        "1261",
        failure("zai", "200 OK", "", "{\"error\":{\"code\":\"1261\",\"message\":\"Too long.\"}}"));
  }

  @Test
  @Tag("FR-R03")
  void z_ai_says_how_long_to_wait() {
    ProviderException failure =
        failure(
            "zai",
            "429 Too Many Requests",
            "Retry-After: 1.5",
            "{\"error\":{\"code\":\"1302\",\"message\":\"Slow down.\"}}");
    assertIs(Kind.HTTP_STATUS, 429, "1302", failure);
    assertEquals(Optional.of(Duration.ofMillis(1_500)), failure.retryAfter());
  }

  @ParameterizedTest
  @CsvSource({
    "400 Bad Request, InvalidParameter, HTTP_STATUS, 400",
    "429 Too Many Requests, Throttling.RateQuota, HTTP_STATUS, 429",
    "200 OK, Throttling.RateQuota, PROVIDER_EVENT, 429",
    "200 OK, Throttling, PROVIDER_EVENT, 429",
    "200 OK, InvalidApiKey, PROVIDER_EVENT, 401",
    "200 OK, Arrearage, PROVIDER_EVENT, 402",
    "200 OK, DataInspectionFailed, PROVIDER_EVENT, 400",
    "200 OK, InternalError, PROVIDER_EVENT, 500",
    "200 OK, SomethingNew, PROVIDER_EVENT, 0"
  })
  void a_bare_error_of_qwen_keeps_its_code_and_request(
      String line, String code, Kind kind, int status) {
    ProviderException failure =
        failure(
            "qwen",
            line,
            "",
            "{\"code\":\"%s\",\"message\":\"No.\",\"request_id\":\"r-7\"}".formatted(code));
    assertIs(kind, status, code, failure);
    assertEquals(Optional.of("r-7"), failure.requestId());
    assertEquals(Optional.of("No."), failure.providerMessage());
  }

  @Test
  @Tag("Y38")
  void an_input_that_is_too_long_for_qwen_is_recognised_by_the_whole_message() {
    for (String message :
        List.of(
            "Range of input length should be [1, 30720]",
            "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 9]")) {
      assertIs(
          Kind.CONTEXT_LENGTH,
          400,
          "InvalidParameter",
          failure(
              "qwen",
              "400 Bad Request",
              "",
              "{\"code\":\"InvalidParameter\",\"message\":\"" + message + "\"}"));
    }
    assertEquals(
        Kind.HTTP_STATUS,
        failure(
                "qwen",
                "400 Bad Request",
                "",
                "{\"code\":\"InvalidParameter\",\"message\":\"Range of max_tokens should be [1,"
                    + " 8192]\"}")
            .kind());
  }

  @ParameterizedTest
  @CsvSource({"innererror, content_filter_result", "inner_error, content_filter_results"})
  void a_prompt_that_azure_filters_is_refused_with_its_code(String inner, String results) {
    String body =
        """
        {"error":{"message":"Filtered.","type":null,"param":"prompt","code":"content_filter",
         "status":400,"%s":{"code":"ResponsibleAIPolicyViolation","%s":{"hate":{"filtered":true}}}}}
        """
            .formatted(inner, results)
            .replace("\n", "");
    ProviderException failure =
        failure("azure", "400 Bad Request", "apim-request-id: apim-1", body);
    assertIs(Kind.HTTP_STATUS, 400, "content_filter", failure);
    assertEquals(Optional.of("apim-1"), failure.requestId());
    assertIs(Kind.PROVIDER_EVENT, 400, "content_filter", failure("azure", "200 OK", "", body));
  }

  @Test
  void a_filter_without_a_status_is_a_refusal_of_the_request() {
    assertIs(
        Kind.PROVIDER_EVENT,
        400,
        "content_filter",
        failure(
            "azure", "200 OK", "", "{\"error\":{\"code\":\"content_filter\",\"message\":\"\"}}"));
  }

  @ParameterizedTest
  @CsvSource({
    "retry-after: 7, 7000",
    "retry-after-ms: 250, 250",
    "'Retry-After: Fri, 07 Mar 2025 00:00:00 GMT', 30000",
    "'Retry-After: Wed, 21 Oct 2020 07:28:00 GMT', 0",
    "x-ratelimit-reset-tokens: 20ms, 20",
    "x-ratelimit-reset-requests: 6m0s, 360000",
    "Retry-After: 86400, 86400000"
  })
  @Tag("FR-R01")
  @Tag("FR-R03")
  @Tag("FR-R05")
  @Tag("FR-R07")
  @Tag("FR-R15")
  void a_limit_of_azure_may_have_its_status_as_text_and_says_how_long_to_wait(
      String header, long millis) {
    ProviderException failure =
        failure(
            "azure",
            "429 Too Many Requests",
            header,
            "{\"error\":{\"code\":\"429\",\"message\":\"Requests have exceeded the rate.\"}}");
    assertIs(Kind.HTTP_STATUS, 429, "429", failure);
    assertEquals(Optional.of(Duration.ofMillis(millis)), failure.retryAfter());
  }

  @ParameterizedTest
  @CsvSource({"402", "408", "429", "502", "503"})
  @Tag("FR-X05")
  void an_error_of_openrouter_with_status_200_has_its_code_as_status(int code) {
    String error =
        "\"error\":{\"code\":%d,\"message\":\"No.\",\"metadata\":{\"provider_name\":\"x\"}}"
            .formatted(code);
    for (String body :
        List.of(
            "{" + error + "}",
            "{"
                + error
                + ",\"choices\":[{\"delta\":{\"content\":\"\"},"
                + "\"finish_reason\":\"error\"}]}",
            "{\"choices\":[{\"message\":{},\"delta\":{},\"finish_reason\":\"error\","
                + error
                + "}]}")) {
      ProviderException failure = failure("openrouter", "200 OK", "", body);
      assertIs(Kind.PROVIDER_EVENT, code, Integer.toString(code), failure);
    }
  }

  @Test
  @Tag("FR-X05")
  @Tag("Y37")
  void openrouter_says_in_the_metadata_when_a_limit_ends() {
    long reset = VendorServer.NOW.toEpochMilli() + 30_000;
    ProviderException failure =
        failure(
            "openrouter",
            "200 OK",
            "",
            "{\"error\":{\"code\":429,\"message\":\"Rate limit"
                + " exceeded\",\"metadata\":{\"headers\":{\"X-RateLimit-Reset\":\""
                + reset
                + "\"}}}}");
    assertIs(Kind.PROVIDER_EVENT, 429, "429", failure);
    assertEquals(Optional.of(Duration.ofSeconds(30)), failure.retryAfter());
  }

  @ParameterizedTest
  @CsvSource({
    "kimi, engine_overloaded_error, 429",
    "kimi, rate_limit_reached_error, 429",
    "kimi, exceeded_current_quota_error, 402",
    "kimi, invalid_authentication_error, 401",
    "kimi, permission_denied_error, 403",
    "kimi, resource_not_found_error, 404",
    "kimi, content_filter, 400",
    "deepseek, server_error, 500",
    "meta, rate_limit_exceeded, 429",
    "openai, insufficient_quota, 402",
    "bedrock, throttlingException, 429",
    "deepseek, something_new, 0"
  })
  void an_error_without_a_status_has_that_of_its_type(String id, String type, int status) {
    assertIs(
        Kind.PROVIDER_EVENT,
        status,
        type,
        failure(id, "200 OK", "", "{\"error\":{\"type\":\"" + type + "\",\"message\":\"No.\"}}"));
  }

  @Test
  @Tag("FR-X09")
  @Tag("FR-R11")
  void a_context_that_xai_calls_an_error_of_the_argument_is_one() {
    assertIs(
        Kind.CONTEXT_LENGTH,
        400,
        "Client specified an invalid argument",
        failure(
            "xai",
            "400 Bad Request",
            "",
            """
            {"code":"Client specified an invalid argument","error":"This model's maximum prompt \
            length is 131072 but the request contains 200000 tokens."}\
            """));
  }

  @Test
  @Tag("FR-R09")
  void a_passing_limit_that_is_worded_as_a_quota_is_judged_by_its_status() {
    ProviderException failure =
        failure(
            "meta",
            "429 Too Many Requests",
            "",
            "{\"error\":\"INSUFFICIENT QUOTA\",\"message\":\"You exceeded your current limit of"
                + " concurrent requests.\"}");
    assertEquals(429, failure.status());
    assertEquals(Optional.empty(), failure.code());
  }

  @Test
  void each_vendor_is_named_and_has_its_own_id_of_a_request() {
    for (String pair :
        List.of(
            "openai OpenAI x-request-id",
            "azure Azure-OpenAI apim-request-id",
            "deepseek DeepSeek x-ds-trace-id",
            "qwen Qwen x-request-id",
            "kimi Kimi msh-request-id",
            "xai xAI x-request-id",
            "meta Meta x-request-id",
            "zai Z.ai x-log-id",
            "openrouter OpenRouter x-request-id",
            "bedrock Bedrock x-amzn-requestid")) {
      String[] words = pair.split(" ", -1);
      ProviderException failure =
          failure(words[0], "500 Server Error", words[2] + ": id-1", "oops");
      assertEquals(
          words[1].replace('-', ' ') + " request failed with status 500.", failure.getMessage());
      assertEquals(Optional.of("id-1"), failure.requestId());
    }
  }
}
