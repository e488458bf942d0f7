package dev.warpwright.route;

import dev.warpwright.model.AdaptiveRecord;
import dev.warpwright.model.AdaptiveRecord.Affinity;
import dev.warpwright.model.AdaptiveRecord.Candidate;
import dev.warpwright.model.AdaptiveRecord.Quality;
import dev.warpwright.model.AdaptiveRecord.Signal;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Money;
import dev.warpwright.model.Target;
import dev.warpwright.model.TargetSignals;
import dev.warpwright.model.TaskIntent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * Orders targets by what was measured and evaluated of them. Immutable and thread-safe; a pure
 * function of candidates, signals and the number of the operation.
 *
 * <pre>
 * score = quality·w − (p95 latency ÷ latencyScale)·w − (cost ÷ costScale)·w − inFlight·w
 *         − errorRate·w + (tokens per second ÷ throughputScale)·w
 * </pre>
 *
 * <p>Each signal has its own weight {@code w}; one whose weight is 0 is not looked at. A signal
 * that is not known excludes the target if the policy says REJECT. Under ALLOW it earns nothing
 * where it would add to the score, and counts as {@code missingSignalPenalty}, that is as one scale
 * by default, where it would be subtracted: it is never taken for a measured zero. The higher score
 * goes first, equal scores keep the order of the request.
 *
 * {@snippet :
 * AdaptivePolicy policy =
 *     AdaptivePolicy.economy("USD")
 *         .quality(new QualityProfile(small, TaskIntent.CHAT, 0.71, "eval-2026-03"))
 *         .quality(new QualityProfile(large, TaskIntent.CHAT, 0.84, "eval-2026-03"))
 *         .minQuality(0.6)
 *         .build();
 * }
 *
 * <p>The presets {@link #interactive}, {@link #economy} and {@link #quality} are starting points to
 * measure against, no guarantee of a service level, and no rule here claims an optimum. Latency,
 * load, error rate and throughput need target metrics, the cost needs cost accounting, and quality
 * needs profiles: without profiles the presets ECONOMY and QUALITY exclude every target.
 */
public final class AdaptivePolicy {
  /** The exclusion of a target below the quality floor, or without a profile to compare with it. */
  private static final String QUALITY_FLOOR = "quality-floor";

  /** The exclusion of a target that is kept out by its circuit alone. */
  static final String CIRCUIT_OPEN = "circuit-open";

  private final String version;
  private final Map<Signal, Double> weights;
  private final Duration latencyScale;
  private final Money costScale;
  private final double throughputScale;
  private final MissingSignal coldStart;
  private final MissingSignal unknownCost;
  private final MissingSignal missingQuality;
  private final double missingSignalPenalty;
  private final int minSamples;
  private final OptionalDouble minQuality;
  private final LatencyMetric latencyMetric;
  private final OptionalInt explorationEvery;
  private final Map<ProfileKey, Quality> profiles;

  private record ProfileKey(Target target, TaskIntent intent) {}

  private AdaptivePolicy(Builder builder) {
    this.version = Bounds.notBlank("The version of an adaptive policy", builder.version);
    this.weights = Collections.unmodifiableMap(new EnumMap<>(builder.weights));
    if (weights.values().stream().allMatch(weight -> weight == 0)) {
      throw Bounds.invalid("At least one weight of an adaptive policy must be more than 0.");
    }
    this.latencyScale = required("latencyScale", builder.latencyScale);
    this.costScale = required("costScale", builder.costScale);
    this.throughputScale = builder.throughputScale;
    this.coldStart = required("coldStart", builder.coldStart);
    this.unknownCost = required("unknownCost", builder.unknownCost);
    this.missingQuality = required("missingQuality", builder.missingQuality);
    this.missingSignalPenalty = builder.missingSignalPenalty;
    this.minSamples = builder.minSamples;
    this.minQuality = builder.minQuality;
    this.latencyMetric = builder.latencyMetric;
    this.explorationEvery = builder.explorationEvery;
    this.profiles = Map.copyOf(builder.profiles);
  }

  private static <T> T required(String name, @Nullable T value) {
    if (value == null) {
      throw Bounds.invalid(name + " of an adaptive policy must be set, but is not.");
    }
    return value;
  }

  /**
   * Begins a policy. Weights, {@code latencyScale}, {@code costScale}, {@code coldStart}, {@code
   * unknownCost} and {@code missingQuality} have no defaults and must be set.
   *
   * @param version names the policy in every decision; not blank
   * @return a builder
   */
  public static Builder builder(String version) {
    return new Builder(version);
  }

  /**
   * Begins with the preset for people who wait: time to first text and errors first, then the cost.
   *
   * @param currency the currency of the costs; the scale is 0.01 of its unit
   * @return a builder, in which every value can be changed
   */
  public static Builder interactive(String currency) {
    return preset("interactive", currency, 2, 1, 0, 1).latencyMetric(LatencyMetric.TTFT);
  }

  /**
   * Begins with the preset for work that nobody waits for: the cost first. Needs quality profiles.
   *
   * @param currency the currency of the costs; the scale is 0.01 of its unit
   * @return a builder, in which every value can be changed
   */
  public static Builder economy(String currency) {
    return preset("economy", currency, 0.25, 3, 1, 1);
  }

  /**
   * Begins with the preset for the best answers: quality first. Needs quality profiles.
   *
   * @param currency the currency of the costs; the scale is 0.01 of its unit
   * @return a builder, in which every value can be changed
   */
  public static Builder quality(String currency) {
    return preset("quality", currency, 0.25, 0.25, 3, 1);
  }

  private static Builder preset(
      String name, String currency, double latency, double cost, double quality, double load) {
    return builder("warpwright-" + name + "-v1")
        .weight(Signal.LATENCY, latency)
        .weight(Signal.COST, cost)
        .weight(Signal.QUALITY, quality)
        .weight(Signal.LOAD, load)
        .weight(Signal.ERROR_RATE, 3)
        .latencyScale(Duration.ofSeconds(1))
        .costScale(Money.of("0.01", currency))
        .minSamples(5)
        .explorationEvery(20)
        .coldStart(MissingSignal.ALLOW)
        .unknownCost(MissingSignal.REJECT)
        .missingQuality(MissingSignal.REJECT);
  }

  /**
   * Names the policy in decisions.
   *
   * @return the version
   */
  public String version() {
    return version;
  }

  /**
   * Scores a recorded decision again: the policy that made it gives the same record, so the same
   * order; another policy shows what it would have made of the same signals. The quality of the
   * targets is taken from the record, as are the number of the operation and the affinity.
   *
   * @param record what was recorded
   * @return what this policy decides
   * @throws InvalidRequestException if a score is not finite
   */
  public AdaptiveRecord score(AdaptiveRecord record) {
    List<Known> known =
        record.candidates().stream()
            .map(c -> new Known(c.target(), c.quality(), c.cost(), c.signals()))
            .toList();
    return decide(
        known,
        record.operation(),
        record
            .affinity()
            .map(before -> new PlanRequest.Affinity(before.target(), before.maxScoreLoss())));
  }

  /**
   * What is known of a candidate.
   *
   * @param target the candidate
   * @param quality its quality for the intent
   * @param cost its quote
   * @param signals what was measured
   */
  record Known(
      Target target, Optional<Quality> quality, Optional<Money> cost, TargetSignals signals) {}

  /** The profile of a target for an intent. */
  Optional<Quality> profile(Target target, TaskIntent intent) {
    return Optional.ofNullable(profiles.get(new ProfileKey(target, intent)));
  }

  /**
   * Decides.
   *
   * @param known the candidates that passed every other check, in the order of the request
   * @param operation the number of the operation, from 1
   * @param before the target that served the conversation before
   */
  AdaptiveRecord decide(List<Known> known, long operation, Optional<PlanRequest.Affinity> before) {
    List<Candidate> candidates = known.stream().map(this::judge).toList();
    Optional<Target> exploration = exploration(candidates, operation);
    Optional<Affinity> affinity =
        before.map(
            last ->
                new Affinity(
                    last.target(),
                    last.maxScoreLoss(),
                    exploration.isEmpty() && isGoodEnough(last, candidates)));
    return new AdaptiveRecord(version, operation, candidates, exploration, affinity);
  }

  private Candidate judge(Known known) {
    EnumMap<Signal, Double> values = normalised(known);
    List<Signal> missing =
        weights.keySet().stream()
            .filter(signal -> weight(signal) > 0 && !values.containsKey(signal))
            .toList();
    List<String> exclusions = exclusions(known, missing);
    Optional<Double> score =
        exclusions.isEmpty() ? Optional.of(score(known.target(), values)) : Optional.empty();
    return new Candidate(
        known.target(), known.quality(), known.cost(), known.signals(), score, missing, exclusions);
  }

  /** What is known, each signal in units of its scale. */
  private EnumMap<Signal, Double> normalised(Known known) {
    TargetSignals signals = known.signals();
    EnumMap<Signal, Double> values = new EnumMap<>(Signal.class);
    known.quality().ifPresent(quality -> values.put(Signal.QUALITY, quality.score()));
    known
        .cost()
        .filter(costScale::sameCurrency)
        .ifPresent(cost -> values.put(Signal.COST, (double) cost.nanos() / costScale.nanos()));
    signals.inFlight().ifPresent(count -> values.put(Signal.LOAD, (double) count));
    if (!isCold(signals)) {
      latency(signals)
          .ifPresent(
              latency -> values.put(Signal.LATENCY, seconds(latency) / seconds(latencyScale)));
      values.put(Signal.ERROR_RATE, (double) signals.errors() / signals.samples());
      signals
          .tokensPerSecond()
          .ifPresent(rate -> values.put(Signal.THROUGHPUT, rate / throughputScale));
    }
    return values;
  }

  /** Whether too little was measured to judge the target's health. */
  private boolean isCold(TargetSignals signals) {
    return signals.samples() < minSamples;
  }

  private Optional<Duration> latency(TargetSignals signals) {
    return switch (latencyMetric) {
      case TOTAL -> signals.p95Latency();
      case TTFT -> signals.p95TimeToFirstText();
    };
  }

  private static double seconds(Duration duration) {
    return duration.getSeconds() + duration.getNano() / 1e9;
  }

  /** The policy's own reasons, or if there are none an open circuit. */
  private List<String> exclusions(Known known, List<Signal> missing) {
    List<String> exclusions = new ArrayList<>();
    if (isBelowFloor(known.quality())) {
      exclusions.add(QUALITY_FLOOR);
    }
    missing.stream()
        .filter(signal -> whenMissing(signal) == MissingSignal.REJECT)
        .forEach(signal -> exclusions.add(signal.label() + "-unavailable"));
    if (exclusions.isEmpty() && known.signals().circuitOpenUntil().isPresent()) {
      exclusions.add(CIRCUIT_OPEN);
    }
    return exclusions;
  }

  private boolean isBelowFloor(Optional<Quality> quality) {
    return minQuality.isPresent()
        && quality.map(Quality::score).orElse(-1.0) < minQuality.getAsDouble();
  }

  private MissingSignal whenMissing(Signal signal) {
    return switch (signal) {
      case QUALITY -> missingQuality;
      case COST -> unknownCost;
      case LATENCY, LOAD, ERROR_RATE, THROUGHPUT -> coldStart;
    };
  }

  private double score(Target target, Map<Signal, Double> values) {
    double score = 0;
    for (Signal signal : weights.keySet()) {
      double weight = weight(signal);
      if (weight > 0) {
        score +=
            switch (signal) {
              case QUALITY, THROUGHPUT -> weight * values.getOrDefault(signal, 0.0);
              case LATENCY, COST, LOAD, ERROR_RATE ->
                  -weight * values.getOrDefault(signal, missingSignalPenalty);
            };
      }
    }
    if (!Double.isFinite(score)) {
      throw Bounds.notFinite("The adaptive score", target, score);
    }
    return score + 0.0; // no -0.0, which would not be equal to 0.0
  }

  private double weight(Signal signal) {
    return weights.getOrDefault(signal, 0.0);
  }

  /** Every N-th operation, the next of the eligible targets that are cold. */
  private Optional<Target> exploration(List<Candidate> candidates, long operation) {
    if (explorationEvery.isEmpty()
        || operation <= 0
        || operation % explorationEvery.getAsInt() != 0) {
      return Optional.empty();
    }
    List<Target> cold =
        candidates.stream()
            .filter(candidate -> candidate.score().isPresent() && isCold(candidate.signals()))
            .map(Candidate::target)
            .toList();
    if (cold.isEmpty()) {
      return Optional.empty();
    }
    long turn = operation / explorationEvery.getAsInt() - 1;
    return Optional.of(cold.get((int) (turn % cold.size())));
  }

  private static boolean isGoodEnough(PlanRequest.Affinity last, List<Candidate> candidates) {
    OptionalDouble best =
        candidates.stream()
            .flatMap(candidate -> candidate.score().stream())
            .mapToDouble(Double::doubleValue)
            .max();
    return candidates.stream()
        .filter(candidate -> candidate.target().equals(last.target()))
        .flatMap(candidate -> candidate.score().stream())
        .anyMatch(own -> best.orElse(own) - own <= last.maxScoreLoss());
  }

  /** Collects the values of a policy. Not thread-safe. */
  public static final class Builder {
    private String version;
    private final EnumMap<Signal, Double> weights = new EnumMap<>(Signal.class);
    private @Nullable Duration latencyScale;
    private @Nullable Money costScale;
    private double throughputScale = 100;
    private @Nullable MissingSignal coldStart;
    private @Nullable MissingSignal unknownCost;
    private @Nullable MissingSignal missingQuality;
    private double missingSignalPenalty = 1;
    private int minSamples = 1;
    private OptionalDouble minQuality = OptionalDouble.empty();
    private LatencyMetric latencyMetric = LatencyMetric.TOTAL;
    private OptionalInt explorationEvery = OptionalInt.empty();
    private final Map<ProfileKey, Quality> profiles = new HashMap<>();

    private Builder(String version) {
      this.version = version;
    }

    /**
     * Names the policy in decisions; a changed preset deserves a version of its own.
     *
     * @param version not blank
     * @return this
     */
    public Builder version(String version) {
      this.version = version;
      return this;
    }

    /**
     * Says how much a signal counts.
     *
     * @param signal the signal
     * @param weight finite, 0 or more; 0, the default, leaves the signal out
     * @return this
     * @throws InvalidRequestException if the weight is out of its bounds
     */
    public Builder weight(Signal signal, double weight) {
      weights.put(signal, Bounds.atLeast("The weight of " + signal.label(), weight, 0));
      return this;
    }

    /**
     * Sets the latency that counts one.
     *
     * @param scale more than 0
     * @return this
     * @throws InvalidRequestException if it is not
     */
    public Builder latencyScale(Duration scale) {
      this.latencyScale = Bounds.positive("latencyScale", scale);
      return this;
    }

    /**
     * Sets the cost that counts one. A cost in another currency is not known.
     *
     * @param scale more than 0
     * @return this
     * @throws InvalidRequestException if it is not
     */
    public Builder costScale(Money scale) {
      if (scale.nanos() <= 0) {
        throw Bounds.invalid("costScale must be more than 0, but is " + scale + ".");
      }
      this.costScale = scale;
      return this;
    }

    /**
     * Sets the throughput that counts one.
     *
     * @param tokensPerSecond more than 0; 100 by default
     * @return this
     * @throws InvalidRequestException if it is not
     */
    public Builder throughputScale(double tokensPerSecond) {
      this.throughputScale = Bounds.positive("throughputScale", tokensPerSecond);
      return this;
    }

    /**
     * Says what is done about a target whose latency, load, error rate or throughput is not known.
     * Under REJECT a target that nobody has measured is not tried, not even to explore.
     *
     * @param then what is done
     * @return this
     */
    public Builder coldStart(MissingSignal then) {
      this.coldStart = Objects.requireNonNull(then, "coldStart");
      return this;
    }

    /**
     * Says what is done about a target whose cost is not known.
     *
     * @param then what is done
     * @return this
     */
    public Builder unknownCost(MissingSignal then) {
      this.unknownCost = Objects.requireNonNull(then, "unknownCost");
      return this;
    }

    /**
     * Says what is done about a target without a quality profile for the intent.
     *
     * @param then what is done
     * @return this
     */
    public Builder missingQuality(MissingSignal then) {
      this.missingQuality = Objects.requireNonNull(then, "missingQuality");
      return this;
    }

    /**
     * Says as how many scales a missing latency, cost, load or error rate counts.
     *
     * @param scales 1 or more; 1 by default
     * @return this
     * @throws InvalidRequestException if it is less
     */
    public Builder missingSignalPenalty(double scales) {
      this.missingSignalPenalty = Bounds.atLeast("missingSignalPenalty", scales, 1);
      return this;
    }

    /**
     * Says how many successes and errors must have been measured before latency, error rate and
     * throughput count as known.
     *
     * @param samples 1 or more; 1 by default
     * @return this
     * @throws InvalidRequestException if it is less
     */
    public Builder minSamples(int samples) {
      this.minSamples = Bounds.atLeast("minSamples", samples, 1);
      return this;
    }

    /**
     * Excludes targets whose quality is lower or not known, whatever the weight of quality is.
     *
     * @param quality from 0 to 1
     * @return this
     * @throws InvalidRequestException if it is out of its bounds
     */
    public Builder minQuality(double quality) {
      this.minQuality = OptionalDouble.of(Bounds.fraction("minQuality", quality));
      return this;
    }

    /**
     * Says which latency counts.
     *
     * @param metric the latency; TOTAL by default
     * @return this
     */
    public Builder latencyMetric(LatencyMetric metric) {
      this.latencyMetric = Objects.requireNonNull(metric, "latencyMetric");
      return this;
    }

    /**
     * Lets every so many operations a target go first that is eligible and was measured too little;
     * the targets take turns.
     *
     * @param operations 2 or more
     * @return this
     * @throws InvalidRequestException if it is less
     */
    public Builder explorationEvery(int operations) {
      this.explorationEvery = OptionalInt.of(Bounds.atLeast("explorationEvery", operations, 2));
      return this;
    }

    /**
     * Switches exploration off, the default without a preset.
     *
     * @return this
     */
    public Builder noExploration() {
      this.explorationEvery = OptionalInt.empty();
      return this;
    }

    /**
     * Adds a quality profile.
     *
     * @param profile the profile
     * @return this
     * @throws InvalidRequestException if there is one already for the target and intent
     */
    public Builder quality(QualityProfile profile) {
      Quality quality = new Quality(profile.score(), profile.evaluationVersion());
      if (profiles.putIfAbsent(new ProfileKey(profile.target(), profile.intent()), quality)
          != null) {
        throw Bounds.invalid(
            "A target must have one quality profile for an intent, but %s has two for %s."
                .formatted(profile.target(), profile.intent()));
      }
      return this;
    }

    /**
     * Makes the policy.
     *
     * @return the policy
     * @throws InvalidRequestException if the version is blank, no weight is more than 0, or a value
     *     without a default is not set
     */
    public AdaptivePolicy build() {
      return new AdaptivePolicy(this);
    }
  }
}
