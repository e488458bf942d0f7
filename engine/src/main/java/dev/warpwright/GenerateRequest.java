package dev.warpwright;

import dev.warpwright.cost.PriceCeiling;
import dev.warpwright.model.AgentCapabilities;
import dev.warpwright.model.Capability;
import dev.warpwright.model.Conversation;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.Reasoning;
import dev.warpwright.model.Route;
import dev.warpwright.model.RoutingMode;
import dev.warpwright.model.Target;
import dev.warpwright.model.TaskIntent;
import dev.warpwright.model.ToolChoice;
import dev.warpwright.model.ToolResultFormat;
import dev.warpwright.task.Cancellation;
import dev.warpwright.tool.Tool;
import dev.warpwright.tool.ToolExecution;
import dev.warpwright.tool.ToolSet;
import java.time.Duration;
import java.util.Collection;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.Set;
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
  private final Optional<Route> route;
  private final List<Message> messages;
  private final ToolSet tools;
  private final ToolExecution toolExecution;
  private final ToolChoice toolChoice;
  private final ToolResultFormat toolResultFormat;
  private final int maxSteps;
  private final OptionalDouble temperature;
  private final OptionalInt maxTokens;
  private final Optional<Reasoning> reasoning;
  private final Map<String, Json> providerOptions;
  private final Set<Capability> requiredCapabilities;
  private final Optional<Duration> timeout;
  private final Optional<Cancellation> cancellation;
  private final Optional<String> budgetScope;
  private final Optional<String> cacheScope;
  private final Optional<String> affinityKey;
  private final Optional<RoutingMode> routingMode;
  private final TaskIntent taskIntent;
  private final Optional<PriceCeiling> priceCeiling;
  private final OptionalInt expectedOutputTokens;
  private final Optional<AgentCapabilities> requiredAgentCapabilities;
  private final Map<String, String> metadata;
  private final Set<Capability> needs;

  private GenerateRequest(Builder builder) {
    this.route = Optional.ofNullable(builder.route);
    this.messages = builder.messages;
    this.tools = builder.tools;
    this.toolExecution = builder.toolExecution;
    this.toolChoice = builder.toolChoice;
    this.toolResultFormat = builder.toolResultFormat;
    this.maxSteps = builder.maxSteps;
    this.temperature = builder.temperature;
    this.maxTokens = builder.maxTokens;
    this.reasoning = Optional.ofNullable(builder.reasoning);
    this.providerOptions = Map.copyOf(builder.providerOptions);
    this.requiredCapabilities = Set.copyOf(builder.requiredCapabilities);
    this.timeout = Optional.ofNullable(builder.timeout);
    this.cancellation = Optional.ofNullable(builder.cancellation);
    this.budgetScope = Optional.ofNullable(builder.budgetScope);
    this.cacheScope = Optional.ofNullable(builder.cacheScope);
    this.affinityKey = Optional.ofNullable(builder.affinityKey);
    this.routingMode = Optional.ofNullable(builder.routingMode);
    this.taskIntent = builder.taskIntent;
    this.priceCeiling = Optional.ofNullable(builder.priceCeiling);
    this.expectedOutputTokens = builder.expectedOutputTokens;
    this.requiredAgentCapabilities = Optional.ofNullable(builder.requiredAgentCapabilities);
    this.metadata = builder.metadata;
    this.needs = Set.copyOf(needed());
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
   * Begins a request that goes on with a conversation. Tools may have been called in it, at any
   * provider: then the operation refuses it unless it keeps to the rules of {@link
   * dev.warpwright.model.PortableHistory}, and calls targets only that declare {@link
   * dev.warpwright.model.ToolHistory}.
   *
   * @param route the targets that may answer
   * @param messages the conversation, system messages first
   * @return a builder
   */
  public static Builder builder(Route route, List<Message> messages) {
    return new Builder(Objects.requireNonNull(route, "route"), messages);
  }

  /**
   * Begins a request that asks one thing of the gateway's default route.
   *
   * @param prompt what a user asks
   * @return a builder
   */
  public static Builder builder(String prompt) {
    return builder(List.of(Message.user(prompt)));
  }

  /**
   * Begins a request that goes on with a conversation on the gateway's default route.
   *
   * @param messages the conversation, system messages first
   * @return a builder
   */
  public static Builder builder(List<Message> messages) {
    return new Builder(null, messages);
  }

  /**
   * The targets that may answer.
   *
   * @return the route; empty for the gateway's default one
   */
  public Optional<Route> route() {
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
   * How results of tools are written where a protocol marks no errors. A conversation that begins
   * with tool calls always has {@link ToolResultFormat#ENVELOPE}.
   *
   * @return the format, PLAIN by default
   */
  public ToolResultFormat toolResultFormat() {
    return toolResultFormat;
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
   * How much the model is asked to reason.
   *
   * @return how much, if set
   */
  public Optional<Reasoning> reasoning() {
    return reasoning;
  }

  /**
   * What only one provider knows, by provider id.
   *
   * @return a JSON object for each provider that has options
   */
  public Map<String, Json> providerOptions() {
    return providerOptions;
  }

  /**
   * What a model must be able to do beside what the request itself shows.
   *
   * @return the capabilities
   */
  public Set<Capability> requiredCapabilities() {
    return requiredCapabilities;
  }

  /**
   * All that a model must be able to do for this request, but for what a single step needs: tools,
   * a choice of tools, reasoning, and what is required besides.
   */
  Set<Capability> needs() {
    return needs;
  }

  private Set<Capability> needed() {
    EnumSet<Capability> needs = EnumSet.noneOf(Capability.class);
    needs.addAll(requiredCapabilities);
    if (!tools.tools().isEmpty()) {
      needs.add(Capability.TOOLS);
    }
    if (!(toolChoice instanceof ToolChoice.Auto)) {
      needs.add(Capability.TOOL_CHOICE);
    }
    if (reasoning.isPresent()) {
      needs.add(Capability.REASONING);
    }
    return needs;
  }

  /**
   * How the caller cancels the operation beside interrupting its thread.
   *
   * @return the handle, if set
   */
  public Optional<Cancellation> cancellation() {
    return cancellation;
  }

  /**
   * Whose money pays for the operation's calls.
   *
   * @return the name of the account, if set
   */
  public Optional<String> budgetScope() {
    return budgetScope;
  }

  /**
   * With whom answers may be shared.
   *
   * @return the name of the circle, if answers may be cached
   */
  public Optional<String> cacheScope() {
    return cacheScope;
  }

  /**
   * Which conversation the request belongs to, so that the target that served it is preferred.
   *
   * @return the name of the conversation within the cache scope, if set
   */
  public Optional<String> affinityKey() {
    return affinityKey;
  }

  /**
   * The order of the targets that the request asks for.
   *
   * @return the mode; empty to leave it to the gateway, which without a scorer or an adaptive
   *     policy keeps the order of the route
   */
  public Optional<RoutingMode> routingMode() {
    return routingMode;
  }

  /**
   * What the request is for.
   *
   * @return the intent, CHAT by default
   */
  public TaskIntent taskIntent() {
    return taskIntent;
  }

  /**
   * The highest price per 1000 tokens that a target may have.
   *
   * @return the ceiling, if set
   */
  public Optional<PriceCeiling> priceCeiling() {
    return priceCeiling;
  }

  /**
   * How much output is expected, for quotes.
   *
   * @return the number of tokens, if set
   */
  public OptionalInt expectedOutputTokens() {
    return expectedOutputTokens;
  }

  /**
   * What an agent needs of a model.
   *
   * @return the capabilities, if set
   */
  public Optional<AgentCapabilities> requiredAgentCapabilities() {
    return requiredAgentCapabilities;
  }

  /**
   * The program's own notes; tools see them as {@code ToolContext.caller().metadata()}.
   *
   * @return the notes
   */
  public Map<String, String> metadata() {
    return metadata;
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
    String primary = route.map(to -> to.primary().toString()).orElse("default route");
    return "GenerateRequest[" + primary + ", " + messages.size() + " messages]";
  }

  /** Collects the parts of a request; not thread-safe. */
  public static final class Builder {
    private final @Nullable Route route;
    private final List<Message> messages;
    private ToolSet tools = ToolSet.NONE;
    private ToolExecution toolExecution = ToolExecution.DEFAULT;
    private ToolChoice toolChoice = ToolChoice.AUTO;
    private ToolResultFormat toolResultFormat = ToolResultFormat.PLAIN;
    private int maxSteps = 1;
    private OptionalDouble temperature = OptionalDouble.empty();
    private OptionalInt maxTokens = OptionalInt.empty();
    private @Nullable Reasoning reasoning;
    private final Map<String, Json> providerOptions = new HashMap<>();
    private Set<Capability> requiredCapabilities = Set.of();
    private @Nullable Duration timeout;
    private @Nullable Cancellation cancellation;
    private @Nullable String budgetScope;
    private @Nullable String cacheScope;
    private @Nullable String affinityKey;
    private @Nullable RoutingMode routingMode;
    private TaskIntent taskIntent = TaskIntent.CHAT;
    private @Nullable PriceCeiling priceCeiling;
    private OptionalInt expectedOutputTokens = OptionalInt.empty();
    private @Nullable AgentCapabilities requiredAgentCapabilities;
    private Map<String, String> metadata = Map.of();

    private Builder(@Nullable Route route, List<Message> messages) {
      this.route = route;
      this.messages = Conversation.of(messages);
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
     * Says how results of tools are written where a protocol marks no errors.
     *
     * @param format {@link ToolResultFormat#PLAIN} by default; it makes no difference to a
     *     conversation that begins with tool calls
     * @return this builder
     */
    public Builder toolResultFormat(ToolResultFormat format) {
      this.toolResultFormat = Objects.requireNonNull(format, "format");
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
     * Asks the model to reason; only models that declare {@link Capability#REASONING} are called.
     *
     * @param reasoning how much
     * @return this builder
     */
    public Builder reasoning(Reasoning reasoning) {
      this.reasoning = Objects.requireNonNull(reasoning, "reasoning");
      return this;
    }

    /**
     * Adds members to the requests to one provider that only it knows. They can add to what
     * Warpwright writes, not override it.
     *
     * @param provider the provider's id
     * @param options a JSON object
     * @return this builder
     */
    public Builder providerOptions(String provider, Json options) {
      if (!options.isObject()) {
        throw invalid("providerOptions of " + provider + " must be a JSON object.");
      }
      providerOptions.put(Target.requireProviderId(provider), options);
      return this;
    }

    /**
     * Says what a model must be able to do beside what the request itself shows.
     *
     * @param capabilities the capabilities
     * @return this builder
     */
    public Builder requiredCapabilities(Capability... capabilities) {
      this.requiredCapabilities = Set.of(capabilities);
      return this;
    }

    /**
     * Gives the caller a handle to cancel the operation. A handle that is cancelled already refuses
     * the operation before anything is spent.
     *
     * @param cancellation the handle
     * @return this builder
     */
    public Builder cancellation(Cancellation cancellation) {
      this.cancellation = Objects.requireNonNull(cancellation, "cancellation");
      return this;
    }

    /**
     * Says whose money pays for the calls; needed on a gateway with a budget. It comes from the
     * program, never straight from a client; for a budget of a period, put the period into it.
     *
     * @param scope the name of the account; not blank, at most 256 characters
     * @return this builder
     */
    public Builder budgetScope(String scope) {
      this.budgetScope = Bounds.scope("budgetScope", scope);
      return this;
    }

    /**
     * Lets the answer come from the gateway's cache, and be kept in it, for others with the same
     * scope. Without it nothing is cached.
     *
     * @param scope with whom answers may be shared, such as a tenant; not blank, at most 256
     *     characters
     * @return this builder
     */
    public Builder cacheScope(String scope) {
      this.cacheScope = Bounds.scope("cacheScope", scope);
      return this;
    }

    /**
     * Names the conversation that the request belongs to: on a gateway with affinity, the target
     * that served it last is preferred. Needs a {@link #cacheScope} too.
     *
     * @param key the name; not blank, at most 256 characters
     * @return this builder
     */
    public Builder affinityKey(String key) {
      this.affinityKey = Bounds.scope("affinityKey", key);
      return this;
    }

    /**
     * Asks for an order of the targets. An explicit {@link RoutingMode#ORDERED} keeps the order of
     * the route, whatever the gateway does otherwise.
     *
     * @param mode left to the gateway by default
     * @return this builder
     */
    public Builder routingMode(RoutingMode mode) {
      this.routingMode = Objects.requireNonNull(mode, "mode");
      return this;
    }

    /**
     * Says what the request is for; scores and quality profiles depend on it.
     *
     * @param intent {@link TaskIntent#CHAT} by default
     * @return this builder
     */
    public Builder taskIntent(TaskIntent intent) {
      this.taskIntent = Objects.requireNonNull(intent, "intent");
      return this;
    }

    /**
     * Keeps the request from targets that are too dear. It limits the model's price, not the bill:
     * for that limit the attempts and the budget as well.
     *
     * @param ceiling none by default
     * @return this builder
     */
    public Builder priceCeiling(PriceCeiling ceiling) {
      this.priceCeiling = Objects.requireNonNull(ceiling, "ceiling");
      return this;
    }

    /**
     * Says how much output is expected, for quotes; without it they take {@code maxTokens}.
     *
     * @param tokens 1 or more
     * @return this builder
     */
    public Builder expectedOutputTokens(int tokens) {
      if (tokens < 1) {
        throw invalid("expectedOutputTokens must be 1 or more, but is " + tokens + ".");
      }
      this.expectedOutputTokens = OptionalInt.of(tokens);
      return this;
    }

    /**
     * Says what an agent needs of a model.
     *
     * @param needs the tier, at least, and the capabilities
     * @return this builder
     */
    public Builder requiredAgentCapabilities(AgentCapabilities needs) {
      this.requiredAgentCapabilities = Objects.requireNonNull(needs, "needs");
      return this;
    }

    /**
     * Adds notes of the program's own, for its tools: on whose behalf they act.
     *
     * @param metadata the notes
     * @return this builder
     */
    public Builder metadata(Map<String, String> metadata) {
      this.metadata = Map.copyOf(metadata);
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
