package dev.warpwright.examples;

import dev.warpwright.model.Usage;
import dev.warpwright.run.CallState;
import dev.warpwright.run.RunEvent.ApprovalRequested;
import dev.warpwright.run.RunEvent.RunFailed;
import dev.warpwright.run.RunState;
import dev.warpwright.run.RunSummary;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What the commands print with {@code --json}. The names of members are documented in
 * docs/operating.md and stay; what is not known is left out.
 */
final class RunJson {
  private RunJson() {}

  /** A run as lists have it. */
  static Map<String, Object> of(RunSummary run) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("run", run.run().runId());
    object.put("status", run.status().name());
    object.put("agent", run.agentId());
    run.idempotencyKey().ifPresent(key -> object.put("key", key));
    object.put("events", run.sequence());
    object.put("created", run.created().toString());
    object.put("updated", run.updated().toString());
    run.standing().due().ifPresent(due -> object.put("due", due.toString()));
    object.put("claims", run.claims());
    object.put("quarantined", run.isQuarantined());
    run.problem().ifPresent(problem -> object.put("problem", problem));
    return object;
  }

  /** Where a run stands. */
  static Map<String, Object> of(RunState state) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("run", state.run().runId());
    object.put("status", state.status().name());
    object.put("terminal", state.isTerminal());
    object.put("agent", state.started().agentId());
    state.started().idempotencyKey().ifPresent(key -> object.put("key", key));
    state
        .started()
        .forkedFrom()
        .ifPresent(
            from -> {
              object.put("forkedFrom", from.runId());
              object.put("forkedAt", from.sequence());
            });
    object.put("events", state.sequence());
    object.put("started", state.startedAt().toString());
    object.put("updated", state.updatedAt().toString());
    object.put("steps", state.step());
    addTokens(object, state.usage());
    state
        .cost()
        .flatMap(cost -> cost.amount())
        .ifPresent(amount -> object.put("cost", amount.toString()));
    object.put("text", state.text());
    object.put("approvals", state.pendingApprovals().stream().map(RunJson::asked).toList());
    object.put("inDoubt", state.inDoubt().stream().map(RunJson::doubted).toList());
    state.failure().ifPresent(failure -> object.put("failure", failed(failure)));
    return object;
  }

  private static void addTokens(Map<String, Object> object, Usage usage) {
    if (usage.input().isPresent()) {
      object.put("inputTokens", usage.input().tokens());
    }
    if (usage.output().isPresent()) {
      object.put("outputTokens", usage.output().tokens());
    }
  }

  private static Map<String, Object> asked(ApprovalRequested request) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("request", request.requestId());
    object.put("kind", request.kind().name());
    object.put("call", request.callId());
    request
        .provider()
        .ifPresent(
            by -> {
              object.put("provider", by.id());
              by.server().ifPresent(at -> object.put("server", at));
            });
    object.put("tool", request.tool());
    object.put("arguments", request.arguments());
    request.expiresAt().ifPresent(end -> object.put("expires", end.toString()));
    return object;
  }

  private static Map<String, Object> doubted(CallState call) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("call", call.call().id());
    object.put("key", call.started().orElseThrow().key());
    object.put("tool", call.call().name());
    object.put("arguments", call.call().input());
    return object;
  }

  private static Map<String, Object> failed(RunFailed failure) {
    return Map.of(
        "kind", failure.kind().name(),
        "message", failure.message(),
        "resumable", failure.resumable(),
        "step", failure.step());
  }

  /** The line for people that says where a run stands. */
  static String line(RunState state) {
    return "%s  %s".formatted(state.run(), state.status());
  }
}
