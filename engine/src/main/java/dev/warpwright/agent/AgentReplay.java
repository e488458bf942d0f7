package dev.warpwright.agent;

import dev.warpwright.model.FailureKind;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.OperationTrace;
import dev.warpwright.model.Target;
import dev.warpwright.model.WarpwrightException;
import dev.warpwright.run.ApprovalSigner;
import dev.warpwright.run.CallState;
import dev.warpwright.run.ChildEnds;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.ReplayDifference;
import dev.warpwright.run.RunBinding;
import dev.warpwright.run.RunEvent;
import dev.warpwright.run.RunEvent.ApprovalDecided;
import dev.warpwright.run.RunEvent.ApprovalRequested;
import dev.warpwright.run.RunEvent.ChildFinished;
import dev.warpwright.run.RunEvent.ChildStarted;
import dev.warpwright.run.RunEvent.ContextCompacted;
import dev.warpwright.run.RunEvent.MemoryLoaded;
import dev.warpwright.run.RunEvent.ModelResponded;
import dev.warpwright.run.RunEvent.RouteBound;
import dev.warpwright.run.RunEvent.RunCompleted;
import dev.warpwright.run.RunEvent.RunFailed;
import dev.warpwright.run.RunEvent.RunStarted;
import dev.warpwright.run.RunEvent.RunSuspended;
import dev.warpwright.run.RunEvent.StepStarted;
import dev.warpwright.run.RunEvent.ToolFinished;
import dev.warpwright.run.RunEvent.ToolStarted;
import dev.warpwright.run.RunEventCodec;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunState;
import dev.warpwright.task.TimeSource;
import dev.warpwright.tool.ToolCaller;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Judges the log of an agent's run event by event, with the rules by which a driver decides what
 * comes next: what models, tools, memories, guardrails of answers, persons and the clock gave is
 * taken as it stands, and each event that the agent's code makes of it is made again from the state
 * before it and compared. For {@code Replay} of the flow package, which also runs the flows that
 * call agents.
 *
 * <p>Nothing is asked or run but the program's rules that judge tool calls before they run.
 * Stateless and thread-safe.
 */
public final class AgentReplay {
  private final Agent agent;
  private final List<LoggedEvent> log;
  private final Map<RunKey, List<LoggedEvent>> others;
  private final Optional<Object> context;
  private final Approvals approvals =
      new Approvals(TimeSource.system(), Optional.<ApprovalSigner>empty());
  private final List<Supplier<Optional<ReplayDifference>>> children = new ArrayList<>();

  private AgentReplay(
      Agent agent,
      List<LoggedEvent> log,
      Map<RunKey, List<LoggedEvent>> others,
      Optional<Object> context) {
    this.agent = agent;
    this.log = log;
    this.others = others;
    this.context = context;
  }

  /**
   * Whether a run was asked what a flow would ask now.
   *
   * @param log the log of the run
   * @param agent the agent
   * @param prompt what it is asked
   * @return true if its conversation begins so
   */
  public static boolean isAskedFor(List<LoggedEvent> log, Agent agent, String prompt) {
    List<Message> begun = AgentRequest.builder(agent, prompt).build().begun();
    return endsWith(RunState.of(log).started().messages(), begun);
  }

  private static boolean endsWith(List<Message> all, List<Message> begun) {
    return all.size() >= begun.size()
        && all.subList(all.size() - begun.size(), all.size()).equals(begun);
  }

  /**
   * How a run stands by its log.
   *
   * @param agent the agent of the run
   * @param log the whole log
   * @return the result
   */
  public static AgentResult result(Agent agent, List<LoggedEvent> log) {
    return AgentResult.asItStands(RunState.of(log), log).of(agent);
  }

  /**
   * The first event that the agent would write otherwise.
   *
   * @param agent the agent
   * @param log the whole log of a run
   * @param others the logs that child runs are looked up in; a child whose log is not there is
   *     taken as its parent has it
   * @param context what the program gives to its rules
   * @return the difference; empty if a run of the agent has this log
   * @throws InvalidRequestException if the log breaks a rule
   * @throws dev.warpwright.model.ConflictException if the run is one of another agent
   */
  public static Optional<ReplayDifference> difference(
      Agent agent,
      List<LoggedEvent> log,
      Map<RunKey, List<LoggedEvent>> others,
      Optional<Object> context) {
    RunState whole = RunState.of(log);
    Bindings.requireAgent(agent, whole.run(), whole.started());
    return new AgentReplay(agent, log, others, context).first();
  }

