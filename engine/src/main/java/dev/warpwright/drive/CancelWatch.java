package dev.warpwright.drive;

import dev.warpwright.model.WarpwrightException;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunListener;
import dev.warpwright.run.RunLog;
import dev.warpwright.run.RunStore;
import dev.warpwright.task.Cancellation;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.TimeSource;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * All that cancels an invocation: the caller's handle, a request in the log of its run, the loss of
 * the run, and a worker that stops.
 *
 * <p>Closed after the run was handed back. A request that came when the driver had looked for the
 * last time, and before it let go, has met an owner and been left to it; so it is carried out here.
 */
public final class CancelWatch implements RunListener, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(CancelWatch.class);
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final RunStore store;
  private final TimeSource time;
  private final Cancellation handle = new Cancellation();
  private final Cancellation.@Nullable Registration caller;
  private volatile boolean requested; // set by whoever asks for the cancel
  private volatile boolean lost; // set by the store
  private volatile boolean handedBack; // set by the worker
  private Cancellation.@Nullable Registration worker; // owner thread only
  private @Nullable RunKey run; // owner thread only
  private RunStore.@Nullable Watch watch; // owner thread only

  /**
   * Begins to watch the caller's handle.
   *
   * @param by the caller's handle, if there is one
   * @param store where the run is
   * @param time the clock of the cancel that is carried out at the end
   */
  public CancelWatch(Optional<Cancellation> by, RunStore store, TimeSource time) {
    this.store = store;
    this.time = time;
    this.caller = by.map(given -> given.onCancel(handle::cancel)).orElse(null);
  }

  /**
   * What cancels the operation.
   *
   * @return the handle of this invocation
   */
  public Cancellation handle() {
    return handle;
  }

  /**
   * Lets a worker, whose run this is, have it back unfinished.
   *
   * @param asked cancelled when the worker wants it back
   */
  public void handsBackOn(Cancellation asked) {
    worker =
        asked.onCancel(
            why -> {
              handedBack = true;
              handle.cancel(why);
            });
  }

  /**
   * Whether the invocation is a worker's, which hands back a run that could not be begun.
   *
   * @return whether it is
   */
  public boolean isOfWorker() {
    return worker != null;
  }

  /**
   * Whether the run is to be left as it stands, for another driver to go on with.
   *
   * @return whether it is
   */
  public boolean isHandedBack() {
    return handedBack;
  }

  /**
   * Called when the invocation owns a run, before it reads the log.
   *
   * @param owned the run
   */
  public void begins(RunKey owned) {
    run = owned;
    watch = store.watch(owned, this);
  }

  /** Stops what the invocation does, since its run is to be cancelled. */
  @Override
  public void cancelRequested() {
    requested = true;
    handle.cancel("the run was cancelled");
  }

  /** Stops what the invocation does; how far it came is for the next driver to find out. */
  @Override
  public void lost() {
    lost = true;
    handle.cancel("the run's lease was lost");
  }

  /**
   * Whether the run is not this invocation's any more, so that it must write nothing.
   *
   * @return whether it is lost
   */
  public boolean isLost() {
    return lost;
  }

  /**
   * Whether somebody asked to cancel the run.
   *
   * @return whether somebody did
   */
  public boolean isRequested() {
    return requested;
  }

  @Override
  public void close() {
    if (watch != null) {
      watch.close();
    }
    if (caller != null) {
      caller.close();
    }
    if (worker != null) {
      worker.close();
    }
    if (run != null && requested) {
      try {
        var _ = RunLog.carryOutCancel(store, run, time, Deadline.after(time, PATIENCE));
      } catch (WarpwrightException e) {
        LOG.warn("The cancel of run {} was not carried out: {}", run, e.toString());
      }
    }
  }
}
