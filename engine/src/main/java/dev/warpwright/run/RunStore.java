package dev.warpwright.run;

import dev.warpwright.model.ConflictException;
import dev.warpwright.model.StoreException;
import dev.warpwright.task.Deadline;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Where the logs of runs are kept: the port between the engine and a database.
 *
 * <p>A run has at most one owner at a time, who drives it. The owner's appends carry its {@link
 * Writer}, a name with an epoch, and are refused as soon as somebody else owns the run. Control
 * events, such as a decision, are written from outside without owning the run.
 *
 * <p>Implementations are thread-safe. A method that writes returns only when what it wrote is
 * durable. No method reacts to an interrupt while the fate of a write is open: an interrupt that
 * comes meanwhile stays pending on the thread. A store that does not answer until the deadline (and
 * a grace of its own) throws {@link StoreException}; the write may then have taken place, and the
 * next load tells. An ownership that {@link #create} or {@link #acquire} gains for a caller that
 * has gone so is handed back by the store, as {@link #release} would; a run that was created stays.
 * A refused write changes nothing.
 */
public interface RunStore extends AutoCloseable {
  /** What became of a claim. */
  sealed interface Claim {
    /**
     * The run was created; the caller owns it.
     *
     * @param owner the writer for its appends
     */
    record Won(Writer owner) implements Claim {}

    /**
     * The idempotency key belongs to a run already.
     *
     * @param run that run
     */
    record Taken(RunKey run) implements Claim {}
  }

  /**
   * Creates a run: claims its idempotency key, if it has one, writes its first event and makes the
   * caller its owner, all in one act.
   *
   * @param run the run
   * @param deadline until when the answer is awaited
   * @return who has the key now
   * @throws ConflictException if the run id exists in the scope and the key, if any, does not name
   *     it
   */
  Claim create(NewRun run, Deadline deadline);

  /**
   * Takes a whole log in, as another store or a result gave it: claims the run's idempotency key,
   * if it has one, and writes all events with their writers and times, in one act. Nobody owns the
   * run then.
   *
   * @param log all events of a run that this store does not have, from the first on
   * @param status where the run stands after the last one
   * @param deadline until when the answer is awaited
   * @throws ConflictException if the run exists in its scope, or its key belongs to another run
   */
  void adopt(List<LoggedEvent> log, RunStatus status, Deadline deadline);

  /**
   * Reads events of a run in order.
   *
   * @param run the run
   * @param fromSequence the first sequence that is wanted, 1-based
   * @param deadline until when the answer is awaited
   * @return the events, empty if there are none or no such run
   */
  List<LoggedEvent> load(RunKey run, long fromSequence, Deadline deadline);

  /**
   * Adds events to a run's log, all or none, in one durable commit.
   *
   * @param append the events
   * @param deadline until when the answer is awaited
   * @throws ConflictException if the run does not exist, if its last sequence is not the expected
   *     one, or if the writer claims to be its owner and is not
   */
  void append(Append append, Deadline deadline);

  /**
   * Makes the caller the owner of a run that has none, or whose owner is gone.
   *
   * @param run the run
   * @param deadline until when the answer is awaited
   * @return the writer for its appends; empty if a live owner has it
   * @throws ConflictException if the run does not exist
   */
  Optional<Writer> acquire(RunKey run, Deadline deadline);

  /**
   * Hands a run back: it has no owner any more, and whoever waits for that is woken. Does nothing
   * if the writer is not its owner.
   *
   * @param run the run
   * @param owner the writer that {@link #create} or {@link #acquire} gave
   */
  void release(RunKey run, Writer owner);

  /**
   * Waits until a run has no live owner.
   *
   * @param run the run
   * @param deadline until when to wait
   * @return true if the run has no owner, false if the deadline passed first
   * @throws InterruptedException if the thread was interrupted; the run is left alone
   */
  boolean awaitRelease(RunKey run, Deadline deadline) throws InterruptedException;

  /**
   * Tells of control events that are written to a run, so that its driver sees a request to cancel
   * at once. Optional: a store that tells nothing leaves it to the driver's next append.
   *
   * @param run the run
   * @param listener is given what was written by a {@link Writer} from outside, once it is durable,
   *     on the thread that wrote it; must be short, must not block and must not throw
   * @return closed by whoever does not want to be told any more; a call that has begun may still be
   *     under way then
   */
  default Watch watch(RunKey run, Consumer<? super List<RunEvent>> listener) {
    return () -> {};
  }

  /** A listener that is told until this is closed; closing is idempotent. */
  @FunctionalInterface
  interface Watch extends AutoCloseable {
    @Override
    void close();
  }

  /**
   * Finds the run that was claimed under a key.
   *
   * @param scope whose runs
   * @param idempotencyKey the key
   * @param deadline until when the answer is awaited
   * @return the run
   */
  Optional<RunKey> find(RunScope scope, String idempotencyKey, Deadline deadline);

  /**
   * Lists runs.
   *
   * @param query which
   * @param deadline until when the answer is awaited
   * @return at most the query's limit
   */
  List<RunSummary> list(RunQuery query, Deadline deadline);

  /**
   * Ends the store: what was accepted is written, then its threads end and its connections close.
   * Later calls throw {@link IllegalStateException}.
   */
  @Override
  void close();

  /**
   * A store in memory, for tests and for runs that need not outlive the process.
   *
   * @return an empty store
   */
  static RunStore inMemory() {
    return new InMemoryRunStore();
  }
}
