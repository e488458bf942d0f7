package dev.warpwright.run;

import dev.warpwright.run.FlowEvent.FlowStepFinished;
import dev.warpwright.run.FlowEvent.FlowStepStarted;
import dev.warpwright.run.FlowEvent.Observed;
import dev.warpwright.run.FlowEvent.ParallelFinished;
import dev.warpwright.run.FlowEvent.ParallelFinished.BranchEnd;
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
import dev.warpwright.run.RunEvent.ChildFinished;
import dev.warpwright.run.RunEvent.ChildStarted;
import dev.warpwright.run.RunEvent.ToolReconciled;
import dev.warpwright.run.RunEvent.ToolReconciled.Verdict;
import dev.warpwright.run.Timeline.Entry;
import dev.warpwright.run.Timeline.Outcome;
import dev.warpwright.run.Timeline.Try;
import dev.warpwright.tool.EffectClass;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The calls of a flow for a {@link TimelineFold}, each with what is in it. */
final class FlowTimeline {
  private final Map<String, Open> calls = new HashMap<>(); // and branches, by their paths
  private final Map<String, Open> asked = new HashMap<>(); // approvals, by request

  /** A call, or a branch of one, that may still grow. */
  static final class Open implements TimelineFold.Supplied {
    private final String position;
    private final String kind;
    private final String name;
    private final Instant start;
    private final List<TimelineFold.Supplied> parts = new ArrayList<>();
    private @Nullable OpenTry latest; // of a step
    private @Nullable Instant end;
    private Outcome outcome = Outcome.UNDER_WAY;

    Open(String position, String kind, String name, Instant start) {
      this.position = position;
      this.kind = kind;
      this.name = name;
      this.start = start;
    }

    void ended(Outcome known, Instant time) {
      outcome = known;
      end = time;
    }

    @Override
    public Entry entry() {
      return new Timeline.FlowCall(
          position,
          kind,
          name,
          start,
          Optional.ofNullable(end),
          outcome,
          parts.stream().map(TimelineFold.Supplied::entry).toList());
    }
  }

  private static final class OpenTry implements TimelineFold.Supplied {
    final int attempt;
    final EffectClass effect;
    final Instant start;
    @Nullable Instant end;
    Outcome outcome = Outcome.UNKNOWN;
    Optional<Duration> took = Optional.empty();
    Optional<String> decidedBy = Optional.empty();

    OpenTry(int attempt, EffectClass effect, Instant start) {
      this.attempt = attempt;
      this.effect = effect;
      this.start = start;
    }

    void ended(Outcome known, Instant time) {
      outcome = known;
      end = time;
    }

    @Override
    public Entry entry() {
      return new Try(attempt, effect, start, Optional.ofNullable(end), outcome, took, decidedBy);
    }
  }

  /**
   * Takes an event in.
   *
   * @return what is new at the top, a call of the body; empty if the event goes on with a call, or
   *     belongs into a branch
   */
  Optional<Open> add(FlowEvent event, Instant time) {
    return switch (event) {
      case FlowStepStarted begin -> {
        Optional<Open> fresh = begun(begin.position(), "step", begin.name(), time);
        tried(call(begin.position()), new OpenTry(begin.attempt(), begin.effect(), time));
        yield fresh;
      }
      case StepRetryScheduled failed -> {
        Optional<Open> fresh = begun(failed.position(), "step", failed.name(), time);
        latest(failed.position(), failed.attempt(), time).ended(Outcome.FAILED, time);
        yield fresh;
      }
      case FlowStepFinished end -> {
        Instant began = time.minus(end.duration());
        Optional<Open> fresh = begun(end.position(), "step", end.name(), began);
        Outcome outcome =
            end.value().isPresent()
                ? Outcome.SUCCEEDED
                : end.error().isPresent() ? Outcome.FAILED : Outcome.UNKNOWN;
        OpenTry run = latest(end.position(), end.attempt(), began);
        run.ended(outcome, time);
        run.took = Optional.of(end.duration());
        call(end.position()).ended(outcome, time);
        yield fresh;
      }
      case TimerScheduled timer -> begun(timer.position(), "timer", timer.name(), time);
      case TimerFired fired -> ended(fired.position(), Outcome.SUCCEEDED, time);
      case SignalAwaited wait -> begun(wait.position(), "signal", wait.name(), time);
      case SignalReceived received -> ended(received.position(), Outcome.SUCCEEDED, time);
      case SignalTimedOut late -> ended(late.position(), Outcome.FAILED, time);
      case ParallelStarted begin -> {
        Optional<Open> fresh = begun(begin.position(), "parallel", begin.name(), time);
        for (int i = 0; i < begin.branches(); i++) {
          Open branch = new Open(begin.position() + "/" + i, "branch", "" + i, time);
          call(begin.position()).parts.add(branch);
          calls.put(branch.position, branch);
        }
        yield fresh;
      }
      case ParallelFinished finish -> {
        for (int i = 0; i < finish.ends().size(); i++) {
          call(finish.position() + "/" + i).ended(outcome(finish.ends().get(i)), time);
        }
        Outcome all = finish.failed().isPresent() ? Outcome.FAILED : Outcome.SUCCEEDED;
        yield ended(finish.position(), all, time);
      }
      case VersionMarked mark -> instant(mark.position(), "version", mark.changeId(), time);
      case Observed read -> {
        String name = read.source().name().toLowerCase(Locale.ROOT);
        yield instant(read.position(), "observation", name, time);
      }
    };
  }

