package dev.warpwright.tool;

import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.ToolSpec;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The tools of a request, by name. Immutable. */
public final class ToolSet {
  /** No tools. */
  public static final ToolSet NONE = new ToolSet(List.of());

  private final Map<String, Tool> tools;
  private final List<ToolSpec> specs;
  private final boolean honourInterrupts;

  private ToolSet(Collection<Tool> tools) {
    Map<String, Tool> byName = new LinkedHashMap<>();
    for (Tool tool : tools) {
      if (byName.putIfAbsent(tool.name(), tool) != null) {
        throw new InvalidRequestException(
            FailureKind.INVALID_REQUEST,
            "Two tools have the name \"" + tool.name() + "\"; a name stands for one tool.");
      }
    }
    this.tools = byName;
    this.specs = List.copyOf(byName.values().stream().map(Tool::spec).toList());
    this.honourInterrupts = byName.values().stream().allMatch(Tool::honoursInterrupts);
  }

  /**
   * A set of tools.
   *
   * @param tools the tools, in the order in which a model is told of them
   * @return the set
   * @throws InvalidRequestException if two have the same name
   */
  public static ToolSet of(Collection<Tool> tools) {
    return tools.isEmpty() ? NONE : new ToolSet(tools);
  }

  /**
   * The tools as a model is told of them.
   *
   * @return the specs in order
   */
  public List<ToolSpec> specs() {
    return specs;
  }

  /**
   * The tools.
   *
   * @return the tools in order
   */
  public List<Tool> tools() {
    return List.copyOf(tools.values());
  }

  /**
   * Finds a tool.
   *
   * @param name its name
   * @return the tool
   */
  public Optional<Tool> find(String name) {
    return Optional.ofNullable(tools.get(name));
  }

  /**
   * Whether all of them are declared to end soon after an interrupt, their rules as well.
   *
   * @return true if each one is
   * @see Tool.Builder#honoursInterrupts()
   */
  public boolean honourInterrupts() {
    return honourInterrupts;
  }

  /**
   * Judges a call before anything runs.
   *
   * @param call a model's call
   * @param caller on whose behalf it would run
   * @return the tool that may run, or a refusal whose text tells the model what was wrong: an
   *     unknown tool, an input that cannot be read or breaks the schema, a disabled tool
   */
  public CheckedCall check(ToolCall call, ToolCaller caller) {
    Tool tool = tools.get(call.name());
    if (tool == null) {
      String known =
          tools.isEmpty()
              ? "There are no tools."
              : "The tools are: " + String.join(", ", tools.keySet()) + ".";
      return new CheckedCall.Refused(
          call, "There is no tool \"%s\". %s".formatted(call.name(), known));
    }
    if (call.malformed().isPresent()) {
      return new CheckedCall.Refused(
          call, "The input of tool \"%s\" is not a JSON object.".formatted(call.name()));
    }
    List<String> violations = tool.violations(call.input());
    if (!violations.isEmpty()) {
      return new CheckedCall.Refused(
          call,
          "The input of tool \"%s\" does not match its schema: %s"
              .formatted(call.name(), String.join("; ", violations)));
    }
    if (!tool.isEnabled(call.input(), caller)) {
      return new CheckedCall.Refused(call, notEnabled(tool));
    }
    return new CheckedCall.Callable(call, tool, tool.requiresApproval(call.input()));
  }

  /** What a model is told of a call of a tool that is disabled. */
  static String notEnabled(Tool tool) {
    return "Tool \"%s\" may not be used for this input now.".formatted(tool.name());
  }
}
