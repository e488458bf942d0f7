package dev.warpwright.adapters.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("Y42")
final class AcceptedIdsTest {
  private static final AcceptedIds WORDS = AcceptedIds.matching("[A-Za-z0-9_-]{1,64}");

  @ParameterizedTest
  @ValueSource(strings = {"a", "call_1", "toolu_01A-b", "functions_f_0"})
  void an_accepted_id_stays(String id) {
    assertEquals(id, WORDS.map(id));
  }

  @Test
  @Tag("FR-T23")
  void the_mapping_is_the_same_everywhere_and_for_ever() {
    assertEquals("call_d6bdd4de328a22edd610f9548b4f419f", WORDS.map("functions.f:0"));
    assertEquals(WORDS.map("functions.f:0"), AcceptedIds.matching("[a-z]+").map("functions.f:0"));
    assertTrue(WORDS.map("x".repeat(94)).length() <= 64);
    assertEquals("x".repeat(64), WORDS.map("x".repeat(64)));
  }

  @Test
  void what_it_gives_is_accepted_and_different_ids_stay_different() {
    Set<String> mapped = new HashSet<>();
    for (int i = 0; i < 1_000; i++) {
      String once = WORDS.map("functions.f:" + i);
      assertEquals(once, WORDS.map(once));
      assertTrue(mapped.add(once));
    }
    assertNotEquals(WORDS.map("a b"), WORDS.map("a.b"));
  }
}
