package dev.warpwright.adapters.http;

import org.jspecify.annotations.Nullable;

/** Looks up a variable of the environment. */
@FunctionalInterface
public interface EnvironmentLookup {
  /**
   * Looks a variable up.
   *
   * @param name its name
   * @return the value, null if the variable is not set
   */
  @Nullable String get(String name);
}
