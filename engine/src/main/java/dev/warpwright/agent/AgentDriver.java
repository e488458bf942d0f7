package dev.warpwright.agent;

import dev.warpwright.ModelStep;
import dev.warpwright.Operation;
import dev.warpwright.drive.CancelWatch;
import dev.warpwright.drive.LateEnds;
import dev.warpwright.model.Attempt;
import dev.warpwright.model.ConflictException;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.LimitExceededException;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.OperationCancelledException;
import dev.warpwright.model.OperationTrace;
import dev.warpwright.model.ProviderState;
import dev.warpwright.model.StoreException;
import dev.warpwright.model.Target;
import dev.warpwright.model.ToolFailedException;
import dev.warpwright.model.UnknownOutcomeException;
import dev.warpwright.model.Usage;
import dev.warpwright.model.WarpwrightException;
import dev.warpwright.run.CallState;
import dev.warpwright.run.RunEvent;
import dev.warpwright.run.RunEvent.ModelResponded;
import dev.warpwright.run.RunEvent.RouteBound;
import dev.warpwright.run.RunEvent.RunCompleted;
import dev.warpwright.run.RunEvent.RunFailed;
import dev.warpwright.run.RunEvent.RunStarted;
import dev.warpwright.run.RunEvent.RunSuspended;
import dev.warpwright.run.RunEvent.StepStarted;
import dev.warpwright.run.RunLog;
import dev.warpwright.run.RunState;
import dev.warpwright.run.RunStatus;
import dev.warpwright.task.TimeSource;
import dev.warpwright.tool.EffectClass;
import dev.warpwright.tool.ToolCaller;
import dev.warpwright.tool.ToolEnd;
import dev.warpwright.tool.ToolJournal;
import dev.warpwright.tool.ToolRun;
import dev.warpwright.tool.ToolRunner;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/**
 * Drives a run that the caller owns: reads from its state what has happened, does the next thing,
 * writes it down, until the run ends or waits.
 *
 * <p>There is no other path for a resume. What a crash left behind (a step without an answer, calls
 * without a result, an intent without an outcome) is a state like any other, and the next thing
 * follows from it. Three rules make a crash harmless: a model's answer is durable before any of its
 * tools begins; an intent is durable before its effect; an outcome that nobody knows is never
 * guessed.
 */
final class AgentDriver {
  private final LiveInvocation live;
  private final Agent agent;
  private final Operation operation;
  private final CancelWatch cancel;
  private final RunLog log;
  private final RunLimits limits;
  private final RunEnd ends;
  private final Optional<ContextCompaction> compaction;
  private final Approvals approvals;
  private final LateEnds lateEnds;
  private final ChildRuns children;
  private final AgentShow show;
  private final LiveInvocation invocation;
  private final String runId;
  private final ToolCaller caller;
  private final Guard guard;
  private final Doubts doubts;
  private final Journal journal = new Journal();

  /** A paid answer that is not written yet: it goes with what follows from it, whatever that is. */
  private final List<RunEvent> answered = new ArrayList<>();

  private int toolRuns;
  private boolean parallel; // what the model says that answered last, as far as this driver knows

  AgentDriver(
      LiveInvocation invocation,
      RunLog log,
      Approvals approvals,
      LateEnds lateEnds,
      ChildRuns children,
      TimeSource time) {
    this.live = invocation;
    this.agent = invocation.agent();
    this.operation = invocation.operation();
    this.limits = invocation.limits();
    this.ends = new RunEnd(limits);
    this.compaction = invocation.compaction();
    this.cancel = invocation.cancel();
    this.show = invocation.show();
    this.invocation = invocation;
    this.log = log;
    this.approvals = approvals;
    this.lateEnds = lateEnds;
    this.children = children;
    this.runId = log.state().run().runId();
    RunStarted started = log.state().started();
    this.caller =
        new ToolCaller(runId, Optional.of(agent.id()), started.metadata(), invocation.context());
    this.guard = new Guard(agent, operation, caller);
    this.doubts = new Doubts(agent.tools(), time);
    if (started.imported()) {
      operation.goesOnWith(started.messages());
    }
  }

