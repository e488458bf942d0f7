package dev.warpwright.adapters.conformance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.adapters.HttpAdapter;
import dev.warpwright.adapters.scripted.ScriptedServer;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelCapabilities;
import dev.warpwright.model.ModelEvent;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.StreamingModel;
import dev.warpwright.testing.ManualTime;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The kit against a server that does everything right, and against servers that each do not. */
@Timeout(120)
final class ConformanceTest {
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  /**
   * A server with a fault.
   *
   * @param fault in words
   * @param rules what it says instead, each with a comma behind it
   * @param faults what it does instead, the same
   * @param outcomes the checks that do not pass
   */
  record Broken(String fault, String rules, String faults, Map<Check, CheckOutcome> outcomes) {
    static Broken says(String fault, String rules, Check... failing) {
      return new Broken(fault, rules, "", failed(failing));
    }

    static Broken does(String fault, String faults, Check... failing) {
      return new Broken(fault, "", faults, failed(failing));
    }

    Broken and(Check check, CheckOutcome outcome) {
      Map<Check, CheckOutcome> all = new EnumMap<>(Check.class);
      all.putAll(outcomes);
      all.put(check, outcome);
      return new Broken(fault, rules, faults, all);
    }

    /** All of them, but for a wait that is looked at where it matters. */
    Set<Check> checks() {
      Set<Check> checks = EnumSet.allOf(Check.class);
      if (!outcomes.containsKey(Check.CANCEL_WAITING)) {
        checks.remove(Check.CANCEL_WAITING);
      }
      return checks;
    }

    /** Whether a server of that protocol can have the fault. */
    boolean concerns(Provider provider) {
      return PlayedProvider.choosesTools(provider) || !outcomes.containsKey(Check.TOOL_CHOICE);
    }

    @Override
    public String toString() {
      return fault;
    }
  }

  private static Map<Check, CheckOutcome> failed(Check... checks) {
    return Arrays.stream(checks)
        .collect(Collectors.toMap(check -> check, _ -> CheckOutcome.FAILED));
  }

