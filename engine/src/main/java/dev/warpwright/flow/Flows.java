package dev.warpwright.flow;

import dev.warpwright.agent.Agents;
import dev.warpwright.agent.Invocation;
import dev.warpwright.agent.RunPolicy;
import dev.warpwright.drive.CancelWatch;
import dev.warpwright.drive.FoldCache;
import dev.warpwright.drive.Hold;
import dev.warpwright.drive.RunAccess;
import dev.warpwright.effect.Effects;
import dev.warpwright.model.ConflictException;
import dev.warpwright.model.Digest;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.model.NonDeterminismException;
import dev.warpwright.model.OperationTrace;
import dev.warpwright.run.ApprovalDecision;
import dev.warpwright.run.ApprovalSigner;
import dev.warpwright.run.DecisionNeeded;
import dev.warpwright.run.Decisions;
import dev.warpwright.run.DueRuns;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.NewRun;
import dev.warpwright.run.RunDriver;
import dev.warpwright.run.RunEvent;
import dev.warpwright.run.RunEvent.RunResumed;
import dev.warpwright.run.RunEvent.RunStarted;
import dev.warpwright.run.RunIds;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunLog;
import dev.warpwright.run.RunSnapshot;
import dev.warpwright.run.RunState;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.Signal;
import dev.warpwright.run.Standing;
import dev.warpwright.run.Writer;
import dev.warpwright.task.Cancellation;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.TaskTree;
import dev.warpwright.task.TimeSource;
import dev.warpwright.tool.JsonType;
import java.lang.invoke.MethodHandles;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Runs flows as durable runs. Thread-safe; methods block and may be called from any thread. Closing
 * the store is left to whoever made it.
 */
public final class Flows {
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private static final Duration LISTENER_TIMEOUT = Duration.ofSeconds(10);

  private final TaskTree tasks;
  private final RunStore store;
  private final TimeSource time;
  private final Optional<Agents> agents;
  private final RunAccess access;
  private final FoldCache folds;
  private final Options options;

  /** What is optional. */
  private record Options(
      Optional<ApprovalSigner> signer,
      Optional<Consumer<? super DecisionNeeded>> onDecisionNeeded,
      Optional<FlowObserver> observer) {
    static final Options NONE = new Options(Optional.empty(), Optional.empty(), Optional.empty());
  }

  private Flows(
      TaskTree tasks, RunStore store, Optional<Agents> agents, FoldCache folds, Options options) {
    this.tasks = Objects.requireNonNull(tasks, "tasks");
    this.store = Objects.requireNonNull(store, "store");
    this.agents = agents;
    this.options = options;
    this.time = tasks.time();
    this.access = new RunAccess(store, tasks);
    this.folds = folds;
  }

  /**
   * Flows that can run agents, in the same store as those.
   *
   * @param agents run the agents of flows
   * @return the flows
   */
  public static Flows on(Agents agents) {
    return new Flows(
        agents.tasks(),
        agents.store(),
        Optional.of(agents),
        new FoldCache(agents.store(), FoldCache.DEFAULT_MAX_BYTES),
        Options.NONE);
  }

  /**
   * Flows without agents whose runs are in a store.
   *
   * @param tasks the tree that their tasks are part of
   * @param store keeps the logs
   * @return the flows
   */
  public static Flows on(TaskTree tasks, RunStore store) {
    FoldCache folds = new FoldCache(store, FoldCache.DEFAULT_MAX_BYTES);
    return new Flows(tasks, store, Optional.empty(), folds, Options.NONE);
  }

  /**
   * The same flows, whose approvals are signed: a request or a decision that another signer, or
   * nobody, has signed is refused, and the run stays as it is. Whoever decides from outside needs
   * the signer too, see {@link dev.warpwright.run.Runs#signedBy}.
   *
   * @param approvalSigner signs and verifies
   * @return a copy of these flows
   */
  public Flows signedBy(ApprovalSigner approvalSigner) {
    return with(
        new Options(Optional.of(approvalSigner), options.onDecisionNeeded(), options.observer()));
  }

