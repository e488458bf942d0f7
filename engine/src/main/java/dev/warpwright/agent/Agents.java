package dev.warpwright.agent;

import dev.warpwright.Gateway;
import dev.warpwright.GenerateRequest;
import dev.warpwright.ObjectRequest;
import dev.warpwright.Operation;
import dev.warpwright.drive.CancelWatch;
import dev.warpwright.drive.FoldCache;
import dev.warpwright.drive.Hold;
import dev.warpwright.drive.RunAccess;
import dev.warpwright.model.Capability;
import dev.warpwright.model.ConflictException;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.LimitExceededException;
import dev.warpwright.model.Message;
import dev.warpwright.model.OperationCancelledException;
import dev.warpwright.model.OperationTrace;
import dev.warpwright.model.PortableHistory;
import dev.warpwright.model.Redaction;
import dev.warpwright.run.ApprovalDecision;
import dev.warpwright.run.ApprovalSigner;
import dev.warpwright.run.CallState;
import dev.warpwright.run.DecisionNeeded;
import dev.warpwright.run.DueRuns;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.NewRun;
import dev.warpwright.run.RunBinding;
import dev.warpwright.run.RunDriver;
import dev.warpwright.run.RunEvent;
import dev.warpwright.run.RunEvent.ChildStarted;
import dev.warpwright.run.RunEvent.RunResumed;
import dev.warpwright.run.RunEvent.RunStarted;
import dev.warpwright.run.RunEventCodec;
import dev.warpwright.run.RunIds;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunLog;
import dev.warpwright.run.RunSnapshot;
import dev.warpwright.run.RunState;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.Runs;
import dev.warpwright.run.Standing;
import dev.warpwright.run.Writer;
import dev.warpwright.task.Cancellation;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.Feed;
import dev.warpwright.task.TaskTree;
import dev.warpwright.task.TimeSource;
import dev.warpwright.tool.Tool;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Runs agents as durable runs: every model answer, tool intent, tool outcome and approval is in a
 * log before the next thing happens, so that a run can be resumed after a crash at any point.
 *
 * {@snippet :
 * Agents agents = Agents.on(gateway, store);
 * AgentResult result =
 *     agents.run(AgentRequest.builder(agent, ticket.text()).idempotencyKey(ticket.id()).build());
 * }
 *
 * <p>Thread-safe; methods block and may be called from any thread. An interrupt of the calling
 * thread ends the invocation, not the run. Closing the gateway and the store is left to whoever
 * made them.
 */
public final class Agents {
  private static final String NAME = "agent"; // of its operations
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final Duration LISTENER_TIMEOUT = Duration.ofSeconds(10);

  private final Gateway gateway;
  private final RunStore store;
  private final TimeSource time;
  private final Approvals approvals;
  private final RunAccess access;
  private final FoldCache folds;
  private final ChildRuns children;
  private final Optional<Consumer<DecisionNeeded>> onDecisionNeeded;
  private final Optional<AgentObserver> observer;
  private final HookFailurePolicy hookFailures;

  private Agents(Builder builder) {
    this.gateway = builder.gateway;
    this.store = Objects.requireNonNullElseGet(builder.store, RunStore::inMemory);
    this.time = gateway.time();
    this.approvals = new Approvals(time, Optional.ofNullable(builder.approvalSigner));
    this.access = new RunAccess(store, gateway.tasks());
    this.folds = new FoldCache(store, builder.foldCacheBytes);
    this.children = new ChildRuns(this, folds, time, approvals);
    this.onDecisionNeeded = Optional.ofNullable(builder.onDecisionNeeded);
    this.observer = Optional.ofNullable(builder.observer);
    this.hookFailures = builder.hookFailures;
  }

  /**
   * Agents whose models are behind a gateway and whose runs are in a store.
   *
   * @param gateway routes the model calls
   * @param store keeps the logs
   * @return the agents
   */
  public static Agents on(Gateway gateway, RunStore store) {
    return builder(gateway).store(store).build();
  }

  /**
   * Begins agents with options.
   *
   * @param gateway routes the model calls
   * @return a builder
   */
  public static Builder builder(Gateway gateway) {
    return new Builder(gateway);
  }

  /** Collects the options of agents; not thread-safe. */
  public static final class Builder {
    private final Gateway gateway;
    private @Nullable RunStore store;
    private @Nullable ApprovalSigner approvalSigner;
    private @Nullable Consumer<DecisionNeeded> onDecisionNeeded;
    private @Nullable AgentObserver observer;
    private HookFailurePolicy hookFailures = HookFailurePolicy.IGNORE;
    private long foldCacheBytes = FoldCache.DEFAULT_MAX_BYTES;

    private Builder(Gateway gateway) {
      this.gateway = Objects.requireNonNull(gateway, "gateway");
    }

    /**
     * Says where the logs are kept. Without a store they are in memory, as long as these agents
     * are; a waiting run is then carried elsewhere by its log, see {@link Agents#resume(Agent,
     * List, ApprovalDecision...)}.
     *
     * @param store keeps the logs
     * @return this builder
     */
    public Builder store(RunStore store) {
      this.store = Objects.requireNonNull(store, "store");
      return this;
    }

    /**
     * Signs requests for approval and the decisions on them. An approval whose signature is missing
     * or does not match is refused and its tool does not run; so is one that was asked for before
     * there was a signer.
     *
     * @param signer none by default
     * @return this builder
     */
    public Builder approvalSigner(ApprovalSigner signer) {
      this.approvalSigner = Objects.requireNonNull(signer, "signer");
      return this;
    }

