package dev.warpwright.flow;

import dev.warpwright.agent.Agent;
import dev.warpwright.agent.AgentReplay;
import dev.warpwright.drive.CancelWatch;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.model.NonDeterminismException;
import dev.warpwright.model.OperationCancelledException;
import dev.warpwright.model.OperationTrace;
import dev.warpwright.run.FlowCall;
import dev.warpwright.run.FlowEvent;
import dev.warpwright.run.FlowEvent.FlowStepFinished;
import dev.warpwright.run.FlowEvent.FlowStepStarted;
import dev.warpwright.run.FlowEvent.StepError;
import dev.warpwright.run.FlowEvent.StepRetryScheduled;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.ReplayDifference;
import dev.warpwright.run.RunEvent;
import dev.warpwright.run.RunEvent.ApprovalRequested;
import dev.warpwright.run.RunEvent.ChildStarted;
import dev.warpwright.run.RunEvent.RunFailed;
import dev.warpwright.run.RunEvent.RunSuspended;
import dev.warpwright.run.RunEvent.RunSuspended.Reason;
import dev.warpwright.run.RunEventCodec;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunLog;
import dev.warpwright.run.RunState;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.Writer;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.TaskTree;
import dev.warpwright.tool.EffectClass;
import dev.warpwright.tool.JsonType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One drive of a flow over again: the ordinary driver runs the body against the log as it was
 * before the drive ended, in a store of its own, and must come to the same end. Every call gives
 * what is recorded of it; one that is not recorded is a difference, unless the drive was cut off
 * there from outside. No step is run, no child, no reconciler, and nothing is waited for.
 *
 * <p>Used by the thread of the replay and, while that waits, by the one of the body.
 */
final class FlowReplay {
  private final List<LoggedEvent> log;
  private final int end; // how many events there were before the end
  private final RunKey run;
  private final Map<RunKey, List<LoggedEvent>> others;
  private final Optional<Object> context; // of agents
  private final List<Supplier<Optional<ReplayDifference>>> children = new ArrayList<>();
  private @Nullable ReplayDifference first;
  private boolean beyond; // that is the difference

  private FlowReplay(
      List<LoggedEvent> log,
      int end,
      Map<RunKey, List<LoggedEvent>> others,
      Optional<Object> context) {
    this.context = context;
    this.log = log;
    this.end = end;
    this.run = log.getFirst().run();
    this.others = others;
  }

  /**
   * Replays all drives of a run, and the child runs of it.
   *
   * @param flow the flow
   * @param log its whole log
   * @param others the logs that child runs are looked up in
   * @param context what the program gives to the rules of its agents
   * @return the first difference
   */
  static Optional<ReplayDifference> of(
      Flow<?, ?> flow,
      List<LoggedEvent> log,
      Map<RunKey, List<LoggedEvent>> others,
      Optional<Object> context) {
    RunState state = RunState.of(log);
    Flows.requireFlow(flow, state);
    Optional<ReplayDifference> found = Optional.empty();
    for (int i = 1; i < log.size() && found.isEmpty(); i++) {
      if (isEnd(log.get(i))) {
        found = new FlowReplay(log, i, others, context).drive(flow);
      }
    }
    if (found.isPresent()) {
      return found;
    }
    FlowReplay last = new FlowReplay(log, log.size(), others, context);
    found = state.isTerminal() || isEnd(log.getLast()) ? found : last.drive(flow);
    return found;
  }

  private static boolean isEnd(LoggedEvent logged) {
    return switch (logged.event()) {
      case RunSuspended e -> true;
      case RunFailed e -> true;
      case RunEvent.RunCompleted e -> true;
      case RunEvent.RunCancelled e -> true;
      case RunEvent.RunTimedOut e -> true;
      default -> false;
    };
  }

  private Optional<ReplayDifference> drive(Flow<?, ?> flow) {
    List<LoggedEvent> before = log.subList(0, end);
    RunState state = RunState.of(before);
    if (state.status() != RunStatus.RUNNING && state.status() != RunStatus.CANCEL_REQUESTED) {
      return Optional.empty(); // an end that had waited for a verdict, or nothing has begun
    }
    RunStore scratch = RunStore.inMemory();
    scratch.adopt(before, state.standing(), Deadline.never());
    others.forEach(
        (key, other) -> {
          if (!key.equals(run)) {
            scratch.adopt(other, RunState.of(other).standing(), Deadline.never());
          }
        });
    drive(flow, scratch);
    List<LoggedEvent> produced = scratch.load(run, end + 1L, Deadline.never());
    Optional<ReplayDifference> found = compare(produced);
    for (Supplier<Optional<ReplayDifference>> child : children) {
      found = found.or(child);
    }
    return found;
  }

