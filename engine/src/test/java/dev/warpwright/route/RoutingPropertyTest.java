package dev.warpwright.route;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.cost.CatalogEntry;
import dev.warpwright.cost.CatalogEntry.Tier;
import dev.warpwright.cost.CostAccounting;
import dev.warpwright.cost.ModelCatalog;
import dev.warpwright.cost.PriceList;
import dev.warpwright.cost.Pricing;
import dev.warpwright.model.AdaptiveRecord;
import dev.warpwright.model.AdaptiveRecord.Signal;
import dev.warpwright.model.Attempt;
import dev.warpwright.model.Capability;
import dev.warpwright.model.ModelCapabilities;
import dev.warpwright.model.Money;
import dev.warpwright.model.ProviderAdapter;
import dev.warpwright.model.RouteDecision;
import dev.warpwright.model.RoutingMode;
import dev.warpwright.model.Target;
import dev.warpwright.model.TargetSignals;
import dev.warpwright.model.TaskIntent;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Random;
import java.util.Set;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What holds for every plan, on random gateways and requests. */
final class RoutingPropertyTest {
  private static final int ROUNDS = 2_000;

  /** A random gateway and request, whose providers and models are named by the caller. */
  private static final class World {
    private final Random random;
    final List<Target> targets = new ArrayList<>();
    final RoutePlanner planner;
    final Optional<AdaptivePolicy> policy;
    final PlanRequest request;
    final Map<Target, TargetSignals> signals = new HashMap<>();
    final long operation;

    World(long seed, UnaryOperator<String> provider, UnaryOperator<String> model) {
      random = new Random(seed);
      int count = 1 + random.nextInt(6);
      for (int i = 0; i < count; i++) {
        targets.add(
            Target.of(
                provider.apply("p" + random.nextInt(3)), model.apply("m" + random.nextInt(4))));
      }
      List<Target> distinct = targets.stream().distinct().toList();
      RoutePlanner.Builder builder = RoutePlanner.builder(adapters(provider, model));
      ModelCatalog catalog = catalog(distinct);
      Map<String, Money> configured = new HashMap<>();
      for (int p = 0; p < 3; p++) {
        String id = provider.apply("p" + p);
        if (random.nextInt(3) == 0) {
          configured.put(id, price());
        }
        if (random.nextBoolean()) {
          builder.latencyBias(id, Duration.ofMillis(50L * random.nextInt(4)));
        }
      }
      builder.prices(new PriceList(configured, Optional.of(catalog)));
      if (random.nextBoolean()) {
        builder.accounting(CostAccounting.builder(catalog).build());
      }
      policy = random.nextBoolean() ? Optional.of(policy(distinct)) : Optional.empty();
      policy.ifPresent(builder::adaptive);
      planner = builder.build();
      distinct.forEach(target -> signals.put(target, signals()));
      operation = random.nextInt(50);
      request = request(distinct);
    }

    private Map<String, ProviderAdapter> adapters(
        UnaryOperator<String> provider, UnaryOperator<String> model) {
      Map<String, ProviderAdapter> adapters = new HashMap<>();
      for (int p = 0; p < 3; p++) {
        Map<String, ModelCapabilities> models = new HashMap<>();
        for (int m = 0; m < 4; m++) {
          models.put(
              model.apply("m" + m),
              random.nextInt(4) == 0
                  ? ModelCapabilities.TEXT
                  : ModelCapabilities.of(Capability.VISION));
        }
        if (random.nextInt(10) > 0) {
          adapters.put(provider.apply("p" + p), Plans.adapter(models));
        }
      }
      return adapters;
    }

    private ModelCatalog catalog(List<Target> distinct) {
      ModelCatalog.Builder catalog = ModelCatalog.builder("1");
      for (Target target : distinct) {
        CatalogEntry.Builder entry =
            CatalogEntry.builder(target.provider(), target.modelId())
                .pricing(Pricing.of("1", "USD"));
        maybe(() -> entry.tier(one(Tier.values())));
        maybe(() -> entry.input(price()).output(price()));
        maybe(() -> entry.costPer1kTokens(price()));
        catalog.entry(entry.build());
      }
      return catalog.build();
    }

