package dev.warpwright.store.jdbc;

import dev.warpwright.model.StoreException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * What waits for the journal, bounded in events and bytes: at the bound new operations wait, so
 * that a database which falls behind slows its callers down and does not fill the heap.
 */
final class WriteQueue {
  /** The most that one commit takes; later events would wait too long for their turn. */
  private static final int MAX_BATCH_EVENTS = 1_000;

  private static final long MAX_BATCH_BYTES = 4L * 1024 * 1024;

  private final int maxEvents;
  private final long maxBytes;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition notEmpty = lock.newCondition();
  private final Condition notFull = lock.newCondition();
  private final ArrayDeque<Operation<?>> operations = new ArrayDeque<>(); // guarded by lock
  private int events; // guarded by lock
  private long bytes; // guarded by lock
  private boolean closed; // guarded by lock
  private boolean dead; // guarded by lock: nobody takes any more

  WriteQueue(int maxEvents, long maxBytes) {
    this.maxEvents = maxEvents;
    this.maxBytes = maxBytes;
  }

  /**
   * Adds an operation, waiting for room, not interruptibly.
   *
   * @throws StoreException if there was no room until the deadline; nothing was written
   * @throws IllegalStateException if the queue is closed
   */
  void put(Operation<?> operation, Patience patience) {
    boolean interrupted = false;
    lock.lock();
    try {
      while (true) {
        requireOpen();
        if (hasRoom(operation)) {
          add(operation);
          return;
        }
        long nanos = patience.nextNanos();
        if (nanos <= 0) {
          throw new StoreException(
              "The store has %d events of %d bytes to write, at its bound of %d events or %d bytes,"
                      .formatted(events, bytes, maxEvents, maxBytes)
                  + " and had no room until the deadline; nothing of this call was written.",
              null);
        }
        try {
          var _ = notFull.await(nanos, TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    } finally {
      lock.unlock();
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** An operation that is larger than the bound has room when nothing else is queued. */
  private boolean hasRoom(Operation<?> operation) {
    return operations.isEmpty()
        || (events + operation.events() <= maxEvents && bytes + operation.bytes() <= maxBytes);
  }

  /** Adds an operation that gives something back, and so never waits. */
  void putAtOnce(Operation<?> operation) {
    lock.lock();
    try {
      requireOpen();
      add(operation);
    } finally {
      lock.unlock();
    }
  }

  private void add(Operation<?> operation) {
    operations.add(operation);
    count(operation);
    notEmpty.signal();
  }

  private void count(Operation<?> operation) {
    events += operation.events();
    bytes += operation.bytes();
  }

  /** Called by who takes, for something that is to be taken next, also when the queue is closed. */
  void putFirst(Operation<?> operation) {
    lock.lock();
    try {
      operations.addFirst(operation);
      count(operation);
    } finally {
      lock.unlock();
    }
  }

  private void requireOpen() {
    if (closed) {
      throw new IllegalStateException("The store is closed.");
    }
    if (dead) {
      throw new StoreException("The store's journal has died; nothing was written.", null);
    }
  }

  /**
   * Takes what is queued, at most one commit's worth, and waits only if there is nothing.
   *
   * @return empty if the queue is closed and everything was taken
   */
  List<Operation<?>> take() {
    return take(Long.MAX_VALUE);
  }

  /**
   * Takes what is queued, at most one commit's worth, and waits for so long only if there is
   * nothing.
   *
   * @return empty if there was nothing in that time, or the queue is closed and everything was
   *     taken
   */
  List<Operation<?>> take(long maxNanos) {
    boolean interrupted = false;
    long nanos = maxNanos;
    lock.lock();
    try {
      List<Operation<?>> batch = new ArrayList<>();
      while (batch.isEmpty()) {
        while (operations.isEmpty()) {
          if (closed || nanos <= 0) {
            return batch;
          }
          try {
            nanos = notEmpty.awaitNanos(nanos);
          } catch (InterruptedException e) {
            interrupted = true;
          }
        }
        fill(batch);
        notFull.signalAll();
      }
      return batch;
    } finally {
      lock.unlock();
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private void fill(List<Operation<?>> batch) {
    int batchEvents = 0;
    long batchBytes = 0;
    while (!operations.isEmpty()) {
      Operation<?> next = operations.getFirst();
      batchEvents += next.events();
      batchBytes += next.bytes();
      if (!batch.isEmpty() && (batchEvents > MAX_BATCH_EVENTS || batchBytes > MAX_BATCH_BYTES)) {
        return;
      }
      operations.removeFirst();
      events -= next.events();
      bytes -= next.bytes();
      if (next.pending.begin()) {
        batch.add(next);
      }
    }
  }

  int size() {
    lock.lock();
    try {
      return operations.size();
    } finally {
      lock.unlock();
    }
  }

  boolean isClosed() {
    lock.lock();
    try {
      return closed;
    } finally {
      lock.unlock();
    }
  }

  /** Whether the queue is closed and everything was taken. */
  boolean isDrained() {
    lock.lock();
    try {
      return closed && operations.isEmpty();
    } finally {
      lock.unlock();
    }
  }

  /** Refuses new operations; those that are queued are still taken. */
  void close() {
    lock.lock();
    try {
      closed = true;
      notEmpty.signalAll();
      notFull.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Called when nobody takes any more: what is still queued was not written. */
  void abandon() {
    List<Operation<?>> left;
    lock.lock();
    try {
      dead = true;
      left = List.copyOf(operations);
      operations.clear();
      events = 0;
      bytes = 0;
      notFull.signalAll();
    } finally {
      lock.unlock();
    }
    for (Operation<?> operation : left) {
      operation.fail(
          () -> new StoreException("The store's journal has died; nothing was written.", null));
    }
  }
}
