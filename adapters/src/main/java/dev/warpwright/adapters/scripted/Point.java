package dev.warpwright.adapters.scripted;

/**
 * A place in the body of a response, for faults that happen there. A body that is not streamed
 * counts as one event with one chunk.
 */
sealed interface Point {
  /** Behind so many bytes. */
  record Bytes(long count) implements Point {}

  /** Behind so many events, signs of life not counted. */
  record Events(long count) implements Point {}

  /** Behind so many chunks of the answer; behind none, in front of the first. */
  record Chunks(long count) implements Point {}

  /** In front of the first event of this kind. */
  record Before(Mark mark) implements Point {}

  /** In the middle. */
  record Half() implements Point {}

  /**
   * Whether a stream has come there. It never comes to a number of bytes by its events.
   *
   * @param events how many events were told
   * @param chunks how many of them were chunks
   * @param next the kind of the next event
   */
  default boolean reached(long events, long chunks, Mark next) {
    return switch (this) {
      case Events(long count) -> events >= count;
      case Chunks(long count) -> count == 0 ? next.compareTo(Mark.CHUNK) >= 0 : chunks >= count;
      case Before(Mark mark) -> next.compareTo(mark) >= 0;
      case Bytes _, Half _ -> false;
    };
  }

  /** How many chunks of so many have been told at this place; bytes have no place among them. */
  default long among(long chunks) {
    return switch (this) {
      case Events(long count) -> Math.min(count, chunks);
      case Chunks(long count) -> Math.min(count, chunks);
      case Before _ -> chunks;
      case Half _ -> chunks / 2;
      case Bytes _ -> 0;
    };
  }

  /**
   * How many bytes of a whole body have been sent at this place.
   *
   * @param length the length of the body
   */
  default int in(int length) {
    return switch (this) {
      case Bytes(long count) -> (int) Math.min(count, length);
      case Events(long count) -> count == 0 ? 0 : length;
      case Chunks(long count) -> count == 0 ? 0 : length;
      case Before _ -> length;
      case Half _ -> length / 2;
    };
  }
}
