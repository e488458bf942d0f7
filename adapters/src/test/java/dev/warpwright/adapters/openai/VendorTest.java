package dev.warpwright.adapters.openai;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.adapters.HttpAdapter;
import dev.warpwright.adapters.ModelTrait;
import dev.warpwright.model.Capability;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelCapabilities;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.ProviderState;
import dev.warpwright.model.Reasoning;
import dev.warpwright.model.ToolHistory;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a vendor is: where it is, what it calls its variables, what is assumed of its models. */
@Timeout(60)
final class VendorTest {
  private static final ModelCall HI = ModelCall.builder(List.of(Message.user("Hi"))).build();

  private static final ModelCall LOW =
      ModelCall.builder(List.of())
          .reasoning(Optional.of(Reasoning.effort(Reasoning.Effort.LOW)))
          .build();

  private VendorServer server;

  @BeforeEach
  void start() throws Exception {
    server = new VendorServer();
  }

  @AfterEach
  void stop() throws Exception {
    server.close();
  }

  static List<Vendor> vendors() {
    return List.of(
        Vendor.OPENAI,
        Vendor.DEEPSEEK,
        Vendor.QWEN,
        Vendor.KIMI,
        Vendor.XAI,
        Vendor.META,
        Vendor.ZAI,
        Vendor.OPENROUTER,
        Vendor.azure(URI.create("https://me.openai.azure.com/")),
        Vendor.azure(URI.create("https://me.openai.azure.com"), "2024-10-21"),
        Vendor.bedrock(URI.create("https://bedrock.example/v1")));
  }

  @Test
  void each_vendor_has_its_own_base_url_and_variables() {
    assertEquals(
        """
        openai https://api.openai.com/v1 OPENAI_API_KEY OPENAI_BASE_URL
        deepseek https://api.deepseek.com DEEPSEEK_API_KEY DEEPSEEK_BASE_URL
        qwen https://dashscope-intl.aliyuncs.com/compatible-mode/v1 DASHSCOPE_API_KEY \
        DASHSCOPE_BASE_URL
        kimi https://api.moonshot.ai/v1 MOONSHOT_API_KEY MOONSHOT_BASE_URL
        xai https://api.x.ai/v1 XAI_API_KEY XAI_BASE_URL
        meta https://api.meta.ai/v1 META_API_KEY META_BASE_URL
        zai https://api.z.ai/api/paas/v4 ZAI_API_KEY ZAI_BASE_URL
        openrouter https://openrouter.ai/api/v1 OPENROUTER_API_KEY OPENROUTER_BASE_URL
        azure https://me.openai.azure.com/openai/v1 AZURE_OPENAI_API_KEY AZURE_OPENAI_BASE_URL
        azure https://me.openai.azure.com/openai AZURE_OPENAI_API_KEY AZURE_OPENAI_BASE_URL
        bedrock https://bedrock.example/v1 AWS_BEARER_TOKEN_BEDROCK BEDROCK_BASE_URL
        """,
        vendors().stream()
            .map(
                vendor ->
                    "%s %s %s %s\n"
                        .formatted(
                            vendor.id(),
                            vendor.defaults().baseUrl(),
                            vendor.defaults().keyVariable(),
                            vendor.defaults().baseUrlVariable()))
            .collect(Collectors.joining()));
  }

  @Test
  @Tag("Y50")
  @Tag("R193")
  void tool_history_is_declared_where_its_contract_is_shown_and_choice_where_it_is_taken() {
    Set<String> history = Set.of("openai", "azure", "deepseek", "qwen");
    Set<String> autoOnly = Set.of("meta", "zai");
    for (Vendor vendor : vendors()) {
      ModelCapabilities unknown = vendor.capabilities();
      assertEquals(
          history.contains(vendor.id()) ? ToolHistory.JSON : ToolHistory.NONE,
          unknown.toolHistory(),
          vendor.id());
      assertEquals(
          !autoOnly.contains(vendor.id()), unknown.has(Capability.TOOL_CHOICE), vendor.id());
      assertTrue(unknown.has(Capability.TOOLS) && unknown.has(Capability.STREAMING), vendor.id());
      assertFalse(unknown.has(Capability.REASONING), vendor.id());
    }
  }

