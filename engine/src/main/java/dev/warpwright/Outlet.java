package dev.warpwright;

import dev.warpwright.task.Cancellation;
import dev.warpwright.task.Feed;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Where an operation shows its answers while they come.
 *
 * @param writers opens a writer; each attempt has its own
 * @param left is cancelled when the reader wants no more
 */
record Outlet(Supplier<Feed.Writer<StreamEvent>> writers, Cancellation left) {
  static <E> Outlet of(Feed<E, ?> feed, Function<? super StreamEvent, ? extends E> asElement) {
    return new Outlet(() -> feed.writer(asElement), feed.cancellation());
  }
}
