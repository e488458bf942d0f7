package dev.warpwright.adapters.wire;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Cuts bytes into server-sent events, wherever the network has cut them. Pure; not thread-safe.
 *
 * <p>An event is there as soon as its blank line is, also if that ends with a CR that a LF may
 * follow. An event and a line have at most 1 048 576 characters each. {@code id}, {@code retry} and
 * unknown fields are passed over. Source of the format: the WHATWG's HTML standard, server-sent
 * events.
 */
final class SseReader implements Framing {
  private static final byte[] DATA = {'d', 'a', 't', 'a'};
  private static final byte[] EVENT = {'e', 'v', 'e', 'n', 't'};
  private static final byte[] LF = {'\n'};

  private final StreamLines lines = new StreamLines(true);
  private final StreamText data = new StreamText("an event");
  private boolean hasData;
  private String name = "";
  private boolean alive;

  @Override
  public void feed(byte[] bytes, int length) {
    lines.feed(bytes, length);
  }

  @Override
  public @Nullable Frame next() {
    while (lines.next()) {
      Frame event = line();
      if (event != null) {
        return event;
      }
    }
    return null;
  }

  @Override
  public @Nullable Frame last() {
    if (lines.last()) {
      line();
    }
    return dispatch();
  }

  /** A comment or an event without data shows that the server lives. */
  @Override
  public boolean takeAlive() {
    boolean was = alive;
    alive = false;
    return was;
  }

  /** No field of an event begins with a brace. */
  @Override
  public boolean isDocument(byte first) {
    return first == '{' || first == '['; // Google reports some errors as a list of one
  }

  private @Nullable Frame line() {
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

  private @Nullable Frame dispatch() {
    String named = name.isEmpty() ? Frame.UNNAMED : name;
    String text = data.toString();
    boolean meant = hasData || !name.isEmpty();
    name = "";
    hasData = false;
    data.clear();
    if (text.isBlank()) {
      alive |= meant;
      return null;
    }
    return new Frame(named, text);
  }
}
