package dev.warpwright.run;

import dev.warpwright.run.FlowCall.Step;
import dev.warpwright.run.FlowCall.Step.Doubt;
import dev.warpwright.run.FlowEvent.FlowStepFinished;
import dev.warpwright.run.FlowEvent.FlowStepStarted;
import dev.warpwright.run.FlowEvent.Observed;
import dev.warpwright.run.FlowEvent.ParallelFinished;
import dev.warpwright.run.FlowEvent.ParallelStarted;
import dev.warpwright.run.FlowEvent.SignalAwaited;
import dev.warpwright.run.FlowEvent.SignalReceived;
import dev.warpwright.run.FlowEvent.SignalTimedOut;
import dev.warpwright.run.FlowEvent.StepRetryScheduled;
import dev.warpwright.run.FlowEvent.TimerFired;
import dev.warpwright.run.FlowEvent.TimerScheduled;
import dev.warpwright.run.FlowEvent.VersionMarked;
import dev.warpwright.run.RunEvent.ApprovalDecided;
import dev.warpwright.run.RunEvent.ApprovalRequested;
import dev.warpwright.run.RunEvent.ToolReconciled;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The calls of a flow, by position: the part of a {@link RunState} that the flow's body is replayed
 * against. Folded by one thread at a time; {@link #at} may be asked by any thread.
 */
public final class FlowJournal {
  private final Map<String, FlowCall> calls;

  /** Those that are not over, so that what is asked after each event stays cheap in a long run. */
  private final Map<String, FlowCall> open;

  private final Map<String, String> approvals; // request id → position

  private final Map<String, Integer> versions; // by change

  FlowJournal() {
    this.calls = new ConcurrentHashMap<>();
    this.open = new ConcurrentHashMap<>();
    this.approvals = new ConcurrentHashMap<>();
    this.versions = new ConcurrentHashMap<>();
  }

  private FlowJournal(FlowJournal other) {
    this.calls = new ConcurrentHashMap<>(other.calls);
    this.open = new ConcurrentHashMap<>(other.open);
    this.approvals = new ConcurrentHashMap<>(other.approvals);
    this.versions = new ConcurrentHashMap<>(other.versions);
  }

  FlowJournal copy() {
    return new FlowJournal(this);
  }

  /**
   * What is recorded of a call.
   *
   * @param position which call
   * @return the call, empty if nothing of it is in the log
   */
  public Optional<FlowCall> at(String position) {
    return Optional.ofNullable(calls.get(position));
  }

  /**
   * All calls that are recorded.
   *
   * @return the calls, in the order of their positions
   */
  public List<FlowCall> calls() {
    return calls.values().stream()
        .sorted((one, other) -> Position.compare(one.position(), other.position()))
        .toList();
  }

  /**
   * The version that was chosen for a change, wherever in the run.
   *
   * @param changeId the change
   * @return the version, empty if none was recorded
   */
  public Optional<Integer> version(String changeId) {
    return Optional.ofNullable(versions.get(changeId));
  }

  /** The rule that an event breaks; empty if it can follow, and then it has been taken in. */
  Optional<String> apply(FlowEvent event, Instant time) {
    String position = event.position();
    if (!Position.isValid(position)) {
      return Optional.of("a position is a path of branches and an ordinal");
    }
    FlowCall before = calls.get(position);
    FlowCall after = next(before, event, time);
    if (after == null) {
      return Optional.of(
          before == null
              ? "a call of a flow is begun before it goes on"
              : "nothing of this kind can follow for the call " + position);
    }
    put(after);
    switch (event) {
      case ParallelFinished finished -> forgetStopped(finished);
      case VersionMarked mark -> versions.putIfAbsent(mark.changeId(), mark.version());
      default -> {}
    }
    return Optional.empty();
  }

  /**
   * Nothing of a branch that was stopped is waited for any more, but what became of its effects.
   */
  private void forgetStopped(ParallelFinished finished) {
    for (int i = 0; i < finished.ends().size(); i++) {
      if (finished.ends().get(i) == ParallelFinished.BranchEnd.CANCELLED) {
        String branch = finished.position() + "/" + i + "/";
        open.values()
            .removeIf(
                call ->
                    call.position().startsWith(branch)
                        && !(call instanceof Step step && step.needsVerdict()));
      }
    }
  }

  private static @Nullable FlowCall next(@Nullable FlowCall before, FlowEvent event, Instant time) {
    return switch (event) {
      case FlowStepStarted started -> step(before, started);
      case FlowStepFinished finished -> step(before, finished);
      case StepRetryScheduled failed -> step(before, failed, time);
      case TimerScheduled timer ->
          before == null
              ? new FlowCall.Timer(timer.position(), timer.name(), timer.dueAt(), false)
              : null;
      case TimerFired fired ->
          before instanceof FlowCall.Timer(String position, String name, Instant due, boolean over)
                  && !over
              ? new FlowCall.Timer(position, name, due, true)
              : null;
      case SignalAwaited awaited ->
          before == null
              ? new FlowCall.Signal(
                  awaited.position(), awaited.name(), awaited.dueAt(), Optional.empty(), false)
              : null;
      case SignalReceived received ->
          before instanceof FlowCall.Signal signal && !signal.isOver()
              ? new FlowCall.Signal(
                  signal.position(), signal.name(), signal.due(), Optional.of(received), false)
              : null;
      case SignalTimedOut late ->
          before instanceof FlowCall.Signal signal && !signal.isOver() && signal.due().isPresent()
              ? new FlowCall.Signal(
                  signal.position(), signal.name(), signal.due(), Optional.empty(), true)
              : null;
      case ParallelStarted parallel ->
          before == null
              ? new FlowCall.Parallel(
                  parallel.position(), parallel.name(), parallel.branches(), Optional.empty())
              : null;
      case ParallelFinished finished ->
          before instanceof FlowCall.Parallel parallel
                  && !parallel.isOver()
                  && finished.ends().size() == parallel.branches()
              ? new FlowCall.Parallel(
                  parallel.position(), parallel.name(), parallel.branches(), Optional.of(finished))
              : null;
      case VersionMarked mark ->
          before == null
              ? new FlowCall.Version(mark.position(), mark.changeId(), mark.version())
              : null;
      case Observed observed ->
          before == null
              ? new FlowCall.Observation(observed.position(), observed.source(), observed.value())
              : null;
    };
  }

  private static @Nullable FlowCall step(@Nullable FlowCall before, FlowStepStarted started) {
    Step step = stepOr(before, started.position(), started.name());
    return step == null
            || step.isOver()
            || step.needsVerdict()
            || started.attempt() != step.nextAttempt()
        ? null
        : step.startedBy(started);
  }

  private static @Nullable FlowCall step(@Nullable FlowCall before, FlowStepFinished finished) {
    Step step = stepOr(before, finished.position(), finished.name());
    return step == null || step.isOver() ? null : step.finishedBy(finished);
  }

  private static @Nullable FlowCall step(
      @Nullable FlowCall before, StepRetryScheduled failed, Instant time) {
    Step step = stepOr(before, failed.position(), failed.name());
    return step == null || step.isOver() ? null : step.failedWith(failed, time);
  }

  private static @Nullable Step stepOr(@Nullable FlowCall before, String position, String name) {
    return switch (before) {
      case null -> Step.fresh(position, name);
      case Step step when step.name().equals(name) -> step;
      default -> null;
    };
  }

  /** Whether the child could be taken in. */
  boolean childStarted(RunEvent.ChildStarted started) {
    if (!Position.isValid(started.callId()) || calls.containsKey(started.callId())) {
      return false;
    }
    put(new FlowCall.Child(started, Optional.empty(), Optional.empty()));
    return true;
  }

  /** Whether the end of the child could be taken in. */
  boolean childFinished(RunEvent.ChildFinished finished) {
    if (calls.get(finished.callId()) instanceof FlowCall.Child child
        && !child.isOver()
        && child.started().childRunId().equals(finished.childRunId())) {
      put(new FlowCall.Child(child.started(), Optional.of(finished), Optional.empty()));
      return true;
    }
    return false;
  }

  /** Whether the request could be taken in. */
  boolean asked(ApprovalRequested request) {
    if (!Position.isValid(request.callId()) || calls.containsKey(request.callId())) {
      return false;
    }
    put(new FlowCall.Approval(request, Optional.empty()));
    approvals.put(request.requestId(), request.callId());
    return true;
  }

  /** Whether the decision could be taken in. */
  boolean decided(ApprovalDecided decision) {
    String position = approvals.get(decision.requestId());
    if (position != null
        && calls.get(position) instanceof FlowCall.Approval approval
        && !approval.isOver()) {
      put(new FlowCall.Approval(approval.request(), Optional.of(decision)));
      return true;
    }
    return false;
  }

  /** Whether the verdict could be taken in. */
  boolean reconciled(ToolReconciled found) {
    if (calls.get(found.callId()) instanceof Step step
        && step.isInDoubt()
        && step.started().orElseThrow().key().equals(found.key())) {
      put(
          found.verdict() == ToolReconciled.Verdict.NOT_EXECUTED
              ? step.with(Doubt.NOT_EXECUTED)
              : step.found(found));
      return true;
    }
    return false;
  }

  /** Whether one of these calls is a step of unknown outcome. */
  boolean hasInDoubt(List<String> positions) {
    return positions.stream()
        .anyMatch(position -> open.get(position) instanceof Step step && step.isInDoubt());
  }

  /** The run was suspended over these calls in doubt. */
  void suspendedOver(List<String> positions) {
    for (String position : positions) {
      if (open.get(position) instanceof Step step && step.isInDoubt()) {
        put(step.with(Doubt.SUSPENDED));
      }
    }
  }

  /**
   * The failure of a step ended the run, which goes on now: the step is made again, and so are the
   * steps that were cancelled for it in the branches around it.
   */
  void reopen(String position, Instant now) {
    if (calls.get(position) instanceof Step step && step.finished().isPresent()) {
      put(step.reopened(now));
    } else if (calls.get(position) instanceof FlowCall.Child child) {
      put(new FlowCall.Child(child.started(), Optional.empty(), child.finished()));
    }
    for (int cut = position.lastIndexOf('/'); cut > 0; cut = position.lastIndexOf('/', cut - 1)) {
      String outer = position.substring(0, cut);
      if (calls.get(outer) instanceof FlowCall.Parallel parallel) {
        put(
            new FlowCall.Parallel(
                parallel.position(), parallel.name(), parallel.branches(), Optional.empty()));
        reopenBelow(outer + "/", now);
      }
    }
  }

  /**
   * What was stopped in the branches is waited for again, but not below a parallel that is over.
   */
  private void reopenBelow(String path, Instant now) {
    List<FlowCall> below =
        calls.values().stream().filter(call -> call.position().startsWith(path)).toList();
    for (FlowCall call : below) {
      put(call instanceof Step step && step.isCancelled() ? step.reopened(now) : call);
    }
    for (FlowCall call : below) {
      if (call instanceof FlowCall.Parallel parallel) {
        parallel.finished().ifPresent(this::forgetStopped);
      }
    }
  }

  private void put(FlowCall call) {
    calls.put(call.position(), call);
    if (call.isOver()) {
      open.remove(call.position());
    } else {
      open.put(call.position(), call);
    }
  }

  private Stream<FlowCall> open() {
    return open.values().stream()
        .sorted((one, other) -> Position.compare(one.position(), other.position()));
  }

  /** The approvals without a decision. */
  Stream<ApprovalRequested> pendingApprovals() {
    return open()
        .filter(FlowCall.Approval.class::isInstance)
        .map(FlowCall.Approval.class::cast)
        .map(FlowCall.Approval::request);
  }

  /**
   * The steps whose outcome nobody knows and that must not simply be run again.
   *
   * @return the steps, in order
   */
  public List<Step> needingVerdicts() {
    return open()
        .filter(Step.class::isInstance)
        .map(Step.class::cast)
        .filter(Step::needsVerdict)
        .toList();
  }

  /** Whether a child run is waited for. */
  boolean hasOpenChild() {
    return open.values().stream().anyMatch(FlowCall.Child.class::isInstance);
  }

  /** The names of the signals that are waited for. */
  Stream<String> awaitedSignals() {
    return open()
        .filter(FlowCall.Signal.class::isInstance)
        .map(call -> ((FlowCall.Signal) call).name());
  }

  /** The ids of the child runs whose end is waited for. */
  Stream<String> awaitedChildren() {
    return open()
        .filter(FlowCall.Child.class::isInstance)
        .map(call -> ((FlowCall.Child) call).started().childRunId());
  }

  /** When the first of the calls goes on by itself. */
  Optional<Instant> due() {
    return open.values().stream().flatMap(call -> call.dueAt().stream()).min(Instant::compareTo);
  }
}
