package dev.warpwright.model;

import dev.warpwright.task.Deadline;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;

/**
 * What a model is asked in one call. Immutable.
 *
 * @param messages the conversation, system messages first
 * @param tools the tools that the model may call
 * @param toolChoice whether it may, must or must not call them
 * @param temperature the sampling temperature, if set
 * @param maxTokens the limit of output tokens, if set
 * @param reasoning how much the model is asked to reason, if set
 * @param output what the provider is asked to hold the final text to; empty for free text
 * @param toolResults how results of tools are written where the protocol marks no errors
 * @param providerOptions members of the request that only this provider knows, a JSON object. An
 *     adapter applies them before its own, so that they can add but not override
 * @param deadline when the attempt ends; the caller interrupts the thread then
 */
public record ModelCall(
    List<Message> messages,
    List<ToolSpec> tools,
    ToolChoice toolChoice,
    OptionalDouble temperature,
    OptionalInt maxTokens,
    Optional<Reasoning> reasoning,
    Optional<OutputFormat> output,
    ToolResultFormat toolResults,
    Json providerOptions,
    Deadline deadline) {
  /** Copies the lists, except for a {@link Conversation}, which cannot change. */
  public ModelCall {
    messages = Conversation.of(messages);
    tools = List.copyOf(tools);
    Objects.requireNonNull(toolChoice, "toolChoice");
    Objects.requireNonNull(reasoning, "reasoning");
    Objects.requireNonNull(output, "output");
    Objects.requireNonNull(toolResults, "toolResults");
    Objects.requireNonNull(providerOptions, "providerOptions");
    Objects.requireNonNull(deadline, "deadline");
  }

  /**
   * Begins a call without tools, options or deadline.
   *
   * @param messages the conversation, system messages first
   * @return a builder
   */
  public static Builder builder(List<Message> messages) {
    return new Builder(messages);
  }

  /** Shows the sizes only. */
  @Override
  public String toString() {
    return "ModelCall[" + messages.size() + " messages, " + tools.size() + " tools]";
  }

  /** Collects the parts of a call; not thread-safe. */
  public static final class Builder {
    private final List<Message> messages;
    private List<ToolSpec> tools = List.of();
    private ToolChoice toolChoice = ToolChoice.AUTO;
    private OptionalDouble temperature = OptionalDouble.empty();
    private OptionalInt maxTokens = OptionalInt.empty();
    private Optional<Reasoning> reasoning = Optional.empty();
    private Optional<OutputFormat> output = Optional.empty();
    private ToolResultFormat toolResults = ToolResultFormat.PLAIN;
    private Json providerOptions = Json.EMPTY_OBJECT;
    private Deadline deadline = Deadline.never();

    private Builder(List<Message> messages) {
      this.messages = messages;
    }

    /**
     * Offers tools.
     *
     * @param tools the tools; none by default
     * @return this builder
     */
    public Builder tools(List<ToolSpec> tools) {
      this.tools = tools;
      return this;
    }

    /**
     * Says whether the model may, must or must not call tools.
     *
     * @param choice {@link ToolChoice#AUTO} by default
     * @return this builder
     */
    public Builder toolChoice(ToolChoice choice) {
      this.toolChoice = choice;
      return this;
    }

    /**
     * Sets the sampling temperature.
     *
     * @param temperature the temperature; the model's own by default
     * @return this builder
     */
    public Builder temperature(OptionalDouble temperature) {
      this.temperature = temperature;
      return this;
    }

    /**
     * Limits the output.
     *
     * @param maxTokens the limit in tokens; the model's own by default
     * @return this builder
     */
    public Builder maxTokens(OptionalInt maxTokens) {
      this.maxTokens = maxTokens;
      return this;
    }

    /**
     * Asks the model to reason.
     *
     * @param reasoning how much; left to the model by default
     * @return this builder
     */
    public Builder reasoning(Optional<Reasoning> reasoning) {
      this.reasoning = reasoning;
      return this;
    }

    /**
     * Says what the provider holds the final text to.
     *
     * @param output the format; free text by default
     * @return this builder
     */
    public Builder output(Optional<OutputFormat> output) {
      this.output = output;
      return this;
    }

    /**
     * Says how results of tools are written where the protocol marks no errors.
     *
     * @param format {@link ToolResultFormat#PLAIN} by default
     * @return this builder
     */
    public Builder toolResults(ToolResultFormat format) {
      this.toolResults = format;
      return this;
    }

    /**
     * Adds members that only this provider knows.
     *
     * @param options a JSON object, empty by default
     * @return this builder
     */
    public Builder providerOptions(Json options) {
      this.providerOptions = options;
      return this;
    }

    /**
     * Says when the attempt ends.
     *
     * @param deadline never by default
     * @return this builder
     */
    public Builder deadline(Deadline deadline) {
      this.deadline = deadline;
      return this;
    }

    /**
     * Makes the call.
     *
     * @return the call
     */
    public ModelCall build() {
      return new ModelCall(
          messages,
          tools,
          toolChoice,
          temperature,
          maxTokens,
          reasoning,
          output,
          toolResults,
          providerOptions,
          deadline);
    }
  }
}
