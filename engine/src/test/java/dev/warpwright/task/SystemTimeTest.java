package dev.warpwright.task;

import dev.warpwright.contract.TimeSourceContract;
import java.time.Duration;

/** The system's time keeps the contract. */
final class SystemTimeTest extends TimeSourceContract {
  @Override
  protected TimeSource time() {
    return TimeSource.system();
  }

  @Override
  protected void pass(Duration duration) {
    // it passes by itself
  }
}
