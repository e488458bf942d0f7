package dev.warpwright.adapters.http;

import java.io.Closeable;
import java.net.http.HttpResponse.BodySubscriber;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;

/**
 * Receives a body that is wanted whole, and gives it when it has ended, also if it has broken off.
 * So whoever waits is woken once, and no buffer is larger than the body. A body beyond the bound is
 * given with one byte more than that; closing this gives up the rest.
 */
final class WholeBody implements BodySubscriber<ReceivedBody>, Closeable {
  /** How much room is made for a length that was only announced. */
  private static final int MOST_IN_ADVANCE = 64 * 1024;

  private final CompletableFuture<ReceivedBody> body = new CompletableFuture<>();
  private final int maxBytes;
  private byte[] bytes; // of whoever calls the subscriber, one after the other
  private int count; // likewise
  private Flow.@Nullable Subscription subscription; // guarded by this
  private boolean closed; // guarded by this
  private volatile boolean over; // nothing comes any more

  /**
   * Receives one body.
   *
   * @param announced how long it will be by its headers; 0 if they do not say
   * @param maxBytes how long it may be
   */
  WholeBody(long announced, int maxBytes) {
    this.maxBytes = maxBytes;
    this.bytes = new byte[Math.clamp(announced, 0, Math.min(maxBytes, MOST_IN_ADVANCE))];
  }

  @Override
  public CompletionStage<ReceivedBody> getBody() {
    return body;
  }

  @Override
  public void onSubscribe(Flow.Subscription given) {
    boolean wanted;
    synchronized (this) {
      wanted = subscription == null && !closed;
      subscription = wanted ? given : subscription;
    }
    if (wanted) {
      given.request(Long.MAX_VALUE);
    } else {
      given.cancel();
    }
  }

  @Override
  public void onNext(List<ByteBuffer> buffers) {
    for (ByteBuffer buffer : buffers) {
      int length = Math.min(buffer.remaining(), maxBytes + 1 - count);
      if (length > bytes.length - count) {
        bytes = Arrays.copyOf(bytes, Math.max(count + length, Math.min(2 * count, maxBytes + 1)));
      }
      buffer.get(bytes, count, length);
      count += length;
    }
    if (count > maxBytes) {
      end(null); // whoever takes it closes this; a cancel in here could end the body as broken
    }
  }

  @Override
  public void onError(Throwable thrown) {
    over = true;
    end(thrown);
  }

  @Override
  public void onComplete() {
    over = true;
    end(null);
  }

  private void end(@Nullable Throwable failure) {
    if (!body.isDone()) {
      body.complete(
          new ReceivedBody(count == bytes.length ? bytes : Arrays.copyOf(bytes, count), failure));
    }
  }

  /** Gives up what still comes of the body. */
  @Override
  public void close() {
    Flow.Subscription given;
    synchronized (this) {
      closed = true;
      given = subscription;
    }
    if (given != null && !over) {
      given.cancel();
    }
  }
}
