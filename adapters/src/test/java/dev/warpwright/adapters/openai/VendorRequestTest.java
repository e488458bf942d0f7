package dev.warpwright.adapters.openai;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.adapters.ModelFacts;
import dev.warpwright.adapters.ModelTrait;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.OutputFormat;
import dev.warpwright.model.Part;
import dev.warpwright.model.ProviderState;
import dev.warpwright.model.Reasoning;
import dev.warpwright.model.Reasoning.Effort;
import dev.warpwright.model.Role;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.ToolChoice;
import dev.warpwright.model.ToolResult;
import dev.warpwright.model.ToolResultFormat;
import dev.warpwright.model.ToolSpec;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.Set;
import java.util.StringTokenizer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Golden bodies: what each vendor is sent, byte for byte. */
@Timeout(60)
final class VendorRequestTest {
  private static final ToolSpec TOOL =
      new ToolSpec("f", "A tool.", Json.parse("{\"type\":\"object\"}"));
  private static final String CHAT_TOOLS =
      """
      ,"tools":[{"type":"function","function":{"name":"f","description":"A tool.",\
      "parameters":{"type":"object"}}}]\
      """;
  private static final String RESPONSES_TOOLS =
      """
      ,"tools":[{"type":"function","name":"f","description":"A tool.",\
      "parameters":{"type":"object"},"strict":false}]\
      """;
  private static final String CHAT_HI =
      "{\"model\":\"m\",\"messages\":[{\"role\":\"user\"," + "\"content\":\"Hi\"}]";
  private static final String RESPONSES_HI =
      "{\"model\":\"m\",\"input\":[{\"role\":\"user\","
          + "\"content\":[{\"type\":\"input_text\",\"text\":\"Hi\"}]}]";

  private VendorServer server;

  @BeforeEach
  void start() throws IOException {
    server = new VendorServer();
  }

  @AfterEach
  void stop() throws IOException {
    server.close();
  }

  private static ModelCall.Builder hi() {
    return ModelCall.builder(List.of(Message.user("Hi")));
  }

  private static Vendor vendor(String id) {
    return VendorTest.vendors().stream()
        .filter(vendor -> vendor.id().equals(id))
        .findFirst()
        .orElseThrow();
  }

  private static Optional<Reasoning> reasoning(String asked) {
    return switch (asked) {
      case "-" -> Optional.empty();
      case "BUDGET" -> Optional.of(Reasoning.budget(700));
      default -> Optional.of(Reasoning.effort(Effort.valueOf(asked)));
    };
  }

  private static ModelFacts facts(String traits) {
    return traits.equals("-")
        ? VendorServer.facts()
        : VendorServer.reasoning(
            Collections.list(new StringTokenizer(traits)).stream()
                .map(trait -> ModelTrait.valueOf((String) trait))
                .toArray(ModelTrait[]::new));
  }

