package dev.warpwright.run;

import dev.warpwright.model.ConflictException;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.OperationTrace;
import dev.warpwright.run.RunEvent.CancelRequested;
import dev.warpwright.run.RunEvent.ToolReconciled;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.TimeSource;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * The operator's view of a store: which runs there are, where each stands, what happened in it.
 *
 * <p>Thread-safe.
 */
public final class Runs {
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final int PAGE = 1000;
  private static final Set<RunStatus> ENDED =
      EnumSet.of(RunStatus.COMPLETED, RunStatus.FAILED, RunStatus.CANCELLED, RunStatus.TIMED_OUT);
  private static final int MAX_REASON = 1024;
  private static final Writer DECIDER = Writer.outside("decision");

  private final RunStore store;
  private final TimeSource time;
  private final Optional<ApprovalSigner> signer;
  private final ControlEvents control;

  private Runs(RunStore store, TimeSource time, Optional<ApprovalSigner> signer) {
    this.store = Objects.requireNonNull(store, "store");
    this.time = Objects.requireNonNull(time, "time");
    this.signer = signer;
    this.control = new ControlEvents(store, time);
  }

  /**
   * The runs of a store.
   *
   * @param store the store
   * @return the view; it waits at most 30 s for an answer of the store
   */
  public static Runs in(RunStore store) {
    return in(store, TimeSource.system());
  }

  /**
   * The runs of a store, by another clock than that of the system.
   *
   * @param store the store
   * @param time says when events happen and approvals expire
   * @return the view; it waits at most 30 s for an answer of the store
   */
  public static Runs in(RunStore store, TimeSource time) {
    return new Runs(store, time, Optional.empty());
  }

