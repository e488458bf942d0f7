package dev.warpwright;

import dev.warpwright.task.Cancellation;
import dev.warpwright.task.TaskScope;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The calls of observers about one thing, such as an operation or an invocation of an agent: one
 * after the other, in order, each on a thread of its own and for at most the gateway's observer
 * timeout. What they throw changes nothing for whoever makes them.
 *
 * <p>They count in {@link Gateway#diagnostics()}, and {@link Gateway#flushObservers} waits for
 * them. Thread-safe; calls that several threads make at the same time come in any order.
 */
public final class ObserverCalls {
  private final Observers observers;
  private final String name;
  private final Optional<Cancellation> cancellation;
  private final AtomicReference<@Nullable ObserverQueue> queue = new AtomicReference<>();

  ObserverCalls(Observers observers, String name, Optional<Cancellation> cancellation) {
    this.observers = observers;
    this.name = name;
    this.cancellation = cancellation;
  }

  /**
   * Makes a call for which nobody waits. If {@link Gateway.Builder#observerQueue} calls wait or are
   * being made already, it is dropped and counted.
   *
   * @param called who is called, for the name of its task
   * @param body the call
   * @param onFailure told, in a call of its own, what the call threw or that its time ran out
   */
  public void offer(String called, Runnable body, Consumer<? super Throwable> onFailure) {
    ObserverCall call = reported(called, body, onFailure);
    if (!queue().offer(call)) {
      observers.dropped(call);
    }
  }

  /**
   * Makes a call as {@link #offer}, however many there are already: for the few that must be heard.
   *
   * @param called who is called, for the name of its task
   * @param body the call
   * @param onFailure told, in a call of its own, what the call threw or that its time ran out
   */
  public void add(String called, Runnable body, Consumer<? super Throwable> onFailure) {
    follow(reported(called, body, onFailure));
  }

  /**
   * Makes a call and waits for it. If the scopes around it are cancelled, or the thread is
   * interrupted before it begins, nobody waits.
   *
   * @param called who is called, for the name of its task
   * @param body the call
   * @return what the call threw, or that its time ran out
   */
  public Optional<Throwable> await(String called, Runnable body) {
    ObserverCall call = call(called, body);
    try (TaskScope scope = observers.open(name)) {
      await(scope, call);
    }
    return call.failure();
  }

  /** A call that has not ended before its failure, if it fails, has been told. */
  private ObserverCall reported(
      String called, Runnable body, Consumer<? super Throwable> onFailure) {
    return observers.pending(
        new ObserverCall(
            called,
            body,
            cancellation,
            call -> {
              if (call.failure().isEmpty() || !report(call, onFailure)) {
                observers.ended(call);
              }
            }));
  }

  /** Whether the failure of the call will be told. */
  private boolean report(ObserverCall failed, Consumer<? super Throwable> onFailure) {
    Throwable cause = failed.failure().orElseThrow();
    return queue()
        .add(
            new ObserverCall(
                "failure of " + failed.name(),
                () -> onFailure.accept(cause),
                cancellation,
                report -> {
                  observers.ended(report);
                  observers.ended(failed);
                }));
  }

  ObserverCall call(String called, Runnable body) {
    return observers.pending(new ObserverCall(called, body, cancellation, observers::ended));
  }

  /** Waits for the call; one that comes when the operation is over waits for nobody. */
  void await(TaskScope scope, ObserverCall call) {
    if (scope.isCancelled() || scope.deadline().hasPassed()) {
      follow(call);
      return;
    }
    observers.await(scope, call);
    if (!call.begun()) {
      follow(call); // the operation was over before it could begin, such as by an interrupt
    }
  }

  /** Makes the call when those before it have ended. */
  void follow(ObserverCall call) {
    if (!queue().add(call)) {
      observers.dropped(call);
    }
  }

  private ObserverQueue queue() {
    ObserverQueue made = queue.get();
    if (made == null) { // made when it is needed
      var _ = queue.compareAndSet(null, observers.queue(name + " observers"));
      made = Objects.requireNonNull(queue.get());
    }
    return made;
  }
}