  /**
   * The same flows, which tell a listener when a run of a flow begins to need a person: for an
   * approval, or for a verdict on a step. Best effort, as with {@link
   * Agents.Builder#onDecisionNeeded}, whose listener is told of the agents that flows run.
   *
   * @param listener runs on a thread of its own after the run was handed back, for at most 10 s;
   *     what it throws is counted by {@link TaskTree#detachedFailures()}
   * @return a copy of these flows
   */
  public Flows onDecisionNeeded(Consumer<? super DecisionNeeded> listener) {
    return with(new Options(options.signer(), Optional.of(listener), options.observer()));
  }

  /**
   * The same flows, which tell an observer what their runs do.
   *
   * @param flowObserver is told
   * @return a copy of these flows
   */
  public Flows observer(FlowObserver flowObserver) {
    return with(
        new Options(options.signer(), options.onDecisionNeeded(), Optional.of(flowObserver)));
  }

  /**
   * The same flows, with a bound of their own for the memory in which they keep runs as they left
   * them, if they have not ended: the next drive of a run that is kept loads only what is new since
   * then. It changes no result. The runs that were not used for the longest time give way to
   * others.
   *
   * @param maxBytes 0 or more, an estimate, beside what {@linkplain Agents.Builder#foldCache
   *     agents} keep; 32 MiB by default. 0 keeps nothing, so that each drive loads the whole log of
   *     its run
   * @return a copy of these flows, which has kept nothing yet
   * @throws InvalidRequestException if that is negative
   */
  public Flows foldCache(long maxBytes) {
    return new Flows(tasks, store, agents, new FoldCache(store, maxBytes), options);
  }

  private Flows with(Options other) {
    return new Flows(tasks, store, agents, folds, other);
  }

  private void tell(DecisionNeeded needed) {
    if (needed.status() == RunStatus.WAITING) {
      return; // it is no person that it waits for, or a child says so itself
    }
    options
        .onDecisionNeeded()
        .ifPresent(
            listener ->
                tasks.detach(
                    "listener",
                    "decision needed by " + needed.run(),
                    LISTENER_TIMEOUT,
                    () -> listener.accept(needed)));
  }

  /**
   * Starts a flow and drives it until it ends or waits; see {@link #run(FlowRequest)}.
   *
   * @param flow the flow
   * @param input what it is given
   * @param <I> its type
   * @param <O> what the flow returns
   * @return how the run was left
   */
  public <I, O> FlowResult<O> run(Flow<I, O> flow, I input) {
    return run(FlowRequest.builder(flow, input).build());
  }

  /**
   * Starts a flow under an id of the program's own, such as the number of an order, or joins the
   * run that has it: the id is the run's idempotency key too, so however often this is called,
   * there is one run.
   *
   * @param flow the flow
   * @param runId the run's id in the default scope; see {@link RunKey}
   * @param input what it is given
   * @param <I> its type
   * @param <O> what the flow returns
   * @return how the run was left
   * @throws ConflictException if the id belongs to a run of another flow or input
   */
  public <I, O> FlowResult<O> run(Flow<I, O> flow, String runId, I input) {
    return run(FlowRequest.builder(flow, input).runId(runId).idempotencyKey(runId).build());
  }

