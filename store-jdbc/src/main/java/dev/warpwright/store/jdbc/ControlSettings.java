package dev.warpwright.store.jdbc;

import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import java.time.Duration;

/** The defaults and bounds of the settings that budgets and admission have in common. */
final class ControlSettings {
  static final Duration LEASE = Duration.ofSeconds(30);
  static final Duration TIMEOUT = Duration.ofSeconds(5);

  private static final Duration LONGEST = Duration.ofHours(1);
  private static final int MAX_CONNECTIONS = 32;

  private ControlSettings() {}

  static Duration lease(Duration lease) {
    return between("lease", lease, Duration.ofSeconds(1));
  }

  static Duration timeout(Duration timeout) {
    return between("timeout", timeout, Duration.ofMillis(1));
  }

  static Duration poll(Duration poll) {
    return between("poll", poll, Duration.ofMillis(1));
  }

  private static Duration between(String name, Duration value, Duration least) {
    if (value.compareTo(least) < 0 || value.compareTo(LONGEST) > 0) {
      throw invalid(
          "%s must be between %s and %s, but is %s.".formatted(name, least, LONGEST, value));
    }
    return value;
  }

  static int connections(int connections) {
    if (connections < 1 || connections > MAX_CONNECTIONS) {
      throw invalid(
          "connections must be between 1 and %d, but is %d."
              .formatted(MAX_CONNECTIONS, connections));
    }
    return connections;
  }

  private static InvalidRequestException invalid(String message) {
    return new InvalidRequestException(FailureKind.INVALID_CONFIGURATION, message);
  }
}
