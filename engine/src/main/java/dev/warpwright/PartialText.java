package dev.warpwright;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** The text that has come of an answer. One thread adds, any may read. */
final class PartialText {
  private volatile @Nullable String[] pieces = new String[16];
  private final AtomicInteger count = new AtomicInteger(); // set after the piece is in its place
  private long length; // of the thread that adds

  void add(String piece) {
    int place = count.getPlain();
    @Nullable String[] array = pieces;
    if (place == array.length) {
      array = Arrays.copyOf(array, 2 * place);
      pieces = array;
    }
    array[place] = piece;
    length += piece.length();
    count.setRelease(place + 1);
  }

  /** How many characters; asked by the thread that adds. */
  long length() {
    return length;
  }

  /**
   * Whether it is this text; asked by the thread that adds. Where the other has U+FFFD, half a
   * surrogate pair may stand here, since a message has none.
   */
  boolean is(String whole) {
    if (length != whole.length()) {
      return false;
    }
    int at = 0;
    for (int i = 0; i < count.getPlain(); i++) {
      String piece = String.valueOf(pieces[i]);
      if (!whole.startsWith(piece, at) && !isCleaned(piece, whole, at)) {
        return false;
      }
      at += piece.length();
    }
    return true;
  }

  private static boolean isCleaned(String piece, String whole, int at) {
    for (int i = 0; i < piece.length(); i++) {
      char c = piece.charAt(i);
      char cleaned = whole.charAt(at + i);
      if (c != cleaned && !(Character.isSurrogate(c) && cleaned == '\uFFFD')) {
        return false;
      }
    }
    return true;
  }

  /** The first pieces, joined; as many as there are, if there are fewer. */
  String first(long most) {
    long complete = Math.min(most, count.getAcquire());
    @Nullable String[] array = pieces;
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < complete; i++) {
      text.append(array[i]);
    }
    return text.toString();
  }
}
