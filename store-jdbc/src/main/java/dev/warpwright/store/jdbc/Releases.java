package dev.warpwright.store.jdbc;

import dev.warpwright.run.RunKey;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;

/** Tells those who wait for a run that it has no owner any more. Thread-safe. */
final class Releases {
  private final Map<RunKey, CountDownLatch> notices = new ConcurrentHashMap<>();

  /** What opens at the run's next release; taken before looking whether the run is free. */
  CountDownLatch next(RunKey run) {
    return notices.computeIfAbsent(run, key -> new CountDownLatch(1));
  }

  /** Wakes everybody who waits for the run; who finds it owned waits again. */
  void tell(RunKey run) {
    CountDownLatch notice = notices.remove(run);
    if (notice != null) {
      notice.countDown();
    }
  }

  /** Wakes everybody, for good: the store has closed. */
  void tellAll() {
    notices.keySet().forEach(this::tell);
  }
}
