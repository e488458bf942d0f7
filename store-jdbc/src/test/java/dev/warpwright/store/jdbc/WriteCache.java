package dev.warpwright.store.jdbc;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/**
 * What a disk holds of one file, and what is still in its cache: writes since the last force. A
 * power cut keeps any of those, in part or not at all.
 */
final class WriteCache {
  private static final int SECTOR = 512;

  /** A change that no force has followed yet. */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  private sealed interface Change {
    record Write(int position, byte[] bytes) implements Change {}

    record Truncate(int size) implements Change {}
  }

  private final List<Change> pending = new ArrayList<>(); // all guarded by this
  private byte[] durable;
  private int length;

  WriteCache(byte[] durable) {
    this.durable = durable.clone();
    this.length = durable.length;
  }

  synchronized void write(ByteBuffer source, long position) {
    byte[] bytes = new byte[source.remaining()];
    source.get(bytes);
    pending.add(new Change.Write(Math.toIntExact(position), bytes));
  }

  synchronized void truncate(long size) {
    pending.add(new Change.Truncate(Math.toIntExact(size)));
  }

  /** Everything before this is on the disk. */
  synchronized void force() {
    for (Change change : pending) {
      switch (change) {
        case Change.Write(int position, byte[] bytes) -> write(position, bytes, 0, bytes.length);
        case Change.Truncate(int size) -> truncate(size);
      }
    }
    pending.clear();
  }

  private void write(int position, byte[] bytes, int from, int to) {
    int end = position + to;
    if (end > durable.length) {
      durable = Arrays.copyOf(durable, Math.max(end, 2 * durable.length));
    }
    System.arraycopy(bytes, from, durable, position + from, to - from);
    length = Math.max(length, end);
  }

  private void truncate(int size) {
    if (size < length) {
      Arrays.fill(durable, size, length, (byte) 0);
      length = size;
    }
  }

  /** What the file holds after a power cut at this moment. */
  synchronized byte[] cut(Random random) {
    WriteCache disk = new WriteCache(Arrays.copyOf(durable, length));
    int kept = random.nextInt(5); // of four changes, and the others are torn or dropped
    for (Change change : pending) {
      boolean whole = random.nextInt(4) < kept;
      switch (change) {
        case Change.Write(int position, byte[] bytes) -> {
          boolean torn = !whole && random.nextBoolean();
          for (int at = 0; at < bytes.length && (whole || torn); at += SECTOR) {
            if (whole || random.nextBoolean()) {
              disk.write(position, bytes, at, Math.min(bytes.length, at + SECTOR));
            }
          }
        }
        case Change.Truncate(int size) -> {
          if (whole) {
            disk.truncate(size);
          }
        }
      }
    }
    return Arrays.copyOf(disk.durable, disk.length);
  }
}
