package dev.warpwright.adapters;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.warpwright.Gateway;
import dev.warpwright.GenerateRequest;
import dev.warpwright.GenerateResult;
import dev.warpwright.TextStream;
import dev.warpwright.adapters.anthropic.Anthropic;
import dev.warpwright.adapters.openai.Api;
import dev.warpwright.adapters.openai.OpenAi;
import dev.warpwright.adapters.scripted.Script;
import dev.warpwright.adapters.scripted.ScriptedServer;
import dev.warpwright.control.RetryPolicy;
import dev.warpwright.model.AttemptsExhaustedException;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.ProviderAdapter;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.Route;
import dev.warpwright.model.StreamBrokenException;
import dev.warpwright.model.Target;
import dev.warpwright.testing.LeakCheck;
import dev.warpwright.testing.Leftovers;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Streams through a gateway, an adapter and a real socket: what is tried again, and what is not.
 */
@Timeout(60)
@ParameterizedClass
@EnumSource(StreamsOverHttpTest.Protocol.class)
final class StreamsOverHttpTest {
  @RegisterExtension final LeakCheck leaks = new LeakCheck();

  private final Deque<AutoCloseable> opened = new ArrayDeque<>();
  private final Protocol protocol;

  StreamsOverHttpTest(Protocol protocol) {
    this.protocol = protocol;
  }

  /** The protocols with streams. */
  enum Protocol {
    CHAT,
    RESPONSES,
    MESSAGES;

    private ProviderAdapter at(URI url) {
      return switch (this) {
        case CHAT -> OpenAi.builder().baseUrl(url).build();
        case RESPONSES -> OpenAi.builder().api(Api.RESPONSES).baseUrl(url).build();
        case MESSAGES -> Anthropic.builder().baseUrl(url).build();
      };
    }
  }

  @AfterEach
  void close() throws Exception {
    for (AutoCloseable closeable : opened) {
      closeable.close();
    }
  }

  private ScriptedServer server(String faults) {
    ScriptedServer server =
        ScriptedServer.start(
            Script.parse(
                """
                { "rules": [ { "when": {}, "answer": { "text": "Once upon a time.",
                                                       "usage": { "input": 7, "output": 4 } } } ],
                  "faults": [ %s ] }
                """
                    .formatted(faults)));
    opened.push(server);
    leaks.watch(Leftovers.count("open connections", server::openConnections));
    return server;
  }

  private TextStream stream(ScriptedServer server) {
    Gateway gateway =
        leaks.watch(
            Gateway.builder()
                .adapter("provider", protocol.at(server.uri()))
                .retry(new RetryPolicy(2, Duration.ZERO, 0))
                .build());
    opened.push(gateway);
    TextStream stream =
        gateway.streamText(
            GenerateRequest.builder(Route.of(Target.of("provider", "model")), "Hello").build());
    opened.push(stream);
    return stream;
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "\"status\": 503",
        "\"reset\": \"BEFORE_HEADERS\"",
        "\"cut\": { \"chunks\": 0, \"end\": \"IN_CHUNK\" }",
        "\"errorEvent\": { \"code\": \"overloaded_error\" }",
        "\"errorEvent\": { \"code\": \"server_is_overloaded\", \"failed\": true }"
      })
  @Tag("R139")
  @Tag("FR-X01")
  void what_fails_before_output_is_tried_again_though_a_preamble_had_come(String fault) {
    ScriptedServer server = server("{ \"times\": 1, " + fault + " }");

    GenerateResult result = stream(server).collect();

    assertEquals("Once upon a time.", result.text());
    assertEquals(FinishReason.Kind.STOP, result.finishReason().kind());
    assertEquals(2, result.attempts().size());
    assertEquals(2, server.requests());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "\"cut\": { \"before\": \"FINISH\", \"end\": \"CLEAN\" }",
        "\"errorEvent\": { \"code\": \"overloaded_error\", \"chunks\": 4 }",
        "\"errorEvent\": { \"code\": \"overloaded_error\", \"chunks\": 4, \"failed\": true }"
      })
  @Tag("R141")
  @Tag("R142")
  @Tag("R143")
  void what_fails_behind_output_is_not_tried_again_and_keeps_what_came(String fault) {
    ScriptedServer server = server("{ \"times\": 1, " + fault + " }");
    TextStream stream = stream(server);

    StreamBrokenException broken = assertThrows(StreamBrokenException.class, stream::collect);

    assertEquals("Once upon a time.", broken.partialText());
    assertEquals(1, server.requests());
    if (protocol == Protocol.MESSAGES) { // the others tell it at their end only
      assertEquals(7, broken.usage().input().tokens());
    }
  }

  private static ProviderException onlyFailure(TextStream stream) {
    AttemptsExhaustedException exhausted =
        assertThrows(AttemptsExhaustedException.class, stream::collect);
    assertEquals(1, exhausted.trace().attempts().size());
    return assertInstanceOf(ProviderException.class, exhausted.getCause());
  }

  @Test
  @Tag("R138")
  void a_stream_that_just_ends_before_any_output_is_not_tried_again() {
    ScriptedServer server =
        server("{ \"times\": 1, \"cut\": { \"chunks\": 0, \"end\": \"CLEAN\" } }");
    TextStream stream = stream(server);

    ProviderException failure = onlyFailure(stream);

    assertEquals("The stream ended before emitting an event.", failure.getMessage());
    assertEquals(1, server.requests());
  }

  @Test
  @Tag("FR-X09")
  @Tag("R139")
  void an_input_that_is_too_long_is_not_tried_again() {
    ScriptedServer server =
        server(
            "{ \"errorEvent\": { \"code\": \"context_length_exceeded\", \"message\": \"No.\" } }");
    TextStream stream = stream(server);

    ProviderException failure = onlyFailure(stream);

    assertEquals(ProviderException.Kind.CONTEXT_LENGTH, failure.kind());
    assertEquals(1, server.requests());
  }
}
