package dev.warpwright.route;

import static dev.warpwright.model.RouteDecision.ReasonCode.ROUTING_ADAPTIVE;
import static dev.warpwright.model.RouteDecision.ReasonCode.ROUTING_BALANCED;
import static dev.warpwright.model.RouteDecision.ReasonCode.ROUTING_ORDERED;
import static dev.warpwright.model.RouteDecision.ReasonCode.ROUTING_QUALITY;
import static dev.warpwright.model.RouteDecision.ReasonCode.ROUTING_SCORER;
import static dev.warpwright.model.RouteDecision.ReasonCode.ROUTING_SPEED;

import dev.warpwright.cost.CostAccounting;
import dev.warpwright.cost.PriceList;
import dev.warpwright.model.AdaptiveRecord;
import dev.warpwright.model.Attempt;
import dev.warpwright.model.Attempt.ReasonCode;
import dev.warpwright.model.Capability;
import dev.warpwright.model.CostValuation;
import dev.warpwright.model.PortableHistory;
import dev.warpwright.model.ProviderAdapter;
import dev.warpwright.model.Route;
import dev.warpwright.model.RouteDecision;
import dev.warpwright.model.RouteDecision.Ranking;
import dev.warpwright.model.RouteDecision.Standing;
import dev.warpwright.model.RoutingMode;
import dev.warpwright.model.Target;
import dev.warpwright.model.TargetSignals;
import dev.warpwright.route.RoutePlan.Candidate;
import dev.warpwright.route.ScoredOrder.Scored;
import dev.warpwright.route.TargetChecks.Verdict;
import dev.warpwright.route.TargetChecks.Verdict.Missed;
import dev.warpwright.route.TargetChecks.Verdict.Passed;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Plans an operation: which of a route's targets are tried, in which order. It calls no model and
 * spends nothing. Immutable and thread-safe.
 *
 * <p>Who orders: a request that itself asks for {@link RoutingMode#ORDERED} is never reordered;
 * every other request is ordered by the adaptive policy or the scorer if there is one, else by the
 * declared facts that its mode looks at, else as it stands. Nothing in the name of a provider or
 * model counts, and equal scores keep the order of the request.
 *
 * <p>Every target is checked. The first miss decides, and is told as a skip:
 *
 * <ol>
 *   <li>an adapter for its provider, or its deployment
 *   <li>a model from the adapter
 *   <li>the capabilities that the request needs
 *   <li>the tool history of the conversation
 *   <li>the price ceiling
 *   <li>a quote, if cost accounting demands one
 *   <li>what the kind of operation needs
 *   <li>what an agent needs
 * </ol>
 *
 * <p>An adaptive policy ranks only targets that passed, may exclude some, and leaves out those
 * whose circuit is open; all these stand last in the decision, in the order of the request.
 */
public final class RoutePlanner {
  private final TargetChecks checks;
  private final ScoredOrder scored;
  private final Optional<CostAccounting> accounting;
  private final @Nullable TargetScorer scorer;
  private final @Nullable AdaptivePolicy policy;

  /**
   * A planner that knows adapters and nothing else.
   *
   * @param adapters the adapters by provider id
   */
  public RoutePlanner(Map<String, ProviderAdapter> adapters) {
    this(new Builder(adapters));
  }

  private RoutePlanner(Builder builder) {
    this.scored = new ScoredOrder(builder.prices, builder.latencyBiases);
    this.accounting = builder.accounting;
    this.checks =
        new TargetChecks(builder.adapters, builder.deployments, builder.prices, accounting);
    this.scorer = builder.scorer;
    this.policy = builder.policy;
    if (scorer != null && policy != null) {
      throw Bounds.invalid("A gateway must have an adaptive policy or a scorer, but has both.");
    }
  }

  /**
   * Begins a planner.
   *
   * @param adapters the adapters by provider id
   * @return a builder
   */
  public static Builder builder(Map<String, ProviderAdapter> adapters) {
    return new Builder(adapters);
  }

  /**
   * Plans a request that only says what a model must be able to do.
   *
   * @param route the targets of the request
   * @param needs what a model must be able to do
   * @return the plan; it may have no candidate
   */
  public RoutePlan plan(Route route, Set<Capability> needs) {
    return plan(PlanRequest.builder(route).needs(needs).build(), target -> TargetSignals.NONE, 0);
  }

  /**
   * Plans.
   *
   * @param request what is asked
   * @param signals what was measured of a target; asked only by an adaptive policy, once for each
   *     target that passed the checks
   * @param operation the number of the operation, counted from 1; decides who explores
   * @return the plan; it may have no candidate
   * @throws dev.warpwright.model.InvalidRequestException if a score is not finite
   */
  public RoutePlan plan(
      PlanRequest request, Function<Target, TargetSignals> signals, long operation) {
    List<Target> targets = request.route().candidates();
    RouteDecision.ReasonCode reason = whoOrders(request);
    return switch (reason) {
      case ROUTING_ORDERED -> check(request, inRequestOrder(request, targets));
      case ROUTING_SPEED, ROUTING_BALANCED, ROUTING_QUALITY -> {
        RoutingMode mode = request.mode().orElseThrow();
        yield check(request, ranked(request, reason, scored.byMode(mode, request, targets)));
      }
      case ROUTING_SCORER -> {
        TargetScorer scores = Objects.requireNonNull(scorer);
        yield check(request, ranked(request, reason, scored.byScorer(scores, request, targets)));
      }
      case ROUTING_ADAPTIVE ->
          adaptive(Objects.requireNonNull(policy), request, targets, signals, operation);
    };
  }

  private RouteDecision.ReasonCode whoOrders(PlanRequest request) {
    Optional<RoutingMode> mode = request.mode();
    if (mode.isPresent() && mode.get() == RoutingMode.ORDERED) {
      return ROUTING_ORDERED;
    }
    if (policy != null) {
      return ROUTING_ADAPTIVE;
    }
    if (scorer != null) {
      return ROUTING_SCORER;
    }
    return switch (mode.orElse(RoutingMode.ORDERED)) {
      case ORDERED -> ROUTING_ORDERED;
      case SPEED -> ROUTING_SPEED;
      case BALANCED -> ROUTING_BALANCED;
      case QUALITY -> ROUTING_QUALITY;
    };
  }

  private RouteDecision inRequestOrder(PlanRequest request, List<Target> targets) {
    Ranking ranking =
        accounting.isEmpty()
            ? new Ranking(request.mode(), request.intent(), List.of())
            : Ranking.late(
                request.mode(), request.intent(), targets.size(), () -> quotes(request, targets));
    return new RouteDecision(targets, ROUTING_ORDERED, Optional.of(ranking), Optional.empty());
  }

  private List<Standing> quotes(PlanRequest request, List<Target> targets) {
    return targets.stream()
        .map(target -> standing(request, target, Optional.empty(), List.of()))
        .toList();
  }

  private RouteDecision ranked(
      PlanRequest request, RouteDecision.ReasonCode reason, List<Scored> order) {
    List<Target> targets = order.stream().map(Scored::target).toList();
    Ranking ranking =
        ranking(
            request,
            targets.size(),
            rank -> {
              Scored one = order.get(rank);
              Optional<Double> score = Optional.of(one.score().value().doubleValue());
              return standing(request, one.target(), score, one.score().unknownFacts());
            });
    return new RouteDecision(targets, reason, Optional.of(ranking), Optional.empty());
  }

  /** The quote of a standing is a valuation, which mostly nobody reads: it is made then. */
  private static Ranking ranking(PlanRequest request, int targets, IntFunction<Standing> standing) {
    return Ranking.late(
        request.mode(),
        request.intent(),
        targets,
        () -> IntStream.range(0, targets).mapToObj(standing).toList());
  }

  private Standing standing(
      PlanRequest request, Target target, Optional<Double> score, List<String> unknownFacts) {
    return new Standing(score, unknownFacts, checks.quote(request, target));
  }

  /** Checks the targets of a decision in its order. */
  private RoutePlan check(PlanRequest request, RouteDecision decision) {
    List<Target> ordered = decision.orderedTargets();
    if (ordered.size() == 1) {
      return planOfOne(decision, checks.check(request, ordered.getFirst()));
    }
    List<Candidate> candidates = new ArrayList<>(ordered.size());
    List<Attempt> skips = new ArrayList<>(0); // mostly none
    for (int rank = 0; rank < ordered.size(); rank++) {
      Target target = ordered.get(rank);
      tell(checks.check(request, target), target, rank, candidates, skips);
    }
    return new RoutePlan(decision, candidates, skips, Optional.empty());
  }

  /** As of any number, without lists that grow. */
  private static RoutePlan planOfOne(RouteDecision decision, Verdict verdict) {
    Target target = decision.orderedTargets().getFirst();
    return switch (verdict) {
      case Passed passed ->
          new RoutePlan(
              decision, List.of(candidate(target, 0, passed)), List.of(), Optional.empty());
      case Missed missed ->
          new RoutePlan(decision, List.of(), List.of(skip(target, 0, missed)), Optional.empty());
    };
  }

  private static Candidate candidate(Target target, int rank, Passed passed) {
    return new Candidate(target, rank, passed.model(), passed.capabilities());
  }

  private static Attempt skip(Target target, int rank, Missed missed) {
    return Attempt.skip(1, target, missed.code(), rank, missed.message());
  }

  private static void tell(
      Verdict verdict, Target target, int rank, List<Candidate> candidates, List<Attempt> skips) {
    switch (verdict) {
      case Passed passed -> candidates.add(candidate(target, rank, passed));
      case Missed missed -> skips.add(skip(target, rank, missed));
    }
  }

  /** Checks the targets first, ranks those that passed, and puts the others last. */
  private RoutePlan adaptive(
      AdaptivePolicy policy,
      PlanRequest request,
      List<Target> targets,
      Function<Target, TargetSignals> signals,
      long operation) {
    Map<Target, Verdict> verdicts = new LinkedHashMap<>();
    List<AdaptivePolicy.Known> known = new ArrayList<>();
    for (Target target : targets) {
      Verdict verdict = checks.check(request, target);
      verdicts.put(target, verdict);
      if (verdict instanceof Passed) {
        known.add(
            new AdaptivePolicy.Known(
                target,
                policy.profile(target, request.intent()),
                checks.quote(request, target).flatMap(CostValuation::amount),
                signals.apply(target)));
      }
    }
    AdaptiveRecord record = policy.decide(known, operation, request.affinity());
    record.candidates().stream()
        .filter(candidate -> !candidate.exclusions().isEmpty())
        .forEach(candidate -> verdicts.put(candidate.target(), excluded(candidate)));

    Set<Target> order = new LinkedHashSet<>(record.order());
    order.addAll(targets);
    List<Target> ordered = List.copyOf(order);
    List<Candidate> candidates = new ArrayList<>(ordered.size());
    List<Attempt> skips = new ArrayList<>(0); // mostly none
    for (int rank = 0; rank < ordered.size(); rank++) {
      Target target = ordered.get(rank);
      tell(Objects.requireNonNull(verdicts.get(target)), target, rank, candidates, skips);
    }
    Ranking ranking =
        ranking(
            request,
            ordered.size(),
            rank -> {
              Target target = ordered.get(rank);
              Optional<Double> score =
                  record.candidate(target).flatMap(AdaptiveRecord.Candidate::score);
              return standing(request, target, score, List.of());
            });
    return new RoutePlan(
        new RouteDecision(ordered, ROUTING_ADAPTIVE, Optional.of(ranking), Optional.of(record)),
        candidates,
        skips,
        earliestReturn(record));
  }

  private static Missed excluded(AdaptiveRecord.Candidate candidate) {
    return isKeptOutByCircuit(candidate)
        ? new Missed(
            ReasonCode.CIRCUIT_OPEN,
            "The circuit lets no call through until %s at the earliest."
                .formatted(candidate.signals().circuitOpenUntil().orElseThrow()))
        : new Missed(
            ReasonCode.ADAPTIVE_EXCLUSION,
            "Adaptive exclusion: " + String.join(", ", candidate.exclusions()) + ".");
  }

  private static boolean isKeptOutByCircuit(AdaptiveRecord.Candidate candidate) {
    return candidate.exclusions().contains(AdaptivePolicy.CIRCUIT_OPEN);
  }

  private static Optional<Instant> earliestReturn(AdaptiveRecord record) {
    return record.candidates().stream()
        .filter(RoutePlanner::isKeptOutByCircuit)
        .flatMap(candidate -> candidate.signals().circuitOpenUntil().stream())
        .min(Comparator.naturalOrder());
  }

  /**
   * The skip of a target whose model cannot do what a single step needs.
   *
   * @param step the step
   * @param target the target
   * @param rank its index in the decision
   * @param need what the step needs
   * @return the entry
   */
  public static Attempt missing(int step, Target target, int rank, Capability need) {
    return Attempt.skip(
        step,
        target,
        ReasonCode.MODEL_CAPABILITIES,
        rank,
        TargetChecks.doesNotDeclare(need.label()));
  }

  /**
   * Checks a model for a history that became known after the plan was made.
   *
   * @param step the step before which it is checked
   * @param candidate a target of the plan
   * @param history the tool calls that the conversation held when it began
   * @return the entry for the attempts if the model cannot go on with it
   */
  public static Optional<Attempt> unfit(int step, Candidate candidate, PortableHistory history) {
    return TargetChecks.refusal(history, candidate.capabilities())
        .map(
            why ->
                Attempt.skip(
                    step,
                    candidate.target(),
                    ReasonCode.MODEL_CAPABILITIES,
                    candidate.rank(),
                    why));
  }

  /** Collects what a planner knows. Not thread-safe. */
  public static final class Builder {
    private final Map<String, ProviderAdapter> adapters;
    private final Map<String, Deployment> deployments = new HashMap<>();
    private PriceList prices = new PriceList(Map.of(), Optional.empty());
    private final Map<String, Duration> latencyBiases = new HashMap<>();
    private Optional<CostAccounting> accounting = Optional.empty();
    private @Nullable TargetScorer scorer;
    private @Nullable AdaptivePolicy policy;

    private Builder(Map<String, ProviderAdapter> adapters) {
      this.adapters = Map.copyOf(adapters);
    }

    /**
     * Registers a deployment. A target that names it is served by its adapter alone; a target that
     * names one that is not registered, or not for its provider, is skipped.
     *
     * @param id the id by which targets name it; matches {@code [A-Za-z0-9_.-]{1,128}}
     * @param deployment its provider and adapter
     * @return this
     * @throws dev.warpwright.model.InvalidRequestException if the id breaks its rule, as no target
     *     could name it
     */
    public Builder deployment(String id, Deployment deployment) {
      Target named = new Target(deployment.provider(), "any", Optional.of(id));
      deployments.put(named.deploymentId().orElseThrow(), deployment);
      return this;
    }

    /**
     * Sets the prices by which targets are compared, with the catalog that holds their tiers.
     *
     * @param prices the prices; none by default
     * @return this
     */
    public Builder prices(PriceList prices) {
      this.prices = Objects.requireNonNull(prices, "prices");
      return this;
    }

    /**
     * Declares how much slower than others a provider is; 100 ms are worth one point of a score.
     *
     * @param provider the provider
     * @param bias 0 or more
     * @return this
     * @throws dev.warpwright.model.InvalidRequestException if it is negative
     */
    public Builder latencyBias(String provider, Duration bias) {
      if (bias.isNegative()) {
        throw Bounds.invalid(
            "The latencyBias of %s must be 0 or more, but is %s.".formatted(provider, bias));
      }
      latencyBiases.put(Target.requireProviderId(provider), bias);
      return this;
    }

    /**
     * Turns on quotes: the decision estimates what the call will cost at each target.
     *
     * @param accounting the accounting
     * @return this
     */
    public Builder accounting(CostAccounting accounting) {
      this.accounting = Optional.of(accounting);
      return this;
    }

    /**
     * Lets the program score targets. Not together with an adaptive policy.
     *
     * @param scorer the scorer
     * @return this
     */
    public Builder scorer(TargetScorer scorer) {
      this.scorer = Objects.requireNonNull(scorer, "scorer");
      return this;
    }

    /**
     * Lets an adaptive policy order the targets. Not together with a scorer.
     *
     * @param policy the policy
     * @return this
     */
    public Builder adaptive(AdaptivePolicy policy) {
      this.policy = Objects.requireNonNull(policy, "policy");
      return this;
    }

    /**
     * Makes the planner.
     *
     * @return the planner
     * @throws dev.warpwright.model.InvalidRequestException if there are a scorer and an adaptive
     *     policy
     */
    public RoutePlanner build() {
      return new RoutePlanner(this);
    }
  }
}
