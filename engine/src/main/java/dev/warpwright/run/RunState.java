package dev.warpwright.run;

import dev.warpwright.ObjectMode;
import dev.warpwright.cost.CostTotal;
import dev.warpwright.model.Attempt;
import dev.warpwright.model.Conversation;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.ProviderApproval;
import dev.warpwright.model.ProviderState;
import dev.warpwright.model.Role;
import dev.warpwright.model.RouteDecision;
import dev.warpwright.model.Target;
import dev.warpwright.model.ToolResult;
import dev.warpwright.model.Usage;
import dev.warpwright.run.RunEvent.ApprovalDecided;
import dev.warpwright.run.RunEvent.ApprovalRequested;
import dev.warpwright.run.RunEvent.ApprovalRequested.OfProvider;
import dev.warpwright.run.RunEvent.ApprovalTokenIssued;
import dev.warpwright.run.RunEvent.CancelRequested;
import dev.warpwright.run.RunEvent.ChildFinished;
import dev.warpwright.run.RunEvent.ChildStarted;
import dev.warpwright.run.RunEvent.ContextCompacted;
import dev.warpwright.run.RunEvent.GuardrailChecked;
import dev.warpwright.run.RunEvent.MemoryLoaded;
import dev.warpwright.run.RunEvent.ModelResponded;
import dev.warpwright.run.RunEvent.RouteBound;
import dev.warpwright.run.RunEvent.RunCancelled;
import dev.warpwright.run.RunEvent.RunCompleted;
import dev.warpwright.run.RunEvent.RunFailed;
import dev.warpwright.run.RunEvent.RunResumed;
import dev.warpwright.run.RunEvent.RunStarted;
import dev.warpwright.run.RunEvent.RunSuspended;
import dev.warpwright.run.RunEvent.RunTimedOut;
import dev.warpwright.run.RunEvent.StepStarted;
import dev.warpwright.run.RunEvent.ToolFinished;
import dev.warpwright.run.RunEvent.ToolReconciled;
import dev.warpwright.run.RunEvent.ToolReconciled.Verdict;
import dev.warpwright.run.RunEvent.ToolStarted;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What a run's log adds up to: a fold of its events that reads no clock, no store and no network,
 * so that the same events always give the same state.
 *
 * <p>Each event is checked against the state before it: an event that cannot follow is refused with
 * an {@link InvalidRequestException} that names the rule and the sequence. A driver's state grows
 * with its log, so that a long run costs the same per event as a short one; it is confined to the
 * driver's thread. A state that a load or a result gave does not change any more.
 */
public final class RunState {
  /** How large a state may become unless its run says otherwise, in bytes: 4 MiB. */
  public static final long DEFAULT_MAX_BYTES = 4L * 1024 * 1024;

  private static final Pattern DIGEST = Pattern.compile("sha256:[0-9a-f]{64}");

  private final RunKey run;
  private final RunStarted started;
  private final Instant startedAt;
  private final List<String> texts; // of all answers
  private Conversation messages;
  private Instant updatedAt;
  private long bytes;
  private long logBytes; // as bytes, but a compaction leaves the log as long as it was
  private long sequence;
  private RunStatus status;
  private int step;
  private boolean stepAnswered = true;
  private boolean memoryLoaded;
  private boolean finalAnswer;
  private boolean sendsApproval; // the step under way, to the provider that asked for it
  private boolean mayHaveSentApproval;
  private List<CallState> calls = List.of();
  private final Optional<FlowJournal> flow;
  private Optional<Json> output = Optional.empty();
  private Optional<String> continuedAs = Optional.empty();
  private final Map<String, Approval> approvals; // by request id
  private final Map<String, ApprovalTokenIssued> tokens; // by request id
  private final List<ContextCompacted> compactions;
  private Usage usage = Usage.ABSENT;
  private final RunCost cost;
  private final Children children;
  private int toolErrors;
  private int toolCalls;
  private @Nullable Target target;
  private @Nullable RouteDecision decision;
  private @Nullable FinishReason finishReason;
  private @Nullable RunSuspended suspension;
  private @Nullable RunFailed failure;
  private @Nullable CancelRequested cancellation;
  private @Nullable GuardrailChecked triggered;
  private @Nullable RunTimedOut timeout;
  private Optional<ObjectMode> outputMode = Optional.empty();
  private @Nullable RunEvent intendedEnd; // for good, as soon as nothing is in doubt

  /**
   * A request for approval and what became of it.
   *
   * @param request the request
   * @param decision the decision, once there is one
   */
  public record Approval(ApprovalRequested request, Optional<ApprovalDecided> decision) {}

  /**
   * A child run of this one.
   *
   * @param started how it began
   * @param finished its record; empty while it is under way, as far as this run knows
   */
  public record Child(ChildStarted started, Optional<ChildFinished> finished) {}

  private RunState(LoggedEvent first) {
    if (!(first.event() instanceof RunStarted begin) || first.sequence() != 1) {
      throw refused(first, "a log begins with RunStarted at sequence 1");
    }
    this.run = first.run();
    this.started = begin;
    this.flow = begin.input().isPresent() ? Optional.of(new FlowJournal()) : Optional.empty();
    this.startedAt = first.time();
    this.updatedAt = first.time();
    this.sequence = 1;
    this.bytes = StateSize.of(begin);
    this.logBytes = bytes;
    this.messages = Conversation.of(begin.messages());
    this.status = first.writer().isOwner() ? RunStatus.RUNNING : RunStatus.QUEUED;
    this.texts = new ArrayList<>();
    this.approvals = new LinkedHashMap<>();
    this.tokens = new HashMap<>();
    this.compactions = new ArrayList<>();
    this.cost = new RunCost();
    this.children = new Children();
    fork(first);
  }

