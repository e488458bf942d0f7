package dev.warpwright.agent;

import dev.warpwright.model.Message;
import dev.warpwright.model.Role;
import dev.warpwright.run.RunEvent.ContextCompacted;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Which part of a conversation a summary replaces. Pure.
 *
 * @param reasons the limits that are passed
 * @param from the first message of that part; those before it are the leading system messages
 * @param to behind its last message
 * @param tokens how many tokens the whole conversation has, by estimate
 */
record CompactionPlan(Set<ContextCompacted.Reason> reasons, int from, int to, long tokens) {
  /** Empty if no limit is passed. */
  static Optional<CompactionPlan> of(Compaction options, List<Message> messages) {
    long tokens = options.maxEstimatedInputTokens().isPresent() ? Transcript.tokens(messages) : 0;
    Set<ContextCompacted.Reason> reasons = passed(options, messages.size(), tokens);
    if (reasons.isEmpty()) {
      return Optional.empty();
    }
    int from = 0;
    while (from < messages.size() && messages.get(from).role() == Role.SYSTEM) {
      from++;
    }
    int to = tail(options, messages, from);
    return Optional.of(
        new CompactionPlan(reasons, from, to, tokens > 0 ? tokens : Transcript.tokens(messages)));
  }

  static Set<ContextCompacted.Reason> passed(Compaction options, int messages, long tokens) {
    Set<ContextCompacted.Reason> reasons = EnumSet.noneOf(ContextCompacted.Reason.class);
    options
        .maxMessages()
        .ifPresent(
            most -> {
              if (messages > most) {
                reasons.add(ContextCompacted.Reason.MAX_MESSAGES);
              }
            });
    options
        .maxEstimatedInputTokens()
        .ifPresent(
            most -> {
              if (tokens > most) {
                reasons.add(ContextCompacted.Reason.MAX_ESTIMATED_INPUT_TOKENS);
              }
            });
    return reasons;
  }

  /** Where the part that stays begins: never with the result of a tool, and never behind all. */
  private static int tail(Compaction options, List<Message> messages, int from) {
    int room = options.maxMessages().orElse(Integer.MAX_VALUE) - from - 1; // one is the summary
    int kept = Math.max(1, Math.min(options.keepRecentMessages(), room));
    int start = Math.max(from, messages.size() - kept);
    int earlier = start;
    while (earlier > from && messages.get(earlier).role() == Role.TOOL) {
      earlier--;
    }
    if (messages.size() - earlier <= room) {
      return earlier;
    }
    int later = start;
    while (later < messages.size() && messages.get(later).role() == Role.TOOL) {
      later++;
    }
    return later < messages.size() ? later : earlier;
  }

  /** The conversation with a summary in place of the part. */
  List<Message> apply(List<Message> messages, Message summary) {
    List<Message> compacted = new ArrayList<>(messages.subList(0, from));
    compacted.add(summary);
    compacted.addAll(messages.subList(to, messages.size()));
    return compacted;
  }
}
