package dev.warpwright.run;

import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Message;
import dev.warpwright.model.Role;
import dev.warpwright.model.Target;
import java.util.List;
import java.util.Optional;

/**
 * What a fork has otherwise than the run from which it is cut off; recorded in its first event.
 * Immutable.
 */
public final class ForkChanges {
  /** Nothing: the fork goes on as the run did. */
  public static final ForkChanges NONE = new ForkChanges(new Builder());

  private final Optional<Message> replaced;
  private final Optional<Message> added;
  private final Optional<List<Target>> targets;
  private final Optional<Long> maxStateBytes;

  private ForkChanges(Builder builder) {
    this.replaced = builder.replaced;
    this.added = builder.added;
    this.targets = builder.targets;
    this.maxStateBytes = builder.maxStateBytes;
  }

  /**
   * Begins with no change.
   *
   * @return a builder
   */
  public static Builder builder() {
    return new Builder();
  }

  Optional<Message> replaced() {
    return replaced;
  }

  Optional<Message> added() {
    return added;
  }

  Optional<List<Target>> targets() {
    return targets;
  }

  Optional<Long> maxStateBytes() {
    return maxStateBytes;
  }

  /** Collects changes; not thread-safe. */
  public static final class Builder {
    private Optional<Message> replaced = Optional.empty();
    private Optional<Message> added = Optional.empty();
    private Optional<List<Target>> targets = Optional.empty();
    private Optional<Long> maxStateBytes = Optional.empty();

    private Builder() {}

    /**
     * Puts another message in the place of the last one of the conversation at that point. That
     * must be of the same role: of the user or, with the results of the same calls in the same
     * order, of tools. Only for the run of an agent.
     *
     * @param message the message
     * @return this builder
     */
    public Builder replaceLastMessage(Message message) {
      this.replaced = Optional.of(message);
      return this;
    }

    /**
     * Adds a message of the user behind the conversation at that point. Only for the run of an
     * agent.
     *
     * @param message the message
     * @return this builder
     * @throws InvalidRequestException if it is of another role
     */
    public Builder addMessage(Message message) {
      if (message.role() != Role.USER) {
        throw new InvalidRequestException(
            FailureKind.INVALID_REQUEST,
            "The message that a fork adds must be of role USER, but is of %s."
                .formatted(message.role()));
      }
      this.added = Optional.of(message);
      return this;
    }

    /**
     * Binds the fork to other targets, those of the agent that is to go on with it. Only for the
     * run of an agent.
     *
     * @param candidates the targets, in order, at least one
     * @return this builder
     * @throws InvalidRequestException if there is none
     */
    public Builder targets(List<Target> candidates) {
      if (candidates.isEmpty()) {
        throw new InvalidRequestException(
            FailureKind.INVALID_REQUEST, "The targets of a fork must be at least one, but are 0.");
      }
      this.targets = Optional.of(List.copyOf(candidates));
      return this;
    }

    /**
     * Lets the fork's state become larger, or less large, than that of the run.
     *
     * @param bytes the limit in bytes, 1 or more; what it has must fit
     * @return this builder
     * @throws InvalidRequestException if it is less than 1
     */
    public Builder maxStateBytes(long bytes) {
      if (bytes < 1) {
        throw new InvalidRequestException(
            FailureKind.INVALID_REQUEST,
            "The maxStateBytes of a fork must be 1 or more, but is " + bytes + ".");
      }
      this.maxStateBytes = Optional.of(bytes);
      return this;
    }

    /**
     * Ends the collecting.
     *
     * @return the changes
     */
    public ForkChanges build() {
      return new ForkChanges(this);
    }
  }
}