  /** How many tool runs this driver has begun. */
  int toolRuns() {
    return toolRuns;
  }

  /**
   * Drives until the run ends or waits.
   *
   * @throws OperationCancelledException if the invocation was cancelled; the run can be resumed
   * @throws ConflictException if somebody else owns the run now
   * @throws StoreException if the store failed; the run can be resumed
   */
  void drive() {
    try {
      show.starts(log, agent.maxSteps());
      askAboutDoubts();
      if (MemoryLoad.isDue(agent, log.state())) {
        append(List.of(MemoryLoad.of(invocation, log.state())));
      }
      if (goesOn()) {
        begin();
      }
      if (goesOn()) {
        invocation.environment().acquire(operation, log.state().run(), log.state().step());
      }
      while (goesOn()) {
        next();
      }
      endCancel();
    } catch (WarpwrightException e) {
      record(e);
      if (log.state().cancellation().isPresent()) {
        return; // that is how it ended, or what it waits for a verdict with
      }
      if (e instanceof OperationCancelledException) {
        throw new OperationCancelledException(
            String.valueOf(e.getMessage()), e, e.trace().ofRun(runId));
      }
    } catch (RuntimeException | Error e) {
      recordUnexpected(e);
      throw e;
    } finally {
      show.left(log);
    }
  }

  private boolean goesOn() {
    return log.state().status() == RunStatus.RUNNING;
  }

  /** Appends; an append that met a request to cancel stops whatever else this driver does. */
  private void append(List<RunEvent> events) {
    boolean known = log.state().cancellation().isPresent();
    log.append(events);
    if (!known && log.state().cancellation().isPresent()) {
      cancel.cancelRequested();
    }
    show.written(log);
  }

  /** Brings a run that is to be cancelled to its end, or lets it wait for the verdicts it needs. */
  private void endCancel() {
    if (log.state().status() == RunStatus.CANCEL_REQUESTED) {
      write(List.of()); // an answer that was paid for
      append(log.endOfCancel(attemptsOfThisStep()));
    }
  }

  /** Writes down how the run ended; if that fails, the log's failure is what counts. */
  private void record(WarpwrightException thrown) {
    if (log.hasFailed()) {
      throw thrown;
    }
    if (cancel.isLost()) {
      throw new ConflictException(
          "The driver of run " + runId + " lost its lease; another one goes on with it.",
          thrown,
          operation.trace().ofRun(runId));
    }
    try {
      if (isHandedBack(thrown)) {
        handBack();
      } else {
        end(thrown.kind(), String.valueOf(thrown.getMessage()), Guard.events(thrown, log.state()));
      }
    } catch (RuntimeException | Error broken) {
      broken.addSuppressed(thrown);
      throw broken;
    }
  }

  /** Writes down that something else was thrown: its class, as its message may hold anything. */
  private void recordUnexpected(Throwable thrown) {
    if (log.hasFailed() || cancel.isLost()) {
      return;
    }
    try {
      end(FailureKind.INTERNAL, "Unexpected " + thrown.getClass().getName() + ".", List.of());
    } catch (RuntimeException | Error broken) {
      thrown.addSuppressed(broken);
    }
  }

  /** What comes first in each invocation, before any model or tool. */
  private void begin() {
    RunState state = log.state();
    requireNoApprovalInDoubt(state);
    guard.requireNoneTriggered(state);
    if (state.calls().isEmpty() && !state.hasFinalAnswer()) {
      limits.requireStepLeft(state, operation);
    }
    guard.requireInputPasses(state);
  }

