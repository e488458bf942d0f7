package dev.warpwright.store.jdbc;

import dev.warpwright.model.ConflictException;
import dev.warpwright.model.StoreException;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.Writer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Callers that append to runs, each to one of its own, until they are stopped. Where the store does
 * not know what became of an append, a caller reads the log; where it has lost the run, it acquires
 * it again.
 */
final class AppendLoad implements AutoCloseable {
  private final JdbcRunStore store;
  private final Acknowledged acknowledged;
  private final List<Thread> callers = new ArrayList<>();
  private final AtomicLong appends = new AtomicLong();
  private final AtomicLong unknown = new AtomicLong();
  private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
  private volatile boolean stopped;

  private AppendLoad(JdbcRunStore store, Acknowledged acknowledged) {
    this.store = store;
    this.acknowledged = acknowledged;
  }

  static AppendLoad start(
      JdbcRunStore store, int runs, Acknowledged acknowledged, Thread.Builder threads) {
    AppendLoad load = new AppendLoad(store, acknowledged);
    for (int n = 0; n < runs; n++) {
      RunKey run = CrashWriter.run(n);
      load.callers.add(threads.start(() -> load.drive(run)));
    }
    return load;
  }

  /** How many appends were acknowledged. */
  long appends() {
    return appends.get();
  }

  /** How often the store did not know what became of a call, or could not answer. */
  long unknown() {
    return unknown.get();
  }

  /** Waits until so many more appends were acknowledged. */
  void await(long more) {
    long wanted = appends.get() + more;
    while (appends.get() < wanted && failure.get() == null) {
      Thread.onSpinWait();
      Pause.millis(1);
    }
  }

  void interruptOne(Random random) {
    callers.get(random.nextInt(callers.size())).interrupt();
  }

  private void drive(RunKey run) {
    try {
      Writer owner = null;
      long head = -1; // not known
      while (!stopped) {
        try {
          if (head < 0) {
            head = store.load(run, 1, Acknowledged.soon()).size();
          } else if (owner == null) {
            owner =
                head == 0
                    ? Appends.create(store, run)
                    : store.acquire(run, Acknowledged.soon()).orElse(null);
            head = Math.max(1, head);
          } else {
            Appends.two(store, run, head, owner);
            head += 2;
            acknowledged.note(run, head);
            appends.incrementAndGet();
          }
        } catch (StoreException e) {
          unknown.incrementAndGet();
          head = -1;
        } catch (ConflictException e) {
          unknown.incrementAndGet();
          head = -1;
          if (owner != null) {
            store.release(run, owner);
            owner = null;
          }
        }
        boolean _ = Thread.interrupted(); // of a storm
      }
    } catch (RuntimeException | Error e) {
      failure.compareAndSet(null, e);
    }
  }

  /** Stops the callers and waits for them; fails if one of them did. */
  @Override
  public void close() {
    stopped = true;
    for (Thread caller : callers) {
      while (caller.isAlive()) {
        Pause.millis(1);
      }
    }
    Throwable failed = failure.get();
    if (failed != null) {
      throw new AssertionError("A caller failed.", failed);
    }
  }
}
