package dev.warpwright.route;

import dev.warpwright.cost.CatalogEntry;
import dev.warpwright.cost.ModelCatalog;
import dev.warpwright.cost.Pricing;
import dev.warpwright.model.Attempt;
import dev.warpwright.model.LanguageModel;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelCapabilities;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.Money;
import dev.warpwright.model.ProviderAdapter;
import dev.warpwright.model.Route;
import dev.warpwright.model.Target;
import dev.warpwright.model.TargetSignals;
import dev.warpwright.route.RoutePlan.Candidate;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/** What tests of plans share. */
final class Plans {
  static final Target X = Target.of("p", "x");
  static final Target Y = Target.of("p", "y");
  static final Target Z = Target.of("p", "z");

  private Plans() {}

  /** An adapter whose models all have the same capabilities, and are never called. */
  static ProviderAdapter adapter(ModelCapabilities capabilities) {
    return id -> model(capabilities);
  }

  /** An adapter of models with capabilities of their own. */
  static ProviderAdapter adapter(Map<String, ModelCapabilities> models) {
    return id -> model(Objects.requireNonNull(models.get(id), id));
  }

  private static LanguageModel model(ModelCapabilities capabilities) {
    return new LanguageModel() {
      @Override
      public ModelCapabilities capabilities() {
        return capabilities;
      }

      @Override
      public ModelResponse generate(ModelCall call) {
        throw new AssertionError("a plan calls no model");
      }
    };
  }

  static Map<String, ProviderAdapter> text(String... providers) {
    Map<String, ProviderAdapter> adapters = new HashMap<>();
    for (String provider : providers) {
      adapters.put(provider, adapter(ModelCapabilities.TEXT));
    }
    return adapters;
  }

  static Route route(List<Target> targets) {
    return new Route(targets.getFirst(), targets.subList(1, targets.size()));
  }

  static Route route(Target... targets) {
    return route(List.of(targets));
  }

  /** Plans the first operation, in which nothing was measured. */
  static RoutePlan plan(RoutePlanner planner, PlanRequest request) {
    return planner.plan(request, target -> TargetSignals.NONE, 1);
  }

  static List<Target> tried(RoutePlan plan) {
    return plan.candidates().stream().map(Candidate::target).toList();
  }

  static List<Attempt.ReasonCode> codes(RoutePlan plan) {
    return plan.skips().stream().map(Attempt::reasonCode).toList();
  }

  static Money usd(String amount) {
    return Money.of(amount, "USD");
  }

  /** An entry with rates for input and output, the same for both. */
  static CatalogEntry.Builder priced(Target target, String rate) {
    return CatalogEntry.builder(target.provider(), target.modelId())
        .pricing(Pricing.of("1", "USD"))
        .input(usd(rate))
        .output(usd(rate));
  }

  static ModelCatalog catalog(CatalogEntry... entries) {
    ModelCatalog.Builder catalog = ModelCatalog.builder("1");
    for (CatalogEntry entry : entries) {
      catalog.entry(entry);
    }
    return catalog.build();
  }

  /** Signals of a target with enough samples. */
  static TargetSignals measured(Duration latency, int inFlight, int successes, int errors) {
    return new TargetSignals(
        Optional.of(latency),
        Optional.empty(),
        Optional.of(inFlight),
        successes,
        errors,
        Optional.empty(),
        Optional.empty());
  }
}
