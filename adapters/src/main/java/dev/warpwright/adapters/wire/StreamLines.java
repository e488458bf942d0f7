package dev.warpwright.adapters.wire;

/**
 * Cuts a stream of bytes into lines, wherever the network has cut it. Not thread-safe.
 *
 * <p>A line that came whole is read where it stands in the chunk; what comes in pieces is copied
 * together. Line ends and colons are ASCII, which no other character of UTF-8 contains, so lines
 * are looked for in bytes.
 */
final class StreamLines {
  private static final byte[] NOTHING = {};
  private static final String A_LINE = "a line";

  private final boolean crEndsLine;
  private final StreamText pieces = new StreamText(A_LINE); // of the line that is incomplete
  private byte[] chunk = NOTHING;
  private int next;
  private int limit;
  private boolean afterCr; // a LF that comes next belongs to the line end before it
  private boolean first = true;

  private byte[] line = NOTHING;
  private int start;
  private int end;

  /**
   * Begins a stream.
   *
   * @param crEndsLine whether a lone CR ends a line, beside LF and CR LF
   */
  StreamLines(boolean crEndsLine) {
    this.crEndsLine = crEndsLine;
  }

  /** Takes the next chunk, once {@link #next()} has said false for the one before. */
  void feed(byte[] bytes, int length) {
    chunk = bytes;
    next = 0;
    limit = length;
  }

  /** Goes on to the next line; false if it is not complete yet. */
  boolean next() {
    if (afterCr && next < limit) {
      next += chunk[next] == '\n' ? 1 : 0;
      afterCr = false;
    }
    int stop = next;
    while (stop < limit && !endsLine(chunk[stop])) {
      stop++;
    }
    if (stop == limit) {
      pieces.append(chunk, next, limit);
      next = limit;
      return false;
    }
    if (pieces.length() == 0) {
      StreamText.requireBounded(chunk, next, stop, A_LINE);
      show(chunk, next, stop);
    } else {
      pieces.append(chunk, next, stop);
      showPieces();
    }
    afterCr = chunk[stop] == '\r';
    next = stop + 1;
    return true;
  }

  /** Goes to the line at the end of the stream that no line end follows; false if there is none. */
  boolean last() {
    if (pieces.length() == 0) {
      return false;
    }
    showPieces();
    return true;
  }

  private void showPieces() {
    show(pieces.bytes(), 0, pieces.length());
    pieces.clear(); // the bytes stay until a piece of another line comes
  }

  private boolean endsLine(byte b) {
    return b == '\n' || (b == '\r' && crEndsLine);
  }

  private void show(byte[] bytes, int from, int to) {
    line = bytes;
    start = from;
    end = to;
    if (first && to - from >= 3 && isMark(bytes, from)) {
      start += 3;
    }
    first = false;
  }

  private static boolean isMark(byte[] bytes, int at) {
    return bytes[at] == (byte) 0xEF && bytes[at + 1] == (byte) 0xBB && bytes[at + 2] == (byte) 0xBF;
  }

  /** The array in which the line stands; valid until the next line is looked for. */
  byte[] line() {
    return line;
  }

  /** The index of its first byte. */
  int start() {
    return start;
  }

  /** The index behind its last byte. */
  int end() {
    return end;
  }
}
