package dev.warpwright.adapters;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.warpwright.Gateway;
import dev.warpwright.GenerateRequest;
import dev.warpwright.adapters.anthropic.Anthropic;
import dev.warpwright.adapters.bedrock.AwsCredentials;
import dev.warpwright.adapters.bedrock.Bedrock;
import dev.warpwright.adapters.google.Gemini;
import dev.warpwright.adapters.google.Vertex;
import dev.warpwright.adapters.http.RawServer;
import dev.warpwright.adapters.ollama.Ollama;
import dev.warpwright.adapters.openai.Api;
import dev.warpwright.adapters.openai.OpenAi;
import dev.warpwright.adapters.scripted.ScriptedAnswer;
import dev.warpwright.adapters.scripted.ScriptedModel;
import dev.warpwright.agent.Agent;
import dev.warpwright.agent.AgentRequest;
import dev.warpwright.agent.AgentResult;
import dev.warpwright.agent.Agents;
import dev.warpwright.control.RetryPolicy;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ProviderAdapter;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.Route;
import dev.warpwright.model.Target;
import dev.warpwright.model.WarpwrightException;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.RunEventCodec;
import dev.warpwright.run.RunStore;
import dev.warpwright.task.Cancellation;
import dev.warpwright.tool.EffectClass;
import dev.warpwright.tool.Tool;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.invoke.MethodHandles;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.slf4j.LoggerFactory;

/**
 * Secrets are planted wherever a program or a server may put them; none comes out in an exception,
 * an attempt, an observer's call, a run's event, a log line or a {@code toString}.
 */
@Tag("R2")
@Tag("R358")
@Tag("R359")
final class PlantedSecretTest {
  private static final String SECRET = "quince4711tree";

  /** The adapter's own credential, which no general rule recognises when a server repeats it. */
  private static final String KEY = SECRET + ".own.credential";

  private static final String HEAD = "HTTP/1.1 ";

