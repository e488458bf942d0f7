package dev.warpwright.agent;

import dev.warpwright.Gateway;
import dev.warpwright.ObserverCalls;
import dev.warpwright.agent.AgentTelemetry.ApprovalRequest;
import dev.warpwright.agent.AgentTelemetry.ApprovalResolved;
import dev.warpwright.agent.AgentTelemetry.Event;
import dev.warpwright.agent.AgentTelemetry.EventsAppended;
import dev.warpwright.agent.AgentTelemetry.InvocationFinish;
import dev.warpwright.agent.AgentTelemetry.InvocationStart;
import dev.warpwright.agent.AgentTelemetry.RunFinish;
import dev.warpwright.agent.AgentTelemetry.RunStart;
import dev.warpwright.agent.AgentTelemetry.StepFinish;
import dev.warpwright.agent.AgentTelemetry.StepStart;
import dev.warpwright.agent.AgentTelemetry.ToolFinish;
import dev.warpwright.agent.AgentTelemetry.ToolStart;
import dev.warpwright.agent.HookFailure.Hook;
import dev.warpwright.model.Attempt;
import dev.warpwright.model.GuardrailStage;
import dev.warpwright.model.HookFailedException;
import dev.warpwright.model.OperationTrace;
import dev.warpwright.model.WarpwrightException;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.RunEvent.ModelResponded;
import dev.warpwright.run.RunEvent.RunFailed;
import dev.warpwright.run.RunEventCodec;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunState;
import dev.warpwright.run.RunStatus;
import dev.warpwright.task.TimeSource;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The program's hooks during one invocation: tells its observer, and knows what it means that a
 * hook fails.
 *
 * <p>Used by one thread at a time, the one that begins the invocation, then the one that works; but
 * an environment that comes too late reports from its own.
 */
final class Hooks {
  private static final String OBSERVER = "agent observer";

  private final Agent agent;
  private final Optional<AgentObserver> observer;
  private final HookFailurePolicy policy;
  private final TimeSource time;
  private final String invocationId;
  private final ObserverCalls calls;
  private volatile @Nullable RunKey run;
  private volatile @Nullable RunState left; // how the driver left the run
  private @Nullable HookFailedException fatal; // the first failure, if that ends the run
  private boolean thrown; // the fatal failure

  Hooks(Agent agent, Optional<AgentObserver> observer, HookFailurePolicy policy, Gateway gateway) {
    this.agent = agent;
    this.observer = observer;
    this.policy = policy;
    this.time = gateway.time();
    this.invocationId = "invocation-" + HexFormat.of().toHexDigits(time.random().nextLong());
    this.calls = gateway.observerCalls(invocationId);
  }

  /** Whether somebody is told. */
  boolean areObserved() {
    return observer.isPresent();
  }

  /** Called before anything else. */
  void invocationStarts() {
    tell(InvocationStart::new);
    requireNoFatalFailure();
  }

  /** Does the work of the invocation and tells how it ended, once. */
  AgentResult around(Supplier<AgentResult> work) {
    AgentResult result;
    try {
      result = work.get();
    } catch (RuntimeException | Error e) {
      failed(e);
      throw e;
    }
    run = result.run();
    left = result.state();
    invocationEnds(Optional.empty());
    if (unsaid().isPresent()) {
      throw unsaid().get();
    }
    return result;
  }

  /** The invocation ends by this. */
  void failed(Throwable thrown) {
    invocationEnds(Optional.of(thrown));
  }

  private void invocationEnds(Optional<Throwable> thrown) {
    if (left != null) {
      RunState state = left;
      tellLast(() -> finish(state));
    }
    Optional<Throwable> end = thrown.isPresent() ? thrown : unsaid().map(Function.identity());
    tellLast(
        () ->
            new InvocationFinish(
                end.map(why -> why.getClass().getName()),
                end.filter(WarpwrightException.class::isInstance)
                    .map(why -> ((WarpwrightException) why).kind())));
  }

  /** The fatal failure of a hook, unless the run failed by it. */
  private Optional<HookFailedException> unsaid() {
    boolean said = thrown && left != null && left.status() == RunStatus.FAILED;
    return said ? Optional.empty() : Optional.ofNullable(fatal);
  }

  private static RunFinish finish(RunState state) {
    return new RunFinish(
        state.status(),
        state.failure().map(RunFailed::kind),
        state.step(),
        state.usage(),
        state.cost());
  }

  /** Which run it is, as soon as that is known. */
  void runIs(RunKey known) {
    run = known;
  }

  /** How the driver left the run. */
  void left(RunState state) {
    left = state;
  }

