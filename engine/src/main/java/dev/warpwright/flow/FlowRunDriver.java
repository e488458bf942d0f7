package dev.warpwright.flow;

import dev.warpwright.agent.Invocation;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.run.DueRuns;
import dev.warpwright.run.RunDriver;
import dev.warpwright.task.Cancellation;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/** Drives a worker's runs of some flows; see {@link Flows#driver}. */
final class FlowRunDriver implements RunDriver {
  private final Flows flows;
  private final Map<String, Flow<?, ?>> byId;

  FlowRunDriver(Flows flows, Flow<?, ?>... driven) {
    this.flows = flows;
    Map<String, Flow<?, ?>> found = new HashMap<>();
    for (Flow<?, ?> flow : driven) {
      if (found.putIfAbsent("flow:" + flow.id(), flow) != null) {
        throw invalid("Two flows of a driver have the id \"" + flow.id() + "\".");
      }
    }
    if (found.isEmpty()) {
      throw invalid("A driver needs at least one flow.");
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
    Flow<?, ?> flow = Objects.requireNonNull(byId.get(run.agentId()), run.agentId());
    flows.drive(flow, run, Invocation.DEFAULT, handBack);
  }
}