  private static final List<Broken> BROKEN =
      List.of(
          Broken.says(
              "no usage",
              """
              { "when": { "user": "Utrecht" }, "answer": { "text": "Hello." } },
              { "when": { "user": "Delft" }, "answer": { "text": "It is blue. And white." } },
              """,
              Check.USAGE),
          Broken.says(
              "no usage in streams",
              """
              { "when": { "user": "Delft" }, "answer": { "text": "It is blue. And white." } },
              """,
              Check.USAGE),
          Broken.says(
              "usage of nothing",
              """
              { "when": { "user": "Utrecht" },
                "answer": { "text": "Hello.", "usage": { "input": 0, "output": 0 } } },
              """,
              Check.USAGE),
          Broken.says(
              "an answer without words",
              """
              { "when": { "user": "Utrecht" },
                "answer": { "text": "", "usage": { "input": 5, "output": 1 } } },
              """,
              Check.BLOCKING),
          Broken.says(
              "answers that are cut off without need",
              """
              { "when": { "user": "Utrecht|Delft" },
                "answer": { "text": "Hel", "finish": "length",
                            "usage": { "input": 5, "output": 1 } } },
              """,
              Check.BLOCKING,
              Check.STREAMING),
          Broken.does(
              "an answer that never comes whole",
              """
              { "when": { "user": "Utrecht" }, "cut": { "bytes": 40, "end": "IN_CHUNK" } },
              """,
              Check.BLOCKING),
          Broken.says(
              "a limit that does not hold",
              """
              { "when": { "user": "Leiden" }, "answer": { "text": "One, two, three." } },
              """,
              Check.LENGTH_LIMIT),
          Broken.does(
              "streams without a finish",
              """
              { "when": { "user": "Delft|Zwolle" },
                "cut": { "before": "FINISH", "end": "CLEAN" } },
              """,
              Check.STREAMING,
              Check.STREAMED_TOOL_CALL),
          Broken.does(
              "a stream that breaks off",
              """
              { "when": { "user": "Delft" }, "cut": { "chunks": 2, "end": "RESET" } },
              """,
              Check.STREAMING),
          Broken.does(
              "JSON where a stream was asked for",
              """
              { "when": { "user": "Zwolle" }, "status": 200, "body": { "so": "it is" } },
              """,
              Check.STREAMED_TOOL_CALL),
          Broken.says(
              "arguments that are cut",
              """
              { "when": { "user": "Zwolle" },
                "answer": { "tools": [ { "name": "city_population",
                                         "rawInput": "{\\"city\\": \\"Zw" } ] } },
              """,
              Check.STREAMED_TOOL_CALL),
          Broken.says(
                  "arguments that break the schema",
                  """
                  { "when": { "user": "Gouda", "turn": 0 },
                    "answer": { "tools": [ { "name": "city_population",
                                             "input": { "town": "Gouda" } } ] } },
                  """,
                  Check.TOOL_CALL)
              .and(Check.TOOL_RESULT, CheckOutcome.SKIPPED),
          Broken.says(
                  "calls that are cut off",
                  """
                  { "when": { "user": "Gouda", "turn": 0 },
                    "answer": { "tools": [ { "name": "city_population",
                                             "input": { "city": "Gouda" } } ],
                                "finish": "length" } },
                  """,
                  Check.TOOL_CALL)
              .and(Check.TOOL_RESULT, CheckOutcome.SKIPPED),
          Broken.says(
                  "a tool choice that counts for nothing",
                  """
                  { "when": { "user": "Gouda|Zwolle", "turn": 0 },
                    "answer": { "text": "Many people live there." } },
                  { "when": { "user": "Haarlem" },
                    "answer": { "tools": [ { "name": "city_population",
                                             "input": { "city": "Haarlem" } } ] } },
                  """,
                  Check.TOOL_CALL,
                  Check.STREAMED_TOOL_CALL,
                  Check.TOOL_CHOICE)
              .and(Check.TOOL_RESULT, CheckOutcome.SKIPPED),
          Broken.says(
              "tools that cannot be forbidden",
              """
              { "when": { "user": "Arnhem" },
                "answer": { "tools": [ { "name": "city_population",
                                         "input": { "city": "Arnhem" } } ] } },
              """,
              Check.TOOL_CHOICE),
          Broken.says(
                  "a tool of its own",
                  """
                  { "when": { "user": "Gouda", "turn": 0 },
                    "answer": { "tools": [ { "name": "search", "input": { "city": "A" } } ] } },
                  """,
                  Check.TOOL_CALL)
              .and(Check.TOOL_RESULT, CheckOutcome.SKIPPED),
          Broken.does(
              "tool results are refused",
              """
              { "when": { "user": "Gouda", "turn": 1 }, "status": 400 },
              """,
              Check.TOOL_RESULT),
          Broken.says(
                  "one tool at a time",
                  """
                  { "when": { "user": "Tilburg" },
                    "answer": { "tools": [ { "name": "city_population",
                                             "input": { "city": "Breda" } } ] } },
                  """)
              .and(Check.PARALLEL_TOOL_CALLS, CheckOutcome.NOT_SHOWN),
          Broken.says(
              "structured output of another type",
              """
              { "when": { "user": "Vlissingen" },
                "answer": { "json": { "name": "Vlissingen", "coastal": true,
                                      "population": "many" } } },
              """,
              Check.STRUCTURED_OUTPUT),
          Broken.says(
              "structured output with more in it",
              """
              { "when": { "user": "Vlissingen" },
                "answer": { "json": { "name": "Vlissingen", "coastal": true,
                                      "population": 45000, "mayor": "B." } } },
              """,
              Check.STRUCTURED_OUTPUT),
          Broken.says(
              "JSON between other words",
              """
              { "when": { "user": "Vlissingen|Deventer" },
                "answer": { "text": "Here it is: {}" } },
              """,
              Check.STRUCTURED_OUTPUT,
              Check.JSON_MODE),
          Broken.says(
              "JSON that is no object",
              """
              { "when": { "user": "Deventer" }, "answer": { "json": [ 1, 2 ] } },
              """,
              Check.JSON_MODE),
          Broken.does(
              "errors as HTML with status 200",
              """
              { "when": { "model": "no-such-model" }, "status": 200,
                "headers": { "Content-Type": "text/html" },
                "body": "<html>Model not found</html>" },
              """,
              Check.UNKNOWN_MODEL),
          Broken.does(
              "errors as faults of the server",
              """
              { "when": { "model": "no-such-model" }, "status": 500 },
              """,
              Check.UNKNOWN_MODEL),
          Broken.does(
              "an error in the stream only",
              """
              { "when": { "model": "no-such-model" }, "every": 2, "from": 2, "status": 503 },
              """,
              Check.UNKNOWN_MODEL),
          new Broken(
                  "any model",
                  """
                  { "when": { "model": "no-such-model" }, "answer": { "text": "Hello." } },
                  """,
                  """
                  { "when": { "model": "no-such-model" }, "slowHeaders": "PT0S" },
                  """,
                  Map.of())
              .and(Check.UNKNOWN_MODEL, CheckOutcome.NOT_SHOWN),
          Broken.says(
                  "answers that are there before anybody can cancel",
                  """
                  { "when": { "user": "Assen" }, "answer": { "text": "One, two." } },
                  """)
              .and(Check.CANCEL_WAITING, CheckOutcome.NOT_SHOWN),
          Broken.does(
              "long questions are refused",
              """
              { "when": { "user": "Assen|Emmen" }, "status": 413 },
              """,
              Check.CANCEL_WAITING,
              Check.CANCEL_STREAM));

