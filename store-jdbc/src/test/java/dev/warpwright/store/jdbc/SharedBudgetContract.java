package dev.warpwright.store.jdbc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.contract.Together;
import dev.warpwright.control.BudgetReservation;
import dev.warpwright.control.BudgetSnapshot;
import dev.warpwright.control.BudgetStore.Decision.Denied;
import dev.warpwright.control.BudgetStore.Decision.Reserved;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Money;
import dev.warpwright.store.jdbc.JdbcBudgetStore.Abandoned;
import dev.warpwright.store.jdbc.JdbcBudgetStore.Uncertain;
import dev.warpwright.testing.ManualTime;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Several budgets over one database: nothing is spent twice, and nothing dies with a process. */
@Timeout(120)
@Tag("R332")
abstract class SharedBudgetContract {
  private static final String SCOPE = "tenant/2026-01";
  private static final Duration RENEWAL = Duration.ofSeconds(10);

  private final List<JdbcBudgetStore> stores = new ArrayList<>();

  /** The clock of the process that a test lets die: it stands still, so no lease is renewed. */
  private final ManualTime frozen = new ManualTime();

  String url;

  /** The URL of an empty database. */
  abstract String database() throws SQLException;

  @BeforeEach
  void make() throws SQLException {
    url = database();
  }

  @AfterEach
  void everySumIsThatOfItsReservations() throws SQLException {
    if (!stores.isEmpty()) {
      assertEquals(0, sumsThatDiffer());
    }
    stores.forEach(JdbcBudgetStore::close);
    Databases.assertNoThreadLeft();
  }

  private long sumsThatDiffer() throws SQLException {
    return Databases.execute(
        url,
        "SELECT COUNT(*) FROM ww_budget b WHERE reserved_nanos <> (SELECT COALESCE(SUM(held_nanos),"
            + " 0) FROM ww_budget_reservation r WHERE r.scope = b.scope AND r.currency = b.currency"
            + " AND r.state = 'RESERVED') OR uncertain_nanos <> (SELECT COALESCE(SUM(held_nanos),"
            + " 0) FROM ww_budget_reservation r WHERE r.scope = b.scope AND r.currency = b.currency"
            + " AND r.state <> 'RESERVED')");
  }

  JdbcBudgetStore open(JdbcBudgetStore.Builder builder) {
    JdbcBudgetStore store = builder.open();
    stores.add(store);
    return store;
  }

  JdbcBudgetStore.Builder budget(String limit) {
    return Databases.budget(url, usd(limit));
  }

  /** A store of a process that dies without a word. */
  private JdbcBudgetStore dying() {
    return open(budget("10").timeSource(frozen));
  }

  /** Ends every lease, as if its time had passed; those of the living are renewed in time. */
  private void endLeases() throws SQLException {
    Databases.execute(url, "UPDATE ww_budget_lease SET until_millis = 1");
  }

  static Money usd(String amount) {
    return Money.of(amount, "USD");
  }

  static BudgetReservation reserve(JdbcBudgetStore store, String amount)
      throws InterruptedException {
    return assertInstanceOf(Reserved.class, store.reserve(SCOPE, usd(amount))).reservation();
  }

  static void assertAccount(
      JdbcBudgetStore store, String spent, String reserved, String uncertain) {
    BudgetSnapshot account = store.snapshot(SCOPE);
    assertEquals(
        List.of(usd(spent), usd(reserved), usd(uncertain)),
        List.of(account.spent(), account.reserved(), account.uncertain()));
  }

  @Test
  @Tag("R325")
  void what_one_store_reserves_the_other_cannot() throws Exception {
    JdbcBudgetStore one = open(budget("10"));
    JdbcBudgetStore other = open(budget("10"));
    BudgetReservation first = reserve(one, "6");

    assertInstanceOf(Denied.class, other.reserve(SCOPE, usd("5")));
    BudgetReservation second = reserve(other, "4");
    first.settle(usd("1"), false);

    second.uncertain();
    assertTrue(one.reconcile(SCOPE, second.id(), usd("2")));
    assertAccount(other, "3", "0", "0");
  }

