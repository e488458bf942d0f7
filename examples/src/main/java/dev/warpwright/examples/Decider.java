package dev.warpwright.examples;

import dev.warpwright.agent.Agent;
import dev.warpwright.agent.AgentResult;
import dev.warpwright.agent.Agents;
import dev.warpwright.agent.Invocation;
import dev.warpwright.model.OperationCancelledException;
import dev.warpwright.model.WarpwrightException;
import dev.warpwright.run.ApprovalDecision;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.RunEvent.ApprovalDecided;
import dev.warpwright.run.RunEvent.RunFailed;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunState;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.Runs;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.Outcome;
import dev.warpwright.task.TaskScope;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;

/** Decides the approvals that runs wait for and drives the runs on, several at a time. */
final class Decider {
  private static final Set<RunStatus> NOT_ENDED =
      Set.of(
          RunStatus.WAITING_APPROVAL,
          RunStatus.RUNNING,
          RunStatus.NEEDS_RECONCILIATION,
          RunStatus.FAILED);

  private final Agents agents;
  private final Agent agent;
  private final Function<String, ApprovalDecision> decide;

  /**
   * What became of a run.
   *
   * @param run the run
   * @param decided how many of its approvals were decided
   * @param status where it stands; empty if it could not be driven
   * @param failure why it failed
   */
  record Result(RunKey run, int decided, Optional<RunStatus> status, Optional<String> failure) {
    boolean isFailed() {
      return status.isEmpty() || status.get() == RunStatus.FAILED;
    }
  }

  /**
   * A decider.
   *
   * @param agents drives the runs
   * @param agent the agent of the runs
   * @param decide gives the decision on the request of an id
   */
  Decider(Agents agents, Agent agent, Function<String, ApprovalDecision> decide) {
    this.agents = agents;
    this.agent = agent;
    this.decide = decide;
  }

  /** The runs that there is something to do for. */
  static List<RunKey> toDecide(Runs runs) {
    List<RunKey> found = new ArrayList<>();
    RunPages.forEach(
        runs,
        NOT_ENDED,
        run -> {
          if (run.status() == RunStatus.WAITING_APPROVAL || wasLeft(runs, run.run())) {
            found.add(run.run());
          }
        });
    return found;
  }

  /** Whether a run's approvals were decided, but it was not driven to its end after that. */
  static boolean wasLeft(Runs runs, RunKey run) {
    List<LoggedEvent> log = runs.log(run);
    return !RunState.of(log).isTerminal()
        && log.stream().anyMatch(logged -> logged.event() instanceof ApprovalDecided);
  }

  /**
   * Decides and drives.
   *
   * @param toDecide the runs
   * @param concurrency how many at the same time
   * @param each told of each run on the calling thread
   * @return whether all are through; false after an interrupt
   */
  boolean drive(List<RunKey> toDecide, int concurrency, Consumer<Result> each) {
    boolean all = true;
    try (TaskScope scope = agents.tasks().open("approve", "approve")) {
      Iterator<RunKey> waiting = toDecide.iterator();
      int running = 0;
      while (waiting.hasNext() || running > 0) {
        while (waiting.hasNext() && running < concurrency) {
          RunKey run = waiting.next();
          scope.fork("run", "run " + run, Deadline.never(), () -> drive(run));
          running++;
        }
        running--;
        switch (scope.joinNext().orElseThrow().outcome()) {
          case Outcome.Success<?>(Result result) -> each.accept(result);
          case Outcome.Failure<?>(OperationCancelledException cutOff) -> all = false;
          case Outcome.Failure<?>(Throwable cause) ->
              throw new IllegalStateException("Unexpected " + cause + ".", cause);
          default -> all = false;
        }
      }
    }
    return all;
  }

  /**
   * On the run's own thread.
   *
   * @throws OperationCancelledException if it was cut off
   */
  private Result drive(RunKey run) {
    int decided = 0;
    try {
      RunState state = agents.runs().state(run).orElseThrow();
      List<ApprovalDecision> decisions =
          state.pendingApprovals().stream()
              .map(request -> decide.apply(request.requestId()))
              .toList();
      decided = decisions.size();
      AgentResult result = agents.resume(agent, run, decisions, Invocation.DEFAULT);
      Optional<String> failure = result.state().failure().map(RunFailed::message);
      return new Result(run, decided, Optional.of(result.status()), failure);
    } catch (OperationCancelledException e) {
      throw e;
    } catch (WarpwrightException e) {
      return new Result(
          run, decided, Optional.empty(), Optional.of(String.valueOf(e.getMessage())));
    }
  }
}
