package dev.warpwright;

import static dev.warpwright.Prices.usd;
import static dev.warpwright.Spine.A;
import static dev.warpwright.Spine.ask;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.warpwright.control.Admission;
import dev.warpwright.control.AdmissionController;
import dev.warpwright.control.AdmissionPermit;
import dev.warpwright.control.AdmissionPolicy;
import dev.warpwright.control.AdmissionRequest;
import dev.warpwright.control.BudgetReservation;
import dev.warpwright.control.BudgetSnapshot;
import dev.warpwright.control.BudgetStore;
import dev.warpwright.control.ReservationRule;
import dev.warpwright.model.Attempt.ReasonCode;
import dev.warpwright.model.BudgetDeniedException;
import dev.warpwright.model.CostValuation;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.Money;
import dev.warpwright.model.Part;
import dev.warpwright.model.ReasoningAccounting;
import dev.warpwright.model.Usage;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A port or a provider that breaks its contract after the answer has come: the answer is not lost,
 * and what was taken for the call is given back.
 */
final class PortFailureTest {
  private static final String SCOPE = "tenant";

  @RegisterExtension final Spine spine = new Spine();

  private final BudgetStore store = BudgetStore.local(usd("1"));

  @AfterEach
  void no_money_is_left_reserved() {
    assertEquals(usd("0"), store.snapshot(SCOPE).reserved());
  }

  private Gateway.Builder paid() {
    return spine
        .builder()
        .costAccounting(Prices.accounting())
        .budget(store, ReservationRule.fixed(usd("0.50")));
  }

  private static GenerateRequest paidRequest() {
    return ask(A).budgetScope(SCOPE).build();
  }

  private static AdmissionController admitting(AdmissionPermit permit) {
    return new AdmissionController() {
      @Override
      public Admission tryAcquire(AdmissionRequest request) {
        return new Admission.Admitted(permit);
      }

      @Override
      public Admission.Decision acquire(AdmissionRequest request) {
        throw new AssertionError("nobody has to wait");
      }
    };
  }

  /** Throws, and counts how often it was closed. */
  private static final class Permit implements AdmissionPermit {
    final AtomicInteger closed = new AtomicInteger();
    private final Throwable onReconcile;

    Permit(Throwable onReconcile) {
      this.onReconcile = onReconcile;
    }

    @Override
    public void reconcile(long totalTokens) {
      switch (onReconcile) {
        case Error error -> throw error;
        default -> throw new IllegalStateException(onReconcile);
      }
    }

    @Override
    public void close() {
      closed.incrementAndGet();
      throw new IllegalStateException("close failed");
    }
  }

  @Test
  @Tag("R104")
  @Tag("R107")
  void a_permit_that_fails_after_the_answer_takes_neither_it_nor_the_money_away() {
    spine.a.says("hi");
    Permit permit = new Permit(new IllegalStateException("reconcile failed"));
    Gateway gateway = spine.build(paid().admission(admitting(permit)));

    GenerateResult result = gateway.generate(paidRequest());

    assertEquals("hi", result.text());
    assertEquals(1, result.attempts().size());
    assertEquals(1, permit.closed.get());
    assertEquals(usd("0.02"), store.snapshot(SCOPE).spent());
  }

  @Test
  @Tag("R3")
  @Tag("R107")
  void an_error_between_the_answer_and_its_settlement_leaves_the_money_uncertain() {
    spine.a.says("hi");
    Error error = new StackOverflowError();
    Permit permit = new Permit(error);
    Gateway gateway = spine.build(paid().admission(admitting(permit)));

    assertEquals(
        error, assertThrows(StackOverflowError.class, () -> gateway.generate(paidRequest())));

    assertEquals(1, permit.closed.get());
    assertEquals(usd("0.50"), store.snapshot(SCOPE).uncertain());
  }

