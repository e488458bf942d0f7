package dev.warpwright.agent;

import dev.warpwright.GenerateRequest;
import dev.warpwright.ObjectMode;
import dev.warpwright.ObjectRequest;
import dev.warpwright.model.Capability;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.model.Reasoning;
import dev.warpwright.model.Route;
import dev.warpwright.model.Target;
import dev.warpwright.run.Harness;
import dev.warpwright.run.RunBinding;
import dev.warpwright.run.RunState;
import dev.warpwright.tool.Guardrail;
import dev.warpwright.tool.JsonType;
import dev.warpwright.tool.Tool;
import dev.warpwright.tool.ToolExecution;
import dev.warpwright.tool.ToolSet;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What an agent is: its instructions, its tools, the targets that may think for it, and its limits.
 * Immutable; any number of runs may use it at the same time.
 *
 * {@snippet :
 * Agent triage =
 *     Agent.builder("triage", Route.of(primary, fallback))
 *         .instructions("You triage support tickets.")
 *         .tools(lookupOrder, refund, reply)
 *         .build();
 * }
 */
public final class Agent {
  private static final long MIN_STATE_BYTES = 1024;
  private static final long MAX_STATE_BYTES = 1024L * 1024 * 1024;
  private static final int MAX_FINGERPRINT = 256;
  private static final Pattern ID = Pattern.compile("[A-Za-z0-9_.-]{1,64}");

  private final String id;
  private final Route route;
  private final String version;
  private final Optional<String> instructions;
  private final Optional<Memory> memory;
  private final Optional<ExecutionEnvironment> environment;
  private final RunBinding binding;
  private final Optional<Class<?>> contextType;
  private final List<Guardrail> inputGuardrails;
  private final List<Guardrail> outputGuardrails;
  private final Optional<ApprovalPolicy> approvalPolicy;
  private final Optional<Duration> providerApprovalExpiry;
  private final ToolSet tools;
  private final List<SubAgent> subAgents;
  private final ToolExecution toolExecution;
  private final int maxSteps;
  private final int maxToolErrors;
  private final long maxStateBytes;
  private final RunPolicy policy;
  private final Optional<Compaction> compaction;
  private final Optional<JsonType<?>> output;
  private final Optional<ObjectRequest<?>> asked;
  private final InvalidInput invalidInput;
  private final OptionalDouble temperature;
  private final OptionalInt maxTokens;
  private final Optional<Reasoning> reasoning;
  private final Map<String, Json> providerOptions;
  private final Set<Capability> requiredCapabilities;
  private volatile @Nullable Map<String, String> fingerprint; // made when it is asked for

  private Agent(Builder builder) {
    this.id = builder.id;
    this.route = builder.route;
    this.version = builder.version;
    this.instructions = Optional.ofNullable(builder.instructions);
    this.memory = Optional.ofNullable(builder.memory);
    this.environment = Optional.ofNullable(builder.environment);
    this.binding =
        new RunBinding(
            Optional.ofNullable(builder.harness), Optional.ofNullable(builder.fingerprint));
    this.contextType = Optional.ofNullable(builder.context);
    this.inputGuardrails = builder.inputGuardrails;
    this.outputGuardrails = builder.outputGuardrails;
    this.approvalPolicy = Optional.ofNullable(builder.approvalPolicy);
    this.providerApprovalExpiry = Optional.ofNullable(builder.providerApprovalExpiry);
    this.tools = builder.allTools();
    this.subAgents = List.copyOf(builder.subAgents);
    this.toolExecution = builder.toolExecution;
    this.maxSteps = builder.maxSteps;
    this.maxToolErrors = builder.maxToolErrors;
    this.maxStateBytes = builder.maxStateBytes;
    this.policy = builder.policy;
    this.compaction = Optional.ofNullable(builder.compaction);
    this.output = Optional.ofNullable(builder.output);
    this.asked = output.map(type -> asked(type, builder.outputMode, builder.route));
    this.invalidInput = builder.invalidInput;
    this.temperature = builder.temperature;
    this.maxTokens = builder.maxTokens;
    this.reasoning = Optional.ofNullable(builder.reasoning);
    this.providerOptions = Map.copyOf(builder.providerOptions);
    this.requiredCapabilities = builder.requiredCapabilities;
  }

