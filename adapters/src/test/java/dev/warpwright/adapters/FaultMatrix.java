package dev.warpwright.adapters;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import dev.warpwright.Gateway;
import dev.warpwright.GenerateRequest;
import dev.warpwright.GenerateResult;
import dev.warpwright.StreamEvent;
import dev.warpwright.TextStream;
import dev.warpwright.adapters.scripted.RecordedExchange;
import dev.warpwright.adapters.scripted.Script;
import dev.warpwright.adapters.scripted.ScriptedServer;
import dev.warpwright.control.RetryPolicy;
import dev.warpwright.model.Attempt;
import dev.warpwright.model.AttemptsExhaustedException;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidOutputException;
import dev.warpwright.model.Json;
import dev.warpwright.model.ProviderAdapter;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.ProviderException.Kind;
import dev.warpwright.model.Route;
import dev.warpwright.model.StreamBrokenException;
import dev.warpwright.model.Target;
import dev.warpwright.model.Usage;
import dev.warpwright.model.WarpwrightException;
import dev.warpwright.testing.LeakCheck;
import dev.warpwright.tool.EffectClass;
import dev.warpwright.tool.Tool;
import java.lang.invoke.MethodHandles;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Runs one fault in one cell of the matrix: a gateway with a primary and a fallback over real
 * sockets, blocking or as a stream, with the fault in the first step or behind a tool that has run.
 * Whatever the end, it checks the attempts, how often each server was asked, that each tool has run
 * once, that no text of two providers is mixed, and that nothing is left open.
 */
final class FaultMatrix {
  /** How the answer is asked for. */
  enum Form {
    BLOCKING,
    STREAM
  }

  /** Where the fault is. */
  enum Place {
    FIRST_STEP(0),
    LATER_STEP(1);

    private final int before;

    Place(int before) {
      this.before = before;
    }

    /** How many steps come before, each with a tool that runs. */
    int before() {
      return before;
    }
  }

  /** One cell. */
  record Cell(Dialect dialect, Form form, Place place) {
    boolean isStream() {
      return form == Form.STREAM;
    }

    int step() {
      return place.before + 1;
    }

    @Override
    public String toString() {
      return dialect + ", " + form + ", " + place;
    }
  }

  static Stream<Cell> cells() {
    List<Cell> cells = new ArrayList<>();
    for (Dialect dialect : Dialect.values()) {
      for (Form form : Form.values()) {
        for (Place place : Place.values()) {
          cells.add(new Cell(dialect, form, place));
        }
      }
    }
    return cells.stream();
  }

  static Stream<Cell> streamCells() {
    return cells().filter(Cell::isStream);
  }

  /** Those whose streams are server-sent events. */
  static Stream<Cell> eventCells() {
    return streamCells().filter(cell -> cell.dialect.isEvents());
  }

  static Stream<Cell> chatCells() {
    return cells().filter(cell -> cell.dialect == Dialect.CHAT);
  }

  static Stream<Cell> chatStreamCells() {
    return chatCells().filter(Cell::isStream);
  }

  static Stream<Cell> messagesCells() {
    return cells().filter(cell -> cell.dialect == Dialect.MESSAGES);
  }

  /** How an operation ends that meets a fault. */
  sealed interface End {
    /** The target is asked once more, then the other one; each answers if it can. */
    record RetriedThenFallback(Kind kind, int status) implements End {}

    /** The target is not asked again. */
    record FallbackAtOnce(Kind kind, int status) implements End {}

    /** The stream ends with what had come; nobody is asked again. */
    record Broken(String partialText, Kind kind) implements End {}

    /** It was none: the answer is as if it had come in order. */
    record Succeeds(String text, int input, int output, List<String> tools) implements End {}

    /** The answer's tool runs, then the target fails and the other one goes on. */
    record FallbackBehindTool(String tool) implements End {}

    /** The answer is refused: no tool of it runs, and nobody else is asked. */
    record Refused(FailureKind kind) implements End {}
  }