    /**
     * Tells a listener when a run begins to need a person, for example to send a message. Best
     * effort: a listener runs on a thread of its own after the run was handed back, for at most 10
     * s, and the run knows nothing of it; what it throws is counted by {@link
     * TaskTree#detachedFailures()}. What was not told, as when the process died, is listed by
     * {@link Runs#waiting} and {@link Runs#inDoubt}.
     *
     * @param listener none by default
     * @return this builder
     */
    public Builder onDecisionNeeded(Consumer<DecisionNeeded> listener) {
      this.onDecisionNeeded = Objects.requireNonNull(listener, "listener");
      return this;
    }

    /**
     * Sets who is told what every invocation does.
     *
     * @param observer none by default
     * @return this builder
     */
    public Builder observer(AgentObserver observer) {
      this.observer = Objects.requireNonNull(observer, "observer");
      return this;
    }

    /**
     * Says what it means for a run that a hook of the program fails.
     *
     * @param policy {@link HookFailurePolicy#IGNORE} by default
     * @return this builder
     */
    public Builder hookFailures(HookFailurePolicy policy) {
      this.hookFailures = Objects.requireNonNull(policy, "policy");
      return this;
    }

    /**
     * Sets how much memory these agents take to keep runs as they left them, if they have not
     * ended: the next invocation of a run that is kept loads only what is new since then. It
     * changes no result. The runs that were not used for the longest time give way to others.
     *
     * @param maxBytes 0 or more, an estimate; 32 MiB by default. 0 keeps nothing, so that each
     *     invocation loads the whole log of its run
     * @return this builder
     */
    public Builder foldCache(long maxBytes) {
      this.foldCacheBytes = maxBytes;
      return this;
    }

    /**
     * Makes the agents.
     *
     * @return the agents
     * @throws InvalidRequestException if {@link #foldCache} is negative
     */
    public Agents build() {
      return new Agents(this);
    }
  }

  /**
   * Where the logs are kept.
   *
   * @return the store
   */
  public RunStore store() {
    return store;
  }

  /**
   * Runs an agent as the child run of another run, which has begun it in its own log: starts it or,
   * if it is there, joins it as {@link #run} does. What a flow does with its agents.
   *
   * @param parent the run that waits for it
   * @param begun how the child began in the parent's log
   * @param agent the agent
   * @param prompt what it is asked
   * @param metadata of the run
   * @param around the options of the parent's invocation, of which the child has what concerns it
   * @return how it was left
   */
  public AgentResult runChild(
      RunKey parent,
      ChildStarted begun,
      Agent agent,
      String prompt,
      Map<String, String> metadata,
      Invocation around) {
    return run(
        AgentRequest.builder(agent, prompt)
            .metadata(metadata)
            .invocation(around.ofChild(agent))
            .scope(parent.scope())
            .runId(begun.childRunId())
            .idempotencyKey("child:" + begun.childRunId())
            .childOf(parent.runId())
            .build());
  }

  /**
   * The runs of the store.
   *
   * @return the operator's view, with the gateway's clock and the signer of these agents
   */
  public Runs runs() {
    Runs runs = Runs.in(store, time);
    return approvals.signer().map(runs::signedBy).orElse(runs);
  }

  /**
   * The tree of tasks that runs are part of.
   *
   * @return the gateway's tree
   */
  public TaskTree tasks() {
    return gateway.tasks();
  }

  /**
   * Starts a run and drives it until it ends or waits. Under an idempotency key that belongs to a
   * run already, it gives that run's result: of a run that is being driven in this process the
   * result when it is there, of an ended or waiting run the result as it stands; a run that was
   * left behind by a crash or failed resumably is driven on.
   *
   * @param request what is asked
   * @return how it was left: every outcome that is in the log, failures too
   * @throws InvalidRequestException if the request breaks a rule; there is no run
   * @throws ConflictException if the key belongs to another request, or the run id exists
   * @throws LimitExceededException if what is asked is larger than the state of the run may be;
   *     there is no run
   * @throws OperationCancelledException if the caller cancelled the invocation or its thread was
   *     interrupted; the trace names the run, if there is one by then, which can be resumed
   */
  public AgentResult run(AgentRequest request) {
    return call(request.agent(), request.begun(), request.invocation(), () -> starting(request));
  }

  /**
   * Starts a run and shows it while it is driven: the same as {@link #run}, with targets that can
   * stream.
   *
   * <p>A bad request is refused here, before there is a thread or a run. What the store has to be
   * asked for, and every later failure, is thrown by the stream.
   *
   * @param request what is asked
   * @return the stream, whose work has begun; the caller closes it
   * @throws InvalidRequestException if the request breaks a rule or a limit of the gateway, or that
   *     is closed
   * @throws LimitExceededException if what is asked is larger than the state of the run may be
   * @throws OperationCancelledException if the invocation's handle is cancelled already
   */
  public AgentStream stream(AgentRequest request) {
    return stream(request.agent(), request.begun(), request.invocation(), () -> starting(request));
  }