  /** To tell the provider again that its tool may act could let the tool act twice. */
  private void requireNoApprovalInDoubt(RunState state) {
    if (state.mayHaveSentApproval()) {
      throw new UnknownOutcomeException(
          "Step %d of run %s gave a provider the approval that it had asked for, and was cut off:"
                  .formatted(state.step(), state.run())
              + " the provider's tool may or may not have acted. The step is not repeated unless"
              + " the run is resumed once more.",
          null,
          operation.trace());
    }
  }

  private void next() {
    RunState state = log.state();
    guard.requireNoneTriggered(state); // by a tool
    if (!state.calls().isEmpty() || !state.openApprovals().isEmpty()) {
      settle();
    } else if (state.hasFinalAnswer()) {
      RunCompleted end = completed(state);
      guard.requireOutputPasses(state);
      write(List.of(end));
    } else {
      step();
    }
  }

  /** One model call, and the tools that it asks for. */
  private void step() {
    limits.requireStepLeft(log.state(), operation);
    compaction.ifPresent(this::compact);
    if (!goesOn()) {
      return;
    }
    requireValidAnswers(log.state());
    OptionalInt mostOutput = limits.beforeModel(log.state(), operation);
    int number = log.state().nextStep();
    append(List.of(new StepStarted(number, log.state().messages().size())));
    if (!goesOn()) {
      return;
    }
    ModelStep answer = operation.step(number, log.state().messages(), mostOutput);
    keep(answer);

    Message message = answer.response().message();
    Optional<RunFailed> cutOff = cutOff(answer);
    boolean asks = !message.toolCalls().isEmpty() || !message.approvals().isEmpty();
    if (cutOff.isPresent()) {
      write(List.of(cutOff.get()));
    } else if (!asks && guard.asksAboutOutput()) {
      write(List.of()); // it is paid for, whatever becomes of it
    } else if (!asks) {
      RunState state = log.state();
      String text = state.text() + message.text();
      Usage usage = state.usage().plus(answer.response().usage());
      write(List.of(completed(text, number, usage, answer.target(), answer.response())));
    } else {
      parallel = answer.parallelToolCalls();
      run(number, CallState.fresh(message.toolCalls(), number), message.approvals());
    }
  }

  /** A signer is code of the program. */
  private void requireValidAnswers(RunState state) {
    if (!state.providerApprovals().isEmpty()) {
      boolean _ =
          operation.judge(
              state.step(),
              false,
              () -> {
                approvals.requireValidAnswers(state);
                return true;
              });
    }
  }

  /** Replaces older messages if there are too many, durably, before the model is asked. */
  private void compact(ContextCompaction by) {
    by.due(log.state())
        .ifPresent(
            plan -> {
              limits.beforeCompaction(log.state(), operation);
              write(List.of()); // an outcome that waits: the program's code comes next
              append(List.of(by.carryOut(plan, log.state())));
            });
  }

  /** The end by an answer that is written already. */
  private RunCompleted completed(RunState state) {
    ModelResponse answer =
        new ModelResponse(
            state.messages().getLast(),
            state.finishReason().orElseThrow(),
            Usage.ABSENT,
            Optional.empty());
    Target target = state.target().orElseThrow();
    return completed(state.text(), state.step(), state.usage(), target, answer);
  }

  /** The end by an answer that asks for no tool; the object in it is read, if it must be one. */
  private RunCompleted completed(
      String text, int step, Usage usage, Target target, ModelResponse answer) {
    return agent.output().isEmpty()
        ? new RunCompleted(text, step, usage)
        : new RunCompleted(
            text,
            step,
            usage,
            Optional.of(operation.readObject(step, target, answer)),
            Optional.of(operation.objectMode(target)));
  }

  private void keep(ModelStep answer) {
    if (log.state().target().filter(answer.target()::equals).isEmpty()) {
      answered.add(new RouteBound(answer.step(), answer.target(), answer.decision()));
    }
    ModelResponse response = answer.response();
    answered.add(
        new ModelResponded(
            answer.step(),
            answer.target(),
            response.message(),
            response.finishReason(),
            response.usage(),
            answer.attempts()));
  }

