package dev.warpwright.bench.durable;

import dev.warpwright.model.FinishReason;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.Role;
import dev.warpwright.model.Target;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.Usage;
import dev.warpwright.run.RunEvent;
import dev.warpwright.run.RunKey;
import dev.warpwright.tool.EffectClass;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The events of a run whose every step is a model's answer and the outcome of one tool. */
final class TrivialLog {
  private static final Target TARGET = Target.of("none", "instant");
  private static final Json INPUT = Json.of(Map.of("order", "A-1044"));
  private static final Json OUTPUT = Json.of(Map.of("state", "shipped", "parcels", 2));

  private TrivialLog() {}

  static RunEvent.RunStarted started(int maxSteps) {
    return new RunEvent.RunStarted(
        "bench",
        "1",
        Map.of("request", "sha256:" + "0".repeat(64)),
        Optional.empty(),
        List.of(Message.user("Where is order A-1044?")),
        maxSteps,
        List.of(TARGET),
        Map.of(),
        Optional.of(1L << 30),
        false,
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty());
  }

  /** The appends of a step, 1-based. */
  static List<List<RunEvent>> step(RunKey run, int step) {
    String call = "call-" + step;
    String key = run.runId() + "/" + step + "/0";
    return List.of(
        List.of(new RunEvent.StepStarted(step, 2 * step - 1)),
        List.of(
            new RunEvent.ModelResponded(
                step,
                TARGET,
                new Message(
                    Role.ASSISTANT,
                    List.of(new ToolCall(call, "lookup_order", INPUT, Optional.empty()))),
                new FinishReason(FinishReason.Kind.TOOL_CALLS, "tool_calls"),
                Usage.reported(500, 30),
                List.of())),
        List.of(
            new RunEvent.ToolStarted(
                step, 0, call, "lookup_order", EffectClass.PURE, INPUT, key, 1),
            new RunEvent.ToolFinished(
                call,
                "lookup_order",
                Optional.of(key),
                true,
                OUTPUT,
                false,
                Duration.ofMillis(12))));
  }
}