  /** Of values that do not change, and copies of what does. */
  private RunState(RunState other) {
    this.run = other.run;
    this.started = other.started;
    this.flow = other.flow.map(FlowJournal::copy);
    this.startedAt = other.startedAt;
    this.updatedAt = other.updatedAt;
    this.sequence = other.sequence;
    this.bytes = other.bytes;
    this.logBytes = other.logBytes;
    this.messages = other.messages;
    this.status = other.status;
    this.texts = new ArrayList<>(other.texts);
    this.approvals = new LinkedHashMap<>(other.approvals);
    this.tokens = new HashMap<>(other.tokens);
    this.compactions = new ArrayList<>(other.compactions);
    this.cost = other.cost.copy();
    this.children = other.children.copy();
    this.step = other.step;
    this.stepAnswered = other.stepAnswered;
    this.memoryLoaded = other.memoryLoaded;
    this.finalAnswer = other.finalAnswer;
    this.sendsApproval = other.sendsApproval;
    this.mayHaveSentApproval = other.mayHaveSentApproval;
    this.calls = new ArrayList<>(other.calls);
    this.output = other.output;
    this.continuedAs = other.continuedAs;
    this.usage = other.usage;
    this.toolErrors = other.toolErrors;
    this.toolCalls = other.toolCalls;
    this.target = other.target;
    this.decision = other.decision;
    this.finishReason = other.finishReason;
    this.suspension = other.suspension;
    this.failure = other.failure;
    this.cancellation = other.cancellation;
    this.triggered = other.triggered;
    this.timeout = other.timeout;
    this.outputMode = other.outputMode;
    this.intendedEnd = other.intendedEnd;
  }

  /** An equal state that grows by itself; costs some bytes for each step, and no fold. */
  RunState copy() {
    return new RunState(this);
  }

  /**
   * Folds a log.
   *
   * @param log all events of a run from the first on
   * @return the state after the last one
   * @throws InvalidRequestException if the log is empty or breaks a rule
   */
  public static RunState of(List<LoggedEvent> log) {
    if (log.isEmpty()) {
      throw new InvalidRequestException(
          FailureKind.INVALID_REQUEST, "A log without events has no state.");
    }
    RunState state = new RunState(log.getFirst());
    log.subList(1, log.size()).forEach(state::apply);
    return state;
  }

  /** Adds one event, or refuses it and changes nothing. */
  void apply(LoggedEvent logged) {
    require(logged, logged.run().equals(run), "all events of a log are of one run");
    require(logged, logged.sequence() == sequence + 1, "sequences have no gaps");
    require(logged, !logged.time().isBefore(updatedAt), "times never decrease");
    require(logged, !isTerminal(), "nothing follows the end of a run");
    long growth = growth(logged.event());
    switch (logged.event()) {
      case RunStarted again -> throw refused(logged, "a run starts once");
      case MemoryLoaded event -> memoryLoaded(logged, event);
      case StepStarted event -> stepStarted(logged, event);
      case ContextCompacted event -> contextCompacted(logged, event);
      case RouteBound event -> routeBound(logged, event);
      case ModelResponded event -> modelResponded(logged, event);
      case GuardrailChecked event -> guardrailChecked(logged, event);
      case ApprovalRequested event -> approvalRequested(logged, event);
      case ApprovalTokenIssued event -> approvalTokenIssued(logged, event);
      case ApprovalDecided event -> approvalDecided(logged, event);
      case ToolStarted event -> toolStarted(logged, event);
      case ToolFinished event -> toolFinished(logged, event);
      case ToolReconciled event -> toolReconciled(logged, event);
      case ChildStarted event -> childStarted(logged, event);
      case ChildFinished event -> childFinished(logged, event);
      case RunSuspended event -> runSuspended(logged, event);
      case RunResumed event -> runResumed(logged);
      case CancelRequested event -> cancelRequested(logged, event);
      case RunCancelled event -> runCancelled(logged, event);
      case RunTimedOut event -> runTimedOut(logged, event);
      case RunCompleted event -> runCompleted(logged, event);
      case RunFailed event -> runFailed(logged, event);
      case FlowEvent event -> flowEvent(logged, event);
    }
    sequence = logged.sequence();
    updatedAt = logged.time();
    bytes += growth;
    logBytes += Math.max(0, growth);
    fork(logged);
  }

  /** Behind the last event that a fork has of another run, it may change the conversation. */
  private void fork(LoggedEvent last) {
    for (RunStarted.ForkedFrom fork : Fork.at(started, sequence)) {
      require(last, calls.isEmpty(), Fork.RULE);
      messages = Fork.change(messages, fork).orElseThrow(() -> refused(last, Fork.RULE));
      finalAnswer &= fork.replaced().isEmpty() && fork.added().isEmpty();
    }
  }

  /** By how much an event makes the state larger, or smaller. */
  long growth(RunEvent event) {
    return event instanceof ContextCompacted compacted && replacesAPart(compacted)
        ? StateSize.of(event)
            - StateSize.freedBy(messages.subList(compacted.from(), compacted.to()))
        : StateSize.of(event);
  }

  private boolean replacesAPart(ContextCompacted event) {
    return event.from() >= 0
        && event.from() + 2 <= event.to()
        && event.to() < messages.size()
        && event.messagesBefore() == messages.size()
        && event.messagesAfter() == messages.size() - (event.to() - event.from()) + 1;
  }

