package dev.warpwright.route;

import dev.warpwright.model.Target;
import dev.warpwright.task.TimeSource;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Remembers which target served a conversation last, so that the next turn may go there too.
 *
 * <p>It is a preference of this process and no more: it changes nothing in what a provider is told
 * about caching, and does not show that the provider's cache was hit. Safe for use by any thread;
 * every method takes constant time, spread over the calls.
 */
public final class AffinityTable {
  private final AffinityPolicy policy;
  private final long ttlNanos;
  private final TimeSource time;
  private final ReentrantLock lock = new ReentrantLock();

  /**
   * Guarded by lock. In the order of storing: as all last equally long, the first ends first, but
   * for the moment between reading the clock and taking the lock.
   */
  private final Map<AffinityKey, Entry> entries = new LinkedHashMap<>();

  private record Entry(Target target, long storedNanos) {}

  /**
   * An empty table.
   *
   * @param policy its bounds
   * @param time its clock
   */
  public AffinityTable(AffinityPolicy policy, TimeSource time) {
    this.policy = policy;
    this.ttlNanos = policy.ttl().toNanos();
    this.time = Objects.requireNonNull(time, "time");
  }

  /**
   * The bounds of this table.
   *
   * @return the policy
   */
  public AffinityPolicy policy() {
    return policy;
  }

  /**
   * Finds the target that served a conversation. Finding does not prolong the entry.
   *
   * @param key the conversation
   * @return the target that was stored last, unless that is as long ago as the entries last
   */
  public Optional<Target> find(AffinityKey key) {
    long now = time.nanoTime();
    lock.lock();
    try {
      return Optional.ofNullable(entries.get(key))
          .filter(entry -> !isOver(entry, now))
          .map(Entry::target);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Stores the target of a successful attempt. A full table forgets what was stored longest ago.
   *
   * @param key the conversation
   * @param target the target that answered
   */
  public void store(AffinityKey key, Target target) {
    Objects.requireNonNull(target, "target");
    long now = time.nanoTime();
    lock.lock();
    try {
      entries.remove(key);
      forgetEnded(now);
      if (entries.size() >= policy.maxEntries()) {
        entries.remove(entries.keySet().iterator().next());
      }
      entries.put(key, new Entry(target, now));
    } finally {
      lock.unlock();
    }
  }

  /**
   * How many conversations are remembered.
   *
   * @return the number of entries that have not ended
   */
  public int entries() {
    long now = time.nanoTime();
    lock.lock();
    try {
      forgetEnded(now);
      return entries.size();
    } finally {
      lock.unlock();
    }
  }

  /** Guarded by lock. */
  private void forgetEnded(long now) {
    Iterator<Entry> oldestFirst = entries.values().iterator();
    while (oldestFirst.hasNext() && isOver(oldestFirst.next(), now)) {
      oldestFirst.remove();
    }
  }

  private boolean isOver(Entry entry, long now) {
    return now - entry.storedNanos >= ttlNanos;
  }
}
