package dev.warpwright.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.control.BudgetReservation;
import dev.warpwright.control.BudgetSnapshot;
import dev.warpwright.control.BudgetStore;
import dev.warpwright.control.BudgetStore.Decision;
import dev.warpwright.control.BudgetStore.Decision.Denied;
import dev.warpwright.control.BudgetStore.Decision.Reserved;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Money;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What every {@link BudgetStore} must do. */
@Timeout(60)
public abstract class BudgetStoreContract {
  private static final String SCOPE = "tenant/2026-01";

  /** Makes an empty store in which each scope may spend the limit. */
  protected abstract BudgetStore open(Money limit);

  private static Money usd(String amount) {
    return Money.of(amount, "USD");
  }

  private static BudgetReservation reserve(BudgetStore store, String amount)
      throws InterruptedException {
    return assertInstanceOf(Reserved.class, store.reserve(SCOPE, usd(amount))).reservation();
  }

  private static String deny(BudgetStore store, String amount) throws InterruptedException {
    return assertInstanceOf(Denied.class, store.reserve(SCOPE, usd(amount))).message();
  }

  private static void assertAccount(
      BudgetStore store,
      String spent,
      String estimated,
      String reserved,
      String uncertain,
      String remaining) {
    assertEquals(
        new BudgetSnapshot(
            usd(spent), usd(estimated), usd(reserved), usd(uncertain), usd(remaining)),
        store.snapshot(SCOPE));
  }

  @Test
  @Tag("R391")
  void it_has_one_currency() {
    assertEquals("EUR", open(Money.of("1", "EUR")).currency());
  }

  @Test
  @Tag("R325")
  @Tag("R326")
  void a_reservation_counts_until_it_is_settled_and_the_rest_is_given_back() throws Exception {
    BudgetStore store = open(usd("10"));
    assertAccount(store, "0", "0", "0", "0", "10");

    BudgetReservation reservation = reserve(store, "6");
    assertEquals(usd("6"), reservation.amount());
    assertAccount(store, "0", "0", "6", "0", "4");

    reservation.settle(usd("2.5"), false);
    assertAccount(store, "2.5", "0", "0", "0", "7.5");
    reserve(store, "7.5");
    assertAccount(store, "2.5", "0", "7.5", "0", "0");
  }

  @Test
  @Tag("R319")
  @Tag("R326")
  void an_estimated_settlement_is_spent_and_shown_as_estimated() throws Exception {
    BudgetStore store = open(usd("10"));
    reserve(store, "3").settle(usd("1"), true);
    reserve(store, "3").settle(usd("2"), false);
    reserve(store, "3").settle(usd("0.5"), true);
    assertAccount(store, "3.5", "1.5", "0", "0", "6.5");
  }

  @Test
  @Tag("R325")
  void what_does_not_fit_is_denied_and_told_why() throws Exception {
    BudgetStore store = open(usd("10"));
    reserve(store, "4").settle(usd("1"), false);
    reserve(store, "3").uncertain();
    reserve(store, "4");

    String message = deny(store, "2.000000001");

    assertEquals(
        "2.000000001 USD cannot be reserved: of the limit of 10 USD, 1 USD is spent, 4 USD reserved"
            + " and 3 USD uncertain.",
        message);
    assertAccount(store, "1", "0", "4", "3", "2");
    reserve(store, "2");
  }

  @Test
  @Tag("R325")
  void a_reservation_larger_than_the_limit_is_denied_whatever_else_is_reserved() throws Exception {
    BudgetStore store = open(usd("10"));
    deny(store, "10.000000001");
    deny(store, "9223372036.854775807");
    assertAccount(store, "0", "0", "0", "0", "10");
    reserve(store, "10");
    deny(store, "9223372036.854775807");
    assertInstanceOf(Reserved.class, store.reserve(SCOPE, usd("0")));
  }

