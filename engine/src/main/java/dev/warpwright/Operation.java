package dev.warpwright;

import dev.warpwright.Gateway.Settings;
import dev.warpwright.control.RetryPolicy;
import dev.warpwright.model.Attempt;
import dev.warpwright.model.Attempt.ReasonCode;
import dev.warpwright.model.AttemptsExhaustedException;
import dev.warpwright.model.Capability;
import dev.warpwright.model.ConflictException;
import dev.warpwright.model.DeadlineExceededException;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidOutputException;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.NoEligibleTargetException;
import dev.warpwright.model.OperationCancelledException;
import dev.warpwright.model.OperationTrace;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.Redaction;
import dev.warpwright.model.UnknownOutcomeException;
import dev.warpwright.model.WarpwrightException;
import dev.warpwright.route.RoutePlan;
import dev.warpwright.route.RoutePlan.Candidate;
import dev.warpwright.route.RoutePlanner;
import dev.warpwright.task.Cancellation;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.Outcome;
import dev.warpwright.task.TaskScope;
import dev.warpwright.task.TaskTree;
import dev.warpwright.tool.RunningKeys;
import dev.warpwright.tool.ToolCaller;
import dev.warpwright.tool.ToolJournal;
import dev.warpwright.tool.ToolRunner;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
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
  private final String id;
  private final GenerateRequest request;
  private final Settings settings;
  private final RunningKeys runningKeys;
  private final Observers.OfOperation observers;
  private final Runnable onClose;
  private final Cancellation.@Nullable Registration cancellation;
  private final Duration timeout;
  private final TaskScope scope;
  private final RoutePlan plan;
  private final List<Attempt> attempts;
  private int reported; // so many attempts stand in the results of steps
  private int dispatches;
  private @Nullable Candidate winner;
  private boolean closed;

  Operation(
      String name,
      GenerateRequest request,
      RoutePlan plan,
      Settings settings,
      TaskTree tree,
      RunningKeys runningKeys,
      Observers observers,
      Runnable onClose) {
    // Idempotency keys are made from the id, so a counter of this process would not do.
    this.id = name + "-" + HexFormat.of().toHexDigits(settings.time().random().nextLong());
    this.request = request;
    this.settings = settings;
    this.runningKeys = runningKeys;
    this.observers = observers.of(id, request.cancellation());
    this.onClose = onClose;
    this.timeout = settings.timeout(request);
    Deadline deadline = Deadline.after(settings.time(), timeout);
    this.plan = plan;
    this.attempts = new ArrayList<>();
    this.scope = tree.open("operation", id, deadline);
    this.cancellation = request.cancellation().map(by -> by.onCancel(scope::cancel)).orElse(null);
    plan.skips().forEach(this::add);
  }

  /**
   * The operation's id, also the first part of the names of its tasks.
   *
   * @return the id: the operation's name and 64 random bits
   */
  public String id() {
    return id;
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
    return new OperationTrace(id, attempts, Optional.of(plan.decision()), Optional.empty());
  }

  /**
   * Routes one model call: tries the candidates, the last winner first, until one answers.
   *
   * @param step the step's number, for attempts and names
   * @param messages the conversation
   * @return the answer
   * @throws NoEligibleTargetException if no target passed the checks
   * @throws AttemptsExhaustedException if every target failed, or the limit of attempts is reached
   * @throws DeadlineExceededException if the deadline passed, or a wait does not fit into it
   * @throws OperationCancelledException if the calling thread was interrupted or a scope around it
   *     was cancelled
   */
  public ModelStep step(int step, List<Message> messages) {
    List<Candidate> candidates = candidates(step, messages);
    if (candidates.isEmpty()) {
      throw noEligibleTarget();
    }
    StepFailures failures = new StepFailures(step);
    try {
      for (Candidate candidate : candidates) {
        Optional<ModelResponse> response = tryTarget(step, candidate, messages, failures);
        if (response.isPresent()) {
          return won(step, candidate, response.get());
        }
      }
      throw end(step).orElseGet(() -> failures.exhausted(trace(), candidates.size()));
    } catch (WarpwrightException end) {
      failures.suppressIn(end);
      throw end;
    }
  }

  /** The candidates that can do what the step needs, the winner of the step before first. */
  private List<Candidate> candidates(int step, List<Message> messages) {
    boolean showsImages = messages.stream().anyMatch(message -> !message.images().isEmpty());
    if (winner == null && !showsImages) {
      return plan.candidates();
    }
    List<Candidate> order = new ArrayList<>(plan.candidates());
    if (winner != null) {
      order.remove(winner);
      order.addFirst(winner);
    }
    if (showsImages) {
      order.removeIf(candidate -> lacksVision(step, candidate));
    }
    return order;
  }

  private boolean lacksVision(int step, Candidate candidate) {
    boolean lacks = !candidate.capabilities().has(Capability.VISION);
    if (lacks) {
      add(RoutePlanner.missing(step, candidate.target(), candidate.rank(), Capability.VISION));
    }
    return lacks;
  }

  /** Calls one target until it answers or is given up; empty if it is given up. */
  private Optional<ModelResponse> tryTarget(
      int step, Candidate candidate, List<Message> messages, StepFailures failures) {
    for (int retry = 0; ; retry++) {
      AttemptEnd end = attempt(step, candidate, retry, messages);
      switch (end) {
        case AttemptEnd.Answered(ModelResponse response) -> {
          return Optional.of(response);
        }
        case AttemptEnd.Failed(ProviderException failure) -> {
          failures.add(failure);
          if (!waitForRetry(failure, retry, failures)) {
            return Optional.empty();
          }
        }
      }
    }
  }

  /** How an attempt ended, unless it ended the operation. */
  private sealed interface AttemptEnd {
    record Answered(ModelResponse response) implements AttemptEnd {}

    record Failed(ProviderException failure) implements AttemptEnd {}
  }

  private AttemptEnd attempt(int step, Candidate candidate, int retry, List<Message> messages) {
    requireNotOver(step);
    requireAttemptsLeft(step);
    dispatches++;
    Dispatch dispatch = new Dispatch(step, candidate, retry, settings.time().nanoTime());
    String provider = candidate.target().provider();
    Deadline deadline =
        Deadline.after(settings.time(), settings.attemptTimeout(candidate.target()))
            .earlier(scope.deadline());
    ModelCall call =
        new ModelCall(
            PrivateState.visibleTo(provider, messages),
            request.tools().specs(),
            request.toolChoice(),
            request.temperature(),
            request.maxTokens(),
            request.reasoning(),
            request.providerOptions().getOrDefault(provider, Json.EMPTY_OBJECT),
            deadline);
    Outcome<ModelResponse> outcome =
        scope.call(
            "attempt",
            "attempt " + dispatches + " " + candidate.target(),
            deadline,
            () -> Answers.ask(provider, candidate.model(), call));
    return switch (outcome) {
      case Outcome.Success<ModelResponse>(ModelResponse response) -> {
        record(dispatch, ReasonCode.PROVIDER_SUCCESS, "", null, response);
        yield new AttemptEnd.Answered(response);
      }
      case Outcome.Failure<ModelResponse>(Throwable cause) -> failed(dispatch, cause);
      case Outcome.TimedOut<ModelResponse> timedOut -> timedOut(dispatch);
      case Outcome.Cancelled<ModelResponse>(String reason, boolean abandoned) -> {
        String why = "Cancelled: " + Redaction.redact(reason);
        record(dispatch, ReasonCode.REQUEST_ABORTED, why, null, null);
        throw cancelled(reason);
      }
    };
  }

  /** What is known of a dispatch while it is under way. */
  private record Dispatch(int step, Candidate candidate, int retry, long startNanos) {}

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

  private AttemptEnd failed(Dispatch dispatch, Throwable cause) {
    ProviderException failure =
        switch (cause) {
          case ProviderException provider -> provider;
          case Error error -> unknownFailure(new RuntimeException(error.getClass().getName()));
          default -> unknownFailure(cause);
        };
    ProviderException located = failure.at(dispatch.candidate().target());
    record(
        dispatch, ReasonCode.PROVIDER_ERROR, String.valueOf(located.getMessage()), located, null);
    if (cause instanceof Error error) {
      throw error;
    }
    if (cause instanceof WarpwrightException own && endsOperation(own)) {
      throw own;
    }
    return new AttemptEnd.Failed(located);
  }

  private static ProviderException unknownFailure(Throwable cause) {
    String message = cause.getMessage();
    return ProviderException.builder(
            ProviderException.Kind.OTHER,
            message == null || message.isBlank() ? "Unknown provider failure." : message)
        .cause(cause)
        .build();
  }

  /** Whether an adapter says by this that no other call would do better, or may be made. */
  private static boolean endsOperation(WarpwrightException failure) {
    return switch (failure) {
      case InvalidRequestException e -> true;
      case InvalidOutputException e -> true;
      case ConflictException e -> true;
      case OperationCancelledException e -> true;
      case UnknownOutcomeException e -> true;
      default -> false;
    };
  }

  private AttemptEnd timedOut(Dispatch dispatch) {
    if (scope.deadline().hasPassed()) {
      record(
          dispatch,
          ReasonCode.DEADLINE_EXCEEDED,
          "The operation's deadline cut the attempt off.",
          null,
          null);
      throw deadlineExceeded(dispatch.step());
    }
    Duration limit = settings.attemptTimeout(dispatch.candidate().target());
    return failed(
        dispatch,
        ProviderException.builder(
                ProviderException.Kind.TIMEOUT,
                "The attempt timed out after " + limit + " (attemptTimeout).")
            .build());
  }

  private void record(
      Dispatch dispatch,
      ReasonCode code,
      String message,
      @Nullable ProviderException failure,
      @Nullable ModelResponse response) {
    add(
        new Attempt(
            dispatch.step(),
            dispatch.candidate().target(),
            code,
            dispatch.retry(),
            dispatch.candidate().rank(),
            Duration.ofNanos(settings.time().nanoTime() - dispatch.startNanos()),
            message,
            Optional.ofNullable(failure).map(ProviderException::kind),
            failure == null ? 0 : failure.status(),
            failure != null
                ? failure.requestId()
                : Optional.ofNullable(response).flatMap(ModelResponse::requestId),
            Optional.ofNullable(response).map(ModelResponse::usage)));
  }

  private void add(Attempt attempt) {
    attempts.add(attempt);
    observers.attempt(scope, attempt);
  }

  /** Waits for the next retry on the same target; false if there is none. */
  private boolean waitForRetry(ProviderException failure, int retry, StepFailures failures) {
    RetryPolicy.Decision decision =
        settings.retry().decide(failure, retry, settings.time().random());
    if (decision instanceof RetryPolicy.Decision.Stop) {
      throw failures.hostedTool(failure, trace());
    }
    if (!(decision instanceof RetryPolicy.Decision.Retry(Duration delay))) {
      return false;
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

  private ModelStep won(int step, Candidate candidate, ModelResponse response) {
    boolean rebound = winner == null || winner.rank() != candidate.rank();
    winner = candidate;
    if (rebound) {
      observers.route(
          new RouteSelection(
              id, step, candidate.target(), candidate.rank(), plan.decision(), attempts));
    }
    List<Attempt> ofThisStep = attempts.subList(reported, attempts.size());
    reported = attempts.size();
    return new ModelStep(
        step,
        candidate.target(),
        rebound,
        plan.decision(),
        response,
        ofThisStep,
        candidate.capabilities().has(Capability.PARALLEL_TOOL_CALLS));
  }

  /**
   * Judges the calls of a step by rules of the program, as a child of this operation: a rule that
   * takes its time does not keep the caller beyond the deadline.
   *
   * @param <T> what is found
   * @param step the step
   * @param rules asks the tools whether they may be used and what needs an approval
   * @return what was found
   * @throws DeadlineExceededException if the deadline passed meanwhile
   * @throws OperationCancelledException if the operation was cancelled meanwhile
   */
  public <T> T judge(int step, Supplier<T> rules) {
    Outcome<T> outcome =
        scope.call("preflight", "preflight of step " + step, scope.deadline(), rules::get);
    return switch (outcome) {
      case Outcome.Success<T>(T found) -> found;
      case Outcome.Failure<T>(Error error) -> throw error;
      case Outcome.Failure<T>(RuntimeException refused) -> throw refused;
      default ->
          throw end(step)
              .orElseThrow(
                  () -> new IllegalStateException("The preflight ended without a reason."));
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

  private NoEligibleTargetException noEligibleTarget() {
    List<Attempt> skips = attempts.stream().filter(attempt -> !attempt.dispatched()).toList();
    StringBuilder message = new StringBuilder(skips.getLast().message());
    message.append(" No target may be called:");
    for (Attempt skip : skips) {
      message.append(' ').append(skip.target()).append(": ").append(skip.message());
    }
    return new NoEligibleTargetException(message.toString(), null, trace());
  }

  private DeadlineExceededException deadlineExceeded(int step) {
    return new DeadlineExceededException(
        "The operation ran into its deadline in step %d after %d attempts; its own timeout is %s."
            .formatted(step, dispatches, timeout),
        null,
        trace());
  }

  private OperationCancelledException cancelled(String reason) {
    return new OperationCancelledException(
        "The operation was cancelled: " + Redaction.redact(reason), null, trace());
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
    try {
      scope.close();
    } finally {
      onClose.run();
    }
  }
}
