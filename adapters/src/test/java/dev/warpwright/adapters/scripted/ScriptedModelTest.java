package dev.warpwright.adapters.scripted;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.Capability;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelCapabilities;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.ProviderAdapter;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.Usage;
import dev.warpwright.task.Alarm;
import dev.warpwright.task.TimeSource;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Tag("R379")
@Timeout(30)
class ScriptedModelTest {
  private static final Duration SOON = Duration.ofSeconds(10);
  private static final ModelCall HELLO = Talk.ask(Message.user("Hello"));

  /** Time that passes only by sleeping. */
  private static final class SleepLog implements TimeSource {
    final List<Duration> slept = new ArrayList<>();

    @Override
    public long nanoTime() {
      return slept.stream().mapToLong(Duration::toNanos).sum();
    }

    @Override
    public Instant now() {
      return Instant.EPOCH.plusNanos(nanoTime());
    }

    @Override
    public Alarm alarm(long atNanoTime, Runnable action) {
      throw new UnsupportedOperationException("Nothing here waits for an alarm.");
    }

    @Override
    public RandomGenerator random() {
      return new Random(1);
    }

    @Override
    public void sleep(Duration duration) {
      if (duration.isPositive()) {
        slept.add(duration);
      }
    }
  }

  private static String text(ModelResponse response) {
    return response.message().text();
  }

  private static ProviderException failure(String fault) {
    ScriptedModel model = ScriptedModel.of(Talk.faulty(fault));
    return assertThrows(ProviderException.class, () -> model.generate(HELLO));
  }

  @Test
  void itIsAnAdapterWhoseModelsShareOneScriptAndOneCount() throws Exception {
    ScriptedModel model =
        ScriptedModel.of(
            Script.parse(
                """
                { "rules": [ { "when": { "model": "^big" }, "answer": { "text": "big" } },
                             { "when": {}, "answer": { "text": "small" } } ],
                  "faults": [ { "every": 3, "status": 503 } ] }
                """));
    try (ProviderAdapter adapter = model) {
      ModelResponse first = adapter.model("big-1").generate(HELLO);
      assertEquals("big", text(first));
      assertEquals(Optional.of("req_1"), first.requestId());
      assertEquals("small", text(adapter.model("tiny-1").generate(HELLO)));
      assertThrows(ProviderException.class, () -> model.generate(HELLO));
    }
    assertEquals(3, model.calls());
    assertEquals(0, model.running());
  }

  @Test
  void aLambdaSpeaksForIt() throws Exception {
    ScriptedModel echo =
        ScriptedModel.answering(
            call -> ScriptedAnswer.text("You said: " + call.messages().getLast().text()));
    ModelResponse response = echo.generate(HELLO);
    assertEquals("You said: Hello", text(response));
    assertEquals(Usage.ABSENT, response.usage());
    assertEquals(FinishReason.Kind.STOP, response.finishReason().kind());
  }

  @Test
  void textsFollowEachOtherAndTheLastOneStays() throws Exception {
    ScriptedModel model = ScriptedModel.answering("one", "two");
    assertEquals("one", text(model.generate(HELLO)));
    assertEquals("two", text(model.generate(HELLO)));
    assertEquals("two", text(model.generate(HELLO)));
  }

  @Test
  void stepsComeFirstThenCasesThenTheScript() throws Exception {
    ProviderException overloaded =
        ProviderException.builder(ProviderException.Kind.HTTP_STATUS, "Overloaded.")
            .status(529)
            .build();
    ScriptedModel model =
        ScriptedModel.builder()
            .next(ScriptedAnswer.tool("clock", Json.EMPTY_OBJECT).withUsage(3, 4))
            .failNext(overloaded)
            .when(call -> call.messages().size() > 1, ScriptedAnswer.text("long"))
            .script(Talk.faulty("{ \"from\": 5, \"stall\": true }"))
            .build();
    ModelResponse first = model.generate(HELLO);
    assertEquals("clock", first.message().toolCalls().getFirst().name());
    assertEquals(FinishReason.Kind.TOOL_CALLS, first.finishReason().kind());
    assertEquals(7, first.usage().total().tokens());
    assertSame(overloaded, assertThrows(ProviderException.class, () -> model.generate(HELLO)));
    assertEquals("long", text(model.generate(Talk.ask(Message.system("s"), Message.user("u")))));
    assertEquals("Done.", text(model.generate(HELLO)));
  }

