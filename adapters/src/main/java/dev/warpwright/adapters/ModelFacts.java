package dev.warpwright.adapters;

import dev.warpwright.model.ModelCapabilities;
import dev.warpwright.model.Reasoning.Effort;
import java.util.Collections;
import java.util.EnumSet;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.Set;

/**
 * What is known of a family of models, and what no protocol tells.
 *
 * @param capabilities what it can do
 * @param contextWindow the most tokens of input and output together
 * @param maxOutput the most tokens of output
 * @param efforts which efforts of reasoning it takes; empty if that is not known, and any is sent
 * @param traits its own rules
 */
public record ModelFacts(
    ModelCapabilities capabilities,
    OptionalLong contextWindow,
    OptionalLong maxOutput,
    Set<Effort> efforts,
    Set<ModelTrait> traits) {
  /** Copies the sets. */
  public ModelFacts {
    Objects.requireNonNull(capabilities, "capabilities");
    Objects.requireNonNull(contextWindow, "contextWindow");
    Objects.requireNonNull(maxOutput, "maxOutput");
    EnumSet<Effort> someEfforts = EnumSet.noneOf(Effort.class);
    someEfforts.addAll(efforts);
    efforts = Collections.unmodifiableSet(someEfforts);
    EnumSet<ModelTrait> someTraits = EnumSet.noneOf(ModelTrait.class);
    someTraits.addAll(traits);
    traits = Collections.unmodifiableSet(someTraits);
  }

  /**
   * A family of which no more is known than what it can do.
   *
   * @param capabilities what it can do
   * @return the facts
   */
  public static ModelFacts of(ModelCapabilities capabilities) {
    return new ModelFacts(
        capabilities, OptionalLong.empty(), OptionalLong.empty(), Set.of(), Set.of());
  }

  /**
   * The same with other capabilities: what a program declares counts more than what is known.
   *
   * @param declared what it can do
   * @return a copy
   */
  public ModelFacts with(ModelCapabilities declared) {
    return new ModelFacts(declared, contextWindow, maxOutput, efforts, traits);
  }

  /**
   * Whether it has a rule.
   *
   * @param trait the rule
   * @return true if it does
   */
  public boolean has(ModelTrait trait) {
    return traits.contains(trait);
  }
}
