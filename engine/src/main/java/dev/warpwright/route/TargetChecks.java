package dev.warpwright.route;

import dev.warpwright.cost.CostAccounting;
import dev.warpwright.cost.PriceList;
import dev.warpwright.cost.UnknownCost;
import dev.warpwright.model.Attempt.ReasonCode;
import dev.warpwright.model.Capability;
import dev.warpwright.model.CostValuation;
import dev.warpwright.model.LanguageModel;
import dev.warpwright.model.ModelCapabilities;
import dev.warpwright.model.PortableHistory;
import dev.warpwright.model.ProviderAdapter;
import dev.warpwright.model.Redaction;
import dev.warpwright.model.StreamingModel;
import dev.warpwright.model.Target;
import dev.warpwright.model.ToolHistory;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Whether a target may be called for a request. The first miss decides. */
final class TargetChecks {
  private final Map<String, ProviderAdapter> adapters;
  private final Map<String, Deployment> deployments;
  private final PriceList prices;
  private final Optional<CostAccounting> accounting;

  TargetChecks(
      Map<String, ProviderAdapter> adapters,
      Map<String, Deployment> deployments,
      PriceList prices,
      Optional<CostAccounting> accounting) {
    this.adapters = Map.copyOf(adapters);
    this.deployments = Map.copyOf(deployments);
    this.prices = prices;
    this.accounting = accounting;
  }

  /** What came of the checks of a target. */
  sealed interface Verdict {
    record Passed(LanguageModel model, ModelCapabilities capabilities) implements Verdict {}

    record Missed(ReasonCode code, String message) implements Verdict {}
  }

  /**
   * Checks a target.
   *
   * @param request what is asked
   * @param target the target
   */
  Verdict check(PlanRequest request, Target target) {
    ProviderAdapter adapter = adapter(target);
    if (adapter == null) {
      return skip(
          target
                  .deploymentId()
                  .map(id -> "No deployment \"" + id + "\" is registered for provider")
                  .orElse("No adapter is registered for provider")
              + (" \"" + target.provider() + "\"."));
    }
    LanguageModel model;
    ModelCapabilities capabilities;
    try {
      model = Objects.requireNonNull(adapter.model(target.modelId()), "no model");
      capabilities = Objects.requireNonNull(model.capabilities(), "no capabilities");
    } catch (RuntimeException e) {
      String why = e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
      return skip(Redaction.redact("The model could not be made: " + why));
    }
    Verdict.Missed miss = firstMiss(request, target, model, capabilities);
    return miss != null ? miss : new Verdict.Passed(model, capabilities);
  }

  /** The checks of a target whose model could be made, in the order in which they are made. */
  private Verdict.@Nullable Missed firstMiss(
      PlanRequest request, Target target, LanguageModel model, ModelCapabilities capabilities) {
    Verdict.Missed miss = modelCapabilities(request, capabilities);
    if (miss == null) {
      miss = history(request.history(), capabilities);
    }
    if (miss == null) {
      miss = priceCeiling(request, target);
    }
    if (miss == null) {
      miss = knownQuote(request, target);
    }
    if (miss == null) {
      miss = operation(request, model, capabilities);
    }
    if (miss == null) {
      miss = agentCapabilities(request, capabilities);
    }
    return miss;
  }

  /** The adapter of the target's deployment if it names one, never that of the provider then. */
  private @Nullable ProviderAdapter adapter(Target target) {
    if (target.deploymentId().isEmpty()) {
      return adapters.get(target.provider());
    }
    Deployment deployment = deployments.get(target.deploymentId().get());
    return deployment != null && deployment.provider().equals(target.provider())
        ? deployment.adapter()
        : null;
  }

  private static Verdict.@Nullable Missed modelCapabilities(
      PlanRequest request, ModelCapabilities capabilities) {
    if (request.needs().isEmpty() || capabilities.supported().containsAll(request.needs())) {
      return null;
    }
    return lacks(
        ReasonCode.MODEL_CAPABILITIES,
        request.needs().stream()
            .filter(need -> !capabilities.has(need))
            .map(Capability::label)
            .toList());
  }

