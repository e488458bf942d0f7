package dev.warpwright.agent;

import dev.warpwright.drive.RequestRules;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Message;
import dev.warpwright.run.RunScope;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What a fresh run of an agent is asked. Immutable.
 *
 * <p>A run with tools that have effects should have an idempotency key: whoever asks again under
 * the same key gets the same run, also after a crash.
 */
public final class AgentRequest {
  private final Agent agent;
  private final List<Message> messages;
  private final RunScope scope;
  private final Optional<String> runId;
  private final Optional<String> idempotencyKey;
  private final Invocation invocation;
  private final Map<String, String> metadata;
  private final Optional<Handoff> handoff;
  private final Optional<String> childOf;

  private AgentRequest(Builder builder) {
    this.agent = builder.agent;
    this.messages = builder.messages;
    this.scope = builder.scope;
    this.runId = Optional.ofNullable(builder.runId);
    this.idempotencyKey = Optional.ofNullable(builder.idempotencyKey);
    this.invocation = builder.invocation;
    this.metadata = builder.metadata;
    this.handoff = Optional.ofNullable(builder.handoff);
    this.childOf = Optional.ofNullable(builder.childOf);
    handoff.ifPresent(this::requireFits);
  }

  private void requireFits(Handoff given) {
    if (!given.from().scope().equals(scope)) {
      throw new InvalidRequestException(
          FailureKind.INVALID_SCOPE,
          "A handoff stays in its scope, but run " + given.from() + " is in another one.");
    }
    if (given.toAgentId().isPresent() && !given.toAgentId().get().equals(agent.id())) {
      throw new InvalidRequestException(
          FailureKind.INVALID_REQUEST,
          "Handoff %s is meant for the agent \"%s\" and cannot go to \"%s\"."
              .formatted(given.id(), given.toAgentId().get(), agent.id()));
    }
  }

  /**
   * Begins a request that asks one thing.
   *
   * @param agent the agent
   * @param prompt what a user asks
   * @return a builder
   */
  public static Builder builder(Agent agent, String prompt) {
    return builder(agent, List.of(Message.user(prompt)));
  }

  /**
   * Begins a request that goes on with a conversation. If tools were called in it, the run is an
   * import: its log says so, and all of its steps go to targets only that declare {@link
   * dev.warpwright.model.ToolHistory}. The conversation keeps to the rules of {@link
   * dev.warpwright.model.PortableHistory}, and the request chooses neither a run id nor an
   * idempotency key: {@link Agents#run} refuses it otherwise.
   *
   * @param agent the agent
   * @param messages the conversation; the agent's instructions are put before it
   * @return a builder
   */
  public static Builder builder(Agent agent, List<Message> messages) {
    return new Builder(agent, messages);
  }

  /**
   * The agent.
   *
   * @return the agent
   */
  public Agent agent() {
    return agent;
  }

  /**
   * The conversation that the run begins with.
   *
   * @return the messages, without the agent's instructions
   */
  public List<Message> messages() {
    return messages;
  }

  /**
   * Whose run it is.
   *
   * @return the scope, {@link RunScope#DEFAULT} by default
   */
  public RunScope scope() {
    return scope;
  }

  /**
   * The run's id, if the program chose one.
   *
   * @return the id
   */
  public Optional<String> runId() {
    return runId;
  }

  /**
   * The key under which the run is claimed.
   *
   * @return the key
   */
  public Optional<String> idempotencyKey() {
    return idempotencyKey;
  }

  /**
   * What belongs to the invocation that starts the run and not to the run.
   *
   * @return the options, {@link Invocation#DEFAULT} by default
   */
  public Invocation invocation() {
    return invocation;
  }

  /**
   * The program's own notes, kept in the log.
   *
   * @return the notes
   */
  public Map<String, String> metadata() {
    return metadata;
  }

  /**
   * What another run hands over to this one.
   *
   * @return the handoff
   */
  public Optional<Handoff> handoff() {
    return handoff;
  }

  /** What the run begins with behind the agent's instructions. */
  List<Message> begun() {
    return handoff
        .map(given -> Stream.concat(given.messages().stream(), messages.stream()).toList())
        .orElse(messages);
  }

  /** The run from which it comes: whose child it is, or that hands over to it. */
  Optional<String> parent() {
    return handoff.map(given -> given.from().runId()).or(() -> childOf);
  }

  /** Shows agent and run id. */
  @Override
  public String toString() {
    return "AgentRequest[" + agent.id() + runId.map(id -> ", " + id).orElse("") + "]";
  }

  /** Collects the parts of a request; not thread-safe. */
  public static final class Builder {
    private final Agent agent;
    private final List<Message> messages;
    private RunScope scope = RunScope.DEFAULT;
    private @Nullable String runId;
    private @Nullable String idempotencyKey;
    private Invocation invocation = Invocation.DEFAULT;
    private Map<String, String> metadata = Map.of();
    private @Nullable Handoff handoff;
    private @Nullable String childOf;

    private Builder(Agent agent, List<Message> messages) {
      this.agent = Objects.requireNonNull(agent, "agent");
      this.messages = List.copyOf(messages);
      if (this.messages.isEmpty()) {
        throw new InvalidRequestException(
            FailureKind.INVALID_REQUEST, "A run needs at least one message, but has none.");
      }
    }

    /**
     * Says whose run it is.
     *
     * @param scope {@link RunScope#DEFAULT} by default
     * @return this builder
     */
    public Builder scope(RunScope scope) {
      this.scope = Objects.requireNonNull(scope, "scope");
      return this;
    }

    /**
     * Chooses the run's id; without one it is a UUID of version 7.
     *
     * @param runId unique in the scope; 1 to 128 characters of {@code [A-Za-z0-9_.:-]}
     * @return this builder
     */
    public Builder runId(String runId) {
      this.runId = Objects.requireNonNull(runId, "runId");
      return this;
    }

    /**
     * Claims a key: whoever asks again under it, with the same request, gets the same run.
     *
     * @param key not blank, at most 256 characters
     * @return this builder
     */
    public Builder idempotencyKey(String key) {
      this.idempotencyKey = RequestRules.idempotencyKey(key);
      return this;
    }

    /**
     * Sets what belongs to this invocation and not to the run: its timeout, how it is cancelled,
     * who pays. The same request under an idempotency key may come with other options.
     *
     * @param invocation {@link Invocation#DEFAULT} by default
     * @return this builder
     */
    public Builder invocation(Invocation invocation) {
      this.invocation = Objects.requireNonNull(invocation, "invocation");
      return this;
    }

    /**
     * Adds notes of the program's own, which stay in the log.
     *
     * @param metadata keys that begin with {@code warpwright.} are reserved
     * @return this builder
     */
    public Builder metadata(Map<String, String> metadata) {
      this.metadata = RequestRules.metadata(metadata);
      return this;
    }

    /**
     * Goes on with what another run hands over: its summary and context stand before the messages
     * of this request.
     *
     * @param handoff the handoff, of a run in the same scope and for this agent
     * @return this builder
     */
    public Builder handoff(Handoff handoff) {
      this.handoff = Objects.requireNonNull(handoff, "handoff");
      return this;
    }

    /** Makes it a child run. */
    Builder childOf(String runId) {
      this.childOf = runId;
      return this;
    }

    /**
     * Makes the request.
     *
     * @return the request
     * @throws InvalidRequestException if a handoff comes from another scope or is for another agent
     */
    public AgentRequest build() {
      return new AgentRequest(this);
    }
  }
}
