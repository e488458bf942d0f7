package dev.warpwright.cost;

import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Money;
import java.util.Optional;

/**
 * The highest price per 1000 tokens that a request accepts.
 *
 * <p>It limits the price of the models that are called, not the invoice: it knows neither how many
 * tokens a call uses nor how many calls are made, and is independent of cost accounting and of
 * reservations. A complete boundary of cost needs besides a limit of attempts, spending limits at
 * the provider, authentication and rate limiting.
 *
 * @param maxCostPer1kTokens the highest price; zero or more
 * @param unknownCost what is done about a target whose price is unknown
 */
public record PriceCeiling(Money maxCostPer1kTokens, UnknownCost unknownCost) {
  /** Checks the price. */
  public PriceCeiling {
    if (maxCostPer1kTokens.signum() < 0) {
      throw new InvalidRequestException(
          FailureKind.INVALID_REQUEST,
          "maxCostPer1kTokens must be 0 or more, but is " + maxCostPer1kTokens + ".");
    }
  }

  /**
   * A ceiling that refuses targets whose price is unknown.
   *
   * @param maxCostPer1kTokens the highest price
   * @return the ceiling
   * @throws InvalidRequestException if it is negative
   */
  public static PriceCeiling of(Money maxCostPer1kTokens) {
    return new PriceCeiling(maxCostPer1kTokens, UnknownCost.REJECT);
  }

  /**
   * Why a target is not called. A price in another currency counts as unknown; one that is equal to
   * the ceiling passes.
   *
   * @param price the target's {@link PriceList#effective effective price}, if known
   * @return the message of the skip; empty if the target passes
   */
  public Optional<String> refusal(Optional<Money> price) {
    if (price.filter(maxCostPer1kTokens::sameCurrency).isPresent()) {
      return price
          .filter(known -> known.compareTo(maxCostPer1kTokens) > 0)
          .map(high -> "The price of 1k tokens is " + high + ", above " + named() + ".");
    }
    if (unknownCost == UnknownCost.ALLOW) {
      return Optional.empty();
    }
    String unknown =
        price.map(other -> "is in another currency, " + other.currency()).orElse("is not known");
    return Optional.of(
        "The price of 1k tokens " + unknown + ", and cannot be compared with " + named() + ".");
  }

  private String named() {
    return "the ceiling maxCostPer1kTokens of " + maxCostPer1kTokens;
  }
}
