package dev.warpwright.adapters;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.warpwright.Gateway;
import dev.warpwright.GenerateRequest;
import dev.warpwright.ObjectMode;
import dev.warpwright.ObjectRequest;
import dev.warpwright.ObjectResult;
import dev.warpwright.adapters.anthropic.Anthropic;
import dev.warpwright.adapters.openai.Api;
import dev.warpwright.adapters.openai.OpenAi;
import dev.warpwright.adapters.scripted.Script;
import dev.warpwright.adapters.scripted.ScriptedModel;
import dev.warpwright.adapters.scripted.ScriptedServer;
import dev.warpwright.model.Capability;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidOutputException;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelCapabilities;
import dev.warpwright.model.OutputFormat;
import dev.warpwright.model.ProviderAdapter;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.Route;
import dev.warpwright.model.Target;
import dev.warpwright.tool.JsonType;
import java.lang.invoke.MethodHandles;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Objects over real sockets, from a server that refuses schemas as strict services do. */
@Timeout(60)
final class ObjectsOverHttpTest {
  /** It holds one of everything that a strict service is particular about. */
  record Order(
      int number, Set<String> tags, Item item, Optional<Duration> delay, Optional<Order> previous) {
    sealed interface Item {
      record Book(String title, Optional<Integer> pages) implements Item {}

      record Pen() implements Item {}
    }
  }

  /** The same without recursion, which one of the protocols does not take. */
  record Flat(int number, Set<String> tags, Order.Item item, Optional<Duration> delay) {}

  private static final String FLAT =
      "{\"number\":7,\"tags\":[\"new\"],\"item\":{\"type\":\"Book\",\"title\":\"Dune\",\"pages\":null},"
          + "\"delay\":\"PT5M\"}";
  private static final Flat EXPECTED =
      new Flat(
          7,
          Set.of("new"),
          new Order.Item.Book("Dune", Optional.empty()),
          Optional.of(Duration.ofMinutes(5)));

  private static ScriptedServer server() {
    return ScriptedServer.start(
        Script.parse(
            """
            { "rules": [
              { "when": { "user": "refuse" }, "answer": { "refusal": "No." } },
              { "when": { "user": "cut" }, "answer": { "text": "{\\"number\\":", "finish": "length" } },
              { "when": { "system": "JSON Schema" }, "answer": { "text": %s } },
              { "when": {}, "answer": { "text": %s } } ] }
            """
                .formatted(
                    Json.of("Sure:\n```json\n" + FLAT + "\n```").text(), Json.of(FLAT).text())));
  }

  private static ProviderAdapter adapter(String protocol, ScriptedServer server, Capability can) {
    ModelCapabilities capabilities = ModelCapabilities.TEXT_AND_TOOLS.with(can);
    return switch (protocol) {
      case "openai" ->
          OpenAi.builder().baseUrl(server.uri()).capabilities(id -> capabilities).build();
      case "responses" ->
          OpenAi.builder()
              .api(Api.RESPONSES)
              .baseUrl(server.uri())
              .capabilities(id -> capabilities)
              .build();
      default -> Anthropic.builder().baseUrl(server.uri()).capabilities(id -> capabilities).build();
    };
  }

  private static GenerateRequest ask(String prompt) {
    return GenerateRequest.builder(Route.of(Target.of("p", "m")), prompt).build();
  }

  @ParameterizedTest
  @CsvSource({
    "openai, STRUCTURED_OUTPUT, NATIVE",
    "openai, JSON_MODE, PROMPTED",
    "responses, STRUCTURED_OUTPUT, NATIVE",
    "responses, JSON_MODE, PROMPTED",
    "anthropic, STRUCTURED_OUTPUT, NATIVE",
    "anthropic, JSON_MODE, PROMPTED"
  })
  @Tag("R159")
  @Tag("R166")
  @Tag("Y48")
  @Tag("FR-H05")
  void an_object_comes_from_a_strict_service(String protocol, Capability can, ObjectMode mode) {
    try (ScriptedServer server = server();
        Gateway gateway = Gateway.builder().adapter("p", adapter(protocol, server, can)).build()) {
      ObjectResult<Flat> result =
          gateway.generateObject(
              ObjectRequest.of(Flat.class, MethodHandles.lookup(), ask("The order.")));

      assertEquals(EXPECTED, result.object());
      assertEquals(mode, result.objectMode());
    }
  }