  @Test
  void whatNothingAnswersFailsAndNamesTheTurnButNotTheContent() {
    ScriptedModel model = ScriptedModel.builder().build();
    ModelCall call = Talk.ask(Message.user("secret words"), Message.assistant("a"));
    ProviderException failure = assertThrows(ProviderException.class, () -> model.generate(call));
    assertEquals(ProviderException.Kind.HTTP_STATUS, failure.kind());
    assertEquals(500, failure.status());
    assertEquals(Optional.of("no_rule"), failure.code());
    assertEquals(
        Optional.of("No rule of the script matches turn 1 of a conversation of 2 messages."),
        failure.providerMessage());
    assertFalse(failure.toString().contains("secret"));
  }

  @Test
  void aScriptedStatusCarriesCodeMessageAndWait() {
    ProviderException failure =
        failure(
            """
            { "status": 429, "headers": { "Retry-After": "0.2" },
              "body": { "error": { "code": "rate_limit_exceeded", "message": "Slow down." } } }
            """);
    assertEquals(ProviderException.Kind.HTTP_STATUS, failure.kind());
    assertEquals(429, failure.status());
    assertEquals(Optional.of("rate_limit_exceeded"), failure.code());
    assertEquals(Optional.of("Slow down."), failure.providerMessage());
    assertEquals(Optional.of(Duration.ofMillis(200)), failure.retryAfter());
  }

  @ParameterizedTest
  @CsvSource({
    "Retry-After, 3, PT3S",
    "retry-after-ms, 1.5, PT0.0015S",
    "Retry-After, -1,",
    "Retry-After, 'Wed, 21 Oct 2015 07:28:00 GMT', PT0S",
    "RETRY-AFTER, 2, PT2S",
    "Retry-After, 1e9,"
  })
  void theWaitIsReadAsTheHttpAdaptersReadIt(
      String header, String value, @Nullable Duration expected) {
    assertEquals(
        Optional.ofNullable(expected),
        failure("{ \"status\": 503, \"headers\": { \"%s\": \"%s\" } }".formatted(header, value))
            .retryAfter());
  }

  @Test
  void aStatusWithoutBodyHasTheTypeOfItsStatusAsCode() {
    assertEquals(Optional.of("server_error"), failure("{ \"status\": 503 }").code());
    assertEquals(Optional.of("rate_limit_error"), failure("{ \"status\": 429 }").code());
    ProviderException plain = failure("{ \"status\": 502, \"body\": \"<h1>Bad</h1>\" }");
    assertEquals(Optional.empty(), plain.code());
    assertEquals(Optional.of("<h1>Bad</h1>"), plain.providerMessage());
    assertEquals(Optional.of("req_1"), plain.requestId());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{ \"reset\": \"BEFORE_HEADERS\" } | READ",
        "{ \"reset\": \"IN_BODY\" }        | READ",
        "{ \"cutBodyAfter\": 4 }           | READ",
        "{ \"garbage\": \"BYTES\" }        | PROTOCOL",
        "{ \"garbage\": \"BODY\" }         | PROTOCOL"
      })
  void brokenConnectionsAndGarbageHaveTheirKind(String fault, ProviderException.Kind kind) {
    assertEquals(kind, failure(fault).kind());
    assertEquals(0, failure(fault).status());
  }

