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

  @Override
  public String toString() {
    int complete = count.getAcquire();
    @Nullable String[] array = pieces;
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < complete; i++) {
      text.append(array[i]);
    }
    return text.toString();
  }
}