  /** What a request comes to; checks it. */
  private Work starting(AgentRequest request) {
    Map<String, String> fingerprint = Fingerprint.of(request);
    NewRun checked = checked(request, fingerprint);
    Joining joining =
        new Joining(
            (state, operation) -> requireSame(state, fingerprint, operation.trace()),
            state -> List.of());
    return live -> start(live, new NewRun(checked.run(), time.now(), checked.started()), joining);
  }

  private NewRun checked(AgentRequest request, Map<String, String> fingerprint) {
    boolean imported = isImport(request);
    RunKey run = new RunKey(request.scope(), request.runId().orElseGet(() -> RunIds.next(time)));
    RunStarted started = started(request, fingerprint, imported);
    RunLog.requireFits(started);
    return new NewRun(run, time.now(), started);
  }

  /**
   * Finds the run that has the idempotency key of a request, as it stands; nothing of it is driven.
   *
   * @param request what was asked; its invocation does not matter
   * @return how its log has it; empty if no run has the key
   * @throws InvalidRequestException if the request has no key
   * @throws ConflictException if the key belongs to another request
   */
  public Optional<AgentResult> find(AgentRequest request) {
    String key =
        request
            .idempotencyKey()
            .orElseThrow(
                () ->
                    new InvalidRequestException(
                        FailureKind.INVALID_REQUEST,
                        "A run is found by the idempotency key of its request, which has none."));
    Map<String, String> fingerprint = Fingerprint.of(request);
    Deadline deadline = Deadline.after(time, PATIENCE);
    return store
        .find(request.scope(), key, deadline)
        .map(
            run -> {
              RunSnapshot found = folds.load(run, deadline);
              requireSame(found.state(), fingerprint, OperationTrace.NONE);
              return asItStands(found).of(request.agent());
            });
  }

  /**
   * How a run stands; nothing of it is driven.
   *
   * @param agent the agent of the run
   * @param run the run
   * @return how its log has it
   * @throws InvalidRequestException if there is no such run, or it is one of another agent
   */
  public AgentResult result(Agent agent, RunKey run) {
    return folds
        .find(run, Deadline.after(time, PATIENCE))
        .filter(found -> found.state().started().drivenBy().equals(agent.id()))
        .map(found -> asItStands(found).of(agent))
        .orElseThrow(
            () ->
                new InvalidRequestException(
                    FailureKind.INVALID_REQUEST,
                    "There is no run %s of agent \"%s\" in this scope."
                        .formatted(run, agent.id())));
  }

  /**
   * Queues a run: whoever drives its agent, a {@link dev.warpwright.run.Worker} of any process on
   * the store or a caller that asks under the same key, begins it. Returns as soon as that is
   * durable; {@link Runs#state} tells how far the run is.
   *
   * <p>Under an idempotency key that belongs to the same request already this gives that run,
   * whatever became of it, and queues nothing.
   *
   * @param request what is asked; its invocation must be {@link Invocation#DEFAULT}, since the
   *     options of who drives the run count, see {@link #driver(Invocation, Agent...)}
   * @return the run
   * @throws InvalidRequestException if the request breaks a rule; nothing was queued
   * @throws ConflictException if the key belongs to another request, or the run id exists
   * @throws LimitExceededException if what is asked is larger than the state of the run may be
   */
  public RunKey enqueue(AgentRequest request) {
    if (request.invocation() != Invocation.DEFAULT) {
      throw new InvalidRequestException(
          FailureKind.INVALID_REQUEST,
          "A request that is queued has no invocation: its options are given to the driver.");
    }
    Map<String, String> fingerprint = Fingerprint.of(request);
    NewRun queued = checked(request, fingerprint);
    return access.enqueue(queued, state -> requireSame(state, fingerprint, OperationTrace.NONE));
  }

  /**
   * What a {@link dev.warpwright.run.Worker} drives runs of agents with; see {@link
   * #driver(Invocation, Agent...)}.
   *
   * @param driven the agents, at least one, each with an id of its own
   * @return the driver
   * @throws InvalidRequestException if there is no agent, or two have the same id
   */
  public RunDriver driver(Agent... driven) {
    return driver(Invocation.DEFAULT, driven);
  }

  /**
   * What a {@link dev.warpwright.run.Worker} on the store of these agents drives runs with. Each
   * run that it takes up goes on like one that is {@linkplain #resume(Agent, RunKey,
   * ApprovalDecision...) resumed}; one that is bound to other targets than its agent has now is
   * refused.
   *
   * @param invocation the options of each invocation
   * @param driven the agents, at least one, each with an id of its own
   * @return the driver
   * @throws InvalidRequestException if there is no agent, or two have the same id
   */
  public RunDriver driver(Invocation invocation, Agent... driven) {
    return new AgentRunDriver(this, invocation, driven);
  }

  /** Drives a run that a worker has taken up. */
  void drive(Agent agent, DueRuns.Taken taken, Invocation invocation, Cancellation handBack) {
    CancelWatch cancel = new CancelWatch(invocation.cancellation(), store, time);
    cancel.handsBackOn(handBack);
    var _ =
        call(
            agent,
            List.of(),
            invocation,
            cancel,
            () ->
                live ->
                    resumeOwned(
                        live,
                        taken.run(),
                        taken.owner(),
                        until -> folds.load(taken.run(), until),
                        state -> List.of()));
  }

