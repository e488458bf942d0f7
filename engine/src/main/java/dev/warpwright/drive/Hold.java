package dev.warpwright.drive;

import dev.warpwright.model.Json;
import dev.warpwright.model.WarpwrightException;
import dev.warpwright.run.DecisionNeeded;
import dev.warpwright.run.RunEvent.RunSuspended;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunLog;
import dev.warpwright.run.RunState;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.Signal;
import dev.warpwright.run.Writer;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.TimeSource;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The ownership of a run for one invocation; confined to its thread.
 *
 * <p>When it is closed the run is handed back. Only then late ends of tools may be written, and it
 * is told that the run needs a person, who may act at once.
 */
public final class Hold implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Hold.class);
  private static final Duration PATIENCE = Duration.ofSeconds(5);

  private final RunStore store;
  private final TimeSource time;
  private final RunKey run;
  private final Writer owner;
  private final LateEnds lateEnds;
  private final Consumer<DecisionNeeded> tell;
  private final boolean ofWorker;
  private boolean done;
  private boolean takenUp; // and not created by this invocation
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
    this.time = time;
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
    takenUp = found.state().sequence() > 1;
    awaitedBefore = awaited(found.state());
  }

  /** Called when what is to be done with the run is done. */
  public void ends() {
    done = true;
  }

  /** Whether the run could not even be begun; a worker hands it back later, with its problem. */
  private boolean isLeftToWorker() {
    return ofWorker && !done && (log == null || !log.hasProgressed());
  }

  @Override
  public void close() {
    try {
      if (!isLeftToWorker()) {
        store.release(run, owner);
      }
    } finally {
      if (log == null || log.hasFailed()) {
        lateEnds.driverFailed();
      } else {
        lateEnds.driverLeft(log.state());
        tellParent(log.state());
        tell(log.state());
      }
    }
  }

  /**
   * Tells the run that waits for the end of this one, so that a worker goes on with it. Best
   * effort: whoever resumes the parent looks at the child itself. While a child is created, its
   * parent is at work and looks anyway.
   */
  private void tellParent(RunState state) {
    Optional<String> parent = state.started().childOf();
    if (parent.isEmpty()
        || !takenUp
        || !(state.isTerminal() || state.status() == RunStatus.FAILED)) {
      return;
    }
    try {
      Signal signal =
          new Signal(
              Signal.ofEnd(run.runId()), Signal.ofEnd(run.runId()), Json.of(null), time.now());
      var _ =
          store.signal(
              new RunKey(run.scope(), parent.get()), signal, Deadline.after(time, PATIENCE));
    } catch (WarpwrightException e) {
      LOG.debug("The parent of run {} was not told of its end: {}", run, e.toString());
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
