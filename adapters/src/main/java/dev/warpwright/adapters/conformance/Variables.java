package dev.warpwright.adapters.conformance;

import dev.warpwright.adapters.http.EnvironmentLookup;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import java.util.Optional;

/**
 * The environment's variables; blank ones count as not set.
 *
 * @param environment where they stand
 */
record Variables(EnvironmentLookup environment) {
  Optional<String> find(String name) {
    return Optional.ofNullable(environment.get(name))
        .map(String::strip)
        .filter(found -> !found.isEmpty());
  }

  boolean has(String name) {
    return find(name).isPresent();
  }

  String require(String name) {
    return find(name)
        .orElseThrow(
            () ->
                new InvalidRequestException(
                    FailureKind.INVALID_CONFIGURATION, name + " is needed, but is not set."));
  }
}
