package dev.warpwright.flow;

import dev.warpwright.effect.Effects;
import dev.warpwright.model.ConflictException;
import dev.warpwright.model.DeadlineExceededException;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.model.LimitExceededException;
import dev.warpwright.model.OperationTrace;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.Redaction;
import dev.warpwright.model.StepFailedException;
import dev.warpwright.model.WarpwrightException;
import dev.warpwright.run.FlowCall.Step;
import dev.warpwright.run.FlowEvent.FlowStepFinished;
import dev.warpwright.run.FlowEvent.FlowStepStarted;
import dev.warpwright.run.FlowEvent.StepError;
import dev.warpwright.run.FlowEvent.StepRetryScheduled;
import dev.warpwright.run.RunEvent.RunSuspended.Reason;
import dev.warpwright.run.RunEvent.ToolReconciled;
import dev.warpwright.run.RunEvent.ToolReconciled.Verdict;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.Outcome;
import dev.warpwright.task.TaskScope;
import dev.warpwright.tool.EffectClass;
import dev.warpwright.tool.OutcomeUnknownException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One call of a step: gives the recorded result or, if there is none, runs the step until there is
 * one. Confined to the thread of its context.
 */
final class StepCall {
  private static final int MAX_MESSAGE = 1024;

  private final FlowDrive drive;
  private final FlowContext context;
  private final String position;
  private final String name;
  private final StepOptions options;
  private final StepFunction<Json> function;
  private final Function<@Nullable Object, Json> writer; // of values that a reconciler finds
  private static final int MAX_EARLIER = 32;

  private final Deque<StepFailedException> earlier = new ArrayDeque<>(); // the latest ones
  private boolean unknownBefore; // the outcome of the run before this one

  StepCall(
      FlowDrive drive,
      FlowContext context,
      String position,
      String name,
      StepOptions options,
      StepFunction<Json> function,
      Function<@Nullable Object, Json> writer) {
    this.drive = drive;
    this.context = context;
    this.position = position;
    this.name = name;
    this.options = options;
    this.function = function;
    this.writer = writer;
  }

  /** Under which it acts; a replayed step needs none, and a replay makes many of them. */
  private String key() {
    return drive.key(position);
  }

  Json result(Optional<Step> recorded) {
    recorded.stream()
        .flatMap(step -> step.failures().stream())
        .forEach(failure -> remember(exception(failure.error(), null)));
    if (recorded.isPresent() && recorded.get().isOver()) {
      return recordedResult(recorded.get());
    }
    Step step = recorded.orElse(null);
    while (true) {
      if (step != null && step.needsVerdict()) {
        Optional<Json> found = ask();
        if (found.isPresent()) {
          return found.get();
        }
        step = current();
      }
      context.requireNotCancelled();
      if (step != null) {
        awaitRetry(step);
      }
      Optional<Json> value = run(step == null ? 1 : step.nextAttempt());
      if (value.isPresent()) {
        return value.get();
      }
      step = current();
      if (step.isOver()) {
        return recordedResult(step);
      }
    }
  }

  private Step current() {
    return recordedStep().orElseThrow();
  }

  private Json recordedResult(Step step) {
    if (step.verdict().isPresent()) {
      ToolReconciled verdict = step.verdict().get();
      Json output = verdict.output().orElse(Json.of(null));
      if (verdict.verdict() == Verdict.SUCCEEDED) {
        return output;
      }
      String message = output.value() instanceof String text ? text : "it was found to have failed";
      throw thrown(exception(new StepError(FailureKind.TOOL_FAILED, "", message), null));
    }
    FlowStepFinished end = step.finished().orElseThrow();
    if (end.value().isPresent()) {
      return end.value().get();
    }
    if (end.error().isPresent()) {
      throw thrown(exception(end.error().get(), null));
    }
    throw drive.cutOff(); // it was stopped
  }

  /** Waits until the next run is due; the run is suspended if that is not soon. */
  private void awaitRetry(Step step) {
    if (!step.failures().isEmpty() && step.dueAt().isPresent()) {
      Instant due = step.dueAt().get();
      if (!drive.waitUntil(due, "retry of " + name)) {
        throw drive.suspend(Reason.TIMER, position, position);
      }
      context.requireNotCancelled();
    }
  }