  /**
   * Appends what waits to be written, an answer that is kept or the outcome of a tool, and what
   * follows from it, as one. To be called, if with nothing, before code of the program may run.
   */
  private void write(List<RunEvent> events) {
    List<RunEvent> all = new ArrayList<>(answered);
    answered.clear();
    all.addAll(events);
    if (!all.isEmpty() || log.hasDeferred()) {
      append(all);
    }
  }

  /** Why no tool of an answer may run, and nobody is asked, although it asks for some. */
  private static Optional<RunFailed> cutOff(ModelStep answer) {
    FinishReason finish = answer.response().finishReason();
    Message message = answer.response().message();
    if (finish.allows(message)) {
      return Optional.empty();
    }
    return Optional.of(
        new RunFailed(
            finish.withoutTools(),
            "The answer asks for %s but ended with %s; no tool was run."
                .formatted(message.toolCalls().isEmpty() ? "an approval" : "tools", finish.kind()),
            false,
            answer.step(),
            List.of()));
  }

  /**
   * Goes on with calls that an earlier driver, a decision or a child run left to be done. What an
   * earlier driver left is done one after the other unless the agent says otherwise: whether the
   * model meant the calls to overlap is not known any more.
   */
  private void settle() {
    write(List.of());
    int step = log.state().step();
    Set<String> lapsed = doubts.lapsed(log.state().calls());
    if (!lapsed.isEmpty()) {
      ToolRunner runner = operation.tools(false, caller, journal);
      lapsed.removeIf(callId -> findsOut(runner, callId));
    }
    if (waitsForVerdicts(step, lapsed) || endsAsIntended()) {
      return;
    }
    List<CallState> calls = log.state().calls();
    List<ProviderState> asking = log.state().openApprovals();
    if (!calls.isEmpty() || !asking.isEmpty()) {
      run(step, calls, asking);
    }
  }

  /** Asks about each call that an earlier driver left in doubt. */
  private void askAboutDoubts() {
    ToolRunner runner = operation.tools(false, caller, journal);
    for (CallState call : log.state().calls()) {
      if (call.needsVerdict()) {
        found(doubts.ask(runner, call));
      }
    }
  }

  /**
   * Judges the open calls, writes what follows from that, and runs what may run. One call that
   * waits for an approval keeps the whole batch from running, and so does a provider that asks for
   * one.
   */
  private void run(int step, List<CallState> open, List<ProviderState> asking) {
    OperationTrace trace = operation.trace();
    Preflight preflight =
        operation.judge(
            step,
            Preflight.honoursInterrupts(agent, open) && asking.isEmpty(),
            () -> judged(step, open, asking, trace));
    List<RunEvent> events = new ArrayList<>(preflight.events());
    if (!preflight.awaited().isEmpty()) {
      events.add(RunEnd.waiting(RunSuspended.Reason.APPROVAL, preflight.awaited()));
      write(events);
      return;
    }
    limits.beforeTools(log.state(), answered, preflight, operation);
    if (preflight.child().isPresent()) {
      attend(preflight.child().get(), events);
      return;
    }
    ToolRunner runner = operation.tools(parallel, caller, journal);
    events.addAll(journal.intents(runner.firstWave(preflight.runs())));
    write(events);
    if (!goesOn()) {
      return;
    }
    journal.underWay.clear();
    conclude(step, runner, preflight.runs(), runner.run(preflight.runs()));
  }

  private Preflight judged(
      int step, List<CallState> open, List<ProviderState> asking, OperationTrace trace) {
    Preflight preflight = Preflight.of(agent, caller, open, approvals, trace);
    if (!asking.isEmpty()) {
      preflight.judge(step, asking, log.state().pendingApprovals());
    }
    return preflight;
  }