  @ParameterizedTest
  @MethodSource("vendors")
  @Tag("R201")
  void a_model_that_always_thinks_takes_no_tool_history_where_it_would_think_over_it(
      Vendor vendor) {
    boolean thinksOverOwnOnly = Set.of("deepseek", "qwen").contains(vendor.id());
    ModelCapabilities declared = ModelCapabilities.TEXT_AND_TOOLS.with(ToolHistory.JSON);
    assertEquals(
        thinksOverOwnOnly ? ToolHistory.NONE : ToolHistory.JSON,
        vendor
            .fitting(VendorServer.facts(ModelTrait.REASONS_ALWAYS).with(declared))
            .capabilities()
            .toolHistory());
    assertEquals(
        ToolHistory.JSON,
        vendor.fitting(VendorServer.facts().with(declared)).capabilities().toolHistory());
    assertEquals(
        ToolHistory.NONE,
        vendor
            .fitting(VendorServer.facts().with(declared.with(ToolHistory.NATIVE)))
            .capabilities()
            .toolHistory());
  }

  @Test
  @Tag("R201")
  void what_the_file_of_models_knows_decides_the_protocol_and_the_history() throws Exception {
    try (HttpAdapter openAi =
            OpenAi.builder(Vendor.OPENAI).apiKey("k").baseUrl(server.uri()).build();
        HttpAdapter deepSeek =
            OpenAi.builder(Vendor.DEEPSEEK).apiKey("k").baseUrl(server.uri()).build()) {
      openAi.model("o3-pro").generate(HI);
      assertEquals("/responses", server.lastPath());
      openAi.model("gpt-4o").generate(HI);
      assertEquals("/chat/completions", server.lastPath());
      assertEquals(
          ToolHistory.NONE, deepSeek.model("deepseek-reasoner").capabilities().toolHistory());
      assertEquals(ToolHistory.JSON, deepSeek.model("deepseek-chat").capabilities().toolHistory());
    }
  }

  @ParameterizedTest
  @MethodSource("vendors")
  @Tag("Y33")
  @Tag("Y34")
  void the_key_comes_from_the_environment_and_travels_in_the_header_that_the_vendor_wants(
      Vendor vendor) throws Exception {
    Map<String, String> environment =
        Map.of(
            vendor.defaults().keyVariable(),
            "key-7",
            vendor.defaults().baseUrlVariable(),
            server.uri() + "/base");
    try (HttpAdapter adapter = OpenAi.builder(vendor).fromEnvironment(environment::get).build()) {
      adapter.model("m").generate(HI);
    }
    String request = server.lastRequest();
    boolean azure = vendor.id().equals("azure");
    assertEquals(azure, request.contains("api-key: key-7\r\n"), request);
    assertEquals(!azure, request.contains("Authorization: Bearer key-7\r\n"), request);
    assertTrue(server.lastPath().startsWith("/base/"), request);
    assertFalse(server.lastPath().contains("key-7"), request);
  }

  @Test
  void a_vendor_without_a_key_says_which_variable_would_hold_it() {
    InvalidRequestException refused =
        assertThrows(InvalidRequestException.class, () -> OpenAi.builder(Vendor.DEEPSEEK).build());
    assertTrue(refused.getMessage().contains("DEEPSEEK_API_KEY"), refused.getMessage());
    assertTrue(refused.getMessage().startsWith("DeepSeek needs"), refused.getMessage());
  }

  @Test
  void a_protocol_that_the_vendor_does_not_speak_is_refused() {
    InvalidRequestException refused =
        assertThrows(
            InvalidRequestException.class,
            () -> OpenAi.builder(Vendor.KIMI).apiKey("k").api(Api.RESPONSES).build());
    assertEquals("api must be one of [CHAT] for Kimi, but is RESPONSES.", refused.getMessage());
  }

