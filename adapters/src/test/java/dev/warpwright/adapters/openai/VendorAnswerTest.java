package dev.warpwright.adapters.openai;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.FinishReason;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelEvent;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.Part;
import dev.warpwright.model.ProviderState;
import dev.warpwright.model.Role;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.ToolResult;
import dev.warpwright.model.ToolSpec;
import dev.warpwright.model.Usage;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What is read of each vendor's answers, whole and streamed. */
@Timeout(60)
final class VendorAnswerTest {
  private static final ModelCall HI = ModelCall.builder(List.of(Message.user("Hi"))).build();

  /** Qwen speaks Chat only when it has to. */
  private static final ModelCall HI_IN_CHAT =
      ModelCall.builder(List.of(Message.user("Hi"))).maxTokens(OptionalInt.of(9)).build();

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

  private static String events(String... events) {
    return List.of(events).stream()
        .map(event -> "data: " + event + "\n\n")
        .collect(Collectors.joining());
  }

  private static String delta(String delta) {
    return "{\"choices\":[{\"index\":0,\"delta\":" + delta + "}]}";
  }

  private static String finish(String reason) {
    return "{\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"" + reason + "\"}]}";
  }

  private ModelResponse whole(String id, String message, String finish, String usage)
      throws InterruptedException {
    server.answering(
        "\n\n{\"choices\":[{\"message\":%s,\"finish_reason\":\"%s\"}],\"usage\":%s}"
            .formatted(message, finish, usage));
    return server.model(vendor(id), VendorServer.facts(), Api.CHAT).generate(HI);
  }

  private ModelResponse streamed(String id, String... events) throws InterruptedException {
    server.answering(": keep-alive\n\n" + events(events) + events("[DONE]"));
    return server.stream(vendor(id), VendorServer.facts(), HI_IN_CHAT);
  }

  private static List<Part> told(String reasoning, Part... more) {
    List<Part> parts = new ArrayList<>();
    parts.add(
        ProviderState.of(
            "chat-reasoning-content", "m", Json.of(Map.of("reasoning_content", reasoning))));
    parts.addAll(List.of(more));
    return parts;
  }

  @ParameterizedTest
  @ValueSource(strings = {"deepseek", "qwen", "kimi", "zai"})
  @Tag("FR-Q09")
  @Tag("Y47")
  void what_is_thought_before_a_call_goes_back_with_its_result(String id) throws Exception {
    String arguments = "\"arguments\":\"{\\\"a\\\":1.50}\"";
    String call =
        "{\"index\":0,\"id\":\"f:0\",\"type\":\"function\",\"function\":{\"name\":\"f\","
            + arguments
            + "}}";
    ModelResponse streamed =
        streamed(
            id,
            delta("{\"role\":\"assistant\",\"content\":null,\"reasoning_content\":\"\"}"),
            delta("{\"reasoning_content\":\"Let \\u00e4 \"}"),
            delta("{\"reasoning_content\":\"me.\\n\",\"content\":\"\"}"),
            delta("{\"tool_calls\":[" + call + "]}"),
            finish("tool_calls"),
            """
            {"choices":[],"usage":{"prompt_tokens":30,"completion_tokens":9,"total_tokens":39,\
            "prompt_tokens_details":{"cached_tokens":20}}}\
            """);
    List<Part> expected = told("Let ä me.\n", new ToolCall("f:0", "f", Json.parse("{\"a\":1.50}")));
    assertEquals(expected, streamed.message().parts());
    assertEquals(20, streamed.usage().cachedInput().tokens());
    assertEquals(30, streamed.usage().input().tokens());
    assertEquals(
        "Let ä me.\n",
        server.told().stream()
            .map(event -> event instanceof ModelEvent.Reasoning(String piece) ? piece : "")
            .collect(Collectors.joining()));

    ModelResponse whole =
        whole(
            id,
            "{\"content\":\"\",\"reasoning_content\":\"Let ä me.\\n\",\"tool_calls\":["
                + call
                + "]}",
            "tool_calls",
            "{}");
    assertEquals(expected, whole.message().parts());

    server.answering("");
    ToolResult result = new ToolResult("f:0", "f", Json.of(1), false);
    server
        .model(vendor(id), VendorServer.facts(), Api.CHAT)
        .generate(
            ModelCall.builder(
                    List.of(
                        Message.user("Hi"),
                        streamed.message(),
                        new Message(Role.TOOL, List.of(result))))
                .build());
    assertTrue(
        server.lastBody().contains(",\"reasoning_content\":\"Let ä me.\\n\","), server.lastBody());
    assertTrue(server.lastBody().contains("\"tool_call_id\":\"f:0\""), server.lastBody());
  }

