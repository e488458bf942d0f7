package dev.warpwright.adapters.bedrock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.adapters.AccessToken;
import dev.warpwright.adapters.HttpAdapter;
import dev.warpwright.adapters.http.RawServer;
import dev.warpwright.adapters.http.RawServer.Close;
import dev.warpwright.adapters.wire.BinaryEvent;
import dev.warpwright.model.Capability;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelEvent;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.ProviderException.Kind;
import dev.warpwright.model.ToolHistory;
import dev.warpwright.model.ToolResult;
import dev.warpwright.model.ToolSpec;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The adapter as a whole, over real sockets. */
@Timeout(60)
final class BedrockTest {
  private static final Instant NOW = Instant.parse("2026-11-30T08:00:00Z");
  private static final ModelCall HI =
      ModelCall.builder(List.of(Message.user("Hi")))
          .tools(List.of(new ToolSpec("f", "Does.", Json.parse("{\"type\":\"object\"}"))))
          .build();
  private static final String HELLO =
      """
      {"output":{"message":{"role":"assistant","content":[{"text":"Hello."}]}},
       "stopReason":"end_turn","usage":{"inputTokens":9,"outputTokens":2,"totalTokens":11}}
      """;

  private final List<ModelEvent> told = new ArrayList<>();

  private static String answer(int status, String headers, String body) {
    int length = body.getBytes(StandardCharsets.UTF_8).length;
    return "HTTP/1.1 %d X\r\nContent-Type: application/json\r\nx-amzn-RequestId: req-9\r\n%sContent-Length: %d\r\n\r\n%s"
        .formatted(status, headers, length, body);
  }

  private static RawServer answering(String response) throws IOException {
    return new RawServer(connection -> connection.write(response));
  }

  private static RawServer hello() throws IOException {
    return answering(answer(200, "", HELLO));
  }

  private static Bedrock.Builder at(RawServer server) {
    return Bedrock.builder("us-east-1").baseUrl(server.uri()).clock(InstantSource.fixed(NOW));
  }

  private static String header(String request, String name) {
    return request
        .lines()
        .takeWhile(line -> !line.isEmpty())
        .filter(line -> line.toLowerCase(Locale.ROOT).startsWith(name + ":"))
        .map(line -> line.substring(name.length() + 1).strip())
        .findFirst()
        .orElse("");
  }

  private static String body(String request) {
    return request.substring(request.indexOf("\r\n\r\n") + 4);
  }

  private static ProviderException failure(HttpAdapter adapter) {
    return assertThrows(ProviderException.class, () -> adapter.model("m").generate(HI));
  }

  // --- calls
  // --------------------------------------------------------------------------------------

  @Test
  @Tag("Y33")
  void a_call_is_one_post_of_json_with_the_key_as_a_bearer_token() throws Exception {
    try (RawServer server = hello();
        HttpAdapter adapter = at(server).apiKey("bedrock-key").build()) {
      ModelResponse response = adapter.model("amazon.nova-pro-v1:0").generate(HI);
      assertEquals("Hello.", response.message().text());
      assertEquals("req-9", response.requestId().orElseThrow());
      assertEquals(11, response.usage().total().tokens());
      String request = server.requests().getFirst();
      assertTrue(
          request.startsWith("POST /model/amazon.nova-pro-v1%3A0/converse HTTP/1.1\r\n"), request);
      assertEquals("Bearer bedrock-key", header(request, "authorization"));
      assertEquals("application/json", header(request, "content-type"));
      assertEquals("application/json", header(request, "accept"));
      assertEquals("", header(request, "x-amz-date"));
      assertEquals(
          "{\"messages\":[{\"role\":\"user\",\"content\":[{\"text\":\"Hi\"}]}],\"toolConfig\":"
              + "{\"tools\":[{\"toolSpec\":{\"name\":\"f\",\"description\":\"Does.\","
              + "\"inputSchema\":{\"json\":{\"type\":\"object\"}}}}]}}",
          body(request));
    }
  }

