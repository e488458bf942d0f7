package dev.warpwright.testing;

import dev.warpwright.contract.TimeSourceContract;
import dev.warpwright.task.TimeSource;
import java.time.Duration;
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
}
