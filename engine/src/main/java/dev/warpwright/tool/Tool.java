package dev.warpwright.tool;

import dev.warpwright.model.FailureKind;
import dev.warpwright.model.GuardrailException;
import dev.warpwright.model.GuardrailStage;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.model.OperationTrace;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.ToolSpec;
import java.lang.invoke.MethodHandles;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.BiPredicate;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Something that a model can ask the program to do.
 *
 * <p>The input is typed by a record, from which the schema for the model is derived and against
 * which each input is checked; or it is JSON under a schema that is given. The {@link EffectClass}
 * says what running it twice would mean.
 *
 * {@snippet :
 * record Refund(String orderId, BigDecimal amount) {}
 *
 * Tool refund =
 *     Tool.builder("refund", "Pays an order back.", Refund.class, MethodHandles.lookup(),
 *             EffectClass.ONCE, (input, context) -> payments.refund(input, context.idempotencyKey()))
 *         .requiresApproval(input -> input.amount().compareTo(LIMIT) > 0)
 *         .reconciler((key, input) -> payments.find(key))
 *         .build();
 * }
 *
 * <p>Immutable and thread-safe, as long as the functions that it was given are.
 */
public final class Tool {
  private static final Logger LOG = LoggerFactory.getLogger(Tool.class);
  private static final Json NOT_SHOWN = Json.of("The tool has run. Its result cannot be shown.");
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_-]{1,64}");

  private final ToolSpec spec;
  private final EffectClass effect;
  private final String version;
  private final Optional<Duration> timeout;
  private final Optional<Duration> approvalExpiry;
  private final ApprovalMode approvalMode;
  private final Optional<Duration> idempotencyWindow;
  private final boolean reconcilable;
  private final boolean honoursInterrupts;
  private final List<Guardrail> inputGuardrails;
  private final Typed<?> typed;

  private <I> Tool(Builder<I> builder) {
    this.typed = new Typed<>(builder);
    this.spec = new ToolSpec(builder.name, builder.description, builder.input.schema());
    this.effect = builder.effect;
    this.version = builder.version;
    this.timeout = Optional.ofNullable(builder.timeout);
    this.approvalExpiry = Optional.ofNullable(builder.approvalExpiry);
    this.approvalMode = builder.approvalMode;
    this.idempotencyWindow = Optional.ofNullable(builder.idempotencyWindow);
    this.reconcilable = builder.reconciler != null;
    this.honoursInterrupts = builder.honoursInterrupts;
    this.inputGuardrails = builder.inputGuardrails;
  }

  /**
   * A whole tool in one line.
   *
   * @param <I> the input
   * @param name 1 to 64 characters of {@code [A-Za-z0-9_-]}
   * @param description what it does and when to use it, for the model
   * @param input the input's record; public in an exported package, or see {@link #builder(String,
   *     String, Class, MethodHandles.Lookup, EffectClass, ToolFunction)}
   * @param effect what running it twice would mean
   * @param function what it does
   * @return the tool
   * @throws InvalidRequestException if the name or the record breaks a rule
   */
  public static <I extends Record> Tool of(
      String name,
      String description,
      Class<I> input,
      EffectClass effect,
      ToolFunction<? super I> function) {
    return builder(name, description, input, effect, function).build();
  }

  /**
   * A whole tool in one line of which nobody says that it may be repeated: it is {@link
   * EffectClass#ONCE}.
   *
   * @param <I> the input
   * @param name 1 to 64 characters of {@code [A-Za-z0-9_-]}
   * @param description what it does and when to use it, for the model
   * @param input the input's record; public in an exported package
   * @param function what it does
   * @return the tool
   * @throws InvalidRequestException if the name or the record breaks a rule
   */
  public static <I extends Record> Tool of(
      String name, String description, Class<I> input, ToolFunction<? super I> function) {
    return of(name, description, input, EffectClass.ONCE, function);
  }

  /**
   * Begins a tool with options.
   *
   * @param <I> the input
   * @param name 1 to 64 characters of {@code [A-Za-z0-9_-]}
   * @param description what it does and when to use it, for the model
   * @param input the input's record; public in an exported package
   * @param effect what running it twice would mean
   * @param function what it does
   * @return a builder
   */
  public static <I extends Record> Builder<I> builder(
      String name,
      String description,
      Class<I> input,
      EffectClass effect,
      ToolFunction<? super I> function) {
    return builder(name, description, input, MethodHandles.publicLookup(), effect, function);
  }

  /**
   * Begins a tool whose input is JSON that a schema given by hand describes, for tools that are not
   * known before the program runs.
   *
   * @param name 1 to 64 characters of {@code [A-Za-z0-9_-]}
   * @param description what it does and when to use it, for the model
   * @param schema the JSON Schema of the input, as {@link JsonType#ofSchema} takes it
   * @param effect what running it twice would mean
   * @param function what it does
   * @return a builder
   * @throws InvalidRequestException if the name or the schema breaks a rule
   */
  public static Builder<Json> builder(
      String name,
      String description,
      Json schema,
      EffectClass effect,
      ToolFunction<? super Json> function) {
    return new Builder<>(
        name,
        description,
        JsonType.ofSchema(schema),
        MethodHandles.publicLookup(),
        effect,
        function);
  }

  /**
   * Begins a tool whose input or output records are not public.
   *
   * @param <I> the input
   * @param name 1 to 64 characters of {@code [A-Za-z0-9_-]}
   * @param description what it does and when to use it, for the model
   * @param input the input's record
   * @param lookup {@code MethodHandles.lookup()} of a class that can see the records
   * @param effect what running it twice would mean
   * @param function what it does
   * @return a builder
   */
  public static <I extends Record> Builder<I> builder(
      String name,
      String description,
      Class<I> input,
      MethodHandles.Lookup lookup,
      EffectClass effect,
      ToolFunction<? super I> function) {
    return new Builder<>(name, description, JsonType.of(input, lookup), lookup, effect, function);
  }

  /**
   * The tool as a model is told of it.
   *
   * @return name, description and input schema
   */
  public ToolSpec spec() {
    return spec;
  }

  /**
   * The name.
   *
   * @return the name
   */
  public String name() {
    return spec.name();
  }

  /**
   * What running it twice would mean.
   *
   * @return the effect class
   */
  public EffectClass effect() {
    return effect;
  }

  /**
   * The version that approvals are bound to.
   *
   * @return the version, "1" by default
   */
  public String version() {
    return version;
  }

  /**
   * How long one run of it may take; no limit of its own by default.
   *
   * @return the limit
   */
  public Optional<Duration> timeout() {
    return timeout;
  }

  /**
   * How long a request for approval of a call waits for a decision.
   *
   * @return the time from the request on; empty if it waits for ever
   */
  public Optional<Duration> approvalExpiry() {
    return approvalExpiry;
  }

  /**
   * Who decides on its calls that require an approval.
   *
   * @return the mode, {@link ApprovalMode#INTERRUPT} by default
   */
  public ApprovalMode approvalMode() {
    return approvalMode;
  }

  /**
   * For how long the system that an IDEMPOTENT tool acts on honours an idempotency key.
   *
   * @return the time from the first start of a call on; empty if for ever
   */
  public Optional<Duration> idempotencyWindow() {
    return idempotencyWindow;
  }

  /**
   * Whether it can look up what became of a call.
   *
   * @return true if it has a reconciler
   */
  public boolean hasReconciler() {
    return reconcilable;
  }

  /**
   * Whether it has been declared that the tool ends soon after an interrupt.
   *
   * @return false by default
   * @see Builder#honoursInterrupts()
   */
  public boolean honoursInterrupts() {
    return honoursInterrupts;
  }

  /** What is wrong with an input, without its content; empty if nothing is. */
  List<String> violations(Json input) {
    return typed.input.violations(input);
  }

  /** Whether this input may be used now, on behalf of this caller. */
  boolean isEnabled(Json input, ToolCaller caller) {
    return typed.isEnabled(input, caller);
  }

  /**
   * Asks the guardrails of the input on the calling thread.
   *
   * @param call a call whose input matches the schema
   * @param caller on whose behalf it would run
   * @param trace the operation so far
   * @throws GuardrailException by the first that triggers or fails
   */
  public void requireInputPasses(ToolCall call, ToolCaller caller, OperationTrace trace) {
    if (!inputGuardrails.isEmpty()) {
      GuardrailStage stage = GuardrailStage.TOOL_INPUT;
      Guardrail.View view = new Guardrail.View(stage, caller, List.of(), Optional.of(call), null);
      Guardrail.requirePass(inputGuardrails, view, trace);
    }
  }

  /**
   * Whether a call with this input needs a decision first.
   *
   * @param input an input that matches the schema
   * @return true if somebody has to approve it
   */
  public boolean requiresApproval(Json input) {
    return typed.requiresApproval(input);
  }

  /**
   * The idempotency key of a call.
   *
   * @param operationId the run or operation
   * @param step the step that asked for the call
   * @param ordinal the call's place in its step
   * @param call the call
   * @return the program's own key, if the tool declares one, else one derived from the arguments
   */
  public String idempotencyKey(String operationId, int step, int ordinal, ToolCall call) {
    return typed.ownKey(call.input()).orElseGet(() -> ToolKey.of(operationId, step, ordinal, call));
  }

  /**
   * Runs the function on the calling thread.
   *
   * @throws GuardrailException if a guardrail of the output triggers or fails
   */
  Json call(ToolCall call, ToolContext context) throws Exception {
    return typed.call(call, context);
  }

  /**
   * Asks the reconciler on the calling thread.
   *
   * @throws GuardrailException if a guardrail of the output triggers or fails
   */
  Reconciler.Finding reconcile(String idempotencyKey, ToolCall call, ToolCaller caller)
      throws Exception {
    return typed.reconcile(idempotencyKey, call, caller);
  }

  /** Shows name and effect class. */
  @Override
  public String toString() {
    return "Tool[" + name() + ", " + effect + "]";
  }

  /** The part that knows the type of the input. */
  private static final class Typed<I> {
    final JsonType<I> input;
    private final MethodHandles.Lookup lookup;
    private final ToolFunction<? super I> function;
    private final @Nullable BiPredicate<? super I, ? super ToolCaller> enabled; // else always
    private final @Nullable Predicate<? super I> approval; // else never
    private final @Nullable Function<? super I, String> key;
    private final @Nullable Reconciler<? super I> reconciler;
    private final List<Guardrail> outputGuardrails;
    private final @Nullable BiFunction<? super I, ? super Exception, ? extends Optional<?>> onError;

    Typed(Builder<I> builder) {
      this.input = builder.input;
      this.lookup = builder.lookup;
      this.function = builder.function;
      this.enabled = builder.enabled;
      this.approval = builder.approval;
      this.key = builder.key;
      this.reconciler = builder.reconciler;
      this.outputGuardrails = builder.outputGuardrails;
      this.onError = builder.onError;
    }

    boolean isEnabled(Json json, ToolCaller caller) {
      return enabled == null || enabled.test(input.read(json), caller);
    }

    boolean requiresApproval(Json json) {
      return approval != null && approval.test(input.read(json));
    }

    Optional<String> ownKey(Json json) {
      return key == null ? Optional.empty() : Optional.of(key.apply(input.read(json)));
    }

    Json call(ToolCall call, ToolContext context) throws Exception {
      I given = input.read(call.input());
      try {
        return shown(call, context, function.call(given, context));
      } catch (GuardrailException | OutcomeUnknownException | InterruptedException e) {
        throw e;
      } catch (Exception e) {
        throw replaced(call, context, given, e);
      }
    }

    private Json shown(ToolCall call, ToolContext context, @Nullable Object output) {
      Json shown = json(output); // before a guardrail has the output in its hands
      requireOutputPasses(call, context.caller(), output);
      return shown;
    }

    /** The failure, with another output if the program has one for it. */
    private Exception replaced(ToolCall call, ToolContext context, I given, Exception failure) {
      if (onError == null || Thread.currentThread().isInterrupted()) {
        return failure;
      }
      Optional<?> replacement;
      try {
        replacement = onError.apply(given, failure);
      } catch (RuntimeException e) {
        failure.addSuppressed(e);
        return failure;
      }
      return replacement.isEmpty()
          ? failure
          : new ReplacedFailure(shown(call, context, replacement.get()), failure);
    }

    private Json json(@Nullable Object output) {
      try {
        return JsonType.toJson(output, lookup);
      } catch (InvalidRequestException e) {
        // It has acted: to call that a failure would have the model ask for it again.
        LOG.warn("The output of a tool cannot be shown to the model: {}", e.getMessage());
        return NOT_SHOWN;
      }
    }

    private void requireOutputPasses(ToolCall call, ToolCaller caller, @Nullable Object output) {
      if (!outputGuardrails.isEmpty()) {
        GuardrailStage stage = GuardrailStage.TOOL_OUTPUT;
        Guardrail.View view =
            new Guardrail.View(stage, caller, List.of(), Optional.of(call), output);
        Guardrail.requirePass(outputGuardrails, view, OperationTrace.NONE);
      }
    }

    Reconciler.Finding reconcile(String idempotencyKey, ToolCall call, ToolCaller caller)
        throws Exception {
      if (reconciler == null) {
        return new Reconciler.Finding.Unknown();
      }
      Reconciler.Finding finding = reconciler.find(idempotencyKey, input.read(call.input()));
      if (finding instanceof Reconciler.Finding.Executed(Json output)) {
        requireOutputPasses(call, caller, output);
      }
      return finding;
    }
  }

  /**
   * Collects the parts of a tool; not thread-safe.
   *
   * @param <I> the input
   */
  public static final class Builder<I> {
    private final String name;
    private final String description;
    private final JsonType<I> input;
    private final MethodHandles.Lookup lookup;
    private final EffectClass effect;
    private final ToolFunction<? super I> function;
    private String version = "1";
    private @Nullable Duration timeout;
    private @Nullable Duration approvalExpiry;
    private @Nullable BiPredicate<? super I, ? super ToolCaller> enabled;
    private @Nullable Predicate<? super I> approval;
    private @Nullable Function<? super I, String> key;
    private @Nullable Reconciler<? super I> reconciler;
    private List<Guardrail> inputGuardrails = List.of();
    private List<Guardrail> outputGuardrails = List.of();
    private ApprovalMode approvalMode = ApprovalMode.INTERRUPT;
    private @Nullable Duration idempotencyWindow;
    private boolean honoursInterrupts;
    private @Nullable BiFunction<? super I, ? super Exception, ? extends Optional<?>> onError;

    private Builder(
        String name,
        String description,
        JsonType<I> input,
        MethodHandles.Lookup lookup,
        EffectClass effect,
        ToolFunction<? super I> function) {
      if (!NAME.matcher(name).matches()) {
        throw invalid(
            "A tool's name must match [A-Za-z0-9_-]{1,64}, but \"" + name + "\" does not.");
      }
      this.name = name;
      this.description = Objects.requireNonNull(description, "description");
      this.input = input;
      this.lookup = lookup;
      this.effect = Objects.requireNonNull(effect, "effect");
      this.function = Objects.requireNonNull(function, "function");
    }

    private static InvalidRequestException invalid(String message) {
      return new InvalidRequestException(FailureKind.INVALID_CONFIGURATION, message);
    }

    /**
     * Sets the version that approvals are bound to: raise it when the tool comes to mean something
     * else, and open approvals of the old meaning no longer count.
     *
     * @param version not blank; "1" by default
     * @return this builder
     */
    public Builder<I> version(String version) {
      if (version.isBlank()) {
        throw invalid("A tool's version must not be blank.");
      }
      this.version = version;
      return this;
    }

    /**
     * Requires an approval for every call.
     *
     * @return this builder
     */
    public Builder<I> requiresApproval() {
      return requiresApproval(any -> true);
    }

    /**
     * Requires an approval for some calls.
     *
     * @param rule a pure function of the input: true if somebody has to approve
     * @return this builder
     */
    public Builder<I> requiresApproval(Predicate<? super I> rule) {
      this.approval = Objects.requireNonNull(rule, "rule");
      return this;
    }

    /**
     * Says who decides on the calls that require an approval, in a run. It has no part in
     * operations without a run, which cannot wait for a person.
     *
     * @param mode {@link ApprovalMode#INTERRUPT} by default
     * @return this builder
     */
    public Builder<I> approvalMode(ApprovalMode mode) {
      this.approvalMode = Objects.requireNonNull(mode, "mode");
      return this;
    }

    /**
     * Limits how long a request for approval waits. When the time has passed the call counts as
     * denied, with the reason "expired", from the next resume of its run on; also if somebody
     * approves it then.
     *
     * @param expiry more than zero; a request waits for ever by default
     * @return this builder
     */
    public Builder<I> approvalExpiry(Duration expiry) {
      if (expiry.isNegative() || expiry.isZero()) {
        throw invalid("A tool's approvalExpiry must be more than 0, but is " + expiry + ".");
      }
      this.approvalExpiry = expiry;
      return this;
    }

    /**
     * Says for which inputs the tool may be used; all by default.
     *
     * @param rule a pure function of the input: false to refuse the call with an error result
     * @return this builder
     */
    public Builder<I> enabledIf(Predicate<? super I> rule) {
      Objects.requireNonNull(rule, "rule");
      return enabledIf((input, caller) -> rule.test(input));
    }

    /**
     * Says for which inputs and callers the tool may be used; all by default.
     *
     * @param rule a function of the input and of the run's id, metadata and context: false to
     *     refuse the call with an error result
     * @return this builder
     */
    public Builder<I> enabledIf(BiPredicate<? super I, ? super ToolCaller> rule) {
      this.enabled = Objects.requireNonNull(rule, "rule");
      return this;
    }

    /**
     * Limits one run of the tool; then its thread is interrupted.
     *
     * <p>A PURE tool then gives an error result; a repeatable one is run once more with the same
     * key; the outcome of a ONCE tool is unknown.
     *
     * @param timeout more than zero; no limit but the deadline by default
     * @return this builder
     */
    public Builder<I> timeout(Duration timeout) {
      if (timeout.isNegative() || timeout.isZero()) {
        throw invalid("A tool's timeout must be more than 0, but is " + timeout + ".");
      }
      this.timeout = timeout;
      return this;
    }

    /**
     * Declares that it is certain that whatever belongs to the tool, its function, the constructors
     * of its input, its rules and guardrails, ends soon after an interrupt of its thread, at every
     * moment, and leaves the thread as it found it: the interrupt is thrown, or stays set, and
     * thread-locals are as before.
     *
     * <p>Then a call that no other runs beside runs on the thread of the operation, and so do the
     * rules if all tools of the request declare it, which saves two threads. Whoever declares this
     * without keeping it keeps callers waiting beyond their deadline: nothing takes the operation
     * off a thread that does not come back. A tool that does not declare it always has a thread of
     * its own, which is left behind if it ignores its interrupt.
     *
     * @return this builder
     */
    public Builder<I> honoursInterrupts() {
      this.honoursInterrupts = true;
      return this;
    }

    /**
     * Derives the idempotency key from the input, for example to pay an order back once whoever
     * asks.
     *
     * @param key a pure function of the input
     * @return this builder
     */
    public Builder<I> idempotencyKey(Function<? super I, String> key) {
      this.key = Objects.requireNonNull(key, "key");
      return this;
    }

    /**
     * Says for how long the system that an IDEMPOTENT tool acts on honours an idempotency key. A
     * call whose outcome is lost is run again only within that time from its first start on; later
     * it is treated like one of a ONCE tool: the reconciler is asked, or somebody decides.
     *
     * @param window more than zero; for ever by default
     * @return this builder
     */
    public Builder<I> idempotencyWindow(Duration window) {
      if (window.isNegative() || window.isZero()) {
        throw invalid("A tool's idempotencyWindow must be more than 0, but is " + window + ".");
      }
      this.idempotencyWindow = window;
      return this;
    }

    /**
     * Shows the model something else than "Tool failed." when the function throws. It stays an
     * error result: the call has failed, counts as a tool error, and ends the run or operation that
     * stops on errors. Not asked when the outcome is unknown, the tool was interrupted, or a
     * guardrail triggered; output guardrails look at the replacement too.
     *
     * @param replacement gives an output as the function could, or nothing to leave it at the
     *     failure; called on the tool's own task, which its timeout limits; what it throws counts
     *     as nothing
     * @return this builder
     */
    public Builder<I> onError(
        BiFunction<? super I, ? super Exception, ? extends Optional<?>> replacement) {
      this.onError = Objects.requireNonNull(replacement, "replacement");
      return this;
    }

    /**
     * Lets the tool look up what became of a call whose outcome was lost.
     *
     * @param reconciler asks the system that the tool acts on
     * @return this builder
     */
    public Builder<I> reconciler(Reconciler<? super I> reconciler) {
      this.reconciler = Objects.requireNonNull(reconciler, "reconciler");
      return this;
    }

    /**
     * Sets guardrails that look at the input of each call, after the schema and before an approval
     * is asked for; again on a resume. One that triggers ends the run or operation.
     *
     * @param guardrails in the order in which they are asked, each id once
     * @return this builder
     */
    public Builder<I> inputGuardrails(Guardrail... guardrails) {
      this.inputGuardrails = Guardrail.inOrder(List.of(guardrails));
      return this;
    }

    /**
     * Sets guardrails that look at what the function returned, or what a reconciler found, before
     * the model is told. One that triggers ends the run or operation: the tool has acted, and its
     * output is withheld from the log and the model. They take part of the tool's timeout.
     *
     * @param guardrails in the order in which they are asked, each id once
     * @return this builder
     */
    public Builder<I> outputGuardrails(Guardrail... guardrails) {
      this.outputGuardrails = Guardrail.inOrder(List.of(guardrails));
      return this;
    }

    /**
     * Makes the tool.
     *
     * @return the tool
     * @throws InvalidRequestException if it has an idempotencyWindow and is not IDEMPOTENT
     */
    public Tool build() {
      if (idempotencyWindow != null && effect != EffectClass.IDEMPOTENT) {
        throw invalid(
            "An idempotencyWindow must be of an IDEMPOTENT tool, but \"%s\" is %s."
                .formatted(name, effect));
      }
      return new Tool(this);
    }
  }
}
