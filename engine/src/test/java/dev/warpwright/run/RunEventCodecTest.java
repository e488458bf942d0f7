package dev.warpwright.run;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Events become bytes and come back equal, for ever. */
final class RunEventCodecTest {
  /** A folder to write golden files of new events to; files of old events are never rewritten. */
  private static final String WRITE = System.getProperty("warpwright.golden.write", "");

  private static final Set<String> TYPES = EventTypes.NAMES;

  private static RunEvent decode(RunEvent like, byte[] body) {
    return RunEventCodec.decode(RunEventCodec.type(like), RunEventCodec.version(like), body);
  }

  private static RunEvent decode(String type, String body) {
    return RunEventCodec.decode(type, 1, body.getBytes(StandardCharsets.UTF_8));
  }

  private static String text(RunEvent event) {
    return new String(RunEventCodec.encode(event), StandardCharsets.UTF_8);
  }

  @Test
  void random_events_of_every_type_come_back_equal() {
    Set<String> seen = new TreeSet<>();
    for (long seed = 0; seed < 100; seed++) {
      for (int type = 0; type < RandomEvents.TYPES; type++) {
        RunEvent event = new RandomEvents(seed).event(type);
        byte[] body = RunEventCodec.encode(event);
        RunEvent back = decode(event, body);
        long failing = seed;
        assertEquals(event, back, () -> "seed " + failing + ": " + text(event));
        assertArrayEquals(body, RunEventCodec.encode(back), () -> "seed " + failing);
        seen.add(RunEventCodec.type(event));
      }
    }
    assertEquals(TYPES, seen);
  }

  static Set<String> goldenNames() {
    return GoldenEvents.all().keySet();
  }

  @Test
  @Tag("A5")
  void every_type_has_a_golden_file() {
    assertEquals(
        TYPES,
        goldenNames().stream()
            .map(name -> name.split("-", 2)[0])
            .collect(Collectors.toCollection(TreeSet::new)));
  }

  @ParameterizedTest
  @MethodSource("goldenNames")
  @Tag("A4")
  @Tag("A5")
  void golden_files_are_read_and_written_byte_for_byte(String name) throws IOException {
    RunEvent event = GoldenEvents.all().get(name);
    if (!WRITE.isEmpty() && !Files.exists(Path.of(WRITE, name + ".json"))) {
      Files.write(Path.of(WRITE, name + ".json"), RunEventCodec.encode(event));
    }
    byte[] golden = golden(name);

    assertEquals(event, decode(event, golden));
    assertEquals(new String(golden, StandardCharsets.UTF_8), text(event));
    assertArrayEquals(golden, RunEventCodec.encode(event));
  }

  private static byte[] golden(String name) throws IOException {
    try (InputStream file =
        RunEventCodecTest.class.getResourceAsStream("golden/v1/" + name + ".json")) {
      assertTrue(file != null, () -> "no golden file of " + name);
      return file.readAllBytes();
    }
  }

  @Test
  void the_order_of_a_map_does_not_show_in_the_bytes() {
    Map<String, String> one = new HashMap<>();
    Map<String, String> other = new HashMap<>(1024);
    for (int n = 0; n < 50; n++) {
      one.put("key" + n, "v");
      other.put("key" + (49 - n), "v");
    }

    assertEquals(text(started(one)), text(started(other)));
  }

  private static RunEvent started(Map<String, String> metadata) {
    return new RunEvent.RunStarted(
        "a", "1", metadata, Optional.empty(), List.of(), 1, List.of(), metadata);
  }

  @Test
  void unpaired_surrogates_become_the_replacement_character() {
    Map<String, String> broken = Map.of("key\uD800", "\uDC00value", "pair", "\uD83D\uDE00");

    assertEquals(
        started(Map.of("key\uFFFD", "\uFFFDvalue", "pair", "\uD83D\uDE00")),
        decode(started(broken), RunEventCodec.encode(started(broken))));
    assertEquals(
        started(Map.of("\uFFFD", "x")),
        decode(
            started(Map.of()),
            RunEventCodec.encode(started(Map.of("\uD800", "x", "\uD801", "x")))));
    assertEquals("{\"cause\":\"a\uFFFDb\"}", text(new RunEvent.RunResumed("a\uD83Db")));
  }