  /**
   * Starts a child run, or joins it if it exists, in the operation of its parent: waits for whoever
   * drives it, drives it on if it was left, and gives it the decisions that it waits for.
   *
   * @param parent the parent's invocation
   * @param request what the child is asked, under a run id and an idempotency key
   * @param decisions what was decided on the approvals that it waits for
   * @return how it was left
   */
  AgentResult child(
      LiveInvocation parent,
      AgentRequest request,
      Function<RunState, List<ApprovalDecision>> decisions) {
    RunStarted started = started(request, Fingerprint.of(request), false);
    RunLog.requireFits(started);
    RunKey run = new RunKey(request.scope(), request.runId().orElseThrow());
    Agent agent = request.agent();
    Invocation invocation = request.invocation();
    Joining joining =
        new Joining(
            (state, operation) ->
                Bindings.require(
                    agent, state.run(), state.started(), invocation.allowsUnboundRun()),
            decisions);
    invocation.requireContextOf(agent);
    RunLimits limits = new RunLimits(agent, invocation, time);
    Hooks hooks = hooks(agent);
    return hooks.around(
        () -> {
          try (CancelWatch cancel = new CancelWatch(invocation.cancellation(), store, time);
              Operation operation =
                  open(
                      agent,
                      modelRequest(agent, request.begun(), limits, invocation, cancel),
                      parent.operation())) {
            hooks.invocationStarts();
            limits.requireCheckable(operation);
            AgentShow show = AgentShow.blocking(operation, hooks);
            return start(
                live(agent, invocation, true, operation, limits, cancel, show, hooks),
                new NewRun(run, time.now(), started),
                joining);
          }
        });
  }

  /**
   * How somebody joins a run that exists.
   *
   * @param check refuses a run that is another one than was asked for
   * @param decisions what was decided on the approvals that it waits for
   */
  private record Joining(
      BiConsumer<RunState, Operation> check,
      Function<RunState, List<ApprovalDecision>> decisions) {}

  private AgentResult start(LiveInvocation live, NewRun fresh, Joining joining) {
    Deadline deadline = live.operation().deadline();
    return switch (store.create(fresh, deadline)) {
      case RunStore.Claim.Won(Writer owner) ->
          owned(
              live,
              fresh.run(),
              owner,
              hold -> {
                RunLog log = RunLog.created(store, fresh, owner, time, deadline);
                live.show().begins(log, 0);
                hold.begins(log);
                return drive(live, log, hold);
              });
      case RunStore.Claim.Taken(RunKey taken) -> attach(live, taken, joining);
    };
  }

  /**
   * Goes on with a run: after decisions on its approvals, after a crash, or after a failure that
   * can be resumed. An ended run is returned as it is, and so is one that still waits for something
   * or, without decisions, one that somebody else drives.
   *
   * @param agent the agent of the run, as it was when the run started
   * @param run the run
   * @param decisions decisions on pending approvals, all of them or some
   * @return how the run was left
   * @throws InvalidRequestException if there is no such run, a decision names no request of it, or
   *     an approval no longer matches its call or its signature; nothing was applied
   * @throws ConflictException if there are decisions and somebody else drives the run, a decision
   *     was made already, or the run is bound to another agent or other targets
   */
  public AgentResult resume(Agent agent, RunKey run, ApprovalDecision... decisions) {
    return resume(agent, run, List.of(decisions), Invocation.DEFAULT);
  }

  /**
   * Goes on with a run, with options; see {@link #resume(Agent, RunKey, ApprovalDecision...)}.
   *
   * @param agent the agent of the run
   * @param run the run
   * @param decisions decisions on pending approvals
   * @param invocation what belongs to this invocation and not to the run
   * @return how the run was left
   */
  public AgentResult resume(
      Agent agent, RunKey run, List<ApprovalDecision> decisions, Invocation invocation) {
    return call(agent, List.of(), invocation, () -> resuming(run, decisions, invocation));
  }

  /**
   * Goes on with a run and shows it while it is driven: the same as {@link #resume(Agent, RunKey,
   * ApprovalDecision...)}, whether the run was streamed before or not. What the store has to be
   * asked for, such as whether there is the run, is thrown by the stream.
   *
   * @param agent the agent of the run, as it was when the run started
   * @param run the run
   * @param decisions decisions on pending approvals, all of them or some
   * @return the stream, whose work has begun; the caller closes it
   * @throws InvalidRequestException if the agent breaks a limit of the gateway, or that is closed
   */
  public AgentStream stream(Agent agent, RunKey run, ApprovalDecision... decisions) {
    return stream(agent, run, List.of(decisions), Invocation.DEFAULT);
  }

  /**
   * Goes on with a run and shows it, with options; see {@link #stream(Agent, RunKey,
   * ApprovalDecision...)}.
   *
   * @param agent the agent of the run
   * @param run the run
   * @param decisions decisions on pending approvals
   * @param invocation what belongs to this invocation and not to the run
   * @return the stream, whose work has begun; the caller closes it
   */
  public AgentStream stream(
      Agent agent, RunKey run, List<ApprovalDecision> decisions, Invocation invocation) {
    return stream(agent, List.of(), invocation, () -> resuming(run, decisions, invocation));
  }

  private Work resuming(RunKey run, List<ApprovalDecision> decisions, Invocation invocation) {
    requireNotCancelled(invocation, run);
    List<ApprovalDecision> made = List.copyOf(decisions);
    return live -> resume(live, folds.load(run, live.operation().deadline()), false, made);
  }