  /** Runs the child run that answers a call until that ends or waits. */
  private void attend(ChildCall child, List<RunEvent> events) {
    if (child.call().child().isEmpty()) {
      events.add(children.begins(child));
      toolRuns++;
    }
    write(events);
    if (!goesOn()) {
      return;
    }
    List<RunEvent> left = children.attend(live, log.state(), child.subAgent());
    try {
      write(left);
    } catch (LimitExceededException full) {
      write(ChildRuns.withoutText(left)); // its end must be known here
      throw full;
    }
    if (ChildRuns.failed(left) && agent.toolExecution().stopOnError()) {
      throw stopped(child.subAgent().name());
    }
  }

  private ToolFailedException stopped(String tool) {
    return new ToolFailedException(
        "Tool \"%s\" failed and the agent stops on errors.".formatted(tool), operation.trace());
  }

  /** Looks at how a batch ended and lets the run go on, wait or fail. */
  private void conclude(int step, ToolRunner runner, List<ToolRun> runs, List<ToolEnd> ends) {
    Set<String> unknown = new HashSet<>();
    List<RunEvent> neverBegun = new ArrayList<>();
    Optional<ToolRun> failed = Optional.empty();
    boolean guarded = false;
    for (int i = 0; i < runs.size(); i++) {
      switch (ends.get(i)) {
        case ToolEnd.Known known -> {
          guarded |= known.guardrail().isPresent();
          if (known.error() && failed.isEmpty()) {
            failed = Optional.of(runs.get(i));
          }
        }
        case ToolEnd.Unknown none -> unknown.add(runs.get(i).call().id());
        case ToolEnd.CutOff none -> journal.withdrawal(runs.get(i)).ifPresent(neverBegun::add);
      }
    }
    if (!neverBegun.isEmpty()) {
      write(neverBegun);
    }
    takeInCancel();
    if (operation.end(step).isEmpty()) {
      unknown.removeIf(callId -> findsOut(runner, callId));
    }
    if (waitsForVerdicts(step, unknown) || guarded) {
      return; // what comes next is the end
    }
    if (failed.isPresent() && agent.toolExecution().stopOnError()) {
      throw stopped(failed.get().tool().name());
    }
    if (ends.stream().anyMatch(ToolEnd.CutOff.class::isInstance)) {
      throw new IllegalStateException("Cut off without a reason.");
    }
  }

  /** Asks about a call that has just ended without an outcome; whether that gave one. */
  private boolean findsOut(ToolRunner runner, String callId) {
    return log.state().inDoubt().stream()
        .filter(each -> each.call().id().equals(callId))
        .findFirst()
        .map(call -> found(doubts.askOnce(runner, call)))
        .orElse(false);
  }

  private boolean found(List<RunEvent> verdict) {
    if (!verdict.isEmpty()) {
      append(verdict);
    }
    return !verdict.isEmpty();
  }

  /**
   * Suspends the run if it needs verdicts on tools.
   *
   * @param unknown calls that need one beside those of which the log says so
   * @throws WarpwrightException if the operation has come to its end, suspended or not
   */
  private boolean waitsForVerdicts(int step, Set<String> unknown) {
    Optional<WarpwrightException> end = operation.end(step);
    if (end.isPresent() && isHandedBack(end.get())) {
      throw end.get(); // the next driver asks about the doubts, or lets the run wait
    }
    Set<String> awaited = new HashSet<>(unknown);
    awaited.addAll(RunEnd.needingVerdicts(log.state()));
    if (!awaited.isEmpty()) {
      write(
          List.of(
              end.filter(why -> log.state().cancellation().isEmpty())
                  .map(
                      why ->
                          ends.after(
                              log,
                              why.kind(),
                              String.valueOf(why.getMessage()),
                              attemptsOfThisStep(),
                              awaited))
                  .orElseGet(() -> RunEnd.waiting(RunSuspended.Reason.RECONCILIATION, awaited))));
    }
    if (end.isPresent()) {
      throw end.get();
    }
    return !awaited.isEmpty();
  }

  /** Ends the run as an earlier driver would have, had no outcome been unknown to it. */
  private boolean endsAsIntended() {
    Optional<RunEvent> end = log.state().intendedEnd();
    end.ifPresent(event -> write(List.of(event)));
    return end.isPresent();
  }

