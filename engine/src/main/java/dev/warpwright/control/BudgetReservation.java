package dev.warpwright.control;

import dev.warpwright.model.Money;

/**
 * Money set aside for one call. It ends in one of three ways, of which the first that is called
 * counts; whatever is called later, with whatever amount, changes nothing. Thread-safe.
 *
 * <p>A reservation of a {@linkplain BudgetStore#blocking blocking} store may wait in each of them.
 * If the thread is interrupted meanwhile, the call may have taken effect or not, and can be
 * repeated.
 */
public interface BudgetReservation {

  /**
   * The name under which it can be {@linkplain BudgetStore#reconcile reconciled}.
   *
   * @return an id that no other reservation of its scope has
   */
  String id();

  /**
   * How much was set aside.
   *
   * @return the amount
   */
  Money amount();

  /**
   * The call was made and this is what it cost; the rest is given back. An amount above what was
   * set aside counts in full and may exhaust the account. One in another currency gives nothing
   * back: the whole reservation becomes uncertain.
   *
   * @param actual what the call cost, zero or more
   * @param estimated whether that was estimated under assumptions that somebody has made explicit
   * @throws dev.warpwright.model.InvalidRequestException if the amount is negative; the reservation
   *     is as it was
   */
  void settle(Money actual, boolean estimated);

  /** The call was never made: everything is given back. */
  void cancel();

  /**
   * The call was cut off, failed, or cannot be priced: the provider may bill it, so everything
   * stays blocked until it is reconciled. A reservation of nothing leaves nothing to reconcile.
   */
  void uncertain();
}