  @ParameterizedTest
  @ValueSource(strings = {"0.99", "0.51", "1"})
  @Tag("R325")
  @Tag("FR-M01")
  void of_two_at_once_that_fit_only_one_by_one_one_is_denied(String amount) throws Exception {
    BudgetStore store = open(usd("1.00"));
    for (int round = 0; round < 50; round++) {
      String scope = "round " + round;

      List<Decision> decisions = Together.run(2, n -> store.reserve(scope, usd(amount)));

      List<Reserved> reserved = reserved(decisions);
      assertEquals(1, reserved.size());
      reserved.getFirst().reservation().cancel();
      assertEquals(
          new BudgetSnapshot(usd("0"), usd("0"), usd("0"), usd("0"), usd("1")),
          store.snapshot(scope));
    }
  }

  private static List<Reserved> reserved(List<Decision> decisions) {
    return decisions.stream().filter(Reserved.class::isInstance).map(Reserved.class::cast).toList();
  }

  @Test
  @Tag("R319")
  @Tag("R320")
  @Tag("R333")
  void uncertain_spend_stays_blocked_until_it_is_reconciled_once() throws Exception {
    BudgetStore store = open(usd("10"));
    BudgetReservation cutOff = reserve(store, "6");
    assertFalse(store.reconcile(SCOPE, cutOff.id(), usd("1"))); // not uncertain yet
    cutOff.uncertain();
    assertAccount(store, "0", "0", "0", "6", "4");
    deny(store, "5");
    assertFalse(store.reconcile(SCOPE, "unknown", usd("1")));
    assertFalse(store.reconcile("another scope", cutOff.id(), usd("1")));

    assertTrue(store.reconcile(SCOPE, cutOff.id(), usd("1.5")));
    assertAccount(store, "1.5", "0", "0", "0", "8.5");

    assertFalse(store.reconcile(SCOPE, cutOff.id(), usd("3")));
    cutOff.settle(usd("2"), false);
    cutOff.cancel();
    cutOff.uncertain();
    assertAccount(store, "1.5", "0", "0", "0", "8.5");
  }

  @Test
  @Tag("R333")
  void reconciling_counts_in_full_what_was_more_than_reserved() throws Exception {
    BudgetStore store = open(usd("10"));
    BudgetReservation cutOff = reserve(store, "6");
    cutOff.uncertain();
    assertTrue(store.reconcile(SCOPE, cutOff.id(), usd("12")));
    assertAccount(store, "12", "0", "0", "0", "0");
    deny(store, "0");
  }

  @Test
  @Tag("R324")
  void an_actual_amount_above_the_reservation_counts_in_full_and_exhausts_the_scope()
      throws Exception {
    BudgetStore store = open(usd("10"));
    BudgetReservation first = reserve(store, "1");
    BudgetReservation second = reserve(store, "1");

    first.settle(usd("9.5"), false);
    assertAccount(store, "9.5", "0", "1", "0", "0");
    deny(store, "0.1");

    second.settle(usd("0.2"), false);
    assertAccount(store, "9.7", "0", "0", "0", "0.3");
    reserve(store, "0.3");
  }

  @Test
  @Tag("R324")
  void absurd_amounts_exhaust_the_scope_and_nothing_overflows() throws Exception {
    Money most = new Money(Long.MAX_VALUE, "USD");
    BudgetStore store = open(most);
    BudgetReservation first = reserve(store, "1");
    BudgetReservation second = reserve(store, "1");
    BudgetReservation third = reserve(store, "1");

    first.settle(most, true);
    second.settle(most, true);
    third.uncertain();

    assertEquals(
        new BudgetSnapshot(most, most, usd("0"), usd("1"), usd("0")), store.snapshot(SCOPE));
    deny(store, "0.01");
    assertTrue(store.reconcile(SCOPE, third.id(), most));
    deny(store, "0.01");
  }

  @Test
  @Tag("R323")
  void a_settlement_in_another_currency_gives_nothing_back() throws Exception {
    BudgetStore store = open(usd("10"));
    BudgetReservation reservation = reserve(store, "6");

    reservation.settle(Money.of("1", "EUR"), false);

    assertAccount(store, "0", "0", "0", "6", "4");
    reservation.settle(usd("1"), false);
    assertAccount(store, "0", "0", "0", "6", "4");
    assertTrue(store.reconcile(SCOPE, reservation.id(), usd("1")));
  }

  /** The ways in which a reservation ends. */
  enum End {
    SETTLE,
    ESTIMATE,
    OTHER_CURRENCY,
    CANCEL,
    UNCERTAIN;

