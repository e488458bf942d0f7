package dev.warpwright.run;

import dev.warpwright.task.TimeSource;
import java.util.UUID;
import java.util.random.RandomGenerator;

/** Makes run ids: UUIDs of version 7 (RFC 9562), which sort by time. */
public final class RunIds {
  private RunIds() {}

  /**
   * Makes an id.
   *
   * @param time the clock and the randomness in it
   * @return an id that no other run has
   */
  public static String next(TimeSource time) {
    RandomGenerator random = time.random();
    long high = (time.now().toEpochMilli() << 16) | 0x7000L | (random.nextLong() & 0x0FFFL);
    long low = (random.nextLong() & 0x3FFF_FFFF_FFFF_FFFFL) | 0x8000_0000_0000_0000L;
    return new UUID(high, low).toString();
  }
}
