package dev.warpwright.cost;

import dev.warpwright.model.CostValuation;
import dev.warpwright.model.CostValuation.Status;
import dev.warpwright.model.ReasoningAccounting;
import dev.warpwright.model.Target;
import dev.warpwright.model.Usage;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeSet;

/**
 * How a gateway accounts for cost: quotes before a call, valuations after it. Immutable and
 * thread-safe; every method is a pure function.
 *
 * <p>It is neither billing nor a strict limit on spending: it prices what providers report, at the
 * prices of a catalog.
 *
 * {@snippet :
 * CostAccounting accounting =
 *     CostAccounting.builder(catalog)
 *         .unknownCost(UnknownCost.REJECT)
 *         .cacheAssumption(CacheAssumption.NONE)
 *         .reasoningAccounting("my-provider", ReasoningAccounting.INCLUDED)
 *         .build();
 * }
 *
 * <p>Nothing that a provider reports makes a method throw: the valuation is UNKNOWN then.
 */
public final class CostAccounting {
  private final ModelCatalog catalog;
  private final UnknownCost unknownCost;
  private final CacheAssumption cacheAssumption;
  private final Map<String, ReasoningAccounting> reasoningAccounting;

  private CostAccounting(Builder builder) {
    this.catalog = builder.catalog;
    this.unknownCost = builder.unknownCost;
    this.cacheAssumption = builder.cacheAssumption;
    this.reasoningAccounting = Map.copyOf(builder.reasoningAccounting);
  }

  /**
   * Begins a policy.
   *
   * @param catalog the prices
   * @return a builder
   */
  public static Builder builder(ModelCatalog catalog) {
    return new Builder(catalog);
  }

  /**
   * The prices.
   *
   * @return the catalog
   */
  public ModelCatalog catalog() {
    return catalog;
  }

  /**
   * Whether a target whose quote is unknown may be called.
   *
   * @return what is done about it
   */
  public UnknownCost unknownCost() {
    return unknownCost;
  }

  /**
   * Checks that settings name only providers that exist.
   *
   * @param providers the ids of the providers that are registered
   * @throws dev.warpwright.model.InvalidRequestException if a setting names another one
   */
  public void requireProviders(Set<String> providers) {
    Set<String> others = new TreeSet<>(reasoningAccounting.keySet());
    others.removeAll(providers);
    if (!others.isEmpty()) {
      throw Bounds.invalid(
          "reasoningAccounting must name registered providers (%s), but names %s."
              .formatted(String.join(", ", new TreeSet<>(providers)), String.join(", ", others)));
    }
  }

  /**
   * Values one call.
   *
   * @param target the target that was called
   * @param usage what the provider reported; {@link Usage#ABSENT} for a failure without usage
   * @param declared whether the output includes the reasoning, if the adapter declares it. It has
   *     precedence over the setting of this policy, and a setting that contradicts it is listed in
   *     the valuation
   * @return the valuation
   */
  public CostValuation value(Target target, Usage usage, Optional<ReasoningAccounting> declared) {
    Optional<ReasoningAccounting> setting =
        Optional.ofNullable(reasoningAccounting.get(target.provider()));
    Optional<ReasoningAccounting> effective = declared.or(() -> setting);
    Draft draft = new Draft(target, catalog);
    if (setting.isPresent() && !setting.equals(effective)) {
      draft.note("reasoning-setting-not-applied");
    }
    if (Valuation.contradiction(usage, effective).isPresent()) {
      return draft.unknown("invalid-reported-usage").finish();
    }
    try {
      return Valuation.value(draft, usage, cacheAssumption, effective);
    } catch (ArithmeticException e) {
      return draft.unknown("amount-overflow").finish();
    }
  }

