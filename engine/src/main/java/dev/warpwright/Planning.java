package dev.warpwright;

import dev.warpwright.control.CircuitBreaker;
import dev.warpwright.control.CircuitState;
import dev.warpwright.control.TargetMetrics;
import dev.warpwright.control.TargetSnapshot;
import dev.warpwright.model.Capability;
import dev.warpwright.model.PortableHistory;
import dev.warpwright.model.Route;
import dev.warpwright.model.Target;
import dev.warpwright.model.TargetSignals;
import dev.warpwright.route.AffinityKey;
import dev.warpwright.route.AffinityTable;
import dev.warpwright.route.PlanRequest;
import dev.warpwright.route.RoutePlan;
import dev.warpwright.route.RoutePlanner;
import java.time.Instant;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Plans operations: hands the planner what the request says and what was measured, and remembers
 * who served a conversation. It takes no probe and no place.
 */
final class Planning {
  private final RoutePlanner planner;
  private final CircuitBreaker circuit;
  private final TargetMetrics metrics;
  private final Optional<AffinityTable> affinity;
  private final AtomicLong operations = new AtomicLong();

  Planning(
      RoutePlanner planner,
      CircuitBreaker circuit,
      TargetMetrics metrics,
      Optional<AffinityTable> affinity) {
    this.planner = planner;
    this.circuit = circuit;
    this.metrics = metrics;
    this.affinity = affinity;
  }

  RoutePlan plan(
      GenerateRequest request,
      Route route,
      PortableHistory history,
      Optional<ObjectForm> object,
      boolean streams) {
    PlanRequest.Builder asked =
        PlanRequest.builder(route)
            .needs(streams ? withStreaming(request.needs()) : request.needs())
            .history(history)
            .intent(request.taskIntent())
            .operationNeedsOneOf(object.map(ObjectForm::needsOneOf).orElse(Set.of()))
            .inputTokens(
                InputSize.tokens(
                    request.messages(),
                    request.tools().specs(),
                    object.map(ObjectForm::schemaCharacters).orElse(0L)))
            .expectedOutputTokens(request.expectedOutputTokens())
            .maxTokens(request.maxTokens());
    request.routingMode().ifPresent(asked::mode);
    request.priceCeiling().ifPresent(asked::ceiling);
    request.requiredAgentCapabilities().ifPresent(asked::agentNeeds);
    conversation(request)
        .ifPresent(
            served -> asked.affinity(served, affinity.orElseThrow().policy().maxScoreLoss()));
    return planner.plan(asked.build(), this::signals, operations.incrementAndGet());
  }

  private static Set<Capability> withStreaming(Set<Capability> needs) {
    Set<Capability> all = EnumSet.of(Capability.STREAMING);
    all.addAll(needs);
    return all;
  }

  private Optional<Target> conversation(GenerateRequest request) {
    return affinity.flatMap(table -> key(request).flatMap(table::find));
  }

  private static Optional<AffinityKey> key(GenerateRequest request) {
    return AffinityKey.of(request.budgetScope(), request.cacheScope(), request.affinityKey());
  }

  /** A target answered: the next operation of the conversation may begin with it. */
  void served(GenerateRequest request, Target target) {
    affinity.ifPresent(table -> key(request).ifPresent(key -> table.store(key, target)));
  }

  private TargetSignals signals(Target target) {
    Optional<Instant> openUntil =
        circuit.state(target) instanceof CircuitState.Open(Instant until)
            ? Optional.of(until)
            : Optional.empty();
    Optional<TargetSnapshot> measured = measured(target);
    if (measured.isEmpty()) {
      return new TargetSignals(
          Optional.empty(), Optional.empty(), Optional.empty(), 0, 0, Optional.empty(), openUntil);
    }
    TargetSnapshot snapshot = measured.get();
    return new TargetSignals(
        snapshot.p95Latency(),
        snapshot.p95TimeToFirstText(),
        Optional.of(snapshot.inFlight()),
        snapshot.successes(),
        snapshot.errors(),
        snapshot.p50TokensPerSecond().stream().boxed().findFirst(),
        openUntil);
  }

  /** A metrics hook that throws knows nothing. */
  private Optional<TargetSnapshot> measured(Target target) {
    try {
      return metrics.snapshot(target);
    } catch (RuntimeException ignored) {
      return Optional.empty();
    }
  }

  int affinityEntries() {
    return affinity.map(AffinityTable::entries).orElse(0);
  }
}