  /** The text of what stands between the messages and the end of a whole answer's request. */
  private String members(String id, ModelFacts facts, ModelCall call) throws Exception {
    String body = server.body(vendor(id), facts, call);
    boolean responses = server.lastPath().endsWith("/responses");
    String start = responses ? RESPONSES_HI : CHAT_HI;
    String end = responses ? ",\"store\":false,\"stream\":false}" : ",\"stream\":false}";
    assertTrue(body.startsWith(start), body);
    assertTrue(body.endsWith(end), body);
    return body.substring(start.length(), body.length() - end.length());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "openai     | - | NONE    | ,\"reasoning_effort\":\"none\"",
        "openai     | - | MINIMAL | ,\"reasoning_effort\":\"minimal\"",
        "openai     | - | MAX     | ,\"reasoning_effort\":\"xhigh\"",
        "azure      | - | HIGH    | ,\"reasoning_effort\":\"high\"",
        "bedrock    | - | HIGH    | ,\"reasoning_effort\":\"high\"",
        "meta       | - | LOW     | ,\"reasoning_effort\":\"low\"",
        "deepseek   | - | NONE    | ,\"thinking\":{\"type\":\"disabled\"}",
        "deepseek   | - | HIGH    |"
            + " ,\"thinking\":{\"type\":\"enabled\"},\"reasoning_effort\":\"high\"",
        "deepseek   | - | MAX     |"
            + " ,\"thinking\":{\"type\":\"enabled\"},\"reasoning_effort\":\"max\"",
        "deepseek   | - | -       | ``",
        "qwen       | - | NONE    | ,\"enable_thinking\":false",
        "qwen       | - | LOW     | ,\"reasoning\":{\"effort\":\"minimal\"}",
        "qwen       | - | MEDIUM  | ,\"reasoning\":{\"effort\":\"medium\"}",
        "qwen       | - | BUDGET  | ,\"enable_thinking\":true,\"thinking_budget\":700",
        "kimi       | - | NONE    | ,\"thinking\":{\"type\":\"disabled\"}",
        "kimi       | - | HIGH    | ,\"thinking\":{\"type\":\"enabled\"}",
        "kimi       | REASONS_ALWAYS | HIGH |"
            + " ,\"thinking\":{\"type\":\"enabled\",\"keep\":\"all\"}",
        "kimi       | MAX_COMPLETION_TOKENS | MAX | ,\"reasoning_effort\":\"max\"",
        "xai        | - | LOW     |"
            + " ,\"reasoning\":{\"effort\":\"low\"},\"include\":[\"reasoning.encrypted_content\"]",
        "xai        | - | -       | ,\"include\":[\"reasoning.encrypted_content\"]",
        "zai        | - | NONE    | ,\"thinking\":{\"type\":\"disabled\"}",
        "zai        | - | HIGH    | ,\"thinking\":{\"type\":\"enabled\"}",
        "openrouter | - | MAX     |"
            + " ,\"reasoning\":{\"effort\":\"xhigh\"},\"provider\":{\"allow_fallbacks\":false}",
        "openrouter | - | NONE    |"
            + " ,\"reasoning\":{\"effort\":\"none\"},\"provider\":{\"allow_fallbacks\":false}",
        "openrouter | - | BUDGET  |"
            + " ,\"reasoning\":{\"max_tokens\":700},\"provider\":{\"allow_fallbacks\":false}"
      })
  @Tag("R372")
  void reasoning_is_asked_for_as_each_vendor_wants_it(
      String id, String traits, String asked, String expected) throws Exception {
    assertEquals(expected, members(id, facts(traits), hi().reasoning(reasoning(asked)).build()));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "openai   | - | BUDGET | not a budget of tokens",
        "azure    | - | BUDGET | not a budget of tokens",
        "deepseek | - | BUDGET | not a budget of tokens",
        "deepseek | - | LOW    | must be one of [NONE, HIGH, MAX] for this model, but is LOW",
        "kimi     | - | BUDGET | not a budget of tokens",
        "kimi     | MAX_COMPLETION_TOKENS | HIGH | must be one of [MAX] for this model, but is"
            + " HIGH",
        "kimi     | REASONS_ALWAYS | NONE | always reasons",
        "xai      | - | BUDGET | not a budget of tokens",
        "meta     | - | BUDGET | not a budget of tokens",
        "meta     | - | NONE   | always reason",
        "zai      | - | BUDGET | not a budget of tokens",
        "qwen     | REASONS_ALWAYS | NONE | always reasons",
        "qwen     | NO_REASONING_BUDGET | BUDGET | not a budget of tokens",
        "openrouter | NO_REASONING_EFFORT | LOW | not an effort",
        "qwen     | REASONING_BUDGET_REQUIRED | LOW | demands a budget of tokens",
        "qwen     | REASONING_BUDGET_REQUIRED | -   | demands a budget of tokens"
      })
  @Tag("R372")
  @Tag("FR-Q11")
  void what_a_model_does_not_take_is_refused_before_anything_is_sent(
      String id, String traits, String asked, String reason) {
    String refusal =
        server.refusal(vendor(id), facts(traits), null, hi().reasoning(reasoning(asked)).build());
    assertTrue(refusal.contains(reason), refusal);
  }

  @ParameterizedTest
  @ValueSource(strings = {"openai", "deepseek", "qwen", "kimi", "xai", "meta", "zai", "openrouter"})
  void an_effort_that_is_known_not_to_be_taken_is_refused_with_those_that_are(String id) {
    ModelFacts facts = VendorServer.facts(Set.of(Effort.HIGH, Effort.MAX));
    String refusal =
        server.refusal(vendor(id), facts, null, hi().reasoning(reasoning("LOW")).build());
    assertEquals(
        "The effort of reasoning must be one of [HIGH, MAX] for this model, but is LOW.", refusal);
  }

  @ParameterizedTest
  @CsvSource({"LOW, low", "HIGH, high", "MAX, max"})
  void an_effort_that_is_known_to_be_taken_is_sent_beside_the_switch(String asked, String word)
      throws Exception {
    Set<Effort> efforts = Set.of(Effort.LOW, Effort.HIGH, Effort.MAX);
    ModelCall call = hi().reasoning(reasoning(asked)).build();
    String written = ",\"reasoning_effort\":\"" + word + "\"";
    for (String id : List.of("zai", "deepseek")) {
      assertEquals(
          ",\"thinking\":{\"type\":\"enabled\"}" + written,
          members(id, VendorServer.facts(efforts), call));
    }
    assertEquals(
        written,
        members("kimi", VendorServer.facts(efforts, ModelTrait.MAX_COMPLETION_TOKENS), call));
  }

  @Test
  @Tag("FR-Q11")
  void a_budget_among_the_options_is_one() throws Exception {
    assertEquals(
        "{\"thinking_budget\":9,\"model\":\"m\"",
        server
            .body(
                Vendor.QWEN,
                facts("REASONING_BUDGET_REQUIRED"),
                hi().providerOptions(Json.parse("{\"thinking_budget\":9}")).build())
            .substring(0, 32));
    assertEquals("/chat/completions", server.lastPath());
  }

  @Test
  @Tag("FR-Q11")
  void a_model_that_answers_in_streams_only_is_streamed() throws Exception {
    ModelFacts facts = VendorServer.facts(ModelTrait.STREAMS_ONLY);
    for (Vendor vendor : List.of(Vendor.QWEN, Vendor.OPENAI)) {
      assertEquals("Hi.", server.ask(vendor, facts, hi().build()).message().text());
      assertTrue(server.lastBody().contains("\"stream\":true"), server.lastBody());
    }
  }

  @ParameterizedTest
  @CsvSource({
    "openai, -, -, max_tokens",
    "openai, -, LOW, max_completion_tokens",
    "openai, MAX_COMPLETION_TOKENS, -, max_completion_tokens",
    "azure, -, LOW, max_completion_tokens",
    "deepseek, -, HIGH, max_tokens",
    "qwen, -, LOW, max_tokens",
    "kimi, -, HIGH, max_tokens",
    "kimi, MAX_COMPLETION_TOKENS, MAX, max_completion_tokens",
    "zai, -, HIGH, max_tokens",
    "openrouter, -, HIGH, max_tokens",
    "xai, -, LOW, max_output_tokens"
  })
  void the_limit_of_output_has_the_name_that_the_vendor_gives_it(
      String id, String traits, String asked, String name) throws Exception {
    String members =
        members(
            id,
            facts(traits),
            hi().reasoning(reasoning(asked)).maxTokens(OptionalInt.of(50)).build());
    assertTrue(members.contains("\"" + name + "\":50"), members);
    assertEquals(1, members.split(":50", -1).length - 1, members);
  }

  @ParameterizedTest
  @CsvSource({"kimi, 1048576", "zai, 131072"})
  void a_limit_above_the_vendors_bound_is_refused(String id, int most) throws Exception {
    ModelCall.Builder call = hi().maxTokens(OptionalInt.of(most));
    assertTrue(members(id, VendorServer.facts(), call.build()).contains(":" + most));
    assertEquals(
        "maxTokens must be between 1 and %d for this vendor, but is %d.".formatted(most, most + 1),
        server.refusal(
            vendor(id),
            VendorServer.facts(),
            null,
            call.maxTokens(OptionalInt.of(most + 1)).build()));
  }

  private static ModelCall tools(ToolChoice choice, String asked) {
    return hi().tools(List.of(TOOL)).toolChoice(choice).reasoning(reasoning(asked)).build();
  }

  private static ToolChoice choice(String name) {
    return switch (name) {
      case "AUTO" -> ToolChoice.AUTO;
      case "NONE" -> ToolChoice.NONE;
      case "REQUIRED" -> ToolChoice.REQUIRED;
      default -> new ToolChoice.Named("f");
    };
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "openai     | -        | NAMED    |"
            + " ,\"tool_choice\":{\"type\":\"function\",\"function\":{\"name\":\"f\"}}",
        "openrouter | -        | REQUIRED | ,\"tool_choice\":\"required\"",
        "deepseek   | -        | NAMED    |"
            + " ,\"tool_choice\":{\"type\":\"function\",\"function\":{\"name\":\"f\"}}",
        "kimi       | -        | NAMED    |"
            + " ,\"tool_choice\":{\"type\":\"function\",\"function\":{\"name\":\"f\"}}",
        "kimi       | NO_REQUIRED_TOOL | NONE | ,\"tool_choice\":\"none\"",
        "meta       | -        | AUTO     | ``",
        "zai        | -        | AUTO     | ``",
        "xai        | -        | REQUIRED | ,\"tool_choice\":\"required\"",
        "xai        | -        | NAMED    |"
            + " ,\"tool_choice\":{\"type\":\"function\",\"name\":\"f\"}",
        "qwen       | -        | NONE     | ,\"tool_choice\":\"none\"",
        "qwen       | -        | NAMED    |"
            + " ,\"tool_choice\":{\"type\":\"allowed_tools\",\"mode\":\"required\",\"tools\":[{\"type\":\"function\",\"name\":\"f\"}]}"
      })
  void a_tool_choice_is_written_as_the_vendor_wants_it(
      String id, String traits, String choice, String expected) throws Exception {
    String members =
        members(
            id,
            traits.equals("-")
                ? VendorServer.facts()
                : VendorServer.facts(ModelTrait.valueOf(traits)),
            tools(choice(choice), "-"));
    String tools = server.lastPath().equals("/responses") ? RESPONSES_TOOLS : CHAT_TOOLS;
    assertTrue(members.startsWith(tools + expected), members);
    assertEquals(!expected.isEmpty(), members.contains("tool_choice"), members);
  }

  @ParameterizedTest
  @CsvSource({
    "meta, -, NONE, -",
    "meta, -, REQUIRED, -",
    "meta, -, NAMED, -",
    "zai, -, NONE, -",
    "zai, -, REQUIRED, -",
    "zai, -, NAMED, -",
    "kimi, NO_REQUIRED_TOOL, REQUIRED, -",
    "kimi, -, NAMED, HIGH",
    "kimi, REASONS_ALWAYS, NAMED, -",
    "openai, NO_REQUIRED_TOOL, REQUIRED, -",
    "openai, NO_REQUIRED_TOOL, NAMED, -",
    "deepseek, -, NONE, HIGH",
    "deepseek, -, REQUIRED, HIGH",
    "deepseek, -, NAMED, MAX",
    "deepseek, REASONS_ALWAYS, REQUIRED, -"
  })
  void a_tool_choice_that_is_not_taken_is_refused(
      String id, String traits, String choice, String asked) {
    ModelCall call = tools(choice(choice), asked);
    String refusal = server.refusal(vendor(id), facts(traits), null, call);
    assertTrue(refusal.contains("choice"), refusal);
  }

  @Test
  void a_named_tool_is_taken_by_kimi_while_it_does_not_reason() throws Exception {
    assertTrue(
        members(
                "kimi",
                VendorServer.reasoning(ModelTrait.NO_REQUIRED_TOOL),
                tools(choice("NAMED"), "NONE"))
            .contains("\"tool_choice\":{"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "deepseek | HIGH | temperature | {}",
        "deepseek | -    | temperature | {}",
        "deepseek | HIGH | top_p       | {\"top_p\":0.5}",
        "deepseek | -    | top_p       | {\"top_p\":0.5,\"thinking\":{\"type\":\"enabled\"}}",
        "xai      | LOW  | stop        | {\"stop\":[\"x\"]}",
        "xai      | LOW  | presence_penalty  | {\"presence_penalty\":1}",
        "xai      | LOW  | frequency_penalty | {\"frequency_penalty\":1}"
      })
  void what_a_vendor_does_not_take_while_a_model_reasons_is_refused(
      String id, String asked, String member, String options) {
    ModelCall.Builder call = hi().reasoning(reasoning(asked)).providerOptions(Json.parse(options));
    if (member.equals("temperature")) {
      call.temperature(OptionalDouble.of(0.5));
    }
    for (Api api : vendor(id).apis()) {
      assertEquals(
          "While this model reasons it takes no %s: leave it out, or ask for the effort NONE."
              .formatted(member),
          server.refusal(vendor(id), VendorServer.reasoning(), api, call.build()));
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "NONE | {\"top_p\":0.5}",
        "-    | {\"top_p\":0.5,\"thinking\":{\"type\":\"disabled\"}}"
      })
  void while_deepseek_does_not_think_it_takes_sampling(String asked, String options)
      throws Exception {
    String body =
        server.body(
            Vendor.DEEPSEEK,
            VendorServer.reasoning(),
            hi().reasoning(reasoning(asked))
                .temperature(OptionalDouble.of(0.5))
                .providerOptions(Json.parse(options))
                .build());
    assertTrue(body.contains("\"temperature\":0.5"), body);
    assertTrue(body.contains("\"top_p\":0.5"), body);
    assertTrue(body.contains("\"thinking\":{\"type\":\"disabled\"}"), body);
  }

  @ParameterizedTest
  @ValueSource(strings = {"kimi", "openai", "xai"})
  void a_model_of_fixed_sampling_takes_no_temperature(String id) {
    assertEquals(
        "This model's sampling is fixed: leave out temperature.",
        server.refusal(
            vendor(id),
            VendorServer.facts(ModelTrait.FIXED_SAMPLING),
            null,
            hi().temperature(OptionalDouble.of(1)).build()));
  }

  private static final OutputFormat SCHEMA =
      new OutputFormat.JsonSchema(
          "trip",
          Optional.of("A journey."),
          Json.parse(
              """
              {"type":"object","properties":{},"required":[],"additionalProperties":false}
              """));

  @ParameterizedTest
  @ValueSource(strings = {"openai", "azure", "kimi", "meta", "openrouter", "qwen", "bedrock"})
  void a_schema_is_held_by_the_vendor(String id) throws Exception {
    String members = members(id, VendorServer.facts(), hi().output(Optional.of(SCHEMA)).build());
    assertTrue(
        members.contains(
            """
            ,"response_format":{"type":"json_schema","json_schema":{"name":"trip",\
            "description":"A journey.","strict":true,"schema":{"type":"object","properties":{},\
            "required":[],"additionalProperties":false}}}\
            """),
        members);
  }

  @ParameterizedTest
  @ValueSource(strings = {"deepseek", "zai"})
  void a_schema_is_told_where_a_vendor_holds_to_json_only(String id) throws Exception {
    List<Message> messages =
        List.of(Message.system("Be brief."), Message.user("Hi"), Message.assistant("Hm."));
    String body =
        server.body(
            vendor(id),
            VendorServer.facts(),
            ModelCall.builder(messages).output(Optional.of(SCHEMA)).build());
    assertEquals(
        """
        {"model":"m","messages":[{"role":"system","content":"Be brief."},{"role":"system",\
        "content":"Answer with one JSON object, named trip, and nothing else. A journey. It \
        matches this JSON Schema: {\\"type\\":\\"object\\",\\"properties\\":{},\\"required\\":[],\
        \\"additionalProperties\\":false}"},{"role":"user","content":"Hi"},{"role":"assistant",\
        "content":"Hm."}],"response_format":{"type":"json_object"},"stream":false}\
        """,
        body);
    assertTrue(
        server
            .body(
                vendor(id),
                VendorServer.facts(),
                ModelCall.builder(List.of(Message.system("All.")))
                    .output(Optional.of(SCHEMA))
                    .build())
            .contains("{\"role\":\"system\",\"content\":\"Answer with one JSON object"));
    assertEquals(
        ",\"response_format\":{\"type\":\"json_object\"}",
        members(
            id,
            VendorServer.facts(),
            hi().output(Optional.of(new OutputFormat.JsonObject())).build()));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "openai   | ,\"stream\":true,\"stream_options\":{\"include_usage\":true}}",
        "deepseek | ,\"stream\":true,\"stream_options\":{\"include_usage\":true}}",
        "qwen     | ,\"stream\":true,\"stream_options\":{\"include_usage\":true}}",
        "kimi     | ,\"stream\":true,\"stream_options\":{\"include_usage\":true}}",
        "zai      | ,\"stream\":true,\"tool_stream\":true}",
        "xai      | ,\"include\":[\"reasoning.encrypted_content\"],\"store\":false,\"stream\":true}"
      })
  @Tag("Y33")
  void a_stream_with_tools_asks_for_what_the_vendor_needs_to_be_asked_for(String id, String end)
      throws Exception {
    server.stream(vendor(id), VendorServer.facts(), tools(ToolChoice.AUTO, "-"));
    assertTrue(server.lastBody().endsWith(end), server.lastBody());
    assertTrue(server.lastRequest().contains("Accept: text/event-stream\r\n"));
    server.stream(vendor(id), VendorServer.facts(), hi().build());
    assertTrue(!server.lastBody().contains("tool_stream"), server.lastBody());
  }

  @Test
  @Tag("R376")
  void tools_that_a_vendor_runs_itself_stand_before_those_of_the_call() throws Exception {
    String body =
        server.body(
            Vendor.ZAI,
            VendorServer.facts(),
            hi().tools(List.of(TOOL))
                .providerOptions(Json.parse("{\"tools\":[{\"type\":\"web_search\"}]}"))
                .build());
    assertEquals(
        "{\"tools\":[{\"type\":\"web_search\"},"
            + CHAT_TOOLS.substring(",\"tools\":[".length())
            + ","
            + CHAT_HI.substring(1)
            + ",\"stream\":false}",
        body);
  }

  @Test
  void openrouter_tries_no_other_upstream_unless_it_may() throws Exception {
    for (boolean may : List.of(true, false)) {
      String body =
          server.body(
              Vendor.OPENROUTER,
              VendorServer.facts(),
              hi().providerOptions(
                      Json.parse(
                          "{\"provider\":{\"order\":[\"x\"],\"allow_fallbacks\":" + may + "}}"))
                  .build());
      assertTrue(
          body.startsWith("{\"provider\":{\"order\":[\"x\"],\"allow_fallbacks\":" + may + "}"),
          body);
    }
  }

  @Test
  void deepseek_takes_128_tools_and_no_name_of_other_characters() throws Exception {
    List<ToolSpec> tools = new ArrayList<>();
    for (int i = 0; i < 129; i++) {
      tools.add(new ToolSpec("f" + i, "", TOOL.inputSchema()));
    }
    assertEquals(
        "The tools of a call must be between 0 and 128 for this vendor, but are 129.",
        server.refusal(Vendor.DEEPSEEK, VendorServer.facts(), null, hi().tools(tools).build()));
    server.body(Vendor.DEEPSEEK, VendorServer.facts(), hi().tools(tools.subList(0, 128)).build());
    for (String name : List.of("a.b", "x".repeat(65))) {
      Message turn =
          new Message(Role.ASSISTANT, List.of(new ToolCall("1", name, Json.EMPTY_OBJECT)));
      String refusal =
          server.refusal(
              Vendor.DEEPSEEK,
              VendorServer.facts(),
              null,
              ModelCall.builder(List.of(turn)).build());
      assertTrue(refusal.contains("[A-Za-z0-9_-]{1,64}"), refusal);
    }
  }

  private static Message turn(Part... before) {
    List<Part> parts = new ArrayList<>(List.of(before));
    parts.add(new ToolCall("functions.f:0", "f", Json.parse("{\"a\":1.50}")));
    return new Message(Role.ASSISTANT, parts);
  }

  private static List<Message> round(Part... before) {
    ToolResult result = new ToolResult("functions.f:0", "f", Json.of(Map.of("ok", true)), false);
    return List.of(Message.user("Hi"), turn(before), new Message(Role.TOOL, List.of(result)));
  }

  private static ProviderState state(String protocol, String modelId, String data) {
    return ProviderState.of(protocol, modelId, Json.parse(data));
  }

  private static ProviderState content(String text) {
    return state("chat-reasoning-content", "m", "{\"reasoning_content\":" + text + "}");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "deepseek | \"content\":\"\",\"reasoning_content\":\"Ä\\n\\\"x\\\" \",",
        "kimi     | \"content\":null,\"reasoning_content\":\"Ä\\n\\\"x\\\" \",",
        "zai      | \"content\":null,\"reasoning_content\":\"Ä\\n\\\"x\\\" \",",
        "openai   | \"content\":null,",
        "openrouter | \"content\":null,"
      })
  @Tag("FR-Q05")
  @Tag("Y47")
  @Tag("R70")
  void a_tool_round_is_sent_with_what_was_thought_before_it(String id, String beforeCalls)
      throws Exception {
    String body =
        server.body(
            vendor(id),
            VendorServer.facts(),
            ModelCall.builder(round(content("\"Ä\\n\\\"x\\\" \""))).build());
    String expected =
        "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"},"
            + "{\"role\":\"assistant\","
            + beforeCalls
            + """
            "tool_calls":[{"id":"functions.f:0","type":"function","function":{"name":"f",\
            "arguments":"{\\"a\\":1.50}"}}]},{"role":"tool","tool_call_id":"functions.f:0",\
            "content":"{\\"ok\\":true}"}]\
            """;
    assertTrue(body.startsWith(expected), body);
  }

  @Test
  @Tag("FR-Q05")
  void qwen_gets_back_in_chat_what_it_thought_there() throws Exception {
    String body =
        server.body(
            Vendor.QWEN,
            VendorServer.facts(),
            ModelCall.builder(round(content("\"Hm.\""))).maxTokens(OptionalInt.of(9)).build());
    assertTrue(body.contains("\"content\":null,\"reasoning_content\":\"Hm.\","), body);
  }

  @Test
  @Tag("Y47")
  void details_go_back_to_the_same_model_only_and_byte_for_byte() throws Exception {
    String details =
        "{\"reasoning_details\":[{\"type\":\"reasoning.encrypted\",\"data\":\"a+/=\",\"n\":1.10}]}";
    String members = details.substring(1, details.length() - 1);
    for (String modelId : List.of("m", "other")) {
      String body =
          server.body(
              Vendor.OPENROUTER,
              VendorServer.facts(),
              ModelCall.builder(round(state("chat-reasoning-details", modelId, details))).build());
      assertEquals(modelId.equals("m"), body.contains(members), body);
    }
  }

  @Test
  @Tag("R70")
  void what_one_deepseek_model_thought_another_is_told() throws Exception {
    String body =
        server.body(
            Vendor.DEEPSEEK,
            VendorServer.facts(),
            ModelCall.builder(
                    round(
                        state("chat-reasoning-content", "older", "{\"reasoning_content\":\"H\"}")))
                .build());
    assertTrue(body.contains("\"reasoning_content\":\"H\""), body);
  }

  @Test
  @Tag("FR-Q07")
  void reasoning_is_never_made_up() throws Exception {
    for (Vendor vendor : List.of(Vendor.DEEPSEEK, Vendor.KIMI, Vendor.ZAI)) {
      String body =
          server.body(vendor, VendorServer.reasoning(), ModelCall.builder(round()).build());
      assertTrue(!body.contains("reasoning_content"), body);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "tools | ,\"thinking\":{\"type\":\"enabled\",\"clear_thinking\":false}",
        "history | ,\"thinking\":{\"type\":\"enabled\",\"clear_thinking\":false}",
        "off | ,\"thinking\":{\"type\":\"disabled\"}"
      })
  void z_ai_is_asked_not_to_forget_what_it_thought(String what, String expected) throws Exception {
    ModelCall.Builder call =
        switch (what) {
          case "tools" -> hi().tools(List.of(TOOL));
          case "history" ->
              ModelCall.builder(
                  List.of(
                      Message.user("Hi"),
                      new Message(
                          Role.ASSISTANT, List.of(content("\"H\""), new Part.Text("Ho.")))));
          default -> hi().tools(List.of(TOOL)).reasoning(reasoning("NONE"));
        };
    String body = server.body(Vendor.ZAI, VendorServer.reasoning(), call.build());
    assertTrue(body.contains(expected), body);
    assertTrue(!server.body(Vendor.ZAI, VendorServer.facts(), hi().build()).contains("thinking"));
  }

  private static ModelCall.Builder portable(Part... before) {
    return ModelCall.builder(round(before)).toolResults(ToolResultFormat.ENVELOPE);
  }

  @Test
  @Tag("R199")
  @Tag("R195")
  void over_portable_history_deepseek_and_qwen_do_not_think() throws Exception {
    ModelFacts facts = VendorServer.reasoning();
    assertEquals(
        """
        {"model":"m","messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"",\
        "tool_calls":[{"id":"functions.f:0","type":"function","function":{"name":"f",\
        "arguments":"{\\"a\\":1.50}"}}]},{"role":"tool","tool_call_id":"functions.f:0",\
        "content":"{\\"output\\":{\\"ok\\":true}}"}],"thinking":{"type":"disabled"},\
        "stream":false}\
        """,
        server.body(Vendor.DEEPSEEK, facts, portable().build()));
    assertTrue(
        server.body(Vendor.QWEN, facts, portable().build()).contains(",\"enable_thinking\":false,"),
        server.lastBody());
    assertEquals("/responses", server.lastPath());
    assertTrue(
        server
            .body(Vendor.QWEN, facts, portable().maxTokens(OptionalInt.of(9)).build())
            .contains(",\"enable_thinking\":false,"),
        server.lastBody());
    assertEquals("/chat/completions", server.lastPath());
    for (String other : List.of("openai", "azure", "kimi", "xai", "meta", "openrouter")) {
      String body = server.body(vendor(other), facts, portable().build());
      assertTrue(!body.contains("thinking"), body);
    }
  }

  @Test
  @Tag("R199")
  void to_ask_for_no_thinking_is_no_request_to_think() throws Exception {
    for (Vendor vendor : List.of(Vendor.DEEPSEEK, Vendor.QWEN)) {
      String body =
          server.body(
              vendor, VendorServer.reasoning(), portable().reasoning(reasoning("NONE")).build());
      assertTrue(body.contains(vendor == Vendor.QWEN ? "false" : "disabled"), body);
    }
  }

  @Test
  @Tag("R199")
  void calls_that_a_model_made_itself_it_may_think_over() throws Exception {
    String body =
        server.body(
            Vendor.DEEPSEEK,
            VendorServer.reasoning(),
            portable(content("\"Hm.\"")).reasoning(reasoning("HIGH")).build());
    assertTrue(body.contains("\"reasoning_content\":\"Hm.\""), body);
    assertTrue(body.contains("\"thinking\":{\"type\":\"enabled\"}"), body);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "deepseek | HIGH   | - | {}",
        "deepseek | -      | - | {\"thinking\":{\"type\":\"enabled\"}}",
        "deepseek | -      | - | {\"reasoning_effort\":\"high\"}",
        "deepseek | -      | REASONS_ALWAYS | {}",
        "qwen     | LOW    | - | {}",
        "qwen     | BUDGET | - | {}",
        "qwen     | -      | - | {\"enable_thinking\":true}",
        "qwen     | -      | - | {\"thinking_budget\":9}",
        "qwen     | -      | - | {\"reasoning\":{\"effort\":\"high\"}}",
        "qwen     | NONE   | - | {\"enable_thinking\":true}"
      })
  @Tag("R200")
  void a_request_to_think_over_portable_history_is_refused(
      String id, String asked, String traits, String options) {
    String refusal =
        server.refusal(
            vendor(id),
            facts(traits),
            null,
            portable().reasoning(reasoning(asked)).providerOptions(Json.parse(options)).build());
    assertTrue(refusal.startsWith("This model cannot reason over tool calls"), refusal);
  }
}
