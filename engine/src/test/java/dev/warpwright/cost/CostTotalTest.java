package dev.warpwright.cost;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.warpwright.model.CostValuation;
import dev.warpwright.model.CostValuation.Status;
import dev.warpwright.model.Money;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What the calls of an operation cost together. */
final class CostTotalTest {
  private static CostValuation call(Status status, Optional<Money> amount, String... reasons) {
    return new CostValuation(
        "p",
        "m",
        status,
        amount,
        amount.map(Money::currency),
        "v1",
        Optional.of("1"),
        Valuation.RULE_VERSION,
        Optional.empty(),
        List.of(),
        List.of(reasons),
        List.of(),
        false);
  }

  private static CostValuation known(String amount) {
    return call(Status.KNOWN, Optional.of(Money.of(amount, "USD")));
  }

  private static CostValuation estimated(String amount) {
    return call(Status.ESTIMATED, Optional.of(Money.of(amount, "USD")));
  }

  private static CostValuation unknown(String... reasons) {
    return call(Status.UNKNOWN, Optional.empty(), reasons);
  }

  private static CostTotal total(Status status, String amount) {
    return new CostTotal(status, Optional.of(Money.of(amount, "USD")), List.of());
  }

  private static CostTotal none(String... reasons) {
    return new CostTotal(Status.UNKNOWN, Optional.empty(), List.of(reasons));
  }

  @Test
  @Tag("R226")
  void known_calls_have_a_known_total_and_one_estimate_makes_it_an_estimate() {
    assertEquals(total(Status.KNOWN, "0.1"), CostTotal.of(List.of(known("0.1"))));
    assertEquals(total(Status.KNOWN, "0.3"), CostTotal.of(List.of(known("0.1"), known("0.2"))));
    assertEquals(
        total(Status.ESTIMATED, "0.3"), CostTotal.of(List.of(known("0.1"), estimated("0.2"))));
    assertEquals(
        total(Status.ESTIMATED, "0.3"), CostTotal.of(List.of(estimated("0.2"), known("0.1"))));
  }

  @Test
  @Tag("R226")
  void a_success_does_not_make_a_failed_call_free() {
    assertEquals(
        none("missing-input-tokens", "missing-output-tokens"),
        CostTotal.of(
            List.of(
                unknown("missing-input-tokens", "missing-output-tokens"),
                known("0.1"),
                unknown("missing-input-tokens"))));
    assertEquals(none("fast-tier"), CostTotal.of(List.of(known("1"), unknown("fast-tier"))));
  }

  @Test
  @Tag("R226")
  void what_cannot_be_added_has_no_total() {
    CostValuation euro = call(Status.KNOWN, Optional.of(Money.of("1", "EUR")));

    assertEquals(none("different-currencies"), CostTotal.of(List.of(known("1"), euro)));
    assertEquals(none("no-calls"), CostTotal.of(List.of()));
    assertEquals(
        none("amount-overflow"), CostTotal.of(List.of(known("9000000000"), known("9000000000"))));
  }

  @Test
  void a_total_without_amount_or_reason_is_refused() {
    assertThrows(
        IllegalArgumentException.class,
        () -> new CostTotal(Status.KNOWN, Optional.empty(), List.of()));
    assertThrows(IllegalArgumentException.class, CostTotalTest::none);
  }
}