  @Test
  @Tag("A4")
  void an_unknown_type_is_refused_and_the_known_ones_are_named() {
    InvalidRequestException refusal =
        assertThrows(InvalidRequestException.class, () -> decode("RunTeleported", "{}"));

    assertTrue(refusal.getMessage().contains("RunTeleported"), refusal.getMessage());
    assertTrue(refusal.getMessage().contains("RunStarted up to 1"), refusal.getMessage());
  }

  @ParameterizedTest
  @ValueSource(ints = {0, -1, 2, Integer.MAX_VALUE})
  @Tag("A4")
  void an_unknown_schema_version_is_refused_and_both_versions_are_named(int version) {
    InvalidRequestException refusal =
        assertThrows(
            InvalidRequestException.class,
            () ->
                RunEventCodec.decode(
                    "RunResumed", version, "{\"cause\":\"x\"}".getBytes(StandardCharsets.UTF_8)));

    assertTrue(refusal.getMessage().contains("version " + version), refusal.getMessage());
    assertTrue(refusal.getMessage().contains("1 to 1"), refusal.getMessage());
  }

  @Test
  void unknown_members_are_ignored() {
    assertEquals(
        new RunEvent.StepStarted(1, 2),
        decode("StepStarted", "{\"new\":{\"a\":[1]},\"step\":1,\"messageCount\":2,\"x\":null}"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "null",
        "[]",
        "7",
        "{",
        "{}",
        "{\"step\":1}",
        "{\"step\":null,\"messageCount\":1}",
        "{\"step\":1.5,\"messageCount\":1}",
        "{\"step\":\"1\",\"messageCount\":1}",
        "{\"step\":4294967297,\"messageCount\":1}",
        "{\"step\":1,\"messageCount\":1} x"
      })
  void a_body_that_is_no_such_event_is_refused(String body) {
    assertThrows(InvalidRequestException.class, () -> decode("StepStarted", body));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"text\":\"\",\"steps\":1}",
        "{\"text\":null,\"steps\":1,\"usage\":{}}",
        "{\"text\":\"\",\"steps\":1,\"usage\":null}",
        "{\"text\":\"\",\"steps\":1,\"usage\":{\"input\":7}}",
        "{\"text\":\"\",\"steps\":1,\"usage\":{\"input\":{\"tokens\":7}}}",
        "{\"text\":\"\",\"steps\":1,\"usage\":{\"input\":{\"provenance\":\"REPORTED\"}}}",
        "{\"text\":\"\",\"steps\":1,\"usage\":{\"input\":{\"tokens\":1,\"provenance\":\"X\"}}}"
      })
  void a_missing_or_wrong_member_is_named_without_its_content(String body) {
    InvalidRequestException refusal =
        assertThrows(InvalidRequestException.class, () -> decode("RunCompleted", body));

    assertTrue(refusal.getMessage().contains("RunCompleted"), refusal.getMessage());
    assertFalse(refusal.getMessage().contains("\""), refusal.getMessage());
  }

  @Test
  void a_body_cannot_choose_a_class() {
    String body =
        "{\"step\":1,\"target\":{\"provider\":\"a\",\"modelId\":\"b\"},\"message\":{\"role\":"
            + "\"ASSISTANT\",\"parts\":[{\"type\":\"java.lang.Thread\"}]},\"finishReason\":"
            + "{\"kind\":\"STOP\",\"raw\":\"\"},\"usage\":{},\"attempts\":[]}";

    assertThrows(InvalidRequestException.class, () -> decode("ModelResponded", body));
  }

  @Test
  void a_json_null_differs_from_an_absent_output() {
    RunEvent isNull =
        new RunEvent.ToolReconciled(
            "c",
            "k",
            RunEvent.ToolReconciled.Verdict.SUCCEEDED,
            Optional.of(Json.parse("null")),
            "me");
    RunEvent isAbsent =
        new RunEvent.ToolReconciled(
            "c", "k", RunEvent.ToolReconciled.Verdict.NOT_EXECUTED, Optional.empty(), "me");

    assertEquals(isNull, decode(isNull, RunEventCodec.encode(isNull)));
    assertEquals(isAbsent, decode(isAbsent, RunEventCodec.encode(isAbsent)));
    assertThrows(
        InvalidRequestException.class,
        () ->
            decode(
                "ToolFinished",
                text(new RunEvent.ToolFinished(
                        "c", "t", Optional.empty(), true, Json.of("x"), false, Duration.ZERO))
                    .replace("\"output\":\"x\",", "")));
  }
}
