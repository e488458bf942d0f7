package dev.warpwright;

import dev.warpwright.cost.CostTotal;
import dev.warpwright.model.Attempt;
import dev.warpwright.model.Completeness;
import dev.warpwright.model.Conversation;
import dev.warpwright.model.CostValuation;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.ProviderState;
import dev.warpwright.model.RouteDecision;
import dev.warpwright.model.Target;
import dev.warpwright.model.ToolResult;
import dev.warpwright.model.Usage;
import dev.warpwright.task.TaskTrace;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * The answer of a text operation.
 *
 * @param text the text of the last step
 * @param finishReason why the last step ended; TOOL_CALLS if the steps were used up while the model
 *     still asked for tools, PAUSED if the provider asks for an approval
 * @param targetUsed the last winning target; a later step may have moved it
 * @param latency from the call to the answer
 * @param attempts every attempt of the operation, skips included, in order of time
 * @param usage the tokens of all steps
 * @param routeDecision the order of the targets and why
 * @param steps the model calls that were answered
 * @param messages the whole conversation, the request's messages first
 * @param toolResults the results of all tools, in order
 * @param tasks the finished tree of tasks: what ran, for how long, and how it ended
 */
public record GenerateResult(
    String text,
    FinishReason finishReason,
    Target targetUsed,
    Duration latency,
    List<Attempt> attempts,
    Usage usage,
    RouteDecision routeDecision,
    List<ModelStep> steps,
    List<Message> messages,
    List<ToolResult> toolResults,
    TaskTrace tasks) {
  /** Copies the lists. */
  public GenerateResult {
    attempts = List.copyOf(attempts);
    steps = List.copyOf(steps);
    messages = Conversation.of(messages);
    toolResults = List.copyOf(toolResults);
  }

  /**
   * What all calls of the operation cost together, failed ones included.
   *
   * @return the total; empty if the gateway does not account costs
   */
  public Optional<CostTotal> cost() {
    List<CostValuation> calls = attempts.stream().flatMap(made -> made.cost().stream()).toList();
    return calls.isEmpty() ? Optional.empty() : Optional.of(CostTotal.of(calls));
  }

  /**
   * Whether the last answer is whole: complete, empty, refused, filtered or cut off are different
   * results.
   *
   * @return the completeness of the last step
   */
  public Completeness completeness() {
    return steps.getLast().response().completeness();
  }

  /**
   * What the provider asks to approve before a tool that it runs itself may act. Nobody can decide
   * within the operation: an agent's run waits for a person, or the program answers with {@link
   * Conversation#answered} on {@link #messages} and makes another request of them. What is not
   * answered is not done.
   *
   * @return the states that ask, in order; empty if the answer asks for nothing, or was cut off
   */
  public List<ProviderState> pendingApprovals() {
    ModelResponse last = steps.getLast().response();
    return last.finishReason().allows(last.message()) ? last.message().approvals() : List.of();
  }

  /**
   * The provider of the last winning target.
   *
   * @return its id
   */
  public String providerUsed() {
    return targetUsed.provider();
  }

  /**
   * The model of the last winning target.
   *
   * @return its id
   */
  public String modelUsed() {
    return targetUsed.modelId();
  }

  /** Shows who answered and how, not what. */
  @Override
  public String toString() {
    return "GenerateResult[%s, %s, %d steps, %d attempts]"
        .formatted(targetUsed, finishReason.kind(), steps.size(), attempts.size());
  }
}