  @ParameterizedTest
  @CsvSource({
    "m, m",
    "us.anthropic.claude-x-v1:0, us.anthropic.claude-x-v1%3A0",
    "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.x-v1:0,"
        + " arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Ainference-profile%2Fus.x-v1%3A0",
    "already%3Aencoded, already%253Aencoded"
  })
  void an_id_is_one_segment_of_the_path_encoded_once(String modelId, String segment)
      throws Exception {
    try (RawServer server = hello();
        HttpAdapter adapter = at(server).build()) {
      adapter.model(modelId).generate(HI);
      assertTrue(
          server
              .requests()
              .getFirst()
              .startsWith("POST /model/" + segment + "/converse HTTP/1.1\r\n"));
    }
  }

  @Test
  @Tag("FR-A07")
  @Tag("Y47")
  @Tag("Y28")
  void a_tool_round_with_reasoning_goes_out_byte_for_byte_as_it_came_in() throws Exception {
    String content =
        "[{\"reasoningContent\":{\"reasoningText\":{\"text\":\"Hm.\\n\\\"ä\\\"\",\"signature\":"
            + "\"EqQBCg+/==\"}}},{\"text\":\"Look.\"},{\"toolUse\":{\"toolUseId\":\"tooluse_1\","
            + "\"name\":\"f\",\"input\":{\"id\":2512292042121000001,\"a\":1.50}}}]";
    String asks =
        "{\"output\":{\"message\":{\"content\":" + content + "}},\"stopReason\":\"tool_use\"}";
    try (RawServer server = answering(answer(200, "", asks));
        HttpAdapter adapter = at(server).build()) {
      ModelResponse first = adapter.model("m").generate(HI);
      adapter
          .model("m")
          .generate(
              ModelCall.builder(
                      List.of(
                          Message.user("Hi"),
                          first.message(),
                          Message.tool(
                              List.of(
                                  ToolResult.failure(
                                      first.message().toolCalls().getFirst(), "No.")))))
                  .tools(HI.tools())
                  .build());
      String second = body(server.requests().get(1));
      assertTrue(second.contains("{\"role\":\"assistant\",\"content\":" + content + "}"), second);
    }
  }

  @Test
  @Tag("Y50")
  void a_model_of_which_nothing_is_known_takes_text_tools_and_native_tool_history()
      throws Exception {
    try (RawServer server = hello();
        HttpAdapter adapter = at(server).build()) {
      assertEquals(ToolHistory.NATIVE, adapter.model("m").capabilities().toolHistory());
      assertTrue(adapter.model("m").capabilities().has(Capability.TOOLS));
      assertFalse(adapter.model("m").capabilities().has(Capability.STRUCTURED_OUTPUT));
      assertFalse(adapter.model("m").capabilities().has(Capability.REASONING));
    }
  }

  // --- signed requests
  // ----------------------------------------------------------------------------

  @Test
  void a_signed_request_is_the_one_that_is_sent() throws Exception {
    AwsCredentials keys = AwsCredentials.of("AKIDEXAMPLE", "s3cret", "session-token");
    try (RawServer server = hello();
        HttpAdapter adapter = at(server).credentials(keys).header("X-Amz-Source", "warp").build()) {
      adapter.model("anthropic.claude-x-v1:0").generate(HI);
      String request = server.requests().getFirst();
      assertEquals("20261130T080000Z", header(request, "x-amz-date"));
      assertEquals("session-token", header(request, "x-amz-security-token"));
      // signed once more, from what arrived
      String path = request.substring("POST ".length(), request.indexOf(" HTTP/1.1"));
      Map<String, String> arrived =
          Map.of(
              "content-type",
              header(request, "content-type"),
              "x-amz-source",
              header(request, "x-amz-source"));
      Map<String, String> again =
          new SignatureV4("us-east-1", "bedrock")
              .headers(
                  new SignatureV4.Request(
                      "POST",
                      URI.create("http://" + header(request, "host") + path),
                      arrived,
                      body(request).getBytes(StandardCharsets.UTF_8)),
                  keys,
                  NOW);
      assertEquals(again.get("Authorization"), header(request, "authorization"));
      assertTrue(
          again
              .get("Authorization")
              .contains(
                  "SignedHeaders=content-type;host;x-amz-date;x-amz-security-token;x-amz-source,"));
      assertFalse(request.contains("s3cret"));
    }
  }