    void of(BudgetReservation reservation) {
      switch (this) {
        case SETTLE -> reservation.settle(usd("2"), false);
        case ESTIMATE -> reservation.settle(usd("3"), true);
        case OTHER_CURRENCY -> reservation.settle(Money.of("1", "EUR"), true);
        case CANCEL -> reservation.cancel();
        case UNCERTAIN -> reservation.uncertain();
      }
    }
  }

  @ParameterizedTest
  @EnumSource(End.class)
  @Tag("R328")
  void the_first_end_of_a_reservation_counts_and_no_other_changes_anything(End first)
      throws Exception {
    BudgetStore store = open(usd("10"));
    BudgetReservation reservation = reserve(store, "6");
    first.of(reservation);
    BudgetSnapshot after = store.snapshot(SCOPE);
    assertEquals(usd("0"), after.reserved());

    for (End later : End.values()) {
      later.of(reservation);
      assertEquals(after, store.snapshot(SCOPE), () -> first + ", then " + later);
    }
  }

  @Test
  @Tag("R328")
  void of_ends_at_the_same_moment_exactly_one_counts() throws Exception {
    BudgetStore store = open(usd("10"));
    for (int round = 0; round < 50; round++) {
      String scope = "round " + round;
      BudgetReservation reservation =
          assertInstanceOf(Reserved.class, store.reserve(scope, usd("6"))).reservation();

      Together.run(
          10,
          n -> {
            End.values()[n % 5].of(reservation);
            assertEquals(usd("0"), store.snapshot(scope).reserved()); // for everybody at once
            return n;
          });

      BudgetSnapshot after = store.snapshot(scope);
      assertTrue(
          List.of(
                  account("2", "0", "0"),
                  account("3", "3", "0"),
                  account("0", "0", "6"),
                  account("0", "0", "0"))
              .contains(after),
          after::toString);
    }
  }

  /** An account of 10 USD of which nothing is reserved. */
  private static BudgetSnapshot account(String spent, String estimated, String uncertain) {
    Money remaining = usd("10").minus(usd(spent)).minus(usd(uncertain));
    return new BudgetSnapshot(usd(spent), usd(estimated), usd("0"), usd(uncertain), remaining);
  }

  @Test
  void a_negative_settlement_is_refused_and_leaves_the_reservation_open() throws Exception {
    BudgetStore store = open(usd("10"));
    BudgetReservation reservation = reserve(store, "6");
    assertThrows(InvalidRequestException.class, () -> reservation.settle(usd("-0.01"), false));
    assertAccount(store, "0", "0", "6", "0", "4");
    reservation.settle(usd("1"), false);
    assertAccount(store, "1", "0", "0", "0", "9");
  }

  @Test
  void bad_arguments_are_refused_with_their_rule() throws Exception {
    BudgetStore store = open(usd("10"));
    BudgetReservation cutOff = reserve(store, "6");
    cutOff.uncertain();
    assertThrows(InvalidRequestException.class, () -> store.reserve(SCOPE, usd("-1")));
    assertThrows(InvalidRequestException.class, () -> store.reserve(" ", usd("1")));
    assertThrows(InvalidRequestException.class, () -> store.reserve("", usd("1")));
    assertThrows(InvalidRequestException.class, () -> store.reserve("x".repeat(257), usd("1")));
    assertThrows(InvalidRequestException.class, () -> store.snapshot(""));
    var currency =
        assertThrows(
            InvalidRequestException.class, () -> store.reserve(SCOPE, Money.of("1", "EUR")));
    assertEquals(
        "A reservation must be in USD, the currency of the budget, but is 1 EUR.",
        currency.getMessage());
    assertThrows(
        InvalidRequestException.class, () -> store.reconcile(SCOPE, cutOff.id(), usd("-1")));
    assertThrows(
        InvalidRequestException.class,
        () -> store.reconcile(SCOPE, cutOff.id(), Money.of("1", "EUR")));
    assertAccount(store, "0", "0", "0", "6", "4");
    assertInstanceOf(Reserved.class, store.reserve("x".repeat(256), usd("1")));
  }

