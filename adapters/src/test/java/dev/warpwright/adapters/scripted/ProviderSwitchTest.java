package dev.warpwright.adapters.scripted;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.Gateway;
import dev.warpwright.GenerateRequest;
import dev.warpwright.GenerateResult;
import dev.warpwright.adapters.anthropic.Anthropic;
import dev.warpwright.adapters.openai.Api;
import dev.warpwright.adapters.openai.OpenAi;
import dev.warpwright.json.StrictJson;
import dev.warpwright.model.Attempt;
import dev.warpwright.model.AttemptsExhaustedException;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.Part;
import dev.warpwright.model.ProviderAdapter;
import dev.warpwright.model.ProviderState;
import dev.warpwright.model.Role;
import dev.warpwright.model.Route;
import dev.warpwright.model.Target;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.ToolResult;
import dev.warpwright.tool.EffectClass;
import dev.warpwright.tool.Tool;
import dev.warpwright.tool.ToolException;
import java.lang.invoke.MethodHandles;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;

/**
 * A conversation with tools begins at one provider and goes on at another, over sockets. The
 * servers refuse calls without a result, results without a call, and private state that is not as
 * it was issued.
 */
@Timeout(30)
final class ProviderSwitchTest {
  private static final String THOUGHT = "s3cr3t thought";
  private static final Script SCRIPT =
      Script.parse(
          """
          { "rules": [
              { "when": { "turn": 0, "user": "^Look" }, "answer": {
                  "thinking": "s3cr3t thought", "text": "Wait.", "tools": [
                    { "name": "look", "input": { "at": "x" } },
                    { "name": "look", "input": { "at": "missing" } },
                    { "name": "look", "input": { "at": "odd" } } ] } },
              { "when": { "turn": 0, "user": "^And" }, "answer": {
                  "tools": [ { "name": "look", "input": { "at": "y" } } ] } },
              { "when": {}, "answer": { "text": "Seen." } } ],
            "faults": [ { "when": { "user": "^Fail" }, "status": 400,
              "body": { "error": { "type": "invalid_request_error",
                "message": "messages.2: seen x is not allowed" } } } ] }
          """);

  /** Whom the conversation may go to. */
  enum Provider {
    MESSAGES,
    CHAT,
    RESPONSES;

    String id() {
      return switch (this) {
        case MESSAGES -> "anthropic";
        case CHAT -> "openai-chat";
        case RESPONSES -> "openai";
      };
    }

    ProviderAdapter adapter(ScriptedServer server) {
      return switch (this) {
        case MESSAGES -> Anthropic.builder().baseUrl(server.uri()).thinkingBudget(1_024).build();
        case CHAT -> OpenAi.builder().baseUrl(server.uri()).build();
        case RESPONSES -> OpenAi.builder().api(Api.RESPONSES).baseUrl(server.uri()).build();
      };
    }
  }

  record Place(String at) {}

