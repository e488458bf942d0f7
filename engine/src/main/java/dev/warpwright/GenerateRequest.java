package dev.warpwright;

import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Message;
import dev.warpwright.model.Route;
import dev.warpwright.model.ToolChoice;
import dev.warpwright.tool.Tool;
import dev.warpwright.tool.ToolExecution;
import dev.warpwright.tool.ToolSet;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * What a text operation is asked. Immutable; whatever was given to the builder was copied.
 *
 * {@snippet :
 * GenerateRequest request =
 *     GenerateRequest.builder(Route.of(Target.of("openai", "gpt-5")), "Why is the sky blue?")
 *         .maxTokens(400)
 *         .timeout(Duration.ofSeconds(30))
 *         .build();
 * }
 */
public final class GenerateRequest {
  private final Route route;
  private final List<Message> messages;
  private final ToolSet tools;
  private final ToolExecution toolExecution;
  private final ToolChoice toolChoice;
  private final int maxSteps;
  private final OptionalDouble temperature;
  private final OptionalInt maxTokens;
  private final Optional<Duration> timeout;

  private GenerateRequest(Builder builder) {
    this.route = builder.route;
    this.messages = builder.messages;
    this.tools = builder.tools;
    this.toolExecution = builder.toolExecution;
    this.toolChoice = builder.toolChoice;
    this.maxSteps = builder.maxSteps;
    this.temperature = builder.temperature;
    this.maxTokens = builder.maxTokens;
    this.timeout = Optional.ofNullable(builder.timeout);
  }

  /**
   * Begins a request that asks one thing.
   *
   * @param route the targets that may answer
   * @param prompt what a user asks
   * @return a builder
   */
  public static Builder builder(Route route, String prompt) {
    return builder(route, List.of(Message.user(prompt)));
  }

  /**
   * Begins a request that goes on with a conversation.
   *
   * @param route the targets that may answer
   * @param messages the conversation, system messages first
   * @return a builder
   */
  public static Builder builder(Route route, List<Message> messages) {
    return new Builder(route, messages);
  }

  /**
   * The targets that may answer.
   *
   * @return the route
   */
  public Route route() {
    return route;
  }

  /**
   * The conversation.
   *
   * @return the messages
   */
  public List<Message> messages() {
    return messages;
  }

  /**
   * The tools that the model may call.
   *
   * @return the tools
   */
  public ToolSet tools() {
    return tools;
  }

  /**
   * How tool calls are run.
   *
   * @return the options
   */
  public ToolExecution toolExecution() {
    return toolExecution;
  }

  /**
   * Whether the model may, must or must not call tools.
   *
   * @return the choice
   */
  public ToolChoice toolChoice() {
    return toolChoice;
  }

  /**
   * How many model calls the operation may make.
   *
   * @return the number, 1 by default
   */
  public int maxSteps() {
    return maxSteps;
  }

  /**
   * The sampling temperature.
   *
   * @return the temperature, if set
   */
  public OptionalDouble temperature() {
    return temperature;
  }

  /**
   * The limit of output tokens of one model call.
   *
   * @return the limit, if set
   */
  public OptionalInt maxTokens() {
    return maxTokens;
  }

  /**
   * How long the whole operation may take; it can only shorten the gateway's own limit.
   *
   * @return the limit, if set
   */
  public Optional<Duration> timeout() {
    return timeout;
  }

  /** Shows the sizes only. */
  @Override
  public String toString() {
    return "GenerateRequest[" + route.primary() + ", " + messages.size() + " messages]";
  }

  /** Collects the parts of a request; not thread-safe. */
  public static final class Builder {
    private final Route route;
    private final List<Message> messages;
    private ToolSet tools = ToolSet.NONE;
    private ToolExecution toolExecution = ToolExecution.DEFAULT;
    private ToolChoice toolChoice = ToolChoice.AUTO;
    private int maxSteps = 1;
    private OptionalDouble temperature = OptionalDouble.empty();
    private OptionalInt maxTokens = OptionalInt.empty();
    private @Nullable Duration timeout;

    private Builder(Route route, List<Message> messages) {
      this.route = Objects.requireNonNull(route, "route");
      this.messages = List.copyOf(messages);
    }

    private static InvalidRequestException invalid(String message) {
      return new InvalidRequestException(FailureKind.INVALID_REQUEST, message);
    }

    /**
     * Gives the model tools.
     *
     * @param tools the tools, each name once
     * @return this builder
     */
    public Builder tools(Tool... tools) {
      return tools(List.of(tools));
    }

    /**
     * Gives the model tools.
     *
     * @param tools the tools, each name once
     * @return this builder
     */
    public Builder tools(Collection<Tool> tools) {
      this.tools = ToolSet.of(tools);
      return this;
    }

    /**
     * Says how tool calls are run.
     *
     * @param options {@link ToolExecution#DEFAULT} by default
     * @return this builder
     */
    public Builder toolExecution(ToolExecution options) {
      this.toolExecution = Objects.requireNonNull(options, "options");
      return this;
    }

    /**
     * Says whether the model may, must or must not call tools.
     *
     * @param choice {@link ToolChoice#AUTO} by default
     * @return this builder
     */
    public Builder toolChoice(ToolChoice choice) {
      this.toolChoice = Objects.requireNonNull(choice, "choice");
      return this;
    }

    /**
     * Says how many model calls the operation may make.
     *
     * @param maxSteps 1 or more; 1 by default
     * @return this builder
     */
    public Builder maxSteps(int maxSteps) {
      if (maxSteps < 1) {
        throw invalid("maxSteps must be 1 or more, but is " + maxSteps + ".");
      }
      this.maxSteps = maxSteps;
      return this;
    }

    /**
     * Sets the sampling temperature.
     *
     * @param temperature a finite number
     * @return this builder
     */
    public Builder temperature(double temperature) {
      if (!Double.isFinite(temperature)) {
        throw invalid("temperature must be finite, but is " + temperature + ".");
      }
      this.temperature = OptionalDouble.of(temperature);
      return this;
    }

    /**
     * Limits the output tokens of one model call.
     *
     * @param maxTokens 1 or more
     * @return this builder
     */
    public Builder maxTokens(int maxTokens) {
      if (maxTokens < 1) {
        throw invalid("maxTokens must be 1 or more, but is " + maxTokens + ".");
      }
      this.maxTokens = OptionalInt.of(maxTokens);
      return this;
    }

    /**
     * Limits the whole operation: retries, waits and tools included.
     *
     * @param timeout 1 ms to 2 147 483 647 ms; it can only shorten the gateway's own limit
     * @return this builder
     */
    public Builder timeout(Duration timeout) {
      this.timeout = Bounds.timeout(FailureKind.INVALID_REQUEST, "timeout", timeout);
      return this;
    }

    /**
     * Makes the request.
     *
     * @return the request
     */
    public GenerateRequest build() {
      return new GenerateRequest(this);
    }
  }
}
