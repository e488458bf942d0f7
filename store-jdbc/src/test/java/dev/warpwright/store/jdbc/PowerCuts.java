package dev.warpwright.store.jdbc;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.StoreException;
import dev.warpwright.store.jdbc.JdbcRunStore.Durability;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Cuts the power under H2, on a disk that then holds any part of what it was not forced to hold:
 * whole writes, single sectors of them, or nothing. The next life goes on with what a cut left.
 */
final class PowerCuts {
  private static final int MAX_FILE_BYTES = 32 * 1024 * 1024;
  private static final int CUTS = 4; // in a life
  private static final int CALLERS = 16;

  private PowerCuts() {}

  /** What a disk holds after a cut, and what had been acknowledged before it. */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record Left(byte[] disk, Acknowledged told) {
    static final Left NOTHING = new Left(new byte[0], new Acknowledged());
  }

  /** At the level that survives it: every file opens, and nothing acknowledged is missing. */
  static void survive(Ordeal ordeal, Path folder) throws IOException {
    ShadowDisk.install();
    try {
      Left left = Left.NOTHING;
      while (ordeal.nextRound()) {
        if (left.disk().length > MAX_FILE_BYTES) {
          ordeal.acknowledged(left.told().events());
          left = Left.NOTHING;
        }
        left = live(ordeal, folder, Durability.POWER, left);
      }
      ordeal.acknowledged(left.told().events());
    } finally {
      ShadowDisk.uninstall();
    }
  }

  /** The control, at a level that does not: a cut must lose something, or the disk is too good. */
  static void lose(Ordeal ordeal, Path folder) throws IOException {
    ShadowDisk.install();
    try {
      while (ordeal.nextRound()) {
        Left left = live(ordeal, folder, Durability.RELAXED, Left.NOTHING);
        ordeal.acknowledged(left.told().events());
      }
    } finally {
      ShadowDisk.uninstall();
    }
    assertTrue(ordeal.lost() > 0, () -> "without a force nothing was lost: " + ordeal.here());
  }

  /** One process, and cuts at some moments of its life; what the last one left. */
  private static Left live(Ordeal ordeal, Path folder, Durability durability, Left before)
      throws IOException {
    Path live = folder.resolve("live" + ordeal.round() + ".mv.db");
    Left left = before;
    WriteCache cache = new WriteCache(before.disk());
    if (before.disk().length > 0) {
      Files.write(live, before.disk());
    }
    Acknowledged acknowledged = before.told().copy();
    ShadowDisk.put(live, cache);
    try (JdbcRunStore store = builder(live).durability(durability).open();
        AppendLoad load = AppendLoad.start(store, CALLERS, acknowledged, Thread.ofVirtual())) {
      for (int n = 0; n < CUTS; n++) {
        load.await(1 + ordeal.random.nextInt(150));
        Acknowledged told = acknowledged.copy(); // of which nothing may be missing
        left = new Left(cache.cut(ordeal.random), told);
        ordeal.blow();
        ordeal.lost(missing(left, folder, durability, ordeal.here()));
      }
    } finally {
      ShadowDisk.remove(live);
      Files.deleteIfExists(live);
    }
    return left;
  }

  private static JdbcRunStore.Builder builder(Path file) {
    String path = file.toString();
    return Databases.builder(
        "jdbc:h2:async:" + path.substring(0, path.length() - ".mv.db".length()));
  }

  private static long missing(Left left, Path folder, Durability durability, String when)
      throws IOException {
    Path file = Files.write(folder.resolve("cut.mv.db"), left.disk());
    try (JdbcRunStore store = builder(file).open()) {
      long missing = left.told().missingIn(store, when);
      assertTrue(
          missing == 0 || durability != Durability.POWER,
          () -> when + ": " + missing + " acknowledged events are missing");
      return missing;
    } catch (StoreException e) {
      if (durability == Durability.POWER) {
        throw new AssertionError(when + ": the file does not open", e);
      }
      return left.told().events();
    } finally {
      Files.deleteIfExists(file);
    }
  }
}
