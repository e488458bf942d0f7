package dev.warpwright.cost;

import dev.warpwright.model.Money;
import java.util.Comparator;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Prices per 1000 tokens, by class of token. An absent rate is unknown, never zero and never taken
 * from another class.
 *
 * @param input input that no cache was involved in
 * @param cachedInput input read from a cache
 * @param cacheWrite input written to a cache
 * @param output output
 */
public record Rates(
    Optional<Money> input,
    Optional<Money> cachedInput,
    Optional<Money> cacheWrite,
    Optional<Money> output) {
  /** No rate is known. */
  static final Rates NONE =
      new Rates(Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty());

  /** The rates that are known. */
  Stream<Money> known() {
    return Stream.of(input, cachedInput, cacheWrite, output).flatMap(Optional::stream);
  }

  /** These rates, with ordinary input as dear as the dearest kind of input; unknown stays so. */
  Rates withHighestInput() {
    Optional<Money> highest =
        input.flatMap(
            ordinary ->
                Stream.of(input, cachedInput, cacheWrite)
                    .flatMap(Optional::stream)
                    .max(Comparator.naturalOrder()));
    return new Rates(highest, cachedInput, cacheWrite, output);
  }
}
