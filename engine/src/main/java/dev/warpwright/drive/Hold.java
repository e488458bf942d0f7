package dev.warpwright.drive;

import dev.warpwright.run.DecisionNeeded;
import dev.warpwright.run.RunEvent.RunSuspended;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunLog;
import dev.warpwright.run.RunState;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.Writer;
import dev.warpwright.task.TimeSource;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The ownership of a run for one invocation; confined to its thread.
 *
 * <p>When it is closed the run is handed back, if its end has not done that. Only then late ends of
 * tools may be written, and it is told that the run needs a person, who may act at once.
 */
public final class Hold implements AutoCloseable {
  private final RunStore store;
  private final RunKey run;
  private final Writer owner;
  private final LateEnds lateEnds;
  private final Consumer<DecisionNeeded> tell;
  private final boolean ofWorker;
  private boolean done;
  private Set<String> awaitedBefore = Set.of();
  private @Nullable RunLog log;

  /**
   * Holds a run that was acquired.
   *
   * @param store where the run is
   * @param run which
   * @param owner who holds it
   * @param time the clock of late ends
   * @param ofWorker whether a worker drives it, which takes back what could not be begun
   * @param tell told, once the run is handed back, that it needs a person
   */
  public Hold(
      RunStore store,
      RunKey run,
      Writer owner,
      TimeSource time,
      boolean ofWorker,
      Consumer<DecisionNeeded> tell) {
    this.store = store;
    this.run = run;
    this.owner = owner;
    this.lateEnds = new LateEnds(store, run, time);
    this.ofWorker = ofWorker;
    this.tell = tell;
  }

  /**
   * Where tools that were given up say how they ended.
   *
   * @return the late ends of this run
   */
  public LateEnds lateEnds() {
    return lateEnds;
  }

  /**
   * Called with the run's log before anything is done.
   *
   * @param found the log
   */
  public void begins(RunLog found) {
    log = found;
    awaitedBefore = awaited(found.state());
  }

  /** Called when what is to be done with the run is done. */
  public void ends() {
    done = true;
  }

  /** The append that ended the run has handed it back. */
  private boolean isHandedBack() {
    return log != null && log.isHandedBack();
  }

  /** Whether the run could not even be begun; a worker hands it back later, with its problem. */
  private boolean isLeftToWorker() {
    return ofWorker && !done && (log == null || !log.hasProgressed());
  }

  @Override
  public void close() {
    try {
      if (!isHandedBack() && !isLeftToWorker()) {
        store.release(run, owner);
      }
    } finally {
      if (log == null || log.hasFailed()) {
        lateEnds.driverFailed();
      } else {
        lateEnds.driverLeft(log.state());
        tell(log.state());
      }
    }
  }

  private void tell(RunState state) {
    Set<String> awaited = awaited(state);
    awaited.removeAll(awaitedBefore);
    if (!awaited.isEmpty()) {
      tell.accept(
          new DecisionNeeded(run, state.started().agentId(), state.status(), awaited.size()));
    }
  }

  private static Set<String> awaited(RunState state) {
    return new HashSet<>(state.suspension().map(RunSuspended::awaited).orElse(List.of()));
  }
}
