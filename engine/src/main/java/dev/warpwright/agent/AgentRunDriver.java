package dev.warpwright.agent;

import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.run.DueRuns;
import dev.warpwright.run.RunDriver;
import dev.warpwright.task.Cancellation;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/** Drives a worker's runs of some agents; see {@link Agents#driver}. */
final class AgentRunDriver implements RunDriver {
  private final Agents agents;
  private final Invocation invocation;
  private final Map<String, Agent> byId;

  AgentRunDriver(Agents agents, Invocation invocation, Agent... driven) {
    this.agents = agents;
    this.invocation = invocation;
    Map<String, Agent> found = new HashMap<>();
    for (Agent agent : driven) {
      if (found.putIfAbsent(agent.id(), agent) != null) {
        throw invalid("Two agents of a driver have the id \"" + agent.id() + "\".");
      }
    }
    if (found.isEmpty()) {
      throw invalid("A driver needs at least one agent.");
    }
    this.byId = Map.copyOf(found);
  }

  private static InvalidRequestException invalid(String message) {
    return new InvalidRequestException(FailureKind.INVALID_CONFIGURATION, message);
  }

  @Override
  public Set<String> drives() {
    return byId.keySet();
  }

  @Override
  public void drive(DueRuns.Taken run, Cancellation handBack) {
    Agent agent = Objects.requireNonNull(byId.get(run.agentId()), run.agentId());
    agents.drive(agent, run, invocation, handBack);
  }
}