  private void contextCompacted(LoggedEvent logged, ContextCompacted event) {
    requireRunning(logged);
    require(
        logged,
        event.beforeStep() == nextStep() && calls.isEmpty() && !finalAnswer,
        "a conversation is compacted before a step");
    require(
        logged,
        isDigest(event.sourceDigest()) && isDigest(event.resultDigest()),
        "a digest is \"sha256:\" and 64 hex digits");
    require(
        logged,
        replacesAPart(event) && event.tokensAfter() < event.tokensBefore(),
        "a compaction makes one message of several and leaves the last");
    require(
        logged,
        messages.get(event.to()).role() != Role.TOOL
            && messages.subList(0, event.from()).stream().allMatch(m -> m.role() == Role.SYSTEM),
        "a compaction leaves system messages, and no result of a tool without its call");
    List<Message> shorter = new ArrayList<>(messages.subList(0, event.from()));
    shorter.add(ContextCompacted.message(event.summary()));
    shorter.addAll(messages.subList(event.to(), messages.size()));
    messages = Conversation.of(shorter);
    usage = usage.plus(event.usage());
    cost.add(event.attempts());
    compactions.add(event);
  }

  static boolean isDigest(String text) {
    return DIGEST.matcher(text).matches();
  }

  private void memoryLoaded(LoggedEvent logged, MemoryLoaded event) {
    requireRunning(logged);
    require(
        logged, step == 0 && !memoryLoaded, "memory is loaded once, before the first step begins");
    memoryLoaded = true;
    int leading = 0;
    while (leading < messages.size() && messages.get(leading).role() == Role.SYSTEM) {
      leading++;
    }
    List<Message> longer = new ArrayList<>(messages.subList(0, leading));
    longer.addAll(event.messages());
    longer.addAll(messages.subList(leading, messages.size()));
    messages = Conversation.of(longer);
  }

  private void flowEvent(LoggedEvent logged, FlowEvent event) {
    requireAtWork(logged);
    require(
        logged,
        cancellation == null || !begins(event) || event.position().startsWith("cancel/"),
        "nothing begins after a request to cancel");
    require(logged, flow.isPresent(), "only a flow makes such calls");
    flow.get()
        .apply(event, logged.time())
        .ifPresent(
            rule -> {
              throw refused(logged, rule);
            });
  }

  /** Whether an event is the beginning of something, not its end. */
  private static boolean begins(FlowEvent event) {
    return switch (event) {
      case FlowEvent.FlowStepFinished end -> false;
      case FlowEvent.SignalTimedOut end -> false;
      case FlowEvent.TimerFired end -> false;
      case FlowEvent.ParallelFinished end -> false;
      default -> true;
    };
  }

  private void stepStarted(LoggedEvent logged, StepStarted event) {
    requireRunning(logged);
    require(logged, flow.isEmpty(), "a flow asks no model itself");
    require(logged, triggered == null, "no step starts after a guardrail triggered");
    require(logged, calls.isEmpty(), "a step starts when every call is answered");
    require(
        logged,
        openApprovals().isEmpty(),
        "a step starts when all that the provider asks to approve is decided");
    require(
        logged,
        event.step() == (stepAnswered ? step + 1 : step),
        "steps are counted from 1 without gaps");
    step = event.step();
    stepAnswered = false;
    finalAnswer = false;
    mayHaveSentApproval = false;
    sendsApproval =
        messages.approvals().stream()
            .flatMap(state -> state.approval().orElseThrow().answer().stream())
            .anyMatch(ProviderApproval.Answer::approved);
  }

  private void routeBound(LoggedEvent logged, RouteBound event) {
    requireAtWork(logged);
    require(logged, event.step() == step && !stepAnswered, "a route is bound in an open step");
    target = event.target();
    decision = event.decision();
  }

  private void modelResponded(LoggedEvent logged, ModelResponded event) {
    requireAtWork(logged);
    require(
        logged,
        event.step() == step && !stepAnswered,
        "a model's answer belongs to the step that was started");
    require(
        logged,
        event.message().approvals().stream()
            .allMatch(state -> state.approval().orElseThrow().answer().isEmpty()),
        "what a provider asks to approve is decided later");
    usage = usage.plus(event.usage());
    cost.add(event.attempts());
    stepAnswered = true;
    target = event.target();
    finishReason = event.finishReason();
    texts.add(event.message().text());
    messages = messages.plus(event.message());
    finalAnswer = event.message().toolCalls().isEmpty() && event.message().approvals().isEmpty();
    sendsApproval = false;
    calls = CallState.fresh(event.message().toolCalls(), step);
  }

  private void guardrailChecked(LoggedEvent logged, GuardrailChecked event) {
    requireDriven(logged);
    triggered = triggered == null ? event : triggered;
  }

  private void approvalRequested(LoggedEvent logged, ApprovalRequested event) {
    requireRunning(logged);
    require(logged, isDigest(event.digest()), "a digest is \"sha256:\" and 64 hex digits");
    require(logged, !knowsApproval(event.requestId()), "each approval request has its own id");
    if (flow.isPresent() || event.child().isPresent()) {
      if (flow.isPresent()) {
        boolean ofProvider = event.kind() == ApprovalRequested.Kind.PROVIDER;
        require(logged, !ofProvider, "a flow itself has no provider that could ask");
        require(logged, flow.get().asked(event), "an approval is asked for at a place of its own");
      } else {
        String childRunId = event.child().orElseThrow().runId();
        find(
            logged,
            call -> isFor(event, call) && call.awaitsChild(childRunId),
            "an approval of a child is asked for while the child is under way");
      }
      approvals.put(event.requestId(), new Approval(event, Optional.empty()));
      return;
    }
    if (event.provider().isPresent()) {
      require(
          logged,
          isAsked(event) && pendingApprovals().stream().noneMatch(asked -> isSame(asked, event)),
          "a provider's approval is asked for once, when its answer asks for it");
      approvals.put(event.requestId(), new Approval(event, Optional.empty()));
      return;
    }
    int index =
        find(
            logged,
            call ->
                call.call().id().equals(event.callId())
                    && call.approval().isEmpty()
                    && call.started().isEmpty()
                    && call.child().isEmpty()
                    && call.result().isEmpty(),
            "an approval is asked for once, for a call that was not begun");
    calls.set(index, calls.get(index).asked(event));
    approvals.put(event.requestId(), new Approval(event, Optional.empty()));
  }

