package dev.warpwright.cost;

import dev.warpwright.model.TokenCount;
import dev.warpwright.model.Usage;
import java.util.Optional;

/** Writes usage down briefly: a counter that is not named is absent. */
record Counts(Usage usage) {
  /** Reported input and output. */
  static Counts of(long input, long output) {
    return new Counts(Usage.reported(input, output));
  }

  /** Reported input and output, and no token from or to a cache. */
  static Counts uncached(long input, long output) {
    return of(input, output).cached(0).written(0);
  }

  Counts input(TokenCount input) {
    return with(input, usage.cachedInput(), usage.cacheWrite(), usage.output(), usage.reasoning());
  }

  Counts output(TokenCount output) {
    return with(usage.input(), usage.cachedInput(), usage.cacheWrite(), output, usage.reasoning());
  }

  Counts cached(long tokens) {
    TokenCount cached = TokenCount.reported(tokens);
    return with(usage.input(), cached, usage.cacheWrite(), usage.output(), usage.reasoning());
  }

  Counts written(long tokens) {
    TokenCount written = TokenCount.reported(tokens);
    return with(usage.input(), usage.cachedInput(), written, usage.output(), usage.reasoning());
  }

  Counts reasoning(long tokens) {
    TokenCount reasoning = TokenCount.reported(tokens);
    return with(usage.input(), usage.cachedInput(), usage.cacheWrite(), usage.output(), reasoning);
  }

  Counts total(long tokens) {
    return new Counts(
        new Usage(
            usage.input(),
            usage.cachedInput(),
            usage.cacheWrite(),
            usage.output(),
            usage.reasoning(),
            TokenCount.reported(tokens),
            usage.speed()));
  }

  Counts speed(String speed) {
    return new Counts(
        new Usage(
            usage.input(),
            usage.cachedInput(),
            usage.cacheWrite(),
            usage.output(),
            usage.reasoning(),
            usage.total(),
            Optional.of(speed)));
  }

  private Counts with(
      TokenCount input,
      TokenCount cached,
      TokenCount written,
      TokenCount output,
      TokenCount reasoning) {
    return new Counts(
        new Usage(input, cached, written, output, reasoning, usage.total(), usage.speed()));
  }
}
