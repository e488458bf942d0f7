package dev.warpwright.cost;

import java.math.BigDecimal;

/**
 * What a model costs more once its input is long.
 *
 * @param thresholdTokens the longest input, cached parts included, that has the ordinary prices;
 *     one more token is a long context. Zero or more
 * @param inputMultiplier what the rates of input, cached input and cache writes are multiplied by;
 *     more than 0, at most 1000, with at most nine decimals
 * @param outputMultiplier what the output rate is multiplied by; same bounds
 */
public record LongContext(
    long thresholdTokens, BigDecimal inputMultiplier, BigDecimal outputMultiplier) {
  private static final BigDecimal MAX_MULTIPLIER = BigDecimal.valueOf(1000);
  private static final int MAX_DECIMALS = 9;

  /** Checks the bounds; equal multipliers become the same value, however they were written. */
  public LongContext {
    Bounds.atLeast(0, "A long-context threshold", thresholdTokens);
    inputMultiplier = multiplier("input", inputMultiplier);
    outputMultiplier = multiplier("output", outputMultiplier);
  }

  private static BigDecimal multiplier(String which, BigDecimal value) {
    if (value.signum() <= 0
        || value.compareTo(MAX_MULTIPLIER) > 0
        || value.stripTrailingZeros().scale() > MAX_DECIMALS) {
      throw Bounds.invalid(
          ("The long-context %s multiplier must be more than 0 and at most 1000 with at most 9"
                  + " decimals, but is %s.")
              .formatted(which, value));
    }
    BigDecimal stripped = value.stripTrailingZeros();
    return stripped.scale() < 0 ? stripped.setScale(0) : stripped;
  }
}
