package dev.warpwright.control;

import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import java.util.Objects;
import java.util.Optional;

/**
 * For whom an answer is cached: nobody with another scope ever gets it.
 *
 * @param authentication the gateway's scope, of {@link CachePolicy}
 * @param cache the request's own scope, such as a tenant; 1 to 256 characters, not blank
 * @param budget the scope of the budget that pays, if there is one; 1 to 256 characters, not blank
 */
public record CacheScope(String authentication, String cache, Optional<String> budget) {
  private static final int MAX_LENGTH = 256;

  /** Checks the bounds. */
  public CacheScope {
    Objects.requireNonNull(authentication, "authentication");
    require("cacheScope", cache);
    budget.ifPresent(scope -> require("budgetScope", scope));
  }

  private static void require(String name, String scope) {
    if (scope.isBlank() || scope.length() > MAX_LENGTH) {
      throw new InvalidRequestException(
          FailureKind.INVALID_SCOPE,
          "%s must have 1 to %d characters and not be blank, but has %d."
              .formatted(name, MAX_LENGTH, scope.length()));
    }
  }

  /** Shows nothing: scopes may name tenants or accounts. */
  @Override
  public String toString() {
    return "CacheScope";
  }
}