  private Optional<ReplayDifference> first() {
    Optional<ReplayDifference> found = begun((RunStarted) log.getFirst().event());
    for (int i = 1; i < log.size() && found.isEmpty(); i++) {
      LoggedEvent logged = log.get(i);
      if (logged.writer().isOwner()) {
        found = judge(logged, RunState.of(log.subList(0, i)));
      }
    }
    for (Supplier<Optional<ReplayDifference>> child : children) {
      found = found.or(child);
    }
    return found;
  }

  /** What of the beginning is the agent's own, and not what it was asked. */
  private Optional<ReplayDifference> begun(RunStarted started) {
    List<Message> messages = new ArrayList<>(started.messages());
    agent
        .instructions()
        .map(Message::system)
        .ifPresent(
            own -> {
              if (!messages.isEmpty()) {
                messages.set(0, own);
              }
            });
    boolean forked = started.forkedFrom().isPresent();
    RunStarted made =
        new RunStarted(
            started.agentId(),
            started.agentVersion(),
            started.fingerprint(),
            started.idempotencyKey(),
            messages,
            agent.maxSteps(),
            agent.route().candidates(),
            started.metadata(),
            forked
                ? started.maxStateBytes()
                : Optional.of(agent.maxStateBytes())
                    .filter(bytes -> bytes != RunState.DEFAULT_MAX_BYTES),
            started.imported(),
            Optional.of(agent.binding()).filter(binding -> !binding.equals(RunBinding.NONE)),
            started.input(),
            started.parent(),
            started.handoff(),
            started.life(),
            started.forkedFrom());
    return compare(log.getFirst(), made);
  }

  private Optional<ReplayDifference> judge(LoggedEvent logged, RunState before) {
    return switch (logged.event()) {
      case MemoryLoaded loaded ->
          MemoryLoad.isDue(agent, before) ? same() : differs(logged, "the agent loads none");
      case StepStarted begun -> step(logged, before);
      case ContextCompacted compacted ->
          agent.compaction().isPresent() ? same() : differs(logged, "the agent compacts nothing");
      case RouteBound bound -> ofRoute(logged, bound.target());
      case ModelResponded answer ->
          before.target().filter(answer.target()::equals).isPresent()
              ? ofRoute(logged, answer.target())
              : differs(logged, "another target is bound");
      case ApprovalRequested asked when asked.child().isEmpty() -> call(logged, before);
      case ToolStarted intent -> call(logged, before);
      case ToolFinished end when !end.executed() -> call(logged, before);
      case RunSuspended wait when wait.reason() == RunSuspended.Reason.APPROVAL ->
          call(logged, before);
      case ChildStarted child -> call(logged, before);
      case ChildFinished end -> child(logged, end, before);
      case RunCompleted end -> completed(logged, end, before);
      case RunFailed end -> failed(logged, end, before);
      default -> same(); // given from outside, or follows from what is
    };
  }

  private Optional<ReplayDifference> step(LoggedEvent logged, RunState before) {
    if (MemoryLoad.isDue(agent, before)) {
      return differs(logged, "the agent loads what it remembers first");
    }
    Optional<String> noStep = RunLimits.whyNoStep(agent, before);
    if (noStep.isPresent()) {
      return differs(logged, failure(FailureKind.LIMIT, noStep.get(), before));
    }
    return compare(logged, new StepStarted(before.nextStep(), before.messages().size()));
  }

  private Optional<ReplayDifference> ofRoute(LoggedEvent logged, Target target) {
    return agent.route().candidates().contains(target)
        ? same()
        : differs(logged, "the agent has no such target");
  }

