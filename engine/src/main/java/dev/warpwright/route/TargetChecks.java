package dev.warpwright.route;

import dev.warpwright.cost.CostAccounting;
import dev.warpwright.cost.PriceList;
import dev.warpwright.model.AgentCapabilities;
import dev.warpwright.model.Attempt.ReasonCode;
import dev.warpwright.model.Capability;
import dev.warpwright.model.CostValuation;
import dev.warpwright.model.LanguageModel;
import dev.warpwright.model.ModelCapabilities;
import dev.warpwright.model.ProviderAdapter;
import dev.warpwright.model.Redaction;
import dev.warpwright.model.Target;
import dev.warpwright.model.ToolHistory;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Whether a target may be called for a request. The first miss decides. */
final class TargetChecks {
  private final Map<String, ProviderAdapter> adapters;
  private final Map<String, Deployment> deployments;
  private final PriceList prices;
  private final Optional<CostAccounting> accounting;

  /** The checks of a target whose model could be made, in the order in which they are made. */
  private final List<Check> checks =
      List.of(
          TargetChecks::modelCapabilities,
          TargetChecks::toolHistory,
          this::priceCeiling,
          this::knownQuote,
          TargetChecks::operation,
          TargetChecks::agentCapabilities);

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

  private interface Check {
    Optional<Verdict.Missed> miss(
        PlanRequest request,
        Target target,
        ModelCapabilities capabilities,
        @Nullable CostValuation quote);
  }

  /**
   * Checks a target.
   *
   * @param request what is asked
   * @param target the target
   * @param quote its quote, if there is cost accounting
   */
  Verdict check(PlanRequest request, Target target, @Nullable CostValuation quote) {
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
    for (Check check : checks) {
      Optional<Verdict.Missed> miss = check.miss(request, target, capabilities, quote);
      if (miss.isPresent()) {
        return miss.get();
      }
    }
    return new Verdict.Passed(model, capabilities);
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

  private static Optional<Verdict.Missed> modelCapabilities(
      PlanRequest request,
      Target target,
      ModelCapabilities capabilities,
      @Nullable CostValuation quote) {
    if (capabilities.supported().containsAll(request.needs())) {
      return Optional.empty();
    }
    List<String> missing =
        request.needs().stream()
            .filter(need -> !capabilities.has(need))
            .map(Capability::label)
            .toList();
    return Optional.of(lacks(ReasonCode.MODEL_CAPABILITIES, missing));
  }

  private static Optional<Verdict.Missed> toolHistory(
      PlanRequest request,
      Target target,
      ModelCapabilities capabilities,
      @Nullable CostValuation quote) {
    if (!request.toolHistory()) {
      return Optional.empty();
    }
    List<String> missing = new ArrayList<>();
    if (capabilities.toolHistory() == ToolHistory.NONE) {
      missing.add("toolHistory");
    }
    if (!capabilities.has(Capability.TOOLS)) {
      missing.add(Capability.TOOLS.label());
    }
    return missing.isEmpty()
        ? Optional.empty()
        : Optional.of(lacks(ReasonCode.MODEL_CAPABILITIES, missing));
  }

  private Optional<Verdict.Missed> priceCeiling(
      PlanRequest request,
      Target target,
      ModelCapabilities capabilities,
      @Nullable CostValuation quote) {
    if (request.ceiling().isEmpty()) {
      return Optional.empty();
    }
    return request
        .ceiling()
        .get()
        .refusal(prices.effective(target))
        .map(message -> new Verdict.Missed(ReasonCode.COST_BUDGET, message));
  }

  private Optional<Verdict.Missed> knownQuote(
      PlanRequest request,
      Target target,
      ModelCapabilities capabilities,
      @Nullable CostValuation quote) {
    if (quote == null) {
      return Optional.empty();
    }
    return accounting
        .flatMap(policy -> policy.refusal(quote))
        .map(message -> new Verdict.Missed(ReasonCode.COST_BUDGET, message));
  }

  private static Optional<Verdict.Missed> operation(
      PlanRequest request,
      Target target,
      ModelCapabilities capabilities,
      @Nullable CostValuation quote) {
    if (request.operationNeedsOneOf().isEmpty()
        || request.operationNeedsOneOf().stream().anyMatch(capabilities::has)) {
      return Optional.empty();
    }
    String wanted =
        request.operationNeedsOneOf().stream()
            .map(Capability::label)
            .collect(Collectors.joining(" or "));
    return Optional.of(
        skip("The operation needs " + wanted + ", which the model does not declare."));
  }

  private static Optional<Verdict.Missed> agentCapabilities(
      PlanRequest request,
      Target target,
      ModelCapabilities capabilities,
      @Nullable CostValuation quote) {
    if (request.agentNeeds().isEmpty()) {
      return Optional.empty();
    }
    if (capabilities.agent().isEmpty()) {
      return Optional.of(lacks(ReasonCode.AGENT_CAPABILITIES, List.of("agent capabilities")));
    }
    AgentCapabilities offered = capabilities.agent().get();
    List<String> missing = offered.missing(request.agentNeeds().get());
    return missing.isEmpty()
        ? Optional.empty()
        : Optional.of(lacks(ReasonCode.AGENT_CAPABILITIES, missing));
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