  /** Prepares the schema; what is asked comes with each operation. */
  private static ObjectRequest<?> asked(JsonType<?> type, ObjectMode mode, Route route) {
    GenerateRequest none = GenerateRequest.builder(route, List.of()).build();
    return ObjectRequest.builder(type, none).mode(mode).build();
  }

  /** The agent's own parts of the fingerprint of a request. */
  Map<String, String> fingerprint() {
    Map<String, String> made = fingerprint;
    if (made == null) {
      made = Fingerprint.of(this);
      fingerprint = made;
    }
    return made;
  }

  /**
   * Begins an agent.
   *
   * @param id its lasting id, 1 to 64 characters of {@code [A-Za-z0-9_.-]}; runs are bound to it
   * @param route the targets that may think for it; runs are bound to them
   * @return a builder
   */
  public static Builder builder(String id, Route route) {
    return new Builder(id, route);
  }

  /**
   * The lasting id.
   *
   * @return the id
   */
  public String id() {
    return id;
  }

  /**
   * The targets that may think for it.
   *
   * @return the route
   */
  public Route route() {
    return route;
  }

  /**
   * The version of the definition.
   *
   * @return the version, "1" by default
   */
  public String version() {
    return version;
  }

  /**
   * The instructions, which become the system message of a run.
   *
   * @return the text
   */
  public Optional<String> instructions() {
    return instructions;
  }

  /**
   * What it remembers from elsewhere.
   *
   * @return the memory, if set
   */
  public Optional<Memory> memory() {
    return memory;
  }

  /**
   * Where its tools act.
   *
   * @return the environment, if set
   */
  public Optional<ExecutionEnvironment> environment() {
    return environment;
  }

  /**
   * What its runs are bound to beside its id and its targets.
   *
   * @return the harness and the fingerprint of the environment, as far as they are set
   */
  public RunBinding binding() {
    return binding;
  }

  /**
   * The type of what each invocation gives to tools and guardrails.
   *
   * @return the type, if the agent has a context
   */
  public Optional<Class<?>> contextType() {
    return contextType;
  }

  /**
   * The guardrails that look at the conversation.
   *
   * @return the guardrails in order
   */
  public List<Guardrail> inputGuardrails() {
    return inputGuardrails;
  }

  /**
   * The guardrails that look at the final answer.
   *
   * @return the guardrails in order
   */
  public List<Guardrail> outputGuardrails() {
    return outputGuardrails;
  }

  /**
   * What decides on tool calls that do not go to a person by themselves.
   *
   * @return the policy, if there is one
   */
  public Optional<ApprovalPolicy> approvalPolicy() {
    return approvalPolicy;
  }

  /**
   * When a request for approval by a provider, for a tool that it runs itself, counts as denied.
   *
   * @return the time from the request on; empty if never
   */
  public Optional<Duration> providerApprovalExpiry() {
    return providerApprovalExpiry;
  }

  /**
   * The tools, as which its sub-agents are shown too, behind the others.
   *
   * @return the tools
   */
  public ToolSet tools() {
    return tools;
  }

  /**
   * The agents that it can give work to.
   *
   * @return the sub-agents
   */
  public List<SubAgent> subAgents() {
    return subAgents;
  }

