package dev.warpwright.bench.durable;

import dev.warpwright.Gateway;
import dev.warpwright.agent.Agent;
import dev.warpwright.agent.AgentRequest;
import dev.warpwright.agent.AgentResult;
import dev.warpwright.agent.Agents;
import dev.warpwright.bench.AskingModel;
import dev.warpwright.model.LanguageModel;
import dev.warpwright.model.Route;
import dev.warpwright.model.Target;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.tool.EffectClass;
import dev.warpwright.tool.Tool;

/**
 * An agent of which nothing costs anything but its run: a model that answers at once, from answers
 * made beforehand, and asks for one trivial tool in each step until the last.
 *
 * <p>So a step is a model's answer and a tool's outcome, both in the log.
 */
final class TrivialAgent implements AutoCloseable {
  /** The most model calls that one invocation may make. */
  static final int MAX_STEPS_AT_ONCE = 128;

  private static final Target TARGET = Target.of("none", "instant");

  private final LanguageModel model;
  private final Gateway gateway;
  private final Agent agent;

  private TrivialAgent(LanguageModel model, Gateway gateway, Agent agent) {
    this.model = model;
    this.gateway = gateway;
    this.agent = agent;
  }

  /**
   * An agent that takes so many steps with a tool before its answer.
   *
   * @param steps how many
   * @param effect with {@link EffectClass#PURE} a tool has no intent in the log, else it has
   * @param tool what the tool does
   */
  static TrivialAgent of(int steps, EffectClass effect, Runnable tool) {
    return of(
        steps,
        Tool.builder(
                AskingModel.TOOL,
                "Does one step.",
                AskingModel.Input.class,
                effect,
                (input, context) -> {
                  tool.run();
                  return "done";
                })
            .honoursInterrupts() // as its model does
            .build());
  }

  /** An agent whose one step needs an approval. */
  static TrivialAgent waiting() {
    return of(
        1,
        Tool.builder(
                AskingModel.TOOL,
                "Does one step.",
                AskingModel.Input.class,
                EffectClass.ONCE,
                (input, context) -> "done")
            .requiresApproval()
            .build());
  }

  private static TrivialAgent of(int steps, Tool tool) {
    LanguageModel model = new AskingModel(steps, 1);
    return new TrivialAgent(
        model,
        Gateway.builder()
            .adapter(TARGET.provider(), id -> model)
            .maxTotalAttempts(MAX_STEPS_AT_ONCE)
            .build(),
        Agent.builder("trivial", Route.of(TARGET))
            .tools(tool)
            .maxSteps(steps + 1)
            .maxStateBytes(1L << 30)
            .build());
  }

  Agents on(RunStore store) {
    return Agents.on(gateway, store);
  }

  LanguageModel model() {
    return model;
  }

  Agent agent() {
    return agent;
  }

  AgentRequest request() {
    return AgentRequest.builder(agent, "Take every step.").build();
  }

  AgentRequest request(RunScope scope) {
    return AgentRequest.builder(agent, "Take every step.").scope(scope).build();
  }

  AgentRequest request(RunKey run) {
    return AgentRequest.builder(agent, "Take every step.")
        .scope(run.scope())
        .runId(run.runId())
        .build();
  }

  /** Runs once, to the end, which is checked. */
  AgentResult run(Agents agents) {
    AgentResult result = agents.run(request());
    requireCompleted(result);
    return result;
  }

  static void requireCompleted(AgentResult result) {
    if (result.status() != RunStatus.COMPLETED) {
      throw new IllegalStateException(
          "A run ended as " + result.status() + ": " + result.state().failure());
    }
  }

  @Override
  public void close() {
    gateway.close();
  }
}