  private void approvalTokenIssued(LoggedEvent logged, ApprovalTokenIssued event) {
    require(
        logged,
        isDigest(event.fingerprint()) && isDigest(event.tokenHash()),
        "a digest is \"sha256:\" and 64 hex digits");
    require(
        logged,
        pendingApprovals().stream().anyMatch(ask -> ask.requestId().equals(event.requestId())),
        "a token is issued for a pending request");
    tokens.put(event.requestId(), event);
  }

  private void approvalDecided(LoggedEvent logged, ApprovalDecided event) {
    Approval asked = approvals.get(event.requestId());
    if (asked == null || !flow.map(f -> f.decided(event)).orElseGet(() -> isPending(asked))) {
      throw refused(logged, "a decision answers a pending request");
    }
    switch (asked.request().kind()) {
      case LOCAL_TOOL -> {
        if (flow.isEmpty()) {
          calls.replaceAll(
              call -> requestId(call).equals(event.requestId()) ? call.decided(event) : call);
        }
      }
      case PROVIDER -> {
        OfProvider asking = asked.request().provider().orElseThrow();
        Optional<String> why = event.approve() ? Optional.empty() : event.reason();
        messages =
            messages.answered(
                asking.id(), asking.requestId(), new ProviderApproval.Answer(event.approve(), why));
      }
      case SUBAGENT -> {} // the child is told
    }
    approvals.put(event.requestId(), new Approval(asked.request(), Optional.of(event)));
  }

  private boolean isPending(Approval asked) {
    ApprovalRequested request = asked.request();
    if (request.kind() == ApprovalRequested.Kind.PROVIDER) {
      return asked.decision().isEmpty() && isAsked(request);
    }
    return asked.decision().isEmpty()
        && calls.stream()
            .anyMatch(
                call ->
                    request
                        .child()
                        .map(child -> isFor(request, call) && call.awaitsChild(child.runId()))
                        .orElseGet(
                            () ->
                                call.awaitsApproval()
                                    && requestId(call).equals(request.requestId())));
  }

  /** Whether the last answer asks for what a provider's request says, and nobody has decided. */
  private boolean isAsked(ApprovalRequested request) {
    OfProvider asking = request.provider().orElseThrow();
    return request.step() == step
        && request.callId().equals(asking.requestId())
        && openApprovals().stream()
            .anyMatch(
                state ->
                    state.provider().equals(Optional.of(asking.id()))
                        && state.approval().orElseThrow().requestId().equals(asking.requestId()));
  }

  private static boolean isSame(ApprovalRequested one, ApprovalRequested other) {
    return one.step() == other.step() && one.provider().equals(other.provider());
  }

  private static boolean isFor(ApprovalRequested request, CallState call) {
    return request.step() == call.step() && request.callId().equals(call.call().id());
  }

  private void childStarted(LoggedEvent logged, ChildStarted event) {
    requireRunning(logged);
    if (flow.isPresent()) {
      require(logged, flow.get().childStarted(event), "a child begins at a place of its own");
      children.started(event);
      return;
    }
    int index =
        find(logged, call -> call.allows(event), "a child begins for an open call that may run");
    calls.set(index, calls.get(index).answeredBy(event));
    children.started(event);
    toolCalls++;
  }

  private void childFinished(LoggedEvent logged, ChildFinished event) {
    requireAtWork(logged);
    if (flow.isPresent()) {
      require(logged, flow.get().childFinished(event), "a child ends once, after it began");
      children.finished(event);
      return;
    }
    int index =
        find(
            logged,
            call -> call.call().id().equals(event.callId()) && call.awaitsChild(event.childRunId()),
            "a child ends once, after it began");
    children.finished(event);
    String tool = calls.get(index).call().name();
    answer(index, new ToolResult(event.callId(), tool, event.output(), event.failed()));
  }

  private void toolStarted(LoggedEvent logged, ToolStarted event) {
    requireRunning(logged);
    int index =
        find(
            logged,
            call -> call.allows(event),
            "a tool is started for an open call that may run, its attempts counting from 1");
    calls.set(index, calls.get(index).startedBy(event, logged.time()));
    if (event.attempt() == 1) {
      toolCalls++;
    }
  }

  private void toolFinished(LoggedEvent logged, ToolFinished event) {
    if (event.executed()) {
      requireDriven(logged);
    } else {
      requireRunning(logged);
    }
    String key = event.key().orElse("");
    int index =
        find(
            logged,
            call ->
                event.executed()
                    ? call.isInDoubt(event.callId(), key)
                    : call.canBeRefused(event.callId()),
            "an executed call finishes after its start, a refused one without");
    answer(index, new ToolResult(event.callId(), event.tool(), event.output(), event.error()));
  }

  private void toolReconciled(LoggedEvent logged, ToolReconciled event) {
    requireDriven(logged);
    if (flow.isPresent()) {
      require(
          logged,
          flow.get().reconciled(event),
          "a verdict is given on a step in doubt, under its key");
      return;
    }
    int index =
        find(
            logged,
            call -> call.isInDoubt(event.callId(), event.key()),
            "a verdict is given on a call in doubt, under its key");
    require(
        logged,
        event.evidence().map(RunState::isDigest).orElse(true),
        "the digest of evidence is \"sha256:\" and 64 hex digits");
    CallState call = calls.get(index);
    if (event.verdict() == Verdict.NOT_EXECUTED) {
      calls.set(index, call.foundNotExecuted());
      return;
    }
    Json output = event.output().orElse(Json.of(null));
    boolean error = event.verdict() == Verdict.FAILED;
    answer(index, new ToolResult(event.callId(), call.call().name(), output, error));
  }

