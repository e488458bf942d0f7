package dev.warpwright.agent;

import dev.warpwright.Operation;
import dev.warpwright.model.GuardrailException;
import dev.warpwright.model.GuardrailStage;
import dev.warpwright.model.OperationTrace;
import dev.warpwright.model.WarpwrightException;
import dev.warpwright.run.RunEvent;
import dev.warpwright.run.RunEvent.GuardrailChecked;
import dev.warpwright.run.RunState;
import dev.warpwright.tool.Guardrail;
import dev.warpwright.tool.ToolCaller;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Asks an agent's guardrails, and turns what they say into events. Whatever triggers is thrown as a
 * {@link GuardrailException}; once it is in the log the run fails, now or in the next invocation.
 */
final class Guard {
  private final Agent agent;
  private final Operation operation;
  private final ToolCaller caller;

  Guard(Agent agent, Operation operation, ToolCaller caller) {
    this.agent = agent;
    this.operation = operation;
    this.caller = caller;
  }

  /** Asks about the conversation. */
  void requireInputPasses(RunState state) {
    check(GuardrailStage.INPUT, agent.inputGuardrails(), state, null);
  }

  /** Whether somebody has to be asked about the final answer. */
  boolean asksAboutOutput() {
    return !agent.outputGuardrails().isEmpty();
  }

  /** Asks about the final answer, which the state has. */
  void requireOutputPasses(RunState state) {
    check(GuardrailStage.OUTPUT, agent.outputGuardrails(), state, state.text());
  }

  private void check(
      GuardrailStage stage, List<Guardrail> guardrails, RunState state, @Nullable String output) {
    if (guardrails.isEmpty()) {
      return;
    }
    Guardrail.View view =
        new Guardrail.View(stage, caller, state.messages(), Optional.empty(), output);
    OperationTrace trace = operation.trace();
    operation.guard(state.step(), () -> Guardrail.requirePass(guardrails, view, trace));
  }

  /** Refuses to go on with a run in which a guardrail has triggered. */
  void requireNoneTriggered(RunState state) {
    if (state.guardrail().isPresent()) {
      GuardrailChecked known = state.guardrail().get();
      throw new GuardrailException(
          known.stage(), known.guardrailId(), known.reason(), known.metadata(), operation.trace());
    }
  }

  /** What is to be written of a failure beside it: that a guardrail triggered, if it is not yet. */
  static List<RunEvent> events(WarpwrightException thrown, RunState state) {
    return thrown instanceof GuardrailException triggered && state.guardrail().isEmpty()
        ? List.of(event(triggered))
        : List.of();
  }

  static GuardrailChecked event(GuardrailException triggered) {
    return new GuardrailChecked(
        triggered.stage(), triggered.guardrailId(), triggered.reason(), triggered.metadata());
  }
}