  /** How the run was left; empty if nobody can say. */
  Optional<RunStatus> leftAs() {
    return Optional.ofNullable(left).map(RunState::status);
  }

  void runStarts(String operationId, AgentEvent.RunStart start) {
    tell(() -> new RunStart(operationId, start.currentStep(), start.maxSteps()));
  }

  void guardrailTriggered(GuardrailStage stage, String guardrailId) {
    tell(() -> new AgentTelemetry.GuardrailTriggered(stage, guardrailId));
  }

  void memoryLoaded(int messages) {
    tell(() -> new AgentTelemetry.MemoryLoaded(messages));
  }

  void stepFinishes(int step, ModelResponded answer) {
    tell(
        () ->
            new StepFinish(
                step,
                answer.target(),
                answer.finishReason().kind(),
                answer.usage(),
                (int) answer.attempts().stream().filter(Attempt::dispatched).count(),
                answer.message().toolCalls().size()));
  }

  /** Tells what this invocation wrote, not what came from outside meanwhile. */
  void appended(List<LoggedEvent> written) {
    List<LoggedEvent> events =
        written.stream().filter(logged -> logged.writer().isOwner()).toList();
    if (!events.isEmpty()) {
      tell(
          () ->
              new EventsAppended(
                  events.getFirst().sequence(),
                  events.stream().map(logged -> RunEventCodec.type(logged.event())).toList()));
    }
  }

  /** Tells of what a reader is shown, without its content. */
  void shown(AgentEvent event) {
    switch (event) {
      case AgentEvent.ApprovalResolved(var decision) ->
          tell(() -> new ApprovalResolved(decision.requestId(), decision.approve()));
      case AgentEvent.StepStart(int step) -> tell(() -> new StepStart(step));
      case AgentEvent.ApprovalRequest(var request) ->
          tell(
              () ->
                  new ApprovalRequest(
                      request.requestId(), request.step(), request.callId(), request.tool()));
      case AgentEvent.ToolStart(int step, var call, int attempt) ->
          tell(() -> new ToolStart(step, call.id(), call.name(), attempt));
      case AgentEvent.ToolFinish end ->
          tell(
              () ->
                  new ToolFinish(
                      end.step(),
                      end.callId(),
                      end.tool(),
                      end.executed(),
                      end.error(),
                      end.duration()));
      default -> {} // it is content, or told with more than a reader is shown
    }
  }

  /**
   * Ends what goes on if a hook has failed and the policy says so; once, so that the end can be
   * written and told.
   *
   * @throws HookFailedException the first time
   */
  void requireNoFatalFailure() {
    if (fatal != null && !thrown) {
      thrown = true;
      throw fatal;
    }
  }

  private void tell(Supplier<Event> event) {
    tell(event, false);
  }

  private void tellLast(Supplier<Event> event) {
    tell(event, true);
  }

  /** Tells; what is not always told is dropped if too much waits. */
  private void tell(Supplier<Event> event, boolean always) {
    if (observer.isEmpty()) {
      return;
    }
    AgentObserver to = observer.get();
    AgentTelemetry telemetry =
        new AgentTelemetry(
            invocationId, agent.id(), Optional.ofNullable(run), time.now(), event.get());
    Runnable call = () -> to.onTelemetry(telemetry);
    if (policy.isFatal()) {
      calls.await(OBSERVER, call).ifPresent(cause -> fails(Hook.OBSERVER, cause));
    } else if (always) {
      calls.add(OBSERVER, call, reporting(Hook.OBSERVER));
    } else {
      calls.offer(OBSERVER, call, reporting(Hook.OBSERVER));
    }
  }

  /** A report of its own: the run may be known by then, and the thread is another one. */
  private Consumer<Throwable> reporting(Hook hook) {
    Optional<RunKey> known = Optional.ofNullable(run);
    return cause -> policy.report(new HookFailure(hook, agent.id(), known, cause));
  }

  /** Tells the listener of failures; any thread. */
  void reports(Hook hook, Throwable cause) {
    Consumer<Throwable> report = reporting(hook);
    calls.add("hook failure listener", () -> report.accept(cause), unheard -> {});
  }

  /** A hook failed: that is reported and, if the policy says so, the first one ends the run. */
  void fails(Hook hook, Throwable cause) {
    reports(hook, cause);
    if (policy.isFatal() && fatal == null) {
      fatal =
          new HookFailedException(
              "The %s of agent \"%s\" failed with %s, and HookFailurePolicy.FAIL ends the run."
                  .formatted(
                      hook.name().toLowerCase(Locale.ROOT), agent.id(), cause.getClass().getName()),
              cause,
              run == null ? OperationTrace.NONE : OperationTrace.NONE.ofRun(run.runId()));
    }
  }
}
