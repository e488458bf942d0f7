package dev.warpwright.run;

import dev.warpwright.model.FailureKind;
import dev.warpwright.model.Json;
import dev.warpwright.tool.EffectClass;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * What happened in a flow, beside what happens in every run. Each event belongs to one call that
 * the flow's body made of its context; the call's position tells which.
 *
 * <p>A position is the path of branches and the ordinal in the last of them: {@code 3} is the third
 * call of the body and, if that is a parallel, {@code 3/0/2} the second call of its first branch.
 */
public sealed interface FlowEvent extends RunEvent {
  /**
   * Which call.
   *
   * @return the position
   */
  String position();

  /**
   * The intent to run a step that may have an effect, written before it.
   *
   * @param position which call
   * @param name the step
   * @param effect its effect class
   * @param key the idempotency key that it is given
   * @param attempt 1 for the first run, then counting
   */
  record FlowStepStarted(String position, String name, EffectClass effect, String key, int attempt)
      implements FlowEvent {}

  /**
   * A step is over: it has its value, or failed for good, or was cancelled.
   *
   * @param position which call
   * @param name the step
   * @param attempt which run of it this was
   * @param value its value, if it succeeded
   * @param error why it failed; neither value nor error if it was cancelled
   * @param duration how long that run took
   */
  record FlowStepFinished(
      String position,
      String name,
      int attempt,
      Optional<Json> value,
      Optional<StepError> error,
      Duration duration)
      implements FlowEvent {
    /** Shows how it ended, not the value. */
    @Override
    public String toString() {
      return "FlowStepFinished[%s, %s, attempt %d, %s]"
          .formatted(
              position,
              name,
              attempt,
              value.isPresent() ? "succeeded" : error.isPresent() ? "failed" : "cancelled");
    }
  }

  /**
   * How a step failed.
   *
   * @param kind the kind of failure; INTERNAL for an exception of the program
   * @param type the class of the exception
   * @param message its message, redacted
   */
  record StepError(FailureKind kind, String type, String message) {
    /** Shows the kind and the class; the message may be private. */
    @Override
    public String toString() {
      return "StepError[" + kind + ", " + type + "]";
    }
  }

  /**
   * A run of a step failed and there will be another one.
   *
   * @param position which call
   * @param name the step
   * @param attempt the run that failed
   * @param error why
   * @param dueAt when the next one begins
   */
  record StepRetryScheduled(
      String position, String name, int attempt, StepError error, Instant dueAt)
      implements FlowEvent {}

  /**
   * A timer was set.
   *
   * @param position which call
   * @param name the timer
   * @param dueAt when it fires
   */
  record TimerScheduled(String position, String name, Instant dueAt) implements FlowEvent {}

  /**
   * A timer has fired.
   *
   * @param position which call
   */
  record TimerFired(String position) implements FlowEvent {}

  /**
   * The flow waits for a signal.
   *
   * @param position which call
   * @param name the name of the signal
   * @param dueAt until when; for ever, if empty
   */
  record SignalAwaited(String position, String name, Optional<Instant> dueAt)
      implements FlowEvent {}

  /**
   * A signal was consumed; it is marked so in the same act.
   *
   * @param position which call
   * @param signalId the signal
   * @param value what it brought
   */
  record SignalReceived(String position, String signalId, Json value) implements FlowEvent {
    /** Shows which, not what. */
    @Override
    public String toString() {
      return "SignalReceived[" + position + ", " + signalId + "]";
    }
  }

  /**
   * No signal came in time.
   *
   * @param position which call
   */
  record SignalTimedOut(String position) implements FlowEvent {}

  /**
   * Branches begin.
   *
   * @param position which call
   * @param name what it is called
   * @param branches how many
   */
  record ParallelStarted(String position, String name, int branches) implements FlowEvent {}

  /**
   * All branches have ended.
   *
   * @param position which call
   * @param ends how each of them ended, in order
   * @param failed the branch whose failure counts, if one does
   */
  record ParallelFinished(String position, List<BranchEnd> ends, Optional<Integer> failed)
      implements FlowEvent {
    /** How a branch ended. */
    public enum BranchEnd {
      /** It returned. */
      COMPLETED,
      /** It threw. */
      FAILED,
      /** It was stopped, since another one failed. */
      CANCELLED
    }

    /** Copies the list. */
    public ParallelFinished {
      ends = List.copyOf(ends);
    }
  }

  /**
   * The flow chose a version of its code.
   *
   * @param position which call
   * @param changeId the change
   * @param version the version
   */
  record VersionMarked(String position, String changeId, int version) implements FlowEvent {}

  /**
   * Something that differs from run to run was read for the first time.
   *
   * @param position which call
   * @param source what was read
   * @param value what it gave
   */
  record Observed(String position, Source source, Json value) implements FlowEvent {
    /** What a flow reads from outside. */
    public enum Source {
      /** The clock. */
      TIME,
      /** A random number. */
      RANDOM,
      /** A fresh id. */
      ID
    }
  }
}
