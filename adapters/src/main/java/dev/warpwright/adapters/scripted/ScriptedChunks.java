package dev.warpwright.adapters.scripted;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * How a scripted answer is told piece by piece: how large the pieces are, and when they come.
 *
 * <p>Texts and thoughts are cut into chunks of so many words or characters. The arguments of a call
 * are cut by the same number of characters, or every 16 where words are counted. A character is
 * never cut in two. Immutable; every {@code with} returns a changed copy.
 *
 * {@snippet :
 * ScriptedAnswer answer =
 *     ScriptedAnswer.text("It is noon.")
 *         .withChunks(ScriptedChunks.words(1).withPause(Duration.ofMillis(20)));
 * }
 *
 * <p>The pauses of a {@link ScriptedModel} pass on its {@code TimeSource}, those of a {@link
 * ScriptedServer} in real time. An answer that is not streamed has none.
 */
public final class ScriptedChunks {
  /** A word at a time, without pauses. */
  static final ScriptedChunks DEFAULT = words(1);

  /** The most words or characters in a chunk. */
  static final int MAX_SIZE = 1_000_000;

  /** The most signs of life in front of a chunk. */
  static final int MAX_HEARTBEATS = 1_000_000;

  private static final int ARGUMENTS = 16;

  private final boolean byWords;
  private final int size;
  private final Duration firstPause;
  private final Duration pause;
  private final int heartbeats;

  private ScriptedChunks(
      boolean byWords, int size, Duration firstPause, Duration pause, int heartbeats) {
    this.byWords = byWords;
    this.size = size;
    this.firstPause = firstPause;
    this.pause = pause;
    this.heartbeats = heartbeats;
  }

  /**
   * Chunks of so many words, each with the white space behind it.
   *
   * @param count how many words, 1 to 1 000 000
   * @return the chunks, without pauses
   */
  public static ScriptedChunks words(int count) {
    return new ScriptedChunks(
        true, checked("words", count, 1, MAX_SIZE), Duration.ZERO, Duration.ZERO, 0);
  }

  /**
   * Chunks of so many characters (code points).
   *
   * @param count how many characters, 1 to 1 000 000
   * @return the chunks, without pauses
   */
  public static ScriptedChunks characters(int count) {
    return new ScriptedChunks(
        false, checked("characters", count, 1, MAX_SIZE), Duration.ZERO, Duration.ZERO, 0);
  }

  /**
   * Sets how long the first chunk lets wait, after the answer's latency; nothing by default.
   *
   * @param duration zero or more
   * @return a changed copy
   */
  public ScriptedChunks withFirstPause(Duration duration) {
    return new ScriptedChunks(byWords, size, checked(duration), pause, heartbeats);
  }

  /**
   * Sets how long each further chunk lets wait; nothing by default.
   *
   * @param duration zero or more
   * @return a changed copy
   */
  public ScriptedChunks withPause(Duration duration) {
    return new ScriptedChunks(byWords, size, firstPause, checked(duration), heartbeats);
  }

  /**
   * Sets how many signs of life come in front of each chunk, each behind a pause of its own: a
   * {@code ping} with Anthropic's protocol, a comment with OpenAI's, a blank line with Ollama's, an
   * event that nobody knows with Bedrock's. None by default.
   *
   * @param count 0 to 1 000 000
   * @return a changed copy
   */
  public ScriptedChunks withHeartbeats(int count) {
    return new ScriptedChunks(
        byWords, size, firstPause, pause, checked("heartbeats", count, 0, MAX_HEARTBEATS));
  }

  private static int checked(String name, int value, int min, int max) {
    if (value < min || value > max) {
      throw new IllegalArgumentException(
          name + " must be " + min + " to " + max + ", but is " + value + ".");
    }
    return value;
  }

  private static Duration checked(Duration pause) {
    if (pause.isNegative()) {
      throw new IllegalArgumentException("A pause must be zero or more, but is " + pause + ".");
    }
    return pause;
  }

  int heartbeats() {
    return heartbeats;
  }

  /** How long the n-th chunk lets wait, n from 0; each of its signs of life as long. */
  Duration pauseBefore(long chunk) {
    return chunk == 0 ? firstPause : pause;
  }

  /** Cuts a text or a thought; an empty one has no pieces. */
  List<String> cut(String text) {
    return byWords ? cutWords(text) : cutCharacters(text, size);
  }

  /** Cuts the arguments of a call. */
  List<String> cutArguments(String arguments) {
    return cutCharacters(arguments, byWords ? ARGUMENTS : size);
  }

  private List<String> cutWords(String text) {
    List<String> pieces = new ArrayList<>();
    int start = 0;
    int words = 0;
    int first = 0;
    while (first < text.length() && Character.isWhitespace(text.charAt(first))) {
      first++; // what stands in front of the first word goes with it
    }
    for (int i = first + 1; i < text.length(); i++) {
      boolean begins =
          Character.isWhitespace(text.charAt(i - 1)) && !Character.isWhitespace(text.charAt(i));
      if (begins && ++words == size) {
        pieces.add(text.substring(start, i));
        start = i;
        words = 0;
      }
    }
    if (start < text.length()) {
      pieces.add(text.substring(start));
    }
    return List.copyOf(pieces);
  }

  private static List<String> cutCharacters(String text, int size) {
    List<String> pieces = new ArrayList<>();
    int start = 0;
    while (start < text.length()) {
      int end = start;
      for (int taken = 0; taken < size && end < text.length(); taken++) {
        end += Character.charCount(text.codePointAt(end));
      }
      pieces.add(text.substring(start, end));
      start = end;
    }
    return List.copyOf(pieces);
  }

  /** Shows how it cuts. */
  @Override
  public String toString() {
    return "ScriptedChunks["
        + size
        + (byWords ? " words" : " characters")
        + ", pauses "
        + firstPause
        + " and "
        + pause
        + ", "
        + heartbeats
        + " heartbeats]";
  }
}
