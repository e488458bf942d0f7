package dev.warpwright.agent;

import dev.warpwright.model.Json;
import dev.warpwright.run.RunEvent;
import dev.warpwright.run.RunEvent.ToolFinished;
import dev.warpwright.run.RunEvent.ToolStarted;
import dev.warpwright.tool.EffectClass;
import dev.warpwright.tool.ToolEnd;
import dev.warpwright.tool.ToolRun;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** What is written of a run of a tool. */
final class ToolEvents {
  private ToolEvents() {}

  static ToolStarted intent(ToolRun run) {
    return new ToolStarted(
        run.step(),
        run.ordinal(),
        run.call().id(),
        run.tool().name(),
        run.tool().effect(),
        run.call().input(),
        run.key(),
        run.attempt());
  }

  /** Its outcome; of a PURE tool, which has no effect, the intent comes with it. */
  static List<RunEvent> executed(ToolRun run, ToolEnd.Known end) {
    List<RunEvent> events = new ArrayList<>(3);
    if (run.tool().effect() == EffectClass.PURE) {
      events.add(intent(run));
    }
    events.add(finished(run, end));
    end.guardrail().map(Guard::event).ifPresent(events::add);
    return events;
  }

  /** The outcome alone. */
  static ToolFinished finished(ToolRun run, ToolEnd.Known end) {
    return new ToolFinished(
        run.call().id(),
        run.tool().name(),
        Optional.of(run.key()),
        true,
        end.output(),
        end.error(),
        end.duration());
  }

  /** The same outcome with an output that always fits into a run's state. */
  static ToolEnd.Known shortened(ToolEnd.Known end) {
    Json text = Json.of("The output of the tool is too large for the run's state.");
    return new ToolEnd.Known(text, true, true, end.cause(), end.duration());
  }

  /** That a call was refused at the last moment, perhaps after its intent was written. */
  static List<RunEvent> refused(ToolRun run, ToolEnd.Known end) {
    List<RunEvent> events = new ArrayList<>(2);
    if (run.tool().effect() != EffectClass.PURE) {
      events.add(Doubts.notExecuted(intent(run), "driver: it was refused"));
    }
    events.add(refused(run.call().id(), run.tool().name(), end.output(), end.duration()));
    return events;
  }

  /** That a call was refused before anything was begun. */
  static ToolFinished refused(String callId, String tool, Json message, Duration duration) {
    return new ToolFinished(callId, tool, Optional.empty(), false, message, true, duration);
  }
}
