package dev.warpwright.cost;

import dev.warpwright.model.Money;
import dev.warpwright.model.Target;
import java.math.BigDecimal;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What a {@link ModelCatalog} knows about one model: prices and declared facts. Immutable; whatever
 * was not said stays absent.
 *
 * {@snippet :
 * CatalogEntry entry =
 *     CatalogEntry.builder("anthropic", "claude-x")
 *         .pricing(Pricing.of("2026-03", "USD"))
 *         .input(Money.of("0.003", "USD"))
 *         .cachedInput(Money.of("0.0003", "USD"))
 *         .cacheWrite(Money.of("0.00375", "USD"))
 *         .output(Money.of("0.015", "USD"))
 *         .longContext(200_000, new BigDecimal("2"), new BigDecimal("1.5"))
 *         .build();
 * }
 *
 * @param provider the provider's id
 * @param modelId the provider's model id
 * @param aliases other ids of the same model
 * @param tier its declared place in the provider's range
 * @param rates its prices per 1000 tokens, each zero or more, all in one currency
 * @param costPer1kTokens one price per 1000 tokens for comparisons, zero or more; no valuation uses
 *     it
 * @param longContext what it costs more once its input is long
 * @param pricing where the rates come from; without it nothing is valued
 * @param contextWindow the most tokens of input and output together
 * @param maxOutput the most tokens of output
 */
