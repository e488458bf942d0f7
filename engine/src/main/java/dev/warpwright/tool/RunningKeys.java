package dev.warpwright.tool;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The idempotency keys whose tools are still at work, also those that were given up.
 *
 * <p>While the body of a call is still running, nobody can say that the call did not take place: a
 * reconciler that does not find it yet would have it run a second time. Thread-safe.
 */
public final class RunningKeys {
  private final Map<String, Integer> bodies = new ConcurrentHashMap<>();

  /** No tool at work. */
  public RunningKeys() {}

  void begin(String key) {
    bodies.merge(key, 1, Integer::sum);
  }

  void end(String key) {
    bodies.computeIfPresent(key, (same, count) -> count == 1 ? null : count - 1);
  }

  boolean contains(String key) {
    return bodies.containsKey(key);
  }
}
