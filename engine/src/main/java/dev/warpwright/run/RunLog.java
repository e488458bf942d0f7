package dev.warpwright.run;

import dev.warpwright.model.Attempt;
import dev.warpwright.model.ConflictException;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.LimitExceededException;
import dev.warpwright.model.OperationTrace;
import dev.warpwright.run.RunEvent.ChildFinished;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.TimeSource;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * A driver's hold on the log of a run that it owns: the state so far, and the way to add to it.
 *
 * <p>Others may write control events beside the driver, such as a request to cancel. An append that
 * meets them takes them in and takes place on top of them; so the state may have changed in other
 * ways than the driver meant, and is to be looked at again after each append.
 *
 * <p>Confined to the driver's thread. When an append fails the log must not be used any more: what
 * was written is known after the next load.
 */
public final class RunLog {
  /** How often an append is tried that meets control events. */
  static final int MAX_TRIES = 32;

  private final RunStore store;
  private final Writer owner;
  private final TimeSource time;
  private final Deadline deadline;
  private final RunSnapshot known; // the log as it was found
  private final List<LoggedEvent> added = new ArrayList<>(); // to it, by this driver and others
  private final List<RunEvent> deferred = new ArrayList<>(); // in the state, not in the store yet
  private RunState state;
  private boolean shared = true; // the state is that of a snapshot, not to be added to
  private boolean failed;
  private boolean full;
  private boolean progressed;
  private boolean handsBackAtEnd;
  private boolean handedBack;

  private RunLog(
      RunStore store, Writer owner, TimeSource time, Deadline deadline, RunSnapshot known) {
    this.store = store;
    this.owner = owner;
    this.time = time;
    this.deadline = deadline;
    this.known = known;
    this.state = known.state();
  }

  /**
   * Takes the log of a run up.
   *
   * @param store where it is
   * @param run the run
   * @param owner the writer that the store gave when the run was created or acquired
   * @param time for the times of events
   * @param deadline until when the store is waited for
   * @return the log
   * @throws InvalidRequestException if there is no such run, or its log breaks a rule
   */
  public static RunLog open(
      RunStore store, RunKey run, Writer owner, TimeSource time, Deadline deadline) {
    RunSnapshot known =
        RunSnapshot.load(store, run, deadline)
            .orElseThrow(
                () ->
                    new InvalidRequestException(
                        FailureKind.INVALID_REQUEST, "There is no run " + run + " in this scope."));
    return open(store, known, owner, time, deadline);
  }

  /**
   * Takes the log of a run up that has been read.
   *
   * @param store where it is
   * @param known the run, read since it is owned
   * @param owner the writer that the store gave when the run was created or acquired
   * @param time for the times of events
   * @param deadline until when the store is waited for
   * @return the log
   */
  public static RunLog open(
      RunStore store, RunSnapshot known, Writer owner, TimeSource time, Deadline deadline) {
    return new RunLog(store, owner, time, deadline, known);
  }

  /**
   * The log of a run that was created just now.
   *
   * @param store where it is
   * @param run what was created
   * @param owner the writer that the store gave
   * @param time for the times of events
   * @param deadline until when the store is waited for
   * @return the log
   */
  public static RunLog created(
      RunStore store, NewRun run, Writer owner, TimeSource time, Deadline deadline) {
    LoggedEvent first = new LoggedEvent(run.run(), 1, owner, run.time(), run.started());
    return new RunLog(store, owner, time, deadline, RunSnapshot.of(List.of(first)));
  }

  /**
   * Refuses to begin a run with more than its state may hold.
   *
   * @param started its first event
   * @throws LimitExceededException if it is too large
   */
  public static void requireFits(RunEvent.RunStarted started) {
    requireFits(StateSize.of(started), started.maxStateBytes().orElse(RunState.DEFAULT_MAX_BYTES));
  }

  private static void requireFits(long bytes, long maxBytes) {
    if (bytes > maxBytes) {
      throw new LimitExceededException(
          "The run's state may hold %d bytes (maxStateBytes), but would hold %d; nothing was written."
              .formatted(maxBytes, bytes),
          null,
          OperationTrace.NONE);
    }
  }

