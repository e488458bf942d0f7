package dev.warpwright.adapters;

import java.util.List;
import java.util.Objects;

/**
 * Models of which the same is known.
 *
 * @param models which ones: ids, in which {@code *} stands for any characters or none
 * @param facts what is known of them
 */
public record ModelFamily(List<String> models, ModelFacts facts) {
  /** Copies the list. */
  public ModelFamily {
    models = List.copyOf(models);
    Objects.requireNonNull(facts, "facts");
  }
}
