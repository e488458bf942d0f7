package dev.warpwright.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.Json;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EffectsTest {
  @TempDir Path folder;
  private Path file = Path.of("");

  @BeforeEach
  void name() {
    file = folder.resolve("effects.jsonl");
  }

  @Test
  void aLineHasTheFiveMembersAndIsThereAfterReopening() throws IOException {
    try (Effects effects = Effects.open(file)) {
      assertTrue(effects.add(effect("k1")));
    }
    assertEquals(
        """
        {"ticket":"T-1","tool":"reply","input":{"text":"Grüße"},"key":"k1","at":"2026-01-01T00:00:00Z"}
        """,
        Files.readString(file));
    try (Effects effects = Effects.open(file)) {
      assertEquals(Optional.of(effect("k1")), effects.find("k1"));
    }
  }

  @Test
  void aKeyThatIsThereIsIgnored() throws IOException {
    try (Effects effects = Effects.open(file)) {
      assertTrue(effects.add(effect("k1")));
      assertFalse(effects.add(effect("k1")));
    }
    assertEquals(1, Files.readAllLines(file).size());
  }

  @Test
  void aLastLineThatACrashCutOffNeverCounted() throws IOException {
    try (Effects effects = Effects.open(file)) {
      effects.add(effect("k1"));
      effects.add(effect("k2"));
    }
    String whole = Files.readString(file);
    int second = whole.indexOf('\n') + 1;
    for (int cut = second; cut < whole.length(); cut += 7) {
      Files.writeString(file, whole.substring(0, cut));
      try (Effects effects = Effects.open(file)) {
        assertTrue(effects.find("k1").isPresent());
        assertTrue(effects.find("k2").isEmpty());
        assertTrue(effects.add(effect("k2")));
      }
      assertEquals(whole, Files.readString(file));
    }
  }

  @Test
  void severalProcessesShareAFileAndSeeWhatTheOthersDid() throws IOException {
    try (Effects first = Effects.shared(file);
        Effects second = Effects.shared(file)) {
      assertTrue(first.add(effect("k1")));
      assertEquals(Optional.of(effect("k1")), second.find("k1"));
      assertFalse(second.add(effect("k1")));
      assertFalse(second.addUnless(other -> other.key().equals("k1"), effect("k2")));
      assertTrue(second.addUnless(other -> other.key().equals("k3"), effect("k2")));
      assertFalse(first.addUnless(other -> true, effect("k1")), "k2 excludes it");
      assertTrue(first.addUnless(other -> other.key().equals("k1"), effect("k1")), "is there");
      Files.writeString(file, "{\"ticket", StandardOpenOption.APPEND); // a process died
      assertTrue(first.add(effect("k3")));
      assertTrue(second.find("k3").isPresent());
    }
    assertEquals(3, Files.readAllLines(file).size());
  }

  @Test
  void sharedByManyNoLineIsLostOrCut() throws Exception {
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      int number = i;
      Thread thread =
          new Thread(
              () -> {
                try (Effects effects = Effects.shared(file)) {
                  for (int k = 0; k < 20; k++) {
                    effects.add(effect("k" + (number / 2) + "-" + k)); // each key by two
                  }
                } catch (IOException e) {
                  throw new UncheckedIOException(e);
                }
              });
      threads.add(thread);
      thread.start();
    }
    for (Thread thread : threads) {
      thread.join();
    }
    assertEquals(40, Files.readAllLines(file).size());
    try (Effects all = Effects.open(file)) {
      assertTrue(all.find("k1-19").isPresent());
    }
  }

  @Test
  void anInterruptCutsNoLineOff() throws IOException {
    try (Effects effects = Effects.open(file)) {
      Thread.currentThread().interrupt();
      assertTrue(effects.add(effect("k1")));
      assertTrue(Thread.interrupted());
      assertTrue(effects.add(effect("k2")));
    }
    assertEquals(2, Files.readAllLines(file).size());
  }

  @Test
  void aLineInTheMiddleThatIsNoEffectIsRefused() throws IOException {
    try (Effects effects = Effects.open(file)) {
      effects.add(effect("k1"));
    }
    Files.writeString(file, "{}\n", StandardOpenOption.APPEND);
    JobException refused = assertThrows(JobException.class, () -> Effects.open(file));
    assertTrue(refused.getMessage().startsWith("Line 2 of "), refused.getMessage());
  }

  @Test
  void theFileBelongsToOneAtATime() {
    try (Effects effects = Effects.open(file)) {
      JobException refused = assertThrows(JobException.class, () -> Effects.open(file));
      assertTrue(refused.getMessage().endsWith("is in use by another process."));
      assertTrue(effects.find("k1").isEmpty());
    }
  }

  private static Effect effect(String key) {
    return new Effect(
        "T-1",
        "reply",
        Json.parse("{\"text\":\"Grüße\"}"),
        key,
        Instant.parse("2026-01-01T00:00:00Z"));
  }
}
