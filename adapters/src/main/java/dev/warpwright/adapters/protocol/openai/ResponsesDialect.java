package dev.warpwright.adapters.protocol.openai;

import java.util.Set;

/**
 * How one vendor speaks Responses, as far as it differs from OpenAI.
 *
 * @param notWhileReasoning members of the request that it does not take while the model reasons
 * @param quirks what it does otherwise
 */
public record ResponsesDialect(Set<String> notWhileReasoning, Set<Quirk> quirks) {
  /** OpenAI itself. */
  public static final ResponsesDialect OPENAI = with();

  /** Copies the sets. */
  public ResponsesDialect {
    notWhileReasoning = Set.copyOf(notWhileReasoning);
    quirks = Set.copyOf(quirks);
  }

  /**
   * A vendor with some quirks.
   *
   * @param quirks what it does otherwise
   * @return the dialect
   */
  public static ResponsesDialect with(Quirk... quirks) {
    return new ResponsesDialect(Set.of(), Set.of(quirks));
  }

  /**
   * The same with members that it does not take while the model reasons.
   *
   * @param members names of members of the request
   * @return a copy
   */
  public ResponsesDialect notWhileReasoning(String... members) {
    return new ResponsesDialect(Set.of(members), quirks);
  }

  /**
   * Whether it has a quirk.
   *
   * @param quirk the quirk
   * @return true if it does
   */
  public boolean has(Quirk quirk) {
    return quirks.contains(quirk);
  }
}
