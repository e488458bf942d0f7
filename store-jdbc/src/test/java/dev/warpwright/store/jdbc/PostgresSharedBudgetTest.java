package dev.warpwright.store.jdbc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.control.BudgetReservation;
import dev.warpwright.control.BudgetStore.Decision;
import dev.warpwright.control.BudgetStore.Decision.Denied;
import dev.warpwright.control.BudgetStore.Decision.Reserved;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.StoreException;
import java.sql.SQLException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Several budgets over one PostgreSQL, and commits of which nobody knows the fate. */
@NeedsPostgres
@Tag("R332")
final class PostgresSharedBudgetTest extends SharedBudgetContract {
  private final LostCommits commits = new LostCommits();

  @Override
  String database() throws SQLException {
    return PostgresServer.get().cleared();
  }

  private JdbcBudgetStore overLostCommits() {
    return open(
        JdbcBudgetStore.builder(commits.source(PostgresServer.source(url)), usd("10"))
            .connections(1));
  }

  private void warmUp(JdbcBudgetStore store) throws InterruptedException {
    reserve(store, "1").cancel(); // the account is there
  }

  @Test
  @Tag("R328")
  void what_was_committed_without_an_answer_is_done_once() throws Exception {
    JdbcBudgetStore store = overLostCommits();
    warmUp(store);

    commits.lose(1);
    BudgetReservation all = reserve(store, "10"); // a second time it would not fit
    assertAccount(store, "0", "10", "0");

    commits.lose(1);
    all.settle(usd("4"), false);
    assertAccount(store, "4", "0", "0");

    BudgetReservation cutOff = reserve(store, "3");
    commits.lose(1);
    cutOff.uncertain();
    assertAccount(store, "4", "0", "3");

    commits.lose(1);
    assertTrue(store.reconcile("tenant/2026-01", cutOff.id(), usd("1")));
    assertAccount(store, "5", "0", "0");
  }

  @Test
  @Tag("R328")
  void a_settlement_that_failed_with_unknown_fate_can_be_repeated() throws Exception {
    JdbcBudgetStore store = overLostCommits();
    warmUp(store);
    BudgetReservation reservation = reserve(store, "3");
    commits.lose(2);

    assertThrows(StoreException.class, () -> reservation.settle(usd("2"), false));
    reservation.settle(usd("2"), false);

    assertAccount(store, "2", "0", "0");
  }

  @Test
  void a_reservation_that_failed_with_unknown_fate_is_given_back() throws Exception {
    JdbcBudgetStore store = overLostCommits();
    warmUp(store);
    commits.lose(2);

    assertThrows(StoreException.class, () -> reserve(store, "3"));

    awaitNothingReserved(store);
    assertAccount(store, "0", "0", "0");
  }

  @Test
  @Tag("R331")
  void a_reservation_whose_caller_was_interrupted_is_given_back() throws Exception {
    JdbcBudgetStore store = overLostCommits();
    warmUp(store);
    commits.hold();
    FutureTask<Decision> caller = new FutureTask<>(() -> store.reserve("tenant/2026-01", usd("3")));
    Thread thread = Thread.startVirtualThread(caller);
    commits.awaitHeld();

    thread.interrupt();

    ExecutionException end = assertThrows(ExecutionException.class, caller::get);
    assertInstanceOf(InterruptedException.class, end.getCause());
    commits.letGo();
    awaitNothingReserved(store);
    assertAccount(store, "0", "0", "0");
  }

  /** What nobody got is given back behind the failure, and again later if that fails too. */
  private static void awaitNothingReserved(JdbcBudgetStore store) {
    while (!store.snapshot("tenant/2026-01").reserved().equals(usd("0"))) {
      Thread.onSpinWait();
    }
  }

  @Test
  void connections_that_a_pool_lost_are_replaced() throws Exception {
    JdbcBudgetStore store = open(budget("10"));
    BudgetReservation before = reserve(store, "3");
    PostgresServer.terminateOthers(url);

    before.settle(usd("3"), false);

    assertInstanceOf(Reserved.class, store.reserve("tenant/2026-01", usd("7")));
    assertInstanceOf(Denied.class, store.reserve("tenant/2026-01", usd("1")));
  }

  @Test
  void a_scope_that_the_database_would_not_keep_apart_is_refused() {
    JdbcBudgetStore store = open(budget("10"));
    String message =
        assertThrows(InvalidRequestException.class, () -> store.reserve("a\0b", usd("1")))
            .getMessage();
    assertEquals(
        "A name on PostgreSQL must be Unicode without the character U+0000, but one of 3 characters"
            + " is not.",
        message);
    assertThrows(InvalidRequestException.class, () -> store.snapshot("\ud800"));
  }
}
