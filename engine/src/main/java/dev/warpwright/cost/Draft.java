package dev.warpwright.cost;

import dev.warpwright.model.CostValuation;
import dev.warpwright.model.CostValuation.Component;
import dev.warpwright.model.CostValuation.Status;
import dev.warpwright.model.Target;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A valuation in the making: collects what is unknown and what was assumed, then prices tokens.
 *
 * <p>The formula. Input counts cached reads and cache writes; so each token has one class and is
 * paid once:
 *
 * <pre>
 * ordinary input = input − cached − written
 * component      = tokens × rate × multiplier ÷ 1000, rounded half up to a billionth
 * total          = the exact sum of the components
 * </pre>
 *
 * The multiplier is 1, or that of the long context if there is more input than its threshold.
 */
final class Draft {
  private final Target target;
  private final ModelCatalog catalog;
  private final Optional<CatalogEntry> entry;
  private final Optional<Pricing> pricing;
  private List<String> unknownReasons = List.of(); // mostly none
  private List<String> assumptions = List.of(); // mostly one or two
  private @Nullable Charges charges; // means nothing once something is unknown
  private Status status = Status.KNOWN;
  private boolean longContext;

  Draft(Target target, ModelCatalog catalog) {
    this.target = target;
    this.catalog = catalog;
    this.entry = catalog.find(target);
    this.pricing = entry.flatMap(CatalogEntry::pricing);
    if (entry.isEmpty()) {
      unknown("model-not-in-catalog");
    } else if (pricing.isEmpty()) {
      unknown("no-pricing");
    }
  }

  Draft unknown(String reason) {
    if (!unknownReasons.contains(reason)) {
      unknownReasons = and(unknownReasons, reason);
    }
    status = Status.UNKNOWN;
    return this;
  }

  /** Notes what the amount rests on; it stays as certain as it is. */
  Draft note(String assumption) {
    assumptions = and(assumptions, assumption);
    return this;
  }

  private static List<String> and(List<String> codes, String another) {
    return switch (codes.size()) {
      case 0 -> List.of(another);
      case 1 -> List.of(codes.getFirst(), another);
      default -> Stream.concat(codes.stream(), Stream.of(another)).toList();
    };
  }

  /** Notes what makes the amount an estimate. */
  Draft estimatedBy(String assumption) {
    if (status == Status.KNOWN) {
      status = Status.ESTIMATED;
    }
    return note(assumption);
  }

  /**
   * How many tokens of which class there are, each number zero or more.
   *
   * @param input input, cached and written parts included
   * @param cached the part read from a cache
   * @param written the part written to a cache
   * @param output output
   * @param reasoning reasoning beside the output
   */
  record Tokens(long input, long cached, long written, long output, long reasoning) {
    Tokens {
      if ((input | cached | written | output | reasoning) < 0) {
        throw new IllegalArgumentException(
            "Numbers of tokens must be 0 or more, but are %d, %d, %d, %d, %d."
                .formatted(input, cached, written, output, reasoning));
      }
    }
  }

  /** The rates of the target; none is known without an entry. */
  Rates rates() {
    return entry.isPresent() ? entry.get().rates() : Rates.NONE;
  }

  /** Prices the tokens, unless something is unknown already: then the counts mean nothing. */
  CostValuation price(Tokens tokens, Rates rates) {
    if (status != Status.UNKNOWN) {
      Optional<LongContext> tier = entry.flatMap(CatalogEntry::longContext);
      longContext = tier.isPresent() && tokens.input > tier.get().thresholdTokens();
      charges = new Charges(tokens, rates, longContext ? tier : Optional.empty(), currency());
      if (charges.lackRates()) {
        charges.missingRates().forEach(this::unknown);
      }
    }
    return finish();
  }

  private String currency() {
    return pricing.orElseThrow().currency();
  }

  CostValuation finish() {
    Charges priced = status == Status.UNKNOWN ? null : charges;
    return new CostValuation(
        target.provider(),
        target.modelId(),
        status,
        priced == null ? Optional.empty() : Optional.of(priced.total()),
        pricing.map(Pricing::currency),
        catalog.version(),
        pricing.map(Pricing::version),
        Valuation.RULE_VERSION,
        pricing.flatMap(Pricing::source),
        priced == null ? List.of() : Component.late(priced.count(), priced),
        unknownReasons,
        assumptions,
        longContext);
  }
}
