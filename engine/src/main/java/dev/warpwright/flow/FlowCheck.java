package dev.warpwright.flow;

import dev.warpwright.agent.Invocation;
import dev.warpwright.effect.Effects;
import dev.warpwright.model.Json;
import dev.warpwright.model.NonDeterminismException;
import dev.warpwright.run.FlowCall;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.RunLog;
import dev.warpwright.run.RunState;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.Writer;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.Outcome;
import dev.warpwright.task.TaskScope;
import dev.warpwright.task.TaskTree;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Runs a flow's body against a log that is at hand, as far as the log goes, and makes no call that
 * is not recorded there; see {@link Flows#check}.
 */
final class FlowCheck<I, O> {
  private final Flow<I, O> flow;
  private final RunState state;
  private final TaskTree tasks;
  private final FlowDrive drive;

  FlowCheck(Flow<I, O> flow, List<LoggedEvent> log, Flows flows) {
    this.flow = flow;
    this.state = RunState.of(log);
    this.tasks = flows.tasks();
    RunStore scratch = RunStore.inMemory(tasks.time());
    scratch.adopt(log, state.standing(), Deadline.never());
    RunLog read =
        RunLog.open(scratch, state.run(), Writer.outside("check"), tasks.time(), Deadline.never());
    this.drive =
        new FlowDrive(
            new FlowLog(read, new FlowShow(Optional.empty(), tasks)),
            flow,
            flows,
            Invocation.DEFAULT,
            state,
            Deadline.never(),
            false);
  }

  Optional<NonDeterminismException> firstDivergence() {
    Outcome<@Nullable Void> outcome;
    try (TaskScope scope = tasks.open("check", "check of flow " + flow.id())) {
      drive.runsIn(scope);
      outcome = scope.call("body", flow.id(), Deadline.never(), this::body);
    }
    if (outcome instanceof Outcome.Failure(Error error)) {
      throw error;
    }
    return drive
        .broken()
        .filter(NonDeterminismException.class::isInstance)
        .map(NonDeterminismException.class::cast);
  }

  private @Nullable Void body() {
    FlowContext context = FlowContext.ofBody(drive, new ArrayDeque<>(), FlowContext.Mode.STOPPED);
    try {
      I input = flow.input().read(state.started().input().orElseThrow());
      Json output = flow.output().write(Effects.forbidden(() -> flow.body().run(context, input)));
      if (!context.hasLeft() && isAllReached()) {
        state
            .output()
            .filter(recorded -> !recorded.canonical().equals(output.canonical()))
            .ifPresent(recorded -> endsDiffer("output", "another output"));
        state.continuedAs().ifPresent(next -> endsDiffer("continuation", "output"));
      }
    } catch (Unwind end) { // where the log ends, or the run goes on in another one
      if (drive.continuation().isPresent() && isAllReached() && state.output().isPresent()) {
        endsDiffer("output", "continuation");
      }
    } catch (Exception e) {
      if (!context.hasLeft() && isAllReached() && state.output().isPresent()) {
        endsDiffer("output", "exception " + e.getClass().getName());
      }
    }
    return null;
  }

  private boolean isAllReached() {
    List<FlowCall> calls = drive.notReached();
    calls.stream().limit(1).forEach(drive::notReached);
    return calls.isEmpty();
  }

  private void endsDiffer(String recorded, String attempted) {
    var _ = drive.differs("end", recorded, attempted);
  }
}