  /**
   * Goes on with a run whose log is handed in: from {@link AgentResult#log()} or an export, perhaps
   * of another process with another store or none. The log is checked like one that is loaded and
   * taken into the store; then this is {@link #resume(Agent, RunKey, ApprovalDecision...)}.
   *
   * <p>Whoever hands in a log says that nobody else drives the run: two stores that have the same
   * waiting run do not know of each other, and each would run its tools.
   *
   * @param agent the agent of the run, as it was when the run started
   * @param log all events of the run
   * @param decisions decisions on pending approvals, all of them or some
   * @return how the run was left
   * @throws InvalidRequestException if the log is not whole or breaks a rule, a decision names no
   *     request of it, or an approval no longer matches its call or its signature; nothing was
   *     stored
   * @throws ConflictException if the store has the run with another log, or as {@link
   *     #resume(Agent, RunKey, ApprovalDecision...)}
   */
  public AgentResult resume(Agent agent, List<LoggedEvent> log, ApprovalDecision... decisions) {
    return resume(agent, log, List.of(decisions), Invocation.DEFAULT);
  }

  /**
   * Goes on with a run whose log is handed in, with options; see {@link #resume(Agent, List,
   * ApprovalDecision...)}.
   *
   * @param agent the agent of the run
   * @param log all events of the run
   * @param decisions decisions on pending approvals
   * @param invocation what belongs to this invocation and not to the run
   * @return how the run was left
   */
  public AgentResult resume(
      Agent agent, List<LoggedEvent> log, List<ApprovalDecision> decisions, Invocation invocation) {
    return call(agent, List.of(), invocation, () -> resuming(agent, log, decisions, invocation));
  }

  /**
   * Goes on with a run whose log is handed in and shows it while it is driven: the same as {@link
   * #resume(Agent, List, ApprovalDecision...)}. The log is checked here; what the store has to be
   * asked for is thrown by the stream.
   *
   * @param agent the agent of the run, as it was when the run started
   * @param log all events of the run
   * @param decisions decisions on pending approvals, all of them or some
   * @return the stream, whose work has begun; the caller closes it
   * @throws InvalidRequestException if the log is not whole or breaks a rule
   * @throws ConflictException if the run is bound to another agent or other targets
   */
  public AgentStream stream(Agent agent, List<LoggedEvent> log, ApprovalDecision... decisions) {
    return stream(agent, log, List.of(decisions), Invocation.DEFAULT);
  }

  /**
   * Goes on with a run whose log is handed in and shows it, with options; see {@link #stream(Agent,
   * List, ApprovalDecision...)}.
   *
   * @param agent the agent of the run
   * @param log all events of the run
   * @param decisions decisions on pending approvals
   * @param invocation what belongs to this invocation and not to the run
   * @return the stream, whose work has begun; the caller closes it
   */
  public AgentStream stream(
      Agent agent, List<LoggedEvent> log, List<ApprovalDecision> decisions, Invocation invocation) {
    return stream(agent, List.of(), invocation, () -> resuming(agent, log, decisions, invocation));
  }

  private Work resuming(
      Agent agent, List<LoggedEvent> log, List<ApprovalDecision> decisions, Invocation invocation) {
    RunSnapshot whole = RunSnapshot.of(log);
    RunState state = whole.state();
    Bindings.require(agent, state.run(), state.started(), invocation.allowsUnboundRun());
    requireNotCancelled(invocation, state.run());
    List<ApprovalDecision> made = List.copyOf(decisions);
    return live -> {
      takeIn(agent, whole, made, live.operation());
      return resume(live, whole, true, made);
    };
  }

  /** What an invocation does in its operation, whether anybody watches or not. */
  private interface Work {
    AgentResult in(LiveInvocation live);
  }

  /** Works on the calling thread. */
  private AgentResult call(
      Agent agent, List<Message> begun, Invocation invocation, Supplier<Work> asked) {
    return call(
        agent, begun, invocation, new CancelWatch(invocation.cancellation(), store, time), asked);
  }

  private AgentResult call(
      Agent agent,
      List<Message> begun,
      Invocation invocation,
      CancelWatch watch,
      Supplier<Work> asked) {
    Hooks hooks = hooks(agent);
    return hooks.around(
        () -> {
          try (CancelWatch cancel = watch) {
            hooks.invocationStarts();
            return work(agent, begun, invocation, cancel, asked.get(), hooks);
          }
        });
  }

  private AgentResult work(
      Agent agent,
      List<Message> begun,
      Invocation invocation,
      CancelWatch cancel,
      Work work,
      Hooks hooks) {
    invocation.requireContextOf(agent);
    RunLimits limits = new RunLimits(agent, invocation, time);
    try (Operation operation =
        open(agent, modelRequest(agent, begun, limits, invocation, cancel))) {
      requireNotInterrupted(operation);
      limits.requireCheckable(operation);
      AgentShow show = AgentShow.blocking(operation, hooks);
      return work.in(live(agent, invocation, false, operation, limits, cancel, show, hooks))
          .of(agent);
    }
  }

  private Operation open(Agent agent, GenerateRequest request) {
    return agent
        .asked()
        .map(object -> gateway.open(NAME, object.withRequest(request)))
        .orElseGet(() -> gateway.open(NAME, request));
  }

  private Operation open(Agent agent, GenerateRequest request, Operation around) {
    return agent
        .asked()
        .map(object -> gateway.open(NAME, object.withRequest(request), around))
        .orElseGet(() -> gateway.open(NAME, request, around));
  }

