package dev.warpwright;

import dev.warpwright.control.CacheKey;
import dev.warpwright.control.CachePolicy;
import dev.warpwright.control.Cacheability;
import dev.warpwright.control.ResponseCache;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.Outcome;
import dev.warpwright.task.TaskScope;
import dev.warpwright.task.TaskTree;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;

/** Looks answers up and keeps them, without letting the cache harm the operation. */
final class CachedResponses {
  /** So many writes may be under way; one more is dropped. */
  static final int MAX_PENDING = 256;

  /** The outer task of a write only waits for the inner one, which is bounded. */
  private static final Duration UNBOUNDED = ChronoUnit.FOREVER.getDuration();

  private final TaskTree tree;
  private final ResponseCache cache;
  private final Duration timeout;
  private final Semaphore room = new Semaphore(MAX_PENDING);
  private final Pending writes;
  private final LongAdder dropped = new LongAdder();
  private final LongAdder failures = new LongAdder();

  CachedResponses(TaskTree tree, CachePolicy policy) {
    this.tree = tree;
    this.writes = new Pending(tree, "flush of cache writes");
    this.cache = policy.cache();
    this.timeout = policy.timeout();
  }

  /**
   * Looks an answer up. Whatever goes wrong is a miss; whether the caller still wants to go on is
   * for the caller to see.
   *
   * @param scope the caller's own
   */
  Optional<ModelResponse> get(TaskScope scope, CacheKey key) {
    if (!cache.blocking()) {
      return getHere(key);
    }
    Deadline deadline = Deadline.after(tree.time(), timeout);
    return switch (scope.call("cache", "cache read", deadline, () -> cache.get(key))) {
      case Outcome.Success<Optional<ModelResponse>>(var found) -> usable(found);
      case Outcome.Cancelled<?> cancelled -> Optional.empty();
      default -> {
        failures.increment();
        yield Optional.empty();
      }
    };
  }

  /**
   * Looks once more, where that takes no time. For whoever leads a shared call: between its look-up
   * and now the call before may have ended, and have put its answer.
   */
  Optional<ModelResponse> getAgain(CacheKey key) {
    return cache.blocking() ? Optional.empty() : getHere(key);
  }

  private Optional<ModelResponse> getHere(CacheKey key) {
    try {
      return usable(cache.get(key));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Optional.empty();
    } catch (RuntimeException | Error e) { // as one that a blocking cache throws in its task
      failures.increment();
      return Optional.empty();
    }
  }

  /** A shared backend may hold what somebody else put there; tool calls, say. */
  private static Optional<ModelResponse> usable(Optional<ModelResponse> found) {
    return found == null ? Optional.empty() : found.filter(Cacheability::storable);
  }

  /** Keeps an answer that may be kept. Nobody waits, and nobody is told if it fails. */
  void put(CacheKey key, ModelResponse response) {
    if (!Cacheability.storable(response)) {
      return;
    }
    if (!cache.blocking()) {
      write(key, response);
      return;
    }
    if (!room.tryAcquire()) {
      dropped.increment();
      return;
    }
    Write write = new Write(key, response);
    if (!tree.detach("cache", "cache write", UNBOUNDED, write)) {
      write.giveUp();
    }
  }

  /**
   * A write that nobody waits for. It is pending until its thread has ended, however long after its
   * time that is; so a cache that hangs holds no more threads than there is room. If its time is
   * over before it has a thread, it is not begun at all.
   */
  private final class Write implements Runnable {
    private final CacheKey key;
    private final ModelResponse response;
    private final Object piece = writes.begin();
    private final AtomicBoolean decided = new AtomicBoolean(); // whether it is begun or not

    Write(CacheKey key, ModelResponse response) {
      this.key = key;
      this.response = response;
    }

    /** In a task of its own, which only waits for the inner one. */
    @Override
    public void run() {
      try (TaskScope scope = tree.open("cache", "cache write")) {
        scope.call("cache", "put", Deadline.after(tree.time(), timeout), this::begin);
      } finally {
        giveUp();
      }
    }

    /** Unless it has begun. */
    void giveUp() {
      if (decided.compareAndSet(false, true)) {
        failures.increment();
        end();
      }
    }

    private boolean begin() {
      if (!decided.compareAndSet(false, true)) {
        return false;
      }
      try {
        write(key, response);
      } finally {
        end();
      }
      return true;
    }

    private void end() {
      room.release();
      writes.end(piece);
    }
  }

  private void write(CacheKey key, ModelResponse response) {
    try {
      cache.put(key, response);
    } catch (InterruptedException e) {
      failures.increment();
      Thread.currentThread().interrupt();
    } catch (RuntimeException | Error e) {
      failures.increment(); // the answer will be asked for again, and that is all
    }
  }

  boolean flush(Duration atMost) {
    return writes.flush(atMost);
  }

  int pendingWrites() {
    return writes.count();
  }

  long droppedWrites() {
    return dropped.sum();
  }

  /** How many look-ups and writes have failed or run out of their time. */
  long failures() {
    return failures.sum();
  }
}
