package dev.warpwright.cost;

import dev.warpwright.model.Money;
import java.time.LocalDate;
import java.util.Optional;

/**
 * Where the rates of a {@link CatalogEntry} come from. All of them are prices per 1000 tokens.
 *
 * @param version names this state of the prices; not blank
 * @param currency the currency of every rate, such as {@code USD}
 * @param source a text or address that says where they were read, if known
 * @param asOf the day on which they were read, if known
 */
public record Pricing(
    String version, String currency, Optional<String> source, Optional<LocalDate> asOf) {
  /** Checks version and currency. */
  public Pricing {
    Bounds.notBlank("A pricing version", version);
    Money.requireCurrency(currency);
  }

  /**
   * Prices without a source.
   *
   * @param version names this state of the prices
   * @param currency the currency of every rate
   * @return the metadata
   */
  public static Pricing of(String version, String currency) {
    return new Pricing(version, currency, Optional.empty(), Optional.empty());
  }

  /**
   * Prices that were read somewhere.
   *
   * @param version names this state of the prices
   * @param currency the currency of every rate
   * @param source a text or address
   * @param asOf the day on which they were read
   * @return the metadata
   */
  public static Pricing of(String version, String currency, String source, LocalDate asOf) {
    return new Pricing(version, currency, Optional.of(source), Optional.of(asOf));
  }
}
