package dev.warpwright.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.TokenCount.Provenance;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Counting tokens, also those that nobody reported. */
final class UsageTest {
  private static TokenCount reported(long tokens) {
    return TokenCount.reported(tokens);
  }

  private static Usage usage(TokenCount input, TokenCount output, TokenCount total) {
    return new Usage(
        input, reported(3), reported(2), output, reported(1), total, Optional.of("fast"));
  }

  @Test
  @Tag("R210")
  @Tag("R213")
  void reportedCountsStayAsTheyAreZeroIncluded() {
    Usage usage = usage(reported(0), reported(0), reported(0));

    Usage completed = usage.completed("a long text", "another");

    assertEquals(usage, completed);
    assertFalse(completed.estimated());
  }

  @Test
  @Tag("R213")
  void anAbsentDetailStaysAbsent() {
    Usage completed = Usage.ABSENT.completed("abcd", "abcd");

    assertEquals(TokenCount.ABSENT, completed.cachedInput());
    assertEquals(TokenCount.ABSENT, completed.cacheWrite());
    assertEquals(TokenCount.ABSENT, completed.reasoning());
    assertEquals(Optional.empty(), completed.speed());
  }

  @ParameterizedTest
  @CsvSource({"'', 1", "'   ', 1", "a, 1", "abcd, 1", "abcde, 2", "'  abcd  ', 1", "12345678, 2"})
  @Tag("R214")
  void aMissingCountIsAQuarterOfTheTrimmedTextRoundedUpAndAtLeastOne(String text, long tokens) {
    Usage completed = Usage.ABSENT.completed(text, text);

    var estimate = new TokenCount(tokens, Provenance.ESTIMATED);
    assertEquals(estimate, completed.input());
    assertEquals(estimate, completed.output());
  }

  @Test
  @Tag("R215")
  @Tag("R216")
  void aMissingTotalIsInputAndOutputAndNothingElseAndCountsAsEstimated() {
    Usage completed = usage(reported(10), reported(5), TokenCount.ABSENT).completed("", "");

    assertEquals(new TokenCount(15, Provenance.DERIVED), completed.total());
    assertTrue(completed.estimated());
  }

  @Test
  @Tag("R216")
  void oneMissingBaseCounterMakesTheUsageEstimated() {
    assertTrue(usage(TokenCount.ABSENT, reported(5), reported(9)).completed("", "").estimated());
    assertTrue(usage(reported(5), TokenCount.ABSENT, reported(9)).completed("", "").estimated());
    assertEquals(
        reported(9), usage(TokenCount.ABSENT, reported(5), reported(9)).completed("", "").total());
  }

  @Test
  @Tag("R218")
  void stepsAreAddedFieldByFieldAndTheLastSpeedCounts() {
    Usage one = usage(reported(10), reported(5), reported(15));
    Usage two =
        new Usage(
            reported(1),
            TokenCount.ABSENT,
            reported(4),
            new TokenCount(2, Provenance.ESTIMATED),
            reported(7),
            new TokenCount(3, Provenance.DERIVED),
            Optional.of("slow"));

    Usage sum = Usage.ABSENT.plus(one).plus(two);

    assertEquals(reported(11), sum.input());
    assertEquals(reported(3), sum.cachedInput());
    assertEquals(reported(6), sum.cacheWrite());
    assertEquals(new TokenCount(7, Provenance.ESTIMATED), sum.output());
    assertEquals(reported(8), sum.reasoning());
    assertEquals(new TokenCount(18, Provenance.DERIVED), sum.total());
    assertEquals(Optional.of("slow"), sum.speed());
    assertEquals(Optional.of("fast"), one.plus(Usage.ABSENT).speed());
    assertTrue(sum.estimated());
  }

  @Test
  void absurdCountsDoNotOverflow() {
    Usage huge = Usage.reported(Long.MAX_VALUE, Long.MAX_VALUE).completed("", "");

    assertEquals(Long.MAX_VALUE, huge.total().tokens());
    assertEquals(Long.MAX_VALUE, huge.plus(huge).input().tokens());
    assertEquals(-3, Usage.reported(-1, -2).completed("", "").total().tokens());
  }
}
