package dev.warpwright.agent;

import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * When the older part of a run's conversation is replaced by a summary, and by whose.
 *
 * <p>It is looked at before each model call. If a limit is passed, the leading system messages and
 * the most recent messages stay; what is between them becomes one message of the assistant that
 * begins with {@code [Compacted prior conversation]}. The summary is in the log before the model is
 * asked. A run whose conversation cannot be brought within the limits so fails with a {@link
 * dev.warpwright.model.LimitExceededException}.
 *
 * {@snippet :
 * Agent.builder("triage", route)
 *     .compaction(Compaction.by(Compactor.by(gateway, Route.of(cheap))).withMaxMessages(60))
 *     .build();
 * }
 *
 * @param compactor sums the messages up
 * @param maxMessages how many messages are sent at most, 2 or more
 * @param maxEstimatedInputTokens how many tokens they have at most, 1 or more: a quarter of the
 *     UTF-8 bytes of the messages as JSON
 * @param keepRecentMessages how many of the most recent messages stay, 1 or more; fewer if {@code
 *     maxMessages} leaves no room for so many, more if the first of them would be the result of a
 *     tool without its call
 */
public record Compaction(
    Compactor compactor,
    OptionalInt maxMessages,
    OptionalLong maxEstimatedInputTokens,
    int keepRecentMessages) {
  /** Checks the bounds. */
  public Compaction {
    Objects.requireNonNull(compactor, "compactor");
    maxMessages.ifPresent(most -> require("maxMessages", 2, most));
    maxEstimatedInputTokens.ifPresent(most -> require("maxEstimatedInputTokens", 1, most));
    require("keepRecentMessages", 1, keepRecentMessages);
  }

  private static void require(String what, long least, long value) {
    if (value < least) {
      throw new InvalidRequestException(
          FailureKind.INVALID_CONFIGURATION,
          "%s must be %d or more, but is %d.".formatted(what, least, value));
    }
  }

  /**
   * A compaction that is off until it has a limit.
   *
   * @param compactor sums the messages up
   * @return a compaction that keeps 8 messages
   */
  public static Compaction by(Compactor compactor) {
    return new Compaction(compactor, OptionalInt.empty(), OptionalLong.empty(), 8);
  }

  /**
   * The same with another limit of messages.
   *
   * @param most 2 or more
   * @return another compaction
   */
  public Compaction withMaxMessages(int most) {
    return new Compaction(
        compactor, OptionalInt.of(most), maxEstimatedInputTokens, keepRecentMessages);
  }

  /**
   * The same with another limit of tokens.
   *
   * @param most 1 or more
   * @return another compaction
   */
  public Compaction withMaxEstimatedInputTokens(long most) {
    return new Compaction(compactor, maxMessages, OptionalLong.of(most), keepRecentMessages);
  }

  /**
   * The same with another number of messages that stay.
   *
   * @param messages 1 or more; 8 by default
   * @return another compaction
   */
  public Compaction withKeepRecentMessages(int messages) {
    return new Compaction(compactor, maxMessages, maxEstimatedInputTokens, messages);
  }
}
