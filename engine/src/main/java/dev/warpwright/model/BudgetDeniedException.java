package dev.warpwright.model;

import org.jspecify.annotations.Nullable;

/**
 * The money for a call could not be set aside: the budget is used up, the request names none, or
 * the ledger is not to be trusted any more.
 */
public final class BudgetDeniedException extends WarpwrightException {
  private static final long serialVersionUID = 1L;

  /**
   * Makes the exception.
   *
   * @param message names the rule, the bound and the value; without content or secrets
   * @param cause what decided the outcome, if there is one
   * @param trace the operation so far
   */
  public BudgetDeniedException(String message, @Nullable Throwable cause, OperationTrace trace) {
    super(FailureKind.BUDGET_DENIED, message, cause, trace);
  }
}