  /** Runs the step once; empty if that did not bring its value. */
  private Optional<Json> run(int attempt) {
    if (options.effect() != EffectClass.PURE) {
      drive.append(new FlowStepStarted(position, name, options.effect(), key(), attempt));
      context.requireRecorded(position);
      if (current().started().filter(intent -> intent.attempt() == attempt).isEmpty()) {
        throw drive.runCancelled();
      }
    } else {
      drive.log.pureStepStarts(position, name, attempt);
    }
    long begun = drive.time.nanoTime();
    Deadline limit =
        options
            .timeout()
            .map(timeout -> Deadline.after(drive.time, timeout))
            .orElse(Deadline.never());
    Outcome<Json> outcome;
    try (TaskScope scope = drive.tasks.open("step", "step " + name)) {
      StepInfo info =
          new StepInfo(
              drive.runId(), name, position, attempt, key(), limit.earlier(scope.deadline()));
      outcome = scope.call("step", name, limit, () -> Effects.allowed(() -> function.run(info)));
    }
    Duration duration = Duration.ofNanos(drive.time.nanoTime() - begun);
    boolean again = unknownBefore;
    unknownBefore = false;
    return switch (outcome) {
      case Outcome.Success<Json>(Json value) -> Optional.of(succeeded(value, attempt, duration));
      case Outcome.Failure<Json>(OutcomeUnknownException open) ->
          unknown(attempt, duration, open, again);
      case Outcome.Failure<Json>(Error error) -> throw error;
      case Outcome.Failure<Json>(Throwable cause) -> failed(cause, attempt, duration);
      case Outcome.TimedOut<Json> late when limit.hasPassed() && !drive.isOver() ->
          timedOut(attempt, duration);
      case Outcome.TimedOut<Json> late -> throw stopped(attempt, duration);
      case Outcome.Cancelled<Json> stopped -> throw stopped(attempt, duration);
    };
  }

  private Json succeeded(Json value, int attempt, Duration duration) {
    long bytes = value.text().length();
    if (bytes > drive.flow.maxStepBytes()) {
      StepError error =
          new StepError(
              FailureKind.LIMIT,
              LimitExceededException.class.getName(),
              "Its value has %d characters as JSON; a step's may have %d (maxStepBytes)."
                  .formatted(bytes, drive.flow.maxStepBytes()));
      finish(attempt, Optional.empty(), Optional.of(error), duration);
      throw thrown(exception(error, null));
    }
    try {
      drive.log.append(finished(attempt, Optional.of(value), Optional.empty(), duration));
    } catch (LimitExceededException full) { // of the whole run; that it failed still fits, or not
      StepError error = error(full);
      finish(attempt, Optional.empty(), Optional.of(error), duration);
      throw thrown(exception(error, full));
    }
    return value;
  }

  private void finish(
      int attempt, Optional<Json> value, Optional<StepError> error, Duration duration) {
    drive.append(finished(attempt, value, error, duration));
  }

  private FlowStepFinished finished(
      int attempt, Optional<Json> value, Optional<StepError> error, Duration duration) {
    return new FlowStepFinished(position, name, attempt, value, error, duration);
  }

  private Optional<Json> failed(Throwable cause, int attempt, Duration duration) {
    boolean repeatable =
        options.effect() != EffectClass.ONCE || cause instanceof NotExecutedException;
    return failed(cause, attempt, duration, repeatable);
  }

  private Optional<Json> failed(
      Throwable cause, int attempt, Duration duration, boolean repeatable) {
    StepError error = error(cause);
    Instant now = drive.time.now();
    Optional<Step> before = recordedStep();
    int failures = before.map(step -> step.failures().size()).orElse(0); // not broken-off runs
    Optional<Instant> due =
        repeatable && !drive.isCancelled()
            ? options
                .retry()
                .next(
                    failures + 1,
                    error,
                    askedBy(cause),
                    now,
                    before.flatMap(Step::firstFailedAt).orElse(now),
                    drive.time.random())
            : Optional.empty();
    StepFailedException failure = exception(error, cause);
    if (due.isEmpty()) {
      finish(attempt, Optional.empty(), Optional.of(error), duration);
      throw thrown(failure);
    }
    drive.append(new StepRetryScheduled(position, name, attempt, error, due.get()));
    if (drive.isCancelled()) {
      if (!hasFailed(recordedStep(), attempt)) { // a cancel came before it
        finish(attempt, Optional.empty(), Optional.of(error), duration);
      }
      throw drive.cutOff();
    }
    remember(failure);
    return Optional.empty();
  }

  private static boolean hasFailed(Optional<Step> step, int attempt) {
    return step.stream()
        .flatMap(found -> found.failures().stream())
        .anyMatch(failure -> failure.attempt() == attempt);
  }

  private Optional<Step> recordedStep() {
    return drive.log.journal().at(position).map(Step.class::cast);
  }

  private Optional<Json> timedOut(int attempt, Duration duration) {
    String limit = String.valueOf(options.timeout().orElseThrow());
    DeadlineExceededException late =
        new DeadlineExceededException(
            "The step took longer than its timeout of " + limit + ".", null, OperationTrace.NONE);
    return options.effect() == EffectClass.ONCE
        ? askedOf(attempt, duration, late)
        : failed(late, attempt, duration);
  }

