package dev.warpwright.examples;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Lets Ctrl-C and SIGTERM end a job in order: the job's thread is interrupted, and the process
 * stays until the job has closed what it opened, for a while at most.
 *
 * <pre>{@code
 * try (StopSignal _ = StopSignal.forThisThread()) {
 *   ... // an interrupt stops it
 * }
 * }</pre>
 */
final class StopSignal implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private final CountDownLatch done = new CountDownLatch(1);
  private final Thread hook;

  private StopSignal(Thread job) {
    this.hook = Thread.ofPlatform().name("stop-signal").unstarted(() -> stop(job));
  }

  static StopSignal forThisThread() {
    StopSignal signal = new StopSignal(Thread.currentThread());
    Runtime.getRuntime().addShutdownHook(signal.hook);
    return signal;
  }

  private void stop(Thread job) {
    job.interrupt();
    try {
      if (!done.await(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
        System.err.println(Main.NAME + ": The job did not stop in time; run it again to go on.");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** The job has closed everything. */
  @Override
  public void close() {
    done.countDown();
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // The process is ending, and its hook has been waiting for this.
    }
  }
}