  @Test
  void latenciesAndSlowHeadersPassOnTheTimeSource() throws Exception {
    SleepLog time = new SleepLog();
    ScriptedModel model =
        ScriptedModel.builder()
            .next(ScriptedAnswer.text("a").withLatency(Duration.ofHours(1)))
            .script(Talk.faulty("{ \"every\": 2, \"slowHeaders\": \"PT0.3S\" }"))
            .time(time)
            .build();
    assertEquals("a", text(model.generate(HELLO)));
    assertEquals("Done.", text(model.generate(HELLO)));
    assertEquals("Done.", text(model.generate(HELLO)));
    assertEquals(List.of(Duration.ofHours(1), Duration.ofMillis(300)), time.slept);
  }

  @Test
  void aStallLastsUntilTheInterrupt() throws Exception {
    assertInterruptible(ScriptedModel.of(Talk.faulty("{ \"stall\": true }")));
  }

  @Test
  void aLatencyEndsAtTheInterrupt() throws Exception {
    assertInterruptible(
        ScriptedModel.answering(
            call -> ScriptedAnswer.text("late").withLatency(Duration.ofHours(1))));
  }

  private static void assertInterruptible(ScriptedModel model) throws InterruptedException {
    BlockingQueue<Object> ends = new LinkedBlockingQueue<>();
    Thread caller =
        Thread.ofVirtual()
            .start(
                () -> {
                  try {
                    ends.add(model.generate(HELLO));
                  } catch (InterruptedException e) {
                    ends.add("interrupted");
                  }
                });
    model.awaitCalls(1, SOON);
    assertEquals(1, model.running());
    assertTrue(ends.isEmpty());
    caller.interrupt();
    assertEquals("interrupted", ends.poll(SOON.toSeconds(), TimeUnit.SECONDS));
    caller.join();
    assertEquals(0, model.running());
  }

  @Test
  void anInterruptedCallerIsNotAnswered() {
    ScriptedModel model = ScriptedModel.answering("a");
    Thread.currentThread().interrupt();
    assertThrows(InterruptedException.class, () -> model.generate(HELLO));
    assertFalse(Thread.currentThread().isInterrupted());
    assertEquals(0, model.calls());
  }

  @Test
  void capabilitiesAreWhatIsDeclared() {
    assertEquals(
        ModelCapabilities.TEXT_AND_TOOLS.with(Capability.STREAMING),
        ScriptedModel.answering("a").capabilities());
    ScriptedModel model = ScriptedModel.builder().capabilities(ModelCapabilities.TEXT).build();
    assertEquals(ModelCapabilities.TEXT, model.model("other").capabilities());
  }

  @Test
  void theLatestCallsAreKept() throws Exception {
    ScriptedModel model = ScriptedModel.answering("a");
    for (int i = 1; i <= 103; i++) {
      model.generate(Talk.ask(Message.user("n" + i)));
    }
    assertEquals(100, model.lastCalls().size());
    assertEquals("n4", model.lastCalls().getFirst().messages().getFirst().text());
    assertEquals("n103", model.lastCalls().getLast().messages().getFirst().text());
  }

  @Test
  void awaitingCallsSaysHowManyThereAre() {
    ScriptedModel model = ScriptedModel.answering("a");
    assertEquals(
        "Within PT0S only 0 of 2 calls have begun.",
        assertThrows(IllegalStateException.class, () -> model.awaitCalls(2, Duration.ZERO))
            .getMessage());
  }

  @Test
  void answersCheckWhatTheyAreGiven() {
    assertThrows(IllegalArgumentException.class, () -> ScriptedAnswer.tool("t", Json.parse("[]")));
    assertThrows(
        IllegalArgumentException.class,
        () -> ScriptedAnswer.text("a").withLatency(Duration.ofMillis(-1)));
    ModelResponse refused = ScriptedAnswer.refusal("No.").to(List.of());
    assertEquals(FinishReason.Kind.REFUSAL, refused.finishReason().kind());
    ModelResponse malformed = ScriptedAnswer.text("a").withMalformedTool("t", "{").to(List.of());
    assertEquals(Optional.of("{"), malformed.message().toolCalls().getFirst().malformed());
    assertEquals(
        "ScriptedAnswer[1 characters, 1 calls]",
        ScriptedAnswer.text("b").withTool("t", Json.EMPTY_OBJECT).toString());
  }
}
