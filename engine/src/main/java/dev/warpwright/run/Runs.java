package dev.warpwright.run;

import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.TimeSource;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * The operator's view of a store: which runs there are, where each stands, what happened in it.
 *
 * <p>Reads only; thread-safe.
 */
public final class Runs {
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final RunStore store;
  private final TimeSource time;

  private Runs(RunStore store, TimeSource time) {
    this.store = Objects.requireNonNull(store, "store");
    this.time = Objects.requireNonNull(time, "time");
  }

  /**
   * The runs of a store.
   *
   * @param store the store
   * @return the view; it waits at most 30 s for an answer of the store
   */
  public static Runs in(RunStore store) {
    return new Runs(store, TimeSource.system());
  }

  /**
   * Lists runs, latest update first.
   *
   * @param query which
   * @return one page
   */
  public List<RunSummary> list(RunQuery query) {
    return store.list(query, patience());
  }

  /**
   * Where a run stands.
   *
   * @param run the run
   * @return its state, empty if there is no such run
   */
  public Optional<RunState> state(RunKey run) {
    List<LoggedEvent> log = store.load(run, 1, patience());
    return log.isEmpty() ? Optional.empty() : Optional.of(RunState.of(log));
  }

  /**
   * What happened in a run.
   *
   * @param run the run
   * @return its events in order
   * @throws InvalidRequestException if there is no such run
   */
  public List<LoggedEvent> log(RunKey run) {
    List<LoggedEvent> log = store.load(run, 1, patience());
    if (log.isEmpty()) {
      throw new InvalidRequestException(
          FailureKind.INVALID_REQUEST, "There is no run " + run + " in this scope.");
    }
    return log;
  }

  /**
   * Finds the run that was claimed under an idempotency key.
   *
   * @param scope whose runs
   * @param idempotencyKey the key
   * @return the run
   */
  public Optional<RunKey> find(RunScope scope, String idempotencyKey) {
    return store.find(scope, idempotencyKey, patience());
  }

  private Deadline patience() {
    return Deadline.after(time, PATIENCE);
  }
}
