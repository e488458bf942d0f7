package dev.warpwright.adapters.http;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicReference;

/** A call on its own virtual thread. */
public final class Caller {
  public final Thread thread;
  private final AtomicReference<Object> outcome = new AtomicReference<>();

  public Caller(Callable<?> call) {
    thread =
        Thread.ofVirtual()
            .start(
                () -> {
                  try {
                    outcome.set(call.call());
                  } catch (Exception e) {
                    outcome.set(e);
                  }
                });
  }

  public void awaitWaiting() {
    while (thread.getState() != Thread.State.WAITING) {
      Thread.onSpinWait();
    }
  }

  /** What the call returned or threw. */
  public Object outcome() throws InterruptedException {
    assertTrue(thread.join(Duration.ofSeconds(10)), "The call did not end.");
    return outcome.get();
  }
}
