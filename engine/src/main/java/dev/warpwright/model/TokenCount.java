package dev.warpwright.model;

/**
 * A number of tokens and where it comes from.
 *
 * @param tokens the number, 0 if absent
 * @param provenance where it comes from
 */
public record TokenCount(long tokens, Provenance provenance) {
  /** Where a count comes from. */
  public enum Provenance {
    /** The provider reported it, zero included. */
    REPORTED,
    /** It follows from reported counts. */
    DERIVED,
    /** It was estimated from the length of a text. */
    ESTIMATED,
    /** Nobody reported it; the number means nothing. */
    ABSENT
  }

  /** No count. */
  public static final TokenCount ABSENT = new TokenCount(0, Provenance.ABSENT);

  /**
   * A reported count.
   *
   * @param tokens the number, zero or more
   * @return the count
   */
  public static TokenCount reported(long tokens) {
    return new TokenCount(tokens, Provenance.REPORTED);
  }

  /**
   * Whether somebody reported, derived or estimated it.
   *
   * @return false if absent
   */
  public boolean isPresent() {
    return provenance != Provenance.ABSENT;
  }

  /**
   * Estimates the tokens of a text: a quarter of its characters without surrounding white space,
   * rounded up, at least 1.
   *
   * @param text the text
   * @return the estimate
   */
  static TokenCount estimate(String text) {
    return new TokenCount(Math.max(1, (text.strip().length() + 3L) / 4), Provenance.ESTIMATED);
  }

  /** The sum, cut at the largest number: nonsense from a provider must not fail an answer. */
  static long sum(long a, long b) {
    long sum = a + b;
    return ((a ^ sum) & (b ^ sum)) < 0 ? Long.MAX_VALUE : sum;
  }

  /** Adds; the provenance is that of the weaker part. Two absent counts stay absent. */
  TokenCount plus(TokenCount other) {
    if (!isPresent()) {
      return other;
    }
    if (!other.isPresent()) {
      return this;
    }
    Provenance weaker = provenance.compareTo(other.provenance) >= 0 ? provenance : other.provenance;
    return new TokenCount(sum(tokens, other.tokens), weaker);
  }
}
