package dev.warpwright.run;

import dev.warpwright.cost.CostTotal;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.Json;
import dev.warpwright.model.TokenCount;
import dev.warpwright.run.RunEvent.ChildFinished;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What a model is told of a child run that has ended. A run's messages are folded from its log, so
 * this form is a part of the log's meaning: it never changes.
 */
final class ChildOutput {
  private ChildOutput() {}

  /** The record as an object; of a failure as the text of one, as results of failures are texts. */
  static Json of(ChildFinished end) {
    Json told = Json.of(members(end));
    return end.failed() ? Json.of(told.text()) : told;
  }

  private static Map<String, Object> members(ChildFinished end) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("status", end.status().name());
    members.put("text", end.text());
    members.put("steps", end.steps());
    members.put("toolCalls", end.toolCalls());
    members.put("toolErrors", end.toolErrors());
    Map<String, Object> usage = new LinkedHashMap<>();
    put(usage, "inputTokens", end.usage().input());
    put(usage, "outputTokens", end.usage().output());
    members.put("usage", usage);
    end.cost().flatMap(CostTotal::amount).ifPresent(cost -> members.put("cost", cost.toString()));
    end.error().ifPresent(kind -> members.put("error", plain(kind)));
    return members;
  }

  private static void put(Map<String, Object> members, String name, TokenCount count) {
    if (count.isPresent()) {
      members.put(name, count.tokens());
    }
  }

  private static Map<String, Object> plain(FailureKind kind) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("kind", kind.name());
    members.put("message", "The sub-agent failed.");
    return members;
  }
}
