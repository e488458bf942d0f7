package dev.warpwright;

import dev.warpwright.StreamEvent.Failure;
import dev.warpwright.StreamEvent.TextDelta;
import dev.warpwright.task.Feed;
import dev.warpwright.task.Outcome;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;

/**
 * The answer of a text operation while it comes.
 *
 * {@snippet :
 * try (TextStream stream = gateway.streamText(request)) {
 *   for (String piece : stream.text()) {
 *     System.out.print(piece);
 *   }
 *   System.out.println(stream.collect().usage());
 * }
 * }
 *
 * <p>The work begins when the stream is made, on a thread of its own, and is ahead of its reader by
 * at most what the {@linkplain Gateway.Builder#streamBufferEvents buffer} holds: then it waits, and
 * nothing is dropped. Until the first event is shown a failure is retried and falls back as in a
 * blocking operation; after that it ends the operation, and no other target's text is ever put
 * behind what was shown. A later step begins anew in that.
 *
 * <p>It is read once, by one thread at a time: by one iterator, and by {@link #collect()} at any
 * point. While a reader is slow the provider's silence is not counted, but the operation's deadline
 * runs. An interrupt of a reader that waits cancels the operation and stays set.
 *
 * <p>Close it, best with try-with-resources: a stream that is left without being closed runs on to
 * its end or to its deadline.
 */
public final class TextStream implements Iterable<StreamEvent>, AutoCloseable {
  private final Feed<StreamEvent, GenerateResult> feed;

  TextStream(Feed<StreamEvent, GenerateResult> feed) {
    this.feed = feed;
  }

  /**
   * The events. Its {@code hasNext} throws what the operation failed with, after the {@link
   * Failure}.
   *
   * @return the only iterator
   * @throws IllegalStateException if the stream has an iterator already
   */
  @Override
  public Iterator<StreamEvent> iterator() {
    return feed.iterator(Optional::of, TextStream::ending);
  }

  /**
   * The pieces of text alone, of all steps. It is the same reading: its iterator is the stream's
   * only one.
   *
   * @return the pieces
   */
  public Iterable<String> text() {
    return () -> texts(feed);
  }

  static Iterator<String> texts(Feed<StreamEvent, ?> feed) {
    return feed.iterator(
        event -> event instanceof TextDelta(String text) ? Optional.of(text) : Optional.empty(),
        end -> List.of());
  }

  static List<StreamEvent> ending(Outcome<?> end) {
    return end instanceof Outcome.Failure<?>(Throwable cause)
        ? List.of(new Failure(cause))
        : List.of();
  }

  /**
   * Reads what is left and gives the result, as the blocking operation would have.
   *
   * @return the result, always the same
   * @throws dev.warpwright.model.StreamBrokenException if it failed after output was shown; it has
   *     the text that came
   * @throws dev.warpwright.model.WarpwrightException if there is no answer; see its subclasses
   */
  public GenerateResult collect() {
    return feed.result();
  }

  /**
   * Cancels the operation if it has not ended, and waits for its end, which comes within about the
   * {@linkplain Gateway.Builder#abandonGrace grace}. What was shown can still be read; behind it
   * comes an {@link dev.warpwright.model.OperationCancelledException}. Does nothing after the end.
   * Any thread; an interrupt ends the wait and stays set.
   */
  @Override
  public void close() {
    feed.close();
  }
}