  private final ListAppender<ILoggingEvent> log = new ListAppender<>();
  private final Logger root = (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
  private final Level level = root.getLevel();

  /** Everything that left Warpwright, as text. */
  private final ConcurrentLinkedQueue<String> seen = new ConcurrentLinkedQueue<>();

  @BeforeEach
  void listen() {
    root.setLevel(Level.DEBUG);
    log.start();
    root.addAppender(log);
  }

  @AfterEach
  void nothingOfIt() {
    root.detachAppender(log);
    root.setLevel(level);
    log.list.stream().map(ILoggingEvent::getFormattedMessage).forEach(seen::add);
    log.list.stream()
        .map(ILoggingEvent::getThrowableProxy)
        .filter(Objects::nonNull)
        .forEach(thrown -> seen.add(thrown.getClassName() + ": " + thrown.getMessage()));
    assertFalse(seen.isEmpty());
    for (String text : seen) {
      assertFalse(text.contains(SECRET), text);
    }
  }

  /** What a hostile or careless server says, in the form that JSON needs. */
  private static String leaks() {
    return ("Your key "
            + KEY
            + " is wrong, see https://u:"
            + SECRET
            + "@example.com/v1?api_key="
            + SECRET)
        + ("&x=1 and https://a.example/?next=https%3A%2F%2Fb%2F%3Ftoken%3D" + SECRET)
        + (" with Authorization: Bearer " + SECRET + "\\nx-api-key: " + SECRET)
        + (" in {\\\"access_token\\\":\\\"" + SECRET + "\\\",\\\"max_tokens\\\":7}");
  }

  private static String error(String code) {
    return "{\"type\":\"error\",\"error\":{\"type\":\"%s\",\"code\":\"%s\",\"message\":\"%s\"}}"
        .formatted(code, code, leaks());
  }

  private static String answer(String status, String type, String body) {
    return HEAD
        + status
        + "\r\nContent-Type: "
        + type
        + "\r\nx-request-id: Bearer "
        + SECRET
        + "\r\nrequest-id: "
        + KEY
        + "\r\nx-amzn-requestid: "
        + KEY
        + "\r\nx-amzn-errortype: "
        + KEY
        + "\r\nConnection: close\r\nContent-Length: "
        + body.getBytes(StandardCharsets.UTF_8).length
        + "\r\n\r\n"
        + body;
  }

  private static String json(String status, String body) {
    return answer(status, "application/json", body);
  }

  static Stream<String> answers() {
    return Stream.of(
        json("401 Unauthorized", error("token=" + SECRET)),
        json("400 Bad Request", error("invalid_request_error")),
        json("429 Slow Down", error("rate_limit_error")),
        json("500 Oops", error("api_error")),
        json("200 OK", error("overloaded_error")),
        json("200 OK", "{\"choices\":[{\"secret\":\"" + SECRET + "\"}]}"),
        json("200 OK", "{\"output\":[{\"type\":\"function_call\",\"id\":\"" + SECRET + "\"}]}"),
        json("200 OK", "{\"api_key\":\"" + SECRET),
        json("503 Busy", "plain text with Bearer " + SECRET + " and " + KEY),
        answer("200 OK", "text/html; secret=" + SECRET, "<p>token=" + SECRET + "</p>"),
        answer("302 Found", "text/html; charset=" + SECRET, leaks()),
        "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{\"token\":\"" + SECRET,
        "SSH-2.0-token=" + SECRET + "\r\n",
        "");
  }

  static Stream<Arguments> answersOfEachProtocol() {
    return answers()
        .flatMap(
            answer ->
                Stream.of("chat", "responses", "messages", "gemini", "vertex", "converse", "ollama")
                    .map(protocol -> Arguments.of(protocol, answer)));
  }

  private ProviderAdapter adapter(String protocol, URI base) {
    URI url = URI.create(base + "/v1");
    return switch (protocol) {
      case "chat" -> noted(OpenAi.builder().apiKey(KEY).baseUrl(url)).build();
      case "responses" ->
          noted(OpenAi.builder().api(Api.RESPONSES).apiKey(KEY).baseUrl(url)).build();
      case "gemini" -> noted(Gemini.builder().apiKey(KEY).baseUrl(url)).build();
      case "vertex" ->
          noted(Vertex.builder("p", "l").tokens(() -> AccessToken.of(KEY)).baseUrl(url)).build();
      case "converse" ->
          noted(
                  Bedrock.builder("r")
                      .credentials(AwsCredentials.of("AKID", SECRET, KEY))
                      .baseUrl(url))
              .build();
      case "ollama" -> noted(Ollama.builder().apiKey(KEY).baseUrl(url)).build();
      default -> noted(Anthropic.builder().apiKey(KEY).baseUrl(url)).build();
    };
  }

  private <B> B noted(B builder) {
    seen.add(builder.toString());
    return builder;
  }

  private Gateway gateway(ProviderAdapter adapter) {
    return Gateway.builder()
        .adapter("p", adapter)
        .retry(new RetryPolicy(1, Duration.ZERO, 0))
        .attemptObserver(
            (id, attempt) -> {
              seen.add(id + " " + attempt);
              throw new IllegalStateException("token=" + SECRET);
            })
        .routeObserver(selection -> seen.add(selection.toString()))
        .defaultRoute(Route.of(Target.of("p", "m")))
        .build();
  }

  private void note(Throwable thrown) {
    StringWriter text = new StringWriter();
    thrown.printStackTrace(new PrintWriter(text));
    seen.add(text.toString());
    if (thrown instanceof WarpwrightException own) {
      seen.add(own.trace().toString());
      if (own.getCause() != null) {
        note(own.getCause());
      }
      Stream.of(own.getSuppressed()).forEach(this::note);
    } else if (thrown instanceof ProviderException provider) {
      seen.add(provider.code() + " " + provider.requestId() + " " + provider.providerMessage());
    }
  }

  private void note(Gateway gateway) {
    assertTrue(gateway.flushObservers(Duration.ofSeconds(10)));
    seen.add(gateway.diagnostics().toString());
  }

  private void noteRun(Agents agents, AgentResult result) {
    seen.add(result.toString());
    seen.add(result.attempts().toString());
    seen.add(result.state().toString());
    for (LoggedEvent logged : agents.runs().log(result.run())) {
      seen.add(logged.toString());
      seen.add(new String(RunEventCodec.encode(logged.event()), StandardCharsets.UTF_8));
    }
  }

  private void callAndRun(ProviderAdapter adapter) {
    seen.add(adapter.toString());
    Gateway gateway = gateway(adapter);
    note(assertThrows(WarpwrightException.class, () -> gateway.generate("Hello")));

    Agents agents = Agents.on(gateway, RunStore.inMemory());
    Agent agent = Agent.builder("a", Route.of(Target.of("p", "m"))).build();
    AgentResult result = agents.run(AgentRequest.builder(agent, "Hello").build());
    noteRun(agents, result);
    note(assertThrows(WarpwrightException.class, result::orThrow));
    note(gateway);
    gateway.close();
  }

  @ParameterizedTest
  @MethodSource("answersOfEachProtocol")
  @Tag("FR-W01")
  @Tag("C10")
  void what_a_server_says(String protocol, String answer) throws IOException {
    try (RawServer server =
        new RawServer(
            connection -> {
              connection.write(answer);
              connection.cut();
            })) {
      callAndRun(adapter(protocol, server.uri()));
      assertTrue(server.requests().getFirst().contains(KEY), "the key was really sent");
    }
  }

  @Test
  @Tag("FR-W01")
  void what_a_server_says_in_a_sound_answer() throws Exception {
    String answer =
        "{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"Hi\"}]},\"finishReason\":\"STOP\"}],"
            + "\"responseId\":\""
            + KEY
            + "\"}";
    try (RawServer server =
            new RawServer(connection -> connection.answer("200 OK", "application/json", answer));
        HttpAdapter adapter = Gemini.builder().apiKey(KEY).baseUrl(server.uri()).build()) {
      ModelCall call = ModelCall.builder(List.of(Message.user("Hello"))).build();
      seen.add(adapter.model("m").generate(call).requestId().orElseThrow());
    }
  }

  @Test
  @Tag("FR-W01")
  void what_a_server_says_of_the_token_before_the_last() throws Exception {
    AtomicInteger fetched = new AtomicInteger();
    AtomicReference<Runnable> between = new AtomicReference<>();
    try (RawServer server =
            new RawServer(
                connection -> {
                  Runnable once = between.getAndSet(null);
                  if (once != null) {
                    once.run();
                  }
                  connection.answer(
                      "401 Unauthorized",
                      "application/json",
                      "{\"error\":{\"message\":\"Not " + KEY + "\"}}");
                });
        HttpAdapter adapter =
            Vertex.builder("p", "l")
                .tokens(
                    () ->
                        AccessToken.until(
                            Instant.EPOCH, fetched.incrementAndGet() == 1 ? KEY : "another"))
                .baseUrl(server.uri())
                .build()) {
      ModelCall call = ModelCall.builder(List.of(Message.user("Hello"))).build();
      between.set(
          () -> assertThrows(ProviderException.class, () -> adapter.model("m").generate(call)));
      note(assertThrows(ProviderException.class, () -> adapter.model("m").generate(call)));
      assertEquals(2, fetched.get());
    }
  }

  static Stream<String> streams() {
    String hello = "data: {\"choices\":[{\"delta\":{\"content\":\"" + SECRET + "\"}}]}\n\n";
    return Stream.of(
            "data: " + error("rate_limit_error") + "\n\n",
            hello + "event: error\ndata: " + leaks().replace("\\n", " ") + "\n\n",
            hello + "data: {\"choices\":[{\"error\":{\"code\":\"token=" + SECRET + "\"}}]}\n\n",
            hello + "data: token=" + SECRET + "\n\n",
            hello + "data: {\"choices\":[{\"delta\":{\"tool_calls\":\"" + SECRET + "\"}}]}\n\n",
            hello + "data: {\"choices\":[{\"index\":\"" + SECRET,
            hello,
            error("overloaded_error"),
            ": " + SECRET + "\n\n")
        .map(body -> answer("200 OK", "text/event-stream", body));
  }

  @ParameterizedTest
  @MethodSource("streams")
  void what_a_server_says_in_a_stream(String answer) throws IOException {
    try (RawServer server =
            new RawServer(
                connection -> {
                  connection.write(answer);
                  connection.cut();
                });
        HttpAdapter adapter = noted(OpenAi.builder().apiKey(KEY).baseUrl(server.uri())).build()) {
      ModelCall call = ModelCall.builder(List.of(Message.user("Hello"))).build();
      note(
          assertThrows(
              ProviderException.class,
              () -> adapter.model("m").stream(call, event -> seen.add(event.toString()))));
    }
  }

  @Test
  @Tag("C19")
  void what_an_adapter_of_the_programs_own_throws() {
    IOException cause = new IOException("https://example.com/?key=" + SECRET);
    IllegalStateException failure = new IllegalStateException("Bearer " + SECRET, cause);
    failure.addSuppressed(new IOException("cookie: sid=" + SECRET));
    callAndRun(
        id -> {
          throw failure; // while it makes the model
        });
    callAndRun(
        ScriptedModel.answering(
            call -> {
              throw failure; // while it is called
            }));
  }

  @Test
  @Tag("R361")
  void the_reason_of_a_cancel() {
    Cancellation cancellation = new Cancellation();
    Gateway gateway =
        gateway(
            ScriptedModel.answering(
                call -> {
                  cancellation.cancel("user left with token=" + SECRET);
                  return ScriptedAnswer.text("too late");
                }));
    GenerateRequest request = GenerateRequest.builder("Hello").cancellation(cancellation).build();

    note(assertThrows(WarpwrightException.class, () -> gateway.generate(request)));
    note(assertThrows(WarpwrightException.class, () -> gateway.generate(request)));
    seen.add(request.toString());
    note(gateway);
  }

  /** What the tool takes. */
  record Nothing() {}

  @Test
  @Tag("R363")
  @Tag("FR-W03")
  void what_a_tool_throws() {
    ScriptedModel model =
        ScriptedModel.builder()
            .next(ScriptedAnswer.tool("leak", Json.EMPTY_OBJECT))
            .otherwise(ScriptedAnswer.text("Done."))
            .build();
    Tool tool =
        Tool.builder(
                "leak",
                "Leaks.",
                Nothing.class,
                MethodHandles.lookup(),
                EffectClass.ONCE,
                (input, context) -> {
                  throw new IllegalStateException("password=" + SECRET);
                })
            .build();
    Gateway gateway = gateway(model);
    Agents agents = Agents.on(gateway, RunStore.inMemory());
    Agent agent = Agent.builder("a", Route.of(Target.of("p", "m"))).tools(tool).build();

    AgentResult result = agents.run(AgentRequest.builder(agent, "Hello").build());

    assertEquals("Done.", result.text());
    noteRun(agents, result);
    model.lastCalls().forEach(call -> call.messages().forEach(m -> seen.add(m.parts().toString())));
    model
        .lastCalls()
        .getLast()
        .messages()
        .forEach(m -> m.toolResults().forEach(r -> seen.add(r.output().text())));
    note(gateway);
  }
}
