package dev.warpwright.adapters.wire;

import java.util.Random;

/**
 * Plays rounds at random. {@code -Dwarpwright.fuzz=} says how many; a failure names the seed that
 * plays it again.
 */
public final class Fuzz {
  private static final int ROUNDS = Integer.getInteger("warpwright.fuzz", 4_000);
  private static final long SEED = Long.getLong("warpwright.fuzz.seed", System.nanoTime());

  private Fuzz() {}

  /** One round. */
  @FunctionalInterface
  public interface Round {
    void play(Random random) throws Exception;
  }

  public static void play(Round round) {
    for (int i = 0; i < ROUNDS; i++) {
      long seed = SEED + i;
      try {
        round.play(new Random(seed));
      } catch (Exception | AssertionError e) {
        throw new AssertionError(
            "With -Dwarpwright.fuzz=1 -Dwarpwright.fuzz.seed=" + seed + ": " + e, e);
      }
    }
  }
}
