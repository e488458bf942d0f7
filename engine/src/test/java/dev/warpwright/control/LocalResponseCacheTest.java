package dev.warpwright.control;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.warpwright.model.Digest;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.Usage;
import dev.warpwright.testing.ManualTime;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How long the cache in memory keeps an answer, and which one makes room; its options. */
final class LocalResponseCacheTest {
  private static final Duration TTL = Duration.ofMinutes(5);
  private static final Duration TICK = Duration.ofNanos(1);

  private final ManualTime time = new ManualTime();

  private LocalResponseCache cache(int maxEntries) {
    return new LocalResponseCache(maxEntries, TTL, time);
  }

  private static CacheKey key(int number) {
    return new CacheKey(Digest.hex("key " + number));
  }

  private static ModelResponse answer(int number) {
    return new ModelResponse(
        Message.assistant("answer " + number),
        new FinishReason(FinishReason.Kind.STOP, ""),
        Usage.ABSENT,
        Optional.empty());
  }

  @Test
  @Tag("R392")
  void an_answer_is_given_for_its_time_to_live_and_not_a_moment_longer() {
    LocalResponseCache cache = cache(10);
    cache.put(key(1), answer(1));
    time.advance(TTL.minus(TICK));
    assertEquals(Optional.of(answer(1)), cache.get(key(1)));
    time.advance(TICK);
    assertEquals(Optional.empty(), cache.get(key(1)));
    assertEquals(0, time.pendingAlarms());
  }

  @Test
  @Tag("R392")
  void a_look_up_does_not_keep_an_answer_young_but_a_put_does() {
    LocalResponseCache cache = cache(10);
    cache.put(key(1), answer(1));
    cache.put(key(2), answer(2));
    time.advance(Duration.ofMinutes(4));
    cache.get(key(1));
    cache.put(key(2), answer(3));
    time.advance(Duration.ofMinutes(1));
    assertEquals(Optional.empty(), cache.get(key(1)));
    assertEquals(Optional.of(answer(3)), cache.get(key(2)));
  }

  @Test
  @Tag("R392")
  void the_least_recently_used_answer_makes_room() {
    LocalResponseCache cache = cache(2);
    cache.put(key(1), answer(1));
    cache.put(key(2), answer(2));
    cache.get(key(1));
    cache.put(key(3), answer(3));
    assertEquals(Optional.empty(), cache.get(key(2)));
    assertEquals(Optional.of(answer(1)), cache.get(key(1)));
    cache.put(key(3), answer(3));
    cache.put(key(4), answer(4));
    assertEquals(Optional.empty(), cache.get(key(1)));
    assertEquals(Optional.of(answer(3)), cache.get(key(3)));
    assertEquals(Optional.of(answer(4)), cache.get(key(4)));
  }

  @Test
  @Tag("R392")
  void without_options_it_keeps_a_thousand_answers_for_five_minutes() throws Exception {
    LocalResponseCache cache =
        new LocalResponseCache(
            LocalResponseCache.DEFAULT_MAX_ENTRIES, LocalResponseCache.DEFAULT_TIME_TO_LIVE, time);
    for (int i = 0; i <= 1000; i++) {
      cache.put(key(i), answer(i));
    }
    assertEquals(Optional.empty(), cache.get(key(0)));
    assertEquals(Optional.of(answer(1)), cache.get(key(1)));
    time.advance(Duration.ofMinutes(5).minus(TICK));
    assertEquals(Optional.of(answer(1000)), cache.get(key(1000)));
    time.advance(TICK);
    assertEquals(Optional.empty(), cache.get(key(1000)));
    assertEquals(
        "response cache in memory: 1000 answers, each for PT5M",
        ResponseCache.inMemory().toString());
  }

  /** What is kept, written down in the simplest way. */
  @Test
  @Tag("R392")
  void it_does_what_a_plain_model_of_it_does() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    LocalResponseCache cache = cache(4);
    Map<Integer, Long> putAt = new LinkedHashMap<>(); // in the order of use
    Map<Integer, Integer> values = new LinkedHashMap<>();
    long now = 0;
    for (int i = 0; i < 20_000; i++) {
      int k = random.nextInt(7);
      switch (random.nextInt(3)) {
        case 0 -> {
          int step = random.nextInt(100);
          time.advance(Duration.ofSeconds(step));
          now += step;
        }
        case 1 -> {
          cache.put(key(k), answer(i));
          putAt.remove(k);
          putAt.put(k, now);
          values.put(k, i);
          if (putAt.size() > 4) {
            putAt.remove(putAt.keySet().iterator().next());
          }
        }
        default -> {
          Long at = putAt.remove(k);
          boolean fresh = at != null && now - at < TTL.toSeconds();
          if (fresh) {
            putAt.put(k, at);
          }
          Optional<ModelResponse> expected =
              fresh ? Optional.of(answer(values.get(k))) : Optional.empty();
          assertEquals(expected, cache.get(key(k)), () -> "seed " + seed);
        }
      }
    }
  }

  @Test
  void it_never_blocks() {
    assertFalse(cache(1).blocking());
  }

  @ParameterizedTest
  @ValueSource(ints = {Integer.MIN_VALUE, -1, 0, 1_000_001})
  @Tag("R392")
  void its_size_has_bounds(int maxEntries) {
    var refused = assertThrows(InvalidRequestException.class, () -> cache(maxEntries));
    assertEquals(FailureKind.INVALID_CONFIGURATION, refused.kind());
    assertEquals(
        "maxEntries must be between 1 and 1000000, but is " + maxEntries + ".",
        refused.getMessage());
    ResponseCache.inMemory(1_000_000, TTL);
  }

  @ParameterizedTest
  @ValueSource(strings = {"PT-1S", "PT0S", "PT0.000999999S", "P365DT0.000000001S"})
  @Tag("R392")
  void its_time_to_live_has_bounds(Duration timeToLive) {
    var refused =
        assertThrows(
            InvalidRequestException.class, () -> ResponseCache.inMemory(10, timeToLive, time));
    assertEquals(
        "timeToLive must be between 1 ms and 365 days, but is " + timeToLive + ".",
        refused.getMessage());
    ResponseCache.inMemory(1, Duration.ofMillis(1));
    ResponseCache.inMemory(1, Duration.ofDays(365));
  }

  @ParameterizedTest
  @ValueSource(strings = {"PT-1S", "PT0S", "PT0.000999999S", "PT60.000000001S"})
  @Tag("R37")
  void the_timeout_of_a_cache_has_bounds(Duration timeout) {
    CachePolicy policy = CachePolicy.of(cache(1), "production");
    assertEquals(Duration.ofMillis(50), policy.timeout());
    var refused = assertThrows(InvalidRequestException.class, () -> policy.withTimeout(timeout));
    assertEquals(FailureKind.INVALID_CONFIGURATION, refused.kind());
    assertEquals(
        "cache.timeout must be between 1 ms and 60 s, but is " + timeout + ".",
        refused.getMessage());
    policy.withTimeout(Duration.ofMillis(1));
    policy.withTimeout(Duration.ofSeconds(60));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", " ", "\t\n"})
  @Tag("R40")
  void a_cache_needs_an_authentication_scope(String scope) {
    var refused =
        assertThrows(InvalidRequestException.class, () -> CachePolicy.of(cache(1), scope));
    assertEquals(FailureKind.INVALID_CONFIGURATION, refused.kind());
    assertEquals("The authentication scope of a cache must not be blank.", refused.getMessage());
    assertFalse(CachePolicy.of(cache(1), "production").toString().contains("production"));
  }
}
