package dev.warpwright.adapters;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.warpwright.Gateway;
import dev.warpwright.GenerateRequest;
import dev.warpwright.GenerateResult;
import dev.warpwright.TextStream;
import dev.warpwright.adapters.FaultMatrix.Cell;
import dev.warpwright.adapters.FaultMatrix.Place;
import dev.warpwright.adapters.scripted.Script;
import dev.warpwright.adapters.scripted.ScriptedServer;
import dev.warpwright.control.RetryPolicy;
import dev.warpwright.model.Attempt;
import dev.warpwright.model.Attempt.ReasonCode;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.ProviderAdapter;
import dev.warpwright.model.Route;
import dev.warpwright.model.StreamBrokenException;
import dev.warpwright.model.Target;
import dev.warpwright.testing.LeakCheck;
import dev.warpwright.testing.Leftovers;
import dev.warpwright.testing.ManualTime;
import dev.warpwright.tool.EffectClass;
import dev.warpwright.tool.Tool;
import java.lang.invoke.MethodHandles;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A provider that goes silent is given up in time, and its connection is closed. */
@Timeout(120)
final class SilenceMatrixTest {
  /** Both limits: which alarm is pending before the first event hangs on the moment. */
  private static final Duration LIMIT = Duration.ofSeconds(30);

  private static final Duration PATIENCE = Duration.ofSeconds(10);

  @RegisterExtension final LeakCheck leaks = new LeakCheck();

  private final ManualTime time = leaks.watch(new ManualTime());
  private final AtomicInteger toolRuns = new AtomicInteger();

  /** The input of the tool. */
  record Nothing() {}

  private static ScriptedServer server(Cell cell, String text, String fault) {
    return ScriptedServer.start(
        Script.parse(
            """
            { "rules": [
                { "when": { "turn": 0, "user": "^Look" },
                  "answer": { "tools": [ { "name": "look_up" } ] } },
                { "when": {}, "answer": { "text": "%s" } } ],
              "faults": [ { "when": { "turn": %d }, %s } ] }
            """
                .formatted(text, cell.place().before(), fault)));
  }

  private GenerateRequest request(Cell cell) {
    Tool lookUp =
        Tool.builder(
                "look_up",
                "Looks it up.",
                Nothing.class,
                MethodHandles.lookup(),
                EffectClass.ONCE,
                (input, context) -> toolRuns.incrementAndGet())
            .build();
    return GenerateRequest.builder(
            Route.of(Target.of("primary", "m-1"), Target.of("fallback", "m-2")),
            cell.place() == Place.LATER_STEP ? "Look it up." : "Hello.")
        .tools(lookUp)
        .maxSteps(3)
        .build();
  }

  private Gateway gateway(Cell cell, ScriptedServer server, ScriptedServer other) {
    ProviderAdapter primary = cell.dialect().at(server.uri());
    leaks.watch(Leftovers.count("exchanges", () -> Dialect.openExchanges(primary)));
    return leaks.watch(
        Gateway.builder()
            .adapter("primary", primary)
            .adapter("fallback", cell.dialect().other().at(other.uri()))
            .retry(new RetryPolicy(1, Duration.ZERO, 0))
            .attemptTimeout(LIMIT)
            .streamIdleTimeout(LIMIT)
            .timeout(Duration.ofHours(10))
            .time(time)
            .build());
  }

  private static List<ReasonCode> codes(List<Attempt> attempts) {
    return attempts.stream().map(Attempt::reasonCode).toList();
  }

  private static List<ReasonCode> before(Cell cell) {
    return new ArrayList<>(
        cell.place() == Place.LATER_STEP ? List.of(ReasonCode.PROVIDER_SUCCESS) : List.of());
  }

  @EachCell
  @Tag("R94")
  @Tag("R109")
  void a_provider_that_shows_nothing_is_tried_again_and_then_the_next_one_answers(Cell cell)
      throws Exception {
    for (String place : List.of("true", "{ \"bytes\": 20 }", "{ \"chunks\": 0 }")) {
      toolRuns.set(0);
      try (ScriptedServer server = server(cell, "Never.", "\"stall\": " + place);
          ScriptedServer other = server(cell, "The other one.", "\"slowHeaders\": \"PT0S\"");
          Gateway gateway = gateway(cell, server, other)) {
        FutureTask<GenerateResult> asking =
            new FutureTask<>(
                () -> {
                  if (!cell.isStream()) {
                    return gateway.generate(request(cell));
                  }
                  try (TextStream stream = gateway.streamText(request(cell))) {
                    return stream.collect();
                  }
                });
        Thread.ofVirtual().start(asking);
        for (long attempt = 1; attempt <= 2; attempt++) {
          long number = cell.place().before() + attempt;
          server.awaitRequest(number, PATIENCE);
          time.awaitAlarmIn(LIMIT);
          time.advance(LIMIT);
          server.awaitClose(number, PATIENCE);
        }
        GenerateResult result = asking.get(60, TimeUnit.SECONDS);

        assertEquals("The other one.", result.text());
        List<ReasonCode> expected = before(cell);
        expected.addAll(
            List.of(
                ReasonCode.PROVIDER_ERROR, ReasonCode.PROVIDER_ERROR, ReasonCode.PROVIDER_SUCCESS));
        assertEquals(expected, codes(result.attempts()));
        assertEquals(1, other.requests());
        assertEquals(cell.place().before(), toolRuns.get());
      }
    }
  }

  /** The last sign of life may count from after an advance; then the silence begins again. */
  private <T> T advanceUntilDone(FutureTask<T> task) throws Exception {
    for (int i = 0; i < 100; i++) {
      time.advance(LIMIT);
      try {
        return task.get(100, TimeUnit.MILLISECONDS);
      } catch (TimeoutException e) {
        // not yet
      }
    }
    throw new AssertionError("The silence did not end it.");
  }

  @EachStreamCell
  @Tag("FR-OB1")
  @Tag("R113")
  void a_stream_that_goes_silent_behind_output_is_a_failed_attempt(Cell cell) throws Exception {
    try (ScriptedServer server = server(cell, "Hello world.", "\"stall\": { \"chunks\": 1 }");
        ScriptedServer other = server(cell, "Never.", "\"status\": 500");
        Gateway gateway = gateway(cell, server, other);
        TextStream stream = gateway.streamText(request(cell))) {
      Iterator<String> pieces = stream.text().iterator();
      assertEquals("Hello ", pieces.next());
      FutureTask<StreamBrokenException> reading =
          new FutureTask<>(() -> assertThrows(StreamBrokenException.class, pieces::hasNext));
      Thread.ofVirtual().start(reading);
      StreamBrokenException broken = advanceUntilDone(reading);

      server.awaitClose(cell.place().before() + 1, PATIENCE);
      assertEquals(FailureKind.STREAM_IDLE, broken.kind());
      assertEquals("Hello ", broken.partialText());
      List<ReasonCode> expected = before(cell);
      expected.add(ReasonCode.PROVIDER_ERROR);
      assertEquals(expected, codes(broken.trace().attempts()));
      assertEquals(0, other.requests());
      assertEquals(cell.place().before(), toolRuns.get());
      assertEquals(0, server.openStreams());
    }
  }
}
