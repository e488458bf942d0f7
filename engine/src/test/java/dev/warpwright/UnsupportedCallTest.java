package dev.warpwright;

import static dev.warpwright.FakeModel.status;
import static dev.warpwright.Prices.usd;
import static dev.warpwright.Spine.A;
import static dev.warpwright.Spine.B;
import static dev.warpwright.Spine.ask;
import static dev.warpwright.Spine.request;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.control.AdmissionController;
import dev.warpwright.control.AdmissionPolicy;
import dev.warpwright.control.BudgetStore;
import dev.warpwright.control.ReservationRule;
import dev.warpwright.model.Attempt;
import dev.warpwright.model.Attempt.ReasonCode;
import dev.warpwright.model.AttemptsExhaustedException;
import dev.warpwright.model.NoEligibleTargetException;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.StreamBrokenException;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What becomes of a call that an adapter refuses before it sends anything. */
final class UnsupportedCallTest {
  private static final String WHY = "This vendor takes no tool choice but auto.";

  @RegisterExtension final Spine spine = new Spine();

  private static ProviderException unsupported() {
    return ProviderException.builder(ProviderException.Kind.UNSUPPORTED, WHY).build();
  }

  private static List<ReasonCode> codes(List<Attempt> attempts) {
    return attempts.stream().map(Attempt::reasonCode).toList();
  }

  @Test
  @Tag("R79")
  @Tag("R59")
  void its_target_is_skipped_and_counts_as_no_attempt() {
    spine.a.fails(unsupported());
    spine.b.says("hi");
    Gateway gateway = spine.build(spine.builder().maxTotalAttempts(1));

    GenerateResult result = gateway.generate(request(A, B));

    assertEquals(
        List.of(ReasonCode.MODEL_CAPABILITIES, ReasonCode.PROVIDER_SUCCESS),
        codes(result.attempts()));
    Attempt skip = result.attempts().getFirst();
    assertEquals(A, skip.target());
    assertEquals(WHY, skip.message());
    assertEquals(1, spine.a.count());
  }

  @Test
  @Tag("R58")
  void if_no_target_takes_it_none_was_eligible() {
    spine.a.fails(unsupported());
    spine.b.fails(unsupported());
    Gateway gateway = spine.gateway();

    var none = assertThrows(NoEligibleTargetException.class, () -> gateway.generate(request(A, B)));

    assertTrue(none.getMessage().contains(WHY), none.getMessage());
    assertEquals(
        List.of(ReasonCode.MODEL_CAPABILITIES, ReasonCode.MODEL_CAPABILITIES),
        codes(none.trace().attempts()));
  }

  @Test
  @Tag("R64")
  void a_failure_before_it_stays_the_reason() {
    spine.a.fails(status(400));
    spine.b.fails(unsupported());
    Gateway gateway = spine.gateway();

    var failed =
        assertThrows(AttemptsExhaustedException.class, () -> gateway.generate(request(A, B)));

    assertEquals(400, ((ProviderException) failed.getCause()).status());
  }

  @Test
  @Tag("R80")
  void a_stream_goes_to_the_next_target_too() {
    spine.a.breaks(unsupported());
    spine.b.says("hi");

    try (TextStream stream = spine.gateway().streamText(request(A, B))) {
      assertEquals("hi", stream.collect().text());
    }
  }

  /** An adapter that says so behind output has sent something after all. */
  @Test
  @Tag("R136")
  @Tag("FR-F01")
  void behind_output_it_is_a_broken_stream_and_no_other_target_goes_on() {
    spine.a.breaks(unsupported(), "Hel", "lo");
    spine.b.says("never");

    try (TextStream stream = spine.gateway().streamText(request(A, B))) {
      var broken = assertThrows(StreamBrokenException.class, stream::collect);
      assertEquals("Hello", broken.partialText());
    }
    assertEquals(0, spine.b.count());
  }

  @Test
  @Tag("R319")
  void nothing_stays_set_aside_for_it() {
    BudgetStore store = BudgetStore.local(usd("1"));
    AdmissionController admission =
        AdmissionController.local(
            AdmissionPolicy.builder(1).tokensPerMinute(100_000).build(), spine.time);
    spine.a.fails(unsupported(), 2);
    spine.b.says("hi").says("ho");
    Gateway gateway =
        spine.build(
            spine
                .builder()
                .costAccounting(Prices.accounting())
                .budget(store, ReservationRule.fixed(usd("0.50")))
                .admission(admission));

    for (int i = 0; i < 2; i++) {
      gateway.generate(ask(A, B).budgetScope("tenant").maxTokens(60_000).build());
    }

    assertEquals(usd("0.04"), store.snapshot("tenant").spent());
    assertEquals(usd("0"), store.snapshot("tenant").uncertain());
    assertEquals(2, spine.a.count()); // the second was admitted: no token of the first was used
  }
}
