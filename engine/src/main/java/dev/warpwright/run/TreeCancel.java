package dev.warpwright.run;

import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.run.RunEvent.CancelRequested;
import dev.warpwright.run.RunEvent.ChildFinished;
import dev.warpwright.run.RunState.Child;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.TimeSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * Cancels a run and the child runs below it.
 *
 * <p>Which children there are says the log of the parent, where each stands before it begins. After
 * the request to cancel none can begin there any more; so the log as it is with the request in it
 * names them all, and nothing has to be looked for. A child of which the log says that it begins,
 * and that does not exist yet, is not waited for: it looks at its parent before its first model
 * call, which is after the request by then, and cancels itself.
 */
final class TreeCancel {
  private static final Writer CANCELLER = Writer.outside("cancel");

  private final RunStore store;
  private final TimeSource time;
  private final Deadline deadline;
  private final ControlEvents control;

  TreeCancel(RunStore store, TimeSource time, Deadline deadline) {
    this.store = store;
    this.time = time;
    this.deadline = deadline;
    this.control = new ControlEvents(store, time);
  }

  /**
   * Asks a run to be cancelled, and carries that out, below it first, unless somebody drives it.
   *
   * @throws InvalidRequestException if there is no such run
   */
  RunState cancel(RunKey run, CancelRequested request) {
    RunState state =
        control.append(
            run,
            CANCELLER,
            found -> isAskedOrEnded(found) ? List.of() : List.of(request),
            deadline);
    if (!state.isCancelDue()) {
      return state;
    }
    Optional<RunState> ended = RunLog.carryOutCancel(store, run, time, deadline);
    if (ended.isEmpty()) {
      cancelBelow(state, callId -> true); // its driver may be at work in one of them
    }
    return ended.orElse(state);
  }

  private static boolean isAskedOrEnded(RunState state) {
    return state.isTerminal() || state.cancellation().isPresent();
  }

  /**
   * Cancels the children of a run that are under way, each with those below it. What has ended for
   * good stays as it is.
   *
   * @param which says of which calls
   * @return the records of those that have ended by now
   */
  List<ChildFinished> cancelBelow(RunState parent, Predicate<String> which) {
    CancelRequested request = new CancelRequested(Optional.of("its parent run was cancelled"));
    List<ChildFinished> ended = new ArrayList<>();
    for (Child child : parent.children()) {
      RunKey run = new RunKey(parent.run().scope(), child.started().childRunId());
      if (child.finished().isEmpty()
          && which.test(child.started().callId())
          && !store.load(run, 1, deadline).isEmpty()) {
        var _ = cancel(run, request);
        List<LoggedEvent> log = store.load(run, 1, deadline);
        RunState state = RunState.of(log);
        if (state.isTerminal()) {
          ended.add(ChildEnds.of(child.started(), state, log));
        }
      }
    }
    return ended;
  }
}
