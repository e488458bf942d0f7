package dev.warpwright.route;

import dev.warpwright.cost.CatalogEntry;
import dev.warpwright.cost.PriceList;
import dev.warpwright.model.Money;
import dev.warpwright.model.RoutingMode;
import dev.warpwright.model.Target;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/** Orders targets by what is declared about them: by the built-in scores or by the program's. */
final class ScoredOrder {
  private final PriceList prices;
  private final Map<String, Duration> latencyBiases;

  ScoredOrder(PriceList prices, Map<String, Duration> latencyBiases) {
    this.prices = prices;
    this.latencyBiases = Map.copyOf(latencyBiases);
  }

  /** A target and how it was scored. */
  record Scored(Target target, DeclaredScore score) {}

  List<Scored> byMode(RoutingMode mode, PlanRequest request, List<Target> targets) {
    Optional<String> currency =
        targets.stream()
            .flatMap(target -> prices.effective(target).stream())
            .map(Money::currency)
            .findFirst();
    return sorted(
        targets, target -> DeclaredScore.of(mode, request.intent(), facts(target, currency)));
  }

  List<Scored> byScorer(TargetScorer scorer, PlanRequest request, List<Target> targets) {
    return sorted(
        targets,
        target -> {
          double score = scorer.score(context(request, target));
          if (!Double.isFinite(score)) {
            throw Bounds.notFinite("The score", target, score);
          }
          return new DeclaredScore(new BigDecimal(score), List.of());
        });
  }

  /** A stable sort: equal scores stay in the order of the request. */
  private static List<Scored> sorted(
      List<Target> targets, Function<Target, DeclaredScore> scoreOf) {
    return targets.stream()
        .map(target -> new Scored(target, scoreOf.apply(target)))
        .sorted(Comparator.comparing((Scored one) -> one.score().value()).reversed())
        .toList();
  }

  /** Prices in different currencies cannot be compared: those in another one are not known. */
  private DeclaredScore.Facts facts(Target target, Optional<String> currency) {
    return new DeclaredScore.Facts(
        prices.catalog().flatMap(catalog -> catalog.find(target)).flatMap(CatalogEntry::tier),
        prices
            .effective(target)
            .filter(price -> currency.filter(price.currency()::equals).isPresent()),
        latencyBias(target));
  }

  private ScoringContext context(PlanRequest request, Target target) {
    return new ScoringContext(
        request.mode().orElse(RoutingMode.ORDERED),
        request.intent(),
        target,
        target.equals(request.route().primary()),
        Optional.ofNullable(prices.configured().get(target.provider())),
        prices.fromCatalog(target),
        latencyBias(target));
  }

  private Optional<Duration> latencyBias(Target target) {
    return Optional.ofNullable(latencyBiases.get(target.provider()));
  }
}
