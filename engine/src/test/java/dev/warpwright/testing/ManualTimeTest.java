package dev.warpwright.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.contract.TimeSourceContract;
import dev.warpwright.task.Alarm;
import dev.warpwright.task.TimeSource;
import java.time.Duration;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Manual time keeps the contract, and no test of it leaves an alarm. */
final class ManualTimeTest extends TimeSourceContract {
  @RegisterExtension final LeakCheck leaks = new LeakCheck();

  private final ManualTime time = leaks.watch(new ManualTime());

  @Override
  protected TimeSource time() {
    return time;
  }

  @Override
  protected void pass(Duration duration) {
    time.advance(duration);
  }

  @Test
  void a_test_can_wait_until_somebody_waits_for_so_long() throws Exception {
    Alarm other = time.alarm(time.nanoTime() + 1, () -> {});
    FutureTask<Boolean> sleep =
        new FutureTask<>(
            () -> {
              time.sleep(Duration.ofMinutes(3));
              return true;
            });
    Thread.ofVirtual().start(sleep);

    time.awaitAlarmIn(Duration.ofMinutes(3));
    assertEquals(2, time.pendingAlarms());
    assertTrue(other.cancel());
    time.advance(Duration.ofMinutes(1));
    time.awaitAlarmIn(Duration.ofMinutes(2));
    time.advance(Duration.ofMinutes(2));

    assertTrue(sleep.get(60, TimeUnit.SECONDS));
  }

  @Test
  void an_interrupt_ends_the_wait_for_an_alarm() {
    Thread.currentThread().interrupt();
    assertThrows(InterruptedException.class, () -> time.awaitAlarmIn(Duration.ofHours(1)));
    Thread.currentThread().interrupt();
    assertThrows(InterruptedException.class, () -> time.awaitAlarms(1));
  }
}