  @Test
  @Tag("R391")
  void scopes_have_nothing_to_do_with_another() throws Exception {
    BudgetStore store = open(usd("10"));
    reserve(store, "10");
    assertInstanceOf(Reserved.class, store.reserve("tenant/2026-02", usd("10")));
    deny(store, "0.01");
  }

  @Test
  @Tag("FR-M03")
  void many_small_reservations_add_up_exactly() throws Exception {
    BudgetStore store = open(usd("25"));
    List<BudgetReservation> all = new ArrayList<>();
    for (int i = 0; i < 250; i++) {
      all.add(reserve(store, "0.1"));
    }
    deny(store, "0.000000001");
    for (BudgetReservation one : all) {
      one.settle(usd("0.000000004"), true);
    }
    assertAccount(store, "0.000001", "0.000001", "0", "0", "24.999999");
  }

  @Test
  @Tag("R325")
  @Tag("R328")
  void no_instant_has_more_than_the_limit_and_nothing_is_lost_under_two_hundred_threads()
      throws Exception {
    Money limit = usd("1");
    BudgetStore store = open(limit);
    long seed = System.nanoTime();
    AtomicLong spent = new AtomicLong();
    AtomicLong estimated = new AtomicLong();
    AtomicLong uncertain = new AtomicLong();
    AtomicBoolean over = new AtomicBoolean();
    Set<String> ids = new HashSet<>();
    FutureTask<Integer> auditor =
        new FutureTask<>(
            () -> {
              int audits = 0;
              do {
                BudgetSnapshot now = store.snapshot(SCOPE);
                Money used = now.spent().plus(now.reserved()).plus(now.uncertain());
                assertTrue(used.compareTo(limit) <= 0, now::toString);
                assertEquals(limit.minus(used), now.remaining());
                audits++;
              } while (!over.get());
              return audits;
            });
    Thread.ofPlatform().daemon().start(auditor);
    try {
      List<List<String>> reserved =
          Together.run(
              200,
              n -> {
                Random random = new Random(seed + n);
                List<String> mine = new ArrayList<>();
                for (int i = 0; i < 50; i++) {
                  Money amount = new Money(random.nextInt(20_000_000), "USD");
                  if (store.reserve(SCOPE, amount) instanceof Reserved(BudgetReservation one)) {
                    mine.add(one.id());
                    end(store, one, random, spent, estimated, uncertain);
                  }
                }
                return mine;
              });
      over.set(true);
      assertTrue(auditor.get() > 0);
      int count = 0;
      for (List<String> mine : reserved) {
        ids.addAll(mine);
        count += mine.size();
      }
      assertTrue(count > 0);
      assertEquals(count, ids.size());
    } catch (Throwable failure) {
      throw new AssertionError("seed " + seed, failure);
    }
    BudgetSnapshot end = store.snapshot(SCOPE);
    assertEquals(spent.get(), end.spent().nanos());
    assertEquals(estimated.get(), end.estimated().nanos());
    assertEquals(0, end.reserved().nanos());
    assertEquals(uncertain.get(), end.uncertain().nanos());
  }

  /** Ends a reservation in some way, and writes down what that should have done. */
  private static void end(
      BudgetStore store,
      BudgetReservation one,
      Random random,
      AtomicLong spent,
      AtomicLong estimated,
      AtomicLong uncertain) {
    long actual = (long) (one.amount().nanos() * random.nextDouble() / 20);
    Money money = new Money(actual, "USD");
    Together.letOthersRun();
    switch (random.nextInt(8)) {
      case 0 -> {
        one.settle(money, false);
        spent.addAndGet(actual);
      }
      case 1 -> {
        one.settle(money, true);
        spent.addAndGet(actual);
        estimated.addAndGet(actual);
      }
      case 2 -> {
        one.uncertain();
        if (store.reconcile(SCOPE, one.id(), money)) {
          spent.addAndGet(actual);
        }
      }
      case 3 -> {
        if (random.nextInt(50) == 0) {
          one.uncertain();
          uncertain.addAndGet(one.amount().nanos());
        } else {
          one.cancel();
        }
      }
      default -> one.cancel();
    }
    one.settle(money, true); // too late
  }
}
