package dev.warpwright.control;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.control.Circuit.Acquire;
import dev.warpwright.control.Circuit.Closed;
import dev.warpwright.control.Circuit.Event;
import dev.warpwright.control.Circuit.Failure;
import dev.warpwright.control.Circuit.HalfOpen;
import dev.warpwright.control.Circuit.Neutral;
import dev.warpwright.control.Circuit.Open;
import dev.warpwright.control.Circuit.Success;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The transition function, row by row, at several places of a clock that wraps around. */
final class CircuitTest {
  private static final CircuitPolicy POLICY =
      CircuitPolicy.builder()
          .failureThreshold(3)
          .cooldown(Duration.ofSeconds(30))
          .maxCooldown(Duration.ofSeconds(60))
          .halfOpenMaxProbes(2)
          .build();

  private static final long SECOND = 1_000_000_000L;
  private static final long EPOCH = 7;

  private static final Acquire ACQUIRE = Acquire.EVENT;

  private static Failure failure(long epoch, int retryAfterSeconds) {
    return new Failure(epoch, Duration.ofSeconds(retryAfterSeconds));
  }

  private static Circuit next(Circuit circuit, Event event, long nowNanos) {
    return Circuit.next(circuit, event, nowNanos, POLICY);
  }

  private static void changesNothing(Circuit circuit, long nowNanos, Event... events) {
    for (Event event : events) {
      assertSame(circuit, next(circuit, event, nowNanos), () -> circuit + " by " + event);
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {0, Long.MAX_VALUE - SECOND, Long.MAX_VALUE, Long.MIN_VALUE, -SECOND})
  @Tag("R257")
  @Tag("R259")
  @Tag("R261")
  void a_closed_circuit_counts_the_failures_of_its_own_epoch(long now) {
    Closed fresh = new Closed(EPOCH, 0, 0);
    Closed one = new Closed(EPOCH, 1, now + 30 * SECOND);
    Closed two = new Closed(EPOCH, 2, now + 30 * SECOND);
    assertEquals(one, next(fresh, failure(EPOCH, 0), now));
    assertEquals(two, next(one, failure(EPOCH, 0), now));
    assertEquals(new Open(EPOCH + 1, now + 30 * SECOND), next(two, failure(EPOCH, 0), now));
    assertEquals(new Closed(EPOCH, 0, 0), next(two, new Success(EPOCH), now));

    changesNothing(fresh, now, ACQUIRE, new Success(EPOCH), new Neutral(EPOCH));
    changesNothing(two, now, ACQUIRE, new Neutral(EPOCH));
    for (long older : new long[] {EPOCH - 1, EPOCH - 2, 0}) {
      changesNothing(two, now, new Success(older), failure(older, 50), new Neutral(older));
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {0, Long.MAX_VALUE - SECOND, Long.MAX_VALUE, Long.MIN_VALUE, -SECOND})
  @Tag("R259")
  void the_latest_of_the_cooldowns_counts_whichever_failure_it_came_with(long now) {
    Circuit circuit = new Closed(EPOCH, 0, 0);
    circuit = next(circuit, failure(EPOCH, 50), now);
    circuit = next(circuit, failure(EPOCH, 0), now + SECOND);
    circuit = next(circuit, failure(EPOCH, 1), now + 2 * SECOND);
    assertEquals(new Open(EPOCH + 1, now + 50 * SECOND), circuit);

    circuit = new Closed(EPOCH, 2, now + 40 * SECOND);
    assertEquals(new Open(EPOCH + 1, now + 60 * SECOND), next(circuit, failure(EPOCH, 3600), now));
    assertEquals(new Open(EPOCH + 1, now + 45 * SECOND), next(circuit, failure(EPOCH, 45), now));
    assertEquals(new Open(EPOCH + 1, now + 40 * SECOND), next(circuit, failure(EPOCH, -45), now));
  }

  @ParameterizedTest
  @ValueSource(longs = {0, Long.MAX_VALUE - SECOND, Long.MAX_VALUE, Long.MIN_VALUE, -SECOND})
  @Tag("R258")
  @Tag("R259")
  @Tag("R261")
  void an_open_circuit_waits_for_its_end_which_failures_only_put_off(long now) {
    Open open = new Open(EPOCH, now + 40 * SECOND);
    changesNothing(open, now, ACQUIRE, failure(EPOCH - 1, 0), failure(EPOCH - 1, 40));
    assertEquals(new Open(EPOCH, now + 41 * SECOND), next(open, failure(EPOCH - 1, 41), now));
    assertEquals(new Open(EPOCH, now + 60 * SECOND), next(open, failure(EPOCH - 3, 9999), now));
    assertEquals(
        new Open(EPOCH, now + 69 * SECOND), next(open, failure(EPOCH - 1, 0), now + 39 * SECOND));
    for (long epoch : new long[] {EPOCH, EPOCH - 1, EPOCH - 2}) {
      changesNothing(open, now, new Success(epoch), new Neutral(epoch));
      changesNothing(open, now + 40 * SECOND, new Success(epoch), new Neutral(epoch));
    }
    changesNothing(open, now + 40 * SECOND - 1, ACQUIRE);
    assertEquals(new HalfOpen(EPOCH + 1, 1), next(open, ACQUIRE, now + 40 * SECOND));
    assertEquals(new HalfOpen(EPOCH + 1, 1), next(open, ACQUIRE, now + 3600 * SECOND));
  }

  @ParameterizedTest
  @ValueSource(longs = {0, Long.MAX_VALUE - SECOND, Long.MAX_VALUE, Long.MIN_VALUE, -SECOND})
  @Tag("R261")
  void a_late_failure_does_not_take_back_a_cooldown_that_has_ended(long now) {
    Open open = new Open(EPOCH, now);
    changesNothing(open, now, failure(EPOCH - 1, 0), failure(EPOCH - 1, 60));
    changesNothing(open, now + 5, failure(EPOCH - 2, 0));
  }

  @ParameterizedTest
  @ValueSource(longs = {0, Long.MAX_VALUE - SECOND, Long.MAX_VALUE, Long.MIN_VALUE, -SECOND})
  @Tag("R260")
  @Tag("R261")
  void probes_decide_over_a_half_open_circuit(long now) {
    HalfOpen one = new HalfOpen(EPOCH, 1);
    HalfOpen two = new HalfOpen(EPOCH, 2);
    assertEquals(one, next(new HalfOpen(EPOCH, 0), ACQUIRE, now));
    assertEquals(two, next(one, ACQUIRE, now));
    changesNothing(two, now, ACQUIRE);
    assertEquals(one, next(two, new Neutral(EPOCH), now));
    assertEquals(new Closed(EPOCH + 1, 0, 0), next(two, new Success(EPOCH), now));
    assertEquals(new Open(EPOCH + 1, now + 30 * SECOND), next(two, failure(EPOCH, 0), now));
    assertEquals(new Open(EPOCH + 1, now + 45 * SECOND), next(two, failure(EPOCH, 45), now));
    assertEquals(new Open(EPOCH + 1, now + 60 * SECOND), next(two, failure(EPOCH, 9999), now));
    for (long older : new long[] {EPOCH - 1, EPOCH - 2, 0}) {
      changesNothing(two, now, new Success(older), failure(older, 60), new Neutral(older));
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {0, Long.MAX_VALUE, Long.MIN_VALUE})
  void only_a_call_that_finds_it_closed_or_becomes_a_probe_is_let_through(long now) {
    Closed closed = new Closed(EPOCH, 2, now);
    Open cooling = new Open(EPOCH, now + 1);
    HalfOpen full = new HalfOpen(EPOCH, 2);
    for (Circuit circuit : List.of(closed, new Open(EPOCH, now), new HalfOpen(EPOCH, 1))) {
      assertTrue(Circuit.isLetThrough(circuit, next(circuit, ACQUIRE, now)), circuit::toString);
    }
    for (Circuit circuit : List.of(cooling, full)) {
      assertFalse(Circuit.isLetThrough(circuit, next(circuit, ACQUIRE, now)), circuit::toString);
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {0, Long.MAX_VALUE, Long.MIN_VALUE})
  void a_threshold_of_one_opens_at_the_first_failure(long now) {
    CircuitPolicy policy = CircuitPolicy.builder().failureThreshold(1).build();
    assertEquals(
        new Open(1, now + 30 * SECOND), Circuit.next(Circuit.INITIAL, failure(0, 0), now, policy));
  }
}
