package dev.warpwright.examples;

import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.tool.JsonType;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandles;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;

/**
 * The system that the tools act on, as a file that only grows: one line an effect, forced to the
 * disk before it counts as done.
 *
 * <p>A last line without its line feed was cut off by a crash: it never counted, and is removed.
 * The file belongs to one process as long as it has it open or, where it is shared, for the time of
 * each addition and look-up. Thread-safe; an interrupt cuts no line off, which is why the file is
 * not written through a {@code FileChannel}.
 */
final class Effects implements AutoCloseable {
  private static final JsonType<Effect> TYPE = JsonType.of(Effect.class, MethodHandles.lookup());

  private static final long LOCK_PAUSE_NANOS = 1_000_000;

  private final Path path;
  private final RandomAccessFile file;
  private final boolean shared;
  private final ReentrantLock writing = new ReentrantLock(); // keeps lines whole and keys unique
  private final Map<String, Effect> byKey = new HashMap<>(); // guarded by the lock
  private long length; // guarded by the lock; of the lines that count
  private int lines; // guarded by the lock; how many these are

  private Effects(Path path, RandomAccessFile file, boolean shared) {
    this.path = path;
    this.file = file;
    this.shared = shared;
  }

  /** Opens a file, made if it is missing, for this process alone. */
  static Effects open(Path path) {
    return open(path, false);
  }

  /** Opens a file, made if it is missing, that other processes have open so too. */
  static Effects shared(Path path) {
    return open(path, true);
  }

  private static Effects open(Path path, boolean shared) {
    try {
      RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw");
      try {
        Effects effects = new Effects(path, file, shared);
        if (!shared) {
          requireAlone(file, path);
        }
        effects.locked(() -> true);
        return effects;
      } catch (IOException | RuntimeException e) {
        file.close();
        throw e;
      }
    } catch (IOException e) {
      throw new UncheckedIOException("Cannot open " + path + ".", e);
    }
  }

  /** Refuses to go on without the effects of a run: nobody could tell what it has done already. */
  static void requireExisting(Path path) {
    if (!Files.exists(path)) {
      throw new JobException("There is no file " + path + "; --out must be that of the triage.");
    }
  }

  private static void requireAlone(RandomAccessFile file, Path path) throws IOException {
    try {
      if (file.getChannel().tryLock() != null) {
        return;
      }
    } catch (OverlappingFileLockException e) {
      // Open in this process: refused like one of another process.
    }
    throw new JobException("The file " + path + " is in use by another process.");
  }

  /** Something to do while no other thread and no other process writes. */
  private interface Locked<T> {
    T run() throws IOException;
  }

  private <T> T locked(Locked<T> work) throws IOException {
    writing.lock();
    try (FileLock _ = shared ? awaitLock() : null) {
      readNewLines();
      return work.run();
    } finally {
      writing.unlock();
    }
  }

  /** Not by the blocking method of the channel, which an interrupt would close. */
  private FileLock awaitLock() throws IOException {
    while (true) {
      try {
        FileLock lock = file.getChannel().tryLock();
        if (lock != null) {
          return lock;
        }
      } catch (OverlappingFileLockException e) {
        // Of this process: waited for like one of another process.
      }
      LockSupport.parkNanos(LOCK_PAUSE_NANOS);
    }
  }

  /** Takes in what is there behind the lines that are known; takes away what a crash cut off. */
  private void readNewLines() throws IOException {
    byte[] added = new byte[Math.toIntExact(Math.max(0, file.length() - length))];
    file.seek(length);
    file.readFully(added);
    int end = added.length;
    while (end > 0 && added[end - 1] != '\n') {
      end--;
    }
    if (end < added.length) {
      file.setLength(length + end);
    }
    for (String line : new String(added, 0, end, StandardCharsets.UTF_8).lines().toList()) {
      lines++;
      try {
        Effect effect = TYPE.read(Json.parse(line));
        byKey.put(effect.key(), effect);
      } catch (InvalidRequestException e) {
        throw new JobException(
            "Line " + lines + " of " + path + " is no effect: " + e.getMessage());
      }
    }
    length += end;
  }

  /**
   * Adds an effect, unless one with its key is there already.
   *
   * @return whether it was added
   * @throws IOException if it cannot be written; it is not there then
   */
  boolean add(Effect effect) throws IOException {
    return locked(() -> addIfNew(effect));
  }

  /**
   * Adds an effect, unless one with its key is there already, or another that excludes it.
   *
   * @return whether it is there now
   * @throws IOException if it cannot be written; it is not there then
   */
  boolean addUnless(Predicate<Effect> excluding, Effect effect) throws IOException {
    return locked(
        () -> {
          boolean excluded =
              byKey.values().stream()
                  .filter(other -> !other.key().equals(effect.key()))
                  .anyMatch(excluding);
          return !excluded && (addIfNew(effect) || byKey.containsKey(effect.key()));
        });
  }

  private boolean addIfNew(Effect effect) throws IOException {
    if (byKey.containsKey(effect.key())) {
      return false;
    }
    append((TYPE.write(effect).text() + "\n").getBytes(StandardCharsets.UTF_8));
    lines++;
    byKey.put(effect.key(), effect);
    return true;
  }

  private void append(byte[] line) throws IOException {
    file.setLength(length); // takes away what an earlier failure may have left
    file.seek(length);
    try {
      file.write(line);
      file.getFD().sync();
      length += line.length;
    } catch (IOException e) {
      file.setLength(length);
      throw e;
    }
  }

  /** The effect with a key. */
  Optional<Effect> find(String key) {
    try {
      return locked(() -> Optional.ofNullable(byKey.get(key)));
    } catch (IOException e) {
      throw new UncheckedIOException("Cannot read " + path + ".", e);
    }
  }

  @Override
  public void close() {
    writing.lock();
    try {
      file.close();
    } catch (IOException e) {
      throw new UncheckedIOException("Cannot close the file of effects.", e);
    } finally {
      writing.unlock();
    }
  }
}
