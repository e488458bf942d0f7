package dev.warpwright.adapters.scripted;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelEvent;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.StreamingModel;
import dev.warpwright.model.TokenCount;
import dev.warpwright.model.Usage;
import dev.warpwright.testing.ManualTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The streams of the model inside the program. */
@Tag("R379")
@Timeout(30)
class ScriptedStreamTest {
  private static final Duration SOON = Duration.ofSeconds(10);
  private static final ModelCall HELLO = Talk.ask(Message.user("Hello"));
  private final ProviderException busy =
      ProviderException.builder(ProviderException.Kind.PROVIDER_EVENT, "Busy.").status(529).build();

  /** What one stream told, in short words. */
  private static final class Told implements StreamingModel.Events {
    final List<String> events = Collections.synchronizedList(new ArrayList<>());
    final List<ModelEvent> all = Collections.synchronizedList(new ArrayList<>());

    @Override
    public void tell(ModelEvent event) {
      all.add(event);
      events.add(
          switch (event) {
            case ModelEvent.Text(String text) -> text;
            case ModelEvent.Reasoning(String text) -> "(" + text + ")";
            case ModelEvent.Counters(Usage usage) ->
                usage.input().tokens() + "/" + usage.output().tokens();
            case ModelEvent.Alive() -> "alive";
          });
    }
  }

  private static ScriptedModel saying(ScriptedAnswer answer) {
    return ScriptedModel.builder().otherwise(answer).build();
  }

  private static List<String> told(StreamingModel model) throws InterruptedException {
    Told told = new Told();
    model.stream(HELLO, told);
    return told.events;
  }

  private static List<String> told(ScriptedAnswer answer) throws InterruptedException {
    return told(saying(answer));
  }

  /** What was told before the stream failed, and the failure behind it. */
  private static List<String> toldAndFailed(ScriptedModel model) {
    Told told = new Told();
    ProviderException failure =
        assertThrows(ProviderException.class, () -> model.stream(HELLO, told));
    List<String> all = new ArrayList<>(told.events);
    all.add(failure.kind() + " " + failure.status());
    assertEquals(0, model.running());
    return all;
  }

  // --- chunks
  // -------------------------------------------------------------------------------------

  @Test
  void aTextIsToldWordByWord() throws Exception {
    assertEquals(List.of("It ", "is ", "noon."), told(ScriptedModel.answering("It is noon.")));
  }

  @Test
  void chunksAreCutAsTheyAreScripted() throws Exception {
    ScriptedAnswer answer = ScriptedAnswer.text("It is 😀 noon");
    assertEquals(List.of("It is ", "😀 noon"), told(answer.withChunks(ScriptedChunks.words(2))));
    assertEquals(
        List.of("It ", "is ", "😀 n", "oon"),
        told(answer.withChunks(ScriptedChunks.characters(3))));
    assertEquals(List.of("Hel", "lo"), told(ScriptedAnswer.pieces("Hel", "", "lo")));
    assertEquals(List.of(), told(ScriptedAnswer.text("")));
  }

  @Test
  void everyCutJoinsToTheText() throws Exception {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    for (int round = 0; round < 300; round++) {
      StringBuilder text = new StringBuilder();
      for (int i = random.nextInt(40); i > 0; i--) {
        text.append(List.of(" ", "\n", "a", "bc", "😀", "你").get(random.nextInt(6)));
      }
      int size = 1 + random.nextInt(5);
      ScriptedChunks chunks =
          random.nextBoolean() ? ScriptedChunks.words(size) : ScriptedChunks.characters(size);
      ScriptedModel model = saying(ScriptedAnswer.text(text.toString()).withChunks(chunks));
      Told told = new Told();
      ModelResponse response = model.stream(HELLO, told);
      assertEquals(text.toString(), String.join("", told.events), "seed " + seed);
      assertEquals(text.toString(), response.message().text(), "seed " + seed);
      assertFalse(told.events.contains(""), "seed " + seed);
    }
  }

