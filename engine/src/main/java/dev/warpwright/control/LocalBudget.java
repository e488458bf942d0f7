package dev.warpwright.control;

import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Money;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** The store of {@link BudgetStore#local(Money)}: one ledger for each scope. */
final class LocalBudget implements BudgetStore {
  static final int DEFAULT_MAX_SCOPES = 1_000;
  private static final int MOST_SCOPES = 100_000;
  private static final int MAX_SCOPE_LENGTH = 256;

  private final Money limit;
  private final int maxScopes;
  private final AtomicLong reservations = new AtomicLong();
  private final Map<String, Ledger> ledgers = new ConcurrentHashMap<>(); // only ever added to
  private final ReentrantLock opening = new ReentrantLock(); // held to add one

  LocalBudget(Money limit, int maxScopes) {
    if (limit.signum() < 0) {
      throw invalid(
          FailureKind.INVALID_CONFIGURATION, "limit must be 0 or more, but is " + limit + ".");
    }
    if (maxScopes < 1 || maxScopes > MOST_SCOPES) {
      throw invalid(
          FailureKind.INVALID_CONFIGURATION,
          "maxScopes must be between 1 and %d, but is %d.".formatted(MOST_SCOPES, maxScopes));
    }
    this.limit = limit;
    this.maxScopes = maxScopes;
  }

  @Override
  public String currency() {
    return limit.currency();
  }

  /** Only the time that others need to add a few numbers. */
  @Override
  public boolean blocking() {
    return false;
  }

  @Override
  public Decision reserve(String scope, Money amount) {
    requireScope(scope);
    requireOurCurrency("A reservation", amount);
    requireNotNegative("A reservation", amount);
    if (amount.compareTo(limit) > 0) {
      return denied(amount, account(scope)); // and no ledger is opened for what never fits
    }
    Ledger ledger = ledgers.get(scope);
    if (ledger == null) {
      ledger = open(scope);
    }
    if (ledger == null) {
      return new Decision.Denied(
          "%s cannot be reserved: the store has no room for another scope (maxScopes %d)."
              .formatted(amount, maxScopes));
    }
    Account refused = ledger.reserve(amount.nanos(), limit.nanos());
    if (refused != null) {
      return denied(amount, refused);
    }
    return new Decision.Reserved(ledger.new Reservation(reservations.incrementAndGet(), amount));
  }

  private @Nullable Ledger open(String scope) {
    opening.lock();
    try {
      Ledger ledger = ledgers.get(scope);
      if (ledger == null && ledgers.size() < maxScopes) {
        ledger = new Ledger();
        ledgers.put(scope, ledger);
      }
      return ledger;
    } finally {
      opening.unlock();
    }
  }

  private Decision.Denied denied(Money amount, Account account) {
    return new Decision.Denied(
        "%s cannot be reserved: of the limit of %s, %s is spent, %s reserved and %s uncertain."
            .formatted(
                amount,
                limit,
                money(account.spentNanos()),
                money(account.reservedNanos()),
                money(account.uncertainNanos())));
  }

  @Override
  public BudgetSnapshot snapshot(String scope) {
    requireScope(scope);
    Account account = account(scope);
    return new BudgetSnapshot(
        money(account.spentNanos()),
        money(account.estimatedNanos()),
        money(account.reservedNanos()),
        money(account.uncertainNanos()),
        money(Math.max(0, account.remainingNanos(limit.nanos()))));
  }

  private Account account(String scope) {
    Ledger ledger = ledgers.get(scope);
    return ledger == null ? new Account() : ledger.account();
  }

  private Money money(long nanos) {
    return new Money(nanos, limit.currency());
  }

  @Override
  public boolean reconcile(String scope, String reservationId, Money actual) {
    requireScope(scope);
    requireOurCurrency("What was spent", actual);
    requireNotNegative("What was spent", actual);
    Ledger ledger = ledgers.get(scope);
    return ledger != null && ledger.reconcile(reservationId, actual.nanos());
  }

  private static void requireScope(String scope) {
    if (scope.isBlank() || scope.length() > MAX_SCOPE_LENGTH) {
      throw invalid(
          FailureKind.INVALID_SCOPE,
          "A budget scope must have 1 to %d characters and not be blank, but has %d."
              .formatted(MAX_SCOPE_LENGTH, scope.length()));
    }
  }

  private void requireOurCurrency(String what, Money amount) {
    if (!amount.sameCurrency(limit)) {
      throw invalid(
          FailureKind.INVALID_REQUEST,
          "%s must be in %s, the currency of the budget, but is %s."
              .formatted(what, limit.currency(), amount));
    }
  }

  private static void requireNotNegative(String what, Money amount) {
    if (amount.signum() < 0) {
      throw invalid(
          FailureKind.INVALID_REQUEST, "%s must be 0 or more, but is %s.".formatted(what, amount));
    }
  }

  private static InvalidRequestException invalid(FailureKind kind, String message) {
    return new InvalidRequestException(kind, message);
  }

  /** Shows limit and number of scopes. */
  @Override
  public String toString() {
    return "local budget: " + limit + " for each of " + ledgers.size() + " scopes";
  }

  /** The account of one scope. One lock guards it, so that each change of it is one act. */
  private static final class Ledger {
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<String, Long> uncertain = new HashMap<>(); // guarded by lock; nanos by id
    private final Account account = new Account(); // guarded by lock

    Account account() {
      lock.lock();
      try {
        return account.copy();
      } finally {
        lock.unlock();
      }
    }

    /** Reserves if it fits and returns null; otherwise returns the account that has no room. */
    @Nullable Account reserve(long amountNanos, long limitNanos) {
      lock.lock();
      try {
        if (amountNanos > account.remainingNanos(limitNanos)) {
          return account.copy();
        }
        account.reserve(amountNanos);
        return null;
      } finally {
        lock.unlock();
      }
    }

    boolean reconcile(String reservationId, long actualNanos) {
      lock.lock();
      try {
        Long amountNanos = uncertain.remove(reservationId);
        if (amountNanos == null) {
          return false;
        }
        account.reconcile(amountNanos, actualNanos);
        return true;
      } finally {
        lock.unlock();
      }
    }

    private final class Reservation implements BudgetReservation {
      private final long number;
      private final Money amount;
      private boolean ended; // guarded by lock

      Reservation(long number, Money amount) {
        this.number = number;
        this.amount = amount;
      }

      @Override
      public String id() {
        return Long.toString(number);
      }

      @Override
      public Money amount() {
        return amount;
      }

      @Override
      public void settle(Money actual, boolean estimated) {
        requireNotNegative("What was spent", actual);
        if (!actual.sameCurrency(amount)) {
          uncertain();
          return;
        }
        lock.lock();
        try {
          if (end()) {
            account.settle(amount.nanos(), actual.nanos(), estimated);
          }
        } finally {
          lock.unlock();
        }
      }

      @Override
      public void cancel() {
        lock.lock();
        try {
          if (end()) {
            account.cancel(amount.nanos());
          }
        } finally {
          lock.unlock();
        }
      }

      @Override
      public void uncertain() {
        lock.lock();
        try {
          if (end()) {
            account.doubt(amount.nanos());
            if (amount.nanos() > 0) {
              uncertain.put(id(), amount.nanos());
            }
          }
        } finally {
          lock.unlock();
        }
      }

      /** Whether this is the first end. Under the lock. */
      private boolean end() {
        boolean first = !ended;
        ended = true;
        return first;
      }

      @Override
      public String toString() {
        return "reservation " + number + " of " + amount;
      }
    }
  }
}