  /**
   * The state after the last event.
   *
   * @return the state; it grows with this log until an append meets control events, so it is not to
   *     be kept over an append
   */
  public RunState state() {
    return state;
  }

  /**
   * All events so far.
   *
   * @return the events, a list that does not change
   */
  public List<LoggedEvent> events() {
    return snapshot().events();
  }

  /**
   * The log as it is now.
   *
   * @return all events so far and the state; what is added later does not change it
   */
  public RunSnapshot snapshot() {
    shared = true;
    return added.isEmpty() ? known : new RunSnapshot(known.joined(added), state);
  }

  /**
   * The events behind one.
   *
   * @param sequence a sequence number of this log, or 0
   * @return a copy of what comes after it
   */
  public List<LoggedEvent> since(long sequence) {
    int behind = Math.toIntExact(sequence) - known.events().size();
    return behind >= 0
        ? List.copyOf(added.subList(behind, added.size()))
        : known.joined(added).subList(Math.toIntExact(sequence), size());
  }

  private int size() {
    return known.events().size() + added.size();
  }

  /**
   * Adds events, all or none, and those that were {@linkplain #defer deferred} before them; returns
   * when they are durable. Where control events came before them, those of them that are not
   * allowed any more are left out: after a request to cancel, nothing begins.
   *
   * @param events what happened; none to write only what was deferred
   * @throws LimitExceededException if the state would become larger than it may; nothing was
   *     written, and something smaller can be
   * @throws ConflictException if somebody else owns the run now
   * @throws InvalidRequestException if an event cannot follow; nothing was written
   * @throws dev.warpwright.model.StoreException if the store failed; the fate is open
   */
  public void append(List<RunEvent> events) {
    requireUsable();
    requireRoom(events);
    failed = true;
    int tries = 1;
    while (!tryAppend(events, tries)) {
      tries++;
    }
    failed = false;
  }

  /**
   * Adds events to the state and leaves them to the next append, which writes them before its own,
   * all or none. A crash before that loses them: so nothing may happen in between that is to see
   * them durable, above all no code of the program.
   *
   * @param events what happened, at least one
   * @throws LimitExceededException if the state would become larger than it may; nothing was added,
   *     and something smaller can be
   * @throws InvalidRequestException if an event cannot follow
   */
  public void defer(List<RunEvent> events) {
    requireUsable();
    requireRoom(events);
    failed = true;
    deferred.addAll(fold(events, later(time.now(), state.updatedAt()), false));
    failed = false;
  }

  /**
   * Whether the state has events that are not written yet.
   *
   * @return true from a {@link #defer} to the next append
   */
  public boolean hasDeferred() {
    return !deferred.isEmpty();
  }

  private void requireUsable() {
    if (failed) {
      throw new IllegalStateException(
          "An append to run " + state.run() + " failed; load it again.");
    }
  }

  /** False if control events came before and were taken in. */
  private boolean tryAppend(List<RunEvent> wanted, int tries) {
    Instant now = later(time.now(), state.updatedAt());
    List<RunEvent> allowed = new ArrayList<>(deferred);
    // The branches of a flow do not know at once what an append of another one has taken in.
    boolean late = state.flow().isPresent() && state.cancellation().isPresent();
    allowed.addAll(fold(wanted, now, tries > 1 || late));
    if (allowed.isEmpty()) {
      return true;
    }
    try {
      Standing standing = state.standing();
      Optional<String> parent =
          standing.hasEnded() ? state.started().childOf() : Optional.<String>empty();
      boolean handsBack = handsBackAtEnd && standing.status().isFinal();
      store.append(
          new Append(state.run(), size(), owner, now, allowed, standing, parent, handsBack),
          deadline);
    } catch (ConflictException e) {
      if (tries == MAX_TRIES || !takeIn(newer())) {
        throw e;
      }
      return false;
    }
    deferred.clear();
    handedBack = handsBackAtEnd && state.status().isFinal();
    for (RunEvent event : allowed) {
      added.add(new LoggedEvent(state.run(), size() + 1L, owner, now, event));
    }
    progressed |= !allowed.stream().allMatch(RunEvent.RunResumed.class::isInstance);
    return true;
  }

