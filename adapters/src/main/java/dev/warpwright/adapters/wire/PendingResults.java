package dev.warpwright.adapters.wire;

import dev.warpwright.model.Message;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.ToolResult;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Gathers the results of one turn from however many messages, and gives them out in the order of
 * the calls that they answer.
 */
public final class PendingResults {
  private final Map<String, Integer> callOrder = new HashMap<>();
  private final List<ToolResult> results = new ArrayList<>();

  /** Begins without calls. */
  public PendingResults() {}

  /**
   * Begins a turn.
   *
   * @param turn the assistant's message with its calls
   */
  public void answered(Message turn) {
    callOrder.clear();
    for (ToolCall call : turn.toolCalls()) {
      callOrder.put(call.id(), callOrder.size());
    }
  }

  /**
   * Adds results.
   *
   * @param message a message of role TOOL
   */
  public void add(Message message) {
    results.addAll(message.toolResults());
  }

  /**
   * Gives out what was gathered, once.
   *
   * @return the results in call order; those of unknown calls last
   */
  public List<ToolResult> take() {
    results.sort(
        Comparator.comparing(result -> callOrder.getOrDefault(result.callId(), Integer.MAX_VALUE)));
    List<ToolResult> taken = List.copyOf(results);
    results.clear();
    return taken;
  }
}
