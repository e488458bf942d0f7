package dev.warpwright;

import dev.warpwright.task.Cancellation;
import dev.warpwright.task.Outcome;
import java.util.Optional;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** One call of an observer that is to be made, and who wants to know how it ended. */
final class ObserverCall {
  private final String name;
  private final Runnable body;
  private final Optional<Cancellation> cancellation;
  private final Consumer<ObserverCall> onEnd;
  private final AtomicBoolean begun = new AtomicBoolean();
  private volatile @Nullable Throwable failure;

  ObserverCall(
      String name,
      Runnable body,
      Optional<Cancellation> cancellation,
      Consumer<ObserverCall> onEnd) {
    this.name = name;
    this.body = body;
    this.cancellation = cancellation;
    this.onEnd = onEnd;
  }

  String name() {
    return name;
  }

  /** Makes the call on this thread, which is interrupted if the caller cancels; once. */
  @Nullable Void make() {
    if (!begun.compareAndSet(false, true)) {
      return null;
    }
    if (cancellation.isEmpty()) {
      body.run();
      return null;
    }
    Thread self = Thread.currentThread();
    try (var _ = cancellation.get().onCancel(reason -> self.interrupt())) {
      body.run();
    }
    return null;
  }

  /** Whether the observer has been called. */
  boolean begun() {
    return begun.get();
  }

  /** The call ended; what it threw, and running out of its time, is a failure. */
  void ended(Outcome<?> outcome) {
    failure =
        switch (outcome) {
          case Outcome.Failure<?>(Throwable cause) -> cause;
          case Outcome.TimedOut<?> late -> new TimeoutException("It took too long.");
          case Outcome.Success<?> none -> null;
          case Outcome.Cancelled<?> none -> null;
        };
    onEnd.accept(this);
  }

  /** What it threw, or that it ran out of its time. */
  Optional<Throwable> failure() {
    return Optional.ofNullable(failure);
  }
}
