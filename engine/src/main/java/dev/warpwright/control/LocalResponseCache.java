package dev.warpwright.control;

import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.TimeSource;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.concurrent.locks.ReentrantLock;

/** The cache of {@link ResponseCache#inMemory()}: least recently used answers make room. */
final class LocalResponseCache implements ResponseCache {
  static final int DEFAULT_MAX_ENTRIES = 1_000;
  static final Duration DEFAULT_TIME_TO_LIVE = Duration.ofMinutes(5);
  private static final int MOST_ENTRIES = 1_000_000;
  private static final Duration SHORTEST = Duration.ofMillis(1);
  private static final Duration LONGEST = Duration.ofDays(365);

  private record Entry(ModelResponse response, Deadline freshUntil) {}

  private final int maxEntries;
  private final Duration timeToLive;
  private final TimeSource time;
  private final ReentrantLock lock = new ReentrantLock();

  /** Guarded by lock. In the order of use, the least recent first. */
  private final SequencedMap<CacheKey, Entry> entries = new LinkedHashMap<>(16, 0.75f, true);

  LocalResponseCache(int maxEntries, Duration timeToLive, TimeSource time) {
    if (maxEntries < 1 || maxEntries > MOST_ENTRIES) {
      throw invalid(
          "maxEntries must be between 1 and %d, but is %d.".formatted(MOST_ENTRIES, maxEntries));
    }
    if (timeToLive.compareTo(SHORTEST) < 0 || timeToLive.compareTo(LONGEST) > 0) {
      throw invalid("timeToLive must be between 1 ms and 365 days, but is " + timeToLive + ".");
    }
    this.maxEntries = maxEntries;
    this.timeToLive = timeToLive;
    this.time = time;
  }

  private static InvalidRequestException invalid(String message) {
    return new InvalidRequestException(FailureKind.INVALID_CONFIGURATION, message);
  }

  /** Only the time that others need to look into a map. */
  @Override
  public boolean blocking() {
    return false;
  }

  @Override
  public Optional<ModelResponse> get(CacheKey key) {
    Entry entry;
    lock.lock();
    try {
      entry = entries.get(key);
    } finally {
      lock.unlock();
    }
    if (entry == null) {
      return Optional.empty();
    }
    if (entry.freshUntil().hasPassed()) { // the clock is foreign: not under the lock
      remove(key, entry);
      return Optional.empty();
    }
    return Optional.of(entry.response());
  }

  private void remove(CacheKey key, Entry stale) {
    lock.lock();
    try {
      entries.remove(key, stale); // unless another has taken its place meanwhile
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void put(CacheKey key, ModelResponse response) {
    Entry entry = new Entry(response, Deadline.after(time, timeToLive));
    lock.lock();
    try {
      entries.put(key, entry);
      if (entries.size() > maxEntries) {
        entries.pollFirstEntry();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Shows its bounds. */
  @Override
  public String toString() {
    return "response cache in memory: " + maxEntries + " answers, each for " + timeToLive;
  }
}
