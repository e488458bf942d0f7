package dev.warpwright.run;

import dev.warpwright.model.Attempt;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.Json;
import dev.warpwright.model.Target;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.ToolResult;
import dev.warpwright.model.Usage;
import dev.warpwright.run.RunEvent.ApprovalDecided;
import dev.warpwright.run.RunEvent.ApprovalRequested;
import dev.warpwright.run.RunEvent.CancelRequested;
import dev.warpwright.run.RunEvent.ChildFinished;
import dev.warpwright.run.RunEvent.ChildStarted;
import dev.warpwright.run.RunEvent.ModelResponded;
import dev.warpwright.run.RunEvent.RouteBound;
import dev.warpwright.run.RunEvent.RunCancelled;
import dev.warpwright.run.RunEvent.RunCompleted;
import dev.warpwright.run.RunEvent.RunFailed;
import dev.warpwright.run.RunEvent.RunResumed;
import dev.warpwright.run.RunEvent.RunStarted;
import dev.warpwright.run.RunEvent.RunSuspended;
import dev.warpwright.run.RunEvent.RunTimedOut;
import dev.warpwright.run.RunEvent.StepStarted;
import dev.warpwright.run.RunEvent.ToolFinished;
import dev.warpwright.run.RunEvent.ToolReconciled;
import dev.warpwright.run.RunEvent.ToolReconciled.Verdict;
import dev.warpwright.run.RunEvent.ToolStarted;
import dev.warpwright.run.Timeline.Entry;
import dev.warpwright.run.Timeline.Outcome;
import dev.warpwright.tool.EffectClass;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Goes through a log and pairs what begins with what ends. That the log keeps the rules is checked
 * by folding it first, so that each end has its beginning here.
 */
final class TimelineFold {
  private final RunState state;
  private final List<Supplied> entries = new ArrayList<>();
  private final Set<String> ofOthers = new HashSet<>(); // requests of children and providers
  private final FlowTimeline flow = new FlowTimeline();
  private @Nullable OpenStep step; // the last one
  private @Nullable Stop stop; // what keeps the run from going on
  private @Nullable Stop cancel;
  private Instant last;

  /** An entry that may still grow. */
  interface Supplied {
    Entry entry();
  }

  TimelineFold(List<LoggedEvent> log) {
    this.state = RunState.of(log);
    this.last = state.startedAt();
    for (LoggedEvent logged : log) {
      add(logged);
      last = logged.time();
    }
  }

  Timeline timeline() {
    return new Timeline(
        state.run(),
        state.status(),
        state.startedAt(),
        state.isTerminal() ? Optional.of(state.updatedAt()) : Optional.empty(),
        entries.stream().map(Supplied::entry).toList());
  }

  private void add(LoggedEvent logged) {
    Instant time = logged.time();
    if (state.flow().isPresent() && isOfCall(logged.event(), time)) {
      return;
    }
    switch (logged.event()) {
      case RunStarted begin -> {}
      case StepStarted begin -> {
        step = new OpenStep(begin.step(), time);
        entries.add(step);
      }
      case RouteBound bound -> {} // the answer that stands with it names the target
      case ModelResponded answer -> step().answered(answer, time);
      case ApprovalRequested asked when asked.kind() != ApprovalRequested.Kind.LOCAL_TOOL -> {
        ofOthers.add(asked.requestId());
        note(logged);
      }
      case ApprovalDecided decision when ofOthers.contains(decision.requestId()) -> note(logged);
      case ChildStarted begin -> {
        step().find(call -> call.begins(begin)).child = begin;
        note(logged);
      }
      case ChildFinished end -> {
        step().find(call -> call.ends(end)).finished(end, time);
        step().endIfAnswered(time);
        note(logged);
      }
      case ApprovalRequested asked -> step().find(call -> call.needs(asked)).asked(asked, time);
      case ApprovalDecided decision ->
          step().find(call -> call.awaits(decision)).decided(decision, time);
      case ToolStarted intent -> step().calls.get(intent.ordinal()).started(intent, time);
      case ToolFinished end -> {
        step().find(call -> call.ends(end)).finished(end, time);
        step().endIfAnswered(time);
      }
      case ToolReconciled verdict -> {
        step()
            .find(call -> call.isInDoubt(verdict.callId(), verdict.key()))
            .reconciled(verdict, time);
        step().endIfAnswered(time);
      }
      case RunSuspended event ->
          stops(time, end -> new Timeline.Suspension(event, time, Optional.ofNullable(end)));
      case RunFailed event -> {
        gaveUp(event.attempts(), time);
        stops(time, end -> new Timeline.Failure(event, time, Optional.ofNullable(end)));
      }
      case RunResumed event -> {
        goesOn(time);
        Instant idleSince = last;
        entries.add(() -> new Timeline.Resumption(event, logged.writer(), idleSince, time));
      }
      case CancelRequested event -> {
        goesOn(time);
        cancel = new Stop(end -> new Timeline.Cancel(event, time, Optional.ofNullable(end)));
        entries.add(cancel);
      }
      case RunCancelled event -> {
        gaveUp(event.attempts(), time);
        goesOn(time);
        if (step != null) {
          step.leave(time);
        }
        if (cancel != null) {
          cancel.end = time;
        }
      }
      case RunTimedOut event -> {
        gaveUp(event.attempts(), time);
        goesOn(time);
        if (step != null) {
          step.leave(time);
        }
        entries.add(() -> new Timeline.Note(event, time));
      }
      case RunCompleted end -> {}
      default -> note(logged);
    }
  }