  @Test
  @Tag("R325")
  @Tag("R328")
  void two_stores_with_sixteen_threads_each_never_pass_the_limit_and_lose_nothing()
      throws Exception {
    List<JdbcBudgetStore> two = List.of(open(budget("1")), open(budget("1")));
    long seed = System.nanoTime();
    AtomicLong spent = new AtomicLong();
    AtomicLong uncertain = new AtomicLong();
    AtomicBoolean over = new AtomicBoolean();
    FutureTask<Integer> auditor =
        new FutureTask<>(
            () -> {
              int audits = 0;
              do {
                BudgetSnapshot now = two.get(audits % 2).snapshot(SCOPE);
                Money used = now.spent().plus(now.reserved()).plus(now.uncertain());
                assertTrue(used.compareTo(usd("1")) <= 0, now::toString);
                audits++;
              } while (!over.get());
              return audits;
            });
    Thread.ofPlatform().daemon().start(auditor);
    AtomicLong count = new AtomicLong();

    try {
      Together.run(
          32,
          n -> {
            Random random = new Random(seed + n);
            for (int i = 0; i < 12; i++) {
              Money amount = new Money(1 + random.nextInt(80_000_000), "USD");
              if (two.get(n % 2).reserve(SCOPE, amount) instanceof Reserved(var one)) {
                count.incrementAndGet();
                end(two.get((n + 1) % 2), one, random, spent, uncertain);
              }
            }
            return n;
          });
      over.set(true);
      assertTrue(auditor.get() > 0);
      assertTrue(count.get() > 0);
      BudgetSnapshot end = two.getFirst().snapshot(SCOPE);
      assertEquals(spent.get(), end.spent().nanos());
      assertEquals(0, end.reserved().nanos());
      assertEquals(uncertain.get(), end.uncertain().nanos());
    } catch (Throwable failure) {
      over.set(true);
      throw new AssertionError("seed " + seed, failure);
    }
  }

  /** Ends a reservation in some way, and writes down what that should have done. */
  private static void end(
      JdbcBudgetStore other,
      BudgetReservation one,
      Random random,
      AtomicLong spent,
      AtomicLong uncertain) {
    long actual = one.amount().nanos() / (10 + random.nextInt(90));
    switch (random.nextInt(6)) {
      case 0, 1 -> {
        one.settle(new Money(actual, "USD"), false);
        spent.addAndGet(actual);
      }
      case 2 -> {
        one.uncertain();
        assertTrue(other.reconcile(SCOPE, one.id(), new Money(actual, "USD")));
        spent.addAndGet(actual);
      }
      case 3 -> {
        if (random.nextInt(20) == 0) {
          one.uncertain();
          uncertain.addAndGet(one.amount().nanos());
        } else {
          one.cancel();
        }
      }
      default -> one.cancel();
    }
    one.settle(one.amount(), true); // too late
  }

  @Test
  @Tag("R320")
  @Tag("R333")
  void what_a_process_that_died_had_reserved_is_uncertain_and_can_be_listed_and_reconciled()
      throws Exception {
    BudgetReservation lost = reserve(dying(), "6");
    JdbcBudgetStore living = open(budget("10"));
    assertAccount(living, "0", "6", "0");
    assertEquals(List.of(), living.uncertain(SCOPE));

    endLeases();

    assertAccount(living, "0", "0", "6");
    Uncertain listed = living.uncertain(SCOPE).getFirst();
    assertEquals(List.of(lost.id(), usd("6")), List.of(listed.id(), listed.amount()));
    assertTrue(listed.abandoned());
    assertInstanceOf(Denied.class, living.reserve(SCOPE, usd("5")));
    assertTrue(living.reconcile(SCOPE, listed.id(), usd("1")));
    assertAccount(living, "1", "0", "0");
    lost.settle(usd("3"), false); // somebody has said already what it did cost
    assertAccount(living, "1", "0", "0");
  }

  @Test
  @Tag("R328")
  void a_settlement_that_comes_after_the_lease_has_ended_counts_once() throws Exception {
    BudgetReservation late = reserve(dying(), "6");
    JdbcBudgetStore living = open(budget("10"));
    endLeases();
    assertAccount(living, "0", "0", "6");

    late.settle(usd("2"), true);
    late.settle(usd("2"), true);
    late.cancel();

    assertAccount(living, "2", "0", "0");
    assertEquals(usd("2"), living.snapshot(SCOPE).estimated());
    assertFalse(living.reconcile(SCOPE, late.id(), usd("1")));
  }