  /** The sub-agent of a name, if the name is that of one. */
  Optional<SubAgent> subAgent(String name) {
    return subAgents.stream().filter(each -> each.name().equals(name)).findFirst();
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
   * How many model calls a run may make, over all its resumes.
   *
   * @return the number, 10 by default
   */
  public int maxSteps() {
    return maxSteps;
  }

  /**
   * How many error results of tools a run survives.
   *
   * @return the number, 8 by default
   */
  public int maxToolErrors() {
    return maxToolErrors;
  }

  /**
   * How large the state of a run may become.
   *
   * @return the limit in bytes, {@link RunState#DEFAULT_MAX_BYTES} by default
   */
  public long maxStateBytes() {
    return maxStateBytes;
  }

  /**
   * When a run is ended for good, and what it may use.
   *
   * @return the policy, {@link RunPolicy#NONE} by default
   */
  public RunPolicy policy() {
    return policy;
  }

  /**
   * When the older part of a conversation is replaced by a summary.
   *
   * @return the options, if set
   */
  public Optional<Compaction> compaction() {
    return compaction;
  }

  /**
   * What the final answer must be.
   *
   * @return the type of the object; empty if the answer is a text
   */
  public Optional<JsonType<?>> output() {
    return output;
  }

  /** How the object of the final answer is asked for, without what is asked. */
  Optional<ObjectRequest<?>> asked() {
    return asked;
  }

  /**
   * What becomes of a call that cannot be used.
   *
   * @return the policy, {@link InvalidInput#TELL_MODEL} by default
   */
  public InvalidInput invalidInput() {
    return invalidInput;
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
   * What a model must be able to do beside what the agent itself shows.
   *
   * @return the capabilities
   */
  public Set<Capability> requiredCapabilities() {
    return requiredCapabilities;
  }

  /** Shows id and version. */
  @Override
  public String toString() {
    return "Agent[" + id + ", version " + version + "]";
  }

  /** Collects the parts of an agent; not thread-safe. */
  public static final class Builder {
    private final String id;
    private final Route route;
    private String version = "1";
    private @Nullable String instructions;
    private @Nullable Memory memory;
    private @Nullable Harness harness;
    private @Nullable ExecutionEnvironment environment;
    private @Nullable String fingerprint; // of the environment
    private @Nullable Class<?> context;
    private List<Guardrail> inputGuardrails = List.of();
    private List<Guardrail> outputGuardrails = List.of();
    private @Nullable ApprovalPolicy approvalPolicy;
    private @Nullable Duration providerApprovalExpiry;
    private ToolSet tools = ToolSet.NONE;
    private List<SubAgent> subAgents = List.of();
    private ToolExecution toolExecution = ToolExecution.DEFAULT;
    private int maxSteps = 10;
    private int maxToolErrors = 8;
    private long maxStateBytes = RunState.DEFAULT_MAX_BYTES;
    private RunPolicy policy = RunPolicy.NONE;
    private @Nullable Compaction compaction;
    private @Nullable JsonType<?> output;
    private ObjectMode outputMode = ObjectMode.AUTO;
    private InvalidInput invalidInput = InvalidInput.TELL_MODEL;
    private OptionalDouble temperature = OptionalDouble.empty();
    private OptionalInt maxTokens = OptionalInt.empty();
    private @Nullable Reasoning reasoning;
    private final Map<String, Json> providerOptions = new HashMap<>();
    private Set<Capability> requiredCapabilities = Set.of();

    private Builder(String id, Route route) {
      if (!ID.matcher(id).matches()) {
        throw invalid(
            "An agent's id must match [A-Za-z0-9_.-]{1,64}, but \"" + id + "\" does not.");
      }
      this.id = id;
      this.route = Objects.requireNonNull(route, "route");
    }

    private static InvalidRequestException invalid(String message) {
      return new InvalidRequestException(FailureKind.INVALID_CONFIGURATION, message);
    }

    /**
     * Sets the version of the definition, for the log.
     *
     * @param version not blank
     * @return this builder
     */
    public Builder version(String version) {
      if (version.isBlank()) {
        throw invalid("An agent's version must not be blank.");
      }
      this.version = version;
      return this;
    }

    /**
     * Sets the instructions, which become the system message of a run.
     *
     * @param instructions the text
     * @return this builder
     */
    public Builder instructions(String instructions) {
      this.instructions = Objects.requireNonNull(instructions, "instructions");
      return this;
    }

    /**
     * Sets what the agent remembers from elsewhere. It is asked once a run, and what it gives is in
     * the log from then on.
     *
     * @param memory none by default
     * @return this builder
     */
    public Builder memory(Memory memory) {
      this.memory = Objects.requireNonNull(memory, "memory");
      return this;
    }

    /**
     * Names the program around the agent. Runs are bound to it: an agent of another harness, or of
     * none, does not resume them.
     *
     * @param harness none by default
     * @return this builder
     */
    public Builder harness(Harness harness) {
      this.harness = Objects.requireNonNull(harness, "harness");
      return this;
    }

    /**
     * Sets where the tools act. It is made ready before a run is driven and released when that is
     * over; runs are bound to its fingerprint.
     *
     * @param environment none by default
     * @return this builder
     */
    public Builder environment(ExecutionEnvironment environment) {
      String found = environment.fingerprint();
      if (found.isBlank() || found.length() > MAX_FINGERPRINT) {
        throw invalid(
            "The fingerprint of an environment must have 1 to %d characters and not be blank, but"
                    .formatted(MAX_FINGERPRINT)
                + " has "
                + found.length()
                + ".");
      }
      this.environment = environment;
      this.fingerprint = found;
      return this;
    }

    /**
     * Declares what each invocation gives to tools and guardrails, such as who is signed in: {@link
     * Invocation.Builder#context}. It is never stored; a resume gives it again.
     *
     * @param type a class, interface or record
     * @return this builder
     */
    public Builder context(Class<?> type) {
      if (type.isPrimitive()) {
        throw invalid("The type of an agent's context must not be primitive, but is " + type + ".");
      }
      this.context = type;
      return this;
    }

    /**
     * Sets guardrails that look at the conversation before the first model call of each invocation,
     * so again on a resume. One that triggers fails the run for good.
     *
     * @param guardrails in the order in which they are asked, each id once
     * @return this builder
     */
    public Builder inputGuardrails(Guardrail... guardrails) {
      this.inputGuardrails = Guardrail.inOrder(List.of(guardrails));
      return this;
    }

    /**
     * Sets guardrails that look at the final answer before it is accepted. One that triggers fails
     * the run for good. The answer is in the log by then, and whoever reads a stream has seen it.
     *
     * @param guardrails in the order in which they are asked, each id once
     * @return this builder
     */
    public Builder outputGuardrails(Guardrail... guardrails) {
      this.outputGuardrails = Guardrail.inOrder(List.of(guardrails));
      return this;
    }

    /**
     * Decides on tool calls that do not go to a person by themselves. Without a policy, those that
     * require an approval are denied and all others run.
     *
     * @param policy says yes, no, or that a person is to be asked
     * @return this builder
     */
    public Builder approvalPolicy(ApprovalPolicy policy) {
      this.approvalPolicy = Objects.requireNonNull(policy, "policy");
      return this;
    }

    /**
     * Lets requests for approval by a provider, for a tool that it runs itself, expire: from then
     * on a request counts as denied with the reason {@code expired}. Such requests always go to a
     * person; which tools of a provider need one is said in its own options.
     *
     * @param expiry more than zero, from the request on; without it a request waits for ever
     * @return this builder
     */
    public Builder providerApprovalExpiry(Duration expiry) {
      if (expiry.isZero() || expiry.isNegative()) {
        throw invalid("providerApprovalExpiry must be more than 0, but is " + expiry + ".");
      }
      this.providerApprovalExpiry = expiry;
      return this;
    }

    /**
     * Sets the tools.
     *
     * @param tools the tools, each name once
     * @return this builder
     */
    public Builder tools(Tool... tools) {
      return tools(List.of(tools));
    }

    /**
     * Sets the tools.
     *
     * @param tools the tools, each name once
     * @return this builder
     */
    public Builder tools(Collection<Tool> tools) {
      this.tools = ToolSet.of(tools);
      return this;
    }

    /**
     * Sets the agents that it can give work to, each as {@link SubAgent#of(Agent)}.
     *
     * @param agents the agents; none by default
     * @return this builder
     */
    public Builder subAgents(Agent... agents) {
      return subAgents(Stream.of(agents).map(SubAgent::of).toArray(SubAgent[]::new));
    }

    /**
     * Sets the agents that it can give work to. Two names that are the same, of tools or
     * sub-agents, are refused by {@link #build()}.
     *
     * @param agents the agents; none by default
     * @return this builder
     */
    public Builder subAgents(SubAgent... agents) {
      this.subAgents = List.of(agents);
      return this;
    }

    private ToolSet allTools() {
      if (subAgents.isEmpty()) {
        return tools;
      }
      List<Tool> all = new ArrayList<>(tools.tools());
      subAgents.forEach(each -> all.add(each.tool()));
      return ToolSet.of(all);
    }

    /**
     * Says how tool calls are run.
     *
     * @param options {@link ToolExecution#DEFAULT} by default; the approval policy in it is not
     *     used, since an agent has one that can also ask a person
     * @return this builder
     */
    public Builder toolExecution(ToolExecution options) {
      this.toolExecution = Objects.requireNonNull(options, "options");
      return this;
    }

    /**
     * Says how many model calls a run may make, over all its resumes.
     *
     * @param maxSteps 1 or more; 10 by default
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
     * Says how many error results of tools a run survives; denied approvals do not count.
     *
     * @param maxToolErrors 0 or more; 8 by default
     * @return this builder
     */
    public Builder maxToolErrors(int maxToolErrors) {
      if (maxToolErrors < 0) {
        throw invalid("maxToolErrors must be 0 or more, but is " + maxToolErrors + ".");
      }
      this.maxToolErrors = maxToolErrors;
      return this;
    }

    /**
     * Limits the state of a run: messages, tool inputs and outputs, approvals, notes. What would
     * make it larger is not written, and the run fails for good.
     *
     * @param maxStateBytes 1 KiB to 1 GiB; {@link RunState#DEFAULT_MAX_BYTES} by default
     * @return this builder
     */
    public Builder maxStateBytes(long maxStateBytes) {
      if (maxStateBytes < MIN_STATE_BYTES || maxStateBytes > MAX_STATE_BYTES) {
        throw invalid(
            "maxStateBytes must be between %d and %d, but is %d."
                .formatted(MIN_STATE_BYTES, MAX_STATE_BYTES, maxStateBytes));
      }
      this.maxStateBytes = maxStateBytes;
      return this;
    }

    /**
     * Limits the runs. An {@link Invocation} may have other limits, which win one by one.
     *
     * @param policy {@link RunPolicy#NONE} by default
     * @return this builder
     */
    public Builder policy(RunPolicy policy) {
      this.policy = Objects.requireNonNull(policy, "policy");
      return this;
    }

    /**
     * Says when the older part of a conversation is replaced by a summary; {@link
     * Invocation.Builder#withoutCompaction} switches that off for one invocation.
     *
     * @param compaction none by default
     * @return this builder
     */
    public Builder compaction(Compaction compaction) {
      this.compaction = Objects.requireNonNull(compaction, "compaction");
      return this;
    }

    /**
     * Says that the final answer must be a record, or one of a sealed interface of records: {@link
     * AgentResult#output} gives it. The run fails for good with an {@link
     * dev.warpwright.model.InvalidOutputException} if it is not.
     *
     * @param type the class; public, and in an exported package
     * @return this builder
     * @throws InvalidRequestException if the type holds something that is not supported or cannot
     *     be reached
     */
    public Builder output(Class<?> type) {
      return output(JsonType.of(type));
    }

    /**
     * Says what object the final answer must be; see {@link #output(Class)}.
     *
     * @param type the type; {@code JsonType.of(type, MethodHandles.lookup())} for a record that is
     *     not public, {@link JsonType#ofSchema} for JSON of a schema given by hand
     * @return this builder
     */
    public Builder output(JsonType<?> type) {
      this.output = Objects.requireNonNull(type, "type");
      return this;
    }

    /**
     * Says how a model is brought to answer with the object.
     *
     * @param mode {@link ObjectMode#AUTO} by default: decided for each target
     * @return this builder
     */
    public Builder outputMode(ObjectMode mode) {
      this.outputMode = Objects.requireNonNull(mode, "mode");
      return this;
    }

    /**
     * Says what becomes of a call that cannot be used.
     *
     * @param policy {@link InvalidInput#TELL_MODEL} by default
     * @return this builder
     */
    public Builder invalidInput(InvalidInput policy) {
      this.invalidInput = Objects.requireNonNull(policy, "policy");
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
     * Says what a model must be able to do beside what the agent itself shows.
     *
     * @param capabilities the capabilities
     * @return this builder
     */
    public Builder requiredCapabilities(Capability... capabilities) {
      this.requiredCapabilities = Set.of(capabilities);
      return this;
    }

    /**
     * Makes the agent.
     *
     * @return the agent
     * @throws InvalidRequestException if a tool and a sub-agent, or two sub-agents, have one name,
     *     or the output mode is NATIVE and the schema of the output has no strict form
     */
    public Agent build() {
      return new Agent(this);
    }
  }
}
