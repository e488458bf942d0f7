package dev.warpwright;

import dev.warpwright.StreamEvent.Finish;
import dev.warpwright.StreamEvent.TextDelta;
import dev.warpwright.json.StrictJson;
import dev.warpwright.model.Json;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * Makes values of a JSON text that is not complete yet: what has come of the first object or array,
 * with what is open closed. Best effort: a text that turns out to be no JSON has no more values.
 *
 * <p>Each character is looked at once. A string that is a value counts as far as it has come; a key
 * without its value, a number or a literal that may go on, and what stands behind a comma do not
 * count yet. Belongs to one thread.
 */
final class PartialJson {

  /** What may come next. */
  private enum Expect {
    /** The text before the value: words, a fence. */
    BEGIN,
    VALUE,
    /** A value or the end of an array. */
    VALUE_OR_END,
    KEY,
    /** A key or the end of an object. */
    KEY_OR_END,
    COLON,
    COMMA_OR_END,
    IN_KEY,
    IN_STRING,
    /** In a number or a literal. */
    IN_TOKEN,
    /** Behind the value, or in a text that is none. */
    NOTHING
  }

  private final StringBuilder text = new StringBuilder(); // from the value's beginning
  private final Deque<Character> open = new ArrayDeque<>(); // the brackets that close what is open
  private Expect expect = Expect.BEGIN;
  private int good; // so much of the text is a value once what is open is closed
  private int escape; // characters of the text since a backslash in a string, 0 outside an escape
  private boolean surrogate; // the string ends with the first half of a pair
  private @Nullable Json last; // the value that was given last

  /** The value after an event; null if it has not changed. */
  @Nullable Json after(StreamEvent event) {
    return switch (event) {
      case TextDelta(String piece) -> after(piece);
      case Finish _ -> {
        reset(); // the next step's text is another value
        yield null;
      }
      default -> null;
    };
  }

  private void reset() {
    text.setLength(0);
    open.clear();
    expect = Expect.BEGIN;
    good = 0;
    escape = 0;
    surrogate = false;
    last = null;
  }

  private @Nullable Json after(String piece) {
    int before = good;
    for (int i = 0; i < piece.length() && expect != Expect.NOTHING; i++) {
      char c = piece.charAt(i);
      if (expect == Expect.BEGIN && c != '{' && c != '[') {
        continue;
      }
      text.append(c);
      take(c);
    }
    return good == before ? null : changed(snapshot());
  }

  /** The value, unless it is the last one: a quote or bracket that closes changes nothing. */
  private @Nullable Json changed(@Nullable Json value) {
    if (value == null || value.equals(last)) {
      return null;
    }
    last = value;
    return value;
  }

  private @Nullable Json snapshot() {
    StringBuilder closed = new StringBuilder(good + open.size() + 1).append(text, 0, good);
    if (expect == Expect.IN_STRING) {
      closed.append('"');
    }
    open.forEach(closed::append);
    try {
      return Json.parse(closed.toString());
    } catch (RuntimeException e) {
      expect = Expect.NOTHING;
      return null;
    }
  }

  private void take(char c) {
    switch (expect) {
      case IN_KEY -> {
        if (endsString(c)) {
          expect = Expect.COLON;
        }
      }
      case IN_STRING -> {
        if (endsString(c)) {
          complete();
        } else if (escape == 0 && !surrogate) {
          good = text.length();
        }
      }
      case IN_TOKEN -> {
        if (!isOfToken(c)) {
          good = text.length() - 1;
          expect = Expect.COMMA_OR_END;
          structure(c);
        }
      }
      case BEGIN, VALUE, VALUE_OR_END, KEY, KEY_OR_END, COLON, COMMA_OR_END -> structure(c);
      case NOTHING -> {}
    }
  }

  private void structure(char c) {
    if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
      return;
    }
    boolean value = expect == Expect.VALUE || expect == Expect.VALUE_OR_END;
    switch (c) {
      case '{' -> open(value, '}', Expect.KEY_OR_END);
      case '[' -> open(value, ']', Expect.VALUE_OR_END);
      case '}', ']' -> close(c);
      case '"' -> {
        if (value) {
          expect = Expect.IN_STRING;
          good = text.length();
        } else if (expect == Expect.KEY || expect == Expect.KEY_OR_END) {
          expect = Expect.IN_KEY;
        } else {
          expect = Expect.NOTHING;
        }
      }
      case ':' -> expect = expect == Expect.COLON ? Expect.VALUE : Expect.NOTHING;
      case ',' -> {
        boolean due = expect == Expect.COMMA_OR_END;
        expect = !due ? Expect.NOTHING : inObject() ? Expect.KEY : Expect.VALUE;
      }
      default -> expect = value && isOfToken(c) ? Expect.IN_TOKEN : Expect.NOTHING;
    }
  }

  private void open(boolean value, char bracket, Expect next) {
    if ((!value && expect != Expect.BEGIN) || open.size() == StrictJson.MAX_DEPTH) {
      expect = Expect.NOTHING;
      return;
    }
    open.push(bracket);
    good = text.length();
    expect = next;
  }

  private void close(char bracket) {
    boolean due =
        expect == Expect.COMMA_OR_END
            || expect == (bracket == '}' ? Expect.KEY_OR_END : Expect.VALUE_OR_END);
    if (!due || open.isEmpty() || open.peek() != bracket) {
      expect = Expect.NOTHING;
      return;
    }
    open.pop();
    complete();
  }

  private void complete() {
    good = text.length();
    expect = open.isEmpty() ? Expect.NOTHING : Expect.COMMA_OR_END;
  }

  private boolean inObject() {
    return !open.isEmpty() && open.peek() == '}';
  }

  private static boolean isOfToken(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || "+-.E".indexOf(c) >= 0;
  }

  /** Takes a character of a string; whether it is the quote at its end. */
  private boolean endsString(char c) {
    if (escape > 0) {
      inEscape(c);
      return false;
    }
    if (c == '\\') {
      escape = 1;
      return false;
    }
    surrogate = Character.isHighSurrogate(c);
    return c == '"';
  }

  private void inEscape(char c) {
    if (escape == 1 && c != 'u') {
      escape = 0;
      surrogate = false;
    } else if (escape == 5) {
      escape = 0;
      surrogate = isHighSurrogateEscape();
    } else {
      escape++;
    }
  }

  /** Whether the four hexadecimal digits at the end are D800 to DBFF. */
  private boolean isHighSurrogateEscape() {
    int digits = text.length() - 4;
    return Character.toUpperCase(text.charAt(digits)) == 'D'
        && "89ABab".indexOf(text.charAt(digits + 1)) >= 0;
  }
}
