package dev.warpwright.agent;

import dev.warpwright.Gateway;
import dev.warpwright.model.Json;
import dev.warpwright.model.Route;
import dev.warpwright.model.Target;
import dev.warpwright.model.ToolCall;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.RunEvent;
import dev.warpwright.run.RunEvent.ChildFinished;
import dev.warpwright.run.RunEvent.ChildStarted;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunState;
import dev.warpwright.run.RunStore;
import dev.warpwright.task.Deadline;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

/** Agents that give work to each other, each with a model of its own. */
final class Family {
  private final Map<String, FakeModel> models = new HashMap<>();

  /** What the model of an agent answers. */
  Family answers(String agentId, FakeModel.Answer... answers) {
    return model(agentId, FakeModel.of(answers));
  }

  Family model(String agentId, FakeModel model) {
    models.put(agentId, model);
    return this;
  }

  FakeModel model(String agentId) {
    return models.get(agentId);
  }

  Program program(RunStore store) {
    return program(store, UnaryOperator.identity());
  }

  Program program(RunStore store, UnaryOperator<Gateway.Builder> options) {
    return Program.having(store, this::model, options);
  }

  static Agent.Builder agent(String id) {
    return Agent.builder(id, Route.of(Target.of(Program.TARGET.provider(), id)));
  }

  /** A call of a sub-agent. */
  static ToolCall ask(String callId, String agentId, String prompt) {
    return new ToolCall(callId, "subagent_" + agentId, Json.of(Map.of("prompt", prompt)));
  }

  static RunState state(RunStore store, RunKey run) {
    return RunState.of(store.load(run, 1, Deadline.never()));
  }

  /** The child runs of a run that have begun, in order. */
  static List<RunKey> children(RunStore store, RunKey parent) {
    return store.load(parent, 1, Deadline.never()).stream()
        .map(LoggedEvent::event)
        .filter(ChildStarted.class::isInstance)
        .map(event -> new RunKey(parent.scope(), ((ChildStarted) event).childRunId()))
        .toList();
  }

  static List<ChildFinished> records(List<RunEvent> events) {
    return events.stream()
        .filter(ChildFinished.class::isInstance)
        .map(ChildFinished.class::cast)
        .toList();
  }
}
