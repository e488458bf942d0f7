package dev.warpwright.agent;

import dev.warpwright.drive.FoldCache;
import dev.warpwright.model.ConflictException;
import dev.warpwright.model.Digest;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.model.LimitExceededException;
import dev.warpwright.model.Message;
import dev.warpwright.model.OperationCancelledException;
import dev.warpwright.model.OperationTrace;
import dev.warpwright.model.WarpwrightException;
import dev.warpwright.run.ApprovalDecision;
import dev.warpwright.run.CallState;
import dev.warpwright.run.ChildEnds;
import dev.warpwright.run.RunEvent;
import dev.warpwright.run.RunEvent.ApprovalDecided;
import dev.warpwright.run.RunEvent.ApprovalRequested;
import dev.warpwright.run.RunEvent.CancelRequested;
import dev.warpwright.run.RunEvent.ChildFinished;
import dev.warpwright.run.RunEvent.ChildStarted;
import dev.warpwright.run.RunEvent.RunSuspended;
import dev.warpwright.run.RunIds;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunLog;
import dev.warpwright.run.RunSnapshot;
import dev.warpwright.run.RunState;
import dev.warpwright.run.RunState.Approval;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The child runs of runs: begins them, goes on with those that were left, and says in events of the
 * parent's log how they were left.
 *
 * <p>A child run is an ordinary run in an operation of its own that is nested in that of its
 * parent: the parent's deadline and cancellation reach it through the task tree. The parent's log
 * names it before it is created, and its idempotency key says which call it answers. So whoever
 * comes to the call again, after a crash or after a wait, finds the same child: completed, and
 * nothing is repeated; waiting, and it is given the decisions that were made; or left behind, and
 * it is driven on.
 *
 * <p>An approval that a child waits for is promoted: a request in the parent's log stands for it.
 * What was decided in the child itself is taken over into the parent.
 */
final class ChildRuns {
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final Agents agents;
  private final FoldCache folds;
  private final TimeSource time;
  private final Approvals approvals;

  ChildRuns(Agents agents, FoldCache folds, TimeSource time, Approvals approvals) {
    this.agents = agents;
    this.folds = folds;
    this.time = time;
    this.approvals = approvals;
  }

  /** That the child of a call begins, under an id of its own. */
  ChildStarted begins(ChildCall child) {
    return new ChildStarted(
        child.call().call().id(), RunIds.next(time), child.subAgent().agent().id());
  }

  /**
   * Runs the child of a call until it ends or waits.
   *
   * @param live the parent's invocation
   * @param parent the parent's state, in whose log the child has begun
   * @param subAgent who answers the call
   * @return what follows in the parent's log: the record of the child, or what the parent waits for
   * @throws WarpwrightException if the parent's operation has come to its end, or the child is not
   *     to be had; it is left as it is
   */
  List<RunEvent> attend(LiveInvocation live, RunState parent, SubAgent subAgent) {
    CallState call =
        parent.calls().stream()
            .filter(each -> each.awaitsChild() && each.call().name().equals(subAgent.name()))
            .findFirst()
            .orElseThrow();
    ChildStarted begun = call.child().orElseThrow();
    AgentResult left;
    try {
      AgentRequest request = request(live, parent, call, subAgent);
      left = agents.child(live, request, child -> decisions(parent, call, child));
    } catch (OperationCancelledException e) {
      throw live.operation().end(call.step()).orElse(e);
    } catch (InvalidRequestException | LimitExceededException e) {
      if (exists(parent, begun, live)) {
        throw e;
      }
      return List.of(ChildEnds.refused(begun, e.kind()));
    }
    return events(live, parent, call, left);
  }

  private boolean exists(RunState parent, ChildStarted begun, LiveInvocation live) {
    return find(parent, begun, live.operation().deadline()).isPresent();
  }

