package dev.warpwright.agent;

import dev.warpwright.Gateway;
import dev.warpwright.GenerateRequest;
import dev.warpwright.Operation;
import dev.warpwright.model.ConflictException;
import dev.warpwright.model.DeadlineExceededException;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Message;
import dev.warpwright.model.OperationCancelledException;
import dev.warpwright.model.OperationTrace;
import dev.warpwright.model.Target;
import dev.warpwright.run.ApprovalDecision;
import dev.warpwright.run.CallState;
import dev.warpwright.run.Decisions;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.NewRun;
import dev.warpwright.run.RunEvent;
import dev.warpwright.run.RunEvent.RunResumed;
import dev.warpwright.run.RunEvent.RunStarted;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunLog;
import dev.warpwright.run.RunState;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.Runs;
import dev.warpwright.run.Writer;
import dev.warpwright.task.TaskTree;
import dev.warpwright.task.TimeSource;
import dev.warpwright.tool.Tool;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

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
  private final Gateway gateway;
  private final RunStore store;
  private final TimeSource time;

  private Agents(Gateway gateway, RunStore store) {
    this.gateway = Objects.requireNonNull(gateway, "gateway");
    this.store = Objects.requireNonNull(store, "store");
    this.time = gateway.time();
  }

  /**
   * Agents whose models are behind a gateway and whose runs are in a store.
   *
   * @param gateway routes the model calls
   * @param store keeps the logs
   * @return the agents
   */
  public static Agents on(Gateway gateway, RunStore store) {
    return new Agents(gateway, store);
  }

  /**
   * The runs of the store.
   *
   * @return the operator's view
   */
  public Runs runs() {
    return Runs.in(store);
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
   * @throws OperationCancelledException if the calling thread was interrupted; the trace names the
   *     run, which can be resumed
   */
  public AgentResult run(AgentRequest request) {
    Agent agent = request.agent();
    Map<String, String> fingerprint = Fingerprint.of(request);
    RunKey run = new RunKey(request.scope(), request.runId().orElseGet(() -> RunIds.next(time)));
    try (Operation operation = open(agent, request.timeout())) {
      requireNotInterrupted(operation);
      NewRun fresh = new NewRun(run, time.now(), started(request, fingerprint));
      return switch (store.create(fresh, operation.deadline())) {
        case RunStore.Claim.Won(Writer owner) ->
            owned(
                operation,
                run,
                owner,
                () ->
                    drive(
                        agent,
                        operation,
                        RunLog.created(store, fresh, owner, time, operation.deadline())));
        case RunStore.Claim.Taken(RunKey taken) -> attach(agent, operation, taken, fingerprint);
      };
    }
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
   * @throws InvalidRequestException if there is no such run, or a decision names no request of it;
   *     nothing was applied
   * @throws ConflictException if there are decisions and somebody else drives the run, a decision
   *     was made already, or the run is bound to another agent or other targets
   */
  public AgentResult resume(Agent agent, RunKey run, ApprovalDecision... decisions) {
    return resume(agent, run, List.of(decisions), Optional.empty());
  }

  /**
   * Goes on with a run within a time; see {@link #resume(Agent, RunKey, ApprovalDecision...)}.
   *
   * @param agent the agent of the run
   * @param run the run
   * @param decisions decisions on pending approvals
   * @param timeout how long this invocation may take
   * @return how the run was left
   */
  public AgentResult resume(
      Agent agent, RunKey run, List<ApprovalDecision> decisions, Optional<Duration> timeout) {
    try (Operation operation = open(agent, timeout)) {
      requireNotInterrupted(operation);
      requireBoundTo(agent, load(run, operation));
      Optional<Writer> owner = store.acquire(run, operation.deadline());
      if (owner.isPresent()) {
        return resumeOwned(agent, operation, run, owner.get(), decisions);
      }
      if (decisions.isEmpty()) {
        return asItStands(load(run, operation));
      }
      throw new ConflictException(
          "Run " + run + " is being driven elsewhere; decide again when it is not.",
          null,
          operation.trace());
    }
  }

  private RunState load(RunKey run, Operation operation) {
    List<LoggedEvent> log = store.load(run, 1, operation.deadline());
    if (log.isEmpty()) {
      throw new InvalidRequestException(
          FailureKind.INVALID_REQUEST, "There is no run " + run + " in this scope.");
    }
    return RunState.of(log);
  }

  private Operation open(Agent agent, Optional<Duration> timeout) {
    GenerateRequest.Builder request =
        GenerateRequest.builder(agent.route(), List.of())
            .tools(agent.tools().tools())
            .toolExecution(agent.toolExecution())
            .maxSteps(agent.maxSteps());
    agent.temperature().ifPresent(request::temperature);
    agent.maxTokens().ifPresent(request::maxTokens);
    timeout.ifPresent(request::timeout);
    return gateway.open("agent", request.build());
  }

  private static void requireNotInterrupted(Operation operation) {
    if (Thread.currentThread().isInterrupted()) {
      throw new OperationCancelledException(
          "The calling thread was interrupted before the run began.", null, operation.trace());
    }
  }

  private static RunStarted started(AgentRequest request, Map<String, String> fingerprint) {
    Agent agent = request.agent();
    List<Message> messages = new ArrayList<>();
    agent.instructions().map(Message::system).ifPresent(messages::add);
    messages.addAll(request.messages());
    return new RunStarted(
        agent.id(),
        agent.version(),
        fingerprint,
        request.idempotencyKey(),
        messages,
        agent.maxSteps(),
        agent.route().candidates(),
        request.metadata());
  }

  /** Work on an owned run. */
  private interface OwnedWork {
    AgentResult run();
  }

  /** A run that is handed back when it is closed. */
  private interface Hold extends AutoCloseable {
    @Override
    void close();
  }

  /**
   * Works on a run and hands it back on every way out, after the operation: the next driver must
   * not ask about, or repeat, what a tool of this one is still doing.
   */
  private AgentResult owned(Operation operation, RunKey run, Writer owner, OwnedWork work) {
    try (Hold _ = () -> store.release(run, owner);
        operation) {
      return work.run();
    }
  }

  private AgentResult drive(Agent agent, Operation operation, RunLog log) {
    AgentDriver driver = new AgentDriver(agent, operation, log);
    driver.drive();
    return new AgentResult(log.state(), operation.trace().attempts(), driver.toolRuns(), true);
  }

  private AgentResult resumeOwned(
      Agent agent,
      Operation operation,
      RunKey run,
      Writer owner,
      List<ApprovalDecision> decisions) {
    return owned(
        operation,
        run,
        owner,
        () -> {
          RunLog log = RunLog.open(store, run, owner, time, operation.deadline());
          return goOn(agent, log, decisions)
              ? drive(agent, operation, log)
              : asItStands(log.state());
        });
  }

  /** Writes the decisions and that the run goes on, if it does. */
  private static boolean goOn(Agent agent, RunLog log, List<ApprovalDecision> decisions) {
    List<RunEvent> events = new ArrayList<>(Decisions.events(log.state(), decisions));
    boolean decided = events.size() == log.state().pendingApprovals().size();
    Optional<String> cause = causeToGoOn(agent, log.state(), decided);
    cause.ifPresent(why -> events.add(new RunResumed(why)));
    if (!events.isEmpty()) {
      Approvals.requireMatching(log.state(), agent);
      log.append(events);
    }
    return cause.isPresent();
  }

  /** Why a run that nobody drives can go on now; empty if it has ended or still waits. */
  private static Optional<String> causeToGoOn(Agent agent, RunState state, boolean decided) {
    return switch (state.status()) {
      case COMPLETED -> Optional.empty();
      case FAILED -> state.isTerminal() ? Optional.empty() : Optional.of("resumed after a failure");
      case RUNNING -> Optional.of("its driver is gone");
      case WAITING_APPROVAL -> decided ? Optional.of("approvals were decided") : Optional.empty();
      case NEEDS_RECONCILIATION ->
          state.calls().stream().filter(CallState::needsVerdict).allMatch(c -> canAsk(agent, c))
              ? Optional.of("the tools can be asked what became of their calls")
              : Optional.empty();
    };
  }

  private static boolean canAsk(Agent agent, CallState call) {
    return agent.tools().find(call.call().name()).filter(Tool::hasReconciler).isPresent();
  }

  private static AgentResult asItStands(RunState state) {
    return new AgentResult(state, List.of(), 0, false);
  }

  /**
   * Joins the run that has the idempotency key.
   *
   * <p>A caller that waited for another driver takes what that one left, failures too; only a run
   * whose driver is gone is driven on.
   */
  private AgentResult attach(
      Agent agent, Operation operation, RunKey run, Map<String, String> fingerprint) {
    boolean waited = false;
    while (true) {
      RunState state = load(run, operation);
      requireSame(run, state.started().fingerprint(), fingerprint, operation);
      boolean leaveIt = waited && state.status() != RunStatus.RUNNING;
      if (leaveIt || causeToGoOn(agent, state, state.pendingApprovals().isEmpty()).isEmpty()) {
        return asItStands(state);
      }
      Optional<Writer> owner = store.acquire(run, operation.deadline());
      if (owner.isPresent()) {
        return resumeOwned(agent, operation, run, owner.get(), List.of());
      }
      awaitRelease(run, operation);
      waited = true;
    }
  }

  private void awaitRelease(RunKey run, Operation operation) {
    boolean released;
    try {
      released = store.awaitRelease(run, operation.deadline());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new OperationCancelledException(
          "The calling thread was interrupted while run "
              + run
              + " was driven by another caller;"
              + " the run goes on.",
          e,
          operation.trace().ofRun(run.runId()));
    }
    if (!released) {
      throw new DeadlineExceededException(
          "The deadline passed while run " + run + " was driven by another caller; it goes on.",
          null,
          operation.trace().ofRun(run.runId()));
    }
  }

  private static void requireSame(
      RunKey run, Map<String, String> recorded, Map<String, String> asked, Operation operation) {
    List<String> differences = Fingerprint.differences(recorded, asked);
    if (!differences.isEmpty()) {
      throw new ConflictException(
          "The idempotency key belongs to run %s, which was asked something else: it differs in %s."
              .formatted(run, String.join(", ", differences)),
          null,
          operation.trace().ofRun(run.runId()));
    }
  }

  private static void requireBoundTo(Agent agent, RunState state) {
    RunStarted started = state.started();
    requireEqual(state, "agent", started.agentId(), agent.id());
    requireEqual(state, "targets", names(started.targets()), names(agent.route().candidates()));
  }

  private static String names(List<Target> targets) {
    return String.join(", ", targets.stream().map(Target::toString).toList());
  }

  private static void requireEqual(RunState state, String what, String recorded, String now) {
    if (!recorded.equals(now)) {
      throw new ConflictException(
          "Run %s is bound to %s \"%s\" and cannot be resumed with \"%s\"."
              .formatted(state.run(), what, recorded, now),
          null,
          OperationTrace.NONE);
    }
  }
}
