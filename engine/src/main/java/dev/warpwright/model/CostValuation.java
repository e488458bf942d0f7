package dev.warpwright.model;

import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * What one model call costs by a catalog, or why that is not known.
 *
 * <p>It is neither a bill nor a limit on spending: the provider's invoice follows the provider's
 * own prices, discounts and taxes.
 *
 * <p>The codes in {@code unknownReasons} are stable:
 *
 * <table>
 * <caption>Why a cost is unknown</caption>
 * <tr><td>{@code model-not-in-catalog}</td><td>no entry has the model's id or alias</td></tr>
 * <tr><td>{@code no-pricing}</td><td>the entry has no pricing metadata</td></tr>
 * <tr><td>{@code missing-input-tokens}, {@code missing-cached-input-tokens}, {@code
 * missing-cache-write-tokens}, {@code missing-output-tokens}, {@code missing-reasoning-tokens}</td>
 * <td>the provider did not report a needed counter; an estimate of ours does not replace it</td>
 * </tr>
 * <tr><td>{@code missing-input-rate}, {@code missing-cached-input-rate}, {@code
 * missing-cache-write-rate}, {@code missing-output-rate}</td><td>the entry lacks a needed rate</td>
 * </tr>
 * <tr><td>{@code missing-output-limit}</td><td>nothing says how many output tokens to expect</td>
 * </tr>
 * <tr><td>{@code reasoning-accounting-unset}</td><td>there was reasoning, and nobody said whether
 * the output includes it</td></tr>
 * <tr><td>{@code fast-tier}</td><td>the call ran in a fast tier, which no catalog describes</td>
 * </tr>
 * <tr><td>{@code invalid-reported-usage}</td><td>the reported counters contradict each other</td>
 * </tr>
 * <tr><td>{@code amount-overflow}</td><td>the amount leaves the range of {@link Money}</td></tr>
 * </table>
 *
 * <p>Those in {@code assumptions} as well:
 *
 * <table>
 * <caption>What was assumed</caption>
 * <tr><td>{@code no-cached-input}, {@code no-cache-write}</td><td>a missing cache counter was taken
 * for zero</td></tr>
 * <tr><td>{@code reasoning-setting-not-applied}</td><td>a setting contradicts what the adapter
 * declares about reasoning; the declaration counts</td></tr>
 * <tr><td>{@code estimated-tokens}</td><td>a quote, made before the call</td></tr>
 * <tr><td>{@code cold-cache}</td><td>a quote that expects nothing from a cache</td></tr>
 * <tr><td>{@code highest-input-rate}</td><td>the whole input at the highest of its rates</td></tr>
 * </table>
 *
 * @param provider the provider's id
 * @param model the model id of the target that was called, which may be an alias in the catalog
 * @param status how far the amount can be trusted
 * @param amount the exact sum of the components; absent if and only if the status is UNKNOWN
 * @param currency the currency of the prices, if there are any
 * @param catalogVersion the version of the catalog
 * @param pricingVersion the version of the model's prices, if there are any
 * @param ruleVersion the version of the rules of valuation
 * @param source where the prices come from, if the catalog says so
 * @param components the parts of the amount; empty if it is unknown
 * @param unknownReasons codes that say why the amount is unknown; empty if it is not
 * @param assumptions codes that say what the amount rests on beside reported counters
 * @param longContext whether the prices of a long context applied
 */
public record CostValuation(
    String provider,
    String model,
    Status status,
    Optional<Money> amount,
    Optional<String> currency,
    String catalogVersion,
    Optional<String> pricingVersion,
    String ruleVersion,
    Optional<String> source,
    List<Component> components,
    List<String> unknownReasons,
    List<String> assumptions,
    boolean longContext) {
  /** How far an amount can be trusted. */
  public enum Status {
    /** It follows from reported counters and known rates alone. */
    KNOWN,
    /** It rests on an assumption or on estimated tokens. */
    ESTIMATED,
    /** There is no amount, for the reasons given. Unknown is not free. */
    UNKNOWN
  }

  /** A class of tokens with its own rate. */
  public enum TokenClass {
    /** Input that was neither read from a cache nor written to one. */
    INPUT,
    /** Input that was read from a cache. */
    CACHED_INPUT,
    /** Input that was written to a cache. */
    CACHE_WRITE,
    /** Output, with the reasoning that it includes. */
    OUTPUT,
    /** Reasoning that stands beside the output; paid at the output rate. */
    REASONING
  }

  /**
   * The price of the tokens of one class.
   *
   * @param tokenClass the class
   * @param tokens how many
   * @param rate the catalog's price per 1000 tokens, before the multiplier of a long context;
   *     absent only where there are no tokens
   * @param amount tokens × rate × multiplier ÷ 1000, rounded half up to a billionth
   */
  public record Component(TokenClass tokenClass, long tokens, Optional<Money> rate, Money amount) {
    /**
     * Components that are worked out when somebody reads them, as mostly the amount alone is read.
     *
     * @param size how many they are
     * @param source works them out from values that do not change: it may be called late, by any
     *     thread, and more than once
     * @return the components
     */
    public static List<Component> late(int size, Supplier<List<Component>> source) {
      return new LateList<>(size, source);
    }
  }

  /** Copies the lists, and checks that there is an amount, in the currency, or a reason. */
  public CostValuation {
    components = LateList.copyOf(components);
    unknownReasons = List.copyOf(unknownReasons);
    assumptions = List.copyOf(assumptions);
    boolean unknown = status == Status.UNKNOWN;
    if (unknown == amount.isPresent() || unknown == unknownReasons.isEmpty()) {
      throw new IllegalArgumentException(
          "A valuation is UNKNOWN with reasons and without amount, or the reverse, but is "
              + status
              + " with "
              + unknownReasons
              + " and "
              + amount.map(Money::toString).orElse("no amount")
              + ".");
    }
    if (amount.isPresent() && !amount.get().currency().equals(currency.orElse(null))) {
      throw new IllegalArgumentException(
          "The amount must be in " + currency.orElse("no currency") + ", but is " + amount.get());
    }
  }

  /**
   * The amount, capped.
   *
   * @param cap the most
   * @return the lower of the two; empty if the amount is unknown or in another currency
   */
  public Optional<Money> amountUpTo(Money cap) {
    return amount.filter(cap::sameCurrency).map(known -> known.compareTo(cap) <= 0 ? known : cap);
  }
}
