package dev.warpwright.examples;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The systems around the example flows, as far as they are needed: what they did, in that order,
 * and under which key. It outlives the processes of an example. Thread-safe.
 */
final class Outside {
  private final List<String> deeds = new ArrayList<>(); // guarded by this
  private final Map<String, String> byKey = new LinkedHashMap<>(); // guarded by this

  /** A system that knows keys: asked again under the same one, it does nothing more. */
  synchronized String once(String key, String deed) {
    return find(key).orElseGet(() -> always(key, deed));
  }

  /** A system that does whatever it is asked, each time. */
  synchronized String always(String key, String deed) {
    deeds.add(deed);
    byKey.put(key, deed);
    return deed;
  }

  /** What was done under a key. */
  synchronized Optional<String> find(String key) {
    return Optional.ofNullable(byKey.get(key));
  }

  /** Everything that was done, in order. */
  synchronized List<String> deeds() {
    return List.copyOf(deeds);
  }
}
