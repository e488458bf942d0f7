package dev.warpwright;

import dev.warpwright.control.Admission;
import dev.warpwright.control.AdmissionController;
import dev.warpwright.control.AdmissionPermit;
import dev.warpwright.control.AdmissionRequest;
import dev.warpwright.cost.CostAccounting;
import dev.warpwright.model.CostValuation;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.TokenCount.Provenance;
import dev.warpwright.model.Usage;
import dev.warpwright.task.Outcome;
import dev.warpwright.task.TaskScope;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Calls to providers, each with what it takes to be let through: a place at the target, then money
 * set aside, then the call itself as a task, then its price. Whatever was taken is given back on
 * every way out, each once, in the reverse order.
 */
final class ProviderCalls implements Calls {
  private static final Logger LOG = LoggerFactory.getLogger(ProviderCalls.class);

  private final AdmissionController admission;
  private final Optional<Budget> budget;
  private final Optional<CostAccounting> accounting;

  ProviderCalls(
      AdmissionController admission, Optional<Budget> budget, Optional<CostAccounting> accounting) {
    this.admission = admission;
    this.budget = budget;
    this.accounting = accounting;
  }

  /** Makes the call as a child of the scope. */
  @Override
  public CallEnd make(TaskScope scope, Dispatch dispatch, Delivery delivery) {
    return switch (admit(scope, dispatch)) {
      case Place.Given(AdmissionPermit permit) -> {
        try {
          yield reserveAndCall(scope, dispatch, delivery, permit);
        } finally {
          tell("giving a place back", permit::close);
        }
      }
      case Place.None(CallEnd why) -> why;
    };
  }

  /** A place at the target, or why there is none. */
  private sealed interface Place {
    record Given(AdmissionPermit permit) implements Place {}

    record None(CallEnd why) implements Place {}
  }

  private Place admit(TaskScope scope, Dispatch dispatch) {
    AdmissionRequest request =
        new AdmissionRequest(dispatch.target(), dispatch.mostTokens(), dispatch.deadline());
    try {
      return switch (admission.tryAcquire(request)) {
        case Admission.Decision decided -> place(decided);
        case Admission.MustWait queued -> waitForPlace(scope, dispatch, request);
      };
    } catch (RuntimeException e) {
      return broken(e);
    }
  }

  private Place waitForPlace(TaskScope scope, Dispatch dispatch, AdmissionRequest request) {
    Outcome<Decided> outcome =
        scope.acquire(
            "admission",
            "admission of " + dispatch.name(),
            dispatch.deadline(),
            () -> new Decided(admission.acquire(request)));
    return switch (outcome) {
      case Outcome.Success<Decided>(Decided(Admission.Decision decision)) -> place(decision);
      case Outcome.Failure<Decided>(Error error) -> throw error;
      case Outcome.Failure<Decided>(Throwable cause) -> broken(cause);
      case Outcome.TimedOut<Decided> late -> new Place.None(tooLate(dispatch));
      case Outcome.Cancelled<Decided>(String reason, boolean abandoned) ->
          new Place.None(new CallEnd.Cancelled(reason, Optional.empty()));
    };
  }

  /** Not a timeout of the target, which was never called. */
  private static CallEnd tooLate(Dispatch dispatch) {
    return new CallEnd.NotAdmitted(
        ("%s did not admit the request before the attempt's deadline, and it waited until then;"
                + " an attempt may take %s (attemptTimeout).")
            .formatted(dispatch.target(), dispatch.timeLimit()));
  }

  /** A decision that gives the place back if it comes too late. */
  private record Decided(Admission.Decision decision) implements AutoCloseable {
    @Override
    public void close() {
      if (decision instanceof Admission.Admitted(AdmissionPermit permit)) {
        permit.close();
      }
    }
  }

  private static Place place(Admission.Decision decision) {
    return switch (decision) {
      case Admission.Admitted(AdmissionPermit permit) -> new Place.Given(permit);
      case Admission.Denied denied -> new Place.None(new CallEnd.NotAdmitted(denied.message()));
    };
  }

  private static Place broken(Throwable cause) {
    return new Place.None(
        new CallEnd.NotAdmitted(
            "The admission controller failed: " + cause.getClass().getName() + "."));
  }

