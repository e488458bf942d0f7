package dev.warpwright.adapters;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.warpwright.Gateway;
import dev.warpwright.GenerateRequest;
import dev.warpwright.ObjectMode;
import dev.warpwright.ObjectRequest;
import dev.warpwright.ObjectResult;
import dev.warpwright.ObjectStream;
import dev.warpwright.adapters.FaultMatrix.Cell;
import dev.warpwright.adapters.FaultMatrix.Place;
import dev.warpwright.adapters.anthropic.Anthropic;
import dev.warpwright.adapters.bedrock.Bedrock;
import dev.warpwright.adapters.google.Gemini;
import dev.warpwright.adapters.ollama.Ollama;
import dev.warpwright.adapters.openai.Api;
import dev.warpwright.adapters.openai.OpenAi;
import dev.warpwright.adapters.scripted.Script;
import dev.warpwright.adapters.scripted.ScriptedServer;
import dev.warpwright.model.Capability;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidOutputException;
import dev.warpwright.model.Json;
import dev.warpwright.model.ModelCapabilities;
import dev.warpwright.model.ProviderAdapter;
import dev.warpwright.model.Route;
import dev.warpwright.model.Target;
import dev.warpwright.testing.LeakCheck;
import dev.warpwright.tool.EffectClass;
import dev.warpwright.tool.Tool;
import java.lang.invoke.MethodHandles;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URI;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** However a model writes an object, the program has it exactly, or a typed end. */
@Timeout(120)
final class ObjectMatrixTest {
  private static final String EXACT =
      "{\"a\":9223372036854775817,\"b\":1234567890.123456789,\"id\":\"1234567890123456789\"}";

  @RegisterExtension final LeakCheck leaks = new LeakCheck();

  /** What is asked for. */
  record Numbers(BigInteger a, Optional<BigDecimal> b, Optional<String> id) {}

  /** The input of the tool. */
  record Nothing() {}

  private static ProviderAdapter adapter(Dialect dialect, URI url) {
    ModelCapabilities can = ModelCapabilities.TEXT_AND_TOOLS.with(Capability.JSON_MODE);
    return switch (dialect) {
      case CHAT -> OpenAi.builder().baseUrl(url).capabilities(id -> can).build();
      case RESPONSES ->
          OpenAi.builder().api(Api.RESPONSES).baseUrl(url).capabilities(id -> can).build();
      case MESSAGES -> Anthropic.builder().baseUrl(url).capabilities(id -> can).build();
      case OLLAMA -> Ollama.builder().baseUrl(url).capabilities(id -> can).build();
      case BEDROCK -> Bedrock.builder("us-east-1").baseUrl(url).capabilities(id -> can).build();
      case GEMINI -> Gemini.builder().baseUrl(url).capabilities(id -> can).build();
    };
  }

  /** Asks for the object of a model that says this; a tool that runs before returns that. */
  private ObjectResult<Numbers> ask(Cell cell, String says, String toolReturns) {
    try (ScriptedServer server =
            ScriptedServer.start(
                Script.parse(
                    """
                    { "rules": [
                        { "when": { "turn": 0, "user": "^Look" },
                          "answer": { "tools": [ { "name": "look_up" } ] } },
                        { "when": {}, "answer": { "text": %s,
                                                  "stream": { "characters": 3 } } } ] }
                    """
                        .formatted(Json.of(says).text())));
        Gateway gateway =
            leaks.watch(
                Gateway.builder().adapter("p", adapter(cell.dialect(), server.uri())).build())) {
      Tool lookUp =
          Tool.builder(
                  "look_up",
                  "Looks it up.",
                  Nothing.class,
                  MethodHandles.lookup(),
                  EffectClass.ONCE,
                  (input, context) -> toolReturns)
              .build();
      ObjectRequest<Numbers> request =
          ObjectRequest.of(
              Numbers.class,
              MethodHandles.lookup(),
              GenerateRequest.builder(
                      Route.of(Target.of("p", "m")),
                      cell.place() == Place.LATER_STEP ? "Look it up." : "Hello.")
                  .tools(lookUp)
                  .maxSteps(3)
                  .build());
      try {
        if (!cell.isStream()) {
          return gateway.generateObject(request);
        }
        try (ObjectStream<Numbers> stream = gateway.streamObject(request)) {
          return stream.collect();
        }
      } finally {
        String last = server.exchanges().getLast().body();
        assertFalse(last.contains("ud83d") || last.contains("\ud83d"), last);
        assertEquals(cell.step(), server.requests());
      }
    }
  }

  @EachCell
  @Tag("FR-H01")
  @Tag("FR-H03")
  @Tag("R162")
  @Tag("R165")
  void a_fence_and_words_around_the_object_are_passed_over_and_its_numbers_are_exact(Cell cell) {
    Numbers expected =
        new Numbers(
            new BigInteger("9223372036854775817"),
            Optional.of(new BigDecimal("1234567890.123456789")),
            Optional.of("1234567890123456789"));
    for (String around :
        List.of(
            "%s",
            "```json\n%s\n```", "```\n%s```", "Sure: %s done", "Here:\n```json\n%s\n```\nBye.")) {
      ObjectResult<Numbers> result = ask(cell, around.formatted(EXACT), "found");
      assertEquals(expected, result.object(), around);
      assertEquals(ObjectMode.PROMPTED, result.objectMode());
    }
  }

  @EachCell
  @Tag("FR-H03")
  @Tag("R162")
  @Tag("R163")
  void two_objects_and_none_are_errors(Cell cell) {
    for (String says : List.of("{\"a\":1} {\"a\":2}", "{\"a\":1} or {\"a\":2}", "No.", "{\"a\":")) {
      assertEquals(
          FailureKind.OUTPUT_PARSE,
          assertThrows(InvalidOutputException.class, () -> ask(cell, says, "found")).kind(),
          says);
    }
    assertEquals(
        FailureKind.OUTPUT_SCHEMA,
        assertThrows(InvalidOutputException.class, () -> ask(cell, "{\"a\":1.5}", "found")).kind());
  }

  @EachCell
  @Tag("FR-U01")
  void a_lone_surrogate_in_a_tool_result_does_not_poison_the_next_turn(Cell cell) {
    assertEquals(BigInteger.ONE, ask(cell, "{\"a\":1}", "a\ud83Db").object().a());
  }
}
