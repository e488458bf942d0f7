package dev.warpwright.adapters.wire;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Cuts bytes into the lines of newline-delimited JSON, wherever the network has cut them. Lines end
 * with LF or CR LF, have at most 1 048 576 characters, and blank ones only show that the server
 * lives. Pure; not thread-safe.
 */
final class NdjsonReader implements Framing {
  private final StreamLines lines = new StreamLines(false);
  private boolean alive;

  @Override
  public void feed(byte[] bytes, int length) {
    lines.feed(bytes, length);
  }

  @Override
  public @Nullable Frame next() {
    while (lines.next()) {
      Frame line = line();
      if (line != null) {
        return line;
      }
    }
    return null;
  }

  @Override
  public @Nullable Frame last() {
    return lines.last() ? line() : null;
  }

  /** A blank line shows that the server lives. */
  @Override
  public boolean takeAlive() {
    boolean was = alive;
    alive = false;
    return was;
  }

  private @Nullable Frame line() {
    int length = lines.end() - lines.start();
    String text = new String(lines.line(), lines.start(), length, StandardCharsets.UTF_8).strip();
    if (text.isEmpty()) {
      alive = true;
      return null;
    }
    return new Frame(Frame.UNNAMED, text);
  }
}
