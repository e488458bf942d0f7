package dev.warpwright.examples;

import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.tool.JsonType;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandles;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The system that the tools act on, as a file that only grows: one line an effect, forced to the
 * disk before it counts as done.
 *
 * <p>A last line without its line feed was cut off by a crash: it never counted, and is removed at
 * opening. The file belongs to one process at a time. Thread-safe; an interrupt cuts no line off,
 * which is why the file is not written through a {@code FileChannel}.
 */
final class Effects implements AutoCloseable {
  private static final JsonType<Effect> TYPE = JsonType.of(Effect.class, MethodHandles.lookup());

  private final RandomAccessFile file;
  private final ReentrantLock writing = new ReentrantLock(); // keeps lines whole and keys unique
  private final Map<String, Effect> byKey = new ConcurrentHashMap<>(); // written under the lock
  private long length; // guarded by the lock; of the lines that count

  private Effects(RandomAccessFile file) {
    this.file = file;
  }

  static Effects open(Path path) {
    try {
      RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw");
      try {
        requireAlone(file, path);
        Effects effects = new Effects(file);
        effects.load(path);
        return effects;
      } catch (IOException | RuntimeException e) {
        file.close();
        throw e;
      }
    } catch (IOException e) {
      throw new UncheckedIOException("Cannot open " + path + ".", e);
    }
  }

  /**
   * Opens a file that must be there. Without the effects of a run nobody could tell what it has
   * done already.
   */
  static Effects openExisting(Path path) {
    if (!Files.exists(path)) {
      throw new JobException("There is no file " + path + "; --out must be that of the triage.");
    }
    return open(path);
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

  private void load(Path path) throws IOException {
    byte[] all = new byte[Math.toIntExact(file.length())];
    file.readFully(all);
    int end = all.length;
    while (end > 0 && all[end - 1] != '\n') {
      end--;
    }
    file.setLength(end);
    length = end;
    List<String> lines = new String(all, 0, end, StandardCharsets.UTF_8).lines().toList();
    for (int i = 0; i < lines.size(); i++) {
      try {
        Effect effect = TYPE.read(Json.parse(lines.get(i)));
        byKey.put(effect.key(), effect);
      } catch (InvalidRequestException e) {
        throw new JobException(
            "Line " + (i + 1) + " of " + path + " is no effect: " + e.getMessage());
      }
    }
  }

  /**
   * Adds an effect, unless one with its key is there already.
   *
   * @return whether it was added
   * @throws IOException if it cannot be written; it is not there then
   */
  boolean add(Effect effect) throws IOException {
    byte[] line = (TYPE.write(effect).text() + "\n").getBytes(StandardCharsets.UTF_8);
    writing.lock();
    try {
      if (byKey.containsKey(effect.key())) {
        return false;
      }
      append(line);
      byKey.put(effect.key(), effect);
      return true;
    } finally {
      writing.unlock();
    }
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
    return Optional.ofNullable(byKey.get(key));
  }

  /** All effects of a tool, in no order. */
  List<Effect> of(String tool) {
    return byKey.values().stream().filter(effect -> effect.tool().equals(tool)).toList();
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