  private LiveInvocation live(
      Agent agent,
      Invocation invocation,
      boolean child,
      Operation operation,
      RunLimits limits,
      CancelWatch cancel,
      AgentShow show,
      Hooks hooks) {
    Optional<ContextCompaction> compaction =
        agent
            .compaction()
            .filter(options -> invocation.compacts())
            .map(options -> new ContextCompaction(options, operation, invocation.budgetScope()));
    EnvironmentHold environment = new EnvironmentHold(agent, hooks, tasks());
    return new LiveInvocation(
        agent, invocation, child, operation, limits, compaction, cancel, show, hooks, environment);
  }

  private Hooks hooks(Agent agent) {
    return new Hooks(agent, observer, hookFailures, gateway);
  }

  /** Works on a thread of its own. */
  private AgentStream stream(
      Agent agent, List<Message> begun, Invocation invocation, Supplier<Work> asked) {
    Hooks hooks = hooks(agent);
    try {
      hooks.invocationStarts();
      return stream(agent, begun, invocation, asked.get(), hooks);
    } catch (RuntimeException | Error e) {
      hooks.failed(e);
      throw e;
    }
  }

  private AgentStream stream(
      Agent agent, List<Message> begun, Invocation invocation, Work work, Hooks hooks) {
    invocation.requireContextOf(agent);
    Feed<AgentEvent, AgentResult> feed = gateway.feed(AgentEvent::weight);
    AtomicReference<@Nullable RunState> left = new AtomicReference<>();
    RunLimits limits = new RunLimits(agent, invocation, time);
    CancelWatch cancel = new CancelWatch(invocation.cancellation(), store, time);
    try {
      GenerateRequest request = modelRequest(agent, begun, limits, invocation, cancel);
      Function<Operation, AgentResult> loop =
          opened ->
              hooks.around(
                  () -> {
                    try (cancel;
                        Operation operation = opened) {
                      limits.requireCheckable(operation);
                      Feed.Writer<AgentEvent> reader = feed.writer(Function.identity());
                      AgentShow show = AgentShow.to(operation, hooks, reader, left::set);
                      return work.in(
                              live(
                                  agent, invocation, false, operation, limits, cancel, show, hooks))
                          .of(agent);
                    }
                  });
      if (agent.asked().isPresent()) {
        ObjectRequest<?> object = agent.asked().get().withRequest(request);
        gateway.stream(NAME, object, feed, AgentEvent.Output::new, loop);
      } else {
        gateway.stream(NAME, request, feed, AgentEvent.Output::new, loop);
      }
    } catch (RuntimeException | Error e) {
      cancel.close();
      throw e;
    }
    return new AgentStream(feed, left);
  }

  /** Makes sure that the store has exactly this log; one that cannot go on so is not taken in. */
  private void takeIn(
      Agent agent, RunSnapshot handedIn, List<ApprovalDecision> decisions, Operation operation) {
    RunState state = handedIn.state();
    List<LoggedEvent> log = handedIn.events();
    List<LoggedEvent> stored = store.load(state.run(), 1, operation.deadline());
    if (stored.isEmpty()) {
      children.requireThere(state, operation.deadline());
      var _ =
          operation.judge(
              state.step(), false, () -> whatToWrite(agent, state, decisions, time.now()));
      folds.forget(state.run());
      store.adopt(log, state.standing(), operation.deadline());
    } else if (!RunEventCodec.isSame(stored, log)) {
      throw differs(state.run(), operation);
    }
  }

  private static ConflictException differs(RunKey run, Operation operation) {
    return new ConflictException(
        "The store has run " + run + " with another log than the one that was handed in.",
        null,
        operation.trace());
  }

  /**
   * Takes a run up if nobody drives it.
   *
   * @param known the run as it was just now; that of another agent is refused here, before the
   *     store counts that the run was taken up
   * @param whole whether the caller says that this is all of it
   */
  private AgentResult resume(
      LiveInvocation live, RunSnapshot known, boolean whole, List<ApprovalDecision> decisions) {
    Operation operation = live.operation();
    RunState state = known.state();
    RunKey run = state.run();
    Bindings.require(live.agent(), run, state.started(), live.mayBeUnbound());
    if (decisions.isEmpty()
        && approvals.decided(state, List.of(), time.now()).isEmpty()
        && causeToGoOn(live.agent(), state, approvals.areDecided(state)).isEmpty()) {
      return asItStands(known); // to take it up without going on would count as a vain attempt
    }
    Optional<Writer> owner = store.acquire(run, operation.deadline());
    if (owner.isPresent()) {
      return resumeOwned(
          live,
          run,
          owner.get(),
          until -> {
            RunSnapshot now = folds.refresh(known, until);
            if (whole && now != known) {
              throw differs(run, operation);
            }
            return now;
          },
          then -> decisions);
    }
    if (decisions.isEmpty()) {
      return asItStands(folds.refresh(known, operation.deadline()));
    }
    throw new ConflictException(
        "Run " + run + " is being driven elsewhere; decide again when it is not.",
        null,
        operation.trace());
  }

  /**
   * Whether a request brings tool calls of a conversation elsewhere.
   *
   * @throws InvalidRequestException if it does, and they break a rule or may not come with what
   *     else it asks for
   */
  private static boolean isImport(AgentRequest request) {
    boolean imported = PortableHistory.of(request.begun()).hasTools();
    if (imported) {
      refuseInImport("a runId", request.runId());
      refuseInImport("an idempotencyKey", request.idempotencyKey());
    }
    return imported;
  }

