package dev.warpwright.control;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import java.time.Duration;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The numbers of the breaker and their bounds. */
@Tag("R255")
final class CircuitPolicyTest {
  private static Arguments refused(UnaryOperator<CircuitPolicy.Builder> setting, String message) {
    return Arguments.of(setting, message);
  }

  static List<Arguments> outOfBounds() {
    return List.of(
        refused(
            b -> b.failureThreshold(0), "failureThreshold must be between 1 and 1000, but is 0."),
        refused(
            b -> b.failureThreshold(1001),
            "failureThreshold must be between 1 and 1000, but is 1001."),
        refused(
            b -> b.halfOpenMaxProbes(0), "halfOpenMaxProbes must be between 1 and 100, but is 0."),
        refused(
            b -> b.halfOpenMaxProbes(101),
            "halfOpenMaxProbes must be between 1 and 100, but is 101."),
        refused(b -> b.maxTargets(0), "maxTargets must be between 1 and 10000, but is 0."),
        refused(b -> b.maxTargets(10_001), "maxTargets must be between 1 and 10000, but is 10001."),
        refused(
            b -> b.cooldown(Duration.ZERO),
            "cooldown must be between PT0.001S and PT24H, but is PT0S."),
        refused(
            b -> b.cooldown(Duration.ofSeconds(-1)),
            "cooldown must be between PT0.001S and PT24H, but is PT-1S."),
        refused(
            b -> b.cooldown(Duration.ofHours(24).plusNanos(1)),
            "cooldown must be between PT0.001S and PT24H, but is PT24H0.000000001S."),
        refused(
            b -> b.maxCooldown(Duration.ofSeconds(Long.MAX_VALUE)),
            "maxCooldown must be between PT0.001S and PT24H, but is PT2562047788015215H30M7S."),
        refused(
            b -> b.cooldown(Duration.ofSeconds(61)),
            "cooldown must be at most maxCooldown, which is PT1M, but is PT1M1S."));
  }

  @ParameterizedTest
  @MethodSource("outOfBounds")
  void a_value_out_of_its_bounds_is_refused_by_name(
      UnaryOperator<CircuitPolicy.Builder> setting, String message) {
    CircuitPolicy.Builder builder = setting.apply(CircuitPolicy.builder());
    var refused = assertThrows(InvalidRequestException.class, builder::build);
    assertEquals(message, refused.getMessage());
    assertEquals(FailureKind.INVALID_CONFIGURATION, refused.kind());
  }

  @Test
  void the_bounds_themselves_are_allowed() {
    Duration day = Duration.ofHours(24);
    assertDoesNotThrow(() -> new CircuitPolicy(1, Duration.ofMillis(1), day, 1, 1));
    assertDoesNotThrow(() -> new CircuitPolicy(1000, day, day, 100, 10_000));
  }

  @Test
  @Tag("R254")
  void the_defaults_are_those_of_the_documentation() {
    assertEquals(
        new CircuitPolicy(5, Duration.ofSeconds(30), Duration.ofSeconds(60), 1, 128),
        CircuitPolicy.DEFAULT);
  }
}