  /**
   * Starts a flow and drives it until it ends or waits. Under an idempotency key that belongs to a
   * run already, it gives that run's result, after driving it on if nobody does.
   *
   * @param request what is asked
   * @param <I> what the flow is given
   * @param <O> what it returns
   * @return how the run was left: every outcome that is in the log, failures too
   * @throws InvalidRequestException if the input cannot be written as JSON; there is no run
   * @throws ConflictException if the key belongs to another flow or input, or the run id exists
   */
  public <I, O> FlowResult<O> run(FlowRequest<I, O> request) {
    Flow<I, O> flow = request.flow();
    NewRun fresh = fresh(request);
    RunKey run = fresh.run();
    Map<String, String> fingerprint = fresh.started().fingerprint();
    Deadline deadline = deadline(request.invocation());
    return switch (store.create(fresh, deadline)) {
      case RunStore.Claim.Won(Writer owner) ->
          owned(
              flow,
              run,
              owner,
              request.invocation(),
              new CancelWatch(request.invocation().cancellation(), store, time),
              () -> RunLog.created(store, fresh, owner, time, deadline),
              List.of(),
              deadline);
      case RunStore.Claim.Taken(RunKey taken) -> join(request, taken, fingerprint, deadline);
    };
  }

  /**
   * Joins the run that has the key: waits for its driver, or drives it on if that has gone. A run
   * that was waited for is taken as its driver left it.
   */
  private <O> FlowResult<O> join(
      FlowRequest<?, O> request, RunKey run, Map<String, String> fingerprint, Deadline deadline) {
    boolean waited = false;
    while (true) {
      RunSnapshot known = folds.load(run, deadline);
      RunState state = known.state();
      requireSame(state, fingerprint);
      boolean leaveIt = waited && state.status() != RunStatus.RUNNING;
      if (leaveIt || !isToGoOn(state)) {
        return FlowResult.asItStands(request.flow(), known);
      }
      Optional<Writer> owner = store.acquire(run, deadline);
      if (owner.isPresent()) {
        return owned(
            request.flow(),
            run,
            owner.get(),
            request.invocation(),
            new CancelWatch(request.invocation().cancellation(), store, time),
            () -> reopened(known, owner.get(), deadline),
            List.of(),
            deadline);
      }
      access.awaitRelease(run, deadline, OperationTrace.NONE);
      waited = true;
    }
  }

  private static void requireSame(RunState state, Map<String, String> fingerprint) {
    if (!state.started().fingerprint().equals(fingerprint)) {
      throw conflict(
          "The idempotency key belongs to run %s of another flow or input.".formatted(state.run()));
    }
  }

  /**
   * Queues a run: a {@link dev.warpwright.run.Worker} of any process on the store, or a caller that
   * asks under the same key, begins it. Returns as soon as that is durable.
   *
   * @param request what is asked; its invocation must be {@link Invocation#DEFAULT}
   * @return the run; under a key that belongs to the same request already, that one
   * @throws InvalidRequestException if the input cannot be written as JSON; nothing was queued
   * @throws ConflictException if the key belongs to another flow or input, or the run id exists
   */
  public RunKey enqueue(FlowRequest<?, ?> request) {
    if (request.invocation() != Invocation.DEFAULT) {
      throw new InvalidRequestException(
          FailureKind.INVALID_REQUEST,
          "A request that is queued has no invocation: its options are given to the driver.");
    }
    NewRun fresh = fresh(request);
    return access.enqueue(fresh, state -> requireSame(state, fresh.started().fingerprint()));
  }

  private <I> NewRun fresh(FlowRequest<I, ?> request) {
    Effects.requireAllowed("Another flow was begun", "Run it with ctx.child(...).");
    Flow<I, ?> flow = request.flow();
    RunPolicy policy = Flow.Builder.requireNoBudget(request.invocation().policy());
    NewRun fresh =
        new NewRun(
            new RunKey(request.scope(), request.runId().orElseGet(() -> RunIds.next(time))),
            time.now(),
            started(
                flow,
                flow.input().write(request.input()),
                request.idempotencyKey(),
                request.metadata(),
                request.parent(),
                FlowTimeout.recorded(policy.over(flow.policy()))));
    RunLog.requireFits(fresh.started());
    return fresh;
  }