    private AdaptivePolicy policy(List<Target> distinct) {
      AdaptivePolicy.Builder policy =
          AdaptivePolicy.builder("random")
              .weight(one(Signal.values()), 1)
              .latencyScale(Duration.ofMillis(1 + random.nextInt(2000)))
              .costScale(Money.of("0.01", "USD"))
              .minSamples(1 + random.nextInt(3))
              .coldStart(missing())
              .unknownCost(missing())
              .missingQuality(missing());
      for (Signal signal : Signal.values()) {
        maybe(() -> policy.weight(signal, random.nextInt(3)));
      }
      policy.weight(Signal.LOAD, 1);
      maybe(() -> policy.latencyMetric(LatencyMetric.TTFT));
      maybe(() -> policy.explorationEvery(2 + random.nextInt(4)));
      maybe(() -> policy.minQuality(0.25));
      for (Target target : distinct) {
        for (TaskIntent intent : TaskIntent.values()) {
          maybe(
              () ->
                  policy.quality(new QualityProfile(target, intent, random.nextInt(5) / 4.0, "1")));
        }
      }
      return policy.build();
    }

    private MissingSignal missing() {
      return random.nextInt(4) == 0 ? MissingSignal.REJECT : MissingSignal.ALLOW;
    }

    private TargetSignals signals() {
      if (random.nextInt(4) == 0) {
        return TargetSignals.NONE;
      }
      return new TargetSignals(
          optional(() -> Duration.ofMillis(random.nextInt(3) * 100L)),
          optional(() -> Duration.ofMillis(random.nextInt(3) * 10L)),
          optional(() -> random.nextInt(3)),
          random.nextInt(3),
          random.nextInt(3),
          optional(() -> random.nextInt(3) * 50.0),
          random.nextInt(5) == 0
              ? Optional.of(Instant.EPOCH.plusSeconds(random.nextInt(100)))
              : Optional.empty());
    }

    private PlanRequest request(List<Target> distinct) {
      PlanRequest.Builder builder =
          PlanRequest.builder(Plans.route(targets))
              .intent(one(TaskIntent.values()))
              .inputTokens(random.nextInt(10_000));
      maybe(() -> builder.needs(Set.of(Capability.VISION)));
      maybe(() -> builder.mode(one(RoutingMode.values())));
      maybe(() -> builder.maxTokens(OptionalInt.of(1 + random.nextInt(1000))));
      maybe(
          () -> builder.affinity(distinct.get(random.nextInt(distinct.size())), random.nextInt(3)));
      return builder.build();
    }

    private Money price() {
      return new Money(random.nextInt(5) * 250_000_000L, "USD");
    }

    private <T> T one(T[] values) {
      return values[random.nextInt(values.length)];
    }

    private void maybe(Runnable change) {
      if (random.nextBoolean()) {
        change.run();
      }
    }

    private <T> Optional<T> optional(Supplier<T> value) {
      return random.nextBoolean() ? Optional.of(value.get()) : Optional.empty();
    }

    RoutePlan plan() {
      return planner.plan(
          request, target -> signals.getOrDefault(target, TargetSignals.NONE), operation);
    }
  }

  private interface Property {
    void check(World world, RoutePlan plan);
  }

  private static void forAll(Property property) {
    long base = System.nanoTime();
    for (int i = 0; i < ROUNDS; i++) {
      long seed = base + i;
      try {
        World world = new World(seed, UnaryOperator.identity(), UnaryOperator.identity());
        property.check(world, world.plan());
      } catch (Throwable failure) {
        throw new AssertionError("seed " + seed, failure);
      }
    }
  }

  @Test
  @Tag("R44")
  @Tag("R66")
  @Tag("R68")
  void the_order_is_a_permutation_of_the_targets_each_tried_or_skipped_under_its_rank() {
    forAll(
        (world, plan) -> {
          List<Target> ordered = plan.decision().orderedTargets();
          assertEquals(new HashSet<>(world.targets), new HashSet<>(ordered));
          assertEquals(new HashSet<>(ordered).size(), ordered.size());
          Map<Integer, Target> byRank = new HashMap<>();
          plan.candidates().forEach(one -> byRank.put(one.rank(), one.target()));
          plan.skips().forEach(skip -> byRank.put(skip.targetRank(), skip.target()));
          assertEquals(ordered.size(), plan.candidates().size() + plan.skips().size());
          for (int rank = 0; rank < ordered.size(); rank++) {
            assertEquals(ordered.get(rank), byRank.get(rank));
          }
          assertTrue(isRising(plan.candidates().stream().map(RoutePlan.Candidate::rank).toList()));
          assertTrue(isRising(plan.skips().stream().map(Attempt::targetRank).toList()));
        });
  }