  private static void refuseInImport(String what, Optional<String> chosen) {
    if (chosen.isPresent()) {
      throw new InvalidRequestException(
          FailureKind.INVALID_REQUEST,
          "A run that begins with tool calls of an earlier conversation (an import) takes messages"
              + " only, but has "
              + what
              + ".");
    }
  }

  /** What is asked of the gateway; of a run that is taken up, its log has the messages. */
  private static GenerateRequest modelRequest(
      Agent agent,
      List<Message> begun,
      RunLimits limits,
      Invocation invocation,
      CancelWatch cancel) {
    GenerateRequest.Builder request =
        GenerateRequest.builder(agent.route(), begun)
            .tools(agent.tools().tools())
            .toolExecution(agent.toolExecution())
            .maxSteps(agent.maxSteps())
            .cancellation(cancel.handle())
            .requiredCapabilities(agent.requiredCapabilities().toArray(Capability[]::new));
    agent.temperature().ifPresent(request::temperature);
    agent.maxTokens().ifPresent(request::maxTokens);
    agent.reasoning().ifPresent(request::reasoning);
    agent.providerOptions().forEach(request::providerOptions);
    limits.timeout().ifPresent(request::timeout);
    invocation.budgetScope().ifPresent(request::budgetScope);
    return request.build();
  }

  /** The gateway refuses too, but does not know the run. */
  private static void requireNotCancelled(Invocation invocation, RunKey run) {
    invocation
        .cancellation()
        .flatMap(Cancellation::reason)
        .ifPresent(
            reason -> {
              throw new OperationCancelledException(
                  "The invocation was cancelled before it began: " + Redaction.redact(reason),
                  null,
                  OperationTrace.NONE.ofRun(run.runId()));
            });
  }

  private static void requireNotInterrupted(Operation operation) {
    if (Thread.currentThread().isInterrupted()) {
      throw new OperationCancelledException(
          "The calling thread was interrupted before the run began.", null, operation.trace());
    }
  }

  private static RunStarted started(
      AgentRequest request, Map<String, String> fingerprint, boolean imported) {
    Agent agent = request.agent();
    List<Message> messages = new ArrayList<>();
    agent.instructions().map(Message::system).ifPresent(messages::add);
    messages.addAll(request.begun());
    return new RunStarted(
        agent.id(),
        agent.version(),
        fingerprint,
        request.idempotencyKey(),
        messages,
        agent.maxSteps(),
        agent.route().candidates(),
        request.metadata(),
        agent.maxStateBytes() == RunState.DEFAULT_MAX_BYTES
            ? Optional.empty()
            : Optional.of(agent.maxStateBytes()),
        imported,
        Optional.of(agent.binding()).filter(binding -> !binding.equals(RunBinding.NONE)),
        Optional.empty(),
        request.parent(),
        request.handoff().map(Handoff::recorded));
  }

  /** Work on an owned run. */
  private interface OwnedWork {
    AgentResult run(Hold hold);
  }

  /**
   * Works on a run and hands it back on every way out, after the operation: the next driver must
   * not ask about, or repeat, what a tool of this one is still doing.
   */
  private AgentResult owned(LiveInvocation live, RunKey run, Writer owner, OwnedWork work) {
    Operation operation = live.operation();
    EnvironmentHold environment = live.environment();
    AgentResult result;
    boolean ofWorker = live.cancel().isOfWorker();
    try (Hold hold = new Hold(store, run, owner, time, ofWorker, needed -> tell(live, needed));
        environment;
        operation) {
      live.cancel().begins(run);
      result = work.run(hold);
      hold.ends();
    }
    return result.driven() ? result.ran(operation.tasks()) : result;
  }

  /** Tells the listener, on a thread of its own, of what is to be decided in this run itself. */
  private void tell(LiveInvocation live, DecisionNeeded needed) {
    boolean inChild = needed.status() == RunStatus.WAITING;
    boolean inParent = live.child() && needed.status() == RunStatus.WAITING_APPROVAL;
    if (inChild || inParent) {
      return;
    }
    onDecisionNeeded.ifPresent(
        listener ->
            tasks()
                .detach(
                    "listener",
                    "decision needed by " + needed.run(),
                    LISTENER_TIMEOUT,
                    () -> listener.accept(needed)));
  }

  private AgentResult drive(LiveInvocation live, RunLog log, Hold hold) {
    if (live.agent().environment().isEmpty()) { // which is released before the run is handed back
      log.handBackAtEnd();
    }
    children.joinCancelOfParent(log, live.operation().deadline());
    AgentDriver driver = new AgentDriver(live, log, approvals, hold.lateEnds(), children, time);
    driver.drive();
    RunSnapshot left = log.snapshot();
    folds.keep(left);
    return new AgentResult(
        left.state(),
        left.events(),
        live.operation().trace().attempts(),
        driver.toolRuns(),
        true,
        Optional.empty(),
        Optional.empty());
  }

  /** How a run is read that is owned now. */
  private interface Reading {
    RunSnapshot read(Deadline until);
  }