  /** Whether it is an event of a call of a flow, which has been taken in then. */
  private boolean isOfCall(RunEvent event, Instant time) {
    switch (event) {
      case FlowEvent call -> flow.add(call, time).ifPresent(entries::add);
      case ChildStarted begin -> flow.add(begin, time).ifPresent(entries::add);
      case ApprovalRequested asked -> flow.add(asked, time).ifPresent(entries::add);
      case ChildFinished end -> flow.add(end, time);
      case ApprovalDecided decision -> flow.add(decision, time);
      case ToolReconciled verdict -> flow.add(verdict, time);
      default -> {
        if (isEnd(event)) {
          flow.leave(time);
        }
        return false;
      }
    }
    return true;
  }

  private static boolean isEnd(RunEvent event) {
    return event instanceof RunCompleted
        || event instanceof RunCancelled
        || event instanceof RunTimedOut
        || (event instanceof RunFailed failure && !failure.resumable());
  }

  private void note(LoggedEvent logged) {
    entries.add(() -> new Timeline.Note(logged.event(), logged.time()));
  }

  private OpenStep step() {
    if (step == null) {
      throw new IllegalStateException("An event of a step stands before the first step.");
    }
    return step;
  }

  private void stops(Instant time, Function<@Nullable Instant, Entry> entry) {
    goesOn(time);
    stop = new Stop(entry);
    entries.add(stop);
  }

  private void goesOn(Instant time) {
    if (stop != null) {
      stop.end = time;
      stop = null;
    }
  }

  /** What a failure or a cancel says of a step that has no answer. */
  private void gaveUp(List<Attempt> attempts, Instant time) {
    if (step != null && step.answered == null && step.end == null) {
      step.attempts = attempts;
      step.end = time;
    }
  }

  /** Something that lasts until the run goes on. */
  private static final class Stop implements Supplied {
    private final Function<@Nullable Instant, Entry> entry;
    private @Nullable Instant end;

    Stop(Function<@Nullable Instant, Entry> entry) {
      this.entry = entry;
    }

    @Override
    public Entry entry() {
      return entry.apply(end);
    }
  }

  private static final class OpenStep implements Supplied {
    private final int number;
    private final Instant start;
    private final List<OpenCall> calls = new ArrayList<>();
    private @Nullable Instant end;
    private @Nullable Instant answered;
    private @Nullable Target target;
    private @Nullable FinishReason finishReason;
    private Usage usage = Usage.ABSENT;
    private List<Attempt> attempts = List.of();

    OpenStep(int number, Instant start) {
      this.number = number;
      this.start = start;
    }

    void answered(ModelResponded answer, Instant time) {
      answered = time;
      end = null; // an answer may come behind a failure
      target = answer.target();
      finishReason = answer.finishReason();
      usage = answer.usage();
      attempts = answer.attempts();
      answer.message().toolCalls().forEach(call -> calls.add(new OpenCall(call, time)));
      endIfAnswered(time);
    }

    OpenCall find(Predicate<OpenCall> which) {
      return calls.stream()
          .filter(call -> call.result == null)
          .filter(which)
          .findFirst()
          .orElseThrow();
    }

    void endIfAnswered(Instant time) {
      if (calls.stream().allMatch(call -> call.result != null)) {
        end = time;
      }
    }

    /** The run ended. */
    void leave(Instant time) {
      calls.stream().filter(call -> call.end == null).forEach(call -> call.end = time);
      if (end == null) {
        end = time;
      }
    }

    @Override
    public Entry entry() {
      return new Timeline.Step(
          number,
          start,
          Optional.ofNullable(end),
          Optional.ofNullable(answered),
          Optional.ofNullable(target),
          Optional.ofNullable(finishReason),
          usage,
          attempts,
          calls.stream().map(OpenCall::entry).toList());
    }
  }

  private static final class OpenCall {
    private final ToolCall call;
    private final Instant start;
    private final List<OpenTry> tries = new ArrayList<>();
    private @Nullable Instant end;
    private @Nullable ToolResult result;
    private @Nullable ChildStarted child;
    private @Nullable ApprovalRequested asked;
    private @Nullable Instant askedAt;
    private @Nullable ApprovalDecided decision;
    private @Nullable Instant decidedAt;