  /**
   * Gives a call its result. Once every call of the step has one, they become one message, in call
   * order.
   */
  private void answer(int index, ToolResult result) {
    CallState call = calls.get(index);
    calls.set(index, call.answered(result));
    if (result.error() && !call.isDenied()) {
      toolErrors++;
    }
    if (calls.stream().allMatch(each -> each.result().isPresent())) {
      List<ToolResult> results = calls.stream().map(each -> each.result().orElseThrow()).toList();
      messages = messages.plus(Message.tool(results));
      calls = List.of();
    }
  }

  private void runSuspended(LoggedEvent logged, RunSuspended event) {
    switch (event.reason()) {
      case APPROVAL -> {
        requireRunning(logged);
        require(logged, !pendingApprovals().isEmpty(), "a run waits for approvals that are open");
        status = RunStatus.WAITING_APPROVAL;
      }
      case RECONCILIATION -> {
        requireAtWork(logged);
        require(
            logged,
            calls.stream().anyMatch(CallState::isInDoubt)
                || flow.filter(journal -> journal.hasInDoubt(event.awaited())).isPresent(),
            "a run waits for verdicts on calls in doubt");
        flow.ifPresent(journal -> journal.suspendedOver(event.awaited()));
        calls = new ArrayList<>(calls); // that of a flow cannot be changed
        calls.replaceAll(
            call ->
                call.isInDoubt() && event.awaited().contains(call.call().id())
                    ? call.suspendedOver()
                    : call);
        status = RunStatus.NEEDS_RECONCILIATION;
        if (cancellation == null) { // else it ends as cancelled, whatever its driver had met
          intendedEnd(event).ifPresent(end -> intendedEnd = end);
        }
      }
      case SIGNAL, TIMER -> {
        requireRunning(logged);
        require(logged, flow.isPresent(), "only a flow waits for a time or a signal");
        status = RunStatus.WAITING;
      }
      case CHILD -> {
        requireRunning(logged);
        require(
            logged,
            flow.isPresent() || calls.stream().anyMatch(CallState::awaitsChild),
            "a run waits for a child that is under way");
        status = RunStatus.WAITING;
      }
    }
    suspension = event;
  }

  private static Optional<RunEvent> intendedEnd(RunSuspended event) {
    return event
        .intendedTimeout()
        .<RunEvent>map(end -> end)
        .or(() -> event.intendedEnd().filter(end -> !end.resumable()));
  }

  private void reopen(FlowJournal journal, String position, Instant time) {
    journal.reopen(position, time);
    if (journal.at(position).orElse(null) instanceof FlowCall.Child child) {
      children.started(child.started());
    }
  }

  private void runResumed(LoggedEvent logged) {
    if (failure != null && flow.isPresent()) {
      failure.position().ifPresent(position -> reopen(flow.get(), position, logged.time()));
    }
    if (isAtWork() && !stepAnswered) {
      cost.mayHaveLostACall();
    }
    mayHaveSentApproval = sendsApproval && mayHaveSent();
    status = cancellation == null ? RunStatus.RUNNING : RunStatus.CANCEL_REQUESTED;
    suspension = null;
    failure = null;
  }

  /** Whether the approval under way may have reached its provider, and nobody was told so yet. */
  private boolean mayHaveSent() {
    if (failure == null) {
      return mayHaveSentApproval || isAtWork();
    }
    return switch (failure.kind()) {
      case UNKNOWN_OUTCOME -> false; // this has been said, and the run is gone on with
      case INTERNAL -> true;
      case DEADLINE, CANCELLED ->
          mayHaveSentApproval || failure.attempts().stream().anyMatch(RunState::wasCutOff);
      default -> mayHaveSentApproval; // it was not sent, or refused
    };
  }

  private static boolean wasCutOff(Attempt attempt) {
    return attempt.reasonCode() == Attempt.ReasonCode.REQUEST_ABORTED
        || attempt.reasonCode() == Attempt.ReasonCode.DEADLINE_EXCEEDED;
  }

  private void cancelRequested(LoggedEvent logged, CancelRequested event) {
    require(logged, cancellation == null, "a run is asked to cancel once");
    cancellation = event;
    status = RunStatus.CANCEL_REQUESTED;
    suspension = null;
    failure = null;
    intendedEnd = null;
  }

  private void runCancelled(LoggedEvent logged, RunCancelled event) {
    require(logged, cancellation != null, "a run is cancelled after somebody asked for it");
    require(logged, !needsVerdict(), "a run does not end while it needs a verdict on a tool");
    if (!stepAnswered) {
      cost.add(event.attempts());
    }
    calls = List.of(); // nothing of it is waited for any more
    suspension = null;
    status = RunStatus.CANCELLED;
  }

  private void runCompleted(LoggedEvent logged, RunCompleted event) {
    requireRunning(logged);
    if (flow.isPresent()) {
      require(
          logged,
          event.output().isPresent() != event.continuedAs().isPresent(),
          "a flow completes with what it returned, or goes on in another run");
    } else {
      requireFinalAnswer(logged);
    }
    output = event.output();
    outputMode = event.outputMode();
    continuedAs = event.continuedAs();
    status = RunStatus.COMPLETED;
  }

