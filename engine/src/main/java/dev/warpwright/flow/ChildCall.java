package dev.warpwright.flow;

import dev.warpwright.agent.Agent;
import dev.warpwright.agent.AgentReplay;
import dev.warpwright.agent.AgentResult;
import dev.warpwright.agent.Agents;
import dev.warpwright.agent.Invocation;
import dev.warpwright.effect.Effects;
import dev.warpwright.model.ConflictException;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.OperationCancelledException;
import dev.warpwright.model.OperationTrace;
import dev.warpwright.model.StepFailedException;
import dev.warpwright.run.ChildEnds;
import dev.warpwright.run.FlowCall;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.RunEvent.ChildFinished;
import dev.warpwright.run.RunEvent.ChildStarted;
import dev.warpwright.run.RunEvent.RunFailed;
import dev.warpwright.run.RunEvent.RunSuspended.Reason;
import dev.warpwright.run.RunIds;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunState;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * One call of a child run, of an agent or of another flow: begins the child or, if the log has it,
 * joins it, and records how it ended. Confined to the thread of its context.
 *
 * <p>The child's id is in the parent's log before the child is created, and is its idempotency key
 * too: whoever comes to the call again finds the same child.
 */
final class ChildCall {
  private final FlowDrive drive;
  private final FlowContext context;
  private final String position;
  private final String drivenBy;

  ChildCall(FlowDrive drive, FlowContext context, String position, String drivenBy) {
    this.drive = drive;
    this.context = context;
    this.position = position;
    this.drivenBy = drivenBy;
  }

  /** How a child that completed was left. */
  AgentResult ofAgent(Optional<FlowCall.Child> recorded, Agent agent, String prompt) {
    if (drive.replay().isPresent()) {
      List<LoggedEvent> log = load(recorded.orElseThrow().started());
      drive.replay().get().child(drive, position, log, agent, prompt);
      replayed(recorded);
      return AgentReplay.result(agent, log);
    }
    Agents agents =
        drive
            .flows
            .agents()
            .orElseThrow(
                () ->
                    new InvalidRequestException(
                        FailureKind.INVALID_REQUEST,
                        "A flow runs agents only if it was made with Flows.on(agents)."));
    Function<ChildStarted, RunState> run =
        begun ->
            agents
                .runChild(drive.run(), begun, agent, prompt, drive.metadata, drive.invocation)
                .state();
    ChildStarted child = ended(recorded, run);
    var _ = given(child);
    return agents.result(agent, key(child));
  }

  /** What a child flow returned. */
  <I, O> O ofFlow(Optional<FlowCall.Child> recorded, Flow<I, O> flow, I input) {
    if (drive.replay().isPresent()) {
      List<LoggedEvent> log = load(recorded.orElseThrow().started());
      drive.replay().get().child(drive, position, log, flow, input);
      replayed(recorded);
      return flow.output().read(RunState.of(log).output().orElseThrow());
    }
    Function<ChildStarted, RunState> run =
        begun ->
            drive
                .flows
                .run(
                    FlowRequest.builder(flow, input)
                        .scope(drive.run().scope())
                        .runId(begun.childRunId())
                        .idempotencyKey("child:" + begun.childRunId())
                        .childOf(drive.runId())
                        .metadata(drive.metadata)
                        .invocation(ofChild(drive.invocation))
                        .build())
                .state();
    List<LoggedEvent> log = given(ended(recorded, run));
    return flow.output().read(RunState.of(log).output().orElseThrow());
  }

  /** The child of which the log says how it ended. */
  private ChildStarted replayed(Optional<FlowCall.Child> recorded) {
    requireCompleted(recorded.orElseThrow().finished().orElseThrow());
    return recorded.get().started();
  }

  /** What of an invocation goes on to the runs of child flows, and by them to their agents. */
  private static Invocation ofChild(Invocation around) {
    Invocation.Builder child = Invocation.builder();
    around.budgetScope().ifPresent(child::budgetScope);
    around.context().ifPresent(child::context);
    return child.build();
  }

  /** The child, which has completed. */
  private ChildStarted ended(
      Optional<FlowCall.Child> recorded, Function<ChildStarted, RunState> run) {
    if (recorded.isPresent() && recorded.get().isOver()) {
      requireCompleted(recorded.get().finished().orElseThrow());
      return recorded.get().started();
    }
    context.requireNotCancelled();
    ChildStarted child =
        recorded
            .map(FlowCall.Child::started)
            .orElseGet(() -> new ChildStarted(position, RunIds.next(drive.time), drivenBy));
    if (recorded.isEmpty()) {
      drive.append(child);
      context.requireRecorded(position);
    }
    RunState left;
    try {
      left =
          recorded.flatMap(this::failed).orElseGet(() -> Effects.allowed(() -> run.apply(child)));
    } catch (OperationCancelledException e) {
      throw drive.cutOff(); // stopped, and so is the child
    }
    switch (left.status()) {
      case COMPLETED, FAILED, CANCELLED, TIMED_OUT -> {
        if (drive.isOver()) {
          throw Unwind.NOW; // that is why it failed
        }
        ChildFinished end = ChildEnds.of(child, left, load(child));
        drive.append(end);
        requireCompleted(end);
      }
      case WAITING, WAITING_APPROVAL, NEEDS_RECONCILIATION, QUEUED, RUNNING, CANCEL_REQUESTED ->
          throw drive.suspend(Reason.CHILD, child.childRunId(), position);
    }
    return child;
  }

  /**
   * A child that has failed by a step of its own while nobody drove this run: the body has not seen
   * that, and only after somebody has resumed this run for it the step is made again.
   */
  private Optional<RunState> failed(FlowCall.Child call) {
    List<LoggedEvent> log = load(call.started());
    if (log.isEmpty()) {
      return Optional.empty();
    }
    RunState child = RunState.of(log);
    boolean byStep = child.failure().flatMap(RunFailed::position).isPresent();
    boolean known =
        call.failedBefore().filter(ChildEnds.of(call.started(), child, log)::equals).isPresent();
    return byStep && !known ? Optional.of(child) : Optional.empty();
  }

  private List<LoggedEvent> load(ChildStarted child) {
    return drive.flows.store().load(key(child), 1, drive.deadline());
  }

  private RunKey key(ChildStarted child) {
    return new RunKey(drive.run().scope(), child.childRunId());
  }

  /** The log of a child that has ended: the drive cannot go on without what it has given. */
  private List<LoggedEvent> given(ChildStarted child) {
    List<LoggedEvent> log = load(child);
    if (log.isEmpty()) {
      throw drive.fail(
          new ConflictException(
              "The run %s cannot go on: its child run %s, whose result it reads, was deleted."
                  .formatted(drive.run(), child.childRunId()),
              null,
              OperationTrace.NONE.ofRun(drive.runId())));
    }
    return log;
  }

  private void requireCompleted(ChildFinished end) {
    if (end.failed()) {
      FailureKind kind = end.error().orElse(FailureKind.CANCELLED);
      throw new StepFailedException(
          kind,
          drivenBy,
          position,
          RunState.class.getName(),
          "Its run %s is %s (%s).".formatted(end.childRunId(), end.status(), kind),
          null);
    }
  }
}