  /** The end of an answer that comes through. */
  static End.Succeeds succeeds(Dialect.Said said) {
    return new End.Succeeds(said.text(), said.input(), said.output(), List.of());
  }

  /** The end of an answer whose tools run; each by its name and input. */
  static End.Succeeds runs(String... tools) {
    return new End.Succeeds("", 7, 4, List.of(tools));
  }

  /** The input of every tool. */
  record Input(Optional<BigDecimal> a, Optional<String> q) {}

  /** What the primary says where nothing is wrong. */
  static final String PRIMARY = "All is well.";

  static final String FALLBACK = "The other one answers.";
  private static final String FIRST_TOOL = "look_up {\"q\":\"first\"}";
  private static final List<String> TOOLS = List.of("look_up", "load", "get_time");

  private static final String BODY = "\"body\": ";

  /** Stands for the content type of streams in the cell that runs. */
  private static final String STREAM_TYPE = "${the type of streams}";

  private final LeakCheck leaks;
  private final Queue<String> ran = new ConcurrentLinkedQueue<>();

  FaultMatrix(LeakCheck leaks) {
    this.leaks = leaks;
  }

  /** The effect of a script that answers with these bytes as a stream of the cell's type. */
  static String bytes(String body) {
    return "\"status\": 200, \"headers\": { \"Content-Type\": \"%s\" }, ".formatted(STREAM_TYPE)
        + BODY
        + Dialect.quoted(body);
  }

  /** The effect of a script that answers with this text as JSON. */
  static String json(String body) {
    return "\"status\": 200, \"headers\": { \"Content-Type\": \"application/json\" }, \"body\": "
        + Dialect.quoted(body);
  }

  /** The effect of an answer in the form that the cell asks for. */
  static String said(Cell cell, Dialect.Said said) {
    return cell.isStream()
        ? bytes(Dialect.plain(cell.dialect().events(said)))
        : json(cell.dialect().whole(said));
  }

  /** What was seen of one operation. */
  record Seen(
      @Nullable GenerateResult result,
      @Nullable WarpwrightException failure,
      List<String> texts,
      List<RecordedExchange> primary,
      List<RecordedExchange> fallback) {
    List<Attempt> attempts() {
      return result != null ? result.attempts() : failed().trace().attempts();
    }

    GenerateResult answered() {
      if (failure != null) {
        throw new AssertionError("failed", failure);
      }
      assertNotNull(result);
      return result;
    }

    WarpwrightException failed() {
      assertNotNull(failure, "there was an answer");
      return failure;
    }
  }

  /** An effect as it is in a dialect: its type of streams, and no text where they are none. */
  private static String effect(Dialect dialect, String given) {
    String effect = given.replace(STREAM_TYPE, dialect.streamType());
    int body = effect.indexOf(BODY);
    if (dialect.isText() || body < 0 || effect.equals(given)) {
      return effect;
    }
    String text = (String) Json.parse(effect.substring(body + BODY.length())).value();
    byte[] bytes = text.getBytes(StandardCharsets.ISO_8859_1);
    return effect.substring(0, body)
        + "\"bodyBase64\": \"%s\"".formatted(Base64.getEncoder().encodeToString(bytes));
  }

  /** Runs a fault, given as the effect of a script, and checks the end. */
  Seen run(Cell cell, String given, End end) {
    String effect = effect(cell.dialect, given);
    try {
      return switch (end) {
        case End.RetriedThenFallback retried -> {
          once(cell, "\"times\": 1, " + effect, "", 1, retried);
          both(cell, effect, 2, retried.kind, retried.status);
          yield once(cell, effect, "", 2, retried);
        }
        case End.FallbackAtOnce atOnce -> {
          both(cell, effect, 1, atOnce.kind, atOnce.status);
          yield once(cell, effect, "", 1, atOnce);
        }
        case End.FallbackBehindTool _ -> {
          String fails = " }, { \"when\": { \"turn\": " + cell.step() + " }, \"status\": 503";
          yield once(cell, "\"times\": 1, " + effect + fails, "", 2, end);
        }
        default -> once(cell, "\"times\": 1, " + effect, "", 1, end);
      };
    } catch (Throwable thrown) {
      throw new AssertionError(cell + ": " + effect, thrown);
    }
  }

