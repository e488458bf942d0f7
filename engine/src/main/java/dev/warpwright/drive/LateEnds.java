package dev.warpwright.drive;

import dev.warpwright.model.ConflictException;
import dev.warpwright.model.WarpwrightException;
import dev.warpwright.run.CallState;
import dev.warpwright.run.RunEvent.ToolFinished;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunLog;
import dev.warpwright.run.RunState;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.Writer;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.TimeSource;
import java.time.Duration;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What tools say after their driver gave them up: that resolves the doubt, if the run still waits
 * as the driver left it.
 *
 * <p>The end is written by the tool's own thread, which first waits until the driver has handed the
 * run back. It becomes the run's owner for one append, so that an operator's verdict and another
 * driver are kept out meanwhile; and it writes only if the log still ends where the driver, or an
 * earlier late end, left it. Whatever else happened to the run since then counts, and the late end
 * is dropped.
 */
public final class LateEnds {
  private static final Logger LOG = LoggerFactory.getLogger(LateEnds.class);
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final RunStore store;
  private final RunKey run;
  private final TimeSource time;
  private final CountDownLatch left = new CountDownLatch(1);
  private final Queue<ToolFinished> ends = new ConcurrentLinkedQueue<>();

  /** How many ends are not written yet; who brings the first one writes them all. */
  private final AtomicInteger unwritten = new AtomicInteger();

  /**
   * Where the log ended; 0 if the run does not wait. Set before the latch opens, then by writers.
   */
  private volatile long leftAt;

  /**
   * Late ends of a run that is being driven.
   *
   * @param store where it is
   * @param run the run
   * @param time for the times of events
   */
  public LateEnds(RunStore store, RunKey run, TimeSource time) {
    this.store = store;
    this.run = run;
    this.time = time;
  }

  /** Called once the driver has handed the run back, whose state it left so. */
  void driverLeft(RunState state) {
    boolean handedBackInDoubt =
        state.status() == RunStatus.RUNNING
            && state.calls().stream().anyMatch(CallState::needsVerdict);
    leftAt =
        handedBackInDoubt || state.status() == RunStatus.NEEDS_RECONCILIATION
            ? state.sequence()
            : 0;
    left.countDown();
  }

  /** Called when the driver has gone and does not know how it left the run. */
  void driverFailed() {
    left.countDown();
  }

  /**
   * Writes an end, once the driver has left the run. On a tool's own thread.
   *
   * @param end what the tool said
   */
  public void tell(ToolFinished end) {
    awaitDriver();
    ends.add(end);
    if (unwritten.getAndIncrement() > 0) {
      return;
    }
    do {
      write(ends.remove());
    } while (unwritten.decrementAndGet() > 0);
  }

  /** The driver always leaves, so this need not be cut short. */
  private void awaitDriver() {
    boolean interrupted = false;
    while (true) {
      try {
        left.await();
        break;
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void write(ToolFinished end) {
    if (leftAt == 0) {
      return;
    }
    try {
      Optional<Writer> owner = store.borrow(run, patience());
      if (owner.isPresent()) {
        try {
          append(end, owner.get());
        } finally {
          store.release(run, owner.get());
        }
      }
    } catch (ConflictException e) {
      LOG.debug("The late end of a tool of run {} came too late.", run);
    } catch (WarpwrightException e) {
      LOG.warn("The late end of a tool of run {} was not written: {}", run, e.toString());
    }
  }

  private void append(ToolFinished end, Writer owner) {
    RunLog log = RunLog.open(store, run, owner, time, patience());
    boolean inDoubt =
        log.state().inDoubt().stream()
            .anyMatch(call -> call.isInDoubt(end.callId(), end.key().orElseThrow()));
    if (log.state().sequence() == leftAt && inDoubt) {
      log.resolve(end, end.callId());
      leftAt = log.state().sequence();
    }
  }

  private Deadline patience() {
    return Deadline.after(time, PATIENCE);
  }
}
