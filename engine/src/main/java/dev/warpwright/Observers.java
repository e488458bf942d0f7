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
  private final LongAdder dropped = new LongAdder();
  private final LongAdder failures = new LongAdder();

  /**
   * Who is told, and how.
   *
   * @param attempt told of attempts
   * @param route told of winners
   * @param mode who waits for the first
   * @param timeout the limit of one call
   * @param queueCapacity the calls that may wait in {@link ObserverMode#BACKGROUND}
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
    this.background =
        new ObserverQueue(
            tree, "background observers", settings.queueCapacity(), settings.timeout());
  }

  /** The observers of one operation. */
  OfOperation of(String operationId, Optional<Cancellation> cancellation) {
    return new OfOperation(operationId, cancellation);
  }

  /** Tells of one operation; used by its thread alone. */
  final class OfOperation {
    private final String operationId;
    private final Optional<Cancellation> cancellation;
    private @Nullable ObserverQueue own; // made when it is needed

    private OfOperation(String operationId, Optional<Cancellation> cancellation) {
      this.operationId = operationId;
      this.cancellation = cancellation;
    }

    void attempt(TaskScope scope, Attempt attempt) {
      if (settings.attempt().isEmpty()) {
        return;
      }
      AttemptObserver observer = settings.attempt().get();
      ObserverCall call = call("attempt observer", () -> observer.onAttempt(operationId, attempt));
      switch (settings.mode()) {
        case AWAIT -> await(scope, call);
        case DETACHED -> follow(call);
        case BACKGROUND -> {
          if (!background.offer(call)) {
            pending.end(call);
            dropped.increment();
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
      follow(call("route observer", () -> observer.onRoute(selection)));
    }

    private ObserverCall call(String name, Runnable body) {
      ObserverCall call = new ObserverCall(name, body, cancellation, Observers.this::ended);
      pending.begin(call);
      return call;
    }

    /** Waits for the call; one that comes when the operation is over waits for nobody. */
    private void await(TaskScope scope, ObserverCall call) {
      if (scope.isCancelled() || scope.deadline().hasPassed()) {
        follow(call);
        return;
      }
      Deadline deadline = Deadline.after(tree.time(), settings.timeout());
      Outcome<?> outcome = scope.call("observer", call.name(), deadline, call::make);
      if (call.begun()) {
        call.ended(outcome);
      } else {
        follow(call); // the operation was over before it could begin, such as by an interrupt
      }
    }

    private void follow(ObserverCall call) {
      if (own == null) {
        own =
            new ObserverQueue(
                tree, operationId + " observers", Integer.MAX_VALUE, settings.timeout());
      }
      own.offer(call);
    }
  }

  private void ended(ObserverCall call) {
    if (call.failed()) {
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