  private Optional<RunSnapshot> find(RunState parent, ChildStarted begun, Deadline deadline) {
    return folds.find(new RunKey(parent.run().scope(), begun.childRunId()), deadline);
  }

  private static AgentRequest request(
      LiveInvocation live, RunState parent, CallState call, SubAgent subAgent) {
    return AgentRequest.builder(subAgent.agent(), messages(call))
        .scope(parent.run().scope())
        .runId(call.child().orElseThrow().childRunId())
        .idempotencyKey(key(parent.run().runId(), call))
        .childOf(parent.run().runId())
        .metadata(parent.started().metadata())
        .invocation(live.invocation().ofChild(subAgent.agent()))
        .build();
  }

  /** What a child is asked. */
  static List<Message> messages(CallState call) {
    SubAgent.Task task = SubAgent.task(call.call().input());
    return Stream.concat(
            task.system().map(Message::system).stream(), Stream.of(Message.user(task.prompt())))
        .toList();
  }

  /** Names the call that the child answers; a call id names one only within its step. */
  private static String key(String runId, CallState call) {
    Json identity =
        Json.of(
            List.of(
                runId,
                call.step(),
                call.call().id(),
                call.call().name(),
                call.call().input().canonical()));
    return "subagent:" + Digest.hex(identity.text());
  }

  private List<RunEvent> events(
      LiveInvocation live, RunState parent, CallState call, AgentResult left) {
    RunState child = left.state();
    List<RunEvent> events = new ArrayList<>(decidedThere(parent, call, child));
    switch (child.status()) {
      case COMPLETED, CANCELLED, TIMED_OUT -> events.add(finished(call, left));
      case FAILED -> {
        Optional<WarpwrightException> end = live.operation().end(call.step());
        if (end.isPresent()) {
          throw end.get(); // that is why it failed, and it can go on with its parent
        }
        events.add(finished(call, left));
      }
      case WAITING_APPROVAL -> events.addAll(promoted(parent, call, child));
      case NEEDS_RECONCILIATION, WAITING ->
          events.add(suspended(RunSuspended.Reason.CHILD, List.of(child.run().runId())));
      case QUEUED, RUNNING, CANCEL_REQUESTED ->
          throw new ConflictException(
              "The child run " + child.run() + " is driven elsewhere.",
              null,
              live.operation().trace());
    }
    return events;
  }

  private static ChildFinished finished(CallState call, AgentResult left) {
    return ChildEnds.of(call.child().orElseThrow(), left.state(), left.log());
  }

  /** The same events with a record that certainly fits into the parent's state. */
  static List<RunEvent> withoutText(List<RunEvent> left) {
    return left.stream()
        .map(event -> event instanceof ChildFinished end ? end.withoutText() : event)
        .toList();
  }

  /** Whether the child has ended and failed. */
  static boolean failed(List<RunEvent> left) {
    return left.getLast() instanceof ChildFinished end && end.failed();
  }

  private static RunSuspended suspended(RunSuspended.Reason reason, List<String> awaited) {
    return new RunSuspended(reason, awaited, Optional.empty());
  }

  /** Requests that stand for those of the child, as far as they are new, and the wait for them. */
  private List<RunEvent> promoted(RunState parent, CallState call, RunState child) {
    List<RunEvent> events = new ArrayList<>();
    List<String> awaited = new ArrayList<>();
    for (ApprovalRequested request : child.pendingApprovals()) {
      String id = Approvals.promotedId(parent.run().runId(), call, request);
      awaited.add(id);
      if (find(parent, id).isEmpty()) {
        events.add(approvals.promote(parent.run().runId(), call, request));
      }
    }
    events.add(suspended(RunSuspended.Reason.APPROVAL, awaited.stream().sorted().toList()));
    return events;
  }

