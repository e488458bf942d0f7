package dev.warpwright.agent;

import dev.warpwright.agent.ApprovalPolicy.Subject;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidOutputException;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.model.OperationTrace;
import dev.warpwright.model.ProviderState;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.UnknownOutcomeException;
import dev.warpwright.run.CallState;
import dev.warpwright.run.RunEvent;
import dev.warpwright.run.RunEvent.ApprovalRequested;
import dev.warpwright.run.RunEvent.ApprovalRequested.Why;
import dev.warpwright.run.RunEvent.ToolStarted;
import dev.warpwright.tool.ApprovalMode;
import dev.warpwright.tool.CheckedCall;
import dev.warpwright.tool.Tool;
import dev.warpwright.tool.ToolCaller;
import dev.warpwright.tool.ToolRun;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * What the open calls of a step come to before anything runs: refused, to be approved first, or
 * runnable.
 */
final class Preflight {
  private static final Optional<String> NO_REASON = Optional.empty();

  private final Agent agent;
  private final ToolCaller caller;
  private final Approvals approvals;
  private final OperationTrace trace;
  private final List<RunEvent> events = new ArrayList<>();
  private final List<ToolRun> runs = new ArrayList<>();
  private final Set<String> awaited = new HashSet<>();
  private Optional<ChildCall> child = Optional.empty();
  private boolean barred; // by a call of a sub-agent, which nothing overlaps

  private Preflight(Agent agent, ToolCaller caller, Approvals approvals, OperationTrace trace) {
    this.agent = agent;
    this.caller = caller;
    this.approvals = approvals;
    this.trace = trace;
  }

  /** Whether all code of the program that it may ask is declared to end soon after an interrupt. */
  static boolean honoursInterrupts(Agent agent, List<CallState> open) {
    return agent.tools().honourInterrupts()
        && agent.approvalPolicy().isEmpty()
        && open.stream().allMatch(call -> call.approval().isEmpty()); // whose signer is asked
  }

  /**
   * Judges all calls that have no result.
   *
   * @throws dev.warpwright.model.GuardrailException if a guardrail of an input triggers
   * @throws InvalidOutputException if one cannot be used and the agent then fails
   * @throws InvalidRequestException if the approval of one was tampered with
   * @throws UnknownOutcomeException if one was begun and its tool is not there any more
   */
  static Preflight of(
      Agent agent,
      ToolCaller caller,
      List<CallState> open,
      Approvals approvals,
      OperationTrace trace) {
    Preflight preflight = new Preflight(agent, caller, approvals, trace);
    open.stream().filter(call -> call.result().isEmpty()).forEach(preflight::judge);
    return preflight;
  }

  /**
   * Judges what the provider asks to approve for tools that it runs itself: all of it goes to a
   * person.
   *
   * @param step the step whose answer asks
   * @param asking what of it nobody has decided
   * @param pending the requests that the run waits for already
   */
  void judge(int step, List<ProviderState> asking, List<ApprovalRequested> pending) {
    for (ProviderState state : asking) {
      ApprovalRequested request =
          approvals.request(caller.operationId(), step, state, agent.providerApprovalExpiry());
      if (pending.stream().noneMatch(known -> known.requestId().equals(request.requestId()))) {
        events.add(request);
      }
      awaited.add(request.requestId());
    }
  }

  /** What is to be written: refusals and requests for approval. */
  List<RunEvent> events() {
    return events;
  }

  /** The calls of tools that may run now: those before the first call of a sub-agent. */
  List<ToolRun> runs() {
    return runs;
  }

  /** The call of a sub-agent that is the next to be answered, if there is no run before it. */
  Optional<ChildCall> child() {
    return child;
  }

  /** Whether there is anything to run. */
  boolean hasWork() {
    return !runs.isEmpty() || child.isPresent();
  }

  /** How many of the calls that may run now were never begun. */
  long newCalls() {
    long tools = runs.stream().filter(run -> run.attempt() == 1).count();
    return tools + child.filter(next -> next.call().child().isEmpty()).stream().count();
  }