  /**
   * Adds events to the state; if {@code leavesOut}, without those that are not allowed.
   *
   * @return those that were added
   */
  private List<RunEvent> fold(List<RunEvent> wanted, Instant now, boolean leavesOut) {
    List<RunEvent> allowed = new ArrayList<>(wanted.size());
    if (shared && !wanted.isEmpty()) {
      state = state.copy();
      shared = false;
    }
    for (RunEvent event : wanted) {
      try {
        state.apply(new LoggedEvent(state.run(), state.sequence() + 1, owner, now, event));
        allowed.add(event);
      } catch (InvalidRequestException e) {
        if (!leavesOut) {
          throw e;
        }
      }
    }
    return allowed;
  }

  private List<LoggedEvent> newer() {
    return store.load(state.run(), size() + 1L, deadline);
  }

  /** Folds again on top of what others wrote; false if that is nothing, or no control event. */
  private boolean takeIn(List<LoggedEvent> foreign) {
    if (foreign.isEmpty() || !foreign.stream().allMatch(RunLog::isControl)) {
      return false;
    }
    added.addAll(foreign);
    state = known.state().copy();
    shared = false;
    added.forEach(state::apply);
    List<RunEvent> still = fold(deferred, later(time.now(), state.updatedAt()), true);
    deferred.clear();
    deferred.addAll(still);
    return true;
  }

  private static boolean isControl(LoggedEvent logged) {
    return !logged.writer().isOwner()
        && switch (logged.event()) {
          case RunEvent.CancelRequested e -> true;
          case RunEvent.ApprovalTokenIssued e -> true;
          case RunEvent.ApprovalDecided e -> true;
          case RunEvent.ToolReconciled e -> true;
          case RunEvent.ToolFinished e -> true;
          default -> false;
        };
  }

  /**
   * Takes in the control events that others have written since, if there are any.
   *
   * @throws ConflictException if somebody else drives the run now
   */
  public void refresh() {
    List<LoggedEvent> foreign = newer();
    if (!foreign.isEmpty() && !takeIn(foreign)) {
      failed = true;
      throw new ConflictException(
          "The run " + state.run() + " was driven on by somebody else.", null, OperationTrace.NONE);
    }
  }

  /**
   * Adds what became of a call that was in doubt and, if nothing but that kept the run from its
   * end, that too: a cancel, or the {@linkplain RunState#intendedEnd() end that it met}.
   *
   * @param outcome what became of the call
   * @param callId the call
   */
  public void resolve(RunEvent outcome, String callId) {
    boolean last = state.needingVerdicts().stream().allMatch(callId::equals);
    List<RunEvent> events = new ArrayList<>(2);
    events.add(outcome);
    if (last && state.cancellation().isPresent() && state.flow().isEmpty()) {
      events.add(new RunEvent.RunCancelled(state.step(), List.of()));
    } else if (last && state.cancellation().isEmpty()) {
      state.intendedEnd().ifPresent(events::add);
    }
    append(events);
  }

  /**
   * Cancels the child runs that are under way, as this run ends for good.
   *
   * @return the records of those that have ended by now, to append before its own end; each fits
   *     into the state
   */
  public List<RunEvent> endOfChildren() {
    return endOfChildren(callId -> true);
  }

  /**
   * Cancels some of the child runs that are under way, which nobody waits for any more.
   *
   * @param which says of which call or, in a flow, of which position
   * @return the records of those that have ended by now, to append; each fits into the state
   */
  public List<RunEvent> endOfChildren(Predicate<String> which) {
    List<RunEvent> events = new ArrayList<>();
    long bytes = state.bytes();
    for (ChildFinished end : new TreeCancel(store, time, deadline).cancelBelow(state, which)) {
      boolean fits = bytes + StateSize.of(end) <= state.maxBytes();
      ChildFinished kept = fits ? end : end.withoutText(); // a run can always end
      bytes += StateSize.of(kept);
      events.add(kept);
    }
    return events;
  }