  private CallEnd reserveAndCall(
      TaskScope scope, Dispatch dispatch, Delivery delivery, AdmissionPermit permit) {
    if (budget.isEmpty()) {
      return call(scope, dispatch, delivery, permit);
    }
    return switch (budget.get().reserve(scope, dispatch)) {
      case Budget.Result.Held(Budget.Reservation reservation) ->
          callAndSettle(scope, dispatch, delivery, permit, reservation);
      case Budget.Result.Denied(String message) -> new CallEnd.NoBudget(message);
      case Budget.Result.Over(Outcome.Cancelled<?>(String reason, boolean abandoned)) ->
          new CallEnd.Cancelled(reason, Optional.empty());
      case Budget.Result.Over over -> new CallEnd.TimedOut(false, Optional.empty());
    };
  }

  private CallEnd callAndSettle(
      TaskScope scope,
      Dispatch dispatch,
      Delivery delivery,
      AdmissionPermit permit,
      Budget.Reservation reservation) {
    CallEnd end;
    try {
      end = call(scope, dispatch, delivery, permit);
    } catch (RuntimeException | Error e) {
      reservation.keepAsUncertain();
      throw e;
    }
    if (end.cost().isEmpty()) {
      reservation.cancel(); // the end of the operation came before the call
    } else if (end instanceof CallEnd.Answered) {
      reservation.settle(end.cost().get());
    } else {
      reservation.keepAsUncertain();
    }
    return end;
  }

  private CallEnd call(
      TaskScope scope, Dispatch dispatch, Delivery delivery, AdmissionPermit permit) {
    Begin begin = new Begin();
    Outcome<ModelResponse> outcome = delivery.call(scope, dispatch, begin);
    return switch (outcome) {
      case Outcome.Success<ModelResponse>(ModelResponse response) -> {
        reconcile(permit, response.usage());
        yield new CallEnd.Answered(response, value(dispatch, response.usage()), false);
      }
      case Outcome.Failure<ModelResponse>(ProviderException cause)
          when cause.kind() == ProviderException.Kind.UNSUPPORTED && !delivery.isShown() -> {
        tell("reconciling tokens", () -> permit.reconcile(0));
        yield new CallEnd.Unsupported(cause);
      }
      case Outcome.Failure<ModelResponse>(Throwable cause) ->
          new CallEnd.Failed(cause, value(dispatch, delivery.partialUsage()));
      case Outcome.TimedOut<ModelResponse> late ->
          begin.hasBegun
              ? new CallEnd.TimedOut(true, value(dispatch, delivery.partialUsage()))
              : new CallEnd.TimedOut(false, Optional.empty());
      case Outcome.Cancelled<ModelResponse>(String reason, boolean abandoned) ->
          new CallEnd.Cancelled(
              reason, begin.hasBegun ? value(dispatch, delivery.partialUsage()) : Optional.empty());
    };
  }

  /** Notes that a call begins, on its thread. */
  private static final class Begin implements Runnable {
    volatile boolean hasBegun;

    @Override
    public void run() {
      hasBegun = true;
    }
  }

  /** What was reported takes the place of the estimate; an estimate of ours, or nonsense, not. */
  private static void reconcile(AdmissionPermit permit, Usage usage) {
    long total = usage.total().tokens();
    boolean reported =
        usage.input().provenance() == Provenance.REPORTED
            && usage.output().provenance() == Provenance.REPORTED;
    if (reported && total >= 0) {
      tell("reconciling tokens", () -> permit.reconcile(total));
    }
  }

  /** A controller that fails after the call must not take its answer away. */
  private static void tell(String what, Runnable controller) {
    try {
      controller.run();
    } catch (RuntimeException e) {
      LOG.warn("The admission controller failed at {}: {}", what, e.getClass().getName());
    }
  }

  private Optional<CostValuation> value(Dispatch dispatch, Usage usage) {
    return accounting.isEmpty()
        ? Optional.empty()
        : Optional.of(
            accounting.get().value(dispatch.target(), usage, dispatch.reasoningAccounting()));
  }
}