  private <I, O> void drive(Flow<I, O> flow, RunStore scratch) {
    TaskTree tasks = TaskTree.builder().build();
    Writer owner = scratch.acquire(run, Deadline.never()).orElseThrow();
    RunLog runLog = RunLog.open(scratch, run, owner, tasks.time(), Deadline.never());
    try (CancelWatch none = new CancelWatch(Optional.empty(), scratch, tasks.time())) {
      new FlowDriver<>(flow, runLog, Flows.on(tasks, scratch), none, this).drive();
    } catch (NonDeterminismException | OperationCancelledException e) {
      // noted, or the end that was written is that
    } catch (Error e) {
      if (runLog.state().sequence() == end) {
        throw e; // it was not one of the flow's body, which ends the run
      }
    }
  }

  private Optional<ReplayDifference> compare(List<LoggedEvent> produced) {
    boolean isWhole = end == log.size();
    if (first != null) {
      boolean cutOff = beyond && (isWhole || isFromOutside(log.get(end).event()));
      return cutOff ? Optional.empty() : Optional.of(first);
    }
    if (isWhole || produced.isEmpty()) {
      return Optional.empty();
    }
    RunEvent recorded = log.get(end).event();
    RunEvent made = produced.getLast().event();
    if (Arrays.equals(RunEventCodec.encode(recorded), RunEventCodec.encode(made))
        || (isLeft(made) && isFromOutside(recorded))
        || isSameWait(recorded, made)) {
      return Optional.empty();
    }
    return Optional.of(
        new ReplayDifference(
            run,
            end + 1L,
            "the log has %s, the code ends the drive with %s".formatted(name(recorded), name(made)),
            Optional.of(recorded),
            Optional.of(made)));
  }

  private static String name(RunEvent event) {
    return RunEventCodec.type(event)
        + switch (event) {
          case RunSuspended wait -> " over " + wait.reason();
          case RunFailed failure -> " by " + failure.kind();
          default -> "";
        };
  }

  /** Whether a drive that was cut off anywhere may have ended so. */
  private static boolean isFromOutside(RunEvent end) {
    return switch (end) {
      case RunEvent.RunTimedOut late -> true;
      case RunFailed failure ->
          failure.position().isEmpty()
              && switch (failure.kind()) {
                case CANCELLED, DEADLINE, LIMIT, INTERNAL -> true;
                default -> false;
              };
      default -> false;
    };
  }

  /** Whether the body did not come to an end. */
  private static boolean isLeft(RunEvent made) {
    return switch (made) {
      case RunSuspended wait -> true;
      case RunFailed failure ->
          failure.position().isEmpty() && failure.kind() == FailureKind.CANCELLED;
      default -> false;
    };
  }

  /** A wait for a verdict, whatever end has met it. */
  private static boolean isSameWait(RunEvent recorded, RunEvent made) {
    return recorded instanceof RunSuspended one
        && made instanceof RunSuspended other
        && one.reason() == Reason.RECONCILIATION
        && other.reason() == Reason.RECONCILIATION
        && one.awaited().equals(other.awaited());
  }

  /** The code makes a call that the log does not have, or is told that the run is cancelled. */
  RuntimeException beyond(FlowDrive drive, String position, String kind, String name) {
    if (drive.isCancelled()) {
      return drive.runCancelled();
    }
    beyond |= first == null;
    note(
        end + 1L,
        "the code makes the %s \"%s\" at position %s, which the log does not have"
            .formatted(kind, name, position));
    return drive.fail(differs("a call that is not recorded"));
  }

  private void note(long sequence, String what) {
    if (first == null) {
      Optional<RunEvent> recorded =
          sequence > log.size()
              ? Optional.empty()
              : Optional.of(log.get(Math.toIntExact(sequence - 1)).event());
      first = new ReplayDifference(run, sequence, what, recorded, Optional.empty());
    }
  }

  /** Told by the drive of a call that is another one than that of the log. */
  void differs(String position, String recorded, String attempted) {
    note(
        sequenceOf(position),
        "at position %s the log has the %s, the code makes the %s"
            .formatted(position, recorded, attempted));
  }

  /** Told by the drive of a call that is recorded and was not made. */
  void notReached(FlowCall call) {
    note(
        sequenceOf(call.position()),
        "the code does not come to the recorded %s \"%s\" at position %s"
            .formatted(call.kind(), call.name(), call.position()));
  }

  /** The first event of a call; the first of all if there is none. */
  private long sequenceOf(String position) {
    return log.subList(0, end).stream()
        .filter(logged -> positionOf(logged.event()).equals(position))
        .mapToLong(LoggedEvent::sequence)
        .findFirst()
        .orElse(1);
  }

  private static String positionOf(RunEvent event) {
    return switch (event) {
      case FlowEvent call -> call.position();
      case ChildStarted child -> child.callId();
      case ApprovalRequested asked -> asked.callId();
      default -> "";
    };
  }

