package dev.warpwright.store.jdbc;

import java.time.Duration;
import java.util.Locale;
import java.util.Random;

/** One kind of torture under way: for how long, with which dice, and what came of it. */
final class Ordeal {
  final long seed;
  final Random random;
  private final int maxRounds;
  private final Duration time;
  private long begin; // of the first round
  private int rounds;
  private int blows;
  private long acknowledged;
  private long lost;
  private long duplicates;
  private String remarks = "";

  private Ordeal(int maxRounds, Duration time, long seed) {
    this.seed = seed;
    this.random = new Random(seed);
    this.maxRounds = maxRounds;
    this.time = time;
  }

  /** So many rounds, for tests. */
  static Ordeal rounds(int rounds) {
    return new Ordeal(rounds, Duration.ofDays(1), System.nanoTime());
  }

  /** As many rounds as fit into a time, one at least. */
  static Ordeal lasting(Duration time, long seed) {
    return new Ordeal(Integer.MAX_VALUE, time, seed);
  }

  /** Begins a round, unless it is over. */
  boolean nextRound() {
    long now = System.nanoTime();
    if (rounds == 0) {
      begin = now;
    } else if (rounds >= maxRounds || now - begin > time.toNanos()) {
      return false;
    }
    rounds++;
    return true;
  }

  /** What failed, for the message of an assertion. */
  String here() {
    return "round " + rounds + " of seed " + seed;
  }

  int round() {
    return rounds;
  }

  /** A kill, a cut, a freeze: whatever this kind of torture does. */
  void blow() {
    blows++;
  }

  void blows(int more) {
    blows += more;
  }

  void acknowledged(long events) {
    acknowledged += events;
  }

  void lost(long events) {
    lost += events;
  }

  void duplicates(long effects) {
    duplicates += effects;
  }

  /** What else is to be told. */
  void remark(String text) {
    remarks += ", " + text;
  }

  int blows() {
    return blows;
  }

  long acknowledged() {
    return acknowledged;
  }

  long lost() {
    return lost;
  }

  long duplicates() {
    return duplicates;
  }

  /** The numbers in a line. */
  String summary(String kind, String blow) {
    return String.format(
        Locale.ROOT,
        "%-14s %d rounds, %d %s, %d acknowledged, %d lost, %d duplicates%s, seed %d",
        kind,
        rounds,
        blows,
        blow,
        acknowledged,
        lost,
        duplicates,
        remarks,
        seed);
  }
}