  @Test
  void thoughtsCallsAndCountersAreTold() throws Exception {
    ScriptedAnswer answer =
        ScriptedAnswer.text("Wait a moment.")
            .withThinking("Hm, well.")
            .withTool("lookup", Json.parse("{\"id\":\"A-17, or A-18\"}"))
            .withUsage(12, 7);
    assertEquals(
        List.of("12/0", "(Hm, )", "(well.)", "Wait ", "a ", "moment.", "alive", "alive", "12/7"),
        told(answer));
    Told told = new Told();
    saying(answer).stream(HELLO, told);
    ModelEvent.Counters first = assertInstanceOf(ModelEvent.Counters.class, told.all.getFirst());
    assertEquals(TokenCount.ABSENT, first.usage().output());
    assertEquals(TokenCount.ABSENT, first.usage().total());
  }

  @Test
  void theAnswerIsTheOneThatIsNotStreamed() throws Exception {
    Script script =
        Script.parse(
            """
            { "rules": [ { "when": { "user": "(?<word>.+)" },
                "answer": { "pieces": [ "You said ", "${word}." ], "thinking": "Hm.",
                            "tools": [ { "name": "t", "input": { "x": "${word}" } } ],
                            "usage": { "input": 1, "output": 2 } } } ] }
            """);
    ScriptedModel whole = ScriptedModel.of(script);
    ScriptedModel streamed = ScriptedModel.of(script);
    Told told = new Told();
    ModelResponse response = streamed.model("m-1").stream(HELLO, told);
    assertEquals(whole.model("m-1").generate(HELLO), response);
    assertEquals(Optional.of("req_1"), response.requestId());
    assertTrue(told.events.containsAll(List.of("You said ", "Hello.")));
    assertEquals(1, streamed.calls());
    assertEquals(List.of(HELLO), streamed.lastCalls());
  }

  @Test
  void aFixedAnswerIsCutOnce() throws Exception {
    for (ScriptedModel model :
        List.of(ScriptedModel.answering("One two"), ScriptedModel.of(Talk.faulty("")))) {
      Told first = new Told();
      Told second = new Told();
      model.stream(HELLO, first);
      model.stream(HELLO, second);
      for (int i = 0; i < first.all.size(); i++) {
        assertSame(first.all.get(i), second.all.get(i));
      }
    }
  }

  // --- time
  // ---------------------------------------------------------------------------------------

