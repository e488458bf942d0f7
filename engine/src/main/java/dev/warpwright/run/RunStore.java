package dev.warpwright.run;

import dev.warpwright.model.ConflictException;
import dev.warpwright.model.StoreException;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.TimeSource;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Where the logs of runs are kept: the port between the engine and a database.
 *
 * <p>A run has at most one owner at a time, who drives it. The owner's appends carry its {@link
 * Writer}, a name with an epoch, and are refused as soon as somebody else owns the run. Control
 * events, such as a decision, are written from outside without owning the run.
 *
 * <p>An open store holds one lease for all runs that are owned through it, and renews it by itself
 * on a database that several processes share. When the lease ends, as when the process died or was
 * frozen, its runs are free for others; a store that finds out that its own has ended, or that
 * cannot renew it in time, refuses to let anything begin and tells the listeners of its runs.
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
  /**
   * How often in a row a run is taken up without progress, which is any event of a driver but that
   * it was resumed. Then it is quarantined: no driver gets it until it is readmitted.
   */
  int MAX_CLAIMS = 5;

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
   * run then. A run that is only queued is a log of one event.
   *
   * <p>A run that awaits child runs is due if one of them has ended, and one that has ended makes
   * the parent due that awaits it, whichever of them comes first.
   *
   * @param log all events of a run that this store does not have, from the first on
   * @param standing where the run stands after the last one
   * @param deadline until when the answer is awaited
   * @throws ConflictException if the run exists in its scope, or its key belongs to another run
   */
  void adopt(List<LoggedEvent> log, Standing standing, Deadline deadline);

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
   * Adds events to a run's log, all or none, in one durable commit. With the end of a run that
   * {@linkplain Append#continuedAs() goes on} in another one, the signals that it has not received
   * become that one's, unless it has ended.
   *
   * <p>An append that {@linkplain Append#handsBack() hands the run back} wakes whoever waits for
   * that, and the {@link #release} of the same owner does nothing any more.
   *
   * @param append the events
   * @param deadline until when the answer is awaited
   * @throws ConflictException if the run does not exist, if its last sequence is not the expected
   *     one, or if the writer claims to be its owner and is not
   */
  void append(Append append, Deadline deadline);

  /**
   * Makes the caller the owner of a run that has none, or whose owner is gone, to drive it.
   *
   * @param run the run
   * @param deadline until when the answer is awaited
   * @return the writer for its appends; empty if a live owner has it
   * @throws ConflictException if the run does not exist, or is quarantined
   */
  Optional<Writer> acquire(RunKey run, Deadline deadline);

  /**
   * Makes the caller the owner of a run for a decision on it, and not to drive it: as {@link
   * #acquire}, but also of a quarantined run, and without counting.
   *
   * @param run the run
   * @param deadline until when the answer is awaited
   * @return the writer for its appends; empty if a live owner has it
   * @throws ConflictException if the run does not exist
   */
  Optional<Writer> borrow(RunKey run, Deadline deadline);

  /**
   * Makes the caller the owner of runs that are due and that nobody owns, to drive them, longest
   * due first: of any scope, not quarantined, each as {@link #acquire} does.
   *
   * @param agentIds whose runs the caller can drive
   * @param limit how many at most, 1 or more
   * @param deadline until when the answer is awaited
   * @return what was taken, perhaps nothing, and when to ask again
   */
  DueRuns acquireDue(Set<String> agentIds, int limit, Deadline deadline);

  /**
   * Says whose runs this process drives as long as the store is open, in place of what it said
   * before; so runs can be found that nobody drives, see {@link #stranded}.
   *
   * @param agentIds the agents, perhaps none
   * @param deadline until when the answer is awaited
   */
  void announce(Set<String> agentIds, Deadline deadline);

  /**
   * Hands a run back: it has no owner any more, and whoever waits for that is woken. Does nothing
   * if the writer is not its owner.
   *
   * @param run the run
   * @param owner the writer that {@link #create}, {@link #acquire} or {@link #borrow} gave
   * @param problem why it could not be driven, for whoever looks at a quarantined run; holds no
   *     content. Forgotten at the next progress
   */
  void release(RunKey run, Writer owner, Optional<String> problem);

  /**
   * Hands a run back; see {@link #release(RunKey, Writer, Optional)}.
   *
   * @param run the run
   * @param owner the writer that {@link #create}, {@link #acquire} or {@link #borrow} gave
   */
  default void release(RunKey run, Writer owner) {
    release(run, owner, Optional.empty());
  }

  /**
   * Lets a quarantined run be taken up again. Does nothing to another one.
   *
   * @param run the run
   * @param deadline until when the answer is awaited
   * @throws ConflictException if the run does not exist
   */
  void readmit(RunKey run, Deadline deadline);

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
   * Tells the driver of a run what concerns it: a request to cancel that somebody writes, in this
   * process at once and in another within about a second; and that the run was lost.
   *
   * @param run the run
   * @param listener is told until it is closed
   * @return closed by whoever does not want to be told any more; a call that has begun may still be
   *     under way then
   */
  Watch watch(RunKey run, RunListener listener);

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
   * Keeps a signal for a run until it is consumed, whether or not it is awaited yet; if it is, the
   * run is due. It is consumed by an append with the {@link FlowEvent.SignalReceived} that names
   * it, in the same act; such an append is refused with a {@link ConflictException} if the signal
   * is not there, or was consumed.
   *
   * @param run the run
   * @param signal the signal
   * @param deadline until when the answer is awaited
   * @return false if the run has had a signal of that id, and nothing was done
   * @throws ConflictException if the run does not exist, or has ended for good
   */
  boolean signal(RunKey run, Signal signal, Deadline deadline);

  /**
   * The signals of a run that were not consumed.
   *
   * @param run the run
   * @param deadline until when the answer is awaited
   * @return the signals, in the order in which they came
   */
  List<Signal> signals(RunKey run, Deadline deadline);

  /**
   * Lists runs that are due and that no process drives: none that is open has announced their
   * agent, or they are quarantined.
   *
   * @param scope whose runs
   * @param limit how many at most, 1 to 1000
   * @param deadline until when the answer is awaited
   * @return the runs, longest due first
   */
  List<RunSummary> stranded(RunScope scope, int limit, Deadline deadline);

  /**
   * Deletes a run with all that belongs to it, in one act. Its idempotency key may be claimed anew.
   * Its child runs stay, and whoever goes on with its parent misses it; {@link Runs} looks after
   * both.
   *
   * @param run the run
   * @param deadline until when the answer is awaited
   * @return false if there is no such run
   * @throws ConflictException if a live owner has it, or it waits for a verdict on a tool
   */
  boolean delete(RunKey run, Deadline deadline);

  /**
   * Deletes runs that have ended, of every scope, in one act for each.
   *
   * <p>A child run stays while the run that it is a child of is in the store, whatever that has
   * come to: to resume that one, or to replay it, takes what its child runs have given. So a tree
   * goes from its root down, in one call if all of it has expired. A child whose parent was deleted
   * goes like any other run.
   *
   * @param before only those whose last event is older
   * @param statuses only those; COMPLETED, FAILED, CANCELLED and TIMED_OUT are possible
   * @param limit how many at most, 1 to 1000
   * @param deadline until when the answer is awaited
   * @return how many were deleted; fewer than the limit if no more are left
   */
  int deleteExpired(Instant before, Set<RunStatus> statuses, int limit, Deadline deadline);

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
    return inMemory(TimeSource.system());
  }

  /**
   * A store in memory on a test's clock.
   *
   * @param time by which runs become due
   * @return an empty store
   */
  static RunStore inMemory(TimeSource time) {
    return new InMemoryRunStore(time);
  }
}
