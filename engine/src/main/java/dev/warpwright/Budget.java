package dev.warpwright;

import dev.warpwright.control.BudgetReservation;
import dev.warpwright.control.BudgetStore;
import dev.warpwright.control.ReservationRule;
import dev.warpwright.cost.CostAccounting;
import dev.warpwright.model.CostValuation;
import dev.warpwright.model.Money;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.Outcome;
import dev.warpwright.task.TaskScope;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Sets money aside before calls and settles it after them.
 *
 * <p>Settling never holds up an answer and never repeats a call. If it fails once, the ledger does
 * not say any more what was spent; then nothing is set aside again by this gateway, since to go on
 * would be to spend without a limit.
 */
final class Budget {
  /** The most settlements that may be pending; a ledger that is so far behind is not trusted. */
  private static final int MAX_PENDING = 1_024;

  private final BudgetStore store;
  private final ReservationRule rule;
  private final CostAccounting accounting;
  private final Duration resourceTimeout;
  private final DetachedWork settlements;
  private final AtomicLong failures = new AtomicLong();

  Budget(
      BudgetStore store,
      ReservationRule rule,
      CostAccounting accounting,
      Duration resourceTimeout,
      DetachedWork settlements) {
    this.store = store;
    this.rule = rule;
    this.accounting = accounting;
    this.resourceTimeout = resourceTimeout;
    this.settlements = settlements;
  }

  /** What came of the wish to set money aside. */
  sealed interface Result {
    /** The amount is set aside and has to be settled. */
    record Held(Reservation reservation) implements Result {}

    /** Nothing was set aside. */
    record Denied(String message) implements Result {}

    /** The operation came to its end meanwhile; nothing was set aside. */
    record Over(Outcome<?> outcome) implements Result {}
  }

  /** Whether a reservation is a task. */
  boolean blocking() {
    return store.blocking();
  }

  Result reserve(TaskScope scope, Dispatch dispatch) {
    Optional<String> distrust = distrust();
    if (distrust.isPresent()) {
      return new Result.Denied(distrust.get());
    }
    return switch (rule) {
      case ReservationRule.Fixed(Money fixed) -> reserve(scope, dispatch, fixed);
      case ReservationRule.Ceiling(Optional<Money> cap) -> reserveCeiling(scope, dispatch, cap);
    };
  }

  private Result reserveCeiling(TaskScope scope, Dispatch dispatch, Optional<Money> cap) {
    CostValuation ceiling =
        accounting.ceiling(dispatch.target(), dispatch.inputTokens(), dispatch.call().maxTokens());
    Optional<Money> amount = cap.isPresent() ? ceiling.amountUpTo(cap.get()) : ceiling.amount();
    if (amount.isEmpty()) {
      return new Result.Denied(
          "What a call of %s costs at most is not known: %s."
              .formatted(dispatch.target(), String.join(", ", ceiling.unknownReasons())));
    }
    return reserve(scope, dispatch, amount.get());
  }

  private Result reserve(TaskScope scope, Dispatch dispatch, Money amount) {
    String budgetScope = dispatch.request().budgetScope().orElseThrow();
    return store.blocking()
        ? reserveInTask(scope, dispatch, budgetScope, amount)
        : reserveHere(budgetScope, amount);
  }

  private Optional<String> distrust() {
    if (failures.get() > 0) {
      return Optional.of(
          "A settlement has failed, so the ledger cannot be trusted: recover it, then make a new"
              + " gateway.");
    }
    return settlements.pending() >= MAX_PENDING
        ? Optional.of(
            "There are %d settlements pending, the most there may be.".formatted(MAX_PENDING))
        : Optional.empty();
  }

  private Result reserveHere(String budgetScope, Money amount) {
    try {
      return result(store.reserve(budgetScope, amount));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return new Result.Over(new Outcome.Cancelled<>("interrupted", false));
    } catch (RuntimeException e) {
      return unavailable(e.getClass().getName());
    }
  }

  private Result reserveInTask(
      TaskScope scope, Dispatch dispatch, String budgetScope, Money amount) {
    Deadline deadline =
        Deadline.after(settlements.time(), resourceTimeout).earlier(dispatch.deadline());
    Outcome<Decided> outcome =
        scope.acquire(
            "reservation",
            "reservation for " + dispatch.name(),
            deadline,
            () -> new Decided(Objects.requireNonNull(store.reserve(budgetScope, amount))));
    return switch (outcome) {
      case Outcome.Success<Decided>(Decided(BudgetStore.Decision decision)) -> result(decision);
      case Outcome.Failure<Decided>(Error error) -> throw error;
      case Outcome.Failure<Decided>(Throwable cause) -> unavailable(cause.getClass().getName());
      case Outcome.TimedOut<Decided> late when !dispatch.deadline().hasPassed() ->
          unavailable("no answer within " + resourceTimeout + " (resourceTimeout)");
      default -> new Result.Over(outcome);
    };
  }

  /** A decision that gives the money back if it comes too late. */
  private record Decided(BudgetStore.Decision decision) implements AutoCloseable {
    @Override
    public void close() {
      if (decision instanceof BudgetStore.Decision.Reserved(BudgetReservation reservation)) {
        reservation.cancel();
      }
    }
  }

  private static Result unavailable(String why) {
    return new Result.Denied("The budget store could not set the money aside: " + why + ".");
  }

  private Result result(BudgetStore.Decision decision) {
    return switch (decision) {
      case BudgetStore.Decision.Reserved(BudgetReservation reservation) ->
          new Result.Held(new Reservation(reservation));
      case BudgetStore.Decision.Denied(String message) -> new Result.Denied(message);
    };
  }

  /** Money that is set aside for one call. */
  final class Reservation {
    private final BudgetReservation held;

    private Reservation(BudgetReservation held) {
      this.held = held;
    }

    /** The call answered and cost this: what is not known to be free stays blocked. */
    void settle(CostValuation cost) {
      if (cost.amount().isPresent()) {
        boolean estimated = cost.status() == CostValuation.Status.ESTIMATED;
        Money amount = cost.amount().get();
        run("settlement", () -> held.settle(amount, estimated));
      } else {
        keepAsUncertain();
      }
    }

    /** The call failed or was cut off; the provider may bill it. */
    void keepAsUncertain() {
      run("settlement", held::uncertain);
    }

    /** The call was never made. */
    void cancel() {
      run("cancel of a reservation", held::cancel);
    }

    private void run(String name, Runnable end) {
      if (store.blocking()) {
        settlements.start(name, resourceTimeout, end, ended -> note(ended));
      } else {
        try {
          end.run();
        } catch (RuntimeException | Error e) { // as one that a blocking store throws in its task
          failures.incrementAndGet();
        }
      }
    }

    private void note(Outcome<?> ended) {
      if (!(ended instanceof Outcome.Success)) {
        failures.incrementAndGet();
      }
    }
  }

  long failures() {
    return failures.get();
  }
}