  /** Runs without a fault; the form of the stream of the last answer is the matter. */
  Seen runForm(Cell cell, String words, String form, End end) {
    try {
      return once(
          cell,
          "\"times\": 1, \"slowHeaders\": \"PT0S\"",
          "\"pieces\": %s, \"usage\": { \"input\": 7, \"output\": 4 }, \"stream\": { %s }"
              .formatted(words, form),
          1,
          end);
    } catch (Throwable thrown) {
      throw new AssertionError(cell + ": " + form, thrown);
    }
  }

  private static ScriptedServer primary(Cell cell, String fault, String answer) {
    return ScriptedServer.start(
        Script.parse(
            """
            { "rules": [
                { "when": { "turn": 0, "user": "^Look" },
                  "answer": { "tools": [ { "name": "look_up", "input": { "q": "first" } } ],
                              "usage": { "input": 10, "output": 5 } } },
                { "when": {}, "answer": { %s } } ],
              "faults": [ { "when": { "turn": %d }, %s } ] }
            """
                .formatted(
                    answer.isEmpty()
                        ? "\"pieces\": [ \"All \", \"is well.\" ],"
                            + " \"usage\": { \"input\": 7, \"output\": 4 }"
                        : answer,
                    cell.place.before,
                    fault)));
  }

  private static ScriptedServer fallback(String fault) {
    return ScriptedServer.start(
        Script.parse(
            """
            { "rules": [ { "when": {}, "answer": { "text": "%s",
                                                   "usage": { "input": 3, "output": 2 } } } ],
              "faults": [ %s ] }
            """
                .formatted(FALLBACK, fault)));
  }

  private Seen once(Cell cell, String fault, String answer, int times, End end) {
    ran.clear();
    Seen seen = operate(cell, fault, answer, cell.dialect.other(), "");
    check(cell, seen, times, fault.startsWith("\"times\""), end);
    return seen;
  }

  /** Both targets have the fault. */
  private void both(Cell cell, String effect, int times, Kind kind, int status) {
    ran.clear();
    Seen seen = operate(cell, effect, "", cell.dialect, "{ " + effect + " }");
    AttemptsExhaustedException end =
        assertInstanceOf(AttemptsExhaustedException.class, seen.failed());
    ProviderException cause = assertInstanceOf(ProviderException.class, end.getCause());
    assertEquals(kind, cause.kind());
    assertEquals(status, cause.status());
    List<String> expected = before(cell);
    addErrors(expected, cell.step(), "primary", times, kind, status);
    addErrors(expected, cell.step(), "fallback", times, kind, status);
    assertEquals(expected, attempts(seen.attempts()));
    assertEquals(cell.place.before + times, seen.primary.size());
    assertEquals(times, seen.fallback.size());
    assertEquals(toolsBefore(cell), List.copyOf(ran));
    assertTrue(seen.texts.stream().allMatch(String::isEmpty), () -> "shown: " + seen.texts);
  }