  private void requireFinalAnswer(LoggedEvent logged) {
    require(
        logged,
        step > 0
            && stepAnswered
            && calls.isEmpty()
            && messages.getLast().role() == Role.ASSISTANT
            && messages.approvals().isEmpty(),
        "a run completes with an answer that leaves no call open");
    require(logged, triggered == null, "a run does not complete after a guardrail triggered");
  }

  private void runFailed(LoggedEvent logged, RunFailed event) {
    requireMayEnd(logged);
    if (!stepAnswered) { // else the answer brought the attempts of the step
      cost.add(event.attempts());
    }
    failure = event;
    suspension = null;
    status = RunStatus.FAILED;
  }

  private boolean needsVerdict() {
    return calls.stream().anyMatch(CallState::needsVerdict)
        || flow.filter(journal -> !journal.needingVerdicts().isEmpty()).isPresent();
  }

  /**
   * The calls that were begun, whose outcome nobody knows, and that must not simply be made again:
   * the run can neither go on nor end before somebody says what became of them.
   *
   * @return the ids of tool calls or, of a flow, the positions of steps, in order
   */
  public List<String> needingVerdicts() {
    return flow.isPresent()
        ? flow.get().needingVerdicts().stream().map(FlowCall.Step::position).toList()
        : calls.stream()
            .filter(CallState::needsVerdict)
            .map(call -> call.call().id())
            .sorted()
            .toList();
  }

  private void runTimedOut(LoggedEvent logged, RunTimedOut event) {
    requireMayEnd(logged);
    if (!stepAnswered) {
      cost.add(event.attempts());
    }
    calls = List.of(); // nothing of it is waited for any more
    timeout = event;
    suspension = null;
    status = RunStatus.TIMED_OUT;
  }

  /** While it is driven, or by the end that waited for the last verdict. */
  private void requireMayEnd(LoggedEvent logged) {
    require(
        logged,
        status == RunStatus.RUNNING
            || (status == RunStatus.NEEDS_RECONCILIATION && logged.event().equals(intendedEnd)),
        "only a running run does this, or one whose end has waited for a verdict");
    require(logged, !needsVerdict(), "a run does not end while it needs a verdict on a tool");
  }

  private int find(LoggedEvent logged, Predicate<CallState> which, String rule) {
    for (int i = 0; i < calls.size(); i++) {
      if (which.test(calls.get(i))) {
        return i;
      }
    }
    throw refused(logged, rule);
  }

  private static String requestId(CallState call) {
    return call.approval().map(ApprovalRequested::requestId).orElse("");
  }

  /** Outcomes become known while a run is driven and while it waits for them. */
  private void requireDriven(LoggedEvent logged) {
    require(
        logged,
        isAtWork() || status == RunStatus.NEEDS_RECONCILIATION,
        "only a running run, or one that waits for a verdict, does this");
  }

  /** What was begun before a cancel was asked for may still end. */
  private void requireAtWork(LoggedEvent logged) {
    require(logged, isAtWork(), "only a running run does this");
  }

  private boolean isAtWork() {
    return status == RunStatus.RUNNING || status == RunStatus.CANCEL_REQUESTED;
  }

  private void requireRunning(LoggedEvent logged) {
    require(logged, status == RunStatus.RUNNING, "only a running run does this");
  }

  private static void require(LoggedEvent logged, boolean holds, String rule) {
    if (!holds) {
      throw refused(logged, rule);
    }
  }

  private static InvalidRequestException refused(LoggedEvent logged, String rule) {
    return new InvalidRequestException(
        FailureKind.INVALID_REQUEST,
        "%s cannot stand at sequence %d of run %s: %s."
            .formatted(
                logged.event().getClass().getSimpleName(), logged.sequence(), logged.run(), rule));
  }

  /**
   * The run.
   *
   * @return its key
   */
  public RunKey run() {
    return run;
  }

  /**
   * What the run was started with.
   *
   * @return its first event
   */
  public RunStarted started() {
    return started;
  }

  /**
   * Where it stands.
   *
   * @return the status
   */
  public RunStatus status() {
    return status;
  }

  /**
   * Where it stands, for the store's index.
   *
   * @return the status, and from when on a driver may take the run up
   */
  public Standing standing() {
    boolean waits = status == RunStatus.WAITING;
    if (!waits && status != RunStatus.WAITING_APPROVAL) {
      return new Standing(status, due(), Set.of(), Set.of());
    }
    Stream<String> children =
        calls.stream()
            .filter(call -> waits && call.awaitsChild())
            .map(call -> call.child().orElseThrow().childRunId());
    return new Standing(
        status,
        due(),
        flow.stream().flatMap(FlowJournal::awaitedSignals).collect(Collectors.toSet()),
        Stream.concat(flow.stream().flatMap(FlowJournal::awaitedChildren), children)
            .collect(Collectors.toSet()));
  }

  private Optional<Instant> due() {
    return switch (status) {
      case QUEUED, RUNNING, CANCEL_REQUESTED -> Optional.of(updatedAt);
      case WAITING -> orAtEnd(flow.flatMap(FlowJournal::due));
      case WAITING_APPROVAL ->
          pendingApprovals().isEmpty() || isAnyDecided()
              ? Optional.of(updatedAt)
              : flow.isPresent()
                  ? orAtEnd(flow.get().due())
                  : pendingApprovals().stream()
                      .flatMap(request -> request.expiresAt().stream())
                      .min(Instant::compareTo);
      case NEEDS_RECONCILIATION -> needsVerdict() ? Optional.empty() : Optional.of(updatedAt);
      case COMPLETED, FAILED, CANCELLED, TIMED_OUT -> Optional.empty();
    };
  }

