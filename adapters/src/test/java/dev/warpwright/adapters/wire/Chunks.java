package dev.warpwright.adapters.wire;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/** The ways in which a network can cut bytes. */
public final class Chunks {
  private static final int RANDOM_WAYS = 20;

  private Chunks() {}

  /** Whole, cut in two at every byte, byte by byte, and in pieces of random length. */
  public static List<List<byte[]>> ways(byte[] bytes, long seed) {
    List<List<byte[]>> ways = new ArrayList<>();
    ways.add(List.of(bytes));
    for (int cut = 1; cut < bytes.length; cut++) {
      ways.add(
          List.of(Arrays.copyOfRange(bytes, 0, cut), Arrays.copyOfRange(bytes, cut, bytes.length)));
    }
    ways.add(pieces(bytes, new Random(seed), 1));
    Random random = new Random(seed);
    for (int i = 0; i < RANDOM_WAYS; i++) {
      ways.add(pieces(bytes, random, 1 + random.nextInt(20)));
    }
    return ways;
  }

  /** Pieces of random length. */
  public static List<byte[]> pieces(byte[] bytes, Random random, int longest) {
    List<byte[]> pieces = new ArrayList<>();
    int start = 0;
    while (start < bytes.length) {
      int end = Math.min(bytes.length, start + 1 + random.nextInt(longest));
      pieces.add(Arrays.copyOfRange(bytes, start, end));
      start = end;
    }
    return pieces;
  }
}
