package dev.warpwright.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.warpwright.model.CostValuation.Status;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A valuation has an amount or a reason, never both, never neither. */
final class CostValuationTest {
  private static final Optional<Money> ONE = Optional.of(Money.of("1", "USD"));

  private static CostValuation valuation(
      Status status, Optional<Money> amount, Optional<String> currency, List<String> reasons) {
    return new CostValuation(
        "p",
        "m",
        status,
        amount,
        currency,
        "v1",
        Optional.empty(),
        "r1",
        Optional.empty(),
        List.of(),
        reasons,
        List.of(),
        false);
  }

  @ParameterizedTest
  @EnumSource(Status.class)
  @Tag("R225")
  @Tag("R230")
  void an_amount_and_a_reason_exclude_each_other(Status status) {
    Optional<String> usd = Optional.of("USD");
    boolean unknown = status == Status.UNKNOWN;

    assertThrows(
        IllegalArgumentException.class, () -> valuation(status, ONE, usd, List.of("fast-tier")));
    assertThrows(
        IllegalArgumentException.class, () -> valuation(status, Optional.empty(), usd, List.of()));
    if (unknown) {
      assertThrows(IllegalArgumentException.class, () -> valuation(status, ONE, usd, List.of()));
      valuation(status, Optional.empty(), usd, List.of("fast-tier"));
    } else {
      assertThrows(
          IllegalArgumentException.class,
          () -> valuation(status, Optional.empty(), usd, List.of("fast-tier")));
      valuation(status, ONE, usd, List.of());
    }
  }

  @Test
  @Tag("R225")
  void the_amount_is_in_the_currency() {
    assertThrows(
        IllegalArgumentException.class,
        () -> valuation(Status.KNOWN, ONE, Optional.of("EUR"), List.of()));
    assertThrows(
        IllegalArgumentException.class,
        () -> valuation(Status.KNOWN, ONE, Optional.empty(), List.of()));
  }

  @Test
  void the_lists_are_copied() {
    List<String> reasons = new ArrayList<>(List.of("fast-tier"));
    CostValuation valuation =
        valuation(Status.UNKNOWN, Optional.empty(), Optional.empty(), reasons);
    reasons.clear();

    assertEquals(List.of("fast-tier"), valuation.unknownReasons());
  }
}
