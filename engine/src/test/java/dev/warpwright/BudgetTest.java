package dev.warpwright;

import static dev.warpwright.FakeModel.status;
import static dev.warpwright.Prices.usd;
import static dev.warpwright.Spine.A;
import static dev.warpwright.Spine.B;
import static dev.warpwright.Spine.ask;
import static dev.warpwright.Spine.request;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.control.BudgetReservation;
import dev.warpwright.control.BudgetSnapshot;
import dev.warpwright.control.BudgetStore;
import dev.warpwright.control.ReservationRule;
import dev.warpwright.control.RetryPolicy;
import dev.warpwright.cost.CostAccounting;
import dev.warpwright.model.Attempt.ReasonCode;
import dev.warpwright.model.AttemptsExhaustedException;
import dev.warpwright.model.BudgetDeniedException;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Money;
import dev.warpwright.model.OperationCancelledException;
import dev.warpwright.model.Part;
import dev.warpwright.model.TokenCount;
import dev.warpwright.model.Usage;
import dev.warpwright.task.Cancellation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

/** What operations set aside, settle, and leave uncertain. Each fake answer costs 0.02 dollars. */
@ParameterizedClass
@ValueSource(booleans = {false, true})
final class BudgetTest {
  private static final String SCOPE = "tenant-1/2026-11";
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  @RegisterExtension final Spine spine;

  BudgetTest(boolean honouringInterrupts) {
    spine = new Spine(honouringInterrupts);
  }

  private final BudgetStore store = BudgetStore.local(usd("1"));

  private Gateway gateway(BudgetStore store, ReservationRule rule, CostAccounting accounting) {
    return spine.build(spine.builder().costAccounting(accounting).budget(store, rule));
  }

  private Gateway gateway(String reserve) {
    return gateway(store, ReservationRule.fixed(usd(reserve)), Prices.accounting());
  }

  private static GenerateRequest.Builder paid() {
    return ask(A).budgetScope(SCOPE);
  }

  private static void assertAccount(
      BudgetStore store, String spent, String reserved, String uncertain) {
    BudgetSnapshot account = store.snapshot(SCOPE);
    assertEquals(usd(spent), account.spent());
    assertEquals(usd(reserved), account.reserved());
    assertEquals(usd(uncertain), account.uncertain());
  }

  @Test
  @Tag("R317")
  @Tag("R319")
  @Tag("C26")
  void a_success_settles_at_what_it_cost_and_gives_the_rest_back() {
    spine.a.says("hi");

    GenerateResult result = gateway("0.50").generate(paid().build());

    assertAccount(store, "0.02", "0", "0");
    assertEquals(usd("0.02"), result.cost().orElseThrow().amount().orElseThrow());
  }

  @Test
  @Tag("R318")
  @Tag("C26")
  void a_request_without_scope_is_refused_before_routing() {
    Gateway gateway = gateway("0.50");

    var refused = assertThrows(BudgetDeniedException.class, () -> gateway.generate(request(A)));

    assertEquals(List.of(), refused.trace().attempts());
    assertEquals(0, spine.a.count());
  }

  @Test
  @Tag("R322")
  @Tag("R106")
  @Tag("R107")
  void a_denial_ends_the_operation_without_retry_or_fallback() {
    Gateway gateway = gateway("2");

    var denied =
        assertThrows(
            BudgetDeniedException.class,
            () -> gateway.generate(ask(A, B).budgetScope(SCOPE).build()));

    assertEquals(
        List.of(ReasonCode.BUDGET_DENIED),
        denied.trace().attempts().stream().map(attempt -> attempt.reasonCode()).toList());
    assertTrue(String.valueOf(denied.getMessage()).contains("2 USD"), denied.getMessage());
    assertEquals(0, spine.a.count() + spine.b.count());
    assertAccount(store, "0", "0", "0");
  }

  @Test
  @Tag("R319")
  @Tag("R320")
  void what_failed_or_was_cut_off_stays_blocked_until_it_is_reconciled() throws Exception {
    Gateway gateway = gateway("0.10");
    spine.a.fails(status(400));
    assertThrows(AttemptsExhaustedException.class, () -> gateway.generate(paid().build()));
    assertAccount(store, "0", "0", "0.10");

    Cancellation cancellation = new Cancellation();
    spine.a.hangs();
    Caller<GenerateResult> caller =
        Caller.start(() -> gateway.generate(paid().cancellation(cancellation).build()));
    spine.a.awaitBusy();
    assertAccount(store, "0", "0.10", "0.10");
    cancellation.cancel();
    caller.failure(OperationCancelledException.class);
    assertAccount(store, "0", "0", "0.20");
  }

