package dev.warpwright.control;

import dev.warpwright.model.ModelResponse;
import dev.warpwright.task.TimeSource;
import java.time.Duration;
import java.util.Optional;

/**
 * Keeps answers of models, to give them again for an equal call: the port between the engine and a
 * cache.
 *
 * <p>A key stands for a whole call and for whom it was made, so an answer is found only by an equal
 * call of the same tenant. There is no search for similar ones. How many answers are kept, and for
 * how long, is the cache's own affair; it may lose any of them at any time.
 *
 * <p>A cache is never in the way of an answer. A look-up that fails, or takes longer than {@link
 * CachePolicy#timeout}, is a miss. Writes are made where nobody waits for them, and one that fails
 * is forgotten. The engine stores only what {@link Cacheability#storable} allows, and takes nothing
 * else out.
 *
 * <p>Implementations are thread-safe. What crosses this port is immutable, so a cache in memory
 * need not copy it; one over a shared backend stores every component of {@link ModelResponse}.
 */
public interface ResponseCache {

  /**
   * Whether a method of this cache may wait for something. The engine calls those of a cache that
   * does in tasks of their own, on virtual threads and with a time limit, and those of one that
   * does not where it stands.
   *
   * @return true by default
   */
  default boolean blocking() {
    return true;
  }

  /**
   * Looks up an answer. Called before each dispatch of a call that may be cached.
   *
   * @param key the call
   * @return what was last put under this key, if it is still there
   * @throws InterruptedException if the caller was interrupted and does not want it any more
   */
  Optional<ModelResponse> get(CacheKey key) throws InterruptedException;

  /**
   * Keeps an answer, instead of the one that was there.
   *
   * @param key the call
   * @param response its answer
   * @throws InterruptedException if the write took too long and is given up; whether the answer is
   *     kept then does not matter
   */
  void put(CacheKey key, ModelResponse response) throws InterruptedException;

  /**
   * A cache in memory of 1000 answers, each for 5 minutes.
   *
   * @return an empty cache
   */
  static ResponseCache inMemory() {
    return inMemory(
        LocalResponseCache.DEFAULT_MAX_ENTRIES, LocalResponseCache.DEFAULT_TIME_TO_LIVE);
  }

  /**
   * A cache in memory. When it is full, the answer that was not asked for or put for the longest
   * time makes room.
   *
   * @param maxEntries how many answers it keeps; 1 to 1 000 000
   * @param timeToLive how long an answer is given after it was put; 1 ms to 365 days
   * @return an empty cache
   * @throws dev.warpwright.model.InvalidRequestException if an argument is out of its bounds
   */
  static ResponseCache inMemory(int maxEntries, Duration timeToLive) {
    return inMemory(maxEntries, timeToLive, TimeSource.system());
  }

  /**
   * A cache in memory, on the given time.
   *
   * @param maxEntries how many answers it keeps; 1 to 1 000 000
   * @param timeToLive how long an answer is given after it was put; 1 ms to 365 days
   * @param time the clock by which answers grow old
   * @return an empty cache
   * @throws dev.warpwright.model.InvalidRequestException if an argument is out of its bounds
   */
  static ResponseCache inMemory(int maxEntries, Duration timeToLive, TimeSource time) {
    return new LocalResponseCache(maxEntries, timeToLive, time);
  }
}
