package dev.warpwright.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.model.LimitExceededException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
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

  private static LoggedEvent event(String run, long sequence, RunEvent event) {
    return new LoggedEvent(
        new RunKey(SCOPE, run), sequence, new Writer("w", 1), Instant.EPOCH, event);
  }

  private static List<LoggedEvent> log(String run) {
    return List.of(
        event(run, 1, GoldenEvents.all().get("RunStarted-minimal")),
        event(run, 2, new RunEvent.StepStarted(1, 1)),
        event(run, 3, new RunEvent.RunFailed(FailureKind.INTERNAL, "No.", true, 1, List.of())));
  }

  @Test
  @Tag("F75")
  void the_same_log_gives_the_same_bytes_and_several_runs_follow_each_other() {
    String one = RunExport.write(log("one"));
    assertEquals(one, RunExport.write(log("one")));
    String both = one + RunExport.write(log("two"));
    assertEquals(List.of(log("one"), log("two")), RunExport.readRuns(both));
    assertEquals(one, RunExport.write(RunExport.read(one)));
    assertTrue(one.endsWith("}\n"));
    assertEquals(-1, one.indexOf('\r'));
  }

  @Test
  @Tag("F76")
  void a_text_that_was_cut_short_or_altered_is_refused() {
    String text = RunExport.write(log("one"));
    String[] lines = text.lines().map(line -> line + "\n").toArray(String[]::new);
    for (String broken :
        List.of(
            lines[0] + lines[1],
            lines[0] + lines[2],
            lines[0],
            lines[0] + lines[1] + lines[2] + lines[2],
            text.replace("No.", "Yes."),
            text.replace("\"epoch\":1", "\"epoch\":2"))) {
      InvalidRequestException refused =
          assertThrows(InvalidRequestException.class, () -> RunExport.read(broken));
      assertTrue(refused.getMessage().contains("announces"), refused.getMessage());
    }
    String unannounced = text.replaceFirst(",\"events\":3,\"digest\":\"[^\"]+\"", "");
    assertEquals(log("one"), RunExport.read(unannounced), "as earlier versions wrote it");
  }

  @Test
  @Tag("F76")
  void a_text_is_read_within_bounds() {
    String line = "{\"event\":" + "[".repeat(RunExport.MAX_LINE) + "\n";
    LimitExceededException refused =
        assertThrows(LimitExceededException.class, () -> RunExport.read(line));
    assertTrue(refused.getMessage().contains("line 1 is beyond that"), refused.getMessage());
    String deep = RunExport.write(log("one")).replace("\"No.\"", "[".repeat(100_000));
    assertThrows(InvalidRequestException.class, () -> RunExport.read(deep));
  }

  @Test
  @Tag("F75")
  void a_masked_text_can_be_viewed_and_nothing_else() {
    String masked = RunExport.writeMasked(log("one"));
    assertFalse(masked.contains("No."));
    assertEquals(masked, RunExport.writeMasked(log("one")));
    assertEquals(3, masked.split("\"masked\":true", -1).length - 1);
    Timeline seen = RunExport.view(masked + RunExport.write(log("two"))).getFirst();
    assertEquals(RunStatus.FAILED, seen.status());
    InvalidRequestException refused =
        assertThrows(InvalidRequestException.class, () -> RunExport.read(masked));
    assertTrue(refused.getMessage().contains("is masked"), refused.getMessage());
    String unmarked = masked.replace(",\"masked\":true", "");
    assertThrows(InvalidRequestException.class, () -> RunExport.read(unmarked));
    RunStore store = RunStore.inMemory();
    assertThrows(InvalidRequestException.class, () -> Runs.in(store).importRuns(masked));
  }

  /** What may be left of a text: what names, numbers and times are made of. */
  @Test
  @Tag("F75")
  void masking_leaves_nothing_that_was_said() {
    Set<String> said =
        Set.of("Be brief", "One moment", "ann", "12.50", "oops", "Not JSON", "HTTP 503");
    GoldenEvents.all()
        .forEach(
            (name, event) -> {
              String masked =
                  new String(RunEventCodec.encode(Masking.mask(event)), StandardCharsets.UTF_8);
              if (!name.startsWith("ApprovalDecided") && !name.startsWith("ToolReconciled")) {
                said.forEach(word -> assertFalse(masked.contains(word), name + ": " + word));
              }
              assertEquals(
                  masked,
                  new String(
                      RunEventCodec.encode(Masking.mask(Masking.mask(event))),
                      StandardCharsets.UTF_8));
            });
  }
}
