package dev.warpwright.bench.durable;

import dev.warpwright.Gateway;
import dev.warpwright.agent.Agent;
import dev.warpwright.agent.AgentRequest;
import dev.warpwright.agent.AgentResult;
import dev.warpwright.agent.Agents;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.Json;
import dev.warpwright.model.LanguageModel;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelCapabilities;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.Part;
import dev.warpwright.model.Role;
import dev.warpwright.model.Route;
import dev.warpwright.model.Target;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.Usage;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.tool.EffectClass;
import dev.warpwright.tool.Tool;
import java.lang.invoke.MethodHandles;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * An agent of which nothing costs anything but its run: a model that answers at once, from answers
 * made beforehand, and asks for one trivial tool in each step until the last.
 *
 * <p>So a step is a model's answer and a tool's outcome, both in the log.
 */
final class TrivialAgent implements AutoCloseable {
  /** The most model calls that one invocation may make. */
  static final int MAX_STEPS_AT_ONCE = 128;

  private static final Usage USAGE = Usage.reported(100, 20);
  private static final Target TARGET = Target.of("none", "instant");

  private final LanguageModel model;
  private final Gateway gateway;
  private final Agent agent;

  /**
   * What the tool is given.
   *
   * @param number the step
   */
  public record Input(int number) {}

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
                "step",
                "Does one step.",
                Input.class,
                MethodHandles.lookup(),
                effect,
                (input, context) -> {
                  tool.run();
                  return "done";
                })
            .build());
  }

  /** An agent whose one step needs an approval. */
  static TrivialAgent waiting() {
    return of(
        1,
        Tool.builder(
                "step",
                "Does one step.",
                Input.class,
                MethodHandles.lookup(),
                EffectClass.ONCE,
                (input, context) -> "done")
            .requiresApproval()
            .build());
  }

  private static TrivialAgent of(int steps, Tool tool) {
    LanguageModel model = new Model(steps);
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

  /** Asks for one tool call in each step; which step it is, it sees by the conversation. */
  private static final class Model implements LanguageModel {
    private static final ModelResponse LAST =
        new ModelResponse(
            Message.assistant("All done."),
            new FinishReason(FinishReason.Kind.STOP, "stop"),
            USAGE,
            Optional.empty());

    private final List<ModelResponse> answers;

    Model(int steps) {
      this.answers = IntStream.range(0, steps).mapToObj(Model::ask).toList();
    }

    private static ModelResponse ask(int number) {
      Part call =
          new ToolCall(
              "call-" + number, "step", Json.of(Map.of("number", number)), Optional.empty());
      return new ModelResponse(
          new Message(Role.ASSISTANT, List.of(call)),
          new FinishReason(FinishReason.Kind.TOOL_CALLS, "tool_calls"),
          USAGE,
          Optional.empty());
    }

    @Override
    public ModelCapabilities capabilities() {
      return ModelCapabilities.TEXT_AND_TOOLS;
    }

    @Override
    public ModelResponse generate(ModelCall call) {
      int step =
          call.messages().size() / 2; // a question, then an answer and a result for each step
      return step < answers.size() ? answers.get(step) : LAST;
    }
  }
}
