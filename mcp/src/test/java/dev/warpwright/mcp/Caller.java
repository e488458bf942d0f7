package dev.warpwright.mcp;

import dev.warpwright.Gateway;
import dev.warpwright.adapters.scripted.ScriptedAnswer;
import dev.warpwright.adapters.scripted.ScriptedModel;
import dev.warpwright.agent.Agent;
import dev.warpwright.agent.AgentRequest;
import dev.warpwright.agent.AgentResult;
import dev.warpwright.agent.Agents;
import dev.warpwright.model.Json;
import dev.warpwright.model.Route;
import dev.warpwright.model.Target;
import dev.warpwright.model.ToolResult;
import dev.warpwright.run.RunStore;
import dev.warpwright.testing.ManualTime;
import dev.warpwright.tool.Tool;
import java.util.List;

/** A program on manual time whose model calls a tool once and then says that it is done. */
final class Caller implements AutoCloseable {
  static final Json INPUT = Json.parse("{\"what\": \"it\"}");
  static final Route ROUTE = Route.of(Target.of("fake", "model"));
  static final String RUN = "run-1";

  final ManualTime time = new ManualTime();
  final Gateway gateway;
  final RunStore store = RunStore.inMemory();
  final Agents agents;

  /** Its model calls these tools, one after the other. */
  Caller(String... toolNames) {
    this(INPUT, toolNames);
  }

  /** Its model calls a tool once. */
  Caller(String toolName, Json input) {
    this(input, toolName);
  }

  private Caller(Json input, String... toolNames) {
    ScriptedModel.Builder model = ScriptedModel.builder();
    for (String name : toolNames) {
      model.next(ScriptedAnswer.tool(name, input));
    }
    this.gateway =
        Gateway.builder()
            .time(time)
            .adapter("fake", model.otherwise(ScriptedAnswer.text("Done.")).build())
            .build();
    this.agents = Agents.on(gateway, store);
  }

  static Agent agent(List<Tool> tools) {
    return Agent.builder("agent", ROUTE).tools(tools).build();
  }

  AgentResult run(List<Tool> tools) {
    return agents.run(AgentRequest.builder(agent(tools), "Do it.").runId(RUN).build());
  }

  static List<ToolResult> results(AgentResult result) {
    return result.state().messages().stream()
        .flatMap(message -> message.toolResults().stream())
        .toList();
  }

  /** The output of the only call. */
  static Object output(AgentResult result) {
    return String.valueOf(results(result).getFirst().output().value());
  }

  @Override
  public void close() {
    gateway.close();
  }
}