  private NonDeterminismException differs(String what) {
    return new NonDeterminismException(
        "The replay of run " + run + " differs from its log: " + what + ".",
        OperationTrace.NONE.ofRun(run.runId()));
  }

  /** Leaves the body where it was left: a call that is recorded and not over. */
  boolean waits(FlowDrive drive, FlowCall call) {
    if (call.isOver()) {
      return false;
    }
    if (drive.isCancelled()) {
      throw drive.runCancelled();
    }
    String position = call.position();
    throw switch (call) {
      case FlowCall.Timer timer -> drive.suspend(Reason.TIMER, position, position);
      case FlowCall.Signal signal -> drive.suspend(Reason.SIGNAL, position, position);
      case FlowCall.Child child ->
          drive.suspend(Reason.CHILD, child.started().childRunId(), position);
      case FlowCall.Step step when step.needsVerdict() ->
          drive.suspend(Reason.RECONCILIATION, position, position);
      case FlowCall.Step step when step.dueAt().isPresent() ->
          drive.suspend(Reason.TIMER, position, position);
      default -> Unwind.NOW; // it was cut off in the middle of it
    };
  }

  /** The step is recorded as the code makes it: its effect class, its key, its retries. */
  void requireStep(FlowDrive drive, FlowCall.Step step, StepOptions options) {
    EffectClass effect = step.started().map(FlowStepStarted::effect).orElse(EffectClass.PURE);
    if (effect != options.effect()) {
      throw drive.differs(
          step.position(),
          "step \"%s\" as %s".formatted(step.name(), effect),
          "step as " + options.effect());
    }
    boolean ownKey =
        step.started()
            .map(FlowStepStarted::key)
            .filter(key -> drive.keys(step.position()).noneMatch(key::equals))
            .isEmpty();
    if (!ownKey) {
      throw drive.differs(step.position(), "key of step \"" + step.name() + "\"", "another key");
    }
    requireRetries(drive, step, options);
  }

  private void requireRetries(FlowDrive drive, FlowCall.Step step, StepOptions options) {
    int failures = 0;
    for (LoggedEvent logged : log.subList(0, end)) {
      switch (logged.event()) {
        case StepRetryScheduled e when e.position().equals(step.position()) -> {
          failures++;
          if (!options.retry().allows(failures, e.error())) {
            throw drive.differs(
                step.position(),
                "retry of step \"%s\"".formatted(step.name()),
                "step without one after failure " + failures);
          }
        }
        case FlowStepFinished e
            when e.position().equals(step.position()) && e.error().isPresent() -> {
          failures++;
          if (wouldBeMadeAgain(drive, options, failures, e.error().get())) {
            throw drive.differs(
                step.position(),
                "failure of step \"%s\"".formatted(step.name()),
                "retry of it after failure " + failures);
          }
        }
        default -> {}
      }
    }
  }

  private static boolean wouldBeMadeAgain(
      FlowDrive drive, StepOptions options, int failures, StepError error) {
    boolean repeatable =
        options.effect() != EffectClass.ONCE
            || error.type().equals(NotExecutedException.class.getName());
    return repeatable
        && error.kind() != FailureKind.LIMIT // of its value, after it had succeeded
        && !drive.isCancelled()
        && !options.retry().isLimited()
        && options.retry().allows(failures, error);
  }

  /** What the code reads is written again as it stands in the log. */
  <T> void requireValue(
      FlowDrive drive, String position, String name, Json value, JsonType<T> type, T read) {
    if (!type.write(read).canonical().equals(value.canonical())) {
      throw drive.differs(
          position, "value of step \"" + name + "\"", "value that is written otherwise");
    }
  }

  /** A child run of an agent, which is replayed too. */
  void child(
      FlowDrive drive, String position, List<LoggedEvent> child, Agent agent, String prompt) {
    requireThere(drive, position, child);
    if (!AgentReplay.isAskedFor(child, agent, prompt)) {
      throw drive.differs(
          position, "child run of \"" + agent.id() + "\"", "child run that is asked otherwise");
    }
    children.add(() -> AgentReplay.difference(agent, child, others, context));
  }

  /** A child run of a flow, which is replayed too. */
  <I> void child(
      FlowDrive drive, String position, List<LoggedEvent> child, Flow<I, ?> flow, I input) {
    requireThere(drive, position, child);
    Json given = RunState.of(child).started().input().orElseThrow();
    if (!given.canonical().equals(flow.input().write(input).canonical())) {
      throw drive.differs(
          position, "child run of \"flow:" + flow.id() + "\"", "child run with another input");
    }
    children.add(() -> of(flow, child, others, context));
  }

  private void requireThere(FlowDrive drive, String position, List<LoggedEvent> child) {
    if (child.isEmpty()) {
      throw drive.fail(
          new InvalidRequestException(
              FailureKind.INVALID_REQUEST,
              "The replay of run %s needs the log of the child run at position %s."
                  .formatted(run, position)));
    }
  }
}