  @Test
  @Tag("R319")
  void a_success_that_cannot_be_priced_stays_uncertain() {
    Gateway strict = gateway(store, ReservationRule.fixed(usd("0.10")), Prices.builder().build());
    spine.a.says("without cache counters, and nothing is assumed about them");

    GenerateResult result = strict.generate(paid().build());

    assertAccount(store, "0", "0", "0.10");
    assertEquals(Optional.empty(), result.cost().orElseThrow().amount());
  }

  @Test
  @Tag("R319")
  @Tag("C26")
  void an_assumption_that_was_made_explicit_settles_as_estimated() {
    spine.a.says("hi");

    gateway("0.10").generate(paid().build());

    assertEquals(usd("0.02"), store.snapshot(SCOPE).estimated());
  }

  @Test
  @Tag("R317")
  @Tag("R388")
  void the_ceiling_is_the_most_that_the_call_may_cost() {
    AtomicInteger asked = new AtomicInteger();
    List<Money> amounts = new ArrayList<>();
    BudgetStore watching = new Watching(store, amounts, asked);
    Gateway gateway = gateway(watching, ReservationRule.ceiling(), Prices.accounting());
    spine.a.says("hi");

    gateway.generate(paid().maxTokens(100).build()); // 20 characters are 5 tokens of input

    assertEquals(List.of(usd("0.205")), amounts);
    var unknown = assertThrows(BudgetDeniedException.class, () -> gateway.generate(paid().build()));
    assertTrue(
        String.valueOf(unknown.getMessage()).contains("missing-output-limit"),
        unknown.getMessage());
  }

  @Test
  @Tag("R317")
  void a_cap_limits_what_is_set_aside() {
    List<Money> amounts = new ArrayList<>();
    Gateway gateway =
        gateway(
            new Watching(store, amounts, new AtomicInteger()),
            ReservationRule.ceilingUpTo(usd("0.05")),
            Prices.accounting());
    spine.a.says("hi");

    gateway.generate(paid().maxTokens(100).build());

    assertEquals(List.of(usd("0.05")), amounts);
  }

  @Test
  @Tag("R324")
  void what_cost_more_than_was_set_aside_counts_in_full() {
    Gateway gateway = gateway("0.01");
    spine.a.then(
        call ->
            FakeModel.response(
                List.of(new Part.Text("long")), FinishReason.Kind.STOP, Usage.reported(1_000, 0)));
    gateway.generate(paid().build());
    assertAccount(store, "1", "0", "0");

    assertThrows(BudgetDeniedException.class, () -> gateway.generate(paid().build()));
  }

  @Test
  @Tag("R325")
  @Tag("FR-M01")
  void two_calls_of_99_cents_at_once_do_not_both_fit_into_a_dollar() throws Exception {
    Gateway gateway = gateway("0.99");
    CountDownLatch gate = spine.gate();
    spine.a.then(
        call -> {
          gate.await();
          return FakeModel.answer("hi", FinishReason.Kind.STOP);
        });
    Caller<GenerateResult> first = Caller.start(() -> gateway.generate(paid().build()));
    Spine.until("the first call", () -> spine.a.count() == 1);

    assertThrows(BudgetDeniedException.class, () -> gateway.generate(paid().build()));

    gate.countDown();
    first.get();
    assertAccount(store, "0.02", "0", "0");
  }