  @Test
  void a_header_of_the_program_takes_no_place_of_one_that_is_signed() throws Exception {
    try (RawServer server = hello();
        HttpAdapter adapter =
            at(server)
                .credentials(AwsCredentials.of("AKID", "s", "token"))
                .header("x-amz-date", "19700101T000000Z")
                .header("X-Amz-Security-Token", "other")
                .build()) {
      adapter.model("m").generate(HI);
      String request = server.requests().getFirst();
      assertEquals("20261130T080000Z", header(request, "x-amz-date"));
      assertEquals("token", header(request, "x-amz-security-token"));
      assertFalse(request.contains("1970") || request.contains("other"), request);
    }
  }

  @Test
  @SuppressWarnings("NullAway") // a source that breaks its contract
  void a_source_without_credentials_is_a_target_that_cannot_be_reached() throws Exception {
    try (RawServer server = hello();
        HttpAdapter adapter = at(server).credentials(() -> null).build()) {
      assertEquals(ProviderException.Kind.CONNECT, failure(adapter).kind());
    }
  }

  @Test
  @Tag("Y34")
  void a_source_of_tokens_wins_over_the_keys_of_the_environment() throws Exception {
    Map<String, String> environment =
        Map.of("AWS_ACCESS_KEY_ID", "A", "AWS_SECRET_ACCESS_KEY", "s");
    try (RawServer server = hello();
        HttpAdapter adapter =
            at(server)
                .fromEnvironment(environment::get)
                .tokens(() -> AccessToken.of("own"))
                .build()) {
      adapter.model("m").generate(HI);
      assertEquals("Bearer own", header(server.requests().getFirst(), "authorization"));
    }
  }

  @Test
  void each_request_is_signed_with_the_credentials_of_its_moment() throws Exception {
    AtomicInteger fetched = new AtomicInteger();
    try (RawServer server = hello();
        HttpAdapter adapter =
            at(server)
                .credentials(() -> AwsCredentials.of("AKID" + fetched.incrementAndGet(), "s"))
                .build()) {
      adapter.model("m").generate(HI);
      adapter.model("m").generate(HI);
      for (int i = 0; i < 2; i++) {
        assertTrue(
            header(server.requests().get(i), "authorization")
                .startsWith("AWS4-HMAC-SHA256 Credential=AKID" + (i + 1) + "/20261130/us-east-1/"));
      }
    }
  }

  @Test
  void credentials_that_cannot_be_had_are_a_target_that_cannot_be_reached() throws Exception {
    for (Exception cause :
        List.of(new IOException("no role"), new IllegalStateException("no profile"))) {
      try (RawServer server = hello();
          HttpAdapter adapter =
              at(server)
                  .credentials(
                      () -> {
                        if (cause instanceof IOException failed) {
                          throw failed;
                        }
                        throw (RuntimeException) cause;
                      })
                  .build()) {
        ProviderException failure = failure(adapter);
        assertEquals(Kind.CONNECT, failure.kind());
        assertEquals("The AWS credentials for Bedrock could not be had.", failure.getMessage());
        assertSame(cause, failure.getCause());
        assertEquals(0, server.connections());
        assertEquals(0, adapter.openExchanges());
      }
    }
  }