  /** The first event of a run. */
  static RunStarted started(
      Flow<?, ?> flow,
      Json input,
      Optional<String> idempotencyKey,
      Map<String, String> metadata,
      Optional<String> parent,
      Optional<RunStarted.Life> life) {
    return RunStarted.ofFlow(
        flow.id(),
        flow.version(),
        Map.of("flow", Digest.of(flow.id()), "input", Digest.of(input.canonical())),
        idempotencyKey,
        input,
        metadata,
        flow.maxStateBytes() == RunState.DEFAULT_MAX_BYTES
            ? Optional.empty()
            : Optional.of(flow.maxStateBytes()),
        parent,
        life);
  }

  /**
   * Goes on with a run: after what it waited for, after a crash, or after a failure that can be
   * resumed. A run that has ended, or still waits, is returned as it is.
   *
   * @param flow the flow of the run
   * @param run the run
   * @param decisions decisions on pending approvals, all of them or some
   * @param <O> what the flow returns
   * @return how the run was left
   * @throws InvalidRequestException if there is no such run, or a decision names no request of it
   * @throws ConflictException if the run is one of another flow, or is quarantined
   */
  public <O> FlowResult<O> resume(Flow<?, O> flow, RunKey run, ApprovalDecision... decisions) {
    return resume(flow, run, List.of(decisions), Invocation.DEFAULT);
  }

  /**
   * How a run stands; nothing of it is driven.
   *
   * @param flow the flow of the run
   * @param run the run
   * @param <O> what the flow returns
   * @return how its log has it
   * @throws InvalidRequestException if there is no such run
   * @throws ConflictException if the run is one of another flow
   */
  public <O> FlowResult<O> result(Flow<?, O> flow, RunKey run) {
    RunSnapshot found = folds.load(run, patience());
    requireFlow(flow, found.state());
    return FlowResult.asItStands(flow, found);
  }

  /**
   * Finds the run that has the idempotency key of a request, as it stands; nothing of it is driven.
   *
   * @param request what was asked; its invocation does not matter
   * @param <O> what the flow returns
   * @return how its log has it; empty if no run has the key
   * @throws InvalidRequestException if the request has no key
   * @throws ConflictException if the key belongs to another flow or input
   */
  public <O> Optional<FlowResult<O>> find(FlowRequest<?, O> request) {
    String key =
        request
            .idempotencyKey()
            .orElseThrow(
                () ->
                    new InvalidRequestException(
                        FailureKind.INVALID_REQUEST,
                        "A run is found by the idempotency key of its request, which has none."));
    Map<String, String> fingerprint = fresh(request).started().fingerprint();
    return store
        .find(request.scope(), key, patience())
        .map(
            run -> {
              RunSnapshot found = folds.load(run, patience());
              requireSame(found.state(), fingerprint);
              return FlowResult.asItStands(request.flow(), found);
            });
  }

  private <O> FlowResult<O> resume(
      Flow<?, O> flow, RunKey run, List<ApprovalDecision> decisions, Invocation invocation) {
    Deadline deadline = deadline(invocation);
    RunSnapshot known = folds.load(run, deadline);
    requireFlow(flow, known.state());
    if (decisions.isEmpty() && !isToGoOn(known.state())) {
      return FlowResult.asItStands(flow, known); // taking it up would count as a vain attempt
    }
    Optional<Writer> owner = store.acquire(run, deadline);
    if (owner.isEmpty()) {
      return FlowResult.asItStands(flow, known);
    }
    return owned(
        flow,
        run,
        owner.get(),
        invocation,
        new CancelWatch(invocation.cancellation(), store, time),
        () -> reopened(known, owner.get(), deadline),
        decisions,
        deadline);
  }

  private RunLog reopened(RunSnapshot known, Writer owner, Deadline deadline) {
    return RunLog.open(store, folds.refresh(known, deadline), owner, time, deadline);
  }