  @Test
  @Tag("R325")
  void many_threads_never_promise_more_than_there_is() throws Exception {
    Gateway gateway = gateway("0.10");
    int threads = 200;
    for (int i = 0; i < threads; i++) {
      spine.a.says("hi");
    }
    CyclicBarrier start = new CyclicBarrier(threads);
    List<Caller<Boolean>> callers = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      callers.add(
          Caller.start(
              () -> {
                start.await();
                try {
                  gateway.generate(paid().build());
                  return true;
                } catch (BudgetDeniedException denied) {
                  return false;
                } finally {
                  BudgetSnapshot account = store.snapshot(SCOPE);
                  Money sum = account.spent().plus(account.reserved()).plus(account.uncertain());
                  assertTrue(sum.compareTo(usd("1")) <= 0, sum.toString());
                }
              }));
    }
    int paid = 0;
    for (Caller<Boolean> caller : callers) {
      paid += caller.get() ? 1 : 0;
    }
    assertEquals(paid, spine.a.count());
    assertTrue(paid >= 10 && paid <= 46, paid + " calls of 2 cents, 10 set aside for each");
    assertEquals(0, store.snapshot(SCOPE).reserved().nanos());
    assertEquals(20_000_000L * paid, store.snapshot(SCOPE).spent().nanos());
  }

  // --- a ledger that may block

  /** A ledger elsewhere: blocking, and it does what the test wants when something is settled. */
  private static final class Remote implements BudgetStore {
    private final BudgetStore local;
    private final Runnable onSettle;
    final CountDownLatch asked = new CountDownLatch(1);
    volatile CountDownLatch answer = new CountDownLatch(0);
    final AtomicInteger cancelled = new AtomicInteger();

    Remote(BudgetStore local, Runnable onSettle) {
      this.local = local;
      this.onSettle = onSettle;
    }

    @Override
    public String currency() {
      return local.currency();
    }

    @Override
    public Decision reserve(String scope, Money amount) throws InterruptedException {
      asked.countDown();
      Spine.awaitStubbornly(answer);
      Decision decision = local.reserve(scope, amount);
      return decision instanceof Decision.Reserved(BudgetReservation reservation)
          ? new Decision.Reserved(new Slow(reservation))
          : decision;
    }

    @Override
    public BudgetSnapshot snapshot(String scope) {
      return local.snapshot(scope);
    }

    @Override
    public boolean reconcile(String scope, String reservationId, Money actual) {
      return local.reconcile(scope, reservationId, actual);
    }

    private final class Slow implements BudgetReservation {
      private final BudgetReservation held;

      Slow(BudgetReservation held) {
        this.held = held;
      }

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
        onSettle.run();
        held.settle(actual, estimated);
      }

      @Override
      public void cancel() {
        held.cancel();
        cancelled.incrementAndGet();
      }

      @Override
      public void uncertain() {
        held.uncertain();
      }
    }
  }

  private Gateway remote(Remote remote) {
    return gateway(remote, ReservationRule.fixed(usd("0.10")), Prices.accounting());
  }

  @Test
  @Tag("R329")
  void settling_does_not_hold_up_the_answer() {
    CountDownLatch gate = spine.gate();
    Remote remote = new Remote(store, () -> Spine.awaitStubbornly(gate));
    Gateway gateway = remote(remote);
    spine.a.says("hi");

    assertEquals("hi", gateway.generate(paid().build()).text());
    assertEquals(1, gateway.diagnostics().pendingSettlements());
    assertAccount(store, "0", "0.10", "0");

    gate.countDown();
    assertTrue(gateway.flushControls(PATIENCE));
    assertAccount(store, "0.02", "0", "0");
    assertEquals(0, gateway.diagnostics().pendingSettlements());
    assertEquals(0, gateway.diagnostics().settlementFailures());
  }

  @Test
  @Tag("R329")
  @Tag("R104")
  @Tag("C29")
  void after_a_failed_settlement_nothing_is_set_aside_any_more() {
    Remote remote =
        new Remote(
            store,
            () -> {
              throw new IllegalStateException("the ledger is gone");
            });
    Gateway gateway = remote(remote);
    spine.a.says("hi");

    assertEquals("hi", gateway.generate(paid().build()).text());
    assertTrue(gateway.flushControls(PATIENCE));

    assertEquals(1, gateway.diagnostics().settlementFailures());
    var refused = assertThrows(BudgetDeniedException.class, () -> gateway.generate(paid().build()));
    assertTrue(String.valueOf(refused.getMessage()).contains("recover it"), refused.getMessage());
    assertEquals(1, spine.a.count());
  }

  @Test
  @Tag("R329")
  void a_settlement_that_takes_too_long_is_a_failed_one() throws Exception {
    CountDownLatch gate = spine.gate();
    CountDownLatch settling = new CountDownLatch(1);
    Gateway gateway =
        remote(
            new Remote(
                store,
                () -> {
                  settling.countDown();
                  Spine.awaitStubbornly(gate);
                }));
    spine.a.says("hi");
    gateway.generate(paid().build());
    Spine.await("the settlement", settling);
    spine.awaitWaitOf(Duration.ofSeconds(1));

    spine.advance(1_000);
    spine.awaitWaitOf(Spine.GRACE);
    spine.advance(100);

    Spine.until("the failure", () -> gateway.diagnostics().settlementFailures() == 1);
    assertThrows(BudgetDeniedException.class, () -> gateway.generate(paid().build()));
  }

  @Test
  @Tag("R331")
  void a_reservation_that_comes_after_the_cancel_is_cancelled_and_nothing_is_dispatched()
      throws Exception {
    Remote remote = new Remote(store, () -> {});
    CountDownLatch gate = spine.gate();
    remote.answer = gate;
    Gateway gateway = remote(remote);
    Cancellation cancellation = new Cancellation();
    Caller<GenerateResult> caller =
        Caller.start(() -> gateway.generate(paid().cancellation(cancellation).build()));
    Spine.await("the question", remote.asked);

    cancellation.cancel();
    spine.awaitWaitOf(Spine.GRACE);
    spine.advance(100);
    caller.failure(OperationCancelledException.class);
    gate.countDown();

    Spine.until("the money to be given back", () -> remote.cancelled.get() == 1);
    assertAccount(store, "0", "0", "0");
    assertEquals(0, spine.a.count());
  }

  @Test
  @Tag("R37")
  void a_store_that_does_not_answer_in_time_denies() throws Exception {
    Remote remote = new Remote(store, () -> {});
    remote.answer = spine.gate();
    Gateway gateway = remote(remote);
    Caller<GenerateResult> caller = Caller.start(() -> gateway.generate(paid().build()));
    Spine.await("the question", remote.asked);
    spine.awaitWaitOf(Duration.ofSeconds(1));
    spine.advance(1_000);
    spine.awaitWaitOf(Spine.GRACE);
    spine.advance(100);

    var denied = caller.failure(BudgetDeniedException.class);

    assertTrue(
        String.valueOf(denied.getMessage()).contains("resourceTimeout"), denied.getMessage());
  }

  @Test
  @Tag("R94")
  @Tag("R120")
  void a_store_that_outlasts_the_attempt_costs_the_attempt_and_not_the_operation()
      throws Exception {
    Remote remote = new Remote(store, () -> {});
    remote.answer = spine.gate();
    spine.b.says("b");
    Gateway gateway =
        spine.build(
            spine
                .builder()
                .retry(new RetryPolicy(0, Duration.ZERO, 0))
                .attemptTimeout("a", Duration.ofMillis(500))
                .costAccounting(Prices.accounting())
                .budget(remote, ReservationRule.fixed(usd("0.10"))));
    GenerateRequest request = ask(A, B).budgetScope(SCOPE).build();
    Caller<GenerateResult> caller = Caller.start(() -> gateway.generate(request));
    Spine.await("the question", remote.asked);
    spine.awaitWaitOf(Duration.ofMillis(500));
    spine.advance(500);
    spine.awaitWaitOf(Spine.GRACE);
    remote.answer.countDown();

    GenerateResult result = caller.get();

    assertEquals("b", result.text());
    assertEquals(ReasonCode.PROVIDER_ERROR, result.attempts().getFirst().reasonCode());
    assertEquals(1, remote.cancelled.get());
    gateway.flushControls(PATIENCE);
    assertAccount(store, "0.02", "0", "0");
  }

  // --- configuration

  @Test
  @Tag("R40")
  @Tag("R391")
  void a_budget_without_prices_or_in_two_currencies_is_refused() {
    Gateway.Builder noPrices = spine.builder().budget(store, ReservationRule.fixed(usd("0.10")));
    assertThrows(InvalidRequestException.class, noPrices::build);

    Gateway.Builder euros =
        spine
            .builder()
            .costAccounting(Prices.accounting())
            .budget(store, ReservationRule.fixed(Money.of("0.10", "EUR")));
    var refused = assertThrows(InvalidRequestException.class, euros::build);
    assertEquals("The budget is in USD, but its reservations are in EUR.", refused.getMessage());
    assertThrows(InvalidRequestException.class, () -> ReservationRule.fixed(usd("0")));
  }

  @Test
  @Tag("R39")
  void a_scope_that_is_blank_or_too_long_is_refused() {
    GenerateRequest.Builder builder = ask(A);
    for (String scope : List.of("", " ", "x".repeat(257))) {
      assertThrows(InvalidRequestException.class, () -> builder.budgetScope(scope));
    }
  }

  @Test
  @Tag("R225")
  @Tag("R226")
  void each_attempt_has_its_valuation_and_a_failed_one_makes_the_total_unknown() {
    Gateway gateway = spine.build(spine.builder().costAccounting(Prices.accounting()));
    spine.a.fails(status(400));
    spine.b.says("hi");

    GenerateResult result = gateway.generate(request(A, B));

    assertEquals(
        List.of(Optional.empty(), Optional.of(usd("0.02"))),
        result.attempts().stream().map(x -> x.cost().orElseThrow().amount()).toList());
    assertEquals(Optional.empty(), result.cost().orElseThrow().amount());
    assertFalse(result.cost().orElseThrow().unknownReasons().isEmpty());
    assertEquals(TokenCount.reported(10), result.usage().input());
  }

  /** Notes what is set aside. */
  private record Watching(BudgetStore store, List<Money> amounts, AtomicInteger asked)
      implements BudgetStore {
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
      amounts.add(amount);
      return store.reserve(scope, amount);
    }

    @Override
    public BudgetSnapshot snapshot(String scope) {
      return store.snapshot(scope);
    }

    @Override
    public boolean reconcile(String scope, String reservationId, Money actual) {
      return store.reconcile(scope, reservationId, actual);
    }
  }
}