public record CatalogEntry(
    String provider,
    String modelId,
    Set<String> aliases,
    Optional<Tier> tier,
    Rates rates,
    Optional<Money> costPer1kTokens,
    Optional<LongContext> longContext,
    Optional<Pricing> pricing,
    OptionalLong contextWindow,
    OptionalLong maxOutput) {
  /** A model's declared place in its provider's range. */
  public enum Tier {
    /** The most capable. */
    FLAGSHIP,
    /** In between. */
    STANDARD,
    /** The quickest. */
    FAST
  }

  /** Checks the ids, and that prices are zero or more and in one currency. */
  public CatalogEntry {
    Target model = Target.of(provider, modelId);
    aliases = Set.copyOf(aliases);
    aliases.forEach(alias -> Target.of(provider, alias));
    Bounds.notNegative("The input rate of " + model, rates.input());
    Bounds.notNegative("The cached input rate of " + model, rates.cachedInput());
    Bounds.notNegative("The cache write rate of " + model, rates.cacheWrite());
    Bounds.notNegative("The output rate of " + model, rates.output());
    Bounds.notNegative("The costPer1kTokens of " + model, costPer1kTokens);
    Set<String> currencies =
        Stream.concat(
                Stream.concat(rates.known(), costPer1kTokens.stream()).map(Money::currency),
                pricing.map(Pricing::currency).stream())
            .collect(Collectors.toCollection(TreeSet::new));
    if (currencies.size() > 1) {
      throw Bounds.invalid(
          "The prices of %s must be in one currency, but are in %s."
              .formatted(model, String.join(" and ", currencies)));
    }
    contextWindow.ifPresent(tokens -> Bounds.atLeast(1, "The context window of " + model, tokens));
    maxOutput.ifPresent(tokens -> Bounds.atLeast(1, "The maximum output of " + model, tokens));
  }

  /**
   * The price per 1000 tokens by which targets are compared: {@code costPer1kTokens}, else the
   * higher of the input and the output rate if both are known.
   *
   * @return the price, if known
   */
  public Optional<Money> pricePer1kTokens() {
    return costPer1kTokens.or(
        () ->
            rates
                .input()
                .flatMap(in -> rates.output().map(out -> in.compareTo(out) > 0 ? in : out)));
  }

  /**
   * Begins an entry.
   *
   * @param provider the provider's id
   * @param modelId the provider's model id
   * @return a builder
   */
  public static Builder builder(String provider, String modelId) {
    return new Builder(provider, modelId);
  }

  /** Collects what is known about a model. Not thread-safe. */
  public static final class Builder {
    private final String provider;
    private final String modelId;
    private Set<String> aliases = Set.of();
    private @Nullable Tier tier;
    private @Nullable Money input;
    private @Nullable Money cachedInput;
    private @Nullable Money cacheWrite;
    private @Nullable Money output;
    private @Nullable Money costPer1kTokens;
    private @Nullable LongContext longContext;
    private @Nullable Pricing pricing;
    private OptionalLong contextWindow = OptionalLong.empty();
    private OptionalLong maxOutput = OptionalLong.empty();

    private Builder(String provider, String modelId) {
      this.provider = provider;
      this.modelId = modelId;
    }

    /**
     * Names other ids of the same model.
     *
     * @param aliases the ids
     * @return this
     */
    public Builder aliases(Set<String> aliases) {
      this.aliases = Set.copyOf(aliases);
      return this;
    }

    /**
     * Declares the model's place in its provider's range.
     *
     * @param tier the place
     * @return this
     */
    public Builder tier(Tier tier) {
      this.tier = tier;
      return this;
    }

    /**
     * Sets the price of input that no cache was involved in.
     *
     * @param per1kTokens the price of 1000 tokens
     * @return this
     */
    public Builder input(Money per1kTokens) {
      this.input = per1kTokens;
      return this;
    }

    /**
     * Sets the price of input read from a cache.
     *
     * @param per1kTokens the price of 1000 tokens
     * @return this
     */
    public Builder cachedInput(Money per1kTokens) {
      this.cachedInput = per1kTokens;
      return this;
    }

    /**
     * Sets the price of input written to a cache.
     *
     * @param per1kTokens the price of 1000 tokens
     * @return this
     */
    public Builder cacheWrite(Money per1kTokens) {
      this.cacheWrite = per1kTokens;
      return this;
    }

    /**
     * Sets the price of output.
     *
     * @param per1kTokens the price of 1000 tokens
     * @return this
     */
    public Builder output(Money per1kTokens) {
      this.output = per1kTokens;
      return this;
    }

    /**
     * Sets the one price by which the model is compared with others. It takes precedence over the
     * rates there, and is not used to value a call.
     *
     * @param price the price of 1000 tokens
     * @return this
     */
    public Builder costPer1kTokens(Money price) {
      this.costPer1kTokens = price;
      return this;
    }

    /**
     * Sets what the model costs more once its input is long.
     *
     * @param thresholdTokens the longest input that has the ordinary prices
     * @param inputMultiplier the factor on the rates of every kind of input
     * @param outputMultiplier the factor on the output rate
     * @return this
     * @throws dev.warpwright.model.InvalidRequestException if one is out of the bounds of {@link
     *     LongContext}
     */
    public Builder longContext(
        long thresholdTokens, BigDecimal inputMultiplier, BigDecimal outputMultiplier) {
      this.longContext = new LongContext(thresholdTokens, inputMultiplier, outputMultiplier);
      return this;
    }

    /**
     * Says where the rates come from; without it no call of the model is valued.
     *
     * @param pricing version, currency and source
     * @return this
     */
    public Builder pricing(Pricing pricing) {
      this.pricing = pricing;
      return this;
    }

    /**
     * Declares the context window.
     *
     * @param tokens the most tokens of input and output together, at least 1
     * @return this
     */
    public Builder contextWindow(long tokens) {
      this.contextWindow = OptionalLong.of(tokens);
      return this;
    }

    /**
     * Declares the maximum output.
     *
     * @param tokens the most tokens of output, at least 1
     * @return this
     */
    public Builder maxOutput(long tokens) {
      this.maxOutput = OptionalLong.of(tokens);
      return this;
    }

    /**
     * Makes the entry.
     *
     * @return the entry
     * @throws dev.warpwright.model.InvalidRequestException if an id or alias breaks the rule of
     *     {@link Target}, a price is negative, or prices are in different currencies
     */
    public CatalogEntry build() {
      return new CatalogEntry(
          provider,
          modelId,
          aliases,
          Optional.ofNullable(tier),
          new Rates(
              Optional.ofNullable(input),
              Optional.ofNullable(cachedInput),
              Optional.ofNullable(cacheWrite),
              Optional.ofNullable(output)),
          Optional.ofNullable(costPer1kTokens),
          Optional.ofNullable(longContext),
          Optional.ofNullable(pricing),
          contextWindow,
          maxOutput);
    }
  }
}
