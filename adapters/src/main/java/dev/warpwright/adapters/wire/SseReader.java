package dev.warpwright.adapters.wire;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Cuts bytes into server-sent events, wherever the network has cut them. Pure; not thread-safe.
 *
 * <pre>{@code
 * events.feed(bytes, length);
 * for (SseEvent event = events.next(); event != null; event = events.next()) {
 *   …
 * }
 * }</pre>
 *
 * <p>An event is there as soon as its blank line is, also if that ends with a CR that a LF may
 * follow. An event and a line have at most 1 048 576 characters each. {@code id}, {@code retry} and
 * unknown fields are passed over. Source of the format: the WHATWG's HTML standard, server-sent
 * events.
 */
final class SseReader {
  private static final byte[] DATA = {'d', 'a', 't', 'a'};
  private static final byte[] EVENT = {'e', 'v', 'e', 'n', 't'};
  private static final byte[] LF = {'\n'};
  private static final String UNNAMED = "message";

  private final StreamLines lines = new StreamLines(true);
  private final StreamText data = new StreamText("an event");
  private boolean hasData;
  private String name = "";
  private boolean alive;

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
   * The next event.
   *
   * @return it, or null if more bytes are needed
   * @throws FramingException if an event or a line crosses its bound
   */
  @Nullable SseEvent next() {
    while (lines.next()) {
      SseEvent event = line();
      if (event != null) {
        return event;
      }
    }
    return null;
  }

  /**
   * The event that has no blank line behind it when the stream ends. Whether it is complete, its
   * data must tell.
   *
   * @return it, or null if there is none
   * @throws FramingException if it crosses the bound
   */
  @Nullable SseEvent last() {
    if (lines.last()) {
      line();
    }
    return dispatch();
  }

  /**
   * Whether a comment or an event without data has come since this was asked.
   *
   * @return whether the server has shown that it lives
   */
  boolean takeAlive() {
    boolean was = alive;
    alive = false;
    return was;
  }

  private @Nullable SseEvent line() {
    byte[] line = lines.line();
    int start = lines.start();
    int end = lines.end();
    if (start == end) {
      return dispatch();
    }
    int colon = start;
    while (colon < end && line[colon] != ':') {
      colon++;
    }
    if (colon == start) {
      alive = true;
      return null;
    }
    int value = Math.min(end, colon + 1);
    if (value < end && line[value] == ' ') {
      value++;
    }
    if (is(DATA, line, start, colon)) {
      if (hasData) {
        data.append(LF, 0, 1);
      }
      data.append(line, value, end);
      hasData = true;
    } else if (is(EVENT, line, start, colon)) {
      name = new String(line, value, end - value, StandardCharsets.UTF_8);
    }
    return null;
  }

  private static boolean is(byte[] field, byte[] line, int start, int colon) {
    return Arrays.equals(field, 0, field.length, line, start, colon);
  }

  private @Nullable SseEvent dispatch() {
    String named = name.isEmpty() ? UNNAMED : name;
    String text = data.toString();
    boolean meant = hasData || !name.isEmpty();
    name = "";
    hasData = false;
    data.clear();
    if (text.isBlank()) {
      alive |= meant;
      return null;
    }
    return new SseEvent(named, text);
  }
}
