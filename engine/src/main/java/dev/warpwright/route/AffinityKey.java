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

  /**
   * The conversation of a request. Only a request that names both a cache scope and an affinity key
   * has one.
   *
   * @param budgetScope the request's budget scope
   * @param cacheScope the request's cache scope
   * @param affinityKey the request's affinity key
   * @return the key, if the request has one
   */
  public static Optional<AffinityKey> of(
      Optional<String> budgetScope, Optional<String> cacheScope, Optional<String> affinityKey) {
    return cacheScope.flatMap(
        scope -> affinityKey.map(key -> new AffinityKey(budgetScope, scope, key)));
  }
}
