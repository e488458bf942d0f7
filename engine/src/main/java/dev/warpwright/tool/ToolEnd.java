package dev.warpwright.tool;

import dev.warpwright.model.GuardrailException;
import dev.warpwright.model.Json;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.ToolResult;
import java.time.Duration;
import java.util.Optional;

/** How a run of a tool ended. */
public sealed interface ToolEnd {
  /**
   * The outcome is known and goes to the model.
   *
   * @param output the output or, for an error, a JSON string with a text for the model
   * @param error whether the tool failed
   * @param executed false if the call was refused at the last moment and the tool did not run
   * @param cause what the tool threw, if it failed by an exception; never shown to the model
   * @param duration how long it ran
   */
  record Known(
      Json output, boolean error, boolean executed, Optional<Throwable> cause, Duration duration)
      implements ToolEnd {
    /**
     * The guardrail that objects to the output, which is withheld: nothing goes on after that.
     *
     * @return what it threw; empty if none does
     */
    public Optional<GuardrailException> guardrail() {
      return cause.filter(GuardrailException.class::isInstance).map(GuardrailException.class::cast);
    }

    /**
     * The outcome as a result for the model.
     *
     * @param call the call that it answers
     * @return the result
     */
    public ToolResult result(ToolCall call) {
      return new ToolResult(call.id(), call.name(), output, error);
    }
  }

  /** It may or may not have acted, and must not be repeated: somebody has to decide. */
  record Unknown() implements ToolEnd {}

  /** It was cut off by the deadline or a cancel, or never began, and may be run again. */
  record CutOff() implements ToolEnd {}
}