  /**
   * The same runs, whose approvals are signed: needed for {@link #decide} where the agents that
   * drive the runs have a signer.
   *
   * @param signer the signer of those agents
   * @return a copy of this view
   */
  public Runs signedBy(ApprovalSigner signer) {
    return new Runs(store, time, Optional.of(signer));
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
   * What happened in a run and in the child runs below it, as far as they are in the store: what
   * {@link RunExport} writes one after the other to move a run with its children.
   *
   * @param run the run
   * @return the log of the run, then those of its child runs, each with those below it
   * @throws InvalidRequestException if there is no such run
   */
  public List<List<LoggedEvent>> logs(RunKey run) {
    return RunTree.logs(log(run), this::load);
  }

  /**
   * Takes runs in that were exported from another store, with their ids, keys, times and all. A run
   * that had not ended goes on here, by whoever resumes it; so it must not go on there any more.
   *
   * @param text what {@link RunExport#write} wrote of runs, one after the other
   * @return the runs, in the order of the text
   * @throws InvalidRequestException if the text is not whole, is masked, or a log breaks a rule;
   *     nothing was taken in
   * @throws ConflictException if the store has one of the runs, or the idempotency key of one;
   *     nothing was taken in
   * @throws dev.warpwright.model.LimitExceededException if the text is too large, see {@link
   *     RunExport#read}
   */
  public List<RunKey> importRuns(String text) {
    return RunTree.adopt(RunExport.readRuns(text), store, this::patience);
  }

  /**
   * Shows what happened in a run, what took how long, and what it waited for. Nothing of the run is
   * driven for it.
   *
   * @param run the run
   * @return the view of its log
   * @throws InvalidRequestException if there is no such run
   */
  public Timeline timeline(RunKey run) {
    return Timeline.of(log(run));
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

  /**
   * The runs that wait for somebody's decision on an approval.
   *
   * @param scope whose runs
   * @return their states, latest update first; {@link RunState#pendingApprovals()} says what for
   */
  public List<RunState> waiting(RunScope scope) {
    return states(scope, RunStatus.WAITING_APPROVAL).stream()
        .filter(state -> !state.pendingApprovals().isEmpty())
        .toList();
  }

  /**
   * The runs that wait for a verdict on a tool call whose outcome nobody knows.
   *
   * @param scope whose runs
   * @return their states, latest update first; {@link RunState#inDoubt()} says on which calls
   */
  public List<RunState> inDoubt(RunScope scope) {
    return states(scope, RunStatus.NEEDS_RECONCILIATION).stream()
        .filter(state -> !state.needingVerdicts().isEmpty())
        .toList();
  }

  /**
   * The runs that could go on and that no process drives: because no open store has announced their
   * agent, or because they are quarantined.
   *
   * @param scope whose runs
   * @return at most 1000 of them, longest due first
   */
  public List<RunSummary> stranded(RunScope scope) {
    return store.stranded(scope, PAGE, patience());
  }

  /**
   * Lets a quarantined run go on: its {@link RunSummary#problem()} says what to mend before.
   *
   * @param run the run
   * @throws ConflictException if there is no such run
   */
  public void readmit(RunKey run) {
    store.readmit(run, patience());
  }

  /**
   * Cuts a new run off from another one, whatever that has come to; see {@link #fork(RunKey, long,
   * ForkChanges)}.
   *
   * @param run the run, which is not changed
   * @param atSequence the last event that the new run has of it
   * @return the new run, in the same scope
   */
  public RunKey fork(RunKey run, long atSequence) {
    return fork(run, atSequence, ForkChanges.NONE);
  }

  /**
   * Cuts a new run off from another one, whatever that has come to. The new run has the events of
   * the other up to a point: what is recorded there is not done again. It goes on from there with a
   * resume, or by a worker, under its own id: whatever it does is done under new keys. It is no
   * child run, has no idempotency key, and none of the signals that the other has not consumed.
   *
   * @param run the run, which is not changed
   * @param atSequence the last event that the new run has of it
   * @param changes what the new run has otherwise
   * @return the new run, in the same scope
   * @throws InvalidRequestException if there is no such run or event, if something was under way
   *     there that belongs to one run only (a model call, a call of a tool, a child run, an
   *     approval, an effect of unknown outcome) or the run had ended, in which case the message
   *     names the nearest sequences at which it can be forked; or if a change does not fit
   * @throws dev.warpwright.model.LimitExceededException if it does not fit into the run's state
   */
  public RunKey fork(RunKey run, long atSequence, ForkChanges changes) {
    RunKey fork = new RunKey(run.scope(), RunIds.next(time));
    List<LoggedEvent> log = Fork.of(log(run), atSequence, changes, fork, time.now());
    store.adopt(log, RunState.of(log).standing(), patience());
    return fork;
  }

  /**
   * Deletes a run with all that belongs to it, its events, signals and tokens; its idempotency key
   * may be claimed anew. A child run is deleted although its parent may still need it: that one
   * cannot go on then if it reads what the child gave, and begins the child's work again if the
   * child had not ended.
   *
   * @param run the run
   * @return false if there is no such run
   * @throws ConflictException if it is being driven, waits for a verdict, or has child runs that
   *     are in the store; nothing was deleted
   */
  public boolean delete(RunKey run) {
    List<LoggedEvent> log = store.load(run, 1, patience());
    if (!log.isEmpty() && RunTree.own(log, this::load).size() > 1) {
      throw conflict(
          "The run "
              + run
              + " has child runs; delete it together with them, or delete them first.");
    }
    return store.delete(run, patience());
  }

  /**
   * Deletes a run as {@link #delete} does, and the child runs below it: first the run, so that
   * nobody goes on with it and misses them.
   *
   * @param run the run
   * @return how many runs were deleted, 0 if there is no such run
   * @throws ConflictException if one of them is being driven or waits for a verdict; nothing was
   *     deleted, unless somebody took up a child run just then
   */
  public int deleteWithChildren(RunKey run) {
    List<LoggedEvent> log = store.load(run, 1, patience());
    return log.isEmpty() ? 0 : RunTree.delete(RunTree.own(log, this::load), store, this::patience);
  }

  private List<LoggedEvent> load(RunKey run) {
    return store.load(run, 1, patience());
  }

  /**
   * Deletes runs of all scopes that have ended, a thousand at a time. A child run stays while the
   * run that it is a child of is in the store: whoever resumes or replays that one needs what its
   * child runs have given. It goes together with its parent, if it has ended long enough ago too.
   *
   * @param before only those whose last event is older
   * @param statuses only those; COMPLETED, FAILED, CANCELLED and TIMED_OUT are possible
   * @return how many were deleted
   * @throws InvalidRequestException if a status is one of a run that has not ended
   */
  public int deleteExpired(Instant before, Set<RunStatus> statuses) {
    for (RunStatus status : statuses) {
      if (!ENDED.contains(status)) {
        throw new InvalidRequestException(
            FailureKind.INVALID_REQUEST,
            "Only runs that have ended are deleted by age: %s, not %s.".formatted(ENDED, status));
      }
    }
    int deleted = 0;
    int last;
    do {
      last = store.deleteExpired(before, statuses, PAGE, patience());
      deleted += last;
    } while (last == PAGE);
    return deleted;
  }

  /** Reads all runs that the index has under a status; the log has the last word. */
  private List<RunState> states(RunScope scope, RunStatus status) {
    List<RunState> states = new ArrayList<>();
    RunQuery query = RunQuery.builder(scope).statuses(status).limit(PAGE).build();
    List<RunSummary> page = list(query);
    while (!page.isEmpty()) {
      page.stream().flatMap(run -> state(run.run()).stream()).forEach(states::add);
      page = page.size() < PAGE ? List.of() : list(query.after(page.getLast()));
    }
    states.removeIf(state -> state.status() != status);
    return states;
  }

  /**
   * Decides what became of a tool call whose outcome nobody knows: the operator's door out of
   * {@link RunStatus#NEEDS_RECONCILIATION}. The run goes on when it is resumed afterwards.
   *
   * <p>{@link RunState#inDoubt()} names the calls and, in what started them, their keys. SUCCEEDED
   * gives the model the output of the verdict, FAILED gives it as an error, NOT_EXECUTED lets the
   * tool run under the same key.
   *
   * @param run the run
   * @param verdict the call's id and key, what is known, and who says so
   * @return the run's state afterwards
   * @throws ConflictException if the run is being driven, or the call is not in doubt under that
   *     key; nothing was changed
   * @throws InvalidRequestException if there is no such run, or the verdict names a digest of
   *     evidence, which must itself be shown
   * @throws dev.warpwright.model.LimitExceededException if the output does not fit into the run's
   *     state
   */
  public RunState reconcile(RunKey run, ToolReconciled verdict) {
    if (verdict.evidence().isPresent()) {
      throw new InvalidRequestException(
          FailureKind.INVALID_REQUEST,
          "A verdict on a call of run " + run + " names evidence that is not shown.");
    }
    return decide(run, verdict);
  }

  /**
   * Decides as {@link #reconcile(RunKey, ToolReconciled)}, on evidence whose digest is kept in the
   * log.
   *
   * @param run the run
   * @param verdict the call's id and key, what is known, and who says so
   * @param evidence what the verdict rests on
   * @return the run's state afterwards
   * @throws ConflictException if the run is being driven, or the call is not in doubt under that
   *     key; nothing was changed
   * @throws InvalidRequestException if there is no such run, or the evidence was altered, is about
   *     another call, or cannot be verified; nothing was changed
   */
  public RunState reconcile(RunKey run, ToolReconciled verdict, Evidence evidence) {
    evidence.requireFor(run, verdict);
    return decide(
        run,
        new ToolReconciled(
            verdict.callId(),
            verdict.key(),
            verdict.verdict(),
            verdict.output(),
            verdict.decidedBy(),
            Optional.of(evidence.digest())));
  }

  /**
   * Cancels a run; see {@link #cancel(RunKey, String)}.
   *
   * @param run the run
   * @return the run's state afterwards
   */
  public RunState cancel(RunKey run) {
    return cancel(run, Optional.empty());
  }

  /**
   * Cancels a run for good, whatever it is doing or waiting for, and the child runs below it. What
   * has ended stays as it is.
   *
   * <p>A run that nobody drives is CANCELLED when this returns. A driver in this process is told at
   * once: it stops the model call and interrupts the tools, keeps what it has paid for, and ends
   * the run; until then the run is CANCEL_REQUESTED. A run with a tool call whose outcome is
   * unknown, and which must not be repeated, needs its verdict first: it is NEEDS_RECONCILIATION
   * and cancelled by {@link #reconcile(RunKey, ToolReconciled)}. Cancelling again does no harm, and
   * carries out what a process that died had left.
   *
   * @param run the run
   * @param reason why, for the log; not blank, at most 1024 characters
   * @return the run's state afterwards
   * @throws InvalidRequestException if there is no such run
   * @throws ConflictException if others kept writing to the run
   */
  public RunState cancel(RunKey run, String reason) {
    if (reason.isBlank() || reason.length() > MAX_REASON) {
      throw new InvalidRequestException(
          FailureKind.INVALID_REQUEST,
          "The reason of a cancel must have 1 to %d characters and not be blank, but has %d."
              .formatted(MAX_REASON, reason.length()));
    }
    return cancel(run, Optional.of(reason));
  }

  private RunState cancel(RunKey run, Optional<String> reason) {
    return new TreeCancel(store, time, patience()).cancel(run, new CancelRequested(reason));
  }

  /**
   * Decides on approvals that a run waits for, all of them or some, without driving it: from a
   * command line, a web page, any process with the store. When nothing is left to decide the run
   * goes on with the next resume, in whatever process, which needs to bring no decision.
   *
   * <p>A request that has expired is recorded as denied with the reason {@value Decisions#EXPIRED},
   * whatever is decided by then, also one that no decision names.
   *
   * @param run the run
   * @param decisions at most one for each pending request
   * @return the run's state afterwards
   * @throws InvalidRequestException if there is no such run, a decision names no request of it, two
   *     name the same, or a request is not signed as {@link #signedBy} wants it, or is signed and
   *     there is no signer here; nothing was applied
   * @throws ConflictException if a request is decided already, or others kept writing to the run;
   *     nothing was applied
   * @throws dev.warpwright.model.LimitExceededException if a reason does not fit into the run's
   *     state
   */
  public RunState decide(RunKey run, ApprovalDecision... decisions) {
    List<ApprovalDecision> made = List.of(decisions);
    return control.append(
        run, DECIDER, state -> Decisions.fromOutside(state, made, time.now(), signer), patience());
  }

  private RunState decide(RunKey run, ToolReconciled verdict) {
    RunState state = RunState.of(log(run));
    Writer owner =
        store
            .borrow(run, patience())
            .orElseThrow(() -> conflict("Run " + run + " is being driven; ask again later."));
    try {
      RunLog log = RunLog.open(store, run, owner, time, patience());
      state = log.state();
      if (!state.isInDoubt(verdict.callId(), verdict.key())) {
        throw conflict(
            "Call %s of run %s is not in doubt under the given key."
                .formatted(verdict.callId(), run));
      }
      log.resolve(verdict, verdict.callId());
      return log.state();
    } finally {
      store.release(run, owner);
    }
  }

  private static ConflictException conflict(String message) {
    return new ConflictException(message, null, OperationTrace.NONE);
  }

  private Deadline patience() {
    return Deadline.after(time, PATIENCE);
  }
}
