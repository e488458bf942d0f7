package dev.warpwright.adapters.openai;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.adapters.ModelFacts;
import dev.warpwright.adapters.ModelTrait;
import dev.warpwright.model.Conversation;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.OutputFormat;
import dev.warpwright.model.ProviderApproval;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.ProviderState;
import dev.warpwright.model.Reasoning;
import dev.warpwright.model.Role;
import dev.warpwright.model.ToolSpec;
import java.net.URI;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which protocol a call goes to. */
@Timeout(60)
final class ApiRuleTest {
  private static final Vendor AZURE = Vendor.azure(URI.create("https://me.openai.azure.com"));
  private static final Vendor DEPLOYMENTS =
      Vendor.azure(URI.create("https://me.openai.azure.com"), "2024-10-21");
  private static final Vendor BEDROCK = Vendor.bedrock(URI.create("https://bedrock.example/v1"));

  private VendorServer server;

  @BeforeEach
  void start() throws Exception {
    server = new VendorServer();
  }

  @AfterEach
  void stop() throws Exception {
    server.close();
  }

  private static ModelCall call(String what) {
    ModelCall.Builder call = ModelCall.builder(List.of(Message.user("Hi")));
    return switch (what) {
      case "text", "text stream" -> call.build();
      case "tools", "tools stream" ->
          call.tools(List.of(new ToolSpec("f", "A tool.", Json.EMPTY_OBJECT))).build();
      case "hosted" -> options(call, "{\"tools\":[{\"type\":\"web_search\"}]}");
      case "own tool as option" -> options(call, "{\"tools\":[{\"type\":\"function\"}]}");
      case "decision" ->
          ModelCall.builder(
                  Conversation.of(
                          List.of(
                              new Message(
                                  Role.ASSISTANT,
                                  List.of(
                                      ProviderState.of("openai-responses", "m", Json.EMPTY_OBJECT)
                                          .issuedBy("v")
                                          .asking(
                                              ProviderApproval.of(
                                                  "r",
                                                  Optional.empty(),
                                                  "f",
                                                  Json.EMPTY_OBJECT))))))
                      .answered("v", "r", ProviderApproval.Answer.approve()))
              .build();
      case "limit" -> call.maxTokens(OptionalInt.of(5)).build();
      case "budget" -> call.reasoning(Optional.of(Reasoning.budget(500))).build();
      case "budget as option" -> options(call, "{\"thinking_budget\":500}");
      case "effort" -> call.reasoning(Optional.of(Reasoning.effort(Reasoning.Effort.LOW))).build();
      case "object" -> call.output(Optional.of(new OutputFormat.JsonObject())).build();
      case "hosted and limit" ->
          options(
              call.maxTokens(OptionalInt.of(5)), "{\"tools\":[{\"type\":\"code_interpreter\"}]}");
      default -> throw new AssertionError(what);
    };
  }

  private static ModelCall options(ModelCall.Builder call, String options) {
    return call.providerOptions(Json.parse(options)).build();
  }

  private static Vendor vendor(String name) {
    return switch (name) {
      case "OPENAI" -> Vendor.OPENAI;
      case "DEEPSEEK" -> Vendor.DEEPSEEK;
      case "QWEN" -> Vendor.QWEN;
      case "KIMI" -> Vendor.KIMI;
      case "XAI" -> Vendor.XAI;
      case "META" -> Vendor.META;
      case "ZAI" -> Vendor.ZAI;
      case "OPENROUTER" -> Vendor.OPENROUTER;
      case "AZURE" -> AZURE;
      case "DEPLOYMENTS" -> DEPLOYMENTS;
      case "BEDROCK" -> BEDROCK;
      default -> throw new AssertionError(name);
    };
  }

  @ParameterizedTest
  @CsvSource({
    "OPENAI, text, CHAT",
    "OPENAI, tools stream, CHAT",
    "OPENAI, effort, CHAT",
    "OPENAI, own tool as option, CHAT",
    "OPENAI, hosted, RESPONSES",
    "OPENAI, decision, RESPONSES",
    "AZURE, text, CHAT",
    "AZURE, hosted, RESPONSES",
    "BEDROCK, text, CHAT",
    "BEDROCK, hosted, RESPONSES",
    "META, tools, CHAT",
    "META, hosted, RESPONSES",
    "XAI, text, RESPONSES",
    "XAI, limit, RESPONSES",
    "XAI, tools stream, RESPONSES",
    "XAI, hosted, RESPONSES",
    "QWEN, text, RESPONSES",
    "QWEN, text stream, RESPONSES",
    "QWEN, effort, RESPONSES",
    "QWEN, tools, RESPONSES",
    "QWEN, hosted, RESPONSES",
    "QWEN, tools stream, CHAT",
    "QWEN, limit, CHAT",
    "QWEN, budget, CHAT",
    "QWEN, budget as option, CHAT",
    "QWEN, object, CHAT",
    "DEEPSEEK, hosted, CHAT",
    "KIMI, hosted, CHAT",
    "ZAI, hosted, CHAT",
    "OPENROUTER, hosted, CHAT",
    "DEPLOYMENTS, hosted, CHAT"
  })
  void each_call_goes_to_the_protocol_that_it_needs(String vendor, String what, Api api) {
    assertEquals(
        api,
        vendor(vendor).rule().choose(call(what), VendorServer.facts(), what.endsWith(" stream")));
  }