  /**
   * Estimates before a call what it will cost if no cache helps. It is no limit on spending.
   *
   * @param target the target
   * @param inputTokens the estimated input; zero or more
   * @param expectedOutputTokens how much output the caller expects
   * @param maxTokens the request's limit of output, which counts where nothing is expected
   * @return a valuation whose status is ESTIMATED or UNKNOWN
   * @throws IllegalArgumentException if a number of tokens is negative
   */
  public CostValuation quote(
      Target target, long inputTokens, OptionalInt expectedOutputTokens, OptionalInt maxTokens) {
    OptionalInt output = expectedOutputTokens.isPresent() ? expectedOutputTokens : maxTokens;
    Draft draft = new Draft(target, catalog);
    return estimate(draft.estimatedBy("cold-cache"), draft.rates(), inputTokens, output);
  }

  /**
   * Estimates before a call the most that it can cost, to reserve that much: the whole input at the
   * highest rate that input can have, and as much output as the request allows. {@link
   * CostValuation#amountUpTo} caps it.
   *
   * @param target the target
   * @param inputTokens the estimated input; zero or more
   * @param maxTokens the request's limit of output, without which the cost has no ceiling
   * @return a valuation whose status is ESTIMATED or UNKNOWN
   * @throws IllegalArgumentException if a number of tokens is negative
   */
  public CostValuation ceiling(Target target, long inputTokens, OptionalInt maxTokens) {
    Draft draft = new Draft(target, catalog);
    return estimate(
        draft.estimatedBy("highest-input-rate"),
        draft.rates().withHighestInput(),
        inputTokens,
        maxTokens);
  }

  private static CostValuation estimate(
      Draft draft, Rates rates, long inputTokens, OptionalInt outputTokens) {
    draft.estimatedBy("estimated-tokens");
    if (outputTokens.isEmpty()) {
      draft.unknown("missing-output-limit");
    }
    try {
      return draft.price(new Draft.Tokens(inputTokens, 0, 0, outputTokens.orElse(0), 0), rates);
    } catch (ArithmeticException e) {
      return draft.unknown("amount-overflow").finish();
    }
  }

  /**
   * Why a target is not called, given its quote.
   *
   * @param quote what {@link #quote} said
   * @return the message of the skip; empty if the quote is no reason not to call
   */
  public Optional<String> refusal(CostValuation quote) {
    if (unknownCost == UnknownCost.ALLOW || quote.status() != Status.UNKNOWN) {
      return Optional.empty();
    }
    return Optional.of(
        "The cost of a call must be known (unknownCost REJECT), but is not: "
            + String.join(", ", quote.unknownReasons())
            + ".");
  }

  /** Collects settings. Not thread-safe. */
  public static final class Builder {
    private final ModelCatalog catalog;
    private UnknownCost unknownCost = UnknownCost.ALLOW;
    private CacheAssumption cacheAssumption = CacheAssumption.UNKNOWN;
    private final Map<String, ReasoningAccounting> reasoningAccounting = new HashMap<>();

    private Builder(ModelCatalog catalog) {
      this.catalog = catalog;
    }

    /**
     * Says whether a target whose quote is unknown may be called. A call whose cost turns out to be
     * unknown stays a success in any case.
     *
     * @param unknownCost what is done about it; ALLOW by default
     * @return this
     */
    public Builder unknownCost(UnknownCost unknownCost) {
      this.unknownCost = Objects.requireNonNull(unknownCost, "unknownCost");
      return this;
    }

    /**
     * Says what a missing cache counter means.
     *
     * @param cacheAssumption the meaning; UNKNOWN by default
     * @return this
     */
    public Builder cacheAssumption(CacheAssumption cacheAssumption) {
      this.cacheAssumption = Objects.requireNonNull(cacheAssumption, "cacheAssumption");
      return this;
    }

    /**
     * Says whether a provider's output includes the reasoning, where its adapter does not declare
     * that.
     *
     * @param provider the provider's id
     * @param accounting whether it does; unset by default
     * @return this
     */
    public Builder reasoningAccounting(String provider, ReasoningAccounting accounting) {
      reasoningAccounting.put(
          Objects.requireNonNull(provider, "provider"),
          Objects.requireNonNull(accounting, "accounting"));
      return this;
    }

    /**
     * Makes the policy.
     *
     * @return the policy
     */
    public CostAccounting build() {
      return new CostAccounting(this);
    }
  }
}