  private Optional<Instant> orAtEnd(Optional<Instant> due) {
    return Stream.concat(due.stream(), endsAt().stream()).min(Instant::compareTo);
  }

  /** Whether a flow was suspended over several approvals and one of them is decided now. */
  private boolean isAnyDecided() {
    return flow.isPresent()
        && suspension().stream()
            .flatMap(event -> event.awaited().stream())
            .map(approvals::get)
            .anyMatch(asked -> asked != null && asked.decision().isPresent());
  }

  /**
   * Whether it has ended for good: completed, cancelled, timed out, or failed and not resumable.
   *
   * @return true if no event can follow
   */
  public boolean isTerminal() {
    return status == RunStatus.COMPLETED
        || status == RunStatus.CANCELLED
        || status == RunStatus.TIMED_OUT
        || (failure != null && !failure.resumable());
  }

  /**
   * The conversation so far.
   *
   * @return the messages, a {@link Conversation}: what is said later does not change it
   */
  public List<Message> messages() {
    return messages;
  }

  /**
   * Whether what the agent remembers has been loaded.
   *
   * @return true if the messages are among those of the run, or there are none
   */
  public boolean isMemoryLoaded() {
    return memoryLoaded;
  }

  /**
   * The summaries that took the place of older messages.
   *
   * @return the events, in order
   */
  public List<ContextCompacted> compactions() {
    return List.copyOf(compactions);
  }

  /**
   * The calls of the current step while one of them has no result yet.
   *
   * @return the calls in order; empty if all are answered
   */
  public List<CallState> calls() {
    return List.copyOf(calls);
  }

  /**
   * The approvals that it waits for, those of child runs included.
   *
   * @return the requests without a decision
   */
  public List<ApprovalRequested> pendingApprovals() {
    return flow.isPresent()
        ? flow.get().pendingApprovals().toList()
        : approvals.values().stream().filter(this::isPending).map(Approval::request).toList();
  }

  /**
   * All approvals that were ever asked for.
   *
   * @return the requests in order, each with its decision
   */
  public List<Approval> approvals() {
    return List.copyOf(approvals.values());
  }

  /**
   * What the provider that answered last asks to approve, each with its answer once it is decided.
   * The answers go to that provider with the next step; then it is another answer that counts.
   *
   * @return the states that ask, in order
   */
  public List<ProviderState> providerApprovals() {
    return step == 0 || (step == 1 && !stepAnswered) ? List.of() : messages.approvals();
  }

  /**
   * What of {@link #providerApprovals} nobody has decided.
   *
   * @return the states that ask, in order; empty once the run has ended
   */
  public List<ProviderState> openApprovals() {
    return status == RunStatus.CANCELLED || status == RunStatus.TIMED_OUT
        ? List.of()
        : providerApprovals().stream()
            .filter(state -> state.approval().orElseThrow().answer().isEmpty())
            .toList();
  }

  /** Whether a provider is to be told a decision, and no answer of it says that it was. */
  boolean hasUnsentAnswer() {
    return messages.unsentAnswer().isPresent();
  }

  /**
   * Whether an approval was given to a provider by a call of which nobody knows whether it was
   * made: the process died, or the call was cut off. To make it again could let the tool act twice.
   *
   * @return true until it was told that way, as a failure of the run
   */
  public boolean mayHaveSentApproval() {
    return mayHaveSentApproval;
  }

  /** The token by which a request can be decided, the last one that was issued. */
  Optional<ApprovalTokenIssued> approvalToken(String requestId) {
    return Optional.ofNullable(tokens.get(requestId));
  }

  /** Whether an approval request was ever made in this run. */
  boolean knowsApproval(String requestId) {
    return approvals.containsKey(requestId);
  }

  /**
   * The calls whose outcome nobody knows.
   *
   * @return the calls of the current step that were started and have no outcome
   */
  public List<CallState> inDoubt() {
    return calls.stream().filter(CallState::isInDoubt).toList();
  }

  /**
   * Whether a call was begun under a key and nobody knows what became of it.
   *
   * @param callId a tool call or, of a flow, the position of a step
   * @param key the idempotency key that it was given
   * @return true if a verdict on it can be given
   */
  public boolean isInDoubt(String callId, String key) {
    return flow.isPresent()
        ? flow.get().at(callId).stream()
            .anyMatch(
                call ->
                    call instanceof FlowCall.Step step
                        && step.isInDoubt()
                        && step.started().orElseThrow().key().equals(key))
        : inDoubt().stream().anyMatch(call -> call.isInDoubt(callId, key));
  }

  /**
   * The calls of a flow.
   *
   * @return its journal, empty for an agent's run
   */
  public Optional<FlowJournal> flow() {
    return flow;
  }

  /**
   * What a flow returned, or the object that the final answer of an agent is, if it must be one.
   *
   * @return the value, once the run has completed
   */
  public Optional<Json> output() {
    return output;
  }

  /**
   * The run in which a flow goes on, in the same scope.
   *
   * @return its id, once this run has completed so
   */
  public Optional<String> continuedAs() {
    return continuedAs;
  }

  /**
   * When a flow's run is ended, whatever it waits for. The life of a fork begins when it was cut
   * off.
   *
   * @return the time, if its life has a limit
   */
  public Optional<Instant> endsAt() {
    Instant born = started.forkedFrom().map(RunStarted.ForkedFrom::time).orElse(startedAt);
    return started.life().flatMap(RunStarted.Life::timeout).map(born::plus);
  }

  /**
   * The number of the last step that was started.
   *
   * @return the step, 0 before the first
   */
  public int step() {
    return step;
  }

  /**
   * The number that the next model call has.
   *
   * @return the step that was started and not answered or, if there is none, the next one
   */
  public int nextStep() {
    return stepAnswered ? step + 1 : step;
  }