  private static Verdict.@Nullable Missed history(
      PortableHistory history, ModelCapabilities capabilities) {
    return refusal(history, capabilities)
        .map(why -> new Verdict.Missed(ReasonCode.MODEL_CAPABILITIES, why))
        .orElse(null);
  }

  /** Why a model cannot go on with a history; empty if it can. */
  static Optional<String> refusal(PortableHistory history, ModelCapabilities capabilities) {
    if (!history.hasTools()) {
      return Optional.empty();
    }
    List<String> missing = new ArrayList<>();
    if (capabilities.toolHistory() == ToolHistory.NONE) {
      missing.add("toolHistory");
    }
    if (!capabilities.has(Capability.TOOLS)) {
      missing.add(Capability.TOOLS.label());
    }
    if (!missing.isEmpty()) {
      return Optional.of(doesNotDeclare(String.join(", ", missing)));
    }
    return history.interleaves() && capabilities.toolHistory() == ToolHistory.JSON
        ? Optional.of(
            "The history is interleaved: text stands behind a tool call, which toolHistory JSON"
                + " cannot keep in its place.")
        : Optional.empty();
  }

  private Verdict.@Nullable Missed priceCeiling(PlanRequest request, Target target) {
    if (request.ceiling().isEmpty()) {
      return null;
    }
    Optional<String> refusal = request.ceiling().get().refusal(prices.effective(target));
    return refusal.isEmpty() ? null : new Verdict.Missed(ReasonCode.COST_BUDGET, refusal.get());
  }

  /** The quote of a target; empty without cost accounting. */
  Optional<CostValuation> quote(PlanRequest request, Target target) {
    return accounting.isEmpty()
        ? Optional.empty()
        : Optional.of(
            accounting
                .get()
                .quote(
                    target,
                    request.inputTokens(),
                    request.expectedOutputTokens(),
                    request.maxTokens()));
  }

  private Verdict.@Nullable Missed knownQuote(PlanRequest request, Target target) {
    if (accounting.isEmpty() || accounting.get().unknownCost() == UnknownCost.ALLOW) {
      return null;
    }
    Optional<String> refusal = accounting.get().refusal(quote(request, target).orElseThrow());
    return refusal.isEmpty() ? null : new Verdict.Missed(ReasonCode.COST_BUDGET, refusal.get());
  }

  private static Verdict.@Nullable Missed operation(
      PlanRequest request, LanguageModel model, ModelCapabilities capabilities) {
    if (request.needs().contains(Capability.STREAMING) && !(model instanceof StreamingModel)) {
      return skip("The operation streams, and the model cannot: it is no StreamingModel.");
    }
    Set<Capability> oneOf = request.operationNeedsOneOf();
    if (oneOf.isEmpty() || oneOf.stream().anyMatch(capabilities::has)) {
      return null;
    }
    String wanted = oneOf.stream().map(Capability::label).collect(Collectors.joining(" or "));
    return skip("The operation needs " + wanted + ", which the model does not declare.");
  }

  private static Verdict.@Nullable Missed agentCapabilities(
      PlanRequest request, ModelCapabilities capabilities) {
    if (request.agentNeeds().isEmpty()) {
      return null;
    }
    if (capabilities.agent().isEmpty()) {
      return lacks(ReasonCode.AGENT_CAPABILITIES, List.of("agent capabilities"));
    }
    List<String> missing = capabilities.agent().get().missing(request.agentNeeds().get());
    return missing.isEmpty() ? null : lacks(ReasonCode.AGENT_CAPABILITIES, missing);
  }

  private static Verdict.Missed skip(String message) {
    return new Verdict.Missed(ReasonCode.OPERATION_SKIP, message);
  }

  private static Verdict.Missed lacks(ReasonCode code, Collection<String> missing) {
    return new Verdict.Missed(code, doesNotDeclare(String.join(", ", missing)));
  }

  static String doesNotDeclare(String missing) {
    return "The model does not declare " + missing + ".";
  }
}