  /** What was decided in the child and not in the parent. */
  private List<RunEvent> decidedThere(RunState parent, CallState call, RunState child) {
    List<ApprovalDecision> decisions = new ArrayList<>();
    for (Approval approval : child.approvals()) {
      String id = Approvals.promotedId(parent.run().runId(), call, approval.request());
      boolean open = find(parent, id).filter(asked -> asked.decision().isEmpty()).isPresent();
      if (open && approval.decision().isPresent()) {
        decisions.add(decision(id, approval.decision().get()));
      }
    }
    return decisions.isEmpty() ? List.of() : approvals.decided(parent, decisions, time.now());
  }

  /**
   * What was decided in the parent and not in the child.
   *
   * @throws InvalidRequestException if what was decided on is not what the child asks, or a
   *     signature does not match
   */
  private List<ApprovalDecision> decisions(RunState parent, CallState call, RunState child) {
    List<ApprovalDecision> decisions = new ArrayList<>();
    for (ApprovalRequested request : child.pendingApprovals()) {
      String runId = parent.run().runId();
      Optional<Approval> asked = find(parent, Approvals.promotedId(runId, call, request));
      if (asked.isPresent() && asked.get().decision().isPresent()) {
        approvals.requirePromoted(asked.get(), runId, call, request);
        decisions.add(decision(request.requestId(), asked.get().decision().get()));
      }
    }
    return decisions;
  }

  private static ApprovalDecision decision(String requestId, ApprovalDecided decided) {
    return new ApprovalDecision(
        requestId, decided.approve(), decided.decidedBy(), decided.reason());
  }

  private static Optional<Approval> find(RunState state, String requestId) {
    return state.approvals().stream()
        .filter(approval -> approval.request().requestId().equals(requestId))
        .findFirst();
  }

  /**
   * Whether a child that a suspended run waits for is not as the run left it any more: somebody
   * decided there, or went on with it, or it can be gone on with.
   */
  boolean haveMovedOn(Agent agent, RunState parent) {
    return parent.calls().stream()
        .filter(CallState::awaitsChild)
        .anyMatch(call -> hasMovedOn(agent, parent, call));
  }

  private boolean hasMovedOn(Agent agent, RunState parent, CallState call) {
    Deadline patience = Deadline.after(time, PATIENCE);
    Optional<RunSnapshot> found = find(parent, call.child().orElseThrow(), patience);
    Optional<SubAgent> subAgent = agent.subAgent(call.call().name());
    if (found.isEmpty() || subAgent.isEmpty()) {
      return true; // whoever drives the parent finds out
    }
    RunState child = found.get().state();
    return child.isTerminal()
        || agents.canGoOn(subAgent.get().agent(), child)
        || child.pendingApprovals().stream()
            .map(request -> Approvals.promotedId(parent.run().runId(), call, request))
            .anyMatch(id -> find(parent, id).isEmpty());
  }

  /**
   * Refuses to go on with a run whose child runs are not in the store: to begin them again would
   * repeat what they did.
   */
  void requireThere(RunState parent, Deadline deadline) {
    for (CallState call : parent.calls()) {
      if (call.awaitsChild() && find(parent, call.child().get(), deadline).isEmpty()) {
        throw new ConflictException(
            "Run %s waits for the child run %s, which the store does not have."
                .formatted(parent.run(), call.child().get().childRunId()),
            null,
            OperationTrace.NONE);
      }
    }
  }

  /**
   * Lets a child run be cancelled if its parent is: whoever cancelled the parent may have come
   * before there was the child. Called by the owner of the child before its first model call.
   */
  void joinCancelOfParent(RunLog child, Deadline deadline) {
    RunState state = child.state();
    Optional<String> parent = state.started().childOf();
    if (parent.isEmpty() || state.cancellation().isPresent()) {
      return;
    }
    RunKey above = new RunKey(state.run().scope(), parent.get());
    if (folds
        .find(above, deadline)
        .filter(found -> found.state().cancellation().isPresent())
        .isPresent()) {
      child.append(new CancelRequested(Optional.of("its parent run was cancelled")));
    }
  }
}
