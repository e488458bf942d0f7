package dev.warpwright.flow;

import dev.warpwright.agent.OnTimeout;
import dev.warpwright.agent.RunPolicy;
import dev.warpwright.run.RunEvent;
import dev.warpwright.run.RunEvent.CancelRequested;
import dev.warpwright.run.RunEvent.RunStarted.Life;
import dev.warpwright.run.RunEvent.RunTimedOut;
import dev.warpwright.run.RunState;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.TimeSource;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** The limit of a run's whole life, as one drive meets it. */
final class FlowTimeout {
  private final Deadline deadline;
  private final Duration limit;
  private final boolean cancels;

  private FlowTimeout() {
    this.deadline = Deadline.never();
    this.limit = Duration.ZERO;
    this.cancels = false;
  }

  FlowTimeout(RunState state, TimeSource time) {
    Optional<Life> life = state.started().life();
    this.deadline =
        state
            .endsAt()
            .map(end -> Duration.between(time.now(), end))
            .map(left -> Deadline.after(time, left.isNegative() ? Duration.ZERO : left))
            .orElse(Deadline.never());
    this.limit = life.flatMap(Life::timeout).orElse(Duration.ZERO);
    this.cancels = life.filter(Life::cancels).isPresent();
  }

  /** That of a replay, for which no time passes. */
  static FlowTimeout none() {
    return new FlowTimeout();
  }

  /** What is recorded of a policy when a run starts. */
  static Optional<Life> recorded(RunPolicy policy) {
    boolean cancels = policy.onTimeout().filter(OnTimeout.CANCEL_REQUESTED::equals).isPresent();
    return policy.timeout().map(limit -> new Life(Optional.of(limit), cancels, Optional.empty()));
  }

  Deadline deadline() {
    return deadline;
  }

  boolean hasPassed() {
    return deadline.hasPassed();
  }

  /** What is written when it has passed. */
  RunEvent end() {
    return cancels
        ? new CancelRequested(
            Optional.of("The timeout of the run's policy, " + limit + ", has passed."))
        : new RunTimedOut(limit, 0, List.of());
  }
}