  @Test
  void a_deployment_of_azure_stands_in_the_path_and_not_in_the_body() throws Exception {
    Vendor azure = Vendor.azure(server.uri(), "2024-10-21");
    try (HttpAdapter adapter = OpenAi.builder(azure).apiKey("k").build()) {
      adapter.model("my gpt/4").generate(HI);
      assertEquals(
          "/openai/deployments/my%20gpt%2F4/chat/completions?api-version=2024-10-21",
          server.lastPath());
      assertEquals(
          "{\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}],\"stream\":false}",
          server.lastBody());
      adapter.model("d").stream(HI, event -> {});
      assertEquals(
          "/openai/deployments/d/chat/completions?api-version=2024-10-21", server.lastPath());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "/", "/openai", "/openai/v1/"})
  void without_a_version_azure_is_asked_as_openai_is(String path) throws Exception {
    URI endpoint = URI.create(server.uri() + path);
    try (HttpAdapter adapter = OpenAi.builder(Vendor.azure(endpoint)).apiKey("k").build()) {
      adapter.model("d").generate(HI);
      assertEquals("/openai/v1/chat/completions", server.lastPath());
      assertTrue(server.lastBody().startsWith("{\"model\":\"d\","), server.lastBody());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "2024&x=1", "a b"})
  void a_version_that_would_change_the_url_is_refused(String version) {
    assertThrows(InvalidRequestException.class, () -> Vendor.azure(server.uri(), version));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "Acme", "a_b", "a b"})
  void an_id_of_other_characters_is_refused(String id) {
    InvalidRequestException refused =
        assertThrows(InvalidRequestException.class, () -> Vendor.builder(id, server.uri()));
    assertTrue(refused.getMessage().contains("1 to 64"), refused.getMessage());
  }

  @Test
  void a_vendor_of_the_programs_own_is_a_dozen_lines() throws Exception {
    Vendor acme =
        Vendor.builder("acme-ai", server.uri().resolve("/v9"))
            .name("Acme")
            .keyHeader("x-acme-key")
            .apis(Api.CHAT, Api.RESPONSES)
            .reasoning(ReasoningForm.THINKING, ReasoningField.REASONING_CONTENT)
            .capabilities(ModelCapabilities.TEXT_AND_TOOLS.with(Capability.REASONING))
            .build();
    assertEquals("ACME_AI_API_KEY", acme.defaults().keyVariable());
    assertEquals("ACME_AI_BASE_URL", acme.defaults().baseUrlVariable());
    try (HttpAdapter adapter = OpenAi.builder(acme).apiKey("k-1").build()) {
      assertTrue(adapter.model("m").capabilities().has(Capability.REASONING));
      server.answering(
          """
          {"choices":[{"message":{"content":"Hi.","reasoning_content":"Hm."},
           "finish_reason":"stop"}]}
          """);
      ModelResponse first =
          adapter
              .model("m")
              .generate(
                  ModelCall.builder(List.of(Message.user("Hi")))
                      .reasoning(Optional.of(Reasoning.effort(Reasoning.Effort.LOW)))
                      .build());
      assertEquals("/v9/chat/completions", server.lastPath());
      assertTrue(server.lastRequest().contains("x-acme-key: k-1\r\n"), server.lastRequest());
      assertEquals(
          "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}],"
              + "\"thinking\":{\"type\":\"enabled\"},\"stream\":false}",
          server.lastBody());
      assertTrue(first.message().parts().getFirst() instanceof ProviderState);
      server.answering("");
      adapter.model("m").generate(ModelCall.builder(List.of(first.message())).build());
      assertTrue(
          server.lastBody().contains("\"content\":\"Hi.\",\"reasoning_content\":\"Hm.\""),
          server.lastBody());
      server.answering("503 Service Unavailable", "x-request-id: r-1", "{}");
      ProviderException failed =
          assertThrows(ProviderException.class, () -> adapter.model("m").generate(HI));
      assertEquals("Acme request failed with status 503.", failed.getMessage());
      assertEquals("r-1", failed.requestId().orElseThrow());
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "REASONING_EFFORT | ,\"reasoning_effort\":\"low\"",
        "THINKING         | ,\"thinking\":{\"type\":\"enabled\"}",
        "ENABLE_THINKING  | ,\"enable_thinking\":true",
        "REASONING_OBJECT | ,\"reasoning\":{\"effort\":\"low\"}"
      })
  void an_own_vendor_is_asked_to_reason_in_its_form(ReasoningForm form, String expected)
      throws Exception {
    assertEquals(
        "{\"model\":\"m\",\"messages\":[]" + expected + ",\"stream\":false}",
        server.body(reasoning(form), VendorServer.facts(), LOW));
  }

  @Test
  void an_own_vendor_that_cannot_be_asked_to_reason_is_not() {
    String refusal = server.refusal(reasoning(ReasoningForm.NONE), VendorServer.facts(), null, LOW);
    assertTrue(refusal.startsWith("This vendor cannot be asked to reason"), refusal);
  }

  private Vendor reasoning(ReasoningForm form) {
    return Vendor.builder("acme", server.uri()).reasoning(form, ReasoningField.NONE).build();
  }

  @Test
  void the_first_protocol_of_an_own_vendor_is_the_usual_one() {
    URI uri = URI.create("https://acme.example");
    assertEquals(ApiRule.CHAT_ONLY, Vendor.builder("a", uri).build().rule());
    assertEquals(ApiRule.CHAT_ONLY, rule(Api.CHAT));
    assertEquals(ApiRule.RESPONSES_ONLY, rule(Api.RESPONSES));
    assertEquals(ApiRule.CHAT_FIRST, rule(Api.CHAT, Api.RESPONSES));
    assertEquals(ApiRule.RESPONSES_FIRST, rule(Api.RESPONSES, Api.CHAT));
    assertEquals(Set.of(Api.CHAT), Vendor.KIMI.apis());
  }

  private static ApiRule rule(Api first, Api... more) {
    return Vendor.builder("a", URI.create("https://acme.example")).apis(first, more).build().rule();
  }
}
