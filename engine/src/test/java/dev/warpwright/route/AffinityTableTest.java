package dev.warpwright.route;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Target;
import dev.warpwright.testing.ManualTime;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Which target a conversation is kept at. */
final class AffinityTableTest {
  private static final Target X = Target.of("p", "x");
  private static final Target EAST = new Target("p", "x", Optional.of("east"));

  private final ManualTime time = new ManualTime();

  private AffinityTable table(int maxEntries) {
    return new AffinityTable(new AffinityPolicy(Duration.ofSeconds(10), maxEntries, 0), time);
  }

  private static AffinityKey key(String name) {
    return new AffinityKey(Optional.empty(), "tenant", name);
  }

  @Test
  @Tag("R293")
  @Tag("R368")
  void the_target_that_was_stored_last_is_found() {
    AffinityTable table = table(10);

    assertEquals(Optional.empty(), table.find(key("a")));
    table.store(key("a"), X);
    table.store(key("a"), EAST);

    assertEquals(Optional.of(EAST), table.find(key("a")));
    assertEquals(Optional.empty(), table.find(key("b")));
    assertEquals(1, table.entries());
  }

  @Test
  @Tag("R291")
  @Tag("R296")
  void another_scope_does_not_see_it() {
    AffinityTable table = table(10);
    table.store(new AffinityKey(Optional.of("budget"), "tenant", "talk"), X);

    assertEquals(
        Optional.of(X), table.find(new AffinityKey(Optional.of("budget"), "tenant", "talk")));
    assertEquals(
        Optional.empty(), table.find(new AffinityKey(Optional.of("budget"), "other", "talk")));
    assertEquals(
        Optional.empty(), table.find(new AffinityKey(Optional.of("other"), "tenant", "talk")));
    assertEquals(Optional.empty(), table.find(new AffinityKey(Optional.empty(), "tenant", "talk")));
    assertEquals(
        Optional.empty(), table.find(new AffinityKey(Optional.of("budgettenant"), "", "talk")));
  }

  @Test
  @Tag("R291")
  void a_request_needs_a_cache_scope_and_an_affinity_key() {
    Optional<String> none = Optional.empty();
    Optional<String> some = Optional.of("a");

    assertEquals(
        Optional.of(new AffinityKey(none, "a", "b")), AffinityKey.of(none, some, Optional.of("b")));
    assertEquals(Optional.of(new AffinityKey(some, "a", "a")), AffinityKey.of(some, some, some));
    assertEquals(none, AffinityKey.of(some, none, some));
    assertEquals(none, AffinityKey.of(some, some, none));
  }

  @Test
  @Tag("R294")
  void an_entry_ends_when_its_time_is_over_and_storing_begins_anew() {
    AffinityTable table = table(10);
    table.store(key("a"), X);
    time.advance(Duration.ofSeconds(10).minusNanos(1));
    assertEquals(Optional.of(X), table.find(key("a")), "finding does not prolong it");
    time.advance(Duration.ofNanos(1));
    assertEquals(Optional.empty(), table.find(key("a")));
    assertEquals(0, table.entries());

    table.store(key("a"), X);
    time.advance(Duration.ofSeconds(9));
    table.store(key("a"), X);
    time.advance(Duration.ofSeconds(9));
    assertEquals(Optional.of(X), table.find(key("a")));
  }

  @Test
  @Tag("R294")
  void a_full_table_forgets_what_was_stored_longest_ago() {
    AffinityTable table = table(2);
    table.store(key("a"), X);
    table.store(key("b"), X);
    table.store(key("a"), X);
    table.find(key("b"));
    table.store(key("c"), X);

    assertEquals(Optional.empty(), table.find(key("b")));
    assertEquals(Optional.of(X), table.find(key("a")));
    assertEquals(Optional.of(X), table.find(key("c")));
    assertEquals(2, table.entries());
  }

  @Test
  @Tag("R292")
  @Tag("R40")
  void the_bounds_are_checked() {
    assertEquals(new AffinityPolicy(Duration.ofMinutes(5), 1000, 0), AffinityPolicy.DEFAULT);
    new AffinityPolicy(Duration.ofHours(24), 100_000, 1e9);
    new AffinityPolicy(Duration.ofNanos(1), 1, 0);
    assertThrows(InvalidRequestException.class, () -> new AffinityPolicy(Duration.ZERO, 1, 0));
    assertThrows(
        InvalidRequestException.class,
        () -> new AffinityPolicy(Duration.ofHours(24).plusNanos(1), 1, 0));
    assertThrows(
        InvalidRequestException.class, () -> new AffinityPolicy(Duration.ofSeconds(1), 0, 0));
    assertThrows(
        InvalidRequestException.class, () -> new AffinityPolicy(Duration.ofSeconds(1), 100_001, 0));
    for (double loss : new double[] {-0.1, Double.NaN, Double.POSITIVE_INFINITY}) {
      assertThrows(
          InvalidRequestException.class, () -> new AffinityPolicy(Duration.ofSeconds(1), 1, loss));
    }
  }

  /** A model in the simplest words: a list in the order of storing, each entry with its end. */
  @Test
  @Tag("R294")
  void it_behaves_like_a_list_in_the_order_of_storing() {
    long base = System.nanoTime();
    for (int round = 0; round < 300; round++) {
      long seed = base + round;
      Random random = new Random(seed);
      int max = 1 + random.nextInt(4);
      AffinityTable table = table(max);
      Map<AffinityKey, Long> model = new LinkedHashMap<>();
      long now = 0;
      for (int step = 0; step < 60; step++) {
        AffinityKey key = key("k" + random.nextInt(6));
        int seconds = random.nextInt(4);
        time.advance(Duration.ofSeconds(seconds));
        now += seconds;
        long today = now;
        model.values().removeIf(stored -> today - stored >= 10);
        if (random.nextBoolean()) {
          table.store(key, X);
          model.remove(key);
          if (model.size() == max) {
            model.remove(model.keySet().iterator().next());
          }
          model.put(key, now);
        }
        assertEquals(model.containsKey(key), table.find(key).isPresent(), () -> "seed " + seed);
        assertEquals(model.size(), table.entries(), () -> "seed " + seed);
      }
    }
  }
}