  private static Outcome outcome(BranchEnd end) {
    return switch (end) {
      case COMPLETED -> Outcome.SUCCEEDED;
      case FAILED -> Outcome.FAILED;
      case CANCELLED -> Outcome.UNKNOWN;
    };
  }

  Optional<Open> add(ChildStarted begin, Instant time) {
    return begun(begin.callId(), "child run", begin.agentId(), time);
  }

  void add(ChildFinished finish, Instant time) {
    call(finish.callId()).ended(finish.failed() ? Outcome.FAILED : Outcome.SUCCEEDED, time);
  }

  Optional<Open> add(ApprovalRequested request, Instant time) {
    Optional<Open> fresh = begun(request.callId(), "approval", request.tool(), time);
    Open call = call(request.callId());
    call.parts.add(() -> new Timeline.Approval(request, Optional.empty(), time, Optional.empty()));
    asked.put(request.requestId(), call);
    return fresh;
  }

  void add(ApprovalDecided decision, Instant time) {
    Open call = asked.get(decision.requestId());
    if (call != null) {
      Timeline.Approval open = (Timeline.Approval) call.parts.getFirst().entry();
      call.parts.set(
          0,
          () ->
              new Timeline.Approval(
                  open.request(), Optional.of(decision), open.start(), Optional.of(time)));
      call.ended(Outcome.SUCCEEDED, time);
    }
  }

  void add(ToolReconciled verdict, Instant time) {
    Open call = call(verdict.callId());
    OpenTry run = call.latest;
    Outcome found =
        switch (verdict.verdict()) {
          case NOT_EXECUTED -> Outcome.NOT_EXECUTED;
          case SUCCEEDED -> Outcome.SUCCEEDED;
          case FAILED -> Outcome.FAILED;
        };
    if (run != null) {
      run.ended(found, time);
      run.decidedBy = Optional.of(verdict.decidedBy());
    }
    if (verdict.verdict() != Verdict.NOT_EXECUTED) {
      call.ended(found, time);
    }
  }

  /** The run has ended: nothing goes on. */
  void leave(Instant time) {
    calls.values().stream().filter(call -> call.end == null).forEach(call -> call.end = time);
  }

  private Open call(String position) {
    Open call = calls.get(position);
    if (call == null) {
      throw new IllegalStateException("A call of a flow goes on that has not begun.");
    }
    return call;
  }

  /** A call begins, or goes on after it had failed. */
  private Optional<Open> begun(String position, String kind, String name, Instant time) {
    Open before = calls.get(position);
    if (before != null) {
      before.end = null;
      before.outcome = Outcome.UNDER_WAY;
      return Optional.empty();
    }
    Open fresh = new Open(position, kind, name, time);
    calls.put(position, fresh);
    Open branch = calls.get(position.substring(0, Math.max(0, position.lastIndexOf('/'))));
    if (branch == null) {
      return Optional.of(fresh);
    }
    branch.parts.add(fresh);
    return Optional.empty();
  }

  private Optional<Open> ended(String position, Outcome outcome, Instant time) {
    call(position).ended(outcome, time);
    return Optional.empty();
  }

  private Optional<Open> instant(String position, String kind, String name, Instant time) {
    Optional<Open> fresh = begun(position, kind, name, time);
    call(position).ended(Outcome.SUCCEEDED, time);
    return fresh;
  }

  private static OpenTry tried(Open call, OpenTry run) {
    call.latest = run;
    call.parts.add(run);
    return run;
  }

  /** The run of a step that ends; one of a PURE step has no intent. */
  private OpenTry latest(String position, int attempt, Instant began) {
    Open call = call(position);
    OpenTry open = call.latest;
    return open != null && open.attempt == attempt
        ? open
        : tried(call, new OpenTry(attempt, EffectClass.PURE, began));
  }
}