  @Test
  void latencyAndPausesPassOnTheTimeSource() throws Exception {
    ManualTime time = new ManualTime();
    ScriptedModel model =
        ScriptedModel.builder()
            .otherwise(
                ScriptedAnswer.text("One two three")
                    .withLatency(Duration.ofHours(1))
                    .withChunks(
                        ScriptedChunks.words(1)
                            .withFirstPause(Duration.ofMinutes(2))
                            .withPause(Duration.ofSeconds(3))
                            .withHeartbeats(1)))
            .time(time)
            .build();
    Told told = new Told();
    FutureTask<ModelResponse> stream = new FutureTask<>(() -> model.stream(HELLO, told));
    Thread.ofVirtual().start(stream);
    List<String> expected = List.of("", "", "alive", "One ", "alive", "two ", "alive", "three");
    List<Integer> seconds = List.of(3_600, 120, 120, 3, 3, 3, 3);
    for (int i = 0; i < seconds.size(); i++) {
      time.awaitAlarmIn(Duration.ofSeconds(seconds.get(i)));
      assertEquals(String.join("", expected.subList(0, i + 1)), String.join("", told.events));
      time.advance(Duration.ofSeconds(seconds.get(i)));
    }
    assertEquals("One two three", stream.get(60, TimeUnit.SECONDS).message().text());
    assertEquals(String.join("", expected), String.join("", told.events));
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void anInterruptEndsAStreamThatPausesOrStalls(boolean stalls) throws Exception {
    ScriptedAnswer answer = ScriptedAnswer.text("One two three");
    ScriptedModel model =
        saying(
            stalls
                ? answer.withStallAfter(2)
                : answer.withChunks(ScriptedChunks.words(1).withPause(Duration.ofHours(1))));
    CountDownLatch second = new CountDownLatch(stalls ? 2 : 1);
    FutureTask<Boolean> stream =
        new FutureTask<>(
            () -> {
              assertThrows(
                  InterruptedException.class,
                  () -> model.stream(HELLO, event -> second.countDown()));
              return Thread.currentThread().isInterrupted();
            });
    Thread caller = Thread.ofVirtual().start(stream);
    assertTrue(second.await(60, TimeUnit.SECONDS));
    assertEquals(1, model.running());
    caller.interrupt();
    assertFalse(stream.get(60, TimeUnit.SECONDS));
    assertEquals(0, model.running());
  }

  @Test
  void anInterruptEndsAStreamWithoutPauses() {
    ScriptedModel model = ScriptedModel.answering("One two three");
    List<ModelEvent> told = new ArrayList<>();
    assertThrows(
        InterruptedException.class,
        () ->
            model.stream(
                HELLO,
                event -> {
                  told.add(event);
                  Thread.currentThread().interrupt();
                }));
    assertEquals(1, told.size());
    assertFalse(Thread.currentThread().isInterrupted());
  }

  @Test
  void whatTheReaderThrowsGoesThrough() {
    ScriptedModel model = ScriptedModel.answering("One two three");
    InterruptedException enough = new InterruptedException();
    assertSame(
        enough,
        assertThrows(
            InterruptedException.class,
            () ->
                model.stream(
                    HELLO,
                    event -> {
                      throw enough;
                    })));
    assertEquals(0, model.running());
  }

  // --- breaks
  // -------------------------------------------------------------------------------------

  @ParameterizedTest
  @CsvSource({"0, ''", "1, 'One '", "2, 'One two '", "3, One two three", "9, One two three"})
  void anAnswerFailsAfterSoManyChunks(int chunks, String text) {
    ScriptedAnswer answer = ScriptedAnswer.text("One two three").withUsage(4, 3);
    Told told = new Told();
    ScriptedModel model = saying(answer.withFailureAfter(chunks, busy));
    assertSame(busy, assertThrows(ProviderException.class, () -> model.stream(HELLO, told)));
    assertEquals("4/0" + text, String.join("", told.events));
    assertSame(busy, assertThrows(ProviderException.class, () -> model.generate(HELLO)));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "\"status\": 503                                        | HTTP_STATUS 503",
        "\"status\": 200, \"body\": { \"error\": { \"code\": \"rate_limit_exceeded\" } } |"
            + " PROVIDER_EVENT 429",
        "\"status\": 200, \"body\": \"data: x\"                   | PROTOCOL 0",
        "\"reset\": \"BEFORE_HEADERS\"                           | READ 0",
        "\"reset\": \"IN_BODY\"                                  | One two READ 0",
        "\"cutBodyAfter\": 7                                    | READ 0",
        "\"cut\": { \"chunks\": 3 }                              | One two three READ 0",
        "\"cut\": { \"events\": 1, \"end\": \"CLEAN\" }            | One READ 0",
        "\"cut\": { \"before\": \"FINISH\", \"end\": \"CLEAN\" }     | One two three four READ 0",
        "\"cut\": { \"before\": \"TERMINATOR\", \"end\": \"RESET\" } | One two three four READ 0",
        "\"garbage\": \"BODY\"                                   | PROTOCOL 0",
        "\"wrongType\": true                                    | PROTOCOL 0",
        "\"errorEvent\": { \"code\": \"overloaded_error\" }       | PROVIDER_EVENT 529",
        "\"errorEvent\": { \"code\": \"odd\", \"chunks\": 2 }      | One two PROVIDER_EVENT 0",
        "\"errorEvent\": { \"code\": \"context_length_exceeded\" } | CONTEXT_LENGTH 0"
      })
  void faultsOfAScriptBreakItWhereTheySay(String fault, String expected) throws Exception {
    ScriptedModel model = faulty(fault);
    assertEquals(expected, String.join(" ", toldAndFailed(model)).replace("  ", " "));
    assertEquals("One two three four", String.join("", told(model)));
    ScriptedModel whole = faulty(fault);
    ProviderException failure = assertThrows(ProviderException.class, () -> whole.generate(HELLO));
    assertTrue(expected.endsWith(failure.kind() + " " + failure.status()), failure::toString);
  }

