package dev.warpwright.mcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.json.StrictJson;
import dev.warpwright.model.Json;
import dev.warpwright.run.RunStatus;
import dev.warpwright.task.TaskTree;
import dev.warpwright.tool.Tool;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** Servers that are real processes. */
@Timeout(240)
final class McpProcessTest {
  private static final String JAVA =
      Path.of(System.getProperty("java.home"), "bin", "java").toString();

  private static McpServer.StdioBuilder server(String behaviour) {
    return McpServer.stdio(
            JAVA,
            "-XX:TieredStopAtLevel=1",
            "-cp",
            System.getProperty("java.class.path"),
            ChildServer.class.getName(),
            behaviour)
        .environment("GIVEN", "yes");
  }

  private static JsonNode call(List<Tool> tools) {
    try (Caller caller = new Caller("act")) {
      Json output = Caller.results(caller.run(tools)).getFirst().output();
      return StrictJson.read(output.text());
    }
  }

  private static void awaitEnd(JsonNode answer) throws Exception {
    var process = ProcessHandle.of(answer.path("pid").longValue());
    if (process.isPresent()) {
      var _ = process.get().onExit().get(60, TimeUnit.SECONDS);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"plain", "noisy", "stubborn"})
  void a_process_serves_until_the_close_and_ends_with_it(String behaviour) throws Exception {
    JsonNode answer;
    try (McpServer client = server(behaviour).connect()) {
      answer = call(client.tools());
      assertEquals("yes", answer.path("given").stringValue());
      assertTrue(ProcessHandle.of(answer.path("pid").longValue()).isPresent(), "still at work");
    }
    awaitEnd(answer);
  }

  @Test
  void a_process_does_not_inherit_the_keys_of_the_program() {
    ProcessBuilder all = new ProcessBuilder("any");
    List<String> names = List.copyOf(all.environment().keySet());
    ChildProcess.keepHarmless(all.environment());
    for (String kept : all.environment().keySet()) {
      assertTrue(names.contains(kept));
      assertFalse(kept.contains("KEY") || kept.contains("TOKEN"), kept);
    }
    Map<String, String> some =
        new HashMap<>(Map.of("Path", "a", "OPENAI_API_KEY", "b", "HOME", "c", "LD_PRELOAD", "d"));
    ChildProcess.keepHarmless(some);
    assertEquals(Map.of("Path", "a", "HOME", "c"), some);
  }

  @Test
  void a_process_that_dies_in_a_call_leaves_its_outcome_unknown_and_is_started_again()
      throws Exception {
    TaskTree tasks = TaskTree.builder().build();
    try (McpServer client = server("plain").tasks(tasks).connect()) {
      List<Tool> tools = client.tools();
      JsonNode first = call(tools);
      try (Caller caller = new Caller("act", Json.parse("{\"what\": \"die\"}"))) {
        assertEquals(RunStatus.NEEDS_RECONCILIATION, caller.run(tools).status());
      }
      assertNotEquals(first.path("pid"), call(tools).path("pid"));
    }
  }
}