  /** Ends the run by a failure or, while it needs a verdict, records that it would have ended. */
  private void end(FailureKind kind, String message, List<RunEvent> why) {
    takeInCancel();
    if (goesOn()) {
      Set<String> awaited = RunEnd.needingVerdicts(log.state());
      RunEvent end = ends.after(log, kind, message, attemptsOfThisStep(), awaited);
      List<RunEvent> events = new ArrayList<>(why);
      if (RunEnd.isForGood(end)) {
        events.addAll(log.endOfChildren());
      }
      events.add(end);
      write(events);
    }
    endCancel(); // also if the failure came too late
  }

  /** Whether nothing but the worker's stop ends this. */
  private boolean isHandedBack(WarpwrightException end) {
    return end instanceof OperationCancelledException && cancel.isHandedBack();
  }

  /** Leaves the run as it stands, with what was paid for; one that is to be cancelled ends. */
  private void handBack() {
    takeInCancel();
    if (goesOn()) {
      write(List.of());
    }
    endCancel();
  }

  /** Reads the request to cancel of which this driver was told and has not read it yet. */
  private void takeInCancel() {
    if (cancel.isRequested() && log.state().cancellation().isEmpty()) {
      log.refresh();
    }
  }

  private List<Attempt> attemptsOfThisStep() {
    int step = log.state().step();
    return operation.trace().attempts().stream().filter(made -> made.step() == step).toList();
  }

  /**
   * Writes intents before effects and outcomes after them. An outcome waits for what is written
   * next, the intent of the next tool or the next step, if no other tool is at work meanwhile.
   */
  private final class Journal implements ToolJournal {
    private final Set<ToolRun> written = new HashSet<>();

    /** The calls of a batch that have begun and have no outcome, those without a known one too. */
    private final Set<String> underWay = new HashSet<>();

    /** The intents of runs that begin now; a PURE tool has no effect and needs none. */
    List<RunEvent> intents(List<ToolRun> runs) {
      return runs.stream()
          .filter(run -> run.tool().effect() != EffectClass.PURE)
          .filter(written::add)
          .<RunEvent>map(ToolEvents::intent)
          .toList();
    }

    /** That a ONCE tool did not run although its intent was written: the end came first. */
    Optional<RunEvent> withdrawal(ToolRun run) {
      return run.tool().effect() == EffectClass.ONCE && written.contains(run) && isInDoubt(run)
          ? Optional.of(Doubts.notExecuted(ToolEvents.intent(run), "driver: it never began"))
          : Optional.empty();
    }

    /** Not if a request to cancel came before the intent, which is not in the log then. */
    private boolean isInDoubt(ToolRun run) {
      return log.state().inDoubt().stream()
          .anyMatch(call -> call.isInDoubt(run.call().id(), run.key()));
    }

    @Override
    public void starting(List<ToolRun> runs) {
      toolRuns += runs.size();
      write(intents(runs));
      runs.forEach(run -> underWay.add(run.call().id()));
      show.starting(runs);
    }

    @Override
    public void ended(ToolRun run, ToolEnd.Known end) {
      underWay.remove(run.call().id());
      if (!end.executed()) {
        came(ToolEvents.refused(run, end), end);
        return;
      }
      try {
        came(ToolEvents.executed(run, end), end);
      } catch (LimitExceededException full) {
        // It has acted, and the log must say so.
        came(ToolEvents.executed(run, ToolEvents.shortened(end)), end);
        throw full;
      }
    }

    private void came(List<RunEvent> outcome, ToolEnd.Known end) {
      if (underWay.isEmpty() && end.guardrail().isEmpty()) {
        log.defer(outcome);
      } else {
        append(outcome);
      }
    }

    @Override
    public void endedLate(ToolRun run, ToolEnd.Known end) {
      lateEnds.tell(ToolEvents.finished(run, end));
    }
  }
}