  private static ScriptedModel faulty(String fault) {
    return ScriptedModel.of(
        Script.parse(
            """
            { "rules": [ { "when": {}, "answer": { "text": "One two three four" } } ],
              "faults": [ { "times": 1, %s } ] }
            """
                .formatted(fault)));
  }

  @Test
  void aTerminatorThatIsMissingBehindACleanEndIsNoFailure() throws Exception {
    ScriptedModel model = faulty("\"cut\": { \"before\": \"TERMINATOR\", \"end\": \"CLEAN\" }");
    assertEquals("One two three four", String.join("", told(model)));
  }

  @Test
  void aStallOfAScriptLastsUntilTheInterrupt() throws Exception {
    ScriptedModel model = faulty("\"stall\": { \"chunks\": 3 }");
    Told told = new Told();
    CountDownLatch third = new CountDownLatch(3);
    FutureTask<Void> stream =
        new FutureTask<>(
            () -> {
              assertThrows(
                  InterruptedException.class,
                  () ->
                      model.stream(
                          HELLO,
                          event -> {
                            told.tell(event);
                            third.countDown();
                          }));
              return null;
            });
    Thread caller = Thread.ofVirtual().start(stream);
    assertTrue(third.await(60, TimeUnit.SECONDS));
    caller.interrupt();
    stream.get(60, TimeUnit.SECONDS);
    assertEquals(List.of("One ", "two ", "three "), told.events);
  }

  @Test
  void streamsCheckWhatTheyAreGiven() {
    ScriptedAnswer answer = ScriptedAnswer.text("a");
    for (Runnable bad :
        List.<Runnable>of(
            () -> ScriptedChunks.words(0),
            () -> ScriptedChunks.characters(1_000_001),
            () -> ScriptedChunks.words(1).withHeartbeats(-1),
            () -> ScriptedChunks.words(1).withPause(Duration.ofMillis(-1)),
            () -> ScriptedChunks.words(1).withFirstPause(Duration.ofMillis(-1)),
            () -> answer.withStallAfter(-1),
            () -> answer.withFailureAfter(-1, busy))) {
      String message =
          String.valueOf(assertThrows(IllegalArgumentException.class, bad::run).getMessage());
      assertTrue(message.matches(".* must be .*, but is .*\\."), message);
    }
    assertEquals(
        "ScriptedChunks[2 words, pauses PT0S and PT1S, 0 heartbeats]",
        ScriptedChunks.words(2).withPause(Duration.ofSeconds(1)).toString());
  }

  @Test
  void manyStreamsAtOnceTellEachItsOwn() throws Exception {
    ScriptedModel model =
        ScriptedModel.answering(
            call -> ScriptedAnswer.text("n ".repeat(50) + call.messages().getLast().text()));
    List<FutureTask<String>> streams = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      String own = "Call-" + i;
      FutureTask<String> stream =
          new FutureTask<>(
              () -> {
                StringBuilder text = new StringBuilder();
                Told told = new Told();
                model.stream(Talk.ask(Message.user(own)), told);
                told.events.forEach(text::append);
                return text.toString();
              });
      Thread.ofVirtual().start(stream);
      streams.add(stream);
    }
    for (int i = 0; i < streams.size(); i++) {
      assertEquals("n ".repeat(50) + "Call-" + i, streams.get(i).get(60, TimeUnit.SECONDS));
    }
    model.awaitCalls(200, SOON);
    assertEquals(0, model.running());
  }
}
