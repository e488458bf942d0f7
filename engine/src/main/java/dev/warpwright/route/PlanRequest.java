package dev.warpwright.route;

import dev.warpwright.cost.PriceCeiling;
import dev.warpwright.model.AgentCapabilities;
import dev.warpwright.model.Capability;
import dev.warpwright.model.PortableHistory;
import dev.warpwright.model.Route;
import dev.warpwright.model.RoutingMode;
import dev.warpwright.model.Target;
import dev.warpwright.model.TaskIntent;
import java.util.Collections;
import java.util.EnumSet;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/**
 * What the plan of an operation depends on, as far as the request says it.
 *
 * {@snippet :
 * PlanRequest request =
 *     PlanRequest.builder(route)
 *         .needs(Set.of(Capability.TOOLS))
 *         .mode(RoutingMode.SPEED)
 *         .build();
 * }
 *
 * @param route the targets; no other is ever called
 * @param needs what a model must be able to do
 * @param history the tool calls that the conversation holds already, which a model must take
 * @param ceiling the highest price
 * @param operationNeedsOneOf of these the model must have one for the kind of operation, such as
 *     native structured output or JSON mode for an object; empty if it asks for none
 * @param agentNeeds what an agent needs; empty if no agent asks
 * @param mode the order that the request itself asked for
 * @param intent what it is for
 * @param inputTokens the estimated length of the input; zero or more
 * @param expectedOutputTokens how much output is expected; zero or more
 * @param maxTokens the limit of the output; zero or more
 * @param affinity the target that served the conversation before
 */
public record PlanRequest(
    Route route,
    Set<Capability> needs,
    PortableHistory history,
    Optional<PriceCeiling> ceiling,
    Set<Capability> operationNeedsOneOf,
    Optional<AgentCapabilities> agentNeeds,
    Optional<RoutingMode> mode,
    TaskIntent intent,
    long inputTokens,
    OptionalInt expectedOutputTokens,
    OptionalInt maxTokens,
    Optional<Affinity> affinity) {
  /**
   * The target that served a conversation before.
   *
   * @param target the target
   * @param maxScoreLoss how much lower than the best score its score may be; 0 or more
   */
  public record Affinity(Target target, double maxScoreLoss) {}

  /** Copies the sets, and checks the numbers of tokens. */
  public PlanRequest {
    needs = copy(needs);
    operationNeedsOneOf = copy(operationNeedsOneOf);
    requireNotNegative("inputTokens", inputTokens);
    requireNotNegative("expectedOutputTokens", expectedOutputTokens.orElse(0));
    requireNotNegative("maxTokens", maxTokens.orElse(0));
  }

  private static void requireNotNegative(String what, long tokens) {
    if (tokens < 0) {
      throw new IllegalArgumentException(what + " must be 0 or more, but is " + tokens);
    }
  }

  private static Set<Capability> copy(Set<Capability> capabilities) {
    if (capabilities.isEmpty()) {
      return Set.of();
    }
    EnumSet<Capability> copy = EnumSet.noneOf(Capability.class);
    copy.addAll(capabilities);
    return Collections.unmodifiableSet(copy);
  }

  /**
   * Begins a request that needs nothing but text.
   *
   * @param route the targets
   * @return a builder
   */
  public static Builder builder(Route route) {
    return new Builder(route);
  }

  /** Collects the facts of a request. Not thread-safe. */
  public static final class Builder {
    private final Route route;
    private Set<Capability> needs = Set.of();
    private PortableHistory history = PortableHistory.NONE;
    private Optional<PriceCeiling> ceiling = Optional.empty();
    private Set<Capability> operationNeedsOneOf = Set.of();
    private Optional<AgentCapabilities> agentNeeds = Optional.empty();
    private Optional<RoutingMode> mode = Optional.empty();
    private TaskIntent intent = TaskIntent.CHAT;
    private long inputTokens;
    private OptionalInt expectedOutputTokens = OptionalInt.empty();
    private OptionalInt maxTokens = OptionalInt.empty();
    private Optional<Affinity> affinity = Optional.empty();

    private Builder(Route route) {
      this.route = route;
    }

    /**
     * Says what a model must be able to do.
     *
     * @param capabilities what it needs
     * @return this
     */
    public Builder needs(Set<Capability> capabilities) {
      this.needs = capabilities;
      return this;
    }

    /**
     * Says which tool calls the conversation holds already.
     *
     * @param history none by default
     * @return this
     */
    public Builder history(PortableHistory history) {
      this.history = history;
      return this;
    }

    /**
     * Sets the highest price.
     *
     * @param ceiling the ceiling
     * @return this
     */
    public Builder ceiling(PriceCeiling ceiling) {
      this.ceiling = Optional.of(ceiling);
      return this;
    }

    /**
     * Says what the kind of operation needs.
     *
     * @param capabilities of these the model must have at least one
     * @return this
     */
    public Builder operationNeedsOneOf(Set<Capability> capabilities) {
      this.operationNeedsOneOf = capabilities;
      return this;
    }

    /**
     * Says what an agent needs. A model that declares nothing for agents does not meet even an
     * empty need.
     *
     * @param needs what it needs
     * @return this
     */
    public Builder agentNeeds(AgentCapabilities needs) {
      this.agentNeeds = Optional.of(needs);
      return this;
    }

    /**
     * Asks for an order.
     *
     * @param mode the mode; an explicit ORDERED is never reordered
     * @return this
     */
    public Builder mode(RoutingMode mode) {
      this.mode = Optional.of(mode);
      return this;
    }

    /**
     * Says what the request is for.
     *
     * @param intent the intent; CHAT by default
     * @return this
     */
    public Builder intent(TaskIntent intent) {
      this.intent = intent;
      return this;
    }

    /**
     * Sets the estimated length of the input.
     *
     * @param tokens zero or more
     * @return this
     */
    public Builder inputTokens(long tokens) {
      this.inputTokens = tokens;
      return this;
    }

    /**
     * Sets how much output is expected.
     *
     * @param tokens the number of tokens
     * @return this
     */
    public Builder expectedOutputTokens(OptionalInt tokens) {
      this.expectedOutputTokens = tokens;
      return this;
    }

    /**
     * Sets the limit of the output.
     *
     * @param tokens the number of tokens
     * @return this
     */
    public Builder maxTokens(OptionalInt tokens) {
      this.maxTokens = tokens;
      return this;
    }

    /**
     * Names the target that served the conversation before. Only an adaptive policy heeds it.
     *
     * @param target the target
     * @param maxScoreLoss how much lower than the best score its score may be; 0 or more
     * @return this
     */
    public Builder affinity(Target target, double maxScoreLoss) {
      this.affinity = Optional.of(new Affinity(target, maxScoreLoss));
      return this;
    }

    /**
     * Makes the request.
     *
     * @return the request
     */
    public PlanRequest build() {
      return new PlanRequest(
          route,
          needs,
          history,
          ceiling,
          operationNeedsOneOf,
          agentNeeds,
          mode,
          intent,
          inputTokens,
          expectedOutputTokens,
          maxTokens,
          affinity);
    }
  }
}
