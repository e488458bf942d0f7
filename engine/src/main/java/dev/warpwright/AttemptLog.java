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
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The attempts of an operation, written as they end. Its thread only. */
final class AttemptLog {
  private final TimeSource time;
  private final TaskScope scope;
  private final Observers.OfOperation observers;
  private final List<Attempt> attempts = new ArrayList<>(1); // mostly one
  private int taken; // so many stand in the results of steps

  AttemptLog(TimeSource time, TaskScope scope, Observers.OfOperation observers) {
    this.time = time;
    this.scope = scope;
    this.observers = observers;
  }

  void add(Attempt attempt) {
    attempts.add(attempt);
    observers.attempt(scope, attempt);
  }

  void answered(Dispatch dispatch, CallEnd.Answered answer) {
    ModelResponse response = answer.response();
    add(
        entry(
            dispatch,
            ReasonCode.PROVIDER_SUCCESS,
            "",
            Optional.empty(),
            response.requestId(),
            Optional.of(response.usage()),
            answer.cost(),
            answer.cacheHit()));
  }

  void failed(Dispatch dispatch, ProviderException failure, Optional<CostValuation> cost) {
    add(
        entry(
            dispatch,
            ReasonCode.PROVIDER_ERROR,
            String.valueOf(failure.getMessage()),
            Optional.of(failure),
            failure.requestId(),
            Optional.empty(),
            cost,
            false));
  }

  /** An attempt that was cut off, or that a control did not let through. */
  void ended(Dispatch dispatch, ReasonCode code, String message, Optional<CostValuation> cost) {
    add(
        entry(
            dispatch,
            code,
            message,
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            cost,
            false));
  }

  private Attempt entry(
      Dispatch dispatch,
      ReasonCode code,
      String message,
      Optional<ProviderException> failure,
      Optional<String> requestId,
      Optional<Usage> usage,
      Optional<CostValuation> cost,
      boolean cacheHit) {
    return new Attempt(
        dispatch.step(),
        dispatch.target(),
        code,
        dispatch.retry(),
        dispatch.candidate().rank(),
        Duration.ofNanos(time.nanoTime() - dispatch.startNanos()),
        message,
        failure.map(ProviderException::kind),
        failure.map(ProviderException::status).orElse(0),
        requestId,
        usage,
        cost,
        cacheHit);
  }

  /** All attempts so far. */
  List<Attempt> all() {
    return attempts;
  }

  /** The attempts since the last step that was answered, each given once. */
  List<Attempt> takeThisStep() {
    List<Attempt> fresh = List.copyOf(attempts.subList(taken, attempts.size()));
    taken = attempts.size();
    return fresh;
  }
}