  /** Nobody knows what became of the run that has just ended. */
  private Optional<Json> unknown(
      int attempt, Duration duration, OutcomeUnknownException cause, boolean again) {
    return switch (options.effect()) {
      case PURE -> failed(cause, attempt, duration);
      case IDEMPOTENT -> {
        if (again) {
          yield askedOf(attempt, duration, cause);
        }
        unknownBefore = true;
        yield Optional.empty(); // again, with the same key
      }
      case ONCE -> askedOf(attempt, duration, cause);
    };
  }

  /** Asks what became of a run; if it is known not to have been one, the retries decide. */
  private Optional<Json> askedOf(int attempt, Duration duration, Exception cause) {
    Optional<Json> found = ask();
    return found.isPresent() ? found : failed(cause, attempt, duration, true);
  }

  /**
   * Asks what became of the latest run.
   *
   * @return the step's value, if it is known to have one; empty if the step is known not to have
   *     run
   * @throws StepFailedException if it is known to have failed
   * @throws Unwind if nobody knows: the run is suspended
   */
  private Optional<Json> ask() {
    StepFinding finding = options.reconciler().map(this::ask).orElseGet(StepFinding::unknown);
    String by = "reconciler of " + name;
    return switch (finding) {
      case StepFinding.Succeeded(var value) -> {
        Json output = written(value);
        reconciled(Verdict.SUCCEEDED, Optional.of(output), by);
        yield Optional.of(output);
      }
      case StepFinding.Failed(String message) -> {
        reconciled(Verdict.FAILED, Optional.of(Json.of(message)), by);
        throw thrown(exception(new StepError(FailureKind.TOOL_FAILED, "", message), null));
      }
      case StepFinding.NotExecuted none -> {
        reconciled(Verdict.NOT_EXECUTED, Optional.empty(), by);
        yield Optional.empty();
      }
      case StepFinding.Unknown nothing ->
          throw drive.suspend(Reason.RECONCILIATION, position, position);
    };
  }

  private StepFinding ask(StepReconciler reconciler) {
    try (TaskScope scope = drive.tasks.open("reconcile", "reconciler of step " + name)) {
      return switch (scope.call(
          "reconcile",
          name,
          Deadline.never(),
          () -> Effects.allowed(() -> reconciler.find(key())))) {
        case Outcome.Success<StepFinding>(StepFinding finding) -> finding;
        default -> StepFinding.unknown();
      };
    }
  }

  /** A reconciler of another step's type is a mistake in the program: nothing is written. */
  private Json written(@Nullable Object value) {
    try {
      return writer.apply(value);
    } catch (ClassCastException | NullPointerException | InvalidRequestException other) {
      throw drive.fail(
          new ConflictException(
              "The reconciler of step \"%s\" has found a value that the step cannot have: %s."
                  .formatted(name, value == null ? "none" : value.getClass().getName()),
              other,
              OperationTrace.NONE.ofRun(drive.runId())));
    }
  }

  private void reconciled(Verdict verdict, Optional<Json> output, String by) {
    drive.append(new ToolReconciled(position, key(), verdict, output, by));
  }

  /** The step was interrupted: for a sibling, for a cancel, or because the drive is over. */
  private RuntimeException stopped(int attempt, Duration duration) {
    if (!drive.isOver()) {
      if (options.effect() == EffectClass.ONCE) {
        throw drive.suspend(Reason.RECONCILIATION, position, position);
      }
      finish(attempt, Optional.empty(), Optional.empty(), duration);
    }
    throw drive.cutOff();
  }

  private StepError error(Throwable cause) {
    FailureKind kind =
        cause instanceof WarpwrightException known ? known.kind() : FailureKind.INTERNAL;
    String message = Redaction.redact(String.valueOf(cause.getMessage()));
    return new StepError(
        kind,
        cause.getClass().getName(),
        message.length() > MAX_MESSAGE ? message.substring(0, MAX_MESSAGE) : message);
  }

  private static Duration askedBy(Throwable cause) {
    for (Throwable each = cause; each != null; each = each.getCause()) {
      if (each instanceof ProviderException provider && provider.retryAfter().isPresent()) {
        return provider.retryAfter().get();
      }
    }
    return Duration.ZERO;
  }

  private StepFailedException exception(StepError error, @Nullable Throwable cause) {
    return new StepFailedException(
        error.kind(), name, position, error.type(), error.message(), cause);
  }

  private void remember(StepFailedException failure) {
    if (earlier.size() == MAX_EARLIER) {
      earlier.removeFirst();
    }
    earlier.addLast(failure);
  }

  /** The last failure, with those before it suppressed in it. */
  private StepFailedException thrown(StepFailedException last) {
    earlier.forEach(last::addSuppressed);
    return last;
  }
}
