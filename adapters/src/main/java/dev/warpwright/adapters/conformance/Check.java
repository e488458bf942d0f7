package dev.warpwright.adapters.conformance;

import dev.warpwright.model.Capability;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * One thing that a {@link Conformance} run looks at, in the order in which it does. Only what a
 * protocol promises is checked, nothing that depends on how clever a model is.
 */
@SuppressWarnings("ImmutableEnumChecker") // references to static methods, and lists of List.of
public enum Check {
  /** An answer that comes whole has a text, and says that it is complete. */
  BLOCKING("blocking", 1, Probes::blocking),
  /** A streamed answer comes in pieces that make up its text, and says that it is complete. */
  STREAMING("streaming", 1, Probes::streaming, Capability.STREAMING),
  /** The answers of the checks before it report tokens of input and output. */
  USAGE("usage", 0, Probes::usage),
  /** A limit of output tokens holds, and the answer says that it was cut off. */
  LENGTH_LIMIT("length-limit", 1, Probes::lengthLimit),
  /** The model calls a tool, with an input that matches its schema. */
  TOOL_CALL("tool-call", 1, Probes::toolCall, Capability.TOOLS),
  /** The call of the check before it, and its result, are accepted as history. */
  TOOL_RESULT("tool-result", 1, Probes::toolResult, Capability.TOOLS),
  /** A tool that is named is called, and none is called where that is forbidden. */
  TOOL_CHOICE("tool-choice", 2, Probes::toolChoice, Capability.TOOLS, Capability.TOOL_CHOICE),
  /** A streamed answer calls a tool, with an input that matches its schema. */
  STREAMED_TOOL_CALL(
      "streamed-tool-call", 1, Probes::streamedToolCall, Capability.TOOLS, Capability.STREAMING),
  /** One answer calls two tools. */
  PARALLEL_TOOL_CALLS(
      "parallel-tool-calls",
      1,
      Probes::parallelToolCalls,
      Capability.TOOLS,
      Capability.PARALLEL_TOOL_CALLS),
  /** An answer matches the schema that the provider was to hold it to. */
  STRUCTURED_OUTPUT("structured-output", 1, Probes::structuredOutput, Capability.STRUCTURED_OUTPUT),
  /** An answer is the JSON object that the provider was to hold it to. */
  JSON_MODE("json-mode", 1, Probes::jsonMode, Capability.JSON_MODE),
  /** A call that is cancelled while its answer is awaited ends at once. */
  CANCEL_WAITING("cancel-waiting", 1, Probes::cancelWaiting),
  /** A call that is cancelled in the middle of its stream ends at once. */
  CANCEL_STREAM("cancel-stream", 1, Probes::cancelStream, Capability.STREAMING),
  /** A model that does not exist is refused with a status, and in a stream the same. */
  UNKNOWN_MODEL("unknown-model", 2, Probes::unknownModel),
  /** A wrong key is refused with status 401 or 403, and the failure does not show it. */
  WRONG_KEY("wrong-key", 1, Probes::wrongKey),
  /** When everything is over, no exchange is open. */
  CONNECTIONS("connections", 0, Probes::connections);

  private final String label;
  private final int maxCalls;
  private final Probe probe;
  private final List<Capability> needs;

  Check(String label, int maxCalls, Probe probe, Capability... needs) {
    this.label = label;
    this.maxCalls = maxCalls;
    this.probe = probe;
    this.needs = List.of(needs);
  }

  /**
   * The name in reports and on the command line.
   *
   * @return the name, such as {@code tool-call}
   */
  public String label() {
    return label;
  }

  /**
   * How many calls it makes at most.
   *
   * @return 0, 1 or 2
   */
  public int maxCalls() {
    return maxCalls;
  }

  /**
   * What a model must declare for it to be made.
   *
   * @return the capabilities; empty if any model will do
   */
  public List<Capability> needs() {
    return needs;
  }

  Probe probe() {
    return probe;
  }

  static Optional<Check> find(String label) {
    return Arrays.stream(values()).filter(check -> check.label.equals(label)).findFirst();
  }
}
