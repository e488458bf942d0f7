package dev.warpwright.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.Json;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class ScriptsTest {
  @Test
  void theBackupThinksSaysWhatThePrimarySaysAndNeverFails() throws IOException {
    Map<?, ?> primary = read("primary.json");
    Map<?, ?> backup = read("backup.json");
    assertEquals(primary.get("rules"), withoutThoughts(backup));
    assertNotEquals(primary.get("rules"), backup.get("rules"));
    assertTrue(primary.containsKey("faults"));
    assertFalse(backup.containsKey("faults"));
  }

  /** The primary's protocol has no place for them. */
  private static List<?> withoutThoughts(Map<?, ?> script) {
    return ((List<?>) Objects.requireNonNull(script.get("rules")))
        .stream().map(rule -> without((Map<?, ?>) rule)).toList();
  }

  private static Map<?, ?> without(Map<?, ?> rule) {
    Map<Object, Object> answer =
        new LinkedHashMap<>((Map<?, ?>) Objects.requireNonNull(rule.get("answer")));
    answer.remove("thinking");
    Map<Object, Object> changed = new LinkedHashMap<>(rule);
    changed.put("answer", answer);
    return changed;
  }

  private static Map<?, ?> read(String name) throws IOException {
    try (InputStream in = Objects.requireNonNull(ScriptsTest.class.getResourceAsStream(name))) {
      Json json = Json.parse(new String(in.readAllBytes(), StandardCharsets.UTF_8));
      return (Map<?, ?>) Objects.requireNonNull(json.value());
    }
  }
}
