package dev.warpwright;

import dev.warpwright.model.Attempt;
import dev.warpwright.model.Attempt.ReasonCode;
import dev.warpwright.model.CostValuation;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.Usage;
import dev.warpwright.task.TaskScope;
import dev.warpwright.task.TimeSource;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** The attempts of an operation, written as they end. Its thread only. */
final class AttemptLog {
  private final TimeSource time;
  private final TaskScope scope;
  private final Observers.OfOperation observers;
  private List<Attempt> attempts = List.of();
  private int taken; // so many stand in the results of steps

  AttemptLog(TimeSource time, TaskScope scope, Observers.OfOperation observers) {
    this.time = time;
    this.scope = scope;
    this.observers = observers;
  }

  void add(Attempt attempt) {
    attempts = Appended.to(attempts, attempt);
    observers.attempt(scope, attempt);
  }

  void answered(Dispatch dispatch, Delivery delivery, CallEnd.Answered answer) {
    ModelResponse response = answer.response();
    add(
        new Attempt(
            dispatch.step(),
            dispatch.target(),
            ReasonCode.PROVIDER_SUCCESS,
            dispatch.retry(),
            dispatch.candidate().rank(),
            Duration.ofNanos(time.nanoTime() - dispatch.startNanos()),
            timeToFirstText(dispatch, delivery),
            "",
            Optional.empty(),
            0,
            response.requestId(),
            Optional.of(response.usage()),
            answer.cost(),
            answer.cacheHit()));
  }

  void failed(
      Dispatch dispatch,
      Delivery delivery,
      ProviderException failure,
      Optional<CostValuation> cost) {
    String message = String.valueOf(failure.getMessage());
    add(
        unanswered(
            dispatch, delivery, ReasonCode.PROVIDER_ERROR, message, Optional.of(failure), cost));
  }

  /** An attempt that was cut off, or that a control did not let through. */
  void ended(
      Dispatch dispatch,
      Delivery delivery,
      ReasonCode code,
      String message,
      Optional<CostValuation> cost) {
    add(unanswered(dispatch, delivery, code, message, Optional.empty(), cost));
  }

  private Attempt unanswered(
      Dispatch dispatch,
      Delivery delivery,
      ReasonCode code,
      String message,
      Optional<ProviderException> failure,
      Optional<CostValuation> cost) {
    Usage partial = delivery.partialUsage();
    return new Attempt(
        dispatch.step(),
        dispatch.target(),
        code,
        dispatch.retry(),
        dispatch.candidate().rank(),
        Duration.ofNanos(time.nanoTime() - dispatch.startNanos()),
        timeToFirstText(dispatch, delivery),
        message,
        failure.map(ProviderException::kind),
        failure.map(ProviderException::status).orElse(0),
        failure.flatMap(ProviderException::requestId),
        partial.equals(Usage.ABSENT) ? Optional.empty() : Optional.of(partial),
        cost,
        false);
  }

  private static Optional<Duration> timeToFirstText(Dispatch dispatch, Delivery delivery) {
    OptionalLong first = delivery.firstTextNanoTime();
    return first.isPresent()
        ? Optional.of(Duration.ofNanos(first.getAsLong() - dispatch.startNanos()))
        : Optional.empty();
  }

  /** All attempts so far. */
  List<Attempt> all() {
    return attempts;
  }

  /** The attempts since the last step that was answered, each given once. */
  List<Attempt> takeThisStep() {
    List<Attempt> fresh = taken == 0 ? attempts : attempts.subList(taken, attempts.size());
    taken = attempts.size();
    return fresh;
  }
}