  @Test
  void a_source_may_say_itself_how_the_target_failed() throws Exception {
    ProviderException own =
        ProviderException.builder(Kind.HTTP_STATUS, "The token service said 503.")
            .status(503)
            .build();
    try (RawServer server = hello();
        HttpAdapter adapter =
            at(server)
                .credentials(
                    () -> {
                      throw own;
                    })
                .build()) {
      assertSame(own, failure(adapter));
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void an_interrupt_ends_the_wait_for_credentials(boolean wrapped) throws Exception {
    CountDownLatch waiting = new CountDownLatch(1);
    AtomicReference<Throwable> thrown = new AtomicReference<>();
    try (RawServer server = hello();
        HttpAdapter adapter =
            at(server)
                .credentials(
                    () -> {
                      waiting.countDown();
                      try {
                        new CountDownLatch(1).await();
                      } catch (InterruptedException e) {
                        if (wrapped) { // as libraries do that may not throw it
                          throw new IllegalStateException("aborted", e);
                        }
                        throw e;
                      }
                      throw new AssertionError("nobody counts down");
                    })
                .build()) {
      Thread caller =
          Thread.ofVirtual()
              .start(
                  () -> {
                    try {
                      adapter.model("m").generate(HI);
                    } catch (InterruptedException | RuntimeException e) {
                      thrown.set(e);
                    }
                  });
      waiting.await();
      caller.interrupt();
      caller.join();
      assertInstanceOf(InterruptedException.class, thrown.get());
      assertEquals(0, server.connections());
    }
  }

  @Test
  @Tag("R358")
  void a_session_token_that_the_service_quotes_is_hidden() throws Exception {
    String quoted =
        "{\"message\":\"The canonical string should have been 'x-amz-security-token:tok-77x'\"}";
    try (RawServer server =
            answering(answer(403, "x-amzn-ErrorType: InvalidSignatureException\r\n", quoted));
        HttpAdapter adapter =
            at(server).credentials(AwsCredentials.of("AKID", "s", "tok-77x")).build()) {
      ProviderException failure = failure(adapter);
      assertEquals(403, failure.status());
      assertFalse(failure.providerMessage().orElseThrow().contains("tok-77x"));
    }
  }

  // --- failures
  // -----------------------------------------------------------------------------------

  @ParameterizedTest
  @CsvSource({
    "429, ThrottlingException:http://internal.amazon.com/coral/com.amazon.bedrock/,"
        + " ThrottlingException",
    "429, ModelNotReadyException, ModelNotReadyException",
    "408, ModelTimeoutException:, ModelTimeoutException",
    "424, ModelErrorException, ModelErrorException",
    "503, ServiceUnavailableException, ServiceUnavailableException",
    "403, com.amazon.coral.service#AccessDeniedException, AccessDeniedException",
    "404, ResourceNotFoundException, ResourceNotFoundException",
    "400, ValidationException, ValidationException",
    "500, InternalServerException, InternalServerException"
  })
  @Tag("Y35")
  void an_error_has_its_status_and_the_type_of_its_header(int status, String header, String type)
      throws Exception {
    for (String member : List.of("message", "Message")) {
      try (RawServer server =
              answering(
                  answer(
                      status,
                      "x-amzn-ErrorType: " + header + "\r\n",
                      "{\"" + member + "\":\"Words.\"}"));
          HttpAdapter adapter = at(server).build()) {
        ProviderException failure = failure(adapter);
        assertEquals(Kind.HTTP_STATUS, failure.kind());
        assertEquals(status, failure.status());
        assertEquals(type, failure.code().orElseThrow());
        assertEquals("Words.", failure.providerMessage().orElseThrow());
        assertEquals("req-9", failure.requestId().orElseThrow());
        assertEquals("Bedrock request failed with status " + status + ".", failure.getMessage());
      }
    }
  }

  @Test
  void a_type_in_the_body_counts_more_and_one_that_is_none_counts_nothing() throws Exception {
    try (RawServer server =
            answering(
                answer(
                    400,
                    "x-amzn-ErrorType: FromHeader\r\n",
                    "{\"message\":\"x\",\"type\":\"FromBody\"}"));
        HttpAdapter adapter = at(server).build()) {
      assertEquals("FromBody", failure(adapter).code().orElseThrow());
    }
    try (RawServer server =
            answering(answer(400, "x-amzn-ErrorType: no type, but words\r\n", "{}"));
        HttpAdapter adapter = at(server).build()) {
      assertTrue(failure(adapter).code().isEmpty());
    }
  }

  @Test
  @Tag("Y37")
  void retry_after_is_read() throws Exception {
    try (RawServer server =
            answering(
                answer(
                    429,
                    "x-amzn-ErrorType: ThrottlingException\r\nRetry-After: 7\r\n",
                    "{\"message\":\"Too many requests\"}"));
        HttpAdapter adapter = at(server).build()) {
      assertEquals(Duration.ofSeconds(7), failure(adapter).retryAfter().orElseThrow());
    }
  }

  @Test
  @Tag("Y38")
  void an_input_that_is_too_long_is_told_by_its_whole_message() throws Exception {
    try (RawServer server =
            answering(
                answer(
                    400,
                    "x-amzn-ErrorType: ValidationException\r\n",
                    "{\"message\":\"Input is too long for requested model.\"}"));
        HttpAdapter adapter = at(server).build()) {
      assertEquals(Kind.CONTEXT_LENGTH, failure(adapter).kind());
    }
  }

  // --- streams
  // ------------------------------------------------------------------------------------

  private static String stream(BinaryEvent... events) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    all.writeBytes(
        "HTTP/1.1 200 OK\r\nContent-Type: application/vnd.amazon.eventstream\r\nConnection: close\r\n\r\n"
            .getBytes(StandardCharsets.ISO_8859_1));
    for (BinaryEvent event : events) {
      all.writeBytes(event.bytes());
    }
    return all.toString(StandardCharsets.ISO_8859_1);
  }

  private static final BinaryEvent TEXT =
      BinaryEvent.event(
          "contentBlockDelta", "{\"contentBlockIndex\":0,\"delta\":{\"text\":\"Hello 你🌍\"}}");
  private static final BinaryEvent STOP =
      BinaryEvent.event("messageStop", "{\"stopReason\":\"end_turn\"}");
  private static final BinaryEvent METADATA =
      BinaryEvent.event(
          "metadata", "{\"usage\":{\"inputTokens\":1,\"outputTokens\":2,\"totalTokens\":3}}");

  @Test
  @Tag("Y15")
  @Tag("Y33")
  void a_stream_is_one_post_that_asks_for_amazons_events() throws Exception {
    try (RawServer server =
            new RawServer(
                c -> {
                  c.write(stream(TEXT, STOP, METADATA).getBytes(StandardCharsets.ISO_8859_1));
                  c.cut();
                });
        HttpAdapter adapter = at(server).apiKey("k").build()) {
      ModelResponse response = adapter.model("a:0").stream(HI, told::add);
      assertEquals("Hello 你🌍", response.message().text());
      assertEquals(3, response.usage().total().tokens());
      assertEquals(new ModelEvent.Text("Hello 你🌍"), told.getFirst());
      String request = server.requests().getFirst();
      assertTrue(request.startsWith("POST /model/a%3A0/converse-stream HTTP/1.1\r\n"), request);
      assertEquals("application/vnd.amazon.eventstream", header(request, "accept"));
      assertFalse(body(request).contains("stream"), request);
      assertEquals(0, adapter.openExchanges());
    }
  }

  @Test
  @Tag("Y49")
  void the_answer_is_there_behind_its_counters_though_the_server_stays() throws Exception {
    Close close = new Close();
    try (RawServer server =
            new RawServer(
                c -> {
                  c.write(stream(TEXT, STOP, METADATA).getBytes(StandardCharsets.ISO_8859_1));
                  c.awaitClose(close);
                });
        HttpAdapter adapter = at(server).build()) {
      assertEquals("Hello 你🌍", adapter.model("m").stream(HI, told::add).message().text());
      close.await();
    }
  }

  @Test
  @Tag("Y16")
  void another_content_type_is_a_failure_that_names_it() throws Exception {
    try (RawServer server = hello();
        HttpAdapter adapter = at(server).build()) {
      ProviderException failure =
          assertThrows(ProviderException.class, () -> adapter.model("m").stream(HI, told::add));
      assertEquals(Kind.PROTOCOL, failure.kind());
      assertTrue(failure.getMessage().contains("application/json"), failure.getMessage());
    }
  }

  // --- building
  // -----------------------------------------------------------------------------------

  private static String base(Bedrock.Builder builder) {
    try (HttpAdapter adapter = builder.build()) {
      return adapter.toString();
    }
  }

  @Test
  void the_region_says_where_requests_go_unless_a_base_url_does() {
    assertEquals(
        "Bedrock[https://bedrock-runtime.eu-west-3.amazonaws.com]",
        base(Bedrock.builder("eu-west-3").apiKey("k")));
    assertEquals(
        "Bedrock[https://vpce.example.com/x]",
        base(
            Bedrock.builder("eu-west-3")
                .apiKey("k")
                .baseUrl(URI.create("https://vpce.example.com/x/"))));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "US-EAST-1", "us east 1", "us-east-1.evil.com/", "ü"})
  void a_region_is_letters_digits_and_hyphens(String region) {
    InvalidRequestException refused =
        assertThrows(InvalidRequestException.class, () -> Bedrock.builder(region));
    assertEquals(FailureKind.INVALID_CONFIGURATION, refused.kind());
    assertTrue(refused.getMessage().contains("us-east-1"), refused.getMessage());
  }

