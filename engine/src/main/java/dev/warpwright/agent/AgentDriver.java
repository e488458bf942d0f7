package dev.warpwright.agent;

import dev.warpwright.ModelStep;
import dev.warpwright.Operation;
import dev.warpwright.model.Attempt;
import dev.warpwright.model.ConflictException;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.InvalidOutputException;
import dev.warpwright.model.Json;
import dev.warpwright.model.LimitExceededException;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.OperationCancelledException;
import dev.warpwright.model.StoreException;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.WarpwrightException;
import dev.warpwright.run.CallState;
import dev.warpwright.run.RunEvent;
import dev.warpwright.run.RunEvent.ModelResponded;
import dev.warpwright.run.RunEvent.RouteBound;
import dev.warpwright.run.RunEvent.RunCompleted;
import dev.warpwright.run.RunEvent.RunFailed;
import dev.warpwright.run.RunEvent.RunSuspended;
import dev.warpwright.run.RunEvent.StepStarted;
import dev.warpwright.run.RunEvent.ToolFinished;
import dev.warpwright.run.RunEvent.ToolReconciled;
import dev.warpwright.run.RunEvent.ToolReconciled.Verdict;
import dev.warpwright.run.RunEvent.ToolStarted;
import dev.warpwright.run.RunLog;
import dev.warpwright.run.RunState;
import dev.warpwright.run.RunStatus;
import dev.warpwright.tool.CheckedCall;
import dev.warpwright.tool.EffectClass;
import dev.warpwright.tool.Reconciler.Finding;
import dev.warpwright.tool.Tool;
import dev.warpwright.tool.ToolCaller;
import dev.warpwright.tool.ToolEnd;
import dev.warpwright.tool.ToolJournal;
import dev.warpwright.tool.ToolRun;
import dev.warpwright.tool.ToolRunner;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
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
  private final Agent agent;
  private final Operation operation;
  private final RunLog log;
  private final String runId;
  private final ToolCaller caller;
  private int toolRuns;

  AgentDriver(Agent agent, Operation operation, RunLog log) {
    this.agent = agent;
    this.operation = operation;
    this.log = log;
    this.runId = log.state().run().runId();
    this.caller = new ToolCaller(runId, log.state().started().metadata());
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
      while (log.state().status() == RunStatus.RUNNING) {
        if (log.state().calls().isEmpty()) {
          step();
        } else {
          settle();
        }
      }
    } catch (WarpwrightException e) {
      if (log.hasFailed()) {
        throw e;
      }
      end(e.kind(), String.valueOf(e.getMessage()));
      if (e instanceof OperationCancelledException) {
        throw new OperationCancelledException(
            String.valueOf(e.getMessage()), e, e.trace().ofRun(runId));
      }
    } catch (RuntimeException | Error e) {
      if (!log.hasFailed()) {
        // Its message may hold anything; its class does not.
        end(FailureKind.INTERNAL, "Unexpected " + e.getClass().getName() + ".");
      }
      throw e;
    }
  }

  /** One model call, and the tools that it asks for. */
  private void step() {
    int number = log.state().nextStep();
    if (number > agent.maxSteps()) {
      throw new LimitExceededException(
          "The run exhausted maxSteps: %d steps were made and the last answer still asked for tools."
              .formatted(agent.maxSteps()),
          null,
          operation.trace());
    }
    log.append(new StepStarted(number, log.state().messages().size()));
    ModelStep answer = operation.step(number, log.state().messages());

    List<RunEvent> events = new ArrayList<>();
    if (answer.rebound()) {
      events.add(new RouteBound(number, answer.target(), answer.decision()));
    }
    ModelResponse response = answer.response();
    events.add(
        new ModelResponded(
            number,
            answer.target(),
            response.message(),
            response.finishReason(),
            response.usage(),
            answer.attempts()));
    List<ToolCall> calls = response.message().toolCalls();
    if (calls.isEmpty()) {
      RunState state = log.state();
      events.add(
          new RunCompleted(
              state.text() + response.message().text(),
              number,
              state.usage().plus(response.usage())));
      log.append(events);
      return;
    }
    if (!response.finishReason().allowsTools()) {
      events.add(cutOffAnswer(response.finishReason(), number));
      log.append(events);
      return;
    }
    List<CallState> open = new ArrayList<>(calls.size());
    for (int ordinal = 0; ordinal < calls.size(); ordinal++) {
      open.add(CallState.fresh(calls.get(ordinal), number, ordinal));
    }
    run(open, events, answer.parallelToolCalls());
  }

  private RunFailed cutOffAnswer(FinishReason finish, int number) {
    boolean refused =
        finish.kind() == FinishReason.Kind.REFUSAL
            || finish.kind() == FinishReason.Kind.CONTENT_FILTER;
    return new RunFailed(
        refused ? FailureKind.OUTPUT_REFUSAL : FailureKind.OUTPUT_TRUNCATION,
        "The answer asks for tools but ended with %s; no tool was run.".formatted(finish.kind()),
        false,
        number,
        List.of());
  }

  /** Goes on with calls that an earlier driver, or a decision, left to be done. */
  private void settle() {
    Journal journal = new Journal();
    ToolRunner runner = operation.tools(true, caller, journal);
    for (CallState call : log.state().calls()) {
      if (call.isInDoubt() && call.started().orElseThrow().effect() == EffectClass.ONCE) {
        ask(runner, call).ifPresent(log::append);
      }
    }
    Set<String> unknown = unknownOutcomes();
    if (!unknown.isEmpty()) {
      suspend(RunSuspended.Reason.RECONCILIATION, unknown, Optional.empty());
      return;
    }
    if (!log.state().calls().isEmpty()) {
      run(log.state().calls(), new ArrayList<>(), true);
    }
  }

  /** Asks the tool's reconciler; empty if nobody can tell. */
  private Optional<RunEvent> ask(ToolRunner runner, CallState call) {
    ToolStarted intent = call.started().orElseThrow();
    Optional<Tool> tool = agent.tools().find(intent.tool());
    if (tool.isEmpty()) {
      return Optional.empty();
    }
    Finding finding = runner.reconcile(tool.get(), call.call(), intent.key());
    return switch (finding) {
      case Finding.Executed(Json output) ->
          Optional.of(verdict(intent, Verdict.SUCCEEDED, Optional.of(output)));
      case Finding.Failed(String message) ->
          Optional.of(verdict(intent, Verdict.FAILED, Optional.of(Json.of(message))));
      case Finding.NotExecuted none ->
          Optional.of(verdict(intent, Verdict.NOT_EXECUTED, Optional.empty()));
      case Finding.Unknown nothing -> Optional.empty();
    };
  }

  private static ToolReconciled verdict(
      ToolStarted intent, Verdict verdict, Optional<Json> output) {
    return new ToolReconciled(
        intent.callId(), intent.key(), verdict, output, "reconciler of " + intent.tool());
  }

  /**
   * Judges the open calls, writes what follows from that together with the events that led here,
   * and runs what may run. One call that waits for an approval keeps the whole batch from running.
   */
  private void run(List<CallState> open, List<RunEvent> events, boolean parallel) {
    List<ToolRun> runs = new ArrayList<>();
    Set<String> awaited = new HashSet<>();
    for (CallState call : open) {
      if (call.result().isEmpty()) {
        judge(call, events, runs, awaited);
      }
    }
    if (!awaited.isEmpty()) {
      events.add(
          new RunSuspended(
              RunSuspended.Reason.APPROVAL, awaited.stream().sorted().toList(), Optional.empty()));
      log.append(events);
      return;
    }
    Journal journal = new Journal();
    ToolRunner runner = operation.tools(parallel, caller, journal);
    events.addAll(journal.intents(runner.firstWave(runs)));
    if (!events.isEmpty()) {
      log.append(events);
    }
    List<ToolEnd> ends = runner.run(runs);
    conclude(ends, open.getFirst().step());
  }

  private void judge(
      CallState call, List<RunEvent> events, List<ToolRun> runs, Set<String> awaited) {
    if (call.decision().isPresent() && !call.decision().get().approve()) {
      String reason = call.decision().get().reason().map(why -> ": " + why).orElse(".");
      events.add(refused(call, "The call was not approved" + reason));
      return;
    }
    switch (agent.tools().check(call.call())) {
      case CheckedCall.Refused(ToolCall refused, String message) -> {
        if (agent.invalidInput() == InvalidInput.FAIL) {
          if (!events.isEmpty()) {
            log.append(events); // a paid answer is kept whatever follows
          }
          throw new InvalidOutputException(FailureKind.OUTPUT_SCHEMA, message, operation.trace());
        }
        events.add(refused(call, message));
      }
      case CheckedCall.Callable(ToolCall checked, Tool tool, boolean requiresApproval) -> {
        if (call.awaitsApproval()) {
          awaited.add(call.approval().orElseThrow().requestId());
        } else if (requiresApproval && call.decision().isEmpty()) {
          var request = Approvals.request(runId, call, tool);
          events.add(request);
          awaited.add(request.requestId());
        } else {
          String key =
              call.started()
                  .map(ToolStarted::key)
                  .orElseGet(
                      () -> tool.idempotencyKey(runId, call.step(), call.ordinal(), checked));
          runs.add(
              new ToolRun(checked, tool, call.step(), call.ordinal(), key, call.nextAttempt()));
        }
      }
    }
  }

  private static ToolFinished refused(CallState call, String message) {
    return new ToolFinished(
        call.call().id(),
        call.call().name(),
        Optional.empty(),
        false,
        Json.of(message),
        true,
        Duration.ZERO);
  }

  /** Looks at how a batch ended and lets the run go on, wait or fail. */
  private void conclude(List<ToolEnd> ends, int step) {
    Optional<WarpwrightException> cut = operation.end(step);
    Set<String> unknown = unknownOutcomes();
    if (!unknown.isEmpty()) {
      suspend(
          RunSuspended.Reason.RECONCILIATION,
          unknown,
          cut.map(end -> failure(end.kind(), String.valueOf(end.getMessage()))));
    }
    if (cut.isPresent()) {
      throw cut.get();
    }
    if (!unknown.isEmpty()) {
      return;
    }
    boolean failed = ends.stream().anyMatch(end -> end instanceof ToolEnd.Known k && k.error());
    if (failed && agent.toolExecution().stopOnError()) {
      throw new InvalidOutputException(
          FailureKind.TOOL_FAILED,
          "A tool failed and the agent stops on errors.",
          operation.trace());
    }
    if (log.state().toolErrors() > agent.maxToolErrors()) {
      throw new LimitExceededException(
          "The run has %d tool errors; its limit (maxToolErrors) is %d."
              .formatted(log.state().toolErrors(), agent.maxToolErrors()),
          null,
          operation.trace());
    }
  }

  /** The calls whose outcome has to be found out or decided before the run may go on. */
  private Set<String> unknownOutcomes() {
    Set<String> ids = new HashSet<>();
    for (CallState call : log.state().calls()) {
      if (call.isInDoubt() && call.started().orElseThrow().effect() == EffectClass.ONCE) {
        ids.add(call.call().id());
      }
    }
    return ids;
  }

  private void suspend(
      RunSuspended.Reason reason, Set<String> awaited, Optional<RunFailed> intendedEnd) {
    log.append(new RunSuspended(reason, awaited.stream().sorted().toList(), intendedEnd));
  }

  /** Ends the run by a failure or, while an outcome is unknown, records that it would have. */
  private void end(FailureKind kind, String message) {
    if (log.state().status() != RunStatus.RUNNING) {
      return;
    }
    RunFailed failure = failure(kind, message);
    Set<String> unknown = unknownOutcomes();
    if (unknown.isEmpty()) {
      log.append(failure);
    } else {
      suspend(RunSuspended.Reason.RECONCILIATION, unknown, Optional.of(failure));
    }
  }

  private RunFailed failure(FailureKind kind, String message) {
    int step = log.state().step();
    List<Attempt> attempts =
        operation.trace().attempts().stream().filter(attempt -> attempt.step() == step).toList();
    return new RunFailed(kind, message, isResumable(kind), step, attempts);
  }

  private static boolean isResumable(FailureKind kind) {
    return switch (kind) {
      case NO_ELIGIBLE_TARGET,
          TARGETS_EXHAUSTED,
          TOTAL_ATTEMPTS,
          DEADLINE,
          CANCELLED,
          LIMIT,
          TOOL_FAILED,
          STORE,
          INTERNAL,
          UNFINISHED,
          UNKNOWN_OUTCOME,
          CONFLICT ->
          true;
      case INVALID_REQUEST,
          INVALID_HISTORY,
          INVALID_SCOPE,
          INVALID_CONFIGURATION,
          OUTPUT_PARSE,
          OUTPUT_SCHEMA,
          OUTPUT_REFUSAL,
          OUTPUT_TRUNCATION ->
          false;
    };
  }

  /** Writes intents before effects and outcomes after them. */
  private final class Journal implements ToolJournal {
    private final Set<ToolRun> written = new HashSet<>();

    /** The intents of runs that begin now; a PURE tool has no effect and needs none. */
    List<RunEvent> intents(List<ToolRun> runs) {
      return runs.stream()
          .filter(run -> run.tool().effect() != EffectClass.PURE)
          .filter(written::add)
          .map(Journal::intent)
          .toList();
    }

    private static RunEvent intent(ToolRun run) {
      return new ToolStarted(
          run.step(),
          run.ordinal(),
          run.call().id(),
          run.tool().name(),
          run.tool().effect(),
          run.call().input(),
          run.key(),
          run.attempt());
    }

    @Override
    public void starting(List<ToolRun> runs) {
      toolRuns += runs.size();
      List<RunEvent> intents = intents(runs);
      if (!intents.isEmpty()) {
        log.append(intents);
      }
    }

    @Override
    public void ended(ToolRun run, ToolEnd.Known end) {
      List<RunEvent> events = new ArrayList<>(2);
      if (run.tool().effect() == EffectClass.PURE) {
        events.add(intent(run));
      }
      events.add(
          new ToolFinished(
              run.call().id(),
              run.tool().name(),
              Optional.of(run.key()),
              true,
              end.output(),
              end.error(),
              end.duration()));
      log.append(events);
    }
  }
}
