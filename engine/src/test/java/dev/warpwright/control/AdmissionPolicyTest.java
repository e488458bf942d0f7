package dev.warpwright.control;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Target;
import dev.warpwright.task.Deadline;
import java.time.Duration;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The options of admission and their bounds. */
@Tag("R299")
final class AdmissionPolicyTest {
  @Test
  void by_default_only_concurrency_is_limited_and_nobody_waits() {
    assertEquals(
        new AdmissionPolicy(
            4, OptionalInt.empty(), OptionalLong.empty(), 0, Duration.ofSeconds(1), 128),
        AdmissionPolicy.builder(4).build());
  }

  @Test
  void values_up_to_the_bounds_are_taken() {
    AdmissionPolicy most =
        AdmissionPolicy.builder(Integer.MAX_VALUE)
            .requestsPerMinute(Integer.MAX_VALUE)
            .tokensPerMinute(Long.MAX_VALUE)
            .maxQueue(10_000)
            .queueTimeout(Duration.ofSeconds(60))
            .maxTargets(10_000)
            .build();
    assertEquals(10_000, most.maxQueue());
    AdmissionPolicy least =
        AdmissionPolicy.builder(1)
            .requestsPerMinute(1)
            .tokensPerMinute(1)
            .maxQueue(0)
            .queueTimeout(Duration.ZERO)
            .maxTargets(1)
            .build();
    assertEquals(Duration.ZERO, least.queueTimeout());
  }

  @Test
  void values_beyond_the_bounds_are_refused_with_the_bound_and_the_value() {
    assertEquals(
        "maxConcurrent must be 1 or more, but is 0.",
        refusal(() -> AdmissionPolicy.builder(0).build()));
    assertEquals(
        "requestsPerMinute must be 1 or more, but is 0.", refusal(b -> b.requestsPerMinute(0)));
    assertEquals(
        "tokensPerMinute must be 1 or more, but is -1.", refusal(b -> b.tokensPerMinute(-1)));
    assertEquals("maxQueue must be between 0 and 10000, but is -1.", refusal(b -> b.maxQueue(-1)));
    assertEquals(
        "maxQueue must be between 0 and 10000, but is 10001.", refusal(b -> b.maxQueue(10_001)));
    assertEquals(
        "queueTimeout must be between 0 s and 60 s, but is PT1M0.000000001S.",
        refusal(b -> b.queueTimeout(Duration.ofSeconds(60).plusNanos(1))));
    assertEquals(
        "queueTimeout must be between 0 s and 60 s, but is PT-1S.",
        refusal(b -> b.queueTimeout(Duration.ofSeconds(-1))));
    assertEquals(
        "maxTargets must be between 1 and 10000, but is 0.", refusal(b -> b.maxTargets(0)));
    assertEquals(
        "maxTargets must be between 1 and 10000, but is 10001.",
        refusal(b -> b.maxTargets(10_001)));
  }

  @Test
  void an_estimate_below_zero_is_refused() {
    var refused =
        assertThrows(
            InvalidRequestException.class,
            () -> new AdmissionRequest(Target.of("a", "b"), OptionalLong.of(-1), Deadline.never()));
    assertEquals("estimatedTokens must be 0 or more, but is -1.", refused.getMessage());
  }

  private static String refusal(UnaryOperator<AdmissionPolicy.Builder> option) {
    return refusal(() -> option.apply(AdmissionPolicy.builder(1)).build());
  }

  private static String refusal(Runnable building) {
    var refused = assertThrows(InvalidRequestException.class, building::run);
    assertEquals(FailureKind.INVALID_CONFIGURATION, refused.kind());
    return String.valueOf(refused.getMessage());
  }
}
