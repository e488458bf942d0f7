package dev.warpwright.adapters.wire;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Cuts bytes into the lines of newline-delimited JSON, wherever the network has cut them. Lines end
 * with LF or CR LF, have at most 1 048 576 characters, and blank ones are passed over. Pure; not
 * thread-safe. It is used as an {@link SseReader} is.
 */
final class NdjsonReader {
  private final StreamLines lines = new StreamLines(false);

  /**
   * Takes the next bytes.
   *
   * @param bytes a buffer that stays as it is until {@link #next()} has returned null
   * @param length how many bytes of it count
   */
  void feed(byte[] bytes, int length) {
    lines.feed(bytes, length);
  }

  /**
   * The next line that is not blank.
   *
   * @return it, or null if more bytes are needed
   * @throws FramingException if the line crosses its bound
   */
  @Nullable String next() {
    while (lines.next()) {
      String line = line();
      if (line != null) {
        return line;
      }
    }
    return null;
  }

  /**
   * The line that has no line end behind it when the stream ends. Whether it is complete, its text
   * must tell.
   *
   * @return it, or null if there is none
   */
  @Nullable String last() {
    return lines.last() ? line() : null;
  }

  private @Nullable String line() {
    int length = lines.end() - lines.start();
    String text = new String(lines.line(), lines.start(), length, StandardCharsets.UTF_8).strip();
    return text.isEmpty() ? null : text;
  }
}
