package dev.warpwright.adapters.openai;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.Gateway;
import dev.warpwright.GenerateRequest;
import dev.warpwright.GenerateResult;
import dev.warpwright.adapters.HttpAdapter;
import dev.warpwright.adapters.http.RawServer;
import dev.warpwright.model.Attempt;
import dev.warpwright.model.Capability;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCapabilities;
import dev.warpwright.model.Reasoning;
import dev.warpwright.model.Reasoning.Effort;
import dev.warpwright.model.Role;
import dev.warpwright.model.Route;
import dev.warpwright.model.Target;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.ToolHistory;
import dev.warpwright.model.ToolResult;
import dev.warpwright.tool.EffectClass;
import dev.warpwright.tool.Tool;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Private reasoning and portable history of vendors on their way through a gateway. */
@Timeout(60)
final class VendorsOverGatewayTest {
  private static final ModelCapabilities CAN_REASON =
      ModelCapabilities.TEXT_AND_TOOLS.with(Capability.REASONING).with(ToolHistory.JSON);
  private static final String CALLS =
      """
      {"choices":[{"message":{"content":"","reasoning_content":"Hm \\"ä\\".","tool_calls":[\
      {"id":"look:0","type":"function","function":{"name":"look","arguments":"{\\"at\\":\\"x\\"}"}}]},\
      "finish_reason":"tool_calls"}]}\
      """;
  private static final String DONE =
      "{\"choices\":[{\"message\":{\"content\":\"Done.\"},\"finish_reason\":\"stop\"}]}";
  private static final String RESPONSES_DONE =
      "{\"status\":\"completed\",\"output\":[{\"type\":\"message\",\"content\":\"Done.\"}]}";

  record Place(String at) {}

  private static Tool look() {
    return Tool.builder(
            "look",
            "Looks.",
            Place.class,
            MethodHandles.lookup(),
            EffectClass.PURE,
            (place, context) -> "seen " + place.at())
        .build();
  }

  /** Asks for a tool, and says that it is done when it has the result. */
  private static RawServer server(String status) throws IOException {
    RawServer[] self = new RawServer[1];
    self[0] =
        new RawServer(
            connection -> {
              String request = self[0].requests().getLast();
              boolean later = request.contains("\"look:0\"");
              String done = request.startsWith("POST /responses") ? RESPONSES_DONE : DONE;
              connection.answer(
                  later ? status : "200 OK", "application/json", later ? done : CALLS);
            });
    return self[0];
  }

  private static HttpAdapter adapter(Vendor vendor, RawServer server) {
    return OpenAi.builder(vendor)
        .apiKey("k")
        .baseUrl(server.uri())
        .capabilities(model -> CAN_REASON)
        .build();
  }

  @ParameterizedTest
  @ValueSource(strings = {"200 OK", "400 Bad Request"})
  @Tag("R70")
  @Tag("Y47")
  @Tag("FR-Q09")
  void what_one_vendor_thought_comes_back_to_it_and_to_no_other(String status) throws Exception {
    try (RawServer one = server(status);
        RawServer two = server("200 OK");
        HttpAdapter deepSeek = adapter(Vendor.DEEPSEEK, one);
        HttpAdapter kimi = adapter(Vendor.KIMI, two);
        Gateway gateway =
            Gateway.builder().adapter("deepseek", deepSeek).adapter("kimi", kimi).build()) {
      GenerateResult result =
          gateway.generate(
              GenerateRequest.builder(
                      Route.of(Target.of("deepseek", "m"), Target.of("kimi", "m")), "Look.")
                  .tools(look())
                  .maxSteps(3)
                  .build());
      assertEquals("Done.", result.text());
      String later = one.requests().getLast();
      assertTrue(
          later.contains("\"content\":\"\",\"reasoning_content\":\"Hm \\\"ä\\\".\",\"tool_calls\""),
          later);
      assertEquals(status.equals("200 OK") ? 0 : 1, two.requests().size());
      for (String request : two.requests()) {
        assertTrue(request.contains("\"look:0\""), request);
        assertFalse(request.contains("reasoning_content"), request);
      }
    }
  }

  private static List<Message> history() {
    return List.of(
        Message.user("Look."),
        new Message(
            Role.ASSISTANT, List.of(new ToolCall("look:0", "look", Json.parse("{\"at\":\"x\"}")))),
        new Message(Role.TOOL, List.of(new ToolResult("look:0", "look", Json.of("seen"), false))));
  }

  private static GenerateRequest.Builder fromHistory() {
    return GenerateRequest.builder(
        Route.of(Target.of("one", "m"), Target.of("two", "m")), history());
  }

  @Test
  @Tag("R199")
  void portable_history_goes_to_deepseek_and_qwen_without_thinking() throws Exception {
    for (Vendor vendor : List.of(Vendor.DEEPSEEK, Vendor.QWEN)) {
      try (RawServer server = server("200 OK");
          HttpAdapter one = adapter(vendor, server);
          HttpAdapter two = adapter(Vendor.OPENAI, server);
          Gateway gateway = Gateway.builder().adapter("one", one).adapter("two", two).build()) {
        assertEquals("Done.", gateway.generate(fromHistory().build()).text());
        assertEquals(1, server.requests().size());
        String request = server.requests().getLast();
        assertTrue(
            request.contains("\"thinking\":{\"type\":\"disabled\"}")
                || request.contains("\"enable_thinking\":false"),
            request);
        assertTrue(request.contains("{\\\"output\\\":\\\"seen\\\"}"), request);
      }
    }
  }

  @Test
  @Tag("R200")
  void a_request_to_think_over_it_goes_to_the_next_target_and_costs_no_attempt() throws Exception {
    for (Vendor vendor : List.of(Vendor.DEEPSEEK, Vendor.QWEN)) {
      for (boolean asOption : List.of(false, true)) {
        try (RawServer refused = server("200 OK");
            RawServer asked = server("200 OK");
            HttpAdapter one = adapter(vendor, refused);
            HttpAdapter two = adapter(Vendor.OPENAI, asked);
            Gateway gateway =
                Gateway.builder()
                    .adapter("one", one)
                    .adapter("two", two)
                    .maxTotalAttempts(1)
                    .build()) {
          GenerateRequest.Builder request = fromHistory();
          if (asOption) {
            request.providerOptions(
                "one",
                Json.parse("{\"thinking\":{\"type\":\"enabled\"},\"enable_thinking\":true}"));
          } else {
            request.reasoning(Reasoning.effort(Effort.HIGH));
          }
          GenerateResult result = gateway.generate(request.build());
          assertEquals("Done.", result.text());
          assertEquals(0, refused.requests().size(), "nothing is sent");
          assertEquals(
              List.of(Attempt.ReasonCode.MODEL_CAPABILITIES, Attempt.ReasonCode.PROVIDER_SUCCESS),
              result.attempts().stream().map(Attempt::reasonCode).toList());
        }
      }
    }
  }
}
