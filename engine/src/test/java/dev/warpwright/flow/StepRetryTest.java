package dev.warpwright.flow;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.warpwright.model.FailureKind;
import dev.warpwright.run.FlowEvent.StepError;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** When a step is run again. */
class StepRetryTest {
  private static final Instant NOW = Instant.parse("2026-11-30T12:00:00Z");
  private static final Duration FOREVER = Duration.ofSeconds(Long.MAX_VALUE);
  private static final StepError ERROR =
      new StepError(FailureKind.INTERNAL, "dev.example.Busy", "Busy.");

  private static Optional<Instant> next(StepRetry policy, Duration asked) {
    return policy.jitter(0).next(1, ERROR, asked, NOW, NOW, new Random(1));
  }

  @Test
  @Tag("F18")
  void the_longest_durations_that_there_are_do_no_harm() {
    StepRetry policy = StepRetry.attempts(3);
    Optional<Instant> inTenYears = Optional.of(NOW.plus(Duration.ofDays(3650)));

    assertEquals(Optional.of(NOW.plusSeconds(1)), next(policy.within(FOREVER), Duration.ZERO));
    assertEquals(inTenYears, next(policy, FOREVER));
    assertEquals(inTenYears, next(policy.within(FOREVER), FOREVER));
    assertEquals(Optional.empty(), next(policy.within(Duration.ofDays(1)), FOREVER));
    assertEquals(
        Optional.of(NOW.plus(Duration.ofDays(3650))),
        next(policy.delays(Duration.ZERO, 100, FOREVER), FOREVER));
  }
}