  private Seen operate(
      Cell cell, String fault, String answer, Dialect fallbackDialect, String fallbackFault) {
    Queue<Attempt> told = new ConcurrentLinkedQueue<>();
    try (ScriptedServer primary = primary(cell, fault, answer);
        ScriptedServer fallback = fallback(fallbackFault)) {
      ProviderAdapter first = cell.dialect.at(primary.uri());
      ProviderAdapter second = fallbackDialect.at(fallback.uri());
      try (Gateway gateway =
          leaks.watch(
              Gateway.builder()
                  .adapter("primary", first)
                  .adapter("fallback", second)
                  .adapter("bystander", id -> fail("is in no route"))
                  .retry(new RetryPolicy(1, Duration.ZERO, 0))
                  .attemptObserver((operation, attempt) -> told.add(attempt))
                  .build())) {
        List<String> texts = new ArrayList<>();
        GenerateResult result = null;
        WarpwrightException failure = null;
        try {
          result =
              cell.isStream()
                  ? read(gateway.streamText(request(cell)), texts)
                  : gateway.generate(request(cell));
        } catch (WarpwrightException e) {
          failure = e;
        }
        assertEquals(0, Dialect.openExchanges(first));
        assertEquals(0, Dialect.openExchanges(second));
        assertTrue(gateway.flushObservers(Duration.ofSeconds(10)));
        Seen seen = new Seen(result, failure, texts, primary.exchanges(), fallback.exchanges());
        assertEquals(seen.attempts(), List.copyOf(told));
        return seen;
      }
    }
  }

  private GenerateRequest request(Cell cell) {
    return GenerateRequest.builder(
            Route.of(Target.of("primary", "m-1"), Target.of("fallback", "m-2")),
            cell.place == Place.LATER_STEP ? "Look it up." : "Hello.")
        .tools(TOOLS.stream().map(this::tool).toList())
        .maxSteps(5)
        .build();
  }

  private Tool tool(String name) {
    return Tool.builder(
            name,
            "A tool.",
            Input.class,
            MethodHandles.lookup(),
            EffectClass.ONCE,
            (input, context) -> {
              ran.add(name + " " + shown(input));
              return "found";
            })
        .build();
  }

  private static String shown(Input input) {
    Map<String, Object> members = new LinkedHashMap<>();
    input.a.ifPresent(a -> members.put("a", a));
    input.q.ifPresent(q -> members.put("q", q));
    return Json.of(members).text();
  }

  /** Reads a stream; the texts are those that were shown, step by step. */
  private static GenerateResult read(TextStream stream, List<String> texts) {
    try (stream) {
      StringBuilder step = new StringBuilder();
      try {
        for (StreamEvent event : stream) {
          switch (event) {
            case StreamEvent.TextDelta(String text) -> step.append(text);
            case StreamEvent.Finish finish when !finish.last() -> {
              texts.add(step.toString());
              step.setLength(0);
            }
            default -> {}
          }
        }
      } finally {
        if (!step.isEmpty()) {
          texts.add(step.toString());
        }
      }
      return stream.collect();
    }
  }

  private List<String> toolsBefore(Cell cell) {
    return cell.place == Place.LATER_STEP ? List.of(FIRST_TOOL) : List.of();
  }

  private static List<String> before(Cell cell) {
    List<String> attempts = new ArrayList<>();
    if (cell.place == Place.LATER_STEP) {
      attempts.add("1 primary PROVIDER_SUCCESS 0");
    }
    return attempts;
  }

  private static void addErrors(
      List<String> attempts, int step, String provider, int times, Kind kind, int status) {
    for (int retry = 0; retry < times; retry++) {
      attempts.add("%d %s PROVIDER_ERROR %d %s %d".formatted(step, provider, retry, kind, status));
    }
  }

  private static List<String> attempts(List<Attempt> attempts) {
    return attempts.stream()
        .map(
            attempt ->
                "%d %s %s %d"
                        .formatted(
                            attempt.step(),
                            attempt.target().provider(),
                            attempt.reasonCode(),
                            attempt.retry())
                    + attempt.failure().map(kind -> " " + kind + " " + attempt.status()).orElse(""))
        .toList();
  }