  @ParameterizedTest
  @CsvSource({
    "openai, refuse, OUTPUT_REFUSAL",
    "responses, refuse, OUTPUT_REFUSAL",
    "anthropic, refuse, OUTPUT_REFUSAL",
    "openai, cut, OUTPUT_TRUNCATION",
    "responses, cut, OUTPUT_TRUNCATION",
    "anthropic, cut, OUTPUT_TRUNCATION"
  })
  @Tag("R163")
  @Tag("FR-Q15")
  void a_refusal_and_a_cut_are_never_read_as_json(String protocol, String ask, FailureKind kind) {
    try (ScriptedServer server = server();
        Gateway gateway =
            Gateway.builder()
                .adapter("p", adapter(protocol, server, Capability.STRUCTURED_OUTPUT))
                .build()) {
      ObjectRequest<Flat> request = ObjectRequest.of(Flat.class, MethodHandles.lookup(), ask(ask));

      assertEquals(
          kind,
          assertThrows(InvalidOutputException.class, () -> gateway.generateObject(request)).kind());
    }
  }

  private static ModelCall call(String schema) {
    return ModelCall.builder(List.of(Message.user("The order.")))
        .output(
            Optional.of(new OutputFormat.JsonSchema("order", Optional.empty(), Json.parse(schema))))
        .build();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"type\":\"object\",\"properties\":{},\"required\":[]}",
        "{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"}}",
        "{\"type\":\"string\"}",
        "{\"type\":\"object\",\"properties\":{\"a\":{}},\"required\":[\"a\"],"
            + "\"additionalProperties\":false}",
        "{\"type\":\"object\",\"properties\":{\"a\":{\"oneOf\":[{\"type\":\"string\"}]}},"
            + "\"required\":[\"a\"],\"additionalProperties\":false}",
        "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"array\",\"items\":{\"type\":\"object\"}}},"
            + "\"required\":[\"a\"],\"additionalProperties\":false}"
      })
  void a_schema_that_is_not_strict_is_refused_by_server_and_scripted_model(String schema)
      throws Exception {
    ModelCall call = call(schema);
    try (ScriptedServer server = server()) {
      for (String protocol : List.of("openai", "responses", "anthropic")) {
        try (ProviderAdapter adapter = adapter(protocol, server, Capability.STRUCTURED_OUTPUT)) {
          assertRefused(
              assertThrows(ProviderException.class, () -> adapter.model("m").generate(call)));
        }
      }
    }
    ScriptedModel model = ScriptedModel.answering("{}");
    assertRefused(assertThrows(ProviderException.class, () -> model.generate(call)));
  }

  private static void assertRefused(ProviderException refused) {
    assertEquals(ProviderException.Kind.HTTP_STATUS, refused.kind());
    assertEquals(400, refused.status());
  }

  @Test
  void the_server_and_the_model_take_what_the_gateway_makes_of_a_recursive_record() {
    JsonType<Order> type = JsonType.of(Order.class, MethodHandles.lookup());
    String answer =
        "{\"number\":1,\"tags\":[],\"item\":{\"type\":\"Pen\"},\"delay\":null,\"previous\":null}";
    ScriptedModel model =
        ScriptedModel.builder()
            .otherwise(dev.warpwright.adapters.scripted.ScriptedAnswer.text(answer))
            .capabilities(ModelCapabilities.TEXT.with(Capability.STRUCTURED_OUTPUT))
            .build();
    try (ScriptedServer server =
            ScriptedServer.start(
                Script.parse(
                    "{ \"rules\": [ { \"when\": {}, \"answer\": { \"text\": %s } } ] }"
                        .formatted(Json.of(answer).text())));
        Gateway gateway =
            Gateway.builder()
                .adapter("p", adapter("openai", server, Capability.STRUCTURED_OUTPUT))
                .adapter("scripted", model)
                .build()) {
      ObjectRequest<Order> request = ObjectRequest.builder(type, ask("?")).build();
      Order order = gateway.generateObject(request).object();

      assertEquals(new Order.Item.Pen(), order.item());
      assertEquals(
          order,
          gateway
              .generateObject(
                  request.withRequest(
                      GenerateRequest.builder(Route.of(Target.of("scripted", "m")), "?").build()))
              .object());
      assertFalse(model.lastCalls().getFirst().output().isEmpty());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"openai", "responses"})
  void json_mode_without_the_word_json_is_refused_as_the_service_does(String protocol)
      throws Exception {
    try (ScriptedServer server = server();
        ProviderAdapter adapter = adapter(protocol, server, Capability.JSON_MODE)) {
      ModelCall call =
          ModelCall.builder(List.of(Message.user("The order.")))
              .output(Optional.of(new OutputFormat.JsonObject()))
              .build();
      assertRefused(assertThrows(ProviderException.class, () -> adapter.model("m").generate(call)));
    }
  }
}
