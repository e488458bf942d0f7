package dev.warpwright.agent;

import dev.warpwright.Operation;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.LimitExceededException;
import dev.warpwright.run.RunEvent;
import dev.warpwright.run.RunEvent.ModelResponded;
import dev.warpwright.run.RunEvent.RunFailed;
import dev.warpwright.run.RunState;
import dev.warpwright.run.RunTotals;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.TimeSource;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Stream;

/**
 * The limits that one invocation holds its run to: those of the agent and of the policy in force.
 *
 * <p>What was used is read from the run's state, so limits hold over resumes; what is about to be
 * used is estimated. Nothing is counted here.
 */
final class RunLimits {
  private static final RunBudget UNLIMITED = RunBudget.builder().build();

  private static final String EXHAUSTED = "The run exhausted maxSteps";

  private final Agent agent;
  private final RunPolicy policy;
  private final RunBudget budget;
  private final Optional<Duration> invocationTimeout;
  private final Deadline end;

  /** Made when the invocation begins: the policy's timeout runs from here on. */
  RunLimits(Agent agent, Invocation invocation, TimeSource time) {
    this.agent = agent;
    this.policy = invocation.policy().over(agent.policy());
    this.budget = policy.budget().orElse(UNLIMITED);
    this.invocationTimeout = invocation.timeout();
    this.end = policy.timeout().map(limit -> Deadline.after(time, limit)).orElse(Deadline.never());
  }

  /** How long the operation may take, whatever its end then means. */
  Optional<Duration> timeout() {
    return Stream.concat(invocationTimeout.stream(), policy.timeout().stream())
        .min(Duration::compareTo);
  }

  /** The policy's timeout, if it has passed. */
  Optional<Duration> passedTimeout() {
    return policy.timeout().filter(limit -> end.hasPassed());
  }

  OnTimeout onTimeout() {
    return policy.onTimeout().orElse(OnTimeout.TIMED_OUT);
  }

  /**
   * Refuses a limit that nobody could hold the run to.
   *
   * @throws InvalidRequestException if costs are limited and not accounted
   */
  void requireCheckable(Operation operation) {
    if (budget.maxCost().isPresent() && !operation.accountsCosts()) {
      throw new InvalidRequestException(
          FailureKind.INVALID_CONFIGURATION,
          "maxCost needs a gateway with costAccounting, which says what a call costs.");
    }
  }

  /**
   * Checks that another step may be made, whatever it takes.
   *
   * @throws LimitExceededException if the steps are used up, or too many tools have failed
   */
  void requireStepLeft(RunState state, Operation operation) {
    whyNoStep(agent, state)
        .ifPresent(
            why -> {
              throw exceeded(why, operation);
            });
  }

  /** Why an agent makes no further step, if its own limits are why. */
  static Optional<String> whyNoStep(Agent agent, RunState state) {
    if (state.toolErrors() > agent.maxToolErrors()) {
      return Optional.of(
          "The run has %d tool errors; its limit (maxToolErrors) is %d."
              .formatted(state.toolErrors(), agent.maxToolErrors()));
    }
    return state.nextStep() > agent.maxSteps()
        ? Optional.of(
            (EXHAUSTED + ": %d steps were made and the last answer still asked for tools.")
                .formatted(agent.maxSteps()))
        : Optional.empty();
  }

  /** Whether a run failed since {@link #whyNoStep} said so. */
  static boolean isOfSteps(RunFailed end) {
    return end.kind() == FailureKind.LIMIT
        && (end.message().startsWith(EXHAUSTED) || end.message().contains("(maxToolErrors)"));
  }

  /**
   * Checks that the budget allows a model call with the conversation as it stands.
   *
   * @return the most output tokens of its answer; empty if the budget sets no limit to them
   * @throws LimitExceededException if a limit is passed or would be
   */
  OptionalInt beforeModel(RunState state, Operation operation) {
    if (policy.budget().isEmpty()) {
      return OptionalInt.empty();
    }
    Allowance left = new Allowance(budget, state.used(budget.includeChildRuns()));
    long input = operation.inputTokens(state.messages());
    OptionalInt most = left.mostOutput(input);
    left.passed()
        .or(() -> left.refuseModel(input))
        .or(() -> operation.ceiling(input, most).flatMap(left::refuseCost))
        .ifPresent(why -> refuse(why, operation));
    return most;
  }

  /**
   * Checks that the budget allows any model call at all, such as one for a summary.
   *
   * @throws LimitExceededException if a limit is passed, or an allowance is used up
   */
  void beforeCompaction(RunState state, Operation operation) {
    if (policy.budget().isPresent()) {
      Allowance left = new Allowance(budget, state.used(budget.includeChildRuns()));
      left.passed().or(() -> left.refuseModel(0)).ifPresent(why -> refuse(why, operation));
    }
  }

  /**
   * Checks that the budget allows tool calls.
   *
   * @param unwritten what is to be written with the intents: the answer that asks for the tools
   * @param next what is about to be begun
   * @throws LimitExceededException if a limit is passed or would be
   */
  void beforeTools(RunState state, List<RunEvent> unwritten, Preflight next, Operation operation) {
    if (policy.budget().isEmpty() || !next.hasWork()) {
      return;
    }
    RunTotals used = state.used(budget.includeChildRuns());
    for (RunEvent event : unwritten) {
      if (event instanceof ModelResponded answer) {
        used = used.plus(RunTotals.ofStep(answer.usage(), answer.attempts()));
      }
    }
    Allowance left = new Allowance(budget, used);
    left.passed()
        .or(() -> left.refuseTools(next.newCalls()))
        .ifPresent(why -> refuse(why, operation));
  }

  private static void refuse(String why, Operation operation) {
    throw exceeded(why, operation);
  }

  private static LimitExceededException exceeded(String why, Operation operation) {
    return new LimitExceededException(why, null, operation.trace());
  }
}
