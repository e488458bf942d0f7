package dev.warpwright.flow;

import dev.warpwright.drive.RunAccess;
import dev.warpwright.model.Digest;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.NewRun;
import dev.warpwright.run.RunEvent.RunStarted;
import dev.warpwright.run.RunEvent.RunStarted.Life;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunLog;
import dev.warpwright.run.RunState;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.Runs;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.TimeSource;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The run in which another one goes on.
 *
 * <p>It is queued before the old one ends. Its id and its key follow from the old run's id, so
 * whoever drives the old one again after a crash in between finds it, and queues no second one; and
 * a cancel that comes in between finds it too.
 */
final class Continuation {
  private static final Pattern MADE_HERE = Pattern.compile("(.*):([1-9][0-9]{0,8})");
  private static final int MAX_BASE = 118; // of 128 characters
  private static final String CANCELLED = "the run that it goes on from was cancelled";

  private final RunStore store;
  private final TimeSource time;
  private final Deadline deadline;
  private final RunKey before;
  private final RunKey run;

  /**
   * What an old run goes on in.
   *
   * @param deadline until when the store is waited for
   */
  Continuation(RunState old, RunStore store, TimeSource time, Deadline deadline) {
    this.store = store;
    this.time = time;
    this.deadline = deadline;
    this.before = old.run();
    this.run = new RunKey(before.scope(), idAfter(old));
  }

  private static String idAfter(RunState old) {
    String id = old.run().runId();
    Matcher made = MADE_HERE.matcher(id);
    if (old.started().life().flatMap(Life::continues).isPresent() && made.matches()) {
      return made.group(1) + ":" + (Long.parseLong(made.group(2)) + 1);
    }
    return (id.length() > MAX_BASE ? "run_" + Digest.hex(id) : id) + ":2";
  }

  /** The first event of the run after a given one, of the same flow. */
  static RunStarted started(Flow<?, ?> flow, RunStarted old, RunKey oldRun, Object input) {
    if (old.childOf().isPresent()) {
      throw new InvalidRequestException(
          FailureKind.INVALID_REQUEST,
          "A child run cannot go on in another run: its parent waits for its value.");
    }
    RunStarted next =
        Flows.started(
            flow,
            flow.writeInput(input),
            Optional.of("continued:" + oldRun.runId()),
            old.metadata(),
            Optional.empty(),
            Optional.of(
                new Life(
                    old.life().flatMap(Life::timeout),
                    old.life().filter(Life::cancels).isPresent(),
                    Optional.of(oldRun.runId()))));
    RunLog.requireFits(next);
    return next;
  }

  /** Queues the run, unless that was done before; the end of the old one gives it its signals. */
  RunKey queue(RunStarted started, RunAccess access) {
    return access.enqueue(new NewRun(run, time.now(), started), Continuation::keepAsItIs);
  }

  /** What was queued in an earlier drive counts. */
  private static void keepAsItIs(RunState found) {}

  /** Cancels the run, if it was queued though the old one did not come to its end. */
  void cancel() {
    List<LoggedEvent> log = store.load(run, 1, deadline);
    if (!log.isEmpty() && isAfter(RunState.of(log))) {
      var _ = Runs.in(store, time).cancel(run, CANCELLED);
    }
  }

  private boolean isAfter(RunState found) {
    return found.started().life().flatMap(Life::continues).equals(Optional.of(before.runId()));
  }
}
