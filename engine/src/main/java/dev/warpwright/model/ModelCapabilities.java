package dev.warpwright.model;

import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * What a model can do, as its adapter declares it. What is not declared counts as missing.
 *
 * {@snippet :
 * ModelCapabilities capabilities =
 *     ModelCapabilities.of(Capability.TOOLS, Capability.TOOL_CHOICE, Capability.VISION);
 * }
 *
 * @param supported what it can do
 * @param toolHistory how it takes the tool calls of an earlier conversation
 * @param agent what it offers to agents; a model that declares nothing meets no need of an agent
 */
public record ModelCapabilities(
    Set<Capability> supported, ToolHistory toolHistory, Optional<AgentCapabilities> agent) {
  /** Text in, text out, nothing else. */
  public static final ModelCapabilities TEXT = of();

  /** Text and tools with tool choice and parallel calls, streamed too. */
  public static final ModelCapabilities TEXT_AND_TOOLS =
      of(
          Capability.STREAMING,
          Capability.TOOLS,
          Capability.TOOL_CHOICE,
          Capability.PARALLEL_TOOL_CALLS);

  /** Copies the set. */
  public ModelCapabilities {
    Objects.requireNonNull(toolHistory, "toolHistory");
    Objects.requireNonNull(agent, "agent");
    EnumSet<Capability> copy = EnumSet.noneOf(Capability.class);
    copy.addAll(supported);
    supported = Collections.unmodifiableSet(copy);
  }

  /**
   * A model that can do this much, takes no tool history and offers nothing to agents.
   *
   * @param supported what it can do
   * @return the capabilities
   */
  public static ModelCapabilities of(Capability... supported) {
    return new ModelCapabilities(Set.of(supported), ToolHistory.NONE, Optional.empty());
  }

  /**
   * The same and more.
   *
   * @param more what it can do besides
   * @return a copy
   */
  public ModelCapabilities with(Capability... more) {
    EnumSet<Capability> all = EnumSet.noneOf(Capability.class);
    all.addAll(supported);
    all.addAll(List.of(more));
    return new ModelCapabilities(all, toolHistory, agent);
  }

  /**
   * The same with another form of tool history.
   *
   * @param form the form
   * @return a copy
   */
  public ModelCapabilities with(ToolHistory form) {
    return new ModelCapabilities(supported, form, agent);
  }

  /**
   * The same with capabilities for agents.
   *
   * @param offered what it offers to agents
   * @return a copy
   */
  public ModelCapabilities with(AgentCapabilities offered) {
    return new ModelCapabilities(supported, toolHistory, Optional.of(offered));
  }

  /**
   * Whether it can do something.
   *
   * @param capability what
   * @return true if it was declared
   */
  public boolean has(Capability capability) {
    return supported.contains(capability);
  }
}
