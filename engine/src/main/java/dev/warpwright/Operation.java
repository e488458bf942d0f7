package dev.warpwright;

import dev.warpwright.Gateway.Settings;
import dev.warpwright.control.CircuitPermit;
import dev.warpwright.control.CircuitRefusal;
import dev.warpwright.control.CircuitState;
import dev.warpwright.control.RetryPolicy;
import dev.warpwright.model.Attempt;
import dev.warpwright.model.Attempt.ReasonCode;
import dev.warpwright.model.AttemptsExhaustedException;
import dev.warpwright.model.BudgetDeniedException;
import dev.warpwright.model.Capability;
import dev.warpwright.model.CircuitOpenException;
import dev.warpwright.model.Conversation;
import dev.warpwright.model.CostValuation;
import dev.warpwright.model.DeadlineExceededException;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.Money;
import dev.warpwright.model.NoEligibleTargetException;
import dev.warpwright.model.OperationCancelledException;
import dev.warpwright.model.OperationTrace;
import dev.warpwright.model.PortableHistory;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.ProviderState;
import dev.warpwright.model.Redaction;
import dev.warpwright.model.StreamBrokenException;
import dev.warpwright.model.Target;
import dev.warpwright.model.ToolResultFormat;
import dev.warpwright.model.WarpwrightException;
import dev.warpwright.route.RoutePlan;
import dev.warpwright.route.RoutePlan.Candidate;
import dev.warpwright.route.RoutePlanner;
import dev.warpwright.task.Cancellation;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.Feed;
import dev.warpwright.task.Outcome;
import dev.warpwright.task.TaskScope;
import dev.warpwright.task.TaskTrace;
import dev.warpwright.task.TaskTree;
import dev.warpwright.tool.RunningKeys;
import dev.warpwright.tool.ToolCaller;
import dev.warpwright.tool.ToolJournal;
import dev.warpwright.tool.ToolRunner;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.Callable;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One routed operation: a scope with a deadline in which model steps are routed and tools are run.
 *
 * <p>The spine of Warpwright. A {@linkplain #step step} takes the candidates of the plan in order,
 * makes an attempt on one, and after a failure waits and tries the same again or goes on with the
 * next. The limit of attempts spans all steps of the operation. Belongs to the thread that opened
 * it; closing it cancels whatever still runs.
 */
public final class Operation implements AutoCloseable {
  private final OperationId id;
  private final GenerateRequest request;
  private final Optional<ObjectRequest<?>> object;
  private PortableHistory history;
  private final Planning planning;
  private final Settings settings;
  private final RunningKeys runningKeys;
  private final Controls controls;
  private final Observers.OfOperation observers;
  private final Runnable onClose;
  private final Cancellation.@Nullable Registration cancellation;
  private final Duration timeout;
  private final Optional<Outlet> outlet;
  private final Feed.@Nullable Writer<StreamEvent> own; // for what no attempt shows
  private final Cancellation.@Nullable Registration leaving;
  private final TaskScope scope;
  private final RoutePlan plan;
  private final AttemptLog attempts;
  private PrivateState.@Nullable Views views; // made when a message has state of a provider
  private int dispatches; // that count against maxTotalAttempts; denials and cache hits do
  private OptionalInt maxTokens = OptionalInt.empty(); // of the step under way
  private @Nullable Candidate winner;
  private int chosenStep; // for which the winner was chosen
  private boolean rebound; // whether that was another one than before
  private boolean closed;

  Operation(
      String name,
      GenerateRequest request,
      Optional<ObjectRequest<?>> object,
      PortableHistory history,
      RoutePlan plan,
      Deadline deadline,
      Optional<Outlet> outlet,
      Planning planning,
      Settings settings,
      Controls controls,
      TaskTree tree,
      RunningKeys runningKeys,
      Observers observers,
      Runnable onClose) {
    this.id = new OperationId(name, settings.time().random());
    this.request = request;
    this.object = object;
    this.history = history;
    this.planning = planning;
    this.settings = settings;
    this.controls = controls;
    this.runningKeys = runningKeys;
    this.observers = observers.of(id, request.cancellation());
    this.onClose = onClose;
    this.timeout = settings.timeout(request);
    this.plan = plan;
    this.outlet = outlet;
    this.own = outlet.map(to -> to.writers().get()).orElse(null);
    this.scope = tree.openRecorded("operation", id, deadline);
    this.attempts = new AttemptLog(settings.time(), scope, this.observers);
    this.cancellation = request.cancellation().map(by -> by.onCancel(scope::cancel)).orElse(null);
    this.leaving = outlet.map(to -> to.left().onCancel(scope::cancel)).orElse(null);
    if (!plan.skips().isEmpty()) {
      plan.skips().forEach(attempts::add);
    }
  }

  /**
   * The operation's id, also the first part of the names of its tasks.
   *
   * @return the id: the operation's name and 64 random bits
   */
  public String id() {
    return id.toString();
  }

  /**
   * When the operation ends at the latest.
   *
   * @return the deadline
   */
  public Deadline deadline() {
    return scope.deadline();
  }

  /**
   * What has been done so far.
   *
   * @return id, attempts and decision
   */
  public OperationTrace trace() {
    return new OperationTrace(id(), attempts.all(), Optional.of(plan.decision()), Optional.empty());
  }

  /** The attempts so far. */
  List<Attempt> attempts() {
    return attempts.all();
  }

  /**
   * What has run as part of this operation: attempts, waits for admission, tools, awaited
   * observers, and what they started. A call whose answer may be shared with other operations
   * belongs to none of them, and so is not in it.
   *
   * @return the tree of tasks; complete once the operation is closed
   */
  public TaskTrace tasks() {
    return scope.trace().orElseThrow();
  }

  /**
   * Says with which tool calls the conversation began, where that was not known when the operation
   * was opened: as of a run that is read from its log. From now on the operation goes by the rules
   * of such a conversation: targets that cannot take it are skipped, and failures are told without
   * the words of a provider.
   *
   * @param begun the messages that the conversation began with
   * @throws dev.warpwright.model.InvalidRequestException if they break a rule of {@link
   *     PortableHistory}
   */
  public void goesOnWith(List<Message> begun) {
    history = PortableHistory.of(begun);
  }

  /**
   * Routes one model call: tries the candidates, the last winner first, until one answers.
   *
   * @param step the step's number, for attempts and names
   * @param messages the conversation
   * @return the answer
   * @throws NoEligibleTargetException if no target passed the checks
   * @throws AttemptsExhaustedException if the last target failed, or the limit of attempts is
   *     reached, or a tool that a provider runs itself failed
   * @throws dev.warpwright.model.CircuitOpenException if the circuit of the last target lets no
   *     call through
   * @throws dev.warpwright.model.AdmissionDeniedException if the last target had no place
   * @throws BudgetDeniedException if the money for a call could not be set aside
   * @throws DeadlineExceededException if the deadline passed, or a wait does not fit into it
   * @throws OperationCancelledException if the calling thread was interrupted or a scope around it
   *     was cancelled
   * @throws StreamBrokenException if a stream failed after some of the answer was shown
   */
  public ModelStep step(int step, List<Message> messages) {
    return step(step, messages, OptionalInt.empty());
  }

  /**
   * Routes one model call whose answer is limited; see {@link #step(int, List)}.
   *
   * @param step the step's number, for attempts and names
   * @param messages the conversation
   * @param mostTokens the most output tokens of the answer; the request's own limit stays in force
   * @return the answer
   */
  public ModelStep step(int step, List<Message> messages, OptionalInt mostTokens) {
    maxTokens = lower(request.maxTokens(), mostTokens);
    Conversation conversation = Conversation.of(messages);
    List<Candidate> candidates = candidates(step, conversation);
    if (candidates.isEmpty()) {
      throw noEligibleTarget();
    }
    StepFailures failures = new StepFailures(step);
    try {
      for (Candidate candidate : candidates) {
        Optional<ModelResponse> response = tryTarget(step, candidate, conversation, failures);
        if (response.isPresent()) {
          return won(step, candidate, response.get());
        }
      }
      throw end(step)
          .orElseGet(
              () ->
                  failures.isEmpty()
                      ? noEligibleTarget()
                      : failures.exhausted(trace(), candidates.size()));
    } catch (WarpwrightException end) {
      failures.suppressIn(end);
      throw end;
    }
  }

  private static OptionalInt lower(OptionalInt one, OptionalInt other) {
    return one.isPresent() && other.isPresent()
        ? OptionalInt.of(Math.min(one.getAsInt(), other.getAsInt()))
        : one.isPresent() ? one : other;
  }

  /**
   * About how many input tokens a model call takes.
   *
   * @param messages the conversation
   * @return the estimate, with the tools and the schema of an object
   */
  public long inputTokens(List<Message> messages) {
    return InputSize.tokens(
        messages,
        request.tools().specs(),
        object.map(asked -> asked.form().schemaCharacters()).orElse(0L));
  }

  /**
   * Whether calls of the gateway have a cost.
   *
   * @return false if costs are not accounted
   */
  public boolean accountsCosts() {
    return controls.accounting().isPresent();
  }

  /**
   * What the next model call costs at most by the catalog, at the target that it goes to first.
   *
   * @param inputTokens the estimated input
   * @param mostTokens the most output tokens of the answer; the request's own limit stays in force
   * @return the amount; empty if nobody can say
   */
  public Optional<Money> ceiling(long inputTokens, OptionalInt mostTokens) {
    if (controls.accounting().isEmpty() || plan.candidates().isEmpty()) {
      return Optional.empty();
    }
    Candidate next = winner == null ? plan.candidates().getFirst() : winner;
    return controls
        .accounting()
        .get()
        .ceiling(next.target(), inputTokens, lower(request.maxTokens(), mostTokens))
        .amount();
  }

  /** The candidates that can do what the step needs, the winner of the step before first. */
  private List<Candidate> candidates(int step, Conversation messages) {
    boolean showsImages = messages.hasImages();
    Optional<ProviderState> answered = messages.unsentAnswer();
    if (winner == null && !showsImages && !history.hasTools() && answered.isEmpty()) {
      return plan.candidates();
    }
    List<Candidate> order = new ArrayList<>(plan.candidates());
    if (winner != null) {
      order.remove(winner);
      order.addFirst(winner);
    }
    if (showsImages) {
      order.removeIf(candidate -> skippedForImages(step, candidate));
    }
    order.removeIf(candidate -> skippedForHistory(step, candidate));
    answered.ifPresent(
        state -> order.removeIf(candidate -> skippedForAnswer(step, candidate, state)));
    return order;
  }

  /**
   * What was decided on a request of a provider is told to the model there that asked, and to no
   * other: there it would be lost.
   */
  private boolean skippedForAnswer(int step, Candidate candidate, ProviderState asked) {
    Target target = candidate.target();
    boolean other =
        !asked.provider().equals(Optional.of(target.provider()))
            || !asked.modelId().equals(target.modelId());
    if (other) {
      attempts.add(
          Attempt.skip(
              step,
              target,
              ReasonCode.OPERATION_SKIP,
              candidate.rank(),
              "The conversation answers a request for approval that another target made."));
    }
    return other;
  }

  private boolean skippedForHistory(int step, Candidate candidate) {
    Optional<Attempt> skip = RoutePlanner.unfit(step, candidate, history);
    skip.ifPresent(attempts::add);
    return skip.isPresent();
  }

  private boolean skippedForImages(int step, Candidate candidate) {
    boolean lacks = !candidate.capabilities().has(Capability.VISION);
    if (lacks) {
      attempts.add(
          RoutePlanner.missing(step, candidate.target(), candidate.rank(), Capability.VISION));
    }
    return lacks;
  }

  /** Calls one target until it answers or is given up; empty if it is given up. */
  private Optional<ModelResponse> tryTarget(
      int step, Candidate candidate, Conversation messages, StepFailures failures) {
    for (int retry = 0; ; retry++) {
      switch (attempt(step, candidate, retry, messages)) {
        case AttemptEnd.Answered(ModelResponse response) -> {
          return Optional.of(response);
        }
        case AttemptEnd.Failed(ProviderException failure) -> {
          failures.add(failure);
          if (!waitForRetry(candidate.target(), failure, retry, failures)) {
            return Optional.empty();
          }
        }
        case AttemptEnd.CircuitOpen(CircuitRefusal refusal) -> {
          failures.circuitOpen(candidate.target(), refusal.earliestReturn());
          return Optional.empty();
        }
        case AttemptEnd.NotAdmitted(String why) -> {
          failures.notAdmitted(why);
          return Optional.empty();
        }
        case AttemptEnd.Skipped _ -> {
          return Optional.empty();
        }
      }
    }
  }

  /** How an attempt ended, unless it ended the operation. */
  private sealed interface AttemptEnd {
    record Answered(ModelResponse response) implements AttemptEnd {}

    record Failed(ProviderException failure) implements AttemptEnd {}

    record CircuitOpen(CircuitRefusal refusal) implements AttemptEnd {}

    record NotAdmitted(String why) implements AttemptEnd {}

    record Skipped() implements AttemptEnd {}
  }

  private AttemptEnd attempt(int step, Candidate candidate, int retry, Conversation messages) {
    requireNotOver(step);
    Target target = candidate.target();
    return switch (controls.circuit().tryAcquire(target)) {
      case CircuitRefusal refusal -> {
        attempts.add(
            Attempt.skip(step, target, ReasonCode.CIRCUIT_OPEN, candidate.rank(), why(refusal)));
        yield new AttemptEnd.CircuitOpen(refusal);
      }
      case CircuitPermit permit -> {
        try (permit) {
          requireAttemptsLeft(step);
          yield dispatch(prepare(step, candidate, retry, messages), permit);
        }
      }
    };
  }

  private static String why(CircuitRefusal refusal) {
    return "The circuit lets no call through (%s) until %s at the earliest."
        .formatted(refusal.reason(), refusal.earliestReturn());
  }

  private Dispatch prepare(int step, Candidate candidate, int retry, Conversation messages) {
    dispatches++;
    long startNanos = settings.time().nanoTime();
    Target target = candidate.target();
    String provider = target.provider();
    Duration limit = settings.attemptTimeout(target);
    Deadline deadline =
        Deadline.after(settings.time(), startNanos, limit).earlier(scope.deadline());
    Conversation visible = visibleTo(provider, messages);
    ObjectForm form = object.isPresent() ? object.get().form() : null;
    ObjectMode mode = form == null ? ObjectMode.AUTO : form.modeFor(candidate.capabilities());
    ModelCall call =
        new ModelCall(
            form == null ? visible : form.messages(mode, visible),
            request.tools().specs(),
            request.toolChoice(),
            request.temperature(),
            maxTokens,
            request.reasoning(),
            form == null ? Optional.empty() : form.format(mode),
            history.hasTools() ? ToolResultFormat.ENVELOPE : request.toolResultFormat(),
            request.providerOptions().getOrDefault(provider, Json.EMPTY_OBJECT),
            deadline);
    return new Dispatch(
        step,
        candidate,
        retry,
        dispatches,
        call,
        request,
        limit,
        startNanos,
        keepable(mode),
        deadline);
  }

  private Conversation visibleTo(String provider, Conversation messages) {
    if (!messages.hasStateOfOthersThan(provider)) {
      return messages;
    }
    if (views == null) {
      views = new PrivateState.Views();
    }
    return views.visibleTo(provider, messages);
  }

  /** Which answers may be kept for others: those that can be read. */
  private Predicate<ModelResponse> keepable(ObjectMode mode) {
    if (object.isEmpty()) {
      return answer -> true;
    }
    ObjectReader<?> reader = object.get().reader();
    return answer -> reader.accepts(answer, mode);
  }

  private AttemptEnd dispatch(Dispatch dispatch, CircuitPermit circuit) {
    try (HealthReport health = new HealthReport(circuit, controls.metrics(), dispatch.target())) {
      Delivery delivery = delivery(dispatch, health);
      return switch (controls.calls().make(scope, dispatch, delivery)) {
        case CallEnd.Answered answer -> {
          if (!answer.cacheHit()) {
            health.answered(answer.response().usage().output());
          }
          attempts.answered(dispatch, delivery, answer);
          yield new AttemptEnd.Answered(answer.response());
        }
        case CallEnd.Failed(Throwable cause, Optional<CostValuation> cost) ->
            failed(dispatch, delivery, cause, cost, health);
        case CallEnd.Unsupported(ProviderException why) -> {
          health.cutOff();
          yield skipped(dispatch, why);
        }
        case CallEnd.SharedFailure(Throwable cause) -> failedElsewhere(dispatch, cause);
        case CallEnd.TimedOut late -> timedOut(dispatch, delivery, late, health);
        case CallEnd.Cancelled(String reason, Optional<CostValuation> cost) -> {
          health.cutOff();
          String why = whyCancelled("Cancelled: ", reason);
          attempts.ended(dispatch, delivery, ReasonCode.REQUEST_ABORTED, why, cost);
          throw cancelled(reason);
        }
        case CallEnd.NotAdmitted(String why) -> {
          health.cutOff();
          notMade(dispatch, ReasonCode.ADMISSION_DENIED, why);
          yield new AttemptEnd.NotAdmitted(why);
        }
        case CallEnd.NoBudget(String why) -> {
          health.cutOff();
          notMade(dispatch, ReasonCode.BUDGET_DENIED, why);
          throw new BudgetDeniedException(why, null, trace());
        }
      };
    }
  }

  /** The target was not called after all, so the attempt counts as none. */
  private AttemptEnd skipped(Dispatch dispatch, ProviderException why) {
    dispatches--;
    attempts.add(
        Attempt.skip(
            dispatch.step(),
            dispatch.target(),
            ReasonCode.MODEL_CAPABILITIES,
            dispatch.candidate().rank(),
            String.valueOf(why.getMessage())));
    return new AttemptEnd.Skipped();
  }

  private void notMade(Dispatch dispatch, ReasonCode code, String why) {
    attempts.ended(dispatch, Delivery.WHOLE, code, why, Optional.empty());
  }

  /** An attempt of a stream shows what comes; the target is chosen when it begins to. */
  private Delivery delivery(Dispatch dispatch, HealthReport health) {
    if (outlet.isEmpty()) {
      return Delivery.WHOLE;
    }
    return new LiveAnswer(
        settings.time(),
        outlet.get().writers().get(),
        settings.streamIdleTimeout(dispatch.target()),
        new LiveAnswer.Progress() {
          @Override
          public void begins() {
            choose(dispatch.step(), dispatch.candidate());
          }

          @Override
          public void hasText() {
            health.hasText();
          }
        });
  }

  private AttemptEnd failed(
      Dispatch dispatch,
      Delivery delivery,
      Throwable cause,
      Optional<CostValuation> cost,
      HealthReport health) {
    Throwable told = told(cause);
    ProviderException failure = AdapterFailures.of(told, dispatch.target());
    if (delivery.isShown()) {
      health.broken(failure);
    } else {
      health.failed(failure);
    }
    attempts.failed(dispatch, delivery, failure, cost);
    AdapterFailures.rethrowWhatEndsTheOperation(told);
    requireNotShown(dispatch, delivery, failure, FailureKind.STREAM_BROKEN);
    return new AttemptEnd.Failed(failure);
  }

  /** What may be told of a failure: after a history with tools, no word of the provider. */
  private Throwable told(Throwable cause) {
    return history.hasTools() ? HistoryFailures.withoutTexts(cause) : cause;
  }

  /** A failure that says nothing of the target here: it was not called for this attempt. */
  private AttemptEnd failedElsewhere(Dispatch dispatch, Throwable cause) {
    Throwable told = told(cause);
    ProviderException failure = AdapterFailures.of(told, dispatch.target());
    attempts.failed(dispatch, Delivery.WHOLE, failure, Optional.empty());
    AdapterFailures.rethrowWhatEndsTheOperation(told);
    return new AttemptEnd.Failed(failure);
  }

  private AttemptEnd timedOut(
      Dispatch dispatch, Delivery delivery, CallEnd.TimedOut late, HealthReport health) {
    if (scope.deadline().hasPassed()) {
      health.cutOff();
      attempts.ended(
          dispatch,
          delivery,
          ReasonCode.DEADLINE_EXCEEDED,
          "The operation's deadline cut the attempt off.",
          late.cost());
      throw deadlineExceeded(dispatch.step());
    }
    ProviderException failure =
        ProviderException.builder(
                ProviderException.Kind.TIMEOUT, whyLate(dispatch, delivery, late.called()))
            .build()
            .at(dispatch.target());
    if (late.called()) {
      health.failed(failure);
    } else {
      health.cutOff();
    }
    ProviderException told =
        late.called() && dispatch.mayAct() ? mayHaveActed(dispatch, failure) : failure;
    attempts.failed(dispatch, delivery, told, late.cost());
    requireNotShown(dispatch, delivery, told, FailureKind.STREAM_IDLE);
    return new AttemptEnd.Failed(told);
  }

  private static ProviderException mayHaveActed(Dispatch dispatch, ProviderException late) {
    return ProviderException.builder(
            ProviderException.Kind.TOOL_CALL,
            late.getMessage() + " A tool that the provider runs may have acted.")
        .cause(late)
        .build()
        .at(dispatch.target());
  }

  private String whyLate(Dispatch dispatch, Delivery delivery, boolean called) {
    if (delivery.isShown()) {
      return "The stream gave no sign of life for %s (streamIdleTimeout)."
          .formatted(settings.streamIdleTimeout(dispatch.target()));
    }
    return "The attempt timed out after %s (attemptTimeout)%s."
        .formatted(dispatch.timeLimit(), called ? "" : " before its target could be called");
  }

  /** What a reader has seen is the answer of one target, and is not continued by another. */
  private void requireNotShown(
      Dispatch dispatch, Delivery delivery, ProviderException failure, FailureKind kind) {
    if (delivery.isShown()) {
      throw new StreamBrokenException(
          failure.mayHaveActed() ? FailureKind.PROVIDER_TOOL : kind,
          "The stream of %s broke in step %d after output was shown: %s"
              .formatted(dispatch.target(), dispatch.step(), failure.getMessage()),
          delivery.partialText(),
          delivery.partialUsage(),
          failure,
          trace());
    }
  }

  /** Nothing begins, and nothing is counted as begun, once the operation has come to its end. */
  private void requireNotOver(int step) {
    Optional<WarpwrightException> end = end(step);
    if (end.isPresent()) {
      throw end.get();
    }
  }

  private void requireAttemptsLeft(int step) {
    if (dispatches >= settings.maxTotalAttempts()) {
      throw new AttemptsExhaustedException(
          FailureKind.TOTAL_ATTEMPTS,
          "The operation reached its maximum of %d provider attempts (maxTotalAttempts) in step %d."
              .formatted(settings.maxTotalAttempts(), step),
          null,
          false,
          trace());
    }
  }

  /**
   * Waits for the next retry on the same target; false if there is none. A failure after which
   * nothing may be tried again, here or elsewhere, ends the step.
   */
  private boolean waitForRetry(
      Target target, ProviderException failure, int retry, StepFailures failures) {
    RetryPolicy.Decision decision =
        settings.retry().decide(failure, retry, settings.time().random());
    if (decision instanceof RetryPolicy.Decision.Stop) {
      throw failures.hostedTool(failure, trace());
    }
    if (!(decision instanceof RetryPolicy.Decision.Retry(Duration delay))) {
      return false;
    }
    if (!(controls.circuit().state(target) instanceof CircuitState.Closed)) {
      return false; // this failure opened it, or somebody else's
    }
    if (delay.toNanos() >= scope.deadline().remainingNanos()) {
      failures.waitDidNotFit(delay);
      return false;
    }
    requireAttemptsLeft(failures.step());
    if (!scope.sleep(delay)) {
      requireNotOver(failures.step());
    }
    return true;
  }

  /** The target that answers a step, or begins to; whoever observes routes is told, once. */
  private void choose(int step, Candidate candidate) {
    if (chosenStep == step) {
      return;
    }
    chosenStep = step;
    rebound = winner == null || winner.rank() != candidate.rank();
    winner = candidate;
    if (rebound) {
      observers.route(
          () ->
              new RouteSelection(
                  id(),
                  step,
                  candidate.target(),
                  candidate.rank(),
                  plan.decision(),
                  attempts.all()));
    }
  }

  private ModelStep won(int step, Candidate candidate, ModelResponse response) {
    choose(step, candidate);
    planning.served(request, candidate.target());
    return new ModelStep(
        step,
        candidate.target(),
        rebound,
        plan.decision(),
        response,
        attempts.takeThisStep(),
        candidate.capabilities().has(Capability.PARALLEL_TOOL_CALLS));
  }

  /** Whether it is a stream. */
  boolean isShown() {
    return own != null;
  }

  /**
   * Shows an event to the reader of a stream, and waits for it if it is slow; does nothing in an
   * operation that is no stream.
   *
   * @param step the step in which it happened
   * @param event the event
   * @throws DeadlineExceededException if the deadline passed meanwhile
   * @throws OperationCancelledException if the operation was cancelled meanwhile
   */
  void show(int step, StreamEvent event) {
    if (own != null && !show(own, event)) {
      throw end(step).orElseGet(() -> cancelled("the stream has ended"));
    }
  }

  /**
   * Shows to the reader of a stream what belongs to no attempt, and waits for it if it is slow.
   *
   * @param <X> what is shown
   * @param writer a writer of the stream's feed
   * @param shown what to show
   * @return whether it was written; false if there was no room before the operation came to its
   *     {@link #end}
   */
  public <X> boolean show(Feed.Writer<X> writer, X shown) {
    return writer.put(shown, scope);
  }

  /**
   * Judges the calls of a step by rules of the program, as a child of this operation: a rule that
   * takes its time does not keep the caller beyond the deadline.
   *
   * @param <T> what is found
   * @param step the step
   * @param honourInterrupts whether it is declared that all of them end soon after an interrupt, so
   *     that they need no thread of their own
   * @param rules asks the tools whether they may be used and what needs an approval
   * @return what was found
   * @throws DeadlineExceededException if the deadline passed meanwhile
   * @throws OperationCancelledException if the operation was cancelled meanwhile
   */
  public <T> T judge(int step, boolean honourInterrupts, Supplier<T> rules) {
    return honourInterrupts
        ? found(
            "preflight",
            step,
            scope.callHere("preflight", "preflight", scope.deadline(), rules::get))
        : foreign("preflight", step, rules);
  }

  /**
   * Runs code of the program as a child of this operation, ended by all that ends the operation.
   *
   * @param <T> what it gives
   * @param kind what kind of task it is
   * @param name its name
   * @param code the code, on a thread of its own
   * @return how it ended; if it was cut off, {@link #end} says why
   */
  public <T> Outcome<T> call(String kind, String name, Callable<? extends T> code) {
    return scope.call(kind, name, scope.deadline(), code);
  }

  /**
   * Runs other code of the program for a step, as a child of this operation.
   *
   * @param <T> what it gives
   * @param kind what it is, for the names of tasks
   * @param step the step
   * @param code the code
   * @return what it gave
   * @throws DeadlineExceededException if the deadline passed meanwhile
   * @throws OperationCancelledException if the operation was cancelled meanwhile
   */
  public <T> T call(String kind, int step, Supplier<T> code) {
    return foreign(kind, step, code);
  }

  /**
   * Asks guardrails of the program, as a child of this operation: one that takes its time does not
   * keep the caller beyond the deadline.
   *
   * @param step the step
   * @param guardrails asks them; throws what triggers
   * @throws DeadlineExceededException if the deadline passed meanwhile
   * @throws OperationCancelledException if the operation was cancelled meanwhile
   */
  public void guard(int step, Runnable guardrails) {
    var _ =
        foreign(
            "guardrails",
            step,
            () -> {
              guardrails.run();
              return true;
            });
  }

  /**
   * Makes the object of the last step's answer, as a child of this operation: a mapper or a
   * constructor that takes its time does not keep the caller beyond the deadline.
   */
  <T> T readObject(ModelStep last, ObjectReader<T> reader) {
    return read(last.step(), last.response(), objectMode(last.target()), reader).object();
  }

  /**
   * Reads the object that a final answer must be, as a child of this operation, which must have
   * been opened for one.
   *
   * @param step the step that gave the answer, perhaps in an earlier operation
   * @param target who answered
   * @param answer the answer
   * @return its JSON, which matches the schema
   * @throws dev.warpwright.model.InvalidOutputException if the answer is not the object
   * @throws DeadlineExceededException if the deadline passed meanwhile
   * @throws OperationCancelledException if the operation was cancelled meanwhile
   */
  public Json readObject(int step, Target target, ModelResponse answer) {
    return read(step, answer, objectMode(target), object.orElseThrow().reader()).json();
  }

  private <T> ObjectReader.Found<T> read(
      int step, ModelResponse answer, ObjectMode mode, ObjectReader<T> reader) {
    OperationTrace trace = trace();
    return foreign("reading", step, () -> reader.read(answer, mode, trace));
  }

  /**
   * In which mode a target is asked for an object.
   *
   * @param target a target of the request
   * @return NATIVE or PROMPTED; of a target that cannot be asked now, PROMPTED, which is the more
   *     tolerant to read
   */
  public ObjectMode objectMode(Target target) {
    ObjectForm form = object.orElseThrow().form();
    return plan.candidates().stream()
        .filter(candidate -> candidate.target().equals(target))
        .findFirst()
        .map(candidate -> form.modeFor(candidate.capabilities()))
        .orElse(ObjectMode.PROMPTED);
  }

  /** Runs code of the program. */
  private <T> T foreign(String kind, int step, Supplier<T> code) {
    return found(
        kind, step, scope.call(kind, kind + " of step " + step, scope.deadline(), code::get));
  }

  private <T> T found(String kind, int step, Outcome<T> outcome) {
    return switch (outcome) {
      case Outcome.Success<T>(T found) -> found;
      case Outcome.Failure<T>(Error error) -> throw error;
      case Outcome.Failure<T>(RuntimeException refused) -> throw refused;
      default ->
          throw end(step)
              .orElseThrow(
                  () -> new IllegalStateException("The " + kind + " ended without a reason."));
    };
  }

  /**
   * A runner for the tools that a step asked for; they become children of this operation.
   *
   * @param step the step
   * @param caller on whose behalf they run
   * @param journal what is told before and after each run
   * @return a runner for the calling thread
   */
  public ToolRunner tools(ModelStep step, ToolCaller caller, ToolJournal journal) {
    return tools(step.parallelToolCalls(), caller, journal);
  }

  /**
   * A runner for tools that are left from an earlier operation.
   *
   * @param parallel whether they may run at the same time, unless the request says otherwise
   * @param caller on whose behalf they run
   * @param journal what is told before and after each run
   * @return a runner for the calling thread
   */
  public ToolRunner tools(boolean parallel, ToolCaller caller, ToolJournal journal) {
    return new ToolRunner(
        scope, settings.time(), request.toolExecution(), parallel, caller, journal, runningKeys);
  }

  /**
   * The end that the operation has come to, if it was cancelled, its owner was interrupted, or its
   * deadline has passed; to be asked after tools were cut off.
   *
   * @param step the step in which it happened
   * @return the exception to throw, empty if the operation may go on
   */
  public Optional<WarpwrightException> end(int step) {
    if (scope.isCancelled()) {
      return Optional.of(cancelled(scope.cancelReason().orElse("cancelled")));
    }
    if (Thread.currentThread().isInterrupted()) {
      return Optional.of(cancelled("interrupted"));
    }
    return scope.deadline().hasPassed() ? Optional.of(deadlineExceeded(step)) : Optional.empty();
  }

  private WarpwrightException noEligibleTarget() {
    List<Attempt> skips = attempts.all().stream().filter(attempt -> !attempt.dispatched()).toList();
    StringBuilder message = new StringBuilder(skips.getLast().message());
    message.append(" No target may be called:");
    for (Attempt skip : skips) {
      message.append(' ').append(skip.target()).append(": ").append(skip.message());
    }
    object
        .map(asked -> asked.form().whyNotNative())
        .filter(why -> !why.isEmpty())
        .ifPresent(why -> message.append(" Native output is out of the question: ").append(why));
    return plan.earliestReturn()
        .<WarpwrightException>map(
            returns -> new CircuitOpenException(message.toString(), returns, null, trace()))
        .orElseGet(() -> new NoEligibleTargetException(message.toString(), null, trace()));
  }

  private DeadlineExceededException deadlineExceeded(int step) {
    return new DeadlineExceededException(
        "The operation ran into its deadline in step %d after %d attempts; its own timeout is %s."
            .formatted(step, dispatches, timeout),
        null,
        trace());
  }

  private OperationCancelledException cancelled(String reason) {
    String message = whyCancelled("The operation was cancelled: ", reason);
    return new OperationCancelledException(message, null, trace());
  }

  private String whyCancelled(String words, String reason) {
    return history.hasTools() ? HistoryFailures.CANCELLED : words + Redaction.redact(reason);
  }

  /** Cancels what still runs, waits for it at most the grace, leaves the task tree. Idempotent. */
  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    if (cancellation != null) {
      cancellation.close();
    }
    if (leaving != null) {
      leaving.close();
    }
    try {
      scope.close();
    } finally {
      onClose.run();
    }
  }
}
