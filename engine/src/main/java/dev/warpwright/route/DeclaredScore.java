package dev.warpwright.route;

import static dev.warpwright.cost.CatalogEntry.Tier.FAST;
import static dev.warpwright.cost.CatalogEntry.Tier.FLAGSHIP;

import dev.warpwright.cost.CatalogEntry.Tier;
import dev.warpwright.model.Money;
import dev.warpwright.model.RoutingMode;
import dev.warpwright.model.TaskIntent;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The score of a target by declared facts alone.
 *
 * <pre>
 * QUALITY  = 2 if FLAGSHIP (4 under REASONING) − price
 * SPEED    = 2 if FAST − latencyBias ÷ 100 ms
 * BALANCED = 1 if FLAGSHIP under REASONING − price − latencyBias ÷ 100 ms
 * </pre>
 *
 * The price is in units of the currency per 1000 tokens. What was not declared counts nothing.
 * Exact: prices and durations are decimal numbers here, so that equal sums are equal scores.
 *
 * @param value the score
 * @param unknownFacts what the formula looked for and nobody declared
 */
record DeclaredScore(BigDecimal value, List<String> unknownFacts) {
  private static final BigDecimal PER_SECOND = BigDecimal.TEN; // 100 ms are one point

  /** What is declared about a target. */
  record Facts(Optional<Tier> tier, Optional<Money> price, Optional<Duration> latencyBias) {}

  static DeclaredScore of(RoutingMode mode, TaskIntent intent, Facts facts) {
    boolean reasoning = intent == TaskIntent.REASONING;
    Sum sum = new Sum(facts);
    switch (mode) {
      case ORDERED -> throw new IllegalArgumentException("ORDERED has no score.");
      case QUALITY -> {
        sum.tier(FLAGSHIP, reasoning ? 4 : 2);
        sum.price();
      }
      case SPEED -> {
        sum.tier(FAST, 2);
        sum.latencyBias();
      }
      case BALANCED -> {
        if (reasoning) {
          sum.tier(FLAGSHIP, 1);
        }
        sum.price();
        sum.latencyBias();
      }
    }
    return new DeclaredScore(sum.value, sum.unknown);
  }

  private static final class Sum {
    private final Facts facts;
    private final List<String> unknown = new ArrayList<>();
    private BigDecimal value = BigDecimal.ZERO;

    Sum(Facts facts) {
      this.facts = facts;
    }

    void tier(Tier wanted, int points) {
      add("tier", facts.tier().map(tier -> BigDecimal.valueOf(tier == wanted ? points : 0)));
    }

    void price() {
      add("price", facts.price().map(price -> BigDecimal.valueOf(price.nanos(), 9).negate()));
    }

    void latencyBias() {
      add(
          "latencyBias",
          facts.latencyBias().map(bias -> seconds(bias).multiply(PER_SECOND).negate()));
    }

    private static BigDecimal seconds(Duration duration) {
      return BigDecimal.valueOf(duration.getSeconds())
          .add(BigDecimal.valueOf(duration.getNano(), 9));
    }

    private void add(String fact, Optional<BigDecimal> points) {
      points.ifPresentOrElse(known -> value = value.add(known), () -> unknown.add(fact));
    }
  }
}
