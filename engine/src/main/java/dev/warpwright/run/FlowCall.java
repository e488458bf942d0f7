package dev.warpwright.run;

import dev.warpwright.model.Json;
import dev.warpwright.run.FlowEvent.FlowStepFinished;
import dev.warpwright.run.FlowEvent.FlowStepStarted;
import dev.warpwright.run.FlowEvent.Observed;
import dev.warpwright.run.FlowEvent.ParallelFinished;
import dev.warpwright.run.FlowEvent.SignalReceived;
import dev.warpwright.run.FlowEvent.StepRetryScheduled;
import dev.warpwright.run.RunEvent.ApprovalDecided;
import dev.warpwright.run.RunEvent.ApprovalRequested;
import dev.warpwright.tool.EffectClass;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Where one call of a flow stands, as its log has it. Immutable. */
public sealed interface FlowCall {
  /**
   * Which call.
   *
   * @return the position; see {@link FlowEvent}
   */
  String position();

  /**
   * What the program called it.
   *
   * @return the name
   */
  String name();

  /**
   * What kind of call it is, in a word, for messages.
   *
   * @return such as {@code step}
   */
  String kind();

  /**
   * Whether nothing is left to happen in it.
   *
   * @return true once its result is recorded
   */
  boolean isOver();

  /**
   * From when on something happens in it by itself.
   *
   * @return the time, empty if it is over or waits for somebody
   */
  Optional<Instant> dueAt();

