package dev.warpwright.route;

import dev.warpwright.model.Attempt;
import dev.warpwright.model.LanguageModel;
import dev.warpwright.model.ModelCapabilities;
import dev.warpwright.model.RouteDecision;
import dev.warpwright.model.Target;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * Which targets an operation tries, in which order, and which it does not try and why.
 *
 * @param decision the order of all candidates and its reason
 * @param candidates the targets that passed every check, in order
 * @param skips one entry for each target that did not, in the order of the decision
 * @param earliestReturn when the first of the targets may return that only an open circuit keeps
 *     out; empty if no circuit does. Only an adaptive plan looks at circuits
 */
public record RoutePlan(
    RouteDecision decision,
    List<Candidate> candidates,
    List<Attempt> skips,
    Optional<Instant> earliestReturn) {
  /**
   * A target that may be called.
   *
   * @param target the target
   * @param rank its index in the decision
   * @param model its model
   * @param capabilities what the model declared
   */
  public record Candidate(
      Target target, int rank, LanguageModel model, ModelCapabilities capabilities) {}

  /** Copies the lists. */
  public RoutePlan {
    candidates = List.copyOf(candidates);
    skips = List.copyOf(skips);
  }

  /**
   * Explains the plan to a person: why each target stands where it stands, or is not tried.
   *
   * @return some lines of text; not a format to parse
   */
  public String describe() {
    return decision.describe(skips);
  }
}
