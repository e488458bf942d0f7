package dev.warpwright.control;

import dev.warpwright.model.Money;

/**
 * Keeps accounts of money that may be spent: the port between the engine and a ledger.
 *
 * <p>An account belongs to a scope, a name that comes from the application, never straight from a
 * client; a budget for a period is a scope with the period in its name. Before a call is dispatched
 * what it may cost is {@linkplain #reserve reserved}. {@code spent + reserved + uncertain ≤ limit}
 * holds for every reservation, so that concurrent calls cannot promise the same money twice. It
 * limits the work that is admitted, not the invoice: a call may turn out to cost more than was
 * reserved for it.
 *
 * <p>What was cut off may be billed or not: it stays {@linkplain BudgetReservation#uncertain
 * uncertain}, and blocked, until the application {@linkplain #reconcile reconciles} it.
 *
 * <p>Implementations are thread-safe. {@link #local} keeps accounts in memory, for one process and
 * as long as it lives; billing that has to be right needs a store over the service's own durable
 * ledger. A store over a shared backend must reserve atomically, let the reservations of a process
 * that died expire, honour interrupts, and settle and give back idempotently. It throws {@link
 * dev.warpwright.model.StoreException} when it fails or does not answer.
 */
public interface BudgetStore {
  /** What became of a reservation. */
  sealed interface Decision {
    /**
     * The amount is set aside.
     *
     * @param reservation the amount; to be settled, cancelled or kept as uncertain
     */
    record Reserved(BudgetReservation reservation) implements Decision {}

    /**
     * The amount does not fit, or the store takes no further scope. Nothing was set aside.
     *
     * @param message a sentence with the amount, the limit and what is spent, reserved and
     *     uncertain of it
     */
    record Denied(String message) implements Decision {}
  }

  /**
   * The currency of all accounts. Never blocks.
   *
   * @return three capital letters
   */
  String currency();

  /**
   * Whether a method of this store, or of its reservations, may wait for something. The engine
   * calls those of a store that does in tasks of their own, on virtual threads, and those of one
   * that does not on the operation's own thread.
   *
   * @return true by default
   */
  default boolean blocking() {
    return true;
  }

  /**
   * Sets an amount aside, if it fits: check and reservation are one atomic act. Called before each
   * dispatch of a call.
   *
   * @param scope whose money it is; 1 to 256 characters, not blank
   * @param amount how much the call may cost; zero or more, in the store's currency
   * @return a reservation or a denial
   * @throws InterruptedException if the caller was interrupted, and does not want it any more;
   *     nothing is set aside then, or the store gives it back
   * @throws dev.warpwright.model.InvalidRequestException if the scope or the amount is none
   */
  Decision reserve(String scope, Money amount) throws InterruptedException;

  /**
   * Reads an account.
   *
   * @param scope whose account
   * @return its sums at one instant; all zero for a scope of which nothing was ever reserved
   */
  BudgetSnapshot snapshot(String scope);

  /**
   * Puts an end to uncertainty: the application has found out what a call that was cut off did
   * cost. Idempotent: only the first call for a reservation, and only for one that is uncertain,
   * changes anything.
   *
   * @param scope whose account
   * @param reservationId the id of the reservation
   * @param actual what it did cost, zero or more; counts in full also above what was reserved
   * @return true if that reservation was uncertain until now
   * @throws dev.warpwright.model.InvalidRequestException if the amount is negative or not in the
   *     store's currency
   */
  boolean reconcile(String scope, String reservationId, Money actual);

  /**
   * A store in memory with room for 1000 scopes.
   *
   * @param limit the limit of each scope
   * @return a store without accounts
   */
  static BudgetStore local(Money limit) {
    return local(limit, LocalBudget.DEFAULT_MAX_SCOPES);
  }

  /**
   * A store in memory. It keeps each account as long as it lives, and refuses new scopes when it is
   * full.
   *
   * @param limit the limit of each scope, zero or more
   * @param maxScopes how many scopes it has room for; 1 to 100 000
   * @return a store without accounts
   * @throws dev.warpwright.model.InvalidRequestException if an argument is out of its bounds
   */
  static BudgetStore local(Money limit, int maxScopes) {
    return new LocalBudget(limit, maxScopes);
  }
}
