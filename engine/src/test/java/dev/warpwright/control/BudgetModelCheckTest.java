package dev.warpwright.control;

import static org.jetbrains.lincheck.datastructures.ManagedStrategyGuaranteeKt.forClasses;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.control.BudgetStore.Decision.Reserved;
import dev.warpwright.model.Money;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.ThreadIdGen;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A budget under every interleaving that a model checker finds. */
final class BudgetModelCheckTest {
  private static final String SCOPE = "scope";

  private static Money money(long nanos) {
    return new Money(nanos, "USD");
  }

  /** Threads with reservations of their own and one that all share. */
  @Param(name = "thread", gen = ThreadIdGen.class)
  @Param(name = "amount", gen = IntGen.class, conf = "1:6")
  public static final class Budget {
    private final LocalBudget store = new LocalBudget(money(10), 1);
    private final BudgetReservation shared;
    private final Deque<?>[] reservations = new Deque<?>[8]; // each of one thread

    public Budget() {
      shared = ((Reserved) store.reserve(SCOPE, money(4))).reservation();
      for (int i = 0; i < reservations.length; i++) {
        reservations[i] = new ArrayDeque<BudgetReservation>();
      }
    }

    @SuppressWarnings("unchecked")
    private Deque<BudgetReservation> of(int thread) {
      return (Deque<BudgetReservation>) reservations[thread];
    }

    @Operation
    public boolean reserve(@Param(name = "thread") int thread, @Param(name = "amount") int amount) {
      if (store.reserve(SCOPE, money(amount)) instanceof Reserved(BudgetReservation one)) {
        of(thread).push(one);
        return true;
      }
      return false;
    }

    @Operation
    public void settle(@Param(name = "thread") int thread) {
      BudgetReservation one = of(thread).poll();
      if (one != null) {
        one.settle(money(1), true);
      }
    }

    @Operation
    public void settleShared(@Param(name = "amount") int amount) {
      shared.settle(money(amount), false);
    }

    @Operation
    public void cancelShared() {
      shared.cancel();
    }

    @Operation
    public void doubtShared() {
      shared.uncertain();
    }

    @Operation
    public boolean reconcileShared(@Param(name = "amount") int amount) {
      return store.reconcile(SCOPE, shared.id(), money(amount));
    }

    @Operation
    public String snapshot() {
      return store.snapshot(SCOPE).toString();
    }

    /**
     * What is reserved is what nobody has ended, and uncertain is all of the shared one or none.
     */
    @Validate
    public void nothingIsGivenBackTwice() {
      long open = 0;
      for (Deque<?> own : reservations) {
        for (Object one : own) {
          open += ((BudgetReservation) one).amount().nanos();
        }
      }
      BudgetSnapshot now = store.snapshot(SCOPE);
      long ofShared = now.reserved().nanos() - open;
      long uncertain = now.uncertain().nanos();
      assertTrue(ofShared >= 0 && uncertain >= 0 && (ofShared + uncertain) % 4 == 0, now::toString);
      assertTrue(ofShared + uncertain <= 4, now::toString);
    }
  }

  /** Ends of one reservation and nothing else, so that they meet in every scenario. */
  @Param(name = "amount", gen = IntGen.class, conf = "1:3")
  public static final class Ends {
    private final LocalBudget store = new LocalBudget(money(10), 1);
    private final BudgetReservation shared =
        ((Reserved) store.reserve(SCOPE, money(4))).reservation();

    @Operation
    public void settle(@Param(name = "amount") int amount) {
      shared.settle(money(amount), false);
    }

    @Operation
    public void cancel() {
      shared.cancel();
    }

    @Operation
    public void doubt() {
      shared.uncertain();
    }

    @Validate
    public void onlyOneCounts() {
      BudgetSnapshot now = store.snapshot(SCOPE);
      assertTrue(now.reserved().signum() >= 0 && now.spent().nanos() <= 3, now::toString);
    }
  }

  @Test
  @Tag("R328")
  void of_all_ends_of_a_reservation_one_counts() {
    check(Ends.class, 2, 0);
  }

  @Test
  @Tag("R325")
  @Tag("R328")
  @Tag("R333")
  void every_change_of_an_account_is_one_act() {
    check(Budget.class, 3, 2);
  }

  private static void check(Class<?> operations, int perThread, int afterwards) {
    new ModelCheckingOptions()
        .iterations(6)
        .invocationsPerIteration(100)
        .threads(2)
        .actorsPerThread(perThread)
        .actorsBefore(0)
        .actorsAfter(afterwards)
        // Pure, and its pattern is an object that the checker cannot look into.
        .addGuarantee(forClasses(Money.class.getName()).allMethods().ignore())
        .check(operations);
  }
}
