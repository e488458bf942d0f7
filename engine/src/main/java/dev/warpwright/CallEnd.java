package dev.warpwright;

import dev.warpwright.model.CostValuation;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.ProviderException;
import java.util.Optional;

/** How a call to a provider ended, or why it was not made. */
sealed interface CallEnd {
  /**
   * What the call cost or may have cost.
   *
   * @return the valuation; empty if no call was made, or costs are not accounted
   */
  default Optional<CostValuation> cost() {
    return Optional.empty();
  }

  /**
   * The provider answered.
   *
   * @param response the answer
   * @param cost what it cost, if costs are accounted
   * @param cacheHit whether no call was made for it
   */
  record Answered(ModelResponse response, Optional<CostValuation> cost, boolean cacheHit)
      implements CallEnd {}

  /**
   * The adapter threw.
   *
   * @param cause what it threw
   * @param cost what the failed call may have cost, if costs are accounted
   */
  record Failed(Throwable cause, Optional<CostValuation> cost) implements CallEnd {}

  /**
   * The adapter sent nothing, since its target cannot take the call.
   *
   * @param why says what the target cannot take
   */
  record Unsupported(ProviderException why) implements CallEnd {}

  /**
   * The call of another operation, which asked the same and whose answer this one waited for,
   * failed. It says nothing more of the target than it has said there.
   *
   * @param cause what the adapter threw
   */
  record SharedFailure(Throwable cause) implements CallEnd {}

  /**
   * The attempt's time was over, or the operation's.
   *
   * @param called whether the provider was called; else the time was over before
   * @param cost what the call may have cost, if it was made and costs are accounted
   */
  record TimedOut(boolean called, Optional<CostValuation> cost) implements CallEnd {}

  /**
   * The operation was cancelled.
   *
   * @param reason why
   * @param cost what the call may have cost, if it was made and costs are accounted
   */
  record Cancelled(String reason, Optional<CostValuation> cost) implements CallEnd {}

  /**
   * The target had no place for the call.
   *
   * @param message which limit, its value, and how long the call waited
   */
  record NotAdmitted(String message) implements CallEnd {}

  /**
   * The money for the call could not be set aside.
   *
   * @param message the amount and what is left, or why nothing can be set aside any more
   */
  record NoBudget(String message) implements CallEnd {}
}
