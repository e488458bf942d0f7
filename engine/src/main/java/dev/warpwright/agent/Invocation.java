package dev.warpwright.agent;

import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.task.Cancellation;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What belongs to one invocation of a run and not to the run: how long it may take, how it is
 * cancelled, who pays, which limits it holds the run to, what its tools need of the program.
 * Nothing of it is stored; a resume is an invocation with options of its own. Immutable.
 *
 * {@snippet :
 * Invocation invocation =
 *     Invocation.builder().timeout(Duration.ofMinutes(2)).budgetScope("acme-2026-11").build();
 * agents.run(AgentRequest.builder(agent, question).invocation(invocation).build());
 * }
 */
public final class Invocation {
  /**
   * An invocation with no options: the gateway's own timeout, no handle, no budget scope, no
   * context.
   */
  public static final Invocation DEFAULT = builder().build();

  private static final Duration MIN_TIMEOUT = Duration.ofMillis(1);
  private static final Duration MAX_TIMEOUT = Duration.ofMillis(Integer.MAX_VALUE);
  private static final int MAX_SCOPE = 256;

  private final Optional<Duration> timeout;
  private final Optional<Cancellation> cancellation;
  private final Optional<String> budgetScope;
  private final boolean allowsUnboundRun;
  private final Optional<Object> context;
  private final RunPolicy policy;
  private final boolean compacts;

  private Invocation(Builder builder) {
    this.timeout = Optional.ofNullable(builder.timeout);
    this.cancellation = Optional.ofNullable(builder.cancellation);
    this.budgetScope = Optional.ofNullable(builder.budgetScope);
    this.allowsUnboundRun = builder.allowsUnboundRun;
    this.context = Optional.ofNullable(builder.context);
    this.policy = builder.policy;
    this.compacts = builder.compacts;
  }

  /**
   * Begins the options of an invocation.
   *
   * @return a builder
   */
  public static Builder builder() {
    return new Builder();
  }

  /**
   * How long the invocation may take.
   *
   * @return the limit, if set
   */
  public Optional<Duration> timeout() {
    return timeout;
  }

  /**
   * How the caller cancels the invocation beside interrupting its thread.
   *
   * @return the handle, if set
   */
  public Optional<Cancellation> cancellation() {
    return cancellation;
  }

  /**
   * Whose money pays for the model calls.
   *
   * @return the name of the account, if set
   */
  public Optional<String> budgetScope() {
    return budgetScope;
  }

  /**
   * Whether a run that was recorded without a harness or an environment may be resumed in one.
   *
   * @return false by default
   */
  public boolean allowsUnboundRun() {
    return allowsUnboundRun;
  }

  /**
   * What the program gives to tools and guardrails.
   *
   * @return the context, if set
   */
  public Optional<Object> context() {
    return context;
  }

  /**
   * The limits that win over those of the agent.
   *
   * @return the policy, {@link RunPolicy#NONE} by default
   */
  public RunPolicy policy() {
    return policy;
  }

  /**
   * Whether the agent's {@link Compaction} is in force.
   *
   * @return true by default
   */
  public boolean compacts() {
    return compacts;
  }

  /**
   * Refuses an invocation of an agent that needs another context.
   *
   * @throws InvalidRequestException if it does; nothing of the context is in the message
   */
  void requireContextOf(Agent agent) {
    boolean fits =
        agent
            .contextType()
            .map(type -> context.filter(type::isInstance).isPresent())
            .orElse(context.isEmpty());
    if (!fits) {
      throw new InvalidRequestException(
          FailureKind.INVALID_REQUEST,
          "Invalid agent context: agent \"%s\" declares %s, and the invocation has %s."
              .formatted(
                  agent.id(),
                  agent.contextType().map(Class::getName).orElse("none"),
                  context.map(given -> given.getClass().getName()).orElse("none")));
    }
  }

  /**
   * The options of a child run of an agent, the budget scope and, if it fits, the context: its time
   * and its cancel come to it through the task tree, and its limits are those of its agent.
   */
  Invocation ofChild(Agent agent) {
    boolean fits = context.isPresent() && agent.contextType().stream().anyMatch(this::hasContext);
    Builder child = builder();
    budgetScope.ifPresent(child::budgetScope);
    context.filter(given -> fits).ifPresent(child::context);
    return child.build();
  }

