package dev.warpwright.task;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A handle by which a caller cancels what it started, from any thread; the other way is to
 * interrupt the calling thread.
 *
 * {@snippet :
 * Cancellation cancellation = new Cancellation();
 * stopButton.onClick(() -> cancellation.cancel("stopped by the user"));
 * gateway.generate(GenerateRequest.builder(route, question).cancellation(cancellation).build());
 * }
 *
 * <p>One-shot: the first cancel counts, and what is started under a handle that is cancelled
 * already is refused. One handle may serve any number of operations. Thread-safe.
 */
public final class Cancellation {
  private @Nullable String reason; // guarded by this; set once
  private List<Registration> listeners = new ArrayList<>(); // guarded by this

  /** A handle that is not cancelled. */
  public Cancellation() {}

  /** Cancels with the reason {@code cancelled}. */
  public void cancel() {
    cancel("cancelled");
  }

  /**
   * Cancels: tells everything that listens, on the calling thread, and returns without waiting for
   * anything to end. Does nothing if it is cancelled already. What a listener throws is thrown
   * here, after all of them were told.
   *
   * @param why the reason; it reaches exceptions and attempts, redacted
   */
  public void cancel(String why) {
    Objects.requireNonNull(why, "why");
    List<Registration> told;
    synchronized (this) {
      if (reason != null) {
        return;
      }
      reason = why;
      told = listeners;
      listeners = List.of();
    }
    RuntimeException failure = null;
    for (Registration registration : told) {
      try {
        registration.listener.accept(why);
      } catch (RuntimeException e) {
        if (failure == null) {
          failure = e;
        } else if (!failure.equals(e)) {
          failure.addSuppressed(e);
        }
      }
    }
    if (failure != null) {
      throw failure;
    }
  }

  /**
   * Whether it is cancelled.
   *
   * @return true from the first cancel on
   */
  public synchronized boolean isCancelled() {
    return reason != null;
  }

  /**
   * Why it is cancelled.
   *
   * @return the reason of the first cancel; empty while it is not cancelled
   */
  public synchronized Optional<String> reason() {
    return Optional.ofNullable(reason);
  }

  /**
   * Calls a listener once when this is cancelled, on the thread that cancels; at once, on the
   * calling thread, if it is cancelled already.
   *
   * @param listener is given the reason; must be short, must not block and should not throw
   * @return closed by whoever does not want to listen any more; after that nothing of the listener
   *     is kept, though a call that has begun may still be under way
   */
  public Registration onCancel(Consumer<String> listener) {
    Registration registration = new Registration(listener);
    String now;
    synchronized (this) {
      now = reason;
      if (now == null) {
        listeners.add(registration);
      }
    }
    if (now != null) {
      listener.accept(now);
    }
    return registration;
  }

  /** How many listeners there are. */
  synchronized int listeners() {
    return listeners.size();
  }

  /** Shows whether it is cancelled, not why. */
  @Override
  public String toString() {
    return isCancelled() ? "Cancellation[cancelled]" : "Cancellation[not cancelled]";
  }

  /** A listener that is registered until this is closed; closing is idempotent. */
  public final class Registration implements AutoCloseable {
    private final Consumer<String> listener;

    private Registration(Consumer<String> listener) {
      this.listener = Objects.requireNonNull(listener, "listener");
    }

    /** Ends the registration. */
    @Override
    public void close() {
      synchronized (Cancellation.this) {
        if (reason == null) {
          listeners.remove(this);
        }
      }
    }
  }
}
