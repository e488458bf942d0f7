package dev.warpwright.route;

import dev.warpwright.model.Attempt;
import dev.warpwright.model.Attempt.ReasonCode;
import dev.warpwright.model.Capability;
import dev.warpwright.model.LanguageModel;
import dev.warpwright.model.ModelCapabilities;
import dev.warpwright.model.ProviderAdapter;
import dev.warpwright.model.Redaction;
import dev.warpwright.model.Route;
import dev.warpwright.model.RouteDecision;
import dev.warpwright.model.Target;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Plans an operation: which of a route's targets are tried, in which order. It calls no model and
 * spends nothing.
 *
 * <p>The checks of a target, first miss decides: an adapter for its provider; a model from the
 * adapter; the capabilities that the request needs.
 */
public final class RoutePlanner {
  private final Map<String, ProviderAdapter> adapters;

  /**
   * A planner.
   *
   * @param adapters the adapters by provider id
   */
  public RoutePlanner(Map<String, ProviderAdapter> adapters) {
    this.adapters = Map.copyOf(adapters);
  }

  /**
   * Plans.
   *
   * @param route the targets of the request
   * @param needs what a model must be able to do
   * @return the plan; it may have no candidate
   */
  public RoutePlan plan(Route route, Set<Capability> needs) {
    List<Target> ordered = route.candidates();
    List<RoutePlan.Candidate> candidates = new ArrayList<>(ordered.size());
    List<Attempt> skips = new ArrayList<>();
    for (int rank = 0; rank < ordered.size(); rank++) {
      Target target = ordered.get(rank);
      switch (check(target, needs)) {
        case Check.Passed(LanguageModel model, ModelCapabilities capabilities) ->
            candidates.add(new RoutePlan.Candidate(target, rank, model, capabilities));
        case Check.Missed(ReasonCode code, String message) ->
            skips.add(Attempt.skip(1, target, code, rank, message));
      }
    }
    return new RoutePlan(
        new RouteDecision(ordered, RouteDecision.ReasonCode.ROUTING_ORDERED), candidates, skips);
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
        step, target, ReasonCode.MODEL_CAPABILITIES, rank, doesNotDeclare(need.label()));
  }

  private static String doesNotDeclare(String missing) {
    return "The model does not declare " + missing + ".";
  }

  private sealed interface Check {
    record Passed(LanguageModel model, ModelCapabilities capabilities) implements Check {}

    record Missed(ReasonCode code, String message) implements Check {}
  }

  private Check check(Target target, Set<Capability> needs) {
    ProviderAdapter adapter = adapters.get(target.provider());
    if (adapter == null) {
      return new Check.Missed(
          ReasonCode.OPERATION_SKIP,
          "No adapter is registered for provider \"" + target.provider() + "\".");
    }
    if (target.deploymentId().isPresent()) {
      return new Check.Missed(
          ReasonCode.OPERATION_SKIP,
          "No deployment \"" + target.deploymentId().get() + "\" is registered.");
    }
    LanguageModel model;
    ModelCapabilities capabilities;
    try {
      model = Objects.requireNonNull(adapter.model(target.modelId()), "no model");
      capabilities = Objects.requireNonNull(model.capabilities(), "no capabilities");
    } catch (RuntimeException e) {
      String why = e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
      return new Check.Missed(
          ReasonCode.OPERATION_SKIP, Redaction.redact("The model could not be made: " + why));
    }
    if (!capabilities.supported().containsAll(needs)) {
      String missing =
          needs.stream()
              .filter(need -> !capabilities.has(need))
              .sorted()
              .map(Capability::label)
              .collect(Collectors.joining(", "));
      return new Check.Missed(ReasonCode.MODEL_CAPABILITIES, doesNotDeclare(missing));
    }
    return new Check.Passed(model, capabilities);
  }
}