  @Test
  void without_a_proof_the_service_itself_is_not_called() {
    InvalidRequestException refused =
        assertThrows(InvalidRequestException.class, () -> Bedrock.builder("r").build());
    assertTrue(refused.getMessage().contains("AWS_BEARER_TOKEN_BEDROCK"), refused.getMessage());
  }

  @Test
  void a_key_and_credentials_do_not_go_together() {
    assertThrows(
        InvalidRequestException.class,
        () -> Bedrock.builder("r").apiKey("k").credentials(AwsCredentials.of("a", "b")).build());
  }

  @ParameterizedTest
  @CsvSource({
    "AWS_BEARER_TOKEN_BEDROCK=k1 AWS_ACCESS_KEY_ID=A AWS_SECRET_ACCESS_KEY=s, 'Bearer k1', ''",
    "AWS_ACCESS_KEY_ID=A AWS_SECRET_ACCESS_KEY=s, AWS4-HMAC-SHA256 Credential=A/, ''",
    "AWS_ACCESS_KEY_ID=A AWS_SECRET_ACCESS_KEY=s AWS_SESSION_TOKEN=t,"
        + " AWS4-HMAC-SHA256 Credential=A/, t",
    "AWS_ACCESS_KEY_ID=A, '', ''",
    "X=y, '', ''"
  })
  @Tag("Y34")
  void the_environment_is_read_only_when_asked_for(String variables, String proof, String token)
      throws Exception {
    Map<String, String> environment =
        List.of(variables.split(" ")).stream()
            .map(pair -> pair.split("="))
            .collect(Collectors.toMap(pair -> pair[0], pair -> pair[1]));
    try (RawServer server = hello();
        HttpAdapter adapter = at(server).fromEnvironment(environment::get).build();
        HttpAdapter explicit =
            at(server)
                .fromEnvironment(environment::get)
                .credentials(AwsCredentials.of("OWN", "s"))
                .build()) {
      adapter.model("m").generate(HI);
      explicit.model("m").generate(HI);
      String request = server.requests().getFirst();
      String sent = header(request, "authorization");
      assertTrue(proof.isEmpty() ? sent.isEmpty() : sent.startsWith(proof), sent);
      assertEquals(token, header(request, "x-amz-security-token"));
      assertTrue(
          header(server.requests().get(1), "authorization")
              .startsWith("AWS4-HMAC-SHA256 Credential=OWN/"));
    }
  }

  @Test
  @Tag("Y34")
  void the_environment_may_hold_another_base_url() {
    Map<String, String> environment =
        Map.of(
            "AWS_ENDPOINT_URL_BEDROCK_RUNTIME",
            "https://proxy.example.com/",
            "AWS_BEARER_TOKEN_BEDROCK",
            "k");
    assertEquals(
        "Bedrock[https://proxy.example.com]",
        base(Bedrock.builder("r").fromEnvironment(environment::get)));
  }

  @Test
  @Tag("R358")
  void no_text_shows_a_secret() {
    Bedrock.Builder builder =
        Bedrock.builder("r").credentials(AwsCredentials.of("AKIDX", "s3cret", "t0ken"));
    for (String text :
        List.of(builder.toString(), base(builder), builder.build().model("m") + "")) {
      assertFalse(text.matches(".*(AKIDX|s3cret|t0ken).*"), text);
    }
    assertEquals("Bedrock.Builder[key set]", Bedrock.builder("r").apiKey("k").toString());
  }
}
