package dev.warpwright.bench;

import dev.warpwright.Gateway;
import dev.warpwright.GenerateRequest;
import dev.warpwright.control.Admission;
import dev.warpwright.control.AdmissionPermit;
import dev.warpwright.control.AdmissionRequest;
import dev.warpwright.control.BudgetReservation;
import dev.warpwright.control.BudgetStore;
import dev.warpwright.control.CircuitPermit;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.Money;
import dev.warpwright.task.Deadline;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Callable;

/** What may stand around one call of a model that answers at once. */
public enum Subject {
  /** Nothing. */
  BARE {
    @Override
    Callable<?> call() {
      return () -> InstantModel.HELLO.generate(InstantModel.CALL);
    }
  },

  /** The controls themselves, taken and given back on the caller's thread, with nothing around. */
  CONTROLS_INLINE {
    @Override
    Callable<?> call() {
      Controls controls = new Controls();
      return () -> inline(controls);
    }
  },

  /** A virtual thread that does nothing, started and joined. */
  THREAD_STARTED_AND_JOINED {
    @Override
    Callable<?> call() {
      return () -> {
        Thread thread = Thread.startVirtualThread(() -> {});
        thread.join();
        return thread;
      };
    }
  },

  /** {@code Gateway.generate} with nothing switched on. */
  NOTHING_ON {
    @Override
    Callable<?> call() {
      return generate(InstantModel.HELLO.gateway());
    }
  },

  /** The same, with a model that does not declare that it honours interrupts. */
  UNDECLARED {
    @Override
    Callable<?> call() {
      return generate(InstantModel.UNDECLARED.gateway());
    }
  },

  /** With a circuit breaker. */
  CIRCUIT {
    @Override
    Callable<?> call() {
      return generate(InstantModel.HELLO.gateway().circuitBreaker(new Controls().circuit));
    }
  },

  /** With a limit of calls at the same time. */
  CONCURRENCY {
    @Override
    Callable<?> call() {
      return generate(InstantModel.HELLO.gateway().admission(new Controls().concurrency));
    }
  },

  /** With that and a limit of calls a minute. */
  CONCURRENCY_AND_RATE {
    @Override
    Callable<?> call() {
      return generate(InstantModel.HELLO.gateway().admission(new Controls().concurrencyAndRate));
    }
  },

  /** With metrics of targets. */
  METRICS {
    @Override
    Callable<?> call() {
      return generate(InstantModel.HELLO.gateway().metrics(new Controls().metrics));
    }
  },

  /** With prices. */
  COST {
    @Override
    Callable<?> call() {
      return generate(InstantModel.HELLO.gateway().costAccounting(new Controls().accounting));
    }
  },

  /** With prices and a budget, of which a fixed sum is reserved. */
  COST_AND_BUDGET {
    @Override
    Callable<?> call() {
      Controls controls = new Controls();
      return generate(
          InstantModel.HELLO
              .gateway()
              .costAccounting(controls.accounting)
              .budget(controls.budget, controls.reservation)
              .build(),
          InstantModel.ask().budgetScope(Controls.BUDGET_SCOPE).build());
    }
  },

  /** With circuit breaker, both limits, metrics, prices and budget. */
  ALL_CONTROLS {
    @Override
    Callable<?> call() {
      return generate(
          new Controls().switchOn(InstantModel.HELLO.gateway()).build(),
          InstantModel.ask().budgetScope(Controls.BUDGET_SCOPE).build());
    }
  },

  /** Resilience4j's retry, circuit breaker, rate limiter, bulkhead and time limiter. */
  RESILIENCE4J {
    @Override
    Callable<?> call() {
      return new Resilience4jFive().around(() -> InstantModel.HELLO.generate(InstantModel.CALL));
    }
  },

  /** Failsafe's retry, circuit breaker, rate limiter, bulkhead and timeout. */
  FAILSAFE {
    @Override
    Callable<?> call() {
      return new FailsafeFive().around(() -> InstantModel.HELLO.generate(InstantModel.CALL));
    }
  };

  /** Makes the call ready, to be called by any thread and any number of times. */
  abstract Callable<?> call();

  private static Callable<?> generate(Gateway.Builder gateway) {
    return generate(gateway.build(), InstantModel.ask().build());
  }

  private static Callable<?> generate(Gateway gateway, GenerateRequest request) {
    return () -> gateway.generate(request);
  }

  private static ModelResponse inline(Controls controls) throws InterruptedException {
    CircuitPermit circuit = (CircuitPermit) controls.circuit.tryAcquire(InstantModel.TARGET);
    try (circuit) {
      Admission admission =
          controls.concurrencyAndRate.tryAcquire(
              new AdmissionRequest(InstantModel.TARGET, OptionalLong.empty(), Deadline.never()));
      AdmissionPermit permit = ((Admission.Admitted) admission).permit();
      try (permit) {
        BudgetReservation reservation =
            ((BudgetStore.Decision.Reserved)
                    controls.budget.reserve(Controls.BUDGET_SCOPE, Controls.RESERVED))
                .reservation();
        try (var measurement = controls.metrics.begin(InstantModel.TARGET)) {
          ModelResponse response = InstantModel.HELLO.generate(InstantModel.CALL);
          measurement.success(OptionalLong.of(2));
          circuit.success();
          controls.accounting.value(InstantModel.TARGET, response.usage(), Optional.empty());
          reservation.settle(Money.zero("USD"), false);
          return response;
        }
      }
    }
  }
}