  static Stream<Named<Provider>> providers() {
    return PlayedProvider.protocols().map(provider -> Named.of(provider.id(), provider));
  }

  static Stream<Arguments> brokenServers() {
    return providers()
        .flatMap(
            provider ->
                BROKEN.stream()
                    .filter(broken -> broken.concerns(provider.getPayload()))
                    .map(broken -> Arguments.of(provider, broken)));
  }

  private static Map<Check, CheckOutcome> outcomes(ConformanceReport report) {
    return report.results().stream()
        .collect(
            Collectors.toMap(
                CheckResult::check,
                CheckResult::outcome,
                (a, _) -> a,
                () -> new EnumMap<>(Check.class)));
  }

  /** What a run should find: everything passes but this. */
  private static Map<Check, CheckOutcome> passedBut(Map<Check, CheckOutcome> others) {
    Map<Check, CheckOutcome> all = new EnumMap<>(Check.class);
    Arrays.stream(Check.values()).forEach(check -> all.put(check, CheckOutcome.PASSED));
    all.putAll(others);
    return all;
  }

  /** The same, but what its protocol has no place for. */
  private static Map<Check, CheckOutcome> passedBut(
      Provider provider, Map<Check, CheckOutcome> others) {
    Map<Check, CheckOutcome> all = passedBut(others);
    if (!PlayedProvider.choosesTools(provider)) {
      all.put(Check.TOOL_CHOICE, CheckOutcome.SKIPPED);
    }
    return all;
  }

  @ParameterizedTest
  @MethodSource("providers")
  void a_server_that_does_everything_right_passes_every_check(Provider provider) throws Exception {
    try (PlayedProvider played = new PlayedProvider(provider, Conformance.script())) {
      ConformanceReport report = played.conformance().build().run();

      assertEquals(passedBut(provider, Map.of()), outcomes(report), report::table);
      assertTrue(report.passed());
      assertEquals(PlayedProvider.choosesTools(provider) ? 16 : 15, report.calls());
      assertEquals(16, report.maxCalls());
      assertEquals(0, played.adapter().openExchanges());
      assertFalse(report.table().contains(PlayedProvider.KEY), report::table);
      assertFalse(report.table().contains(PlayedProvider.WRONG_KEY), report::table);
      assertFalse(report.table().contains("blue and white"), report::table);
    }
  }

  @ParameterizedTest(name = "{0}: {1}")
  @MethodSource("brokenServers")
  void a_server_with_a_fault_fails_where_the_fault_is_and_nowhere_else(
      Provider provider, Broken broken) throws Exception {
    try (PlayedProvider played =
        new PlayedProvider(provider, PlayedProvider.script(broken.rules(), broken.faults()))) {
      ConformanceReport report = played.conformance().checks(broken.checks()).build().run();

      Map<Check, CheckOutcome> expected = passedBut(provider, broken.outcomes());
      expected.keySet().retainAll(broken.checks());
      assertEquals(expected, outcomes(report), report::table);
      assertEquals(!broken.outcomes().containsValue(CheckOutcome.FAILED), report.passed());
    }
  }

  @Test
  void a_server_that_takes_any_key_fails() throws Exception {
    Provider provider = Provider.ALL.getFirst();
    try (ScriptedServer open =
            ScriptedServer.start(
                PlayedProvider.script(
                    "{ \"when\": { \"user\": \"Almelo\" }, \"answer\": { \"text\": \"Hi.\" } },",
                    ""));
        HttpAdapter adapter = provider.at(open.uri()).build()) {
      ConformanceReport report =
          Conformance.builder(adapter, "kit-model")
              .checks(EnumSet.of(Check.WRONG_KEY))
              .wrongKey(adapter, PlayedProvider.WRONG_KEY)
              .build()
              .run();

      assertEquals(Map.of(Check.WRONG_KEY, CheckOutcome.FAILED), outcomes(report));
    }
  }

