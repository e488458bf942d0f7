package dev.warpwright;

import dev.warpwright.control.CacheKey;
import dev.warpwright.control.CachePolicy;
import dev.warpwright.control.CacheScope;
import dev.warpwright.control.Cacheability;
import dev.warpwright.cost.CostAccounting;
import dev.warpwright.model.CostValuation;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.TokenCount;
import dev.warpwright.model.Usage;
import dev.warpwright.task.TaskScope;
import dev.warpwright.task.TaskTree;
import java.io.Serial;
import java.time.Duration;
import java.util.Optional;

/**
 * Calls whose answer may be known already: it is in the cache, or another operation is just asking
 * the same. Only what follows from the request alone is looked up; anything else goes to the
 * target, and so does every call whose answer is shown while it comes.
 *
 * <p>A shared call belongs to nobody and survives whoever began it; so its place at the target and
 * the money for it are taken, and given back, inside it.
 */
final class CachedCalls implements Calls {
  private static final Usage NOTHING_USED =
      new Usage(
          TokenCount.reported(0),
          TokenCount.reported(0),
          TokenCount.reported(0),
          TokenCount.reported(0),
          TokenCount.reported(0),
          TokenCount.reported(0),
          Optional.empty());

  private final Calls targets;
  private final String authenticationScope;
  private final CachedResponses responses;
  private final SharedCalls<CallEnd.Answered> shared;
  private final Optional<CostAccounting> accounting;

  CachedCalls(
      Calls targets, CachePolicy policy, TaskTree tree, Optional<CostAccounting> accounting) {
    this.targets = targets;
    this.authenticationScope = policy.authenticationScope();
    this.responses = new CachedResponses(tree, policy);
    this.shared = new SharedCalls<>(tree);
    this.accounting = accounting;
  }

  @Override
  public CallEnd make(TaskScope scope, Dispatch dispatch, Delivery delivery) {
    Optional<CacheKey> key = delivery instanceof Delivery.Whole ? key(dispatch) : Optional.empty();
    return key.isPresent()
        ? lookUp(scope, key.get(), dispatch)
        : targets.make(scope, dispatch, delivery);
  }

  private Optional<CacheKey> key(Dispatch dispatch) {
    GenerateRequest request = dispatch.request();
    if (request.cacheScope().isEmpty()) {
      return Optional.empty();
    }
    CacheScope whose =
        new CacheScope(authenticationScope, request.cacheScope().get(), request.budgetScope());
    return switch (Cacheability.of(whose, dispatch.target(), dispatch.call())) {
      case Cacheability.Keyed(CacheKey key) -> Optional.of(key);
      case Cacheability.Bypassed bypassed -> Optional.empty();
    };
  }

  private CallEnd lookUp(TaskScope scope, CacheKey key, Dispatch dispatch) {
    Optional<ModelResponse> known = responses.get(scope, key);
    if (known.isPresent()) {
      return fromCache(dispatch, known.get());
    }
    SharedCalls.End<CallEnd.Answered> end =
        shared.share(key, scope, dispatch.timeLimit(), flight -> ask(flight, key, dispatch));
    return switch (end) {
      case SharedCalls.End.Answered<CallEnd.Answered>(CallEnd.Answered answer, boolean joined) ->
          joined ? fromCache(dispatch, answer.response()) : answer;
      case SharedCalls.End.Failed<CallEnd.Answered>(Throwable cause, boolean joined) ->
          failed(cause, joined, dispatch.timeLimit());
      case SharedCalls.End.Left<CallEnd.Answered> left -> over(scope);
    };
  }

  /** In the shared call's own task. */
  private CallEnd.Answered ask(TaskScope flight, CacheKey key, Dispatch dispatch)
      throws NotAnswered {
    // Another shared call may have ended between the look-up and now.
    Optional<ModelResponse> known = responses.getAgain(key);
    if (known.isPresent()) {
      return fromCache(dispatch, known.get());
    }
    CallEnd end = targets.make(flight, dispatch.until(flight.deadline()), Delivery.WHOLE);
    if (end instanceof CallEnd.Answered answer) {
      if (dispatch.keepable().test(answer.response())) {
        responses.put(key, answer.response());
      }
      return answer;
    }
    throw new NotAnswered(end);
  }

  /** An end without an answer, on its way through a shared call. */
  private static final class NotAnswered extends Exception {
    @Serial private static final long serialVersionUID = 1L;
    private final transient CallEnd end;

    NotAnswered(CallEnd end) {
      super("no answer", null, false, false);
      this.end = end;
    }
  }

  private static CallEnd failed(Throwable cause, boolean joined, Duration limit) {
    if (!(cause instanceof NotAnswered notAnswered)) {
      if (cause instanceof Error error) {
        throw error;
      }
      return new CallEnd.SharedFailure(cause);
    }
    CallEnd end = notAnswered.end;
    if (!joined) {
      return end;
    }
    return switch (end) {
      case CallEnd.Failed(Throwable thrown, Optional<CostValuation> cost) ->
          new CallEnd.SharedFailure(thrown);
      case CallEnd.TimedOut late ->
          new CallEnd.SharedFailure(
              ProviderException.builder(
                      ProviderException.Kind.TIMEOUT,
                      "The shared call timed out after " + limit + " (attemptTimeout).")
                  .build());
      default -> end;
    };
  }

  private static CallEnd over(TaskScope scope) {
    if (scope.isCancelled()) {
      return new CallEnd.Cancelled(scope.cancelReason().orElse("cancelled"), Optional.empty());
    }
    return Thread.currentThread().isInterrupted() // and no wait has noticed it yet
        ? new CallEnd.Cancelled("interrupted", Optional.empty())
        : new CallEnd.TimedOut(false, Optional.empty());
  }

  /** No call was made for it, so it costs nothing here. */
  private CallEnd.Answered fromCache(Dispatch dispatch, ModelResponse response) {
    Optional<CostValuation> free =
        accounting.map(
            by -> by.value(dispatch.target(), NOTHING_USED, dispatch.reasoningAccounting()));
    return new CallEnd.Answered(response, free, true);
  }

  CachedResponses responses() {
    return responses;
  }

  int inFlight() {
    return shared.inFlight();
  }
}