  /**
   * A step.
   *
   * @param position which call
   * @param name the step
   * @param started the latest intent to run it
   * @param failures the runs that failed and after which another one is to come, in order
   * @param firstFailedAt when the first of them was recorded
   * @param finished how it ended, once it has
   * @param verdict what was found out about a run of unknown outcome that did take place
   * @param doubt what is known of the latest intent
   */
  record Step(
      String position,
      String name,
      Optional<FlowStepStarted> started,
      List<StepRetryScheduled> failures,
      Optional<Instant> firstFailedAt,
      Optional<FlowStepFinished> finished,
      Optional<RunEvent.ToolReconciled> verdict,
      Doubt doubt)
      implements FlowCall {
    /** What is known of the latest intent of a step that has no outcome. */
    public enum Doubt {
      /** Nothing beyond the log. */
      OPEN,
      /** The run was suspended over it. */
      SUSPENDED,
      /** It was not carried out. */
      NOT_EXECUTED
    }

    /** Copies the list. */
    public Step {
      failures = List.copyOf(failures);
    }

    static Step fresh(String position, String name) {
      return new Step(
          position,
          name,
          Optional.empty(),
          List.of(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Doubt.OPEN);
    }

    @Override
    public String kind() {
      return "step";
    }

    @Override
    public boolean isOver() {
      return finished.isPresent() || verdict.isPresent();
    }

    @Override
    public Optional<Instant> dueAt() {
      return isOver() || isInDoubt() || failures.isEmpty()
          ? Optional.empty()
          : Optional.of(failures.getLast().dueAt());
    }

    /**
     * Whether it was started and nobody knows what became of it.
     *
     * @return true if its latest intent has no outcome
     */
    public boolean isInDoubt() {
      return !isOver()
          && doubt != Doubt.NOT_EXECUTED
          && started.filter(intent -> intent.attempt() > failedAttempt()).isPresent();
    }

    /**
     * Whether it is in doubt and may not simply be run again.
     *
     * @return true for a ONCE step in doubt
     */
    public boolean needsVerdict() {
      return isInDoubt()
          && (doubt == Doubt.SUSPENDED || started.orElseThrow().effect() == EffectClass.ONCE);
    }

    private int failedAttempt() {
      return failures.isEmpty() ? 0 : failures.getLast().attempt();
    }

    /**
     * The number of the next run.
     *
     * @return 1 if it was never begun
     */
    public int nextAttempt() {
      return Math.max(failedAttempt(), started.map(FlowStepStarted::attempt).orElse(0)) + 1;
    }

    /** Whether it was stopped for the failure of a sibling. */
    boolean isCancelled() {
      return finished.filter(end -> end.value().isEmpty() && end.error().isEmpty()).isPresent();
    }

    /** Its end is forgotten; the runs that failed are not. */
    Step reopened(Instant now) {
      FlowStepFinished end = finished.orElseThrow();
      Step open =
          new Step(
              position,
              name,
              started,
              failures,
              firstFailedAt,
              Optional.empty(),
              verdict,
              Doubt.NOT_EXECUTED);
      return end.error()
          .map(
              error ->
                  open.failedWith(
                      new StepRetryScheduled(position, name, end.attempt(), error, now), now))
          .orElse(open);
    }

    Step startedBy(FlowStepStarted intent) {
      return new Step(
          position,
          name,
          Optional.of(intent),
          failures,
          firstFailedAt,
          finished,
          verdict,
          Doubt.OPEN);
    }

    Step failedWith(StepRetryScheduled failure, Instant time) {
      List<StepRetryScheduled> all = new ArrayList<>(failures);
      all.add(failure);
      return new Step(
          position,
          name,
          started,
          all,
          firstFailedAt.or(() -> Optional.of(time)),
          finished,
          verdict,
          Doubt.OPEN);
    }

    Step finishedBy(FlowStepFinished end) {
      return new Step(
          position, name, started, failures, firstFailedAt, Optional.of(end), verdict, Doubt.OPEN);
    }

    Step found(RunEvent.ToolReconciled found) {
      return new Step(
          position,
          name,
          started,
          failures,
          firstFailedAt,
          finished,
          Optional.of(found),
          Doubt.OPEN);
    }

    Step with(Doubt known) {
      return new Step(position, name, started, failures, firstFailedAt, finished, verdict, known);
    }
  }

  /**
   * A durable timer.
   *
   * @param position which call
   * @param name the timer
   * @param due when it fires
   * @param fired whether it has
   */
  record Timer(String position, String name, Instant due, boolean fired) implements FlowCall {
    @Override
    public String kind() {
      return "timer";
    }

    @Override
    public boolean isOver() {
      return fired;
    }

    @Override
    public Optional<Instant> dueAt() {
      return fired ? Optional.empty() : Optional.of(due);
    }
  }

  /**
   * A wait for a signal.
   *
   * @param position which call
   * @param name the signal's name
   * @param due until when
   * @param received the signal, once it came
   * @param timedOut whether none came in time
   */
  record Signal(
      String position,
      String name,
      Optional<Instant> due,
      Optional<SignalReceived> received,
      boolean timedOut)
      implements FlowCall {
    @Override
    public String kind() {
      return "signal";
    }

    @Override
    public boolean isOver() {
      return timedOut || received.isPresent();
    }

    @Override
    public Optional<Instant> dueAt() {
      return isOver() ? Optional.empty() : due;
    }
  }

  /**
   * An approval.
   *
   * @param request what was asked
   * @param decision the decision, once there is one
   */
  record Approval(ApprovalRequested request, Optional<ApprovalDecided> decision)
      implements FlowCall {
    @Override
    public String position() {
      return request.callId();
    }

    @Override
    public String name() {
      return request.tool();
    }

    @Override
    public String kind() {
      return "approval";
    }

    @Override
    public boolean isOver() {
      return decision.isPresent();
    }

    @Override
    public Optional<Instant> dueAt() {
      return isOver() ? Optional.empty() : request.expiresAt();
    }
  }

  /**
   * A child run.
   *
   * @param started that it began
   * @param finished how it ended, once it has
   * @param failedBefore how it had failed, if somebody resumed this run for that
   */
  record Child(
      RunEvent.ChildStarted started,
      Optional<RunEvent.ChildFinished> finished,
      Optional<RunEvent.ChildFinished> failedBefore)
      implements FlowCall {
    @Override
    public String position() {
      return started.callId();
    }

    @Override
    public String name() {
      return started.agentId();
    }

    @Override
    public String kind() {
      return "child run of";
    }

    @Override
    public boolean isOver() {
      return finished.isPresent();
    }

    @Override
    public Optional<Instant> dueAt() {
      return Optional.empty();
    }

    /**
     * Whether it was cancelled.
     *
     * @return true if it has ended so
     */
    public boolean wasCancelled() {
      return finished.filter(end -> end.status() == RunStatus.CANCELLED).isPresent();
    }
  }

  /**
   * Branches.
   *
   * @param position which call
   * @param name what it is called
   * @param branches how many
   * @param finished how they ended, once all have
   */
  record Parallel(String position, String name, int branches, Optional<ParallelFinished> finished)
      implements FlowCall {
    @Override
    public String kind() {
      return "parallel of " + branches;
    }

    @Override
    public boolean isOver() {
      return finished.isPresent();
    }

    @Override
    public Optional<Instant> dueAt() {
      return Optional.empty();
    }
  }

  /**
   * A choice of version.
   *
   * @param position which call
   * @param name the change
   * @param version the version
   */
  record Version(String position, String name, int version) implements FlowCall {
    @Override
    public String kind() {
      return "version";
    }

    @Override
    public boolean isOver() {
      return true;
    }

    @Override
    public Optional<Instant> dueAt() {
      return Optional.empty();
    }
  }

  /**
   * Something that was read.
   *
   * @param position which call
   * @param source what was read
   * @param value what it gave
   */
  record Observation(String position, Observed.Source source, Json value) implements FlowCall {
    @Override
    public String name() {
      return source.name().toLowerCase(Locale.ROOT);
    }

    @Override
    public String kind() {
      return "observation";
    }

    @Override
    public boolean isOver() {
      return true;
    }

    @Override
    public Optional<Instant> dueAt() {
      return Optional.empty();
    }
  }
}
