package dev.warpwright.flow;

import dev.warpwright.agent.RunPolicy;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.run.RunState;
import dev.warpwright.tool.JsonType;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodHandles.Lookup;
import java.lang.invoke.MethodType;
import java.util.Objects;
import java.util.regex.Pattern;

/**
 * A durable workflow in plain Java: an id, what goes in and comes out, and a body whose calls are
 * recorded. Immutable.
 *
 * {@snippet :
 * Flow<Order, Receipt> checkout =
 *     Flow.of("checkout", Order.class, Receipt.class, (ctx, order) -> {
 *       Quote quote = ctx.step("quote", Quote.class, StepOptions.retry(3), step -> prices.of(order));
 *       return ctx.step("charge", Receipt.class, StepOptions.once(), step ->
 *           payments.charge(quote, step.idempotencyKey()));
 *     });
 * }
 *
 * @param <I> what it is given
 * @param <O> what it returns
 */
public final class Flow<I, O> {
  private static final Pattern ID = Pattern.compile("[A-Za-z0-9_.-]{1,64}");
  private static final int MAX_STEP_BYTES = 64 * 1024 * 1024;

  private final String id;
  private final String version;
  private final Class<I> inputClass;
  private final JsonType<I> input;
  private final JsonType<O> output;
  private final FlowBody<I, O> body;
  private final int maxStepBytes;
  private final long maxStateBytes;
  private final RunPolicy policy;
  private final Lookup lookup;

  private Flow(Builder<I, O> builder) {
    this.id = builder.id;
    this.version = builder.version;
    this.inputClass = builder.input;
    this.input = JsonType.of(builder.input, builder.lookup);
    this.output = JsonType.of(builder.output, builder.lookup);
    this.body = builder.body;
    this.maxStepBytes = builder.maxStepBytes;
    this.maxStateBytes = builder.maxStateBytes;
    this.policy = builder.policy;
    this.lookup = builder.lookup;
  }

  /**
   * A flow with the default options.
   *
   * @param id what it is called for ever, {@code [A-Za-z0-9_.-]{1,64}}
   * @param input what it is given: a record, String or another type that {@link JsonType} knows
   * @param output what it returns, such a type too
   * @param body its program
   * @param <I> what it is given
   * @param <O> what it returns
   * @return the flow
   * @throws InvalidRequestException if the id or a type is not allowed
   */
  public static <I, O> Flow<I, O> of(
      String id, Class<I> input, Class<O> output, FlowBody<I, O> body) {
    return builder(id, input, output, body).build();
  }

  /**
   * Begins a flow with options.
   *
   * @param id what it is called for ever, {@code [A-Za-z0-9_.-]{1,64}}
   * @param input what it is given
   * @param output what it returns
   * @param body its program
   * @param <I> what it is given
   * @param <O> what it returns
   * @return a builder
   * @throws InvalidRequestException if the id is not allowed
   */
  public static <I, O> Builder<I, O> builder(
      String id, Class<I> input, Class<O> output, FlowBody<I, O> body) {
    return new Builder<>(id, input, output, body);
  }

  /**
   * What it is called.
   *
   * @return the id
   */
  public String id() {
    return id;
  }

  /**
   * Which version of the code it is; recorded with each run.
   *
   * @return the version
   */
  public String version() {
    return version;
  }

  /** Writes something of which the compiler does not know that it is an input. */
  @SuppressWarnings("unchecked") // checked before
  Json writeInput(Object value) {
    if (!MethodType.methodType(inputClass).wrap().returnType().isInstance(value)) {
      throw new InvalidRequestException(
          FailureKind.INVALID_REQUEST,
          "The flow \"%s\" takes a %s, not a %s."
              .formatted(id, inputClass.getName(), value.getClass().getName()));
    }
    return input.write((I) value);
  }

  JsonType<I> input() {
    return input;
  }

  JsonType<O> output() {
    return output;
  }

  FlowBody<I, O> body() {
    return body;
  }

  int maxStepBytes() {
    return maxStepBytes;
  }

  long maxStateBytes() {
    return maxStateBytes;
  }

  RunPolicy policy() {
    return policy;
  }

  Lookup lookup() {
    return lookup;
  }