    OpenCall(ToolCall call, Instant start) {
      this.call = call;
      this.start = start;
    }

    boolean needs(ApprovalRequested request) {
      return call.id().equals(request.callId()) && asked == null;
    }

    boolean awaits(ApprovalDecided made) {
      return asked != null && decision == null && asked.requestId().equals(made.requestId());
    }

    boolean isInDoubt(String callId, String key) {
      return call.id().equals(callId) && isInDoubt() && tries.getLast().intent.key().equals(key);
    }

    private boolean isInDoubt() {
      return !tries.isEmpty() && tries.getLast().outcome == Outcome.UNKNOWN;
    }

    boolean begins(ChildStarted begin) {
      return call.id().equals(begin.callId()) && child == null && tries.isEmpty();
    }

    boolean ends(ChildFinished finish) {
      return child != null && child.childRunId().equals(finish.childRunId());
    }

    void finished(ChildFinished finish, Instant time) {
      answered(finish.output(), finish.failed(), time);
    }

    boolean ends(ToolFinished finish) {
      return finish.executed()
          ? isInDoubt(finish.callId(), finish.key().orElse(""))
          : call.id().equals(finish.callId()) && !isInDoubt();
    }

    void asked(ApprovalRequested request, Instant time) {
      asked = request;
      askedAt = time;
    }

    void decided(ApprovalDecided made, Instant time) {
      decision = made;
      decidedAt = time;
    }

    void started(ToolStarted intent, Instant time) {
      tries.add(new OpenTry(intent, time));
    }

    void finished(ToolFinished finish, Instant time) {
      if (finish.executed()) {
        OpenTry run = tries.getLast();
        run.ended(finish.error() ? Outcome.FAILED : Outcome.SUCCEEDED, time);
        run.took = finish.duration();
      }
      answered(finish.output(), finish.error(), time);
    }

    void reconciled(ToolReconciled verdict, Instant time) {
      OpenTry run = tries.getLast();
      run.decidedBy = verdict.decidedBy();
      switch (verdict.verdict()) {
        case NOT_EXECUTED -> run.ended(Outcome.NOT_EXECUTED, time);
        case SUCCEEDED -> run.ended(Outcome.SUCCEEDED, time);
        case FAILED -> run.ended(Outcome.FAILED, time);
      }
      if (verdict.verdict() != Verdict.NOT_EXECUTED) {
        answered(verdict.output().orElse(Json.of(null)), verdict.verdict() == Verdict.FAILED, time);
      }
    }

    private void answered(Json output, boolean error, Instant time) {
      result = new ToolResult(call.id(), call.name(), output, error);
      end = time;
    }

    private Outcome outcome() {
      if (!tries.isEmpty()) {
        return tries.getLast().outcome;
      }
      if (child != null) {
        return result == null
            ? Outcome.UNDER_WAY
            : result.error() ? Outcome.FAILED : Outcome.SUCCEEDED;
      }
      return result == null ? Outcome.NOT_BEGUN : Outcome.NOT_EXECUTED;
    }

    private Optional<Timeline.Approval> approval() {
      return asked == null || askedAt == null
          ? Optional.empty()
          : Optional.of(
              new Timeline.Approval(
                  asked, Optional.ofNullable(decision), askedAt, Optional.ofNullable(decidedAt)));
    }

    Timeline.Call entry() {
      return new Timeline.Call(
          call,
          start,
          Optional.ofNullable(end),
          outcome(),
          Optional.ofNullable(result),
          approval(),
          tries.stream().map(run -> run.entry(start)).toList());
    }
  }

  private static final class OpenTry {
    private final ToolStarted intent;
    private final Instant start;
    private @Nullable Instant end;
    private Outcome outcome = Outcome.UNKNOWN;
    private @Nullable Duration took;
    private @Nullable String decidedBy;

    OpenTry(ToolStarted intent, Instant start) {
      this.intent = intent;
      this.start = start;
    }

    void ended(Outcome known, Instant time) {
      outcome = known;
      end = time;
    }

    Timeline.Try entry(Instant notBefore) {
      return new Timeline.Try(
          intent.attempt(),
          intent.effect(),
          began(notBefore),
          Optional.ofNullable(end),
          outcome,
          Optional.ofNullable(took),
          Optional.ofNullable(decidedBy));
    }

    /** The intent of a PURE tool is written with its outcome. */
    private Instant began(Instant notBefore) {
      if (intent.effect() != EffectClass.PURE || end == null || took == null) {
        return start;
      }
      Instant counted = end.minus(took);
      return counted.isBefore(notBefore) ? notBefore : counted;
    }
  }
}