  /** What a destination was sent: calls, and the results that answer them. */
  record Sent(
      List<String> callIds, List<String> inputs, List<String> resultIds, List<String> said) {
    Sent() {
      this(new ArrayList<>(), new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
    }

    void call(JsonNode id, String input) {
      callIds.add(id.stringValue());
      inputs.add(input);
    }

    void result(JsonNode id, String text) {
      resultIds.add(id.stringValue());
      said.add(text);
    }
  }

  private final Map<Provider, ScriptedServer> servers = new EnumMap<>(Provider.class);
  private final Gateway gateway;
  private final List<String> looked = new CopyOnWriteArrayList<>();

  ProviderSwitchTest() {
    Gateway.Builder builder = Gateway.builder();
    for (Provider provider : Provider.values()) {
      ScriptedServer server = ScriptedServer.start(SCRIPT);
      servers.put(provider, server);
      builder.adapter(provider.id(), provider.adapter(server));
    }
    this.gateway = builder.build();
  }

  @AfterEach
  void nothingIsLeft() {
    gateway.close();
    servers.values().forEach(ScriptedServer::close);
  }

  private Object look(Place place) throws ToolException {
    looked.add(place.at());
    return switch (place.at()) {
      case "missing" -> throw new ToolException("There is no such place.");
      case "odd" -> Map.of("error", Map.of("message", "No."));
      default -> "seen " + place.at();
    };
  }

  private GenerateResult ask(Provider provider, List<Message> messages) {
    Route route = Route.of(Target.of(provider.id(), "m"));
    return gateway.generate(
        GenerateRequest.builder(route, messages)
            .tools(
                Tool.builder(
                        "look",
                        "Looks.",
                        Place.class,
                        MethodHandles.lookup(),
                        EffectClass.PURE,
                        (place, context) -> look(place))
                    .build())
            .maxSteps(3)
            .build());
  }

  private static List<Message> and(List<Message> messages, String question) {
    List<Message> more = new ArrayList<>(messages);
    more.add(Message.user(question));
    return more;
  }

  private Sent sent(Provider provider, int exchange) {
    JsonNode body = StrictJson.read(servers.get(provider).exchanges().get(exchange).body());
    Sent sent = new Sent();
    switch (provider) {
      case CHAT -> readChat(body, sent);
      case RESPONSES -> readResponses(body, sent);
      case MESSAGES -> readMessages(body, sent);
    }
    return sent;
  }

  private static void readChat(JsonNode body, Sent sent) {
    for (JsonNode message : body.path("messages")) {
      for (JsonNode call : message.path("tool_calls")) {
        sent.call(call.path("id"), call.path("function").path("arguments").stringValue());
      }
      if (message.path("role").stringValue().equals("tool")) {
        sent.result(message.path("tool_call_id"), message.path("content").stringValue());
      }
    }
  }

  private static void readResponses(JsonNode body, Sent sent) {
    for (JsonNode item : body.path("input")) {
      switch (item.path("type").asString("")) {
        case "function_call" ->
            sent.call(item.path("call_id"), item.path("arguments").stringValue());
        case "function_call_output" ->
            sent.result(item.path("call_id"), item.path("output").stringValue());
        default -> {}
      }
    }
  }

  private static void readMessages(JsonNode body, Sent sent) {
    for (JsonNode message : body.path("messages")) {
      for (JsonNode block : message.path("content")) {
        switch (block.path("type").asString("")) {
          case "tool_use" -> sent.call(block.path("id"), block.path("input").toString());
          case "tool_result" ->
              sent.result(
                  block.path("tool_use_id"),
                  block.path("content").stringValue()
                      + (block.path("is_error").asBoolean(false) ? " is_error" : ""));
          default -> {}
        }
      }
    }
  }

  /** The three results of the first question as a destination writes them. */
  private static List<String> written(Provider provider) {
    return provider == Provider.MESSAGES
        ? List.of(
            "\"seen x\"", "There is no such place. is_error", "{\"error\":{\"message\":\"No.\"}}")
        : List.of(
            "{\"output\":\"seen x\"}",
            "{\"error\":{\"message\":\"There is no such place.\"}}",
            "{\"output\":{\"error\":{\"message\":\"No.\"}}}");
  }

  static Stream<Arguments> pairs() {
    return Arrays.stream(Provider.values())
        .flatMap(from -> Arrays.stream(Provider.values()).map(to -> Arguments.of(from, to)));
  }

  @ParameterizedTest
  @MethodSource("pairs")
  @Tag("R194")
  @Tag("R195")
  @Tag("R196")
  @Tag("R70")
  void a_conversation_goes_on_at_any_other_provider(Provider from, Provider to) {
    GenerateResult first = ask(from, List.of(Message.user("Look.")));
    List<Message> history = and(first.messages(), "And further.");
    List<Message> before = List.copyOf(history);
    int earlier = servers.get(to).exchanges().size();

    GenerateResult second = ask(to, history);

    assertEquals("Seen.", second.text());
    assertEquals(to.id(), second.providerUsed());
    Sent sent = sent(to, earlier);
    assertEquals(
        List.of("{\"at\":\"x\"}", "{\"at\":\"missing\"}", "{\"at\":\"odd\"}"), sent.inputs());
    assertEquals(3, sent.callIds().stream().distinct().count());
    assertEquals(sent.callIds(), sent.resultIds());
    assertEquals(written(to), sent.said());
    assertEquals(List.of("missing", "odd", "x", "y"), looked.stream().sorted().toList());
    assertEquals(before, second.messages().subList(0, before.size()));
    for (ScriptedServer server : servers.values()) {
      assertEquals(0, server.count(ExchangeOutcome.REFUSED));
    }
    String body = servers.get(to).exchanges().get(earlier).body();
    boolean keeps = from == to && from != Provider.CHAT; // Chat has no private state
    assertEquals(keeps, body.contains(THOUGHT) || body.contains("\"encrypted_content\":"), body);
  }

  @Test
  @Tag("R194")
  @Tag("R195")
  @Tag("R196")
  @Tag("R70")
  void it_comes_back_to_where_it_began_with_all_that_was_done_meanwhile() {
    List<Message> messages = List.of(Message.user("Look."));
    messages = and(ask(Provider.MESSAGES, messages).messages(), "And at Chat.");
    messages = and(ask(Provider.CHAT, messages).messages(), "And at Responses.");
    messages = and(ask(Provider.RESPONSES, messages).messages(), "And where it began.");
    int earlier = servers.get(Provider.MESSAGES).exchanges().size();

    GenerateResult last = ask(Provider.MESSAGES, messages);

    assertEquals("Seen.", last.text());
    Sent sent = sent(Provider.MESSAGES, earlier + 1);
    assertEquals(6, sent.callIds().stream().distinct().count());
    assertEquals(sent.callIds(), sent.resultIds());
    List<String> all = new ArrayList<>(written(Provider.MESSAGES));
    all.addAll(List.of("\"seen y\"", "\"seen y\"", "\"seen y\""));
    assertEquals(all, sent.said());
    assertEquals(6, looked.size());
    String body = servers.get(Provider.MESSAGES).exchanges().get(earlier).body();
    assertTrue(body.contains(SignedThinking.of("m", THOUGHT).data().text()), body);
    for (ScriptedServer server : servers.values()) {
      assertEquals(0, server.count(ExchangeOutcome.REFUSED));
    }
  }

  @ParameterizedTest
  @EnumSource
  @Tag("R196")
  @Tag("Y42")
  @Tag("Y43")
  @Tag("FR-T23")
  void ids_that_a_destination_refuses_are_mapped_there_and_nowhere_else(Provider to) {
    ToolCall strange = new ToolCall("functions.look:0|" + "i".repeat(94), "look", place("x"));
    ToolCall common = new ToolCall("call_1", "look", place("y"));
    List<Message> history =
        List.of(
            Message.user("Look."),
            new Message(Role.ASSISTANT, List.of(strange, common)),
            Message.tool(
                List.of(
                    ToolResult.failure(common, "Gone."),
                    ToolResult.success(strange, Json.of("seen x")))),
            Message.user("Well?"));

    GenerateResult result = ask(to, history);

    Sent sent = sent(to, 0);
    assertEquals(sent.callIds(), sent.resultIds());
    String mapped = sent.callIds().getFirst();
    assertTrue(mapped.matches("[A-Za-z0-9_-]{1,64}"), mapped);
    assertEquals("call_1", sent.callIds().getLast());
    assertEquals(history, result.messages().subList(0, 4));
    assertEquals(List.of(), looked);
    assertEquals(0, servers.get(to).count(ExchangeOutcome.REFUSED));
  }

  private static Json place(String at) {
    return Json.of(Map.of("at", at));
  }

  @ParameterizedTest
  @EnumSource
  @Tag("R202")
  void text_behind_a_call_is_kept_there_or_does_not_go_at_all(Provider to) {
    ToolCall call = new ToolCall("call_1", "look", place("x"));
    List<Message> history =
        List.of(
            Message.user("Look."),
            new Message(Role.ASSISTANT, List.of(call, new Part.Text("That was it."))),
            Message.tool(List.of(ToolResult.success(call, Json.of("seen x")))));
    Route route = Route.of(Target.of(to.id(), "m"), Target.of("anthropic", "m"));

    GenerateResult result = gateway.generate(GenerateRequest.builder(route, history).build());

    assertEquals("anthropic", result.providerUsed());
    String body = servers.get(Provider.MESSAGES).exchanges().getFirst().body();
    assertTrue(
        body.contains("\"input\":{\"at\":\"x\"}},{\"type\":\"text\",\"text\":\"That was it.\"}"),
        body);
    if (to != Provider.MESSAGES) {
      Attempt skip = result.attempts().getFirst();
      assertEquals(Attempt.ReasonCode.MODEL_CAPABILITIES, skip.reasonCode());
      assertEquals(List.of(), servers.get(to).exchanges());
    }
  }

  @ParameterizedTest
  @EnumSource
  @Tag("R207")
  void a_provider_that_quotes_the_history_in_its_error_is_not_quoted(Provider to) {
    ToolCall call = new ToolCall("call_1", "look", place("x"));
    List<Message> history =
        List.of(
            Message.user("Look."),
            new Message(Role.ASSISTANT, List.of(call)),
            Message.tool(List.of(ToolResult.success(call, Json.of("seen x")))),
            Message.user("Fail."));

    var failure = assertThrows(AttemptsExhaustedException.class, () -> ask(to, history));

    for (Throwable each = failure; each != null; each = each.getCause()) {
      assertFalse(each.toString().contains("seen x"), each.toString());
      assertTrue(
          each.toString().contains("Provider failed while continuing tool history."),
          each.toString());
    }
    assertEquals(400, failure.trace().attempts().getFirst().status());
  }

  @Test
  @Tag("R70")
  @Tag("R196")
  void what_a_provider_said_to_itself_stays_in_the_callers_messages() {
    GenerateResult first = ask(Provider.MESSAGES, List.of(Message.user("Look.")));
    GenerateResult second = ask(Provider.CHAT, and(first.messages(), "And further."));

    assertEquals(
        1,
        second.messages().stream()
            .flatMap(message -> message.parts().stream())
            .filter(ProviderState.class::isInstance)
            .count());
  }
}