  /**
   * What follows from a request to cancel when nothing of the run is at work any more: its end or,
   * while the outcome of a tool is unknown that must not be repeated, the wait for a verdict. Child
   * runs that are under way are cancelled first, and the records of those that have ended stand
   * before it.
   *
   * @param attempts the attempts of the current step that no event has yet
   * @return the events to append
   */
  public List<RunEvent> endOfCancel(List<Attempt> attempts) {
    List<RunEvent> events = new ArrayList<>(endOfChildren());
    List<String> doubtful = state.needingVerdicts();
    events.add(
        doubtful.isEmpty()
            ? new RunEvent.RunCancelled(state.step(), attempts)
            : new RunEvent.RunSuspended(
                RunEvent.RunSuspended.Reason.RECONCILIATION, doubtful, Optional.empty()));
    return events;
  }

  /**
   * Carries a cancel out that was requested, unless somebody drives the run, who then does it.
   *
   * @param store where the run is
   * @param run the run
   * @param time for the times of events
   * @param deadline until when the store is waited for
   * @return the state afterwards; empty if somebody drives the run
   * @throws ConflictException if the run does not exist
   */
  public static Optional<RunState> carryOutCancel(
      RunStore store, RunKey run, TimeSource time, Deadline deadline) {
    List<LoggedEvent> found = store.load(run, 1, deadline);
    if (!found.isEmpty()) {
      RunState before = RunState.of(found);
      if (!before.isCancelDue() || before.flow().isPresent()) {
        // Not acquired: a late end of a tool may need to be, and a flow's code takes things back.
        return Optional.of(before);
      }
    }
    Optional<Writer> owner = store.borrow(run, deadline);
    if (owner.isEmpty()) {
      return Optional.empty();
    }
    try {
      RunLog log = open(store, run, owner.get(), time, deadline);
      if (log.state().isCancelDue()) {
        log.append(log.endOfCancel(List.of()));
      }
      return Optional.of(log.state());
    } finally {
      store.release(run, owner.get());
    }
  }

  private void requireRoom(List<RunEvent> added) {
    try {
      requireRoom(state, added);
    } catch (LimitExceededException e) {
      full = true;
      throw e;
    }
  }

  /**
   * Refuses what would make a run's state larger than it may become.
   *
   * @throws LimitExceededException if it would
   */
  static void requireRoom(RunState state, List<RunEvent> added) {
    long growth = 0;
    for (RunEvent event : added) {
      growth += state.growth(event);
    }
    if (growth > 0) {
      requireFits(state.bytes() + growth, state.maxBytes());
    }
  }

  /**
   * Adds one event; see {@link #append(List)}.
   *
   * @param event what happened
   */
  public void append(RunEvent event) {
    append(List.of(event));
  }

  /**
   * Whether an append failed, so that nothing may be added.
   *
   * @return true after a failure
   */
  public boolean hasFailed() {
    return failed;
  }

  /**
   * Whether this driver has written anything but that the run goes on.
   *
   * @return true from its first other append on
   */
  public boolean hasProgressed() {
    return progressed;
  }

  /**
   * Lets the append that ends the run for good hand it back, which is one commit less: for a driver
   * that holds nothing which must be given up before.
   */
  public void handBackAtEnd() {
    handsBackAtEnd = true;
  }

  /**
   * Whether the last append has handed the run back.
   *
   * @return true after the end of a run that was to be {@linkplain #handBackAtEnd() handed back so}
   */
  public boolean isHandedBack() {
    return handedBack;
  }

  /**
   * Whether something did not fit into the run's state, which will not become smaller.
   *
   * @return true after such a refusal
   */
  public boolean isFull() {
    return full;
  }

  private static Instant later(Instant a, Instant b) {
    return a.isBefore(b) ? b : a;
  }
}