  @Test
  @Tag("R328")
  void other_late_ends_count_too() throws Exception {
    JdbcBudgetStore dying = dying();
    BudgetReservation cancelled = reserve(dying, "6");
    BudgetReservation doubted = reserve(dying, "3");
    JdbcBudgetStore living = open(budget("10"));
    endLeases();
    assertAccount(living, "0", "0", "9");

    cancelled.cancel();
    doubted.uncertain();
    doubted.settle(usd("1"), false); // the first end counts

    assertAccount(living, "0", "0", "3");
    assertFalse(living.uncertain(SCOPE).getFirst().abandoned());
  }

  @Test
  void what_a_process_that_died_had_reserved_is_given_back_if_that_is_wanted() throws Exception {
    BudgetReservation late = reserve(dying(), "6");
    BudgetReservation doubted = reserve(stores.getFirst(), "2");
    JdbcBudgetStore living = open(budget("10").abandoned(Abandoned.GIVEN_BACK));
    assertInstanceOf(Denied.class, living.reserve(SCOPE, usd("10")));
    endLeases();

    reserve(living, "10");

    assertAccount(living, "0", "10", "0");
    assertEquals(List.of(), living.uncertain(SCOPE));
    late.settle(usd("2"), false);
    late.settle(usd("2"), false);
    doubted.uncertain();
    assertAccount(living, "2", "10", "2");
  }

  @Test
  void a_process_that_was_taken_for_dead_goes_on_under_a_new_lease() throws Exception {
    JdbcBudgetStore back = dying();
    reserve(back, "1");
    JdbcBudgetStore living = open(budget("10"));
    endLeases();
    assertAccount(living, "0", "0", "1"); // and its lease is gone

    BudgetReservation next = reserve(back, "2");

    assertAccount(living, "0", "2", "1");
    next.settle(usd("2"), false);
    assertAccount(living, "2", "0", "1");
  }

  @Test
  void a_process_that_lives_renews_its_lease() throws Exception {
    JdbcBudgetStore store = open(budget("10").timeSource(frozen).connections(1));
    reserve(store, "1");
    for (int i = 0; i < 3; i++) {
      endLeases();

      frozen.advance(RENEWAL);
      frozen.awaitAlarmIn(RENEWAL); // it has beaten, and will again

      assertEquals(
          1, Databases.execute(url, "SELECT COUNT(*) FROM ww_budget_lease WHERE until_millis > 1"));
    }
    assertAccount(open(budget("10")), "0", "1", "0");
  }

  @Test
  void closing_abandons_what_is_still_reserved() throws Exception {
    JdbcBudgetStore closing = open(budget("10"));
    BudgetReservation open = reserve(closing, "4");
    closing.close();

    assertEquals(0, Databases.execute(url, "SELECT COUNT(*) FROM ww_budget_lease"));
    assertAccount(open(budget("10")), "0", "0", "4");
    assertThrows(IllegalStateException.class, open::cancel);
    assertThrows(IllegalStateException.class, () -> closing.snapshot(SCOPE));
  }

  @Test
  void accounts_outlive_the_store() throws Exception {
    JdbcBudgetStore first = open(budget("10"));
    reserve(first, "4").settle(usd("4"), false);
    JdbcBudgetStore second = open(budget("5"));
    first.close();

    assertEquals(usd("1"), second.snapshot(SCOPE).remaining());
    assertInstanceOf(Denied.class, second.reserve(SCOPE, usd("1.01")));
  }

  @Test
  void settings_out_of_their_bounds_are_refused() {
    String lease =
        assertThrows(InvalidRequestException.class, () -> budget("1").lease(Duration.ofMillis(999)))
            .getMessage();
    assertEquals("lease must be between PT1S and PT1H, but is PT0.999S.", lease);
    assertThrows(InvalidRequestException.class, () -> budget("1").lease(Duration.ofHours(2)));
    assertThrows(InvalidRequestException.class, () -> budget("1").timeout(Duration.ZERO));
    assertThrows(InvalidRequestException.class, () -> budget("1").connections(0));
    assertThrows(InvalidRequestException.class, () -> budget("1").connections(33));
    assertThrows(InvalidRequestException.class, () -> budget("-1"));
  }
}