  private void check(Cell cell, Seen seen, int times, boolean onlyOnce, End end) {
    List<String> expected = before(cell);
    List<String> tools = new ArrayList<>(toolsBefore(cell));
    int step = cell.step();
    int primary = cell.place.before;
    int fallback = 0;
    switch (end) {
      case End.RetriedThenFallback(Kind kind, int status) -> {
        addErrors(expected, step, "primary", times, kind, status);
        if (onlyOnce) {
          expected.add(step + " primary PROVIDER_SUCCESS 1");
          primary++;
        } else {
          expected.add(step + " fallback PROVIDER_SUCCESS 0");
          fallback++;
        }
        primary += times;
        checkAnswer(cell, seen, onlyOnce ? PRIMARY : FALLBACK);
        checkUsage(cell, seen, onlyOnce ? 7 : 3, onlyOnce ? 4 : 2);
      }
      case End.FallbackAtOnce(Kind kind, int status) -> {
        addErrors(expected, step, "primary", 1, kind, status);
        expected.add(step + " fallback PROVIDER_SUCCESS 0");
        primary++;
        fallback++;
        checkAnswer(cell, seen, FALLBACK);
        checkUsage(cell, seen, 3, 2);
      }
      case End.Broken(String partialText, Kind kind) -> {
        StreamBrokenException broken = assertInstanceOf(StreamBrokenException.class, seen.failed());
        assertEquals(FailureKind.STREAM_BROKEN, broken.kind());
        assertEquals(partialText, broken.partialText());
        assertEquals(partialText, String.join("", seen.texts));
        assertEquals(kind, assertInstanceOf(ProviderException.class, broken.getCause()).kind());
        expected.add(
            "%d primary PROVIDER_ERROR 0 %s %d"
                .formatted(step, kind, ((ProviderException) broken.getCause()).status()));
        assertEquals(broken.usage(), seen.attempts().getLast().usage().orElse(Usage.ABSENT));
        primary++;
      }
      case End.Succeeds(String text, int input, int output, List<String> more) -> {
        expected.add(step + " primary PROVIDER_SUCCESS 0");
        primary++;
        if (!more.isEmpty()) {
          expected.add((step + 1) + " primary PROVIDER_SUCCESS 0");
          primary++;
        }
        tools.addAll(more);
        checkAnswer(cell, seen, more.isEmpty() ? text : PRIMARY);
        checkUsage(cell, seen, input + (more.isEmpty() ? 0 : 7), output + (more.isEmpty() ? 0 : 4));
      }
      case End.FallbackBehindTool(String tool) -> {
        expected.add(step + " primary PROVIDER_SUCCESS 0");
        addErrors(expected, step + 1, "primary", times, Kind.HTTP_STATUS, 503);
        expected.add((step + 1) + " fallback PROVIDER_SUCCESS 0");
        primary += 1 + times;
        fallback++;
        tools.add(tool);
        checkAnswer(cell, seen, FALLBACK);
        checkUsage(cell, seen, 10, 6);
      }
      case End.Refused(FailureKind kind) -> {
        assertEquals(kind, assertInstanceOf(InvalidOutputException.class, seen.failed()).kind());
        expected.add(step + " primary PROVIDER_SUCCESS 0");
        primary++;
      }
    }
    assertEquals(expected, attempts(seen.attempts()));
    assertEquals(primary, seen.primary.size(), "requests of the primary");
    assertEquals(fallback, seen.fallback.size(), "requests of the fallback");
    // those of one answer run side by side
    assertEquals(tools.stream().sorted().toList(), ran.stream().sorted().toList());
  }

  private static void checkAnswer(Cell cell, Seen seen, String text) {
    GenerateResult result = seen.answered();
    assertEquals(text, result.text());
    if (cell.isStream()) {
      assertEquals(
          result.steps().stream().map(step -> step.response().message().text()).toList(),
          seen.texts);
    }
  }

  private static void checkUsage(Cell cell, Seen seen, int input, int output) {
    Usage usage = seen.answered().usage();
    boolean later = cell.place == Place.LATER_STEP;
    assertEquals(input + (later ? 10 : 0), usage.input().tokens());
    assertEquals(output + (later ? 5 : 0), usage.output().tokens());
  }
}
