package dev.warpwright.agent;

import dev.warpwright.model.GuardrailException;
import dev.warpwright.model.Json;
import dev.warpwright.run.CallState;
import dev.warpwright.run.RunEvent;
import dev.warpwright.run.RunEvent.ToolReconciled;
import dev.warpwright.run.RunEvent.ToolReconciled.Verdict;
import dev.warpwright.run.RunEvent.ToolStarted;
import dev.warpwright.tool.Reconciler.Finding;
import dev.warpwright.tool.Tool;
import dev.warpwright.tool.ToolRunner;
import dev.warpwright.tool.ToolSet;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Asks the tools themselves what became of calls whose outcome nobody knows. Confined to a driver's
 * thread.
 */
final class Doubts {
  private final ToolSet tools;

  /** The keys of calls about which a reconciler was asked, each once. */
  private final Set<String> asked = new HashSet<>();

  Doubts(ToolSet tools) {
    this.tools = tools;
  }

  /**
   * Asks the reconciler of a call in doubt.
   *
   * @return the verdict, and that a guardrail objects to what was found; empty if nobody can tell
   */
  List<RunEvent> ask(ToolRunner runner, CallState call) {
    ToolStarted intent = call.started().orElseThrow();
    Optional<Tool> tool = tools.find(intent.tool());
    if (tool.isEmpty()) {
      return List.of();
    }
    try {
      return verdict(intent, runner.reconcile(tool.get(), call.call(), intent.key()))
          .<List<RunEvent>>map(List::of)
          .orElse(List.of());
    } catch (GuardrailException triggered) {
      Optional<Json> withheld = Optional.of(Json.of(ToolRunner.WITHHELD));
      return List.of(
          verdict(intent, Verdict.SUCCEEDED, withheld, reconciler(intent)), Guard.event(triggered));
    }
  }

  /**
   * Asks as {@link #ask}, once for each call: whoever hears again and again that nothing was done
   * would try for ever.
   */
  List<RunEvent> askOnce(ToolRunner runner, CallState call) {
    return asked.add(call.started().orElseThrow().key()) ? ask(runner, call) : List.of();
  }

  private static Optional<RunEvent> verdict(ToolStarted intent, Finding finding) {
    String decidedBy = reconciler(intent);
    return switch (finding) {
      case Finding.Executed(Json output) ->
          Optional.of(verdict(intent, Verdict.SUCCEEDED, Optional.of(output), decidedBy));
      case Finding.Failed(String message) ->
          Optional.of(verdict(intent, Verdict.FAILED, Optional.of(Json.of(message)), decidedBy));
      case Finding.NotExecuted none ->
          Optional.of(verdict(intent, Verdict.NOT_EXECUTED, Optional.empty(), decidedBy));
      case Finding.Unknown nothing -> Optional.empty();
    };
  }

  private static String reconciler(ToolStarted intent) {
    return "reconciler of " + intent.tool();
  }

  /** That a call did not take place although its intent was written. */
  static RunEvent notExecuted(ToolStarted intent, String decidedBy) {
    return verdict(intent, Verdict.NOT_EXECUTED, Optional.empty(), decidedBy);
  }

  private static RunEvent verdict(
      ToolStarted intent, Verdict verdict, Optional<Json> output, String decidedBy) {
    return new ToolReconciled(intent.callId(), intent.key(), verdict, output, decidedBy);
  }
}
