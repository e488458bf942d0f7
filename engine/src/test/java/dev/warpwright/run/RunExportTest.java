package dev.warpwright.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A log becomes text and comes back equal. */
@Tag("A149")
final class RunExportTest {
  private static final RunScope SCOPE =
      new RunScope("ten\"ant,\"event\":", Optional.of("üser"), Optional.empty());

  @Test
  void random_logs_come_back_equal() {
    for (long seed = 0; seed < 30; seed++) {
      long failing = seed;
      Random random = new Random(seed);
      RandomEvents events = new RandomEvents(seed);
      List<LoggedEvent> log = new ArrayList<>();
      for (int type = 0; type < RandomEvents.TYPES; type++) {
        log.add(
            new LoggedEvent(
                new RunKey(SCOPE, "run-1"),
                log.size() + 1L,
                new Writer("w\n\"" + type, random.nextLong(10)),
                Instant.ofEpochSecond(random.nextLong(2_000_000_000), random.nextInt(1_000_000)),
                events.event(type)));
      }

      String text = RunExport.write(log);

      assertEquals(log, RunExport.read(text), () -> "seed " + failing);
      assertEquals(log.size(), text.lines().count());
    }
  }

  @Test
  void the_deepest_value_that_an_event_can_hold_comes_back() {
    Json deep = Json.parse("[".repeat(100) + "]".repeat(100));
    List<LoggedEvent> log =
        List.of(
            new LoggedEvent(
                new RunKey(SCOPE, "run-1"),
                1,
                Writer.outside("w"),
                Instant.EPOCH,
                new RunEvent.ToolFinished(
                    "c", "t", Optional.empty(), false, deep, true, Duration.ZERO)));

    assertEquals(log, RunExport.read(RunExport.write(log)));
  }

  @Test
  void an_empty_text_is_a_log_of_nothing() {
    assertEquals(List.of(), RunExport.read(""));
    assertEquals(List.of(), RunExport.read("\n\r\n"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        "secret",
        "{\"event\":{}}",
        "{\"tenant\":\"t\",\"event\":{\"cause\":\"secret\"}}",
        "{\"tenant\":\"t\",\"run\":\"r\",\"sequence\":-1,\"writer\":\"w\",\"epoch\":1,\"time\":"
            + "\"2026-01-01T12:00:00Z\",\"type\":\"RunResumed\",\"version\":1,\"event\":{\"cause\":\"secret\"}}",
        "{\"tenant\":\"t\",\"run\":\"r\",\"sequence\":1,\"writer\":\"w\",\"epoch\":1,\"time\":"
            + "\"noon\",\"type\":\"RunResumed\",\"version\":1,\"event\":{\"cause\":\"secret\"}}",
        "{\"tenant\":\"t\",\"run\":\"r\",\"sequence\":1,\"writer\":\"w\",\"epoch\":1,\"time\":"
            + "\"2026-01-01T12:00:00Z\",\"type\":\"RunResumed\",\"version\":1,\"event\":{\"cause\":\"secret\"}}}",
        "{\"tenant\":\"t\",\"run\":\"r\",\"sequence\":1,\"writer\":\"w\",\"epoch\":1,\"time\":"
            + "\"2026-01-01T12:00:00Z\",\"type\":\"RunResumed\",\"version\":4294967297,\"event\":{\"cause\":\"secret\"}}"
      })
  void a_line_that_is_no_event_is_refused_without_its_content(String line) {
    InvalidRequestException refused =
        assertThrows(InvalidRequestException.class, () -> RunExport.read("\n" + line));

    String message = String.valueOf(refused.getMessage());
    assertFalse(message.contains("secret"), message);
    assertTrue(message.contains("Line 2") || message.contains("RunResumed"), message);
  }
}
