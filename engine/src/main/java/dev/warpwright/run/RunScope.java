package dev.warpwright.run;

import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import java.util.Optional;

/**
 * Whose run it is. Run ids and idempotency keys of one scope are invisible to every other.
 *
 * <p>An absent user or namespace differs from every text.
 *
 * @param tenant the tenant, not blank
 * @param user a user of the tenant, not blank
 * @param namespace a part of the program, not blank
 */
public record RunScope(String tenant, Optional<String> user, Optional<String> namespace) {
  /** The scope of a program with one tenant. */
  public static final RunScope DEFAULT = of("default");

  private static final int MAX_PART = 256;

  /** Checks the parts. */
  public RunScope {
    check("tenant", tenant);
    user.ifPresent(text -> check("user", text));
    namespace.ifPresent(text -> check("namespace", text));
  }

  private static void check(String part, String text) {
    if (text.isBlank() || text.length() > MAX_PART) {
      throw new InvalidRequestException(
          FailureKind.INVALID_SCOPE,
          "The %s of a scope must have 1 to %d characters and not be blank, but has %d."
              .formatted(part, MAX_PART, text.length()));
    }
  }

  /**
   * The scope of a tenant.
   *
   * @param tenant the tenant
   * @return the scope, without user and namespace
   */
  public static RunScope of(String tenant) {
    return new RunScope(tenant, Optional.empty(), Optional.empty());
  }
}
