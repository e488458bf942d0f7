package dev.warpwright.route;

import dev.warpwright.model.Target;
import dev.warpwright.model.TaskIntent;
import java.util.Objects;

/**
 * How well a target does one kind of task, as somebody has evaluated it.
 *
 * @param target the target, its deployment included
 * @param intent the kind of task
 * @param score from 0 to 1, the higher the better
 * @param evaluationVersion names the evaluation; not blank
 */
public record QualityProfile(
    Target target, TaskIntent intent, double score, String evaluationVersion) {
  /** Checks score and version. */
  public QualityProfile {
    Objects.requireNonNull(target, "target");
    Objects.requireNonNull(intent, "intent");
    Bounds.fraction("The quality score of " + target, score);
    Bounds.notBlank("The evaluationVersion of " + target, evaluationVersion);
  }
}