  private static boolean isRising(List<Integer> ranks) {
    return ranks.equals(ranks.stream().sorted().distinct().toList());
  }

  @Test
  @Tag("R50")
  @Tag("R282")
  void scores_fall_along_the_order_and_equal_ones_keep_that_of_the_request() {
    forAll(
        (world, plan) -> {
          RouteDecision decision = plan.decision();
          List<Target> scored = new ArrayList<>(decision.scores().keySet());
          decision
              .adaptive()
              .ifPresent(
                  record -> {
                    record.exploration().ifPresent(scored::remove);
                    record
                        .affinity()
                        .filter(AdaptiveRecord.Affinity::followed)
                        .ifPresent(affinity -> scored.remove(affinity.target()));
                  });
          for (int i = 1; i < scored.size(); i++) {
            double before = decision.scores().get(scored.get(i - 1));
            double after = decision.scores().get(scored.get(i));
            assertTrue(before >= after, decision::describe);
            if (before == after) {
              assertTrue(
                  world.targets.indexOf(scored.get(i - 1)) < world.targets.indexOf(scored.get(i)),
                  decision::describe);
            }
          }
        });
  }

  @Test
  @Tag("R47")
  @Tag("R271")
  void other_names_of_providers_and_models_change_no_order() {
    UnaryOperator<String> provider =
        id -> Map.of("p0", "openai", "p1", "anthropic", "p2", "zz-fast").get(id);
    UnaryOperator<String> model =
        id -> Map.of("m0", "gpt-5-pro", "m1", "flagship", "m2", "mini", "m3", "Ω").get(id);
    long base = System.nanoTime();
    for (int i = 0; i < ROUNDS; i++) {
      long seed = base + i;
      World plain = new World(seed, UnaryOperator.identity(), UnaryOperator.identity());
      World renamed = new World(seed, provider, model);
      List<Target> expected =
          plain.plan().decision().orderedTargets().stream()
              .map(t -> Target.of(provider.apply(t.provider()), model.apply(t.modelId())))
              .toList();
      assertEquals(expected, renamed.plan().decision().orderedTargets(), () -> "seed " + seed);
    }
  }

  @Test
  @Tag("R289")
  void a_record_scored_again_gives_the_same_record_and_the_same_order() {
    boolean[] seen = new boolean[4];
    forAll(
        (world, plan) ->
            plan.decision()
                .adaptive()
                .ifPresent(
                    record -> {
                      AdaptiveRecord again = world.policy.orElseThrow().score(record);
                      assertEquals(record, again);
                      assertEquals(Plans.tried(plan), again.order());
                      seen[0] |= record.exploration().isPresent();
                      seen[1] |=
                          record.affinity().filter(AdaptiveRecord.Affinity::followed).isPresent();
                      seen[2] |= again.order().size() < record.candidates().size();
                      seen[3] |= again.order().size() > 2;
                    }));
    for (boolean kind : seen) {
      assertTrue(kind, "the generator makes every kind of record");
    }
  }

  @Test
  @Tag("R52")
  @Tag("R53")
  void an_explicit_order_of_the_request_is_never_changed() {
    forAll(
        (world, plan) -> {
          if (world.request.mode().filter(RoutingMode.ORDERED::equals).isPresent()) {
            assertEquals(world.request.route().candidates(), plan.decision().orderedTargets());
          }
        });
  }

  @Test
  @Tag("R285")
  @Tag("R293")
  void what_goes_first_by_exploration_or_affinity_passed_every_check() {
    forAll(
        (world, plan) ->
            plan.decision()
                .adaptive()
                .ifPresent(
                    record -> {
                      record
                          .exploration()
                          .ifPresent(first -> assertEquals(first, Plans.tried(plan).getFirst()));
                      record
                          .affinity()
                          .filter(AdaptiveRecord.Affinity::followed)
                          .ifPresent(
                              affinity ->
                                  assertEquals(affinity.target(), Plans.tried(plan).getFirst()));
                    }));
  }
}