  @Test
  void a_model_that_reasons_over_tools_in_responses_only_is_asked_there() {
    ModelFacts facts = VendorServer.facts(ModelTrait.CHAT_TOOLS_WITHOUT_REASONING);
    ApiRule rule = Vendor.OPENAI.rule();
    ModelCall tools = call("tools");
    ModelCall withoutReasoning =
        ModelCall.builder(List.of())
            .tools(tools.tools())
            .reasoning(Optional.of(Reasoning.effort(Reasoning.Effort.NONE)))
            .build();
    assertEquals(Api.RESPONSES, rule.choose(tools, facts, false));
    assertEquals(Api.CHAT, rule.choose(withoutReasoning, facts, false));
    assertEquals(Api.CHAT, rule.choose(call("effort"), facts, false));
    String refusal = server.refusal(Vendor.OPENAI, facts, Api.CHAT, tools);
    assertTrue(refusal.contains("effort NONE"), refusal);
  }

  @ParameterizedTest
  @CsvSource({"OPENAI", "AZURE", "META", "QWEN", "XAI"})
  void a_model_that_is_offered_in_responses_only_is_asked_there(String vendor) {
    ModelFacts facts = VendorServer.facts(ModelTrait.RESPONSES_ONLY);
    for (String what : List.of("text", "limit", "object", "tools stream")) {
      assertEquals(Api.RESPONSES, vendor(vendor).rule().choose(call(what), facts, true));
    }
  }

  @ParameterizedTest
  @CsvSource({
    "OPENAI, CHAT, hosted, Tools that the vendor runs itself",
    "OPENAI, CHAT, decision, Tools that the vendor runs itself",
    "META, CHAT, hosted, Tools that the vendor runs itself",
    "XAI, CHAT, hosted, Tools that the vendor runs itself",
    "QWEN, CHAT, hosted, Tools that the vendor runs itself",
    "QWEN, RESPONSES, limit, maxTokens",
    "QWEN, RESPONSES, object, form of answer",
    "QWEN, RESPONSES, budget, not a budget",
    "QWEN, RESPONSES, hosted and limit, maxTokens"
  })
  void a_call_that_the_protocol_that_was_set_cannot_take_is_refused(
      String vendor, Api forced, String what, String reason) {
    String refusal = server.refusal(vendor(vendor), VendorServer.facts(), forced, call(what));
    assertTrue(refusal.contains(reason), refusal);
  }

  @Test
  void what_neither_of_two_protocols_takes_is_refused_too() {
    String refusal =
        server.refusal(Vendor.QWEN, VendorServer.facts(), null, call("hosted and limit"));
    assertTrue(refusal.contains("maxTokens"), refusal);
  }

  @Test
  void a_model_of_responses_only_is_refused_in_chat() {
    String refusal =
        server.refusal(
            Vendor.OPENAI, VendorServer.facts(ModelTrait.RESPONSES_ONLY), Api.CHAT, call("text"));
    assertTrue(refusal.contains("Responses only"), refusal);
  }

  @Test
  void the_protocol_that_was_set_is_used() throws Exception {
    server.model(Vendor.XAI, VendorServer.facts(), Api.CHAT).generate(call("text"));
    assertEquals("/chat/completions", server.lastPath());
    server.model(Vendor.OPENAI, VendorServer.facts(), Api.RESPONSES).generate(call("text"));
    assertEquals("/responses", server.lastPath());
  }

  @ParameterizedTest
  @CsvSource({
    "OPENAI, code_interpreter, true",
    "ZAI, mcp, true",
    "OPENROUTER, something_new, true",
    "OPENAI, web_search, false",
    "ZAI, web_search, false",
    "KIMI, function, false"
  })
  @Tag("R97")
  void what_a_vendor_runs_itself_may_have_acted_when_a_call_fails(
      String vendor, String type, boolean mayAct) {
    ModelCall call =
        options(
            ModelCall.builder(List.of(Message.user("Hi"))),
            "{\"tools\":[{\"type\":\"" + type + "\"}]}");
    VendorModel model = server.model(vendor(vendor), VendorServer.facts(), null);
    assertEquals(mayAct, model.mayAct(call));
    server.answering("503 Service Unavailable", "", "{}");
    for (Executable asking :
        List.<Executable>of(() -> model.generate(call), () -> model.stream(call, event -> {}))) {
      ProviderException failure = assertThrows(ProviderException.class, asking);
      assertEquals(mayAct, failure.mayHaveActed());
      assertEquals(503, failure.status());
    }
    server.answering("400 Bad Request", "", "{}");
    assertFalse(assertThrows(ProviderException.class, () -> model.generate(call)).mayHaveActed());
  }
}
