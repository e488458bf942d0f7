package dev.warpwright.adapters.wire;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Text of a stream that has come so far, as the bytes it is made of, with a bound in characters.
 *
 * <p>Bytes are put together and decoded only as a whole, so no character is ever cut. Characters
 * are counted as UTF-16 counts them, as every bound of the engine does.
 */
final class StreamText {
  /** The longest event and the longest line, in characters. */
  static final int MAX_CHARACTERS = 1_048_576;

  /** Bytes that are no UTF-8 may count as no character; three bytes are at least one otherwise. */
  private static final int MAX_BYTES = 3 * MAX_CHARACTERS;

  private final String what;
  private byte[] bytes = new byte[512];
  private int length;
  private int characters;

  /**
   * An empty text.
   *
   * @param what its name in the failure
   */
  StreamText(String what) {
    this.what = what;
  }

  /** The bytes themselves; valid until the next change. */
  byte[] bytes() {
    return bytes;
  }

  int length() {
    return length;
  }

  void append(byte[] from, int start, int end) {
    int added = end - start;
    characters += characters(from, start, end);
    if (characters > MAX_CHARACTERS || (long) length + added > MAX_BYTES) {
      throw tooLong(what);
    }
    if (length + added > bytes.length) {
      bytes = Arrays.copyOf(bytes, Math.max(length + added, 2 * bytes.length));
    }
    System.arraycopy(from, start, bytes, length, added);
    length += added;
  }

  void clear() {
    length = 0;
    characters = 0;
  }

  @Override
  public String toString() {
    return new String(bytes, 0, length, StandardCharsets.UTF_8);
  }

  /** Refuses what crosses the bound. */
  static void requireBounded(byte[] bytes, int start, int end, String what) {
    if (end - start > MAX_CHARACTERS
        && (end - start > MAX_BYTES || characters(bytes, start, end) > MAX_CHARACTERS)) {
      throw tooLong(what);
    }
  }

  private static int characters(byte[] bytes, int start, int end) {
    int characters = 0;
    for (int i = start; i < end; i++) {
      int b = bytes[i] & 0xFF;
      characters += b >= 0xF0 ? 2 : (b & 0xC0) == 0x80 ? 0 : 1; // pairs of surrogates; followers
    }
    return characters;
  }

  private static FramingException tooLong(String what) {
    return new FramingException(
        "holds " + what + " longer than the bound of " + MAX_CHARACTERS + " characters.");
  }
}