  /** What the agent's rules make of the open calls, which the event is part of. */
  private Optional<ReplayDifference> call(LoggedEvent logged, RunState before) {
    if (isCutOff(before)) {
      return differs(logged, "the answer was cut off, and no tool is run");
    }
    Preflight preflight;
    try {
      List<CallState> open = before.calls().stream().map(AgentReplay::unsigned).toList();
      ToolCaller caller =
          new ToolCaller(
              before.run().runId(), Optional.of(agent.id()), before.started().metadata(), context);
      preflight = Preflight.of(agent, caller, open, approvals, OperationTrace.NONE);
      preflight.judge(before.step(), before.openApprovals(), before.pendingApprovals());
    } catch (WarpwrightException e) {
      return differs(logged, failure(e.kind(), String.valueOf(e.getMessage()), before));
    }
    return switch (logged.event()) {
      case ApprovalRequested asked -> oneOf(logged, preflight.events());
      case ToolFinished refused when isBegun(before, refused.callId()) -> same();
      case ToolFinished refused -> oneOf(logged, preflight.events());
      case ToolStarted intent -> intent(logged, intent, preflight);
      case ChildStarted begun -> begun(logged, begun, before, preflight);
      default -> // a wait for approvals
          preflight.awaited().isEmpty() && before.calls().stream().anyMatch(CallState::awaitsChild)
              ? same()
              : preflight.awaited().isEmpty()
                  ? differs(logged, "no approval is needed")
                  : compare(
                      logged, RunEnd.waiting(RunSuspended.Reason.APPROVAL, preflight.awaited()));
    };
  }

  /** Whether what the last answer asks for is not done, as it was cut off. */
  private static boolean isCutOff(RunState before) {
    boolean asks = !before.calls().isEmpty() || !before.openApprovals().isEmpty();
    Message answer = before.messages().getLast();
    return asks && before.finishReason().filter(finish -> !finish.allows(answer)).isPresent();
  }

  private static boolean isBegun(RunState before, String callId) {
    return before.calls().stream()
        .anyMatch(call -> call.call().id().equals(callId) && call.started().isPresent());
  }

  /** Approvals without the signatures, which a replay cannot check. */
  private static CallState unsigned(CallState call) {
    return new CallState(
        call.call(),
        call.step(),
        call.ordinal(),
        call.approval().map(asked -> timeless(asked, Optional.empty())),
        call.decision()
            .map(
                made ->
                    new ApprovalDecided(
                        made.requestId(), made.approve(), made.decidedBy(), made.reason())),
        call.started(),
        call.notExecuted(),
        call.suspended(),
        call.child(),
        call.result(),
        call.since());
  }

  private Optional<ReplayDifference> intent(
      LoggedEvent logged, ToolStarted intent, Preflight preflight) {
    if (!preflight.awaited().isEmpty()) {
      return differs(logged, preflight.events(), "an approval is needed first");
    }
    Optional<RunEvent> made =
        preflight.runs().stream()
            .filter(run -> run.call().id().equals(intent.callId()))
            .<RunEvent>map(ToolEvents::intent)
            .findFirst();
    return made.isPresent()
        ? compare(logged, made.get())
        : differs(logged, preflight.events(), "that call is not run");
  }

  private Optional<ReplayDifference> begun(
      LoggedEvent logged, ChildStarted begun, RunState before, Preflight preflight) {
    Optional<ChildCall> child =
        preflight.child().filter(next -> next.call().call().id().equals(begun.callId()));
    if (child.isEmpty() || !child.get().subAgent().agent().id().equals(begun.agentId())) {
      return differs(logged, preflight.events(), "that call begins no such child run");
    }
    List<LoggedEvent> own =
        others.getOrDefault(new RunKey(before.run().scope(), begun.childRunId()), List.of());
    if (!own.isEmpty()) {
      SubAgent subAgent = child.get().subAgent();
      List<Message> asked = ChildRuns.messages(child.get().call());
      if (!endsWith(RunState.of(own).started().messages(), asked)) {
        return differs(logged, "the child run is asked otherwise");
      }
      children.add(() -> difference(subAgent.agent(), own, others, context));
    }
    return same();
  }

  private Optional<ReplayDifference> child(LoggedEvent logged, ChildFinished end, RunState before) {
    List<LoggedEvent> own =
        others.getOrDefault(new RunKey(before.run().scope(), end.childRunId()), List.of());
    if (own.isEmpty()) {
      return same();
    }
    ChildStarted begun =
        before.children().stream()
            .map(RunState.Child::started)
            .filter(started -> started.childRunId().equals(end.childRunId()))
            .findFirst()
            .orElseThrow();
    ChildFinished made = ChildEnds.of(begun, RunState.of(own), own);
    return isSame(end, made.withoutText()) ? same() : compare(logged, made);
  }

  private Optional<ReplayDifference> completed(
      LoggedEvent logged, RunCompleted end, RunState before) {
    boolean fits =
        agent.output().isPresent() == end.output().isPresent()
            && end.output().map(this::canBeRead).orElse(true);
    return fits
        ? compare(
            logged,
            new RunCompleted(
                before.text(), before.step(), before.usage(), end.output(), end.outputMode()))
        : differs(logged, "the agent's output is of another type");
  }