  @ParameterizedTest
  @MethodSource("providers")
  void a_stream_that_hangs_behind_its_answer_fails_when_its_time_is_over(Provider provider)
      throws Exception {
    ManualTime time = new ManualTime();
    String hanging =
        "{ \"when\": { \"user\": \"Delft|Zwolle\" }, \"stall\": { \"before\": \"TERMINATOR\" } },";
    try (PlayedProvider played = new PlayedProvider(provider, PlayedProvider.script("", hanging))) {
      Conformance conformance =
          played.conformance().callTimeout(Duration.ofMinutes(30)).time(time).build();
      FutureTask<ConformanceReport> run = new FutureTask<>(conformance::run);
      Thread.startVirtualThread(run);
      int calling = PlayedProvider.choosesTools(provider) ? 8 : 7;
      for (int request : List.of(2, calling)) { // those that hang, of all that are sent
        played.server().awaitRequest(request, PATIENCE);
        time.awaitAlarmIn(Duration.ofMinutes(30));
        time.advance(Duration.ofMinutes(30));
      }
      ConformanceReport report = run.get(30, TimeUnit.SECONDS);

      assertEquals(
          passedBut(provider, failed(Check.STREAMING, Check.STREAMED_TOOL_CALL)),
          outcomes(report),
          report::table);
    }
  }

  @Test
  void an_adapter_whose_pieces_are_not_its_answer_fails() throws Exception {
    try (PlayedProvider played =
        new PlayedProvider(Provider.ALL.getFirst(), Conformance.script())) {
      HttpAdapter stuttering = new Stuttering(played.adapter());

      ConformanceReport report = played.conformance(stuttering).build().run();

      assertEquals(passedBut(failed(Check.STREAMING)), outcomes(report), report::table);
    }
  }

  @Test
  void an_adapter_that_forgets_an_exchange_fails() throws Exception {
    try (PlayedProvider played =
        new PlayedProvider(Provider.ALL.getFirst(), Conformance.script())) {
      HttpAdapter forgetful = new Forgetful(played.adapter());

      ConformanceReport report = played.conformance(forgetful).build().run();

      assertEquals(
          passedBut(failed(Check.CANCEL_WAITING, Check.CANCEL_STREAM, Check.CONNECTIONS)),
          outcomes(report),
          report::table);
    }
  }

  @Test
  void what_the_model_does_not_declare_is_skipped_and_costs_nothing() throws Exception {
    Provider provider = Provider.ALL.getFirst();
    try (ScriptedServer server = ScriptedServer.start(Conformance.script());
        HttpAdapter adapter =
            provider.at(server.uri()).capabilities(id -> ModelCapabilities.TEXT).build()) {
      ConformanceReport report = Conformance.builder(adapter, "kit-model").build().run();

      Set<Check> passed =
          EnumSet.of(
              Check.BLOCKING,
              Check.USAGE,
              Check.LENGTH_LIMIT,
              Check.CANCEL_WAITING,
              Check.UNKNOWN_MODEL,
              Check.CONNECTIONS);
      Map<Check, CheckOutcome> skipped = new EnumMap<>(Check.class);
      EnumSet.complementOf(EnumSet.copyOf(passed))
          .forEach(check -> skipped.put(check, CheckOutcome.SKIPPED));
      assertEquals(passedBut(skipped), outcomes(report), report::table);
      assertTrue(report.passed());
      assertEquals(4, server.requests());
      assertTrue(report.table().contains("streaming is not declared"), report::table);
    }
  }

  @Test
  void what_the_adapter_does_not_send_is_skipped_and_is_no_call() throws Exception {
    try (PlayedProvider played =
        new PlayedProvider(Provider.ALL.getFirst(), Conformance.script())) {
      ConformanceReport report =
          played.conformance(new StreamsOnly(played.adapter())).build().run();

      Map<Check, CheckOutcome> skipped = new EnumMap<>(Check.class);
      for (Check check : Check.values()) {
        skipped.put(check, CheckOutcome.SKIPPED);
      }
      for (Check check :
          List.of(
              Check.STREAMING,
              Check.USAGE,
              Check.STREAMED_TOOL_CALL,
              Check.CANCEL_STREAM,
              Check.WRONG_KEY,
              Check.CONNECTIONS)) {
        skipped.put(check, CheckOutcome.PASSED);
      }
      assertEquals(skipped, outcomes(report), report::table);
      assertEquals(5, report.calls());
      assertEquals(4 + 1, played.server().exchanges().size());
      assertTrue(
          report.table().contains("the adapter does not ask for it: Streams only."), report::table);
    }
  }

