package dev.warpwright.agent;

import dev.warpwright.json.StrictJson;
import dev.warpwright.model.Digest;
import dev.warpwright.model.Image;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.Part;
import dev.warpwright.model.ProviderApproval;
import dev.warpwright.model.ProviderState;
import dev.warpwright.model.Reasoning;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.ToolResult;
import dev.warpwright.run.RunState;
import dev.warpwright.tool.Tool;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;

/**
 * What a request under an idempotency key is compared by: a digest for each part, so that a
 * mismatch can name the part and show nothing of it.
 */
final class Fingerprint {
  private Fingerprint() {}

  static Map<String, String> of(AgentRequest request) {
    Map<String, String> parts = new TreeMap<>(request.agent().fingerprint());
    parts.put("messages", digest(request.messages().stream().map(Fingerprint::plain).toList()));
    request
        .handoff()
        .ifPresent(
            given -> {
              parts.put("handoff", digest(List.of(given.id(), given.from().runId())));
              parts.put(
                  "handoffMessages",
                  digest(given.messages().stream().map(Fingerprint::plain).toList()));
            });
    return parts;
  }

  /**
   * The parts that are the same for all requests to an agent; {@link Agent#fingerprint} keeps them.
   */
  static Map<String, String> of(Agent agent) {
    Map<String, String> parts = new TreeMap<>();
    parts.put("agent", digest(List.of(agent.id(), agent.version())));
    parts.put("instructions", digest(agent.instructions().map(List::of).orElse(List.of())));
    parts.put("tools", digest(agent.tools().tools().stream().map(Fingerprint::plain).toList()));
    parts.put(
        "targets", digest(agent.route().candidates().stream().map(Object::toString).toList()));
    parts.put(
        "options",
        digest(
            List.of(
                agent.maxSteps(),
                agent.maxToolErrors(),
                agent.invalidInput().name(),
                agent.toolExecution().stopOnError(),
                agent.temperature().toString(),
                agent.maxTokens().toString())));
    addOptional(parts, agent);
    return Collections.unmodifiableMap(parts);
  }

  /**
   * Parts of their own where they are set, so that what was recorded before they were there fits.
   */
  private static void addOptional(Map<String, String> parts, Agent agent) {
    if (agent.maxStateBytes() != RunState.DEFAULT_MAX_BYTES) {
      parts.put("maxStateBytes", digest(List.of(agent.maxStateBytes())));
    }
    if (!agent.policy().equals(RunPolicy.NONE)) {
      parts.put("policy", digest(plain(agent.policy())));
    }
    agent
        .asked()
        .ifPresent(
            object ->
                parts.put(
                    "output",
                    digest(
                        List.of(
                            object.mode().name(),
                            agent.output().orElseThrow().schema().canonical()))));
    agent
        .compaction()
        .ifPresent(
            options ->
                parts.put(
                    "compaction",
                    digest(
                        List.of(
                            options.maxMessages().toString(),
                            options.maxEstimatedInputTokens().toString(),
                            options.keepRecentMessages()))));
    agent.reasoning().ifPresent(how -> parts.put("reasoning", digest(plain(how))));
    if (!agent.providerOptions().isEmpty()) {
      Map<String, Object> options = new TreeMap<>();
      agent.providerOptions().forEach((id, json) -> options.put(id, json.canonical()));
      parts.put("providerOptions", digest(options));
    }
    agent
        .binding()
        .harness()
        .ifPresent(
            harness ->
                parts.put(
                    "harness",
                    digest(List.of(harness.id(), harness.version(), harness.fingerprint()))));
    agent.binding().environment().ifPresent(is -> parts.put("environment", digest(List.of(is))));
    if (!agent.requiredCapabilities().isEmpty()) {
      parts.put(
          "requiredCapabilities",
          digest(agent.requiredCapabilities().stream().map(Enum::name).sorted().toList()));
    }
  }

  private static List<Object> plain(RunPolicy policy) {
    List<Object> parts = new ArrayList<>();
    policy.timeout().ifPresent(limit -> parts.add("timeout " + limit));
    policy.onTimeout().ifPresent(effect -> parts.add("onTimeout " + effect));
    policy
        .budget()
        .ifPresent(
            budget -> {
              parts.add("budget");
              budget.maxToolCalls().ifPresent(most -> parts.add("maxToolCalls " + most));
              budget.maxInputTokens().ifPresent(most -> parts.add("maxInputTokens " + most));
              budget.maxOutputTokens().ifPresent(most -> parts.add("maxOutputTokens " + most));
              budget.maxTotalTokens().ifPresent(most -> parts.add("maxTotalTokens " + most));
              budget.maxCost().ifPresent(most -> parts.add("maxCost " + most));
              parts.add("includeChildRuns " + budget.includeChildRuns());
            });
    return parts;
  }

  private static Object plain(Reasoning reasoning) {
    return switch (reasoning) {
      case Reasoning.ByEffort(Reasoning.Effort effort) -> List.of("effort", effort.name());
      case Reasoning.ByBudget(int tokens) -> List.of("budget", tokens);
    };
  }

  private static String digest(Object plain) {
    return Digest.of(Json.of(plain).text());
  }

  private static List<Object> plain(Tool tool) {
    return List.of(
        tool.name(), tool.version(), tool.effect().name(), tool.spec().inputSchema().canonical());
  }

  private static List<Object> plain(Message message) {
    List<Object> parts = new ArrayList<>();
    parts.add(message.role().name());
    for (Part part : message.parts()) {
      switch (part) {
        case Part.Text(String text) -> parts.add(StrictJson.cleanText(text));
        case Image image -> parts.add(List.of("image", image.url()));
        case ToolCall call ->
            parts.add(
                List.of(
                    call.id(), call.name(), call.input().canonical(), call.malformed().orElse("")));
        case ToolResult result ->
            parts.add(
                List.of(
                    result.callId(),
                    result.toolName(),
                    result.error(),
                    result.output().canonical()));
        case ProviderState state -> // but for what it decided, nothing that the program asks for
            state.approval().flatMap(Fingerprint::answer).ifPresent(parts::add);
      }
    }
    return parts;
  }

  private static Optional<Object> answer(ProviderApproval asked) {
    return asked
        .answer()
        .map(given -> List.of(asked.requestId(), given.approved(), given.reason().orElse("")));
  }

  /** The names of the parts in which two fingerprints differ. */
  static List<String> differences(Map<String, String> recorded, Map<String, String> now) {
    TreeMap<String, String> all = new TreeMap<>(recorded);
    all.putAll(now);
    return all.keySet().stream()
        .filter(part -> !Objects.equals(recorded.get(part), now.get(part)))
        .toList();
  }
}
