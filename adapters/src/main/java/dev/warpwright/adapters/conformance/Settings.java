package dev.warpwright.adapters.conformance;

import dev.warpwright.adapters.HttpAdapter;
import dev.warpwright.task.TimeSource;
import java.time.Duration;
import java.util.Optional;

/** What a run is made with; see {@link Conformance.Builder}. */
record Settings(
    HttpAdapter adapter,
    String modelId,
    Optional<WrongKey> wrongKey,
    Duration callTimeout,
    int maxTokens,
    TimeSource time) {
  /** An adapter of the same server with a key that it must refuse. */
  record WrongKey(HttpAdapter adapter, String key) {}

  int openExchanges() {
    return adapter.openExchanges() + wrongKey.map(wrong -> wrong.adapter.openExchanges()).orElse(0);
  }
}