  private boolean hasContext(Class<?> type) {
    return type.isInstance(context.orElse(null));
  }

  /** Shows the timeout; a scope and a context may be private. */
  @Override
  public String toString() {
    return "Invocation[" + timeout.map(limit -> "timeout " + limit).orElse("no timeout") + "]";
  }

  /** Collects the options of an invocation; not thread-safe. */
  public static final class Builder {
    private @Nullable Duration timeout;
    private @Nullable Cancellation cancellation;
    private @Nullable String budgetScope;
    private boolean allowsUnboundRun;
    private @Nullable Object context;
    private RunPolicy policy = RunPolicy.NONE;
    private boolean compacts = true;

    private Builder() {}

    /**
     * Limits the invocation; the run itself can be resumed after it.
     *
     * @param timeout 1 ms to 2 147 483 647 ms; it can only shorten the gateway's own limit
     * @return this builder
     */
    public Builder timeout(Duration timeout) {
      if (timeout.compareTo(MIN_TIMEOUT) < 0 || timeout.compareTo(MAX_TIMEOUT) > 0) {
        throw new InvalidRequestException(
            FailureKind.INVALID_REQUEST,
            "timeout must be between 1 ms and %d ms, but is %s."
                .formatted(MAX_TIMEOUT.toMillis(), timeout));
      }
      this.timeout = timeout;
      return this;
    }

    /**
     * Gives the caller a handle to cancel the invocation. The run is not cancelled by it and can be
     * resumed; a handle that is cancelled already refuses the invocation before anything is stored.
     *
     * @param cancellation the handle
     * @return this builder
     */
    public Builder cancellation(Cancellation cancellation) {
      this.cancellation = Objects.requireNonNull(cancellation, "cancellation");
      return this;
    }

    /**
     * Says whose money pays for the model calls; needed on a gateway with a budget. It comes from
     * the program, never straight from a client; for a budget of a period, put the period into it.
     *
     * @param scope the name of the account; not blank, at most 256 characters
     * @return this builder
     */
    public Builder budgetScope(String scope) {
      if (scope.isBlank() || scope.length() > MAX_SCOPE) {
        throw new InvalidRequestException(
            FailureKind.INVALID_SCOPE,
            "budgetScope must have 1 to %d characters and not be blank, but has %d."
                .formatted(MAX_SCOPE, scope.length()));
      }
      this.budgetScope = scope;
      return this;
    }

    /**
     * Lets an agent with a harness or an environment resume a run that was recorded without one,
     * such as one that began before the agent had it. Without effect on a fresh run.
     *
     * @param allowed false by default
     * @return this builder
     */
    public Builder allowUnboundRun(boolean allowed) {
      this.allowsUnboundRun = allowed;
      return this;
    }

    /**
     * Gives tools and guardrails what they need of the program, of the type that the agent declares
     * ({@link Agent.Builder#context}). It is never stored, so each invocation of a run gives it.
     * Tools may run at the same time: it must be thread-safe.
     *
     * @param context the context
     * @return this builder
     */
    public Builder context(Object context) {
      this.context = Objects.requireNonNull(context, "context");
      return this;
    }

    /**
     * Sets limits of this invocation, which win one by one over those of the {@linkplain
     * Agent.Builder#policy agent}: a budget that is set replaces the agent's as a whole. So a run
     * that has used up its budget is resumed with a higher one.
     *
     * @param policy {@link RunPolicy#NONE} by default
     * @return this builder
     */
    public Builder policy(RunPolicy policy) {
      this.policy = Objects.requireNonNull(policy, "policy");
      return this;
    }

    /**
     * Switches the agent's {@link Compaction} off for this invocation.
     *
     * @return this builder
     */
    public Builder withoutCompaction() {
      this.compacts = false;
      return this;
    }

    /**
     * Makes the options.
     *
     * @return the options
     */
    public Invocation build() {
      return new Invocation(this);
    }
  }
}
