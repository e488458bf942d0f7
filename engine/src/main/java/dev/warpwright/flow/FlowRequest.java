package dev.warpwright.flow;

import dev.warpwright.agent.Invocation;
import dev.warpwright.drive.RequestRules;
import dev.warpwright.run.RunScope;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What a flow is started with. Immutable.
 *
 * @param <I> what the flow is given
 * @param <O> what it returns
 */
public final class FlowRequest<I, O> {
  private final Flow<I, O> flow;
  private final I input;
  private final RunScope scope;
  private final Optional<String> runId;
  private final Optional<String> idempotencyKey;
  private final Invocation invocation;
  private final Map<String, String> metadata;
  private final Optional<String> parent;

  private FlowRequest(Builder<I, O> builder) {
    this.flow = builder.flow;
    this.input = builder.input;
    this.scope = builder.scope;
    this.runId = Optional.ofNullable(builder.runId);
    this.idempotencyKey = Optional.ofNullable(builder.idempotencyKey);
    this.invocation = builder.invocation;
    this.metadata = builder.metadata;
    this.parent = Optional.ofNullable(builder.parent);
  }

  /**
   * Begins a request.
   *
   * @param flow the flow
   * @param input what it is given
   * @param <I> its type
   * @param <O> what the flow returns
   * @return a builder
   */
  public static <I, O> Builder<I, O> builder(Flow<I, O> flow, I input) {
    return new Builder<>(flow, input);
  }

  Flow<I, O> flow() {
    return flow;
  }

  I input() {
    return input;
  }

  RunScope scope() {
    return scope;
  }

  Optional<String> runId() {
    return runId;
  }

  Optional<String> idempotencyKey() {
    return idempotencyKey;
  }

  Invocation invocation() {
    return invocation;
  }

  Map<String, String> metadata() {
    return metadata;
  }

  Optional<String> parent() {
    return parent;
  }

  /** Shows the flow; the input may be private. */
  @Override
  public String toString() {
    return "FlowRequest[" + flow.id() + "]";
  }

  /**
   * Collects the parts of a request; not thread-safe.
   *
   * @param <I> what the flow is given
   * @param <O> what it returns
   */
  public static final class Builder<I, O> {
    private final Flow<I, O> flow;
    private final I input;
    private RunScope scope = RunScope.DEFAULT;
    private @Nullable String runId;
    private @Nullable String idempotencyKey;
    private Invocation invocation = Invocation.DEFAULT;
    private Map<String, String> metadata = Map.of();
    private @Nullable String parent;

    private Builder(Flow<I, O> flow, I input) {
      this.flow = Objects.requireNonNull(flow, "flow");
      this.input = Objects.requireNonNull(input, "input");
    }

    /**
     * Says whose run it is.
     *
     * @param scope {@link RunScope#DEFAULT} unless set
     * @return this builder
     */
    public Builder<I, O> scope(RunScope scope) {
      this.scope = Objects.requireNonNull(scope, "scope");
      return this;
    }

    /**
     * Chooses the id of the run.
     *
     * @param runId see {@link dev.warpwright.run.RunKey}; a UUID of version 7 unless set
     * @return this builder
     */
    public Builder<I, O> runId(String runId) {
      this.runId = Objects.requireNonNull(runId, "runId");
      return this;
    }

    /**
     * Starts the run once for all requests with this key.
     *
     * @param key unique in the scope, not blank, at most 256 characters
     * @return this builder
     */
    public Builder<I, O> idempotencyKey(String key) {
      this.idempotencyKey = RequestRules.idempotencyKey(key);
      return this;
    }

    /**
     * Sets what belongs to this invocation and not to the run.
     *
     * @param invocation its options; its budget scope and context concern agents only
     * @return this builder
     */
    public Builder<I, O> invocation(Invocation invocation) {
      this.invocation = Objects.requireNonNull(invocation, "invocation");
      return this;
    }

    /**
     * Notes something with the run, by which lists find it.
     *
     * @param metadata names and values; names that begin with {@code warpwright.} are reserved
     * @return this builder
     */
    public Builder<I, O> metadata(Map<String, String> metadata) {
      this.metadata = RequestRules.metadata(metadata);
      return this;
    }

    /** Makes the run a child of another one. */
    Builder<I, O> childOf(String runId) {
      this.parent = runId;
      return this;
    }

    /**
     * Makes the request.
     *
     * @return the request
     */
    public FlowRequest<I, O> build() {
      return new FlowRequest<>(this);
    }
  }
}