  @ParameterizedTest
  @ValueSource(strings = {"deepseek", "qwen", "kimi", "zai"})
  @Tag("FR-Q05")
  @Tag("FR-Q07")
  void empty_reasoning_opens_no_block_and_an_empty_answer_is_one(String id) throws Exception {
    for (ModelResponse empty :
        List.of(
            whole(id, "{\"content\":\"\",\"reasoning_content\":\"\"}", "stop", "null"),
            whole(id, "{\"content\":null,\"reasoning_content\":null}", "stop", "{}"),
            streamed(id, delta("{\"reasoning_content\":\"\",\"content\":\"\"}"), finish("stop")))) {
      assertEquals(List.of(), empty.message().parts());
      assertEquals(FinishReason.Kind.STOP, empty.finishReason().kind());
    }
    assertEquals(List.of(), server.told());
  }

  @Test
  @Tag("Y47")
  void details_of_openrouter_are_the_same_whole_and_streamed() throws Exception {
    String details =
        """
        [{"type":"reasoning.text","text":"Let me.","signature":"s+/=","index":0},\
        {"type":"reasoning.encrypted","data":"a+/=","id":"r1","index":1}]\
        """;
    ModelResponse whole =
        whole(
            "openrouter",
            "{\"content\":\"Hi.\",\"reasoning\":\"Let me.\",\"reasoning_details\":" + details + "}",
            "stop",
            "{}");
    List<Part> expected =
        List.of(
            ProviderState.of(
                "chat-reasoning-details",
                "m",
                Json.parse("{\"reasoning_details\":" + details + "}")),
            new Part.Text("Hi."));
    assertEquals(expected, whole.message().parts());
    ModelResponse streamed =
        streamed(
            "openrouter",
            delta(
                """
                {"reasoning":"Let ","reasoning_details":[{"type":"reasoning.text","text":"Let ",\
                "signature":null,"index":0}]}\
                """),
            delta(
                """
                {"reasoning":"me.","reasoning_details":[{"type":"reasoning.text","text":"me.",\
                "index":0}]}\
                """),
            delta(
                """
                {"reasoning_details":[{"type":"reasoning.text","text":"","signature":"s+/=",\
                "index":0}]}\
                """),
            delta(
                """
                {"reasoning_details":[{"type":"reasoning.encrypted","data":"a+/=","id":"r1",\
                "index":1}]}\
                """),
            delta("{\"content\":\"Hi.\"}"),
            finish("stop"));
    assertEquals(expected, streamed.message().parts());
    assertTrue(server.told().contains(new ModelEvent.Reasoning("me.")));
  }

  @Test
  void reasoning_without_details_is_kept_as_the_text_that_it_is() throws Exception {
    ModelResponse answer =
        whole("openrouter", "{\"content\":\"\",\"reasoning\":\"Hm.\"}", "stop", "{}");
    assertEquals(
        List.of(
            ProviderState.of("chat-reasoning-details", "m", Json.parse("{\"reasoning\":\"Hm.\"}"))),
        answer.message().parts());
  }

