package dev.warpwright;

import dev.warpwright.StreamEvent.Failure;
import dev.warpwright.StreamEvent.ObjectPartial;
import dev.warpwright.StreamEvent.TextDelta;
import dev.warpwright.model.Json;
import dev.warpwright.task.Feed;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The object of an operation while it comes: {@link TextDelta}s are pieces of its JSON, and behind
 * each by which the value has changed stands an {@link ObjectPartial}.
 *
 * {@snippet :
 * try (ObjectStream<Plan> stream = gateway.streamObject(ObjectRequest.of(Plan.class, request))) {
 *   for (Json partial : stream.partials()) {
 *     show(partial);
 *   }
 *   Plan plan = stream.collect().object();
 * }
 * }
 *
 * <p>The object itself is there only at the end, complete and of its schema. Partial values are
 * made by the reader's thread, and only if it asks for them. All else is as in a {@link
 * TextStream}.
 *
 * @param <T> the type of the object
 */
public final class ObjectStream<T> implements Iterable<StreamEvent>, AutoCloseable {
  private final Feed<StreamEvent, ObjectResult<T>> feed;

  ObjectStream(Feed<StreamEvent, ObjectResult<T>> feed) {
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
    return new WithPartials(feed.iterator(Optional::of, TextStream::ending));
  }

  /**
   * The pieces of text alone, of all steps. It is the same reading: its iterator is the stream's
   * only one.
   *
   * @return the pieces
   */
  public Iterable<String> text() {
    return () -> TextStream.texts(feed);
  }

  /**
   * The object as far as it has come, each time that it has changed: a prefix of it in which all
   * that is open is closed. A member appears when its value has begun, a number or a literal when
   * it is complete. It need not match the schema. It is the same reading: its iterator is the
   * stream's only one.
   *
   * @return the values
   */
  public Iterable<Json> partials() {
    PartialJson partial = new PartialJson();
    return () ->
        feed.iterator(event -> Optional.ofNullable(partial.after(event)), end -> List.of());
  }

  /**
   * Reads what is left and gives the result, as the blocking operation would have.
   *
   * @return the result, always the same
   * @throws dev.warpwright.model.InvalidOutputException if the answer is not the object
   * @throws dev.warpwright.model.StreamBrokenException if it failed after output was shown; it has
   *     the text that came
   * @throws dev.warpwright.model.WarpwrightException if there is no answer; see its subclasses
   */
  public ObjectResult<T> collect() {
    return feed.result();
  }

  /** Cancels the operation and waits for its end, as {@link TextStream#close}. */
  @Override
  public void close() {
    feed.close();
  }

  /** The events with the partial values between them. */
  private static final class WithPartials implements Iterator<StreamEvent> {
    private final Iterator<StreamEvent> events;
    private final PartialJson partial = new PartialJson();
    private @Nullable ObjectPartial due;

    WithPartials(Iterator<StreamEvent> events) {
      this.events = events;
    }

    @Override
    public boolean hasNext() {
      return due != null || events.hasNext();
    }

    @Override
    public StreamEvent next() {
      ObjectPartial value = due;
      if (value != null) {
        due = null;
        return value;
      }
      if (!events.hasNext()) {
        throw new NoSuchElementException("the stream has ended");
      }
      StreamEvent event = events.next();
      Json after = partial.after(event);
      due = after == null ? null : new ObjectPartial(after);
      return event;
    }
  }
}
