package dev.warpwright.agent;

import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Money;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * What a run may use over all its invocations.
 *
 * <p>It is looked at before each model call and before the tools of each step: what was used stands
 * in the run's log, and what is about to be used is estimated. A model call is not made if a limit
 * is passed, if its estimated input does not fit, or if nothing is left for an answer; what is left
 * limits the length of the answer. So a limit is passed by one call at most, and then by what the
 * estimate was wrong. The run then fails with a {@link
 * dev.warpwright.model.LimitExceededException}, and goes on when it is resumed with a higher limit.
 *
 * <p>It knows nothing of a {@link dev.warpwright.control.BudgetStore}, whose accounts many runs may
 * share; where both are set, both apply.
 *
 * @param maxToolCalls how many tool calls may be begun; one that is run again counts once
 * @param maxInputTokens how many input tokens the model calls may use
 * @param maxOutputTokens how many output tokens the model calls may use
 * @param maxTotalTokens how many tokens the model calls may use
 * @param maxCost what the model calls may cost
 * @param includeChildRuns whether what child runs use counts too
 */
public record RunBudget(
    OptionalInt maxToolCalls,
    OptionalLong maxInputTokens,
    OptionalLong maxOutputTokens,
    OptionalLong maxTotalTokens,
    Optional<Money> maxCost,
    boolean includeChildRuns) {
  /** Checks the bounds. */
  public RunBudget {
    maxToolCalls.ifPresent(calls -> requireNotNegative("maxToolCalls", calls, calls));
    maxInputTokens.ifPresent(tokens -> requireNotNegative("maxInputTokens", tokens, tokens));
    maxOutputTokens.ifPresent(tokens -> requireNotNegative("maxOutputTokens", tokens, tokens));
    maxTotalTokens.ifPresent(tokens -> requireNotNegative("maxTotalTokens", tokens, tokens));
    maxCost.ifPresent(amount -> requireNotNegative("maxCost", amount.nanos(), amount));
  }

  private static void requireNotNegative(String what, long value, Object shown) {
    if (value < 0) {
      throw new InvalidRequestException(
          FailureKind.INVALID_CONFIGURATION, what + " must be 0 or more, but is " + shown + ".");
    }
  }

  /**
   * Begins a budget without limits.
   *
   * @return a builder
   */
  public static Builder builder() {
    return new Builder();
  }

  /** Collects the limits of a budget; not thread-safe. */
  public static final class Builder {
    private OptionalInt maxToolCalls = OptionalInt.empty();
    private OptionalLong maxInputTokens = OptionalLong.empty();
    private OptionalLong maxOutputTokens = OptionalLong.empty();
    private OptionalLong maxTotalTokens = OptionalLong.empty();
    private @Nullable Money maxCost;
    private boolean includeChildRuns = true;

    private Builder() {}

    /**
     * Limits the tool calls that are begun; one that is run again counts once, one that is refused
     * or denied not at all. A batch of calls that does not fit is not begun.
     *
     * @param calls 0 or more
     * @return this builder
     */
    public Builder maxToolCalls(int calls) {
      maxToolCalls = OptionalInt.of(calls);
      return this;
    }

    /**
     * Limits the input tokens of all model calls that were answered.
     *
     * @param tokens 0 or more
     * @return this builder
     */
    public Builder maxInputTokens(long tokens) {
      maxInputTokens = OptionalLong.of(tokens);
      return this;
    }

    /**
     * Limits the output tokens of all model calls that were answered. What is left of it limits the
     * next answer.
     *
     * @param tokens 0 or more
     * @return this builder
     */
    public Builder maxOutputTokens(long tokens) {
      maxOutputTokens = OptionalLong.of(tokens);
      return this;
    }

    /**
     * Limits the tokens of all model calls that were answered. What is left of it, less the
     * estimated input, limits the next answer.
     *
     * @param tokens 0 or more
     * @return this builder
     */
    public Builder maxTotalTokens(long tokens) {
      maxTotalTokens = OptionalLong.of(tokens);
      return this;
    }

    /**
     * Limits what the model calls cost; needs a gateway that {@linkplain
     * dev.warpwright.Gateway.Builder#costAccounting accounts costs}. What the next call costs at
     * most is set aside if that is known: if the length of its answer is limited and the catalog
     * has its target. A call whose cost is not known counts nothing; {@link
     * dev.warpwright.run.RunState#cost()} tells of such calls, and {@link
     * dev.warpwright.cost.CostAccounting.Builder#unknownCost} refuses them beforehand.
     *
     * @param amount 0 or more
     * @return this builder
     */
    public Builder maxCost(Money amount) {
      maxCost = Objects.requireNonNull(amount, "amount");
      return this;
    }

    /**
     * Says whether what child runs use counts too.
     *
     * @param include true by default
     * @return this builder
     */
    public Builder includeChildRuns(boolean include) {
      includeChildRuns = include;
      return this;
    }

    /**
     * Makes the budget.
     *
     * @return the budget
     */
    public RunBudget build() {
      return new RunBudget(
          maxToolCalls,
          maxInputTokens,
          maxOutputTokens,
          maxTotalTokens,
          Optional.ofNullable(maxCost),
          includeChildRuns);
    }
  }
}
