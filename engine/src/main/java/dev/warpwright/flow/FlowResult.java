package dev.warpwright.flow;

import dev.warpwright.model.FailureKind;
import dev.warpwright.model.RunFailedException;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunState;
import dev.warpwright.run.RunStatus;
import java.util.List;
import java.util.Optional;

/**
 * How a flow's run was left: every outcome that is in the log, failures too. Immutable.
 *
 * @param state where the run stands
 * @param log all its events
 * @param driven whether this call drove the run, and did not find it as it is
 * @param output what the flow returned, if it completed
 * @param <O> its type
 */
public record FlowResult<O>(
    RunState state, List<LoggedEvent> log, boolean driven, Optional<O> output) {
  /** Copies the list. */
  public FlowResult {
    log = List.copyOf(log);
  }

  static <O> FlowResult<O> of(
      Flow<?, O> flow, RunState state, List<LoggedEvent> log, boolean driven) {
    return new FlowResult<>(state, log, driven, state.output().map(flow.output()::read));
  }

  /**
   * The run.
   *
   * @return its key
   */
  public RunKey run() {
    return state.run();
  }

  /**
   * Where the run stands.
   *
   * @return the status
   */
  public RunStatus status() {
    return state.status();
  }

  /**
   * What the flow returned.
   *
   * @return the value
   * @throws RunFailedException if the flow failed, was cancelled, or has not ended
   */
  public O orThrow() {
    return output.orElseThrow(
        () ->
            state
                .failure()
                .map(
                    failure ->
                        new RunFailedException(
                            failure.kind(), failure.message(), run().runId(), failure.resumable()))
                .orElseGet(
                    () ->
                        new RunFailedException(
                            status() == RunStatus.CANCELLED
                                ? FailureKind.CANCELLED
                                : FailureKind.UNFINISHED,
                            "Run %s is %s.".formatted(run(), status()),
                            run().runId(),
                            status() != RunStatus.CANCELLED)));
  }

  /** Shows run and status. */
  @Override
  public String toString() {
    return "FlowResult[" + run() + ", " + status() + "]";
  }
}
