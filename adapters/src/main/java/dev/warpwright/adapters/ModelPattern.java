package dev.warpwright.adapters;

import java.util.Comparator;
import java.util.List;

/**
 * Ids of models with {@code *} for any characters or none; everything else stands for itself.
 *
 * @param parts what stands between the stars, in order; one part if there is no star
 * @param facts what is known of the models
 */
record ModelPattern(List<String> parts, ModelFacts facts) {
  /** The one that says most about an id comes first. */
  static final Comparator<ModelPattern> MOST_SPECIFIC_FIRST =
      Comparator.comparingInt(ModelPattern::literals).reversed();

  ModelPattern {
    parts = List.copyOf(parts);
  }

  static ModelPattern of(String glob, ModelFacts facts) {
    return new ModelPattern(List.of(glob.split("\\*", -1)), facts);
  }

  /** How many characters it prescribes. */
  private int literals() {
    return parts.stream().mapToInt(String::length).sum();
  }

  /** Takes the first place for each part between the ends: a later one could only leave less. */
  boolean matches(String modelId) {
    String first = parts.getFirst();
    String last = parts.getLast();
    if (parts.size() == 1) {
      return modelId.equals(first);
    }
    int end = modelId.length() - last.length();
    if (end < first.length() || !modelId.startsWith(first) || !modelId.endsWith(last)) {
      return false;
    }
    int from = first.length();
    for (String part : parts.subList(1, parts.size() - 1)) {
      int at = modelId.indexOf(part, from);
      if (at < 0 || at + part.length() > end) {
        return false;
      }
      from = at + part.length();
    }
    return true;
  }
}