  /** The requests for approval without a decision; while there are any, nothing runs. */
  Set<String> awaited() {
    return awaited;
  }

  private void judge(CallState call) {
    approvals.requireAuthentic(call);
    if (call.isDenied()) {
      refuse(call, notApproved(call.decision().orElseThrow().reason()));
    } else if (call.isInDoubt() || call.awaitsChild()) {
      next(call, begun(call));
    } else {
      switch (agent.tools().check(call.call(), caller)) {
        case CheckedCall.Refused(ToolCall checked, String message) -> unusable(call, message);
        case CheckedCall.Callable(ToolCall checked, Tool tool, boolean requiresApproval) ->
            usable(call, tool, requiresApproval);
      }
    }
  }

  private void refuse(CallState call, String message) {
    String callId = call.call().id();
    events.add(ToolEvents.refused(callId, call.call().name(), Json.of(message), Duration.ZERO));
  }

  /** The tool of a call that is in doubt: it runs again, whatever its rules would say by now. */
  private Tool begun(CallState call) {
    String name = call.call().name();
    return agent
        .tools()
        .find(name)
        .orElseThrow(
            () ->
                new UnknownOutcomeException(
                    "A call of tool \"%s\" was begun and its outcome is unknown, but the agent has no"
                            .formatted(name)
                        + " such tool any more. Resume the run with the agent as it was.",
                    null,
                    trace));
  }

  private void unusable(CallState call, String message) {
    if (agent.invalidInput() == InvalidInput.FAIL) {
      throw new InvalidOutputException(FailureKind.OUTPUT_SCHEMA, message, null, trace);
    }
    refuse(call, message);
  }

  private void usable(CallState call, Tool tool, boolean requiresApproval) {
    tool.requireInputPasses(call.call(), caller, trace);
    if (call.awaitsApproval()) {
      awaited.add(call.approval().orElseThrow().requestId());
    } else if (call.decision().isPresent() || call.started().isPresent()) {
      next(call, tool);
    } else if (requiresApproval && tool.approvalMode() == ApprovalMode.INTERRUPT) {
      ask(call, tool, Optional.empty());
    } else {
      byPolicy(call, tool, requiresApproval);
    }
  }

  /** What may run now, or behind a sub-agent: that is judged again when it has ended. */
  private void next(CallState call, Tool tool) {
    if (barred) {
      return;
    }
    Optional<SubAgent> subAgent = agent.subAgent(tool.name());
    if (subAgent.isEmpty()) {
      runs.add(run(call, tool));
      return;
    }
    barred = true;
    if (runs.isEmpty()) {
      child = Optional.of(new ChildCall(call, subAgent.get()));
    }
  }

  private void ask(CallState call, Tool tool, Optional<Why> why) {
    ApprovalRequested request = approvals.request(caller.operationId(), call, tool, why);
    events.add(request);
    awaited.add(request.requestId());
  }

  private void byPolicy(CallState call, Tool tool, boolean requiresApproval) {
    ApprovalPolicy.Verdict verdict =
        agent
            .approvalPolicy()
            .map(policy -> policy.judge(new Subject(caller, call.call(), requiresApproval)))
            .orElse(new ApprovalPolicy.Verdict(!requiresApproval, false, NO_REASON, Map.of()));
    if (verdict.approved()) {
      next(call, tool);
    } else if (verdict.approvalRequired()) {
      ask(call, tool, Optional.of(new Why(verdict.reason(), verdict.metadata())));
    } else {
      refuse(call, notApproved(verdict.reason()));
    }
  }

  private static String notApproved(Optional<String> reason) {
    return "The call was not approved" + reason.map(why -> ": " + why).orElse(".");
  }

  /** A run under the key of the first attempt, if there was one. */
  private ToolRun run(CallState call, Tool tool) {
    String key =
        call.started()
            .map(ToolStarted::key)
            .orElseGet(
                () ->
                    tool.idempotencyKey(
                        caller.operationId(), call.step(), call.ordinal(), call.call()));
    return new ToolRun(call.call(), tool, call.step(), call.ordinal(), key, call.nextAttempt());
  }
}
