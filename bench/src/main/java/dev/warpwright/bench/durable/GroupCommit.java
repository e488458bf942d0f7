package dev.warpwright.bench.durable;

import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * One thread that writes what its callers bring, everything that has come since the last commit in
 * one, while the callers wait: as little around a commit as there can be.
 *
 * @param <T> a row
 */
final class GroupCommit<T> implements AutoCloseable {
  /** Writes rows and makes them durable. */
  interface Sink<T> {
    void commit(List<T> rows) throws SQLException;
  }

  private static final class Entry<T> {
    final T row;
    final Thread caller = Thread.currentThread();
    final @Nullable Entry<T> next; // pushed before this one
    volatile boolean done;

    Entry(T row, @Nullable Entry<T> next) {
      this.row = row;
      this.next = next;
    }
  }

  private final Sink<T> sink;
  private final AtomicReference<@Nullable Entry<T>> pushed = new AtomicReference<>();
  private final Thread committer;
  private volatile boolean closed;
  private volatile @Nullable Exception failure;

  GroupCommit(Sink<T> sink) {
    this.sink = sink;
    this.committer = Thread.ofPlatform().name("raw-committer").daemon().start(this::run);
  }

  /** Returns when the row is durable. */
  void append(T row) {
    Entry<T> entry;
    Entry<T> top;
    do {
      top = pushed.get();
      entry = new Entry<>(row, top);
    } while (!pushed.compareAndSet(top, entry));
    if (top == null) {
      LockSupport.unpark(committer);
    }
    while (!entry.done) {
      LockSupport.park(this);
    }
    Exception why = failure;
    if (why != null) {
      throw new IllegalStateException("The committer failed.", why);
    }
  }

  private void run() {
    List<T> rows = new ArrayList<>();
    while (!closed) {
      Entry<T> batch = pushed.getAndSet(null);
      if (batch == null) {
        LockSupport.park(this);
        continue;
      }
      for (Entry<T> entry = batch; entry != null; entry = entry.next) {
        rows.add(entry.row);
      }
      try {
        sink.commit(rows);
      } catch (SQLException | RuntimeException e) {
        failure = e;
      }
      rows.clear();
      for (Entry<T> entry = batch; entry != null; entry = entry.next) {
        entry.done = true;
        LockSupport.unpark(entry.caller);
      }
    }
  }

  /** Called when no caller waits, so that there is nothing left to commit. */
  @Override
  public void close() {
    closed = true;
    LockSupport.unpark(committer);
  }
}
