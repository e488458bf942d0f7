package dev.warpwright.model;

import dev.warpwright.model.TokenCount.Provenance;
import java.util.Optional;

/**
 * The tokens of one model call or of several.
 *
 * @param input input tokens, cached reads and cache writes included
 * @param cachedInput the part of the input that was read from a cache
 * @param cacheWrite the part of the input that was written to a cache
 * @param output output tokens, reasoning included
 * @param reasoning the part of the output that was reasoning
 * @param total input and output
 * @param speed the provider's word for the speed tier, if it gave one
 */
public record Usage(
    TokenCount input,
    TokenCount cachedInput,
    TokenCount cacheWrite,
    TokenCount output,
    TokenCount reasoning,
    TokenCount total,
    Optional<String> speed) {
  /** Nothing reported. */
  public static final Usage ABSENT =
      new Usage(
          TokenCount.ABSENT,
          TokenCount.ABSENT,
          TokenCount.ABSENT,
          TokenCount.ABSENT,
          TokenCount.ABSENT,
          TokenCount.ABSENT,
          Optional.empty());

  /**
   * Reported input and output; the rest absent.
   *
   * @param input input tokens
   * @param output output tokens
   * @return the usage
   */
  public static Usage reported(long input, long output) {
    return new Usage(
        TokenCount.reported(input),
        TokenCount.ABSENT,
        TokenCount.ABSENT,
        TokenCount.reported(output),
        TokenCount.ABSENT,
        TokenCount.ABSENT,
        Optional.empty());
  }

  /**
   * Fills in the base counters that are absent: input and output are estimated from the texts, the
   * total is their sum. Cache and reasoning details are never added again and stay as they are.
   *
   * @param inputText the text that was sent
   * @param outputText the text that came back
   * @return usage whose input, output and total are present
   */
  public Usage completed(String inputText, String outputText) {
    TokenCount in = input.isPresent() ? input : TokenCount.estimate(inputText);
    TokenCount out = output.isPresent() ? output : TokenCount.estimate(outputText);
    TokenCount sum =
        total.isPresent()
            ? total
            : new TokenCount(TokenCount.sum(in.tokens(), out.tokens()), Provenance.DERIVED);
    return new Usage(in, cachedInput, cacheWrite, out, reasoning, sum, speed);
  }

  /**
   * Whether one of the three base counters was missing and had to be estimated or derived.
   *
   * @return true if input, output or total was not reported
   */
  public boolean estimated() {
    return input.provenance() != Provenance.REPORTED
        || output.provenance() != Provenance.REPORTED
        || total.provenance() != Provenance.REPORTED;
  }

  /**
   * Adds field by field; the speed is the later one.
   *
   * @param later the usage of a later step
   * @return the sum
   */
  public Usage plus(Usage later) {
    if (equals(ABSENT)) {
      return later;
    }
    return new Usage(
        input.plus(later.input),
        cachedInput.plus(later.cachedInput),
        cacheWrite.plus(later.cacheWrite),
        output.plus(later.output),
        reasoning.plus(later.reasoning),
        total.plus(later.total),
        later.speed.or(() -> speed));
  }
}