  @ParameterizedTest
  @ValueSource(strings = {"openai", "azure", "meta", "bedrock"})
  void where_nothing_private_comes_back_reasoning_is_shown_at_most(String id) throws Exception {
    assertEquals(
        List.of(new Part.Text("Hi.")),
        whole(id, "{\"content\":\"Hi.\",\"reasoning_content\":\"Hm.\"}", "stop", "{}")
            .message()
            .parts());
  }

  private static String counters(Usage usage) {
    return List.of(
            usage.input(), usage.cachedInput(), usage.output(), usage.reasoning(), usage.total())
        .stream()
        .map(count -> count.isPresent() ? Long.toString(count.tokens()) : "-")
        .collect(Collectors.joining(" "));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "deepseek | {\"prompt_tokens\":90,\"completion_tokens\":9,\"total_tokens\":99,"
            + "\"prompt_cache_hit_tokens\":64,\"prompt_cache_miss_tokens\":26,"
            + "\"completion_tokens_details\":{\"reasoning_tokens\":4}} | 90 64 9 4 99",
        "kimi | {\"prompt_tokens\":90,\"completion_tokens\":9,\"total_tokens\":99,"
            + "\"cached_tokens\":64} | 90 64 9 - 99",
        "qwen | {\"prompt_tokens\":90,\"completion_tokens\":9,\"total_tokens\":99,"
            + "\"prompt_tokens_details\":{\"cached_tokens\":64},"
            + "\"completion_tokens_details\":{\"reasoning_tokens\":4}} | 90 64 9 4 99",
        "zai | {\"prompt_tokens\":90,\"completion_tokens\":9,\"total_tokens\":99,"
            + "\"prompt_tokens_details\":{\"cached_tokens\":0}} | 90 0 9 - 99",
        "openrouter | {\"prompt_tokens\":90,\"completion_tokens\":9,\"total_tokens\":99,"
            + "\"cost\":0.1} | 90 - 9 - 99",
        "openai | {\"prompt_tokens\":1000,\"completion_tokens\":1944,\"total_tokens\":2944,"
            + "\"completion_tokens_details\":{\"reasoning_tokens\":1360}} | 1000 - 1944 1360 2944",
        "meta | {\"prompt_tokens\":10,\"completion_tokens\":136,"
            + "\"completion_tokens_details\":{\"reasoning_tokens\":31}} | 10 - 136 31 -",
        "xai | {\"prompt_tokens\":10,\"completion_tokens\":9,\"total_tokens\":50,"
            + "\"completion_tokens_details\":{\"reasoning_tokens\":31}} | 10 - 40 31 50",
        "xai | {\"prompt_tokens\":10,\"completion_tokens\":40,\"total_tokens\":50,"
            + "\"completion_tokens_details\":{\"reasoning_tokens\":31}} | 10 - 40 31 50",
        "xai | {\"prompt_tokens\":10,\"completion_tokens\":9,"
            + "\"completion_tokens_details\":{\"reasoning_tokens\":31}} | 10 - 40 31 -",
        "xai | {\"prompt_tokens\":10,\"completion_tokens\":9} | 10 - 9 - -",
        "xai | {\"completion_tokens_details\":{\"reasoning_tokens\":31}} | - - - 31 -"
      })
  @Tag("FR-M09")
  @Tag("FR-Q05")
  @Tag("Y46")
  void counters_are_read_by_each_vendors_rule(String id, String usage, String expected)
      throws Exception {
    assertEquals(expected, counters(whole(id, "{\"content\":\"\"}", "stop", usage).usage()));
    server.answering(events(finish("stop"), "{\"choices\":[],\"usage\":" + usage + "}", "[DONE]"));
    List<ModelEvent> told = new ArrayList<>();
    ModelResponse streamed =
        server.model(vendor(id), VendorServer.facts(), Api.CHAT).stream(HI, told::add);
    assertEquals(expected, counters(streamed.usage()));
    assertTrue(told.contains(new ModelEvent.Counters(streamed.usage())), told.toString());
  }

  @Test
  @Tag("Y45")
  void kimi_may_report_usage_on_its_choice() throws Exception {
    String usage = "\"usage\":{\"prompt_tokens\":35,\"completion_tokens\":2,\"cached_tokens\":8}";
    ModelResponse streamed =
        streamed(
            "kimi",
            delta("{\"content\":\"Hi.\"}"),
            "{\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"," + usage + "}]}");
    assertEquals("35 8 2 - -", counters(streamed.usage()));
    server.answering(
        "{\"choices\":[{\"message\":{\"content\":\"Hi.\"},\"finish_reason\":\"stop\","
            + usage
            + "}]}");
    assertEquals("35 8 2 - -", counters(server.ask(Vendor.KIMI, VendorServer.facts(), HI).usage()));
  }

  @Test
  @Tag("FR-M11")
  @Tag("FR-T05")
  void of_usage_on_every_chunk_the_last_one_counts_also_behind_the_finish() throws Exception {
    ModelResponse streamed =
        streamed(
            "qwen",
            "{\"choices\":[{\"delta\":{\"content\":\"\"}}],\"usage\":{\"prompt_tokens\":35,"
                + "\"completion_tokens\":0}}",
            "{\"choices\":[{\"delta\":{\"content\":\"Hi\"},\"finish_reason\":\"stop\"}],"
                + "\"usage\":{\"prompt_tokens\":35,\"completion_tokens\":1}}",
            "{\"choices\":[],\"usage\":{\"prompt_tokens\":35,\"completion_tokens\":1,"
                + "\"total_tokens\":36}}");
    assertEquals("35 - 1 - 36", counters(streamed.usage()));
  }

  @ParameterizedTest
  @CsvSource({
    "deepseek, insufficient_system_resource, ERROR",
    "zai, sensitive, CONTENT_FILTER",
    "zai, model_context_window_exceeded, LENGTH",
    "zai, network_error, ERROR",
    "azure, content_filter, CONTENT_FILTER",
    "openrouter, function_call, TOOL_CALLS",
    "kimi, model_length, LENGTH",
    "qwen, something_new, OTHER"
  })
  @Tag("FR-Q17")
  @Tag("Y39")
  void finish_reasons_are_told_apart(String id, String raw, FinishReason.Kind kind)
      throws Exception {
    FinishReason expected = new FinishReason(kind, raw);
    assertEquals(expected, whole(id, "{\"content\":\"\"}", raw, "{}").finishReason());
    assertEquals(expected, streamed(id, finish(raw)).finishReason());
  }

  @Test
  @Tag("Y39")
  void the_reason_of_whoever_answered_behind_openrouter_is_the_raw_one() throws Exception {
    FinishReason expected = new FinishReason(FinishReason.Kind.STOP, "end_turn");
    String reasons = "\"finish_reason\":\"stop\",\"native_finish_reason\":\"end_turn\"}]}";
    server.answering("{\"choices\":[{\"message\":{\"content\":\"Hi.\"}," + reasons);
    assertEquals(expected, server.ask(Vendor.OPENROUTER, VendorServer.facts(), HI).finishReason());
    assertEquals(
        expected,
        streamed(
                "openrouter",
                "{\"choices\":[{\"delta\":{},\"finish_reason\":null,"
                    + "\"native_finish_reason\":null}]}",
                "{\"choices\":[{\"delta\":{}," + reasons)
            .finishReason());
  }

  @Test
  @Tag("FR-Q13")
  void a_first_chunk_of_azure_without_choices_and_identity_says_nothing() throws Exception {
    Vendor azure = Vendor.azure(server.uri());
    server.answering(
        events(
            "{\"id\":\"\",\"choices\":[],\"model\":\"\",\"created\":0,"
                + "\"prompt_filter_results\":[{\"prompt_index\":0}]}",
            "{\"id\":\"\",\"choices\":[],\"model\":\"\",\"prompt_annotations\":[]}",
            delta("{\"content\":\"Hi.\"}"),
            finish("stop"),
            "[DONE]"));
    ModelResponse answer = server.stream(azure, VendorServer.facts(), HI);
    assertEquals(List.of(new Part.Text("Hi.")), answer.message().parts());
    assertEquals(List.of(new ModelEvent.Text("Hi.")), server.told());
  }

  @Test
  @Tag("FR-Q15")
  void a_refusal_with_null_content_is_one() throws Exception {
    for (String id : List.of("openai", "xai", "meta")) {
      assertEquals(
          FinishReason.Kind.REFUSAL,
          whole(id, "{\"content\":null,\"refusal\":\"no\"}", "stop", "{}").finishReason().kind());
    }
  }

  @Test
  void calls_of_xai_may_come_whole_in_one_delta() throws Exception {
    server.answering(
        events(
            delta(
                """
                {"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{\\"x\\":1}"}},\
                {"id":"b","function":{"name":"g","arguments":""}}]}\
                """),
            finish("tool_calls"),
            "[DONE]"));
    ModelResponse answer =
        server.model(Vendor.XAI, VendorServer.facts(), Api.CHAT).stream(HI, event -> {});
    assertEquals(
        List.of(
            new ToolCall("a", "f", Json.parse("{\"x\":1}")),
            new ToolCall("b", "g", Json.EMPTY_OBJECT)),
        answer.message().toolCalls());
  }

  @Test
  void qwen_shows_in_responses_what_it_thinks() throws Exception {
    server.answering(
        events(
            "{\"type\":\"response.reasoning_text.delta\",\"delta\":\"Hm\"}",
            "{\"type\":\"response.reasoning_summary_text.delta\",\"delta\":\"m.\"}",
            "{\"type\":\"response.output_text.delta\",\"delta\":\"Hi.\"}",
            """
            {"type":"response.completed","response":{"status":"completed","output":[{"type":\
            "message","content":[{"type":"output_text","text":"Hi."}]}],"usage":{"input_tokens":9,\
            "output_tokens":5,"total_tokens":14,"output_tokens_details":{"reasoning_tokens":3}}}}\
            """));
    ModelResponse answer = server.stream(Vendor.QWEN, VendorServer.facts(), HI);
    assertEquals("Hi.", answer.message().text());
    assertEquals("9 - 5 3 14", counters(answer.usage()));
    assertEquals(new ModelEvent.Reasoning("Hm"), server.told().getFirst());
    assertEquals(new ModelEvent.Reasoning("m."), server.told().get(1));
  }

  @Test
  @Tag("Y47")
  void encrypted_reasoning_of_xai_goes_back_before_its_call() throws Exception {
    server.answering(
        """
        {"status":"completed","output":[{"type":"reasoning","id":"rs","summary":[],\
        "encrypted_content":"e+/="},{"type":"function_call","call_id":"c","name":"f",\
        "arguments":"{}"}]}\
        """);
    ToolSpec tool = new ToolSpec("f", "A tool.", Json.parse("{\"type\":\"object\"}"));
    ModelCall.Builder first = ModelCall.builder(List.of(Message.user("Hi"))).tools(List.of(tool));
    ModelResponse answer = server.ask(Vendor.XAI, VendorServer.facts(), first.build());
    server.answering("");
    String body =
        server.body(
            Vendor.XAI,
            VendorServer.facts(),
            ModelCall.builder(
                    List.of(
                        Message.user("Hi"),
                        answer.message(),
                        new Message(
                            Role.TOOL, List.of(new ToolResult("c", "f", Json.of(1), false)))))
                .build());
    assertTrue(
        body.contains(
            """
            {"type":"reasoning","id":"rs","summary":[],"encrypted_content":"e+/="},\
            {"type":"function_call","call_id":"c"\
            """),
        body);
  }
}
