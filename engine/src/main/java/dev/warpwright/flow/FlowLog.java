package dev.warpwright.flow;

import dev.warpwright.model.LimitExceededException;
import dev.warpwright.run.FlowJournal;
import dev.warpwright.run.RunEvent;
import dev.warpwright.run.RunLog;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The log of a run to which the branches of a flow write at the same time.
 *
 * <p>Whoever comes first writes for all who come while it writes: the branches share commits, and
 * the {@link RunLog} is used by one thread at a time. A wait for another's commit is not cut short
 * by an interrupt: the fate of a write is always known, unless the store does not know it.
 */
final class FlowLog {
  private final RunLog log;
  private final FlowShow show;
  private final Queue<Entry> queue = new ConcurrentLinkedQueue<>();

  /** How many entries are not answered; who raises it from 0 writes until it is 0 again. */
  private final AtomicInteger unanswered = new AtomicInteger();

  /** Only whoever writes for the others changes these. */
  private volatile FlowJournal journal;

  private volatile boolean cancelRequested; // as the log says
  private volatile boolean closed; // then nobody but the driver writes
  private volatile @Nullable Throwable failure; // after which nothing can be written

  /** Events of one branch, all or none. */
  private static final class Entry {
    final List<RunEvent> events;
    final Thread waiter = Thread.currentThread();
    boolean closes; // set before it is queued
    private @Nullable Throwable failure; // set before done
    private volatile boolean done;

    Entry(List<RunEvent> events) {
      this.events = events;
    }

    void settle(@Nullable Throwable cause) {
      failure = cause;
      done = true;
      LockSupport.unpark(waiter);
    }

    void await() {
      boolean interrupted = false;
      while (!done) {
        LockSupport.park(this);
        interrupted |= Thread.interrupted();
      }
      if (interrupted) {
        waiter.interrupt();
      }
    }
  }

  FlowLog(RunLog log, FlowShow show) {
    this.log = log;
    this.show = show;
    this.journal = log.state().flow().orElseThrow();
    this.cancelRequested = log.state().cancellation().isPresent();
  }

  /** What is recorded; may be asked by any branch. */
  FlowJournal journal() {
    return journal;
  }

  /** Tells that a step begins that has no intent in the log. */
  void pureStepStarts(String position, String name, int attempt) {
    show.pureStepStarts(log, position, name, attempt);
  }

  /** Whether a request to cancel the run is in the log, as far as it was read. */
  boolean isCancelRequested() {
    return cancelRequested;
  }

  /**
   * Adds events; returns when they are durable. Where somebody asked to cancel the run before, what
   * would begin is left out.
   *
   * @throws LimitExceededException if they do not fit into the run's state
   * @throws Unwind if the log failed, or is closed: the body must not go on
   */
  void append(RunEvent... events) {
    Throwable refused = add(new Entry(List.of(events)));
    switch (refused) {
      case null -> {}
      case LimitExceededException e -> throw e;
      default -> throw Unwind.NOW;
    }
  }

  private @Nullable Throwable add(Entry entry) {
    queue.add(entry);
    if (unanswered.getAndIncrement() == 0) {
      writeAll();
    } else {
      entry.await();
    }
    return entry.failure;
  }

  private void writeAll() {
    int answered;
    do {
      List<Entry> batch = new ArrayList<>();
      for (Entry next = queue.poll(); next != null; next = queue.poll()) {
        batch.add(next);
      }
      write(batch);
      answered = batch.size();
    } while (unanswered.addAndGet(-answered) > 0);
  }

  private void write(List<Entry> batch) {
    if (closed || failure != null) {
      batch.forEach(entry -> entry.settle(Unwind.NOW));
      return;
    }
    try {
      List<RunEvent> events = batch.stream().flatMap(entry -> entry.events.stream()).toList();
      if (!events.isEmpty()) {
        log.append(events);
        show.look(log);
      }
      journal = log.state().flow().orElseThrow();
      cancelRequested = log.state().cancellation().isPresent();
      closeIfAsked(batch);
      batch.forEach(entry -> entry.settle(null));
    } catch (LimitExceededException e) {
      if (batch.size() == 1) {
        batch.getFirst().settle(e);
      } else { // one of them is too large, not necessarily all
        batch.forEach(entry -> write(List.of(entry)));
      }
    } catch (RuntimeException | Error e) {
      failure = e;
      closeIfAsked(batch);
      batch.forEach(entry -> entry.settle(e));
    }
  }

  private void closeIfAsked(List<Entry> batch) {
    if (batch.stream().anyMatch(entry -> entry.closes)) {
      closed = true;
    }
  }

  /**
   * Refuses what a thread that was left behind would still write; returns when no other thread uses
   * the log any more.
   */
  void close() {
    Entry last = new Entry(List.of());
    last.closes = true;
    var _ = add(last);
  }

  /** Why nothing can be written any more, if that is so. */
  Optional<Throwable> failure() {
    return Optional.ofNullable(failure);
  }
}
