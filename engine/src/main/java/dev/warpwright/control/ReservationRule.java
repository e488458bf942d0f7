package dev.warpwright.control;

import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Money;
import java.util.Optional;

/** How much money is set aside for a call before it is made. */
public sealed interface ReservationRule {
  /**
   * The same amount for every call.
   *
   * @param amount more than zero
   */
  record Fixed(Money amount) implements ReservationRule {
    /** Checks the amount. */
    public Fixed {
      requirePositive("The fixed amount of a reservation", amount);
    }
  }

  /**
   * The most that the call can cost by the catalog: its estimated input and its {@code maxTokens}
   * at the catalog's prices. A call whose ceiling is not known is denied.
   *
   * @param cap the most that is set aside for one call, if there is such a limit
   */
  record Ceiling(Optional<Money> cap) implements ReservationRule {
    /** Checks the cap. */
    public Ceiling {
      cap.ifPresent(limit -> requirePositive("The cap of a reservation (ceilingUpTo)", limit));
    }
  }

  private static void requirePositive(String what, Money amount) {
    if (amount.nanos() <= 0) {
      throw new InvalidRequestException(
          FailureKind.INVALID_CONFIGURATION,
          what + " must be more than 0, but is " + amount + ".");
    }
  }

  /**
   * The same amount for every call.
   *
   * @param amount more than zero
   * @return the rule
   */
  static ReservationRule fixed(Money amount) {
    return new Fixed(amount);
  }

  /**
   * The most that a call can cost by the catalog.
   *
   * @return the rule
   */
  static ReservationRule ceiling() {
    return new Ceiling(Optional.empty());
  }

  /**
   * The most that a call can cost by the catalog, but no more than an amount.
   *
   * @param cap the amount, more than zero
   * @return the rule
   */
  static ReservationRule ceilingUpTo(Money cap) {
    return new Ceiling(Optional.of(cap));
  }
}
