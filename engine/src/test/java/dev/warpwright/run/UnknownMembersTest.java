package dev.warpwright.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.json.StrictJson;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * What a newer Warpwright wrote into an event of a known type is kept: the files of {@code
 * golden/newer} have members that this version does not know, in every object that it reads.
 */
@Tag("A4")
final class UnknownMembersTest {
  private static final RunKey RUN = new RunKey(RunScope.DEFAULT, "run-1");
  private static final Writer WRITER = new Writer("newer", 3);
  private static final Instant NOON = Instant.parse("2026-01-01T12:00:00Z");

  /** Members whose objects are values of their own: nothing in them is unknown. */
  private static final Set<String> VALUES =
      Set.of("arguments", "data", "fingerprint", "metadata", "input", "output", "value");

  static List<String> names() {
    return List.of(
        "RunStarted",
        "StepStarted",
        "RouteBound",
        "ModelResponded",
        "ModelResponded-private",
        "GuardrailChecked",
        "ApprovalRequested-signed",
        "ApprovalDecided",
        "ToolStarted",
        "ToolFinished",
        "ToolReconciled-evidence",
        "ChildStarted",
        "ChildFinished",
        "RunSuspended",
        "RunResumed",
        "CancelRequested",
        "RunCancelled",
        "RunTimedOut",
        "RunCompleted",
        "RunFailed",
        "FlowStepStarted",
        "FlowStepFinished",
        "StepRetryScheduled",
        "TimerScheduled",
        "TimerFired",
        "SignalAwaited",
        "SignalReceived",
        "SignalTimedOut",
        "ParallelStarted",
        "ParallelFinished",
        "VersionMarked",
        "Observed");
  }

  private static String golden(String folder, String name) throws IOException {
    try (InputStream file =
        UnknownMembersTest.class.getResourceAsStream("golden/" + folder + "/" + name + ".json")) {
      assertTrue(file != null, () -> "no golden file of " + name);
      return new String(file.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  private static LoggedEvent read(String name, String body) {
    return RunEventCodec.decode(
        RUN, 1, WRITER, NOON, name.split("-", 2)[0], 1, body.getBytes(StandardCharsets.UTF_8));
  }

  private static String write(LoggedEvent logged) {
    return new String(RunEventCodec.encode(logged), StandardCharsets.UTF_8);
  }

  @Test
  void every_type_has_a_file() {
    assertEquals(
        EventTypes.NAMES,
        names().stream().map(name -> name.split("-", 2)[0]).collect(Collectors.toSet()));
  }

  @ParameterizedTest
  @MethodSource("names")
  void an_event_is_read_as_far_as_it_is_known_and_written_as_it_was(String name)
      throws IOException {
    String newer = golden("newer", name);

    LoggedEvent logged = read(name, newer);

    assertEquals(GoldenEvents.all().get(name), logged.event());
    assertEquals(newer, write(logged));
    assertEquals(1, RunEventCodec.version(logged));
    assertTrue(!logged.toString().contains("future"), logged.toString());
  }

  @ParameterizedTest
  @MethodSource("names")
  void one_unknown_member_is_kept_wherever_it_stands(String name) throws IOException {
    String known = golden("v1", name);
    assertEquals(Optional.empty(), read(name, known).raw(), "nothing is unknown");
    JsonNode tree = StrictJson.readDocument(known.getBytes(StandardCharsets.UTF_8));
    List<ObjectNode> objects = new ArrayList<>();
    collect(tree, objects);

    for (ObjectNode object : objects) {
      object.put("future", 1);
      String newer = StrictJson.write(tree);
      assertEquals(newer, write(read(name, newer)));
      assertTrue(read(name, newer).raw().isPresent(), newer);
      object.remove("future");
    }
  }

  private static void collect(JsonNode node, List<ObjectNode> objects) {
    if (node instanceof ObjectNode object) {
      objects.add(object);
      object
          .properties()
          .forEach(
              member -> {
                boolean isCount = member.getValue().has("provenance");
                if (isCount || !VALUES.contains(member.getKey())) {
                  collect(member.getValue(), objects);
                }
              });
    } else {
      node.forEach(element -> collect(element, objects));
    }
  }

  /** A run as a newer Warpwright left it: every event has something that is not known. */
  private static List<LoggedEvent> newerLog() {
    List<LoggedEvent> log = new ArrayList<>();
    add(
        log,
        "RunStarted",
        "{\"agentId\":\"a\",\"agentVersion\":\"1\",\"fingerprint\":{},\"messages\":[{\"role\":\"USER\","
            + "\"parts\":[{\"type\":\"text\",\"text\":\"Hi\",\"lang\":\"en\"}],\"seen\":true}],"
            + "\"maxSteps\":3,\"targets\":[],\"metadata\":{},\"mood\":1.50}");
    add(log, "StepStarted", "{\"step\":1,\"messageCount\":1,\"reservation\":12}");
    add(
        log,
        "ModelResponded",
        "{\"step\":1,\"target\":{\"provider\":\"p\",\"modelId\":\"m\"},\"message\":{\"role\":"
            + "\"ASSISTANT\",\"parts\":[{\"type\":\"text\",\"text\":\"Ho\"}]},\"finishReason\":"
            + "{\"kind\":\"STOP\",\"raw\":\"stop\"},\"usage\":{\"input\":{\"tokens\":1,\"provenance\":"
            + "\"REPORTED\",\"tier\":\"x\"}},\"attempts\":[],\"cost\":\"0.01\"}");
    add(log, "RunCompleted", "{\"text\":\"Ho\",\"steps\":1,\"usage\":{},\"score\":[1e3]}");
    return log;
  }

  private static void add(List<LoggedEvent> log, String type, String body) {
    log.add(
        RunEventCodec.decode(
            RUN, log.size() + 1L, WRITER, NOON, type, 1, body.getBytes(StandardCharsets.UTF_8)));
  }

  @Test
  void a_log_with_unknown_members_is_folded_and_an_export_loses_nothing() {
    List<LoggedEvent> log = newerLog();

    assertEquals(RunStatus.COMPLETED, RunState.of(log).status());
    String text = RunExport.write(log);
    for (String future : List.of("lang", "seen", "mood\":1.50", "cost", "tier", "score\":[1e3]")) {
      assertTrue(text.contains(future), text);
    }
    assertEquals(log, RunExport.read(text));
    assertEquals(text, RunExport.write(RunExport.read(text)));
  }
}
