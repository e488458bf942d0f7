package dev.warpwright.route;

import java.util.Objects;
import java.util.Optional;

/**
 * Names one conversation of one tenant; another tenant's conversation of the same name is another.
 *
 * @param budgetScope the request's budget scope
 * @param cacheScope the request's cache scope
 * @param affinityKey the request's affinity key
 */
public record AffinityKey(Optional<String> budgetScope, String cacheScope, String affinityKey) {
  /** Refuses null. */
  public AffinityKey {
    Objects.requireNonNull(budgetScope, "budgetScope");
    Objects.requireNonNull(cacheScope, "cacheScope");
    Objects.requireNonNull(affinityKey, "affinityKey");
  }
}
