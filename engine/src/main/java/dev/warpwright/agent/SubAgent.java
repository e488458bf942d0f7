package dev.warpwright.agent;

import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.tool.Description;
import dev.warpwright.tool.EffectClass;
import dev.warpwright.tool.JsonType;
import dev.warpwright.tool.Tool;
import java.lang.invoke.MethodHandles;
import java.util.Objects;
import java.util.Optional;

/**
 * An agent that another one can give work to: to the other's model it is a tool with the input
 * {@code {prompt, system?}}. Immutable.
 *
 * {@snippet :
 * Agent desk =
 *     Agent.builder("desk", route)
 *         .tools(reply)
 *         .subAgents(
 *             SubAgent.of(research).description("Finds out what an order contains and costs."))
 *         .build();
 * }
 *
 * <p>A call of it is a run of its own, a child run: with its own log, in the scope of the run that
 * calls it, with its metadata, its budget scope and what is left of its time. The caller waits for
 * it and gets its record, with text, steps, tokens and cost; a failure is an error result without
 * words of the child's providers. No other call of the step overlaps it. A child that waits for an
 * approval suspends its caller, whose {@link AgentResult#pendingApprovals()} then has the child's
 * request; deciding it there decides it in the child, and the same child run goes on.
 */
public final class SubAgent {
  private static final MethodHandles.Lookup LOOKUP = MethodHandles.lookup();
  private static final JsonType<Task> TASK = JsonType.of(Task.class, LOOKUP);

  private final Agent agent;
  private final String description;
  private final Tool tool;

  /** What the calling model says. */
  record Task(
      @Description("What to do, with all that is needed to know for it; nothing else is shown.")
          String prompt,
      @Description("Further instructions, if any.") Optional<String> system) {}

  private SubAgent(Agent agent, String name, String description) {
    this.agent = agent;
    this.description = description;
    this.tool =
        Tool.builder(
                name,
                description,
                Task.class,
                LOOKUP,
                EffectClass.IDEMPOTENT, // a call that is attended again finds the same child run
                (task, context) -> {
                  throw new IllegalStateException("A sub-agent runs as a part of an agent only.");
                })
            .version(agent.version())
            .build();
  }

  /**
   * An agent as a sub-agent, under the name {@code subagent_<id>}.
   *
   * @param agent the agent
   * @return the sub-agent
   * @throws InvalidRequestException if the name breaks a rule of tool names, as an id with a point
   *     in it does
   */
  public static SubAgent of(Agent agent) {
    return of(agent, "subagent_" + agent.id());
  }

  /**
   * An agent as a sub-agent, under a given name.
   *
   * @param agent the agent
   * @param name the tool's name, 1 to 64 characters of {@code [A-Za-z0-9_-]}
   * @return the sub-agent
   * @throws InvalidRequestException if the name breaks the rule
   */
  public static SubAgent of(Agent agent, String name) {
    Objects.requireNonNull(agent, "agent");
    return new SubAgent(agent, name, "Gives a task to the agent \"" + agent.id() + "\".");
  }

  /**
   * The same sub-agent with a text for the calling model.
   *
   * @param description what it does and when to use it
   * @return a copy
   */
  public SubAgent description(String description) {
    return new SubAgent(agent, name(), description);
  }

  /**
   * The agent that does the work.
   *
   * @return the agent
   */
  public Agent agent() {
    return agent;
  }

  /**
   * Its name as a tool.
   *
   * @return the name
   */
  public String name() {
    return tool.name();
  }

  /**
   * What the calling model is told of it.
   *
   * @return the text
   */
  public String description() {
    return description;
  }

  /** The tool by which a model calls it, whose function is never run. */
  Tool tool() {
    return tool;
  }

  /** What is to be done, of an input that matches the schema. */
  static Task task(Json input) {
    return TASK.read(input);
  }

  /** Shows name and agent. */
  @Override
  public String toString() {
    return "SubAgent[" + name() + ", " + agent + "]";
  }
}