  /**
   * Whether the last answer asks for no tool, so that the run completes if the answer is accepted.
   *
   * @return true after such an answer
   */
  public boolean hasFinalAnswer() {
    return finalAnswer;
  }

  /**
   * The text of all the model's answers, joined.
   *
   * @return the text
   */
  public String text() {
    return String.join("", texts);
  }

  /**
   * How the model was brought to answer with the {@link #output}.
   *
   * @return NATIVE or PROMPTED, empty if there is no such output
   */
  public Optional<ObjectMode> outputMode() {
    return outputMode;
  }

  /**
   * The tokens so far, without those of child runs.
   *
   * @return the usage of all answered steps and of summaries of the conversation
   */
  public Usage usage() {
    return usage;
  }

  /**
   * What all model calls of this run itself cost so far, failed ones included. Unknown is not free:
   * where a process died during a call, or a call was made without accounting, there is no amount.
   *
   * @return the total; empty if no call was valued
   */
  public Optional<CostTotal> cost() {
    return cost.total();
  }

  /**
   * The child runs, in the order in which they began.
   *
   * @return each with its record, once it has ended
   */
  public List<Child> children() {
    return children.all();
  }

  /**
   * The tokens of this run and of the child runs that have ended.
   *
   * @return the usage of all answered steps, here and below
   */
  public Usage totalUsage() {
    return used(true).usage();
  }

  /**
   * What this run and its child runs cost so far. While a child is under way, nobody knows here
   * what it spends.
   *
   * @return the total, UNKNOWN with a child under way; empty if no call was valued
   */
  public Optional<CostTotal> totalCost() {
    return children.total(cost());
  }

  /**
   * How many tool calls gave an error result, those that were not approved aside.
   *
   * @return the number
   */
  public int toolErrors() {
    return toolErrors;
  }

  /**
   * What the run has used so far, over all its invocations.
   *
   * @param includeChildRuns whether to add what its child runs have used
   * @return the totals
   */
  public RunTotals used(boolean includeChildRuns) {
    RunTotals own = new RunTotals(toolCalls, usage, cost.known());
    return includeChildRuns ? own.plus(children.used()) : own;
  }

  /**
   * The last winning target.
   *
   * @return the target, empty before the first answer
   */
  public Optional<Target> target() {
    return Optional.ofNullable(target);
  }

  /**
   * The order of targets from which the last winner came, and why.
   *
   * @return the decision, empty before the first answer
   */
  public Optional<RouteDecision> decision() {
    return Optional.ofNullable(decision);
  }

  /**
   * Why the last answer ended.
   *
   * @return the reason, empty before the first answer
   */
  public Optional<FinishReason> finishReason() {
    return Optional.ofNullable(finishReason);
  }

  /**
   * What a suspended run waits for.
   *
   * @return the event, empty unless it is suspended
   */
  public Optional<RunSuspended> suspension() {
    return Optional.ofNullable(suspension);
  }

  /**
   * How it failed.
   *
   * @return the event, empty unless it is failed
   */
  public Optional<RunFailed> failure() {
    return Optional.ofNullable(failure);
  }

  /**
   * The first guardrail that triggered.
   *
   * @return the event, empty if none did
   */
  public Optional<GuardrailChecked> guardrail() {
    return Optional.ofNullable(triggered);
  }

  /**
   * That somebody asked to cancel it. While it waits for a verdict, the cancel waits too.
   *
   * @return the request, empty if there was none
   */
  public Optional<CancelRequested> cancellation() {
    return Optional.ofNullable(cancellation);
  }

  /**
   * That the timeout of its policy has ended it.
   *
   * @return the event, empty unless it has
   */
  public Optional<RunTimedOut> timeout() {
    return Optional.ofNullable(timeout);
  }

  /**
   * How it ends as soon as no call of it needs a verdict any more: the timeout, or the failure for
   * good, that met a tool whose outcome nobody knew.
   *
   * @return the event that is still to be written, empty if it is not to end so
   */
  public Optional<RunEvent> intendedEnd() {
    return isTerminal() ? Optional.empty() : Optional.ofNullable(intendedEnd);
  }

  /** Whether a cancel was asked for and nothing has followed from it yet that could. */
  boolean isCancelDue() {
    return status == RunStatus.CANCEL_REQUESTED
        || (status == RunStatus.NEEDS_RECONCILIATION && cancellation != null && !needsVerdict());
  }

  /**
   * How large it is: the UTF-8 bytes of the messages, tool inputs and outputs, approvals and notes
   * in it, and 256 for the result of each call that was asked for.
   *
   * @return the bytes
   */
  public long bytes() {
    return bytes;
  }

  /** How large the content of its log is: as {@link #bytes()}, and what compactions replaced. */
  long logBytes() {
    return logBytes;
  }

  /**
   * How large it may become; an event that would make it larger is not written.
   *
   * @return the limit in bytes, {@link #DEFAULT_MAX_BYTES} unless the run began with another one
   */
  public long maxBytes() {
    return started.maxStateBytes().orElse(DEFAULT_MAX_BYTES);
  }

  /**
   * The sequence of the last event.
   *
   * @return 1 or more
   */
  public long sequence() {
    return sequence;
  }

  /**
   * When it started.
   *
   * @return the time of the first event
   */
  public Instant startedAt() {
    return startedAt;
  }

  /**
   * When its last event was written.
   *
   * @return the time of the last event
   */
  public Instant updatedAt() {
    return updatedAt;
  }

  /** Shows id, status and sequence. */
  @Override
  public String toString() {
    return "RunState[%s, %s, sequence %d]".formatted(run, status, sequence);
  }
}
