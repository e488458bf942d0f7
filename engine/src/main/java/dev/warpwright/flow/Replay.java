package dev.warpwright.flow;

import dev.warpwright.agent.Agent;
import dev.warpwright.agent.AgentReplay;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.ReplayDifference;
import dev.warpwright.run.RunKey;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Runs the log of a run over again, offline: what models, tools, steps, the clock, signals and
 * persons gave stands in the log; what flow or agent do with it is done again and compared with
 * what they wrote. A flow or an agent that was changed is found out at the first event that it
 * would write otherwise.
 *
 * {@snippet :
 * Optional<ReplayDifference> changed =
 *     Replay.of(agents.runs().logs(run)).against(checkout);
 * }
 *
 * <p>No model is asked, no tool, step, child run, reconciler or memory is run, no store is touched.
 * The code that is not recorded is run: the body of a flow between its calls, guardrails of inputs
 * and approval policies. Immutable.
 */
public final class Replay {
  private final List<LoggedEvent> log;
  private final Map<RunKey, List<LoggedEvent>> all;

  private final Optional<Object> context;

  private Replay(
      List<LoggedEvent> log, Map<RunKey, List<LoggedEvent>> all, Optional<Object> context) {
    this.log = log;
    this.all = all;
    this.context = context;
  }

  /**
   * A replay of a run with the child runs below it.
   *
   * @param logs the log of the run, then those of the child runs, in any order: what {@link
   *     dev.warpwright.run.Runs#logs} gives
   * @return the replay
   * @throws InvalidRequestException if there is no log, or one is empty
   */
  public static Replay of(List<List<LoggedEvent>> logs) {
    if (logs.isEmpty() || logs.stream().anyMatch(List::isEmpty)) {
      throw new InvalidRequestException(
          FailureKind.INVALID_REQUEST, "A replay needs logs that have events.");
    }
    Map<RunKey, List<LoggedEvent>> all = new LinkedHashMap<>();
    for (List<LoggedEvent> each : logs) {
      all.put(each.getFirst().run(), List.copyOf(each));
    }
    return new Replay(List.copyOf(logs.getFirst()), all, Optional.empty());
  }

  /**
   * A replay of a run that has no child runs.
   *
   * @param log all events of the run
   * @return the replay
   * @throws InvalidRequestException if the log is empty
   */
  public static Replay ofRun(List<LoggedEvent> log) {
    return of(List.of(log));
  }

  /**
   * The same replay with what the program gives to the rules of its agents, such as their approval
   * policies.
   *
   * @param given the program's context, as an invocation gives it
   * @return a copy of this replay
   */
  public Replay withContext(Object given) {
    return new Replay(log, all, Optional.of(given));
  }

  /**
   * Runs the log against a flow.
   *
   * @param flow the flow as it is now
   * @return the first difference; empty if the flow writes what the log has
   * @throws InvalidRequestException if a log breaks a rule, or the log of a child run is missing
   *     whose result the flow reads
   * @throws dev.warpwright.model.ConflictException if the run is one of another flow
   */
  public Optional<ReplayDifference> against(Flow<?, ?> flow) {
    return FlowReplay.of(flow, log, all, context);
  }

  /**
   * Runs the log against an agent.
   *
   * @param agent the agent as it is now
   * @return the first difference; empty if a run of the agent has this log
   * @throws InvalidRequestException if a log breaks a rule
   * @throws dev.warpwright.model.ConflictException if the run is one of another agent
   */
  public Optional<ReplayDifference> against(Agent agent) {
    return AgentReplay.difference(agent, log, all, context);
  }
}
