package dev.warpwright;

import dev.warpwright.model.Attempt;
import dev.warpwright.task.Cancellation;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.Outcome;
import dev.warpwright.task.TaskScope;
import dev.warpwright.task.TaskTree;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Tells the program's observers what happens, without letting them harm the operation. */
final class Observers {
  private final TaskTree tree;
  private final Settings settings;
  private final ObserverQueue background;
  private final Pending pending;
  private final OfOperation nobody = new OfOperation("", Optional.empty());
  private final LongAdder dropped = new LongAdder();
  private final LongAdder failures = new LongAdder();

  /**
   * Who is told, and how.
   *
   * @param attempt told of attempts
   * @param route told of winners
   * @param mode who waits for the first
   * @param timeout the limit of one call
   * @param queueCapacity the calls that may be in the queue of {@link ObserverMode#BACKGROUND}
   */
  record Settings(
      Optional<AttemptObserver> attempt,
      Optional<RouteObserver> route,
      ObserverMode mode,
      Duration timeout,
      int queueCapacity) {}

  Observers(TaskTree tree, Settings settings) {
    this.tree = tree;
    this.settings = settings;
    this.pending = new Pending(tree, "flush of observers");
    this.background = queue("background observers");
  }

  /**
   * The observers of one operation.
   *
   * @param operationId its id, of which the text is made when somebody is told
   */
  OfOperation of(Object operationId, Optional<Cancellation> cancellation) {
    return settings.attempt().isEmpty() && settings.route().isEmpty()
        ? nobody
        : new OfOperation(operationId, cancellation);
  }

  /** Whether operations wait for calls, each of which is a task. */
  boolean areAwaited() {
    return settings.attempt().isPresent() && settings.mode() == ObserverMode.AWAIT;
  }

  /** Calls about one thing, which are ended by nothing but their timeout. */
  ObserverCalls calls(String name) {
    return new ObserverCalls(this, name, Optional.empty());
  }

  /** Tells of one operation; used by its thread alone. */
  final class OfOperation {
    private final Object operationId;
    private final Optional<Cancellation> cancellation;
    private @Nullable ObserverCalls calls; // made when somebody is told

    private OfOperation(Object operationId, Optional<Cancellation> cancellation) {
      this.operationId = operationId;
      this.cancellation = cancellation;
    }

    private ObserverCalls calls() {
      if (calls == null) {
        calls = new ObserverCalls(Observers.this, operationId.toString(), cancellation);
      }
      return calls;
    }

    void attempt(TaskScope scope, Attempt attempt) {
      if (settings.attempt().isEmpty()) {
        return;
      }
      AttemptObserver observer = settings.attempt().get();
      ObserverCall call =
          calls()
              .call("attempt observer", () -> observer.onAttempt(operationId.toString(), attempt));
      switch (settings.mode()) {
        case AWAIT -> calls().await(scope, call);
        case DETACHED -> calls().follow(call);
        case BACKGROUND -> {
          if (!background.offer(call)) {
            dropped(call);
          }
        }
      }
    }

    /** Tells of a winner, which is described only if somebody is told. */
    void route(Supplier<RouteSelection> winner) {
      if (settings.route().isEmpty()) {
        return;
      }
      RouteObserver observer = settings.route().get();
      RouteSelection selection = winner.get();
      calls().follow(calls().call("route observer", () -> observer.onRoute(selection)));
    }
  }

  /** A queue of its own, with room for as many calls as the common one. */
  ObserverQueue queue(String name) {
    return new ObserverQueue(tree, name, settings.queueCapacity(), settings.timeout());
  }

  TaskScope open(String name) {
    return tree.open("observers", name);
  }

  /** The call, which a flush waits for from now on. */
  ObserverCall pending(ObserverCall call) {
    pending.begin(call);
    return call;
  }

  /** Makes the call and waits for it; it may be over before it could begin. */
  void await(TaskScope scope, ObserverCall call) {
    Deadline deadline = Deadline.after(tree.time(), settings.timeout());
    Outcome<?> outcome = scope.call("observer", call.name(), deadline, call::make);
    if (call.begun()) {
      call.ended(outcome);
    }
  }

  void dropped(ObserverCall call) {
    pending.end(call);
    dropped.increment();
  }

  void ended(ObserverCall call) {
    if (call.failure().isPresent()) {
      failures.increment();
    }
    pending.end(call);
  }

  boolean flush(Duration atMost) {
    return pending.flush(atMost);
  }

  int pending() {
    return pending.count();
  }

  long dropped() {
    return dropped.sum();
  }

  long failures() {
    return failures.sum();
  }
}
