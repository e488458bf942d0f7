package dev.warpwright.flow;

import dev.warpwright.model.FailureKind;
import dev.warpwright.model.RunFailedException;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunSnapshot;
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

  /** How a run stands that was not driven. */
  static <O> FlowResult<O> asItStands(Flow<?, O> flow, RunSnapshot found) {
    return of(flow, found.state(), found.events(), false);
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
   * The run in which this one goes on, see {@link FlowContext#continueAs}.
   *
   * @return its key, if this run has completed so and returned nothing
   */
  public Optional<RunKey> continuedAs() {
    return state.continuedAs().map(runId -> new RunKey(run().scope(), runId));
  }

  /**
   * What the flow returned.
   *
   * @return the value
   * @throws RunFailedException if the flow failed, was cancelled, timed out, went on in another
   *     run, or has not ended
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
                .orElseGet(this::withoutValue));
  }

  private RunFailedException withoutValue() {
    FailureKind kind =
        switch (status()) {
          case CANCELLED -> FailureKind.CANCELLED;
          case TIMED_OUT -> FailureKind.DEADLINE;
          default -> FailureKind.UNFINISHED;
        };
    String message =
        continuedAs()
            .map(next -> "Run %s goes on in run %s.".formatted(run(), next))
            .orElseGet(() -> "Run %s is %s.".formatted(run(), status()));
    return new RunFailedException(kind, message, run().runId(), !state.isTerminal());
  }

  /** Shows run and status. */
  @Override
  public String toString() {
    return "FlowResult[" + run() + ", " + status() + "]";
  }
}