  private AgentResult resumeOwned(
      LiveInvocation live,
      RunKey run,
      Writer owner,
      Reading reading,
      Function<RunState, List<ApprovalDecision>> decisions) {
    return owned(
        live,
        run,
        owner,
        hold -> {
          Deadline until = live.operation().deadline();
          RunLog log = RunLog.open(store, reading.read(until), owner, time, until);
          Bindings.require(live.agent(), run, log.state().started(), live.mayBeUnbound());
          live.show().begins(log, log.state().sequence());
          hold.begins(log);
          if (goOn(live, log, decisions.apply(log.state()))) {
            return drive(live, log, hold);
          }
          live.show().written(log);
          return asItStands(log.snapshot());
        });
  }

  /** Writes the decisions and that the run goes on, if it does. */
  private boolean goOn(LiveInvocation live, RunLog log, List<ApprovalDecision> decisions) {
    boolean wrote = write(live, log, decisions);
    if (wrote && log.state().status() == RunStatus.WAITING_APPROVAL) {
      // What was left open may have been decided from outside just before.
      var _ = write(live, log, List.of());
    }
    return log.state().status() == RunStatus.RUNNING
        || log.state().status() == RunStatus.CANCEL_REQUESTED;
  }

  private boolean write(LiveInvocation live, RunLog log, List<ApprovalDecision> decisions) {
    RunState state = log.state();
    Instant now = live.cancel().isOfWorker() ? later(time.now(), state.standing()) : time.now();
    List<RunEvent> events =
        live.operation()
            .judge(state.step(), false, () -> whatToWrite(live.agent(), state, decisions, now));
    if (!events.isEmpty()) {
      log.append(events);
    }
    return !events.isEmpty();
  }

  /** What the store has given as due is so, also where this process's clock is behind. */
  private static Instant later(Instant now, Standing standing) {
    return standing.due().filter(now::isBefore).orElse(now);
  }

  private List<RunEvent> whatToWrite(
      Agent agent, RunState state, List<ApprovalDecision> decisions, Instant now) {
    List<RunEvent> events = approvals.decided(state, decisions, now);
    boolean decided = events.size() == state.pendingApprovals().size();
    causeToGoOn(agent, state, decided).map(RunResumed::new).ifPresent(events::add);
    if (!events.isEmpty()) {
      approvals.requireValid(state, agent);
    }
    return events;
  }

  /** Why a run that nobody drives can go on now; empty if it has ended or still waits. */
  private Optional<String> causeToGoOn(Agent agent, RunState state, boolean decided) {
    return switch (state.status()) {
      case COMPLETED -> Optional.empty();
      case FAILED -> state.isTerminal() ? Optional.empty() : Optional.of("resumed after a failure");
      case CANCELLED, TIMED_OUT -> Optional.empty();
      case QUEUED -> Optional.of("it was queued");
      case RUNNING -> Optional.of("its driver is gone");
      case CANCEL_REQUESTED -> Optional.of("its cancel was not carried out");
      case WAITING -> movedOn(agent, state);
      case WAITING_APPROVAL ->
          decided ? Optional.of("approvals were decided") : movedOn(agent, state);
      case NEEDS_RECONCILIATION ->
          state.calls().stream().filter(CallState::needsVerdict).allMatch(c -> canAsk(agent, c))
              ? Optional.of("the tools can be asked what became of their calls")
              : Optional.empty();
    };
  }

  private Optional<String> movedOn(Agent agent, RunState state) {
    return children.haveMovedOn(agent, state)
        ? Optional.of("a child run has moved on")
        : Optional.empty();
  }

  /** Whether a run that nobody drives can go on without new decisions. */
  boolean canGoOn(Agent agent, RunState state) {
    return causeToGoOn(agent, state, approvals.areDecided(state)).isPresent();
  }

  private static boolean canAsk(Agent agent, CallState call) {
    return agent.tools().find(call.call().name()).filter(Tool::hasReconciler).isPresent();
  }

  private static AgentResult asItStands(RunSnapshot found) {
    return AgentResult.asItStands(found.state(), found.events());
  }

  /**
   * Joins the run that has the idempotency key.
   *
   * <p>A caller that waited for another driver takes what that one left, failures too; only a run
   * whose driver is gone is driven on.
   */
  private AgentResult attach(LiveInvocation live, RunKey run, Joining joining) {
    Operation operation = live.operation();
    boolean waited = false;
    while (true) {
      RunSnapshot known = folds.load(run, operation.deadline());
      RunState state = known.state();
      joining.check().accept(state, operation);
      boolean leaveIt = waited && state.status() != RunStatus.RUNNING;
      boolean decided = !joining.decisions().apply(state).isEmpty();
      if (!decided && (leaveIt || !canGoOn(live.agent(), state))) {
        return asItStands(known);
      }
      Optional<Writer> owner = store.acquire(run, operation.deadline());
      if (owner.isPresent()) {
        return resumeOwned(
            live, run, owner.get(), until -> folds.refresh(known, until), joining.decisions());
      }
      access.awaitRelease(run, operation.deadline(), operation.trace());
      waited = true;
    }
  }

  private static void requireSame(RunState state, Map<String, String> asked, OperationTrace trace) {
    RunKey run = state.run();
    List<String> differences = Fingerprint.differences(state.started().fingerprint(), asked);
    if (!differences.isEmpty()) {
      throw new ConflictException(
          "The idempotency key belongs to run %s, which was asked something else: it differs in %s."
              .formatted(run, String.join(", ", differences)),
          null,
          trace.ofRun(run.runId()));
    }
  }
}