  @Test
  @Tag("R235")
  @Tag("R309")
  void counters_below_zero_are_nonsense_that_costs_no_answer() {
    spine.a.then(
        call ->
            FakeModel.response(
                List.of(new Part.Text("hi")), FinishReason.Kind.STOP, Usage.reported(-10, 5)));
    AdmissionPolicy policy = AdmissionPolicy.builder(1).tokensPerMinute(100).build();
    Gateway gateway = spine.build(paid().admission(AdmissionController.local(policy, spine.time)));

    GenerateResult result = gateway.generate(ask(A).budgetScope(SCOPE).maxTokens(50).build());

    CostValuation cost = result.attempts().getFirst().cost().orElseThrow();
    assertEquals("hi", result.text());
    assertEquals(List.of("invalid-reported-usage"), cost.unknownReasons());
    assertEquals(usd("0.50"), store.snapshot(SCOPE).uncertain());
  }

  @Test
  @Tag("R104")
  void a_declaration_of_counters_that_fails_declares_nothing() {
    FakeModel odd =
        new FakeModel() {
          @Override
          public Optional<ReasoningAccounting> reasoningAccounting() {
            throw new IllegalStateException("not declared");
          }
        };
    odd.says("hi");
    Gateway gateway = spine.build(paid().adapter("a", id -> odd));

    assertEquals("hi", gateway.generate(paidRequest()).text());
    assertEquals(usd("0.02"), store.snapshot(SCOPE).spent());
  }

  /** Decides nothing. */
  private record Undecided(boolean blocking) implements BudgetStore {
    @Override
    public String currency() {
      return "USD";
    }

    @Override
    @SuppressWarnings({"NullAway", "DataFlowIssue"}) // that is the fault
    public Decision reserve(String scope, Money amount) {
      return null;
    }

    @Override
    public BudgetSnapshot snapshot(String scope) {
      throw new AssertionError("nobody asks");
    }

    @Override
    public boolean reconcile(String scope, String reservationId, Money actual) {
      throw new AssertionError("nobody asks");
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  @Tag("R322")
  void a_store_that_decides_nothing_denies(boolean blocking) {
    Gateway gateway =
        spine.build(
            spine
                .builder()
                .costAccounting(Prices.accounting())
                .budget(new Undecided(blocking), ReservationRule.fixed(usd("0.50"))));

    var denied = assertThrows(BudgetDeniedException.class, () -> gateway.generate(paidRequest()));

    assertEquals(ReasonCode.BUDGET_DENIED, denied.trace().attempts().getFirst().reasonCode());
    assertEquals(0, spine.a.count());
  }

  /** A ledger in place whose settlements end in an error. */
  private record Overflowing(BudgetStore store) implements BudgetStore {
    @Override
    public String currency() {
      return store.currency();
    }

    @Override
    public boolean blocking() {
      return false;
    }

    @Override
    public Decision reserve(String scope, Money amount) throws InterruptedException {
      return store.reserve(scope, amount) instanceof Decision.Reserved(BudgetReservation held)
          ? new Decision.Reserved(new Ending(held))
          : new Decision.Denied("no money");
    }

    @Override
    public BudgetSnapshot snapshot(String scope) {
      return store.snapshot(scope);
    }

    @Override
    public boolean reconcile(String scope, String reservationId, Money actual) {
      return store.reconcile(scope, reservationId, actual);
    }

    private record Ending(BudgetReservation held) implements BudgetReservation {
      @Override
      public String id() {
        return held.id();
      }

      @Override
      public Money amount() {
        return held.amount();
      }

      @Override
      public void settle(Money actual, boolean estimated) {
        held.uncertain();
        throw new StackOverflowError();
      }

      @Override
      public void cancel() {
        held.cancel();
      }

      @Override
      public void uncertain() {
        held.uncertain();
      }
    }
  }

  @Test
  @Tag("R104")
  @Tag("R329")
  @Tag("C29")
  void an_error_of_a_settlement_in_place_is_a_failed_one_and_takes_no_answer_away() {
    spine.a.says("hi");
    Gateway gateway =
        spine.build(
            spine
                .builder()
                .costAccounting(Prices.accounting())
                .budget(new Overflowing(store), ReservationRule.fixed(usd("0.50"))));

    assertEquals("hi", gateway.generate(paidRequest()).text());

    assertEquals(1, gateway.diagnostics().settlementFailures());
    assertThrows(BudgetDeniedException.class, () -> gateway.generate(paidRequest()));
    assertEquals(1, spine.a.count());
  }
}