  private boolean canBeRead(Json output) {
    try {
      agent.output().orElseThrow().read(output);
      return true;
    } catch (InvalidRequestException e) {
      return false;
    }
  }

  /** Most failures come from outside; those that follow from the agent are made again. */
  private Optional<ReplayDifference> failed(LoggedEvent logged, RunFailed end, RunState before) {
    Optional<FinishReason> cutOff = before.finishReason().filter(finish -> isCutOff(before));
    if (cutOff.isPresent()) {
      return end.kind() == cutOff.get().withoutTools()
          ? same()
          : differs(logged, "the answer was cut off");
    }
    boolean isOfSteps = RunLimits.isOfSteps(end);
    Optional<String> noStep = isOfSteps ? RunLimits.whyNoStep(agent, before) : Optional.empty();
    if (!isOfSteps || noStep.filter(end.message()::equals).isPresent()) {
      return same();
    }
    return noStep.isPresent()
        ? differs(logged, failure(FailureKind.LIMIT, noStep.get(), before))
        : differs(logged, "the agent allows another step");
  }

  private static RunFailed failure(FailureKind kind, String message, RunState before) {
    return new RunFailed(kind, message, true, before.step(), List.of());
  }

  private Optional<ReplayDifference> oneOf(LoggedEvent logged, List<RunEvent> made) {
    return made.stream().anyMatch(event -> isSame(logged.event(), event))
        ? same()
        : differs(logged, made, "that is not what the agent's rules say");
  }

  private static Optional<ReplayDifference> same() {
    return Optional.empty();
  }

  private Optional<ReplayDifference> compare(LoggedEvent logged, RunEvent made) {
    return isSame(logged.event(), made) ? same() : differs(logged, made);
  }

  /** But for when something expires, who signed, and how long it took. */
  private static boolean isSame(RunEvent recorded, RunEvent made) {
    return Arrays.equals(
        RunEventCodec.encode(timeless(recorded)), RunEventCodec.encode(timeless(made)));
  }

  private static RunEvent timeless(RunEvent event) {
    return switch (event) {
      case ApprovalRequested asked -> timeless(asked, Optional.empty());
      case ToolFinished end ->
          new ToolFinished(
              end.callId(),
              end.tool(),
              end.key(),
              end.executed(),
              end.output(),
              end.error(),
              Duration.ZERO);
      default -> event;
    };
  }

  private static ApprovalRequested timeless(ApprovalRequested asked, Optional<String> signature) {
    return new ApprovalRequested(
        asked.requestId(),
        asked.digest(),
        asked.step(),
        asked.callId(),
        asked.tool(),
        asked.toolVersion(),
        asked.arguments(),
        asked.expiresAt().isPresent() ? Optional.of(Instant.EPOCH) : Optional.empty(),
        signature,
        asked.child(),
        asked.why(),
        asked.provider());
  }

  private Optional<ReplayDifference> differs(LoggedEvent logged, RunEvent made) {
    String what =
        "the log has %s, the code makes %s".formatted(name(logged.event()), name(made))
            + (name(logged.event()).equals(name(made)) ? " with other content" : "");
    return Optional.of(difference(logged, what, Optional.of(made)));
  }

  private Optional<ReplayDifference> differs(LoggedEvent logged, String instead) {
    String what = "the log has %s, but %s".formatted(name(logged.event()), instead);
    return Optional.of(difference(logged, what, Optional.empty()));
  }

  /** What comes instead, if it is the only thing. */
  private Optional<ReplayDifference> differs(
      LoggedEvent logged, List<RunEvent> made, String instead) {
    return made.isEmpty() ? differs(logged, instead) : differs(logged, made.getFirst());
  }

  private static ReplayDifference difference(
      LoggedEvent logged, String what, Optional<RunEvent> made) {
    return new ReplayDifference(
        logged.run(), logged.sequence(), what, Optional.of(logged.event()), made);
  }

  /** The type, and of which call or tool; ids are the model's words. */
  private static String name(RunEvent event) {
    return RunEventCodec.type(event)
        + switch (event) {
          case RunFailed failure -> " by " + failure.kind();
          case ToolStarted intent -> " as " + intent.effect();
          case ChildFinished end -> " as " + end.status();
          default -> "";
        };
  }
}