  /** Shows id and version. */
  @Override
  public String toString() {
    return "Flow[" + id + ", version " + version + "]";
  }

  /**
   * Collects the options of a flow; not thread-safe.
   *
   * @param <I> what it is given
   * @param <O> what it returns
   */
  public static final class Builder<I, O> {
    private final String id;
    private final Class<I> input;
    private final Class<O> output;
    private final FlowBody<I, O> body;
    private String version = "1";
    private int maxStepBytes = 1024 * 1024;
    private long maxStateBytes = RunState.DEFAULT_MAX_BYTES;
    private RunPolicy policy = RunPolicy.NONE;
    private Lookup lookup = MethodHandles.publicLookup();

    private Builder(String id, Class<I> input, Class<O> output, FlowBody<I, O> body) {
      if (!ID.matcher(id).matches()) {
        throw invalid("A flow's id must match [A-Za-z0-9_.-]{1,64}, but \"" + id + "\" does not.");
      }
      this.id = id;
      this.input = Objects.requireNonNull(input, "input");
      this.output = Objects.requireNonNull(output, "output");
      this.body = Objects.requireNonNull(body, "body");
    }

    static RunPolicy requireNoBudget(RunPolicy policy) {
      if (policy.budget().isPresent()) {
        throw invalid("The policy of a flow has no budget: give its agents theirs.");
      }
      return policy;
    }

    private static InvalidRequestException invalid(String message) {
      return new InvalidRequestException(FailureKind.INVALID_CONFIGURATION, message);
    }

    /**
     * Names the version of the code. Runs go on under another version as long as the code fits
     * their log.
     *
     * @param version not blank; {@code 1} unless set
     * @return this builder
     */
    public Builder<I, O> version(String version) {
      if (version.isBlank()) {
        throw invalid("A flow's version must not be blank.");
      }
      this.version = version;
      return this;
    }

    /**
     * Limits the value of a step.
     *
     * @param maxStepBytes in characters of its JSON, 1 to 64 Mi; 1 Mi unless set
     * @return this builder
     */
    public Builder<I, O> maxStepBytes(int maxStepBytes) {
      if (maxStepBytes < 1 || maxStepBytes > MAX_STEP_BYTES) {
        throw invalid(
            "maxStepBytes must be between 1 and %d, but is %d."
                .formatted(MAX_STEP_BYTES, maxStepBytes));
      }
      this.maxStepBytes = maxStepBytes;
      return this;
    }

    /**
     * Limits what a run holds: its input, the values of its steps and signals, and 256 bytes for
     * each call.
     *
     * @param maxStateBytes 1 KiB to 1 GiB; {@link RunState#DEFAULT_MAX_BYTES} unless set
     * @return this builder
     */
    public Builder<I, O> maxStateBytes(long maxStateBytes) {
      if (maxStateBytes < 1024 || maxStateBytes > 1024L * 1024 * 1024) {
        throw invalid(
            "maxStateBytes must be between 1024 and %d, but is %d."
                .formatted(1024L * 1024 * 1024, maxStateBytes));
      }
      this.maxStateBytes = maxStateBytes;
      return this;
    }

    /**
     * Says how long a run may take in all, from its start and with all its waits, and what happens
     * then: it is TIMED_OUT for good, or cancelled, so that it can take back what it did. Recorded
     * when a run starts; {@link FlowRequest.Builder#invocation} may bring another one.
     *
     * @param policy without a budget; {@link RunPolicy#NONE} unless set
     * @return this builder
     */
    public Builder<I, O> policy(RunPolicy policy) {
      this.policy = requireNoBudget(policy);
      return this;
    }

    /**
     * Lets records be used that are not public, or in a package that is not exported.
     *
     * @param lookup one of the class that may use them; {@link MethodHandles#publicLookup()} unless
     *     set
     * @return this builder
     */
    public Builder<I, O> lookup(Lookup lookup) {
      this.lookup = Objects.requireNonNull(lookup, "lookup");
      return this;
    }

    /**
     * Makes the flow.
     *
     * @return the flow
     * @throws InvalidRequestException if a type is not allowed
     */
    public Flow<I, O> build() {
      return new Flow<>(this);
    }
  }
}
