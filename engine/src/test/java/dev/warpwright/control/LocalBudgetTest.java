package dev.warpwright.control;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.control.BudgetStore.Decision;
import dev.warpwright.control.BudgetStore.Decision.Denied;
import dev.warpwright.control.BudgetStore.Decision.Reserved;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Money;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is particular to the store in memory. */
final class LocalBudgetTest {
  private static final Money ONE = Money.of("1", "USD");
  private static final Money TWO = Money.of("2", "USD");

  @Test
  void it_answers_on_the_operations_own_thread() {
    assertFalse(BudgetStore.local(ONE).blocking());
  }

  @Test
  @Tag("R327")
  void a_full_store_refuses_new_scopes_and_forgets_none() throws Exception {
    BudgetStore store = BudgetStore.local(ONE, 2);
    assertInstanceOf(Denied.class, store.reserve("too much", TWO)); // opens no account
    store.snapshot("only read");
    Reserved a = assertInstanceOf(Reserved.class, store.reserve("a", ONE));
    Reserved b = assertInstanceOf(Reserved.class, store.reserve("b", ONE));

    Denied denied = assertInstanceOf(Denied.class, store.reserve("c", ONE));
    assertEquals(
        "1 USD cannot be reserved: the store has no room for another scope (maxScopes 2).",
        denied.message());

    a.reservation().cancel();
    b.reservation().settle(ONE, false);
    assertInstanceOf(Denied.class, store.reserve("c", ONE)); // not even for one that is empty
    assertInstanceOf(Reserved.class, store.reserve("a", ONE));
    assertEquals(ONE, store.snapshot("b").spent());
    assertEquals(ONE, store.snapshot("c").remaining());
  }

  @Test
  @Tag("R327")
  void scopes_that_come_at_once_do_not_pass_the_bound() throws Exception {
    BudgetStore store = BudgetStore.local(ONE, 10);
    CountDownLatch ready = new CountDownLatch(100);
    AtomicInteger reserved = new AtomicInteger();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int n = 0; n < 100; n++) {
        String scope = "scope" + n % 50;
        var _ =
            threads.submit(
                () -> {
                  ready.countDown();
                  ready.await();
                  Decision decision = store.reserve(scope, Money.of("0.5", "USD"));
                  return decision instanceof Reserved ? reserved.incrementAndGet() : 0;
                });
      }
    }
    assertEquals(20, reserved.get()); // two each of ten scopes
  }

  @Test
  @Tag("R327")
  void by_default_there_is_room_for_a_thousand_scopes() throws Exception {
    BudgetStore store = BudgetStore.local(ONE);
    for (int n = 0; n < 1_000; n++) {
      assertInstanceOf(Reserved.class, store.reserve("scope" + n, ONE));
    }
    assertInstanceOf(Denied.class, store.reserve("one more", ONE));
  }

  @ParameterizedTest
  @ValueSource(ints = {0, -1, 100_001})
  @Tag("R327")
  void the_number_of_scopes_is_bounded(int maxScopes) {
    var refused =
        assertThrows(InvalidRequestException.class, () -> BudgetStore.local(ONE, maxScopes));
    assertEquals(FailureKind.INVALID_CONFIGURATION, refused.kind());
    assertEquals(
        "maxScopes must be between 1 and 100000, but is " + maxScopes + ".", refused.getMessage());
    assertEquals("USD", BudgetStore.local(ONE, 100_000).currency());
  }

  @Test
  void a_limit_below_zero_is_refused_and_one_of_zero_admits_only_what_is_free() throws Exception {
    assertThrows(InvalidRequestException.class, () -> BudgetStore.local(Money.of("-1", "USD")));
    BudgetStore store = BudgetStore.local(Money.zero("USD"));
    assertInstanceOf(Denied.class, store.reserve("a", new Money(1, "USD")));
    assertInstanceOf(Reserved.class, store.reserve("a", Money.zero("USD")));
  }

  @Test
  void texts_show_amounts_and_no_scope() throws Exception {
    BudgetStore store = BudgetStore.local(ONE);
    Reserved reserved = assertInstanceOf(Reserved.class, store.reserve("secret", ONE));
    assertTrue(reserved.toString().contains("of 1 USD"), reserved::toString);
    String all = store.toString() + reserved + store.reserve("secret", ONE);
    assertFalse(all.contains("secret"), all);
  }
}