  /** Drives a run that a worker has taken up. */
  void drive(Flow<?, ?> flow, DueRuns.Taken taken, Invocation invocation, Cancellation handBack) {
    CancelWatch cancel = new CancelWatch(invocation.cancellation(), store, time);
    cancel.handsBackOn(handBack);
    Deadline deadline = deadline(invocation);
    var _ =
        owned(
            flow,
            taken.run(),
            taken.owner(),
            invocation,
            cancel,
            () ->
                RunLog.open(
                    store, folds.load(taken.run(), deadline), taken.owner(), time, deadline),
            List.of(),
            deadline);
  }

  /** Works on an owned run and hands it back on every way out. */
  private <O> FlowResult<O> owned(
      Flow<?, O> flow,
      RunKey run,
      Writer owner,
      Invocation invocation,
      CancelWatch watch,
      Supplier<RunLog> opened,
      List<ApprovalDecision> decisions,
      Deadline deadline) {
    try (CancelWatch cancel = watch;
        Hold hold = new Hold(store, run, owner, time, cancel.isOfWorker(), this::tell)) {
      cancel.begins(run);
      RunLog log = opened.get();
      requireFlow(flow, log.state());
      hold.begins(log);
      log.handBackAtEnd();
      FlowShow show = new FlowShow(options.observer(), tasks);
      show.begins(log);
      long found = log.state().sequence();
      goOn(log, decisions, cancel.isOfWorker());
      show.look(log);
      RunStatus status = log.state().status();
      if (status == RunStatus.RUNNING || status == RunStatus.CANCEL_REQUESTED) {
        try {
          do { // again if what it was about to wait for was there before it could
            new FlowDriver<>(flow, log, show, this, invocation, deadline, cancel).drive();
          } while (log.state().status() == RunStatus.RUNNING);
        } finally {
          show.look(log);
        }
      }
      hold.ends();
      boolean driven = found == 1 || log.state().sequence() > found;
      RunSnapshot left = log.snapshot();
      folds.keep(left);
      return FlowResult.of(flow, left.state(), left.events(), driven);
    }
  }

  /** Writes the decisions and that the run goes on, if it does and has begun before. */
  private void goOn(RunLog log, List<ApprovalDecision> decisions, boolean ofWorker) {
    RunState state = log.state();
    if (state.sequence() == 1 && state.status() == RunStatus.RUNNING) {
      return; // it has just been created
    }
    Instant now = ofWorker ? later(time.now(), state.standing()) : time.now();
    List<RunEvent> events = Decisions.events(state, decisions, now, options.signer());
    causeToGoOn(state, !events.isEmpty(), now).map(RunResumed::new).ifPresent(events::add);
    if (!events.isEmpty()) {
      log.append(events);
    }
  }

  /** What the store has given as due is so, also where this process's clock is behind. */
  private static Instant later(Instant now, Standing standing) {
    return standing.due().filter(now::isBefore).orElse(now);
  }

  static void requireFlow(Flow<?, ?> flow, RunState state) {
    String recorded = state.started().drivenBy();
    if (!recorded.equals("flow:" + flow.id())) {
      throw conflict(
          "Run %s is bound to \"%s\" and cannot be resumed with \"flow:%s\"."
              .formatted(state.run(), recorded, flow.id()));
    }
  }

  private boolean isToGoOn(RunState state) {
    Instant now = time.now();
    boolean expired =
        state.pendingApprovals().stream().anyMatch(asked -> hasPassed(asked.expiresAt(), now));
    return causeToGoOn(state, expired, now).isPresent();
  }

  private static boolean hasPassed(Optional<Instant> end, Instant now) {
    return end.filter(passed -> !now.isBefore(passed)).isPresent();
  }

  private Optional<String> causeToGoOn(RunState state, boolean decided, Instant now) {
    return switch (state.status()) {
      case COMPLETED, CANCELLED, TIMED_OUT -> Optional.empty();
      case FAILED -> state.isTerminal() ? Optional.empty() : Optional.of("resumed after a failure");
      case QUEUED -> Optional.of("it was queued");
      case RUNNING -> Optional.of("its driver is gone");
      case CANCEL_REQUESTED -> Optional.of("its cancel was not carried out");
      case WAITING_APPROVAL ->
          decided || state.pendingApprovals().isEmpty() || isOver(state, now)
              ? Optional.of("an approval was decided")
              : Optional.empty();
      case WAITING ->
          isOver(state, now) ? Optional.of("what it waited for is there") : Optional.empty();
      case NEEDS_RECONCILIATION ->
          state.needingVerdicts().isEmpty() ? Optional.of("verdicts were given") : Optional.empty();
    };
  }