  @Test
  void an_interrupt_ends_the_run_and_its_call() throws Exception {
    String silent = "{ \"when\": { \"user\": \"Utrecht\" }, \"stall\": true },";
    try (PlayedProvider played =
        new PlayedProvider(Provider.ALL.getFirst(), PlayedProvider.script("", silent))) {
      FutureTask<InterruptedException> run =
          new FutureTask<>(
              () ->
                  assertThrows(
                      InterruptedException.class, () -> played.conformance().build().run()));
      Thread runner = Thread.startVirtualThread(run);
      played.server().awaitRequest(1, PATIENCE);

      runner.interrupt();

      run.get(60, TimeUnit.SECONDS);
      assertEquals(0, played.adapter().openExchanges());
      assertEquals(1, played.server().requests());
    }
  }

  @Test
  void settings_are_held_to_their_bounds() throws Exception {
    try (PlayedProvider played =
        new PlayedProvider(Provider.ALL.getFirst(), Conformance.script())) {
      Conformance.Builder builder = played.conformance();
      assertRefused(
          "maxTokens must be between 64 and 100000, but is 63.", () -> builder.maxTokens(63));
      assertRefused(
          "maxTokens must be between 64 and 100000, but is 100001.",
          () -> builder.maxTokens(100_001));
      assertRefused(
          "callTimeout must be more than PT0S and at most PT1H, but is PT0S.",
          () -> builder.callTimeout(Duration.ZERO));
      assertRefused(
          "callTimeout must be more than PT0S and at most PT1H, but is PT1H0.001S.",
          () -> builder.callTimeout(Duration.ofHours(1).plusMillis(1)));
      assertRefused(
          "checks must name at least one check, but is empty.", () -> builder.checks(Set.of()));
      assertRefused(
          "key must be a key that is wrong, but is blank.",
          () -> builder.wrongKey(played.adapter(), " "));
    }
  }

  private static void assertRefused(String message, Runnable setting) {
    assertEquals(message, assertThrows(InvalidRequestException.class, setting::run).getMessage());
  }

  /** A real adapter, but for what a test changes. */
  private abstract static class Changed implements HttpAdapter {
    private final HttpAdapter real;

    Changed(HttpAdapter real) {
      this.real = real;
    }

    @Override
    public StreamingModel model(String modelId) {
      StreamingModel model = real.model(modelId);
      return new StreamingModel() {
        @Override
        public ModelCapabilities capabilities() {
          return model.capabilities();
        }

        @Override
        public ModelResponse generate(ModelCall call) throws InterruptedException {
          checkWhole();
          return model.generate(call);
        }

        @Override
        public ModelResponse stream(ModelCall call, Events events) throws InterruptedException {
          return model.stream(call, told(events));
        }
      };
    }

    void checkWhole() {}

    StreamingModel.Events told(StreamingModel.Events events) {
      return events;
    }

    @Override
    public int openExchanges() {
      return real.openExchanges();
    }

    @Override
    public void close() {
      real.close();
    }
  }

  /** Tells each piece twice. */
  private static final class Stuttering extends Changed {
    Stuttering(HttpAdapter real) {
      super(real);
    }

    @Override
    StreamingModel.Events told(StreamingModel.Events events) {
      return event -> {
        events.tell(event);
        if (event instanceof ModelEvent.Text) {
          events.tell(event);
        }
      };
    }
  }

  /** Counts one exchange too many. */
  private static final class Forgetful extends Changed {
    Forgetful(HttpAdapter real) {
      super(real);
    }

    @Override
    public int openExchanges() {
      return super.openExchanges() + 1;
    }
  }

  /** Refuses, before anything is sent, what is to come whole. */
  private static final class StreamsOnly extends Changed {
    StreamsOnly(HttpAdapter real) {
      super(real);
    }

    @Override
    void checkWhole() {
      throw ProviderException.builder(ProviderException.Kind.UNSUPPORTED, "Streams only.").build();
    }
  }
}
