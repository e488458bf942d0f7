package dev.warpwright.agent;

import dev.warpwright.model.Message;
import dev.warpwright.run.RunKey;
import java.util.List;
import java.util.Map;

/**
 * What an agent remembers from elsewhere: messages that a run begins with beside what it was asked.
 *
 * <p>Implementations are thread-safe.
 */
@FunctionalInterface
public interface Memory {
  /**
   * Loads what a run should know. Called once a run, when the run is in the store and driven,
   * before its first step; a resume calls it again only if its process died, or it failed fatally,
   * before what it gave was in the log.
   *
   * <p>It runs as a task of the operation, on a thread of its own, which is interrupted when the
   * run is cancelled or its deadline passes. What it throws, and messages that are not as they must
   * be, are a failure of a hook: {@link HookFailurePolicy} says what that means; if it is ignored,
   * the run remembers nothing.
   *
   * @param asked what is known of the run
   * @return messages of any role but TOOL, of text and images only; they stand behind the leading
   *     system messages, before the conversation
   * @throws Exception whatever went wrong
   */
  List<Message> load(Request asked) throws Exception;

  /**
   * What is known of a run that begins.
   *
   * @param run the run
   * @param agentId its agent
   * @param messages what it begins with, instructions included
   * @param metadata the program's own notes on it
   */
  record Request(RunKey run, String agentId, List<Message> messages, Map<String, String> metadata) {
    /** Shows the run; messages and notes may be private. */
    @Override
    public String toString() {
      return "Request[%s, %s, %d messages]".formatted(run, agentId, messages.size());
    }
  }
}