  /** Whether a time has come, or a signal, that the run waits for. */
  private boolean isOver(RunState state, Instant now) {
    return hasPassed(state.standing().due(), now)
        || store.signals(state.run(), patience()).stream()
            .anyMatch(signal -> state.standing().signals().contains(signal.name()))
        || state.children().stream().anyMatch(child -> letsGoOn(state, child));
  }

  /**
   * Whether a child run has ended, or is one of a flow that waits no more: it is driven in this.
   */
  private boolean letsGoOn(RunState parent, RunState.Child child) {
    RunKey run = new RunKey(parent.run().scope(), child.started().childRunId());
    Optional<RunSnapshot> found =
        child.finished().isPresent() ? Optional.empty() : folds.find(run, patience());
    if (found.isEmpty()) {
      return false;
    }
    RunState state = found.get().state();
    return state.isTerminal()
        || state.failure().isPresent()
        || (state.flow().isPresent() && state.status() != RunStatus.RUNNING && isToGoOn(state));
  }

  /**
   * What a {@link dev.warpwright.run.Worker} on the store drives runs of flows with.
   *
   * @param driven the flows, at least one, each with an id of its own
   * @return the driver
   * @throws InvalidRequestException if there is no flow, or two have the same id
   */
  public RunDriver driver(Flow<?, ?>... driven) {
    return new FlowRunDriver(this, driven);
  }

  /**
   * Tells a run something; see {@link FlowContext#awaitSignal}. It is kept until the flow awaits
   * it.
   *
   * @param run the run
   * @param name the signal's name
   * @param value what it brings: a value that is written as JSON
   * @param signalId makes it one and the same when it is sent again
   * @return false if the run has had a signal of that id already
   * @throws ConflictException if there is no such run, or it has ended
   */
  public boolean signal(RunKey run, String name, Object value, String signalId) {
    Json json = JsonType.toJson(value, MethodHandles.publicLookup());
    return store.signal(run, new Signal(signalId, name, json, time.now()), patience());
  }

  /**
   * Checks whether a flow's code fits what a run has recorded: runs the body against the log, as
   * far as that goes. No step is run and nothing is written; the ends of child runs are read from
   * the store. For tests that keep logs of earlier versions, or of runs under way, before a change
   * goes live.
   *
   * @param flow the flow as it is now
   * @param log all events of a run of it, as {@link dev.warpwright.run.Runs#log} gives them
   * @return the first place where the code differs from the log; empty if it fits
   * @throws InvalidRequestException if the log breaks a rule
   * @throws ConflictException if it is the log of a run of another flow
   */
  public Optional<NonDeterminismException> check(Flow<?, ?> flow, List<LoggedEvent> log) {
    requireFlow(flow, RunState.of(log));
    return new FlowCheck<>(flow, log, this).firstDivergence();
  }

  RunStore store() {
    return store;
  }

  RunAccess access() {
    return access;
  }

  TaskTree tasks() {
    return tasks;
  }

  Optional<ApprovalSigner> signer() {
    return options.signer();
  }

  Optional<Agents> agents() {
    return agents;
  }

  private Deadline deadline(Invocation invocation) {
    return invocation.timeout().map(limit -> Deadline.after(time, limit)).orElse(Deadline.never());
  }

  private Deadline patience() {
    return Deadline.after(time, PATIENCE);
  }

  private static ConflictException conflict(String message) {
    return new ConflictException(message, null, OperationTrace.NONE);
  }
}
