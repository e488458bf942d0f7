package dev.warpwright.cost;

import dev.warpwright.model.Money;
import dev.warpwright.model.Target;
import java.util.Map;
import java.util.Optional;

/**
 * The prices per 1000 tokens by which targets are compared. They need no cost accounting.
 *
 * @param configured the program's own price for all models of a provider, by provider id; zero or
 *     more
 * @param catalog the prices of models without one
 */
public record PriceList(Map<String, Money> configured, Optional<ModelCatalog> catalog) {
  /** Copies the map, and checks that no price is negative. */
  public PriceList {
    configured = Map.copyOf(configured);
    configured.forEach(
        (provider, price) ->
            Bounds.notNegative(
                "The configured price of " + Target.requireProviderId(provider),
                Optional.of(price)));
  }

  /**
   * The effective price of a target: the one configured for its provider, else that of the {@link
   * CatalogEntry#pricePer1kTokens catalog}. Zero is a known price.
   *
   * @param target the target; its deployment is ignored
   * @return the price of 1000 tokens, if known
   */
  public Optional<Money> effective(Target target) {
    return Optional.ofNullable(configured.get(target.provider())).or(() -> fromCatalog(target));
  }

  /**
   * The catalog's price of a target, whatever is configured.
   *
   * @param target the target; its deployment is ignored
   * @return the price of 1000 tokens, if known
   */
  public Optional<Money> fromCatalog(Target target) {
    return catalog.flatMap(known -> known.find(target)).flatMap(CatalogEntry::pricePer1kTokens);
  }
}
