package dev.warpwright.adapters.http;

import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpResponse;
import org.jspecify.annotations.Nullable;

/**
 * Hands out the body as a stream and remembers it.
 *
 * <p>An interrupt may hit {@code send} in the moment in which the headers arrive: then the caller
 * gets no response, and the JDK nobody who closes it. So the stream is noted where it is made, and
 * {@link #release()} closes it, or whichever comes after it.
 */
final class HeldBody implements HttpResponse.BodyHandler<ReceivedBody> {
  private @Nullable InputStream stream; // guarded by this
  private boolean released; // guarded by this

  @Override
  public HttpResponse.BodySubscriber<ReceivedBody> apply(HttpResponse.ResponseInfo response) {
    HttpResponse.BodySubscriber<ReceivedBody> subscriber = ReceivedBody.subscriber();
    subscriber.getBody().thenAccept(opened -> close(swap(opened))); // complete from the start
    return subscriber;
  }

  void release() {
    InputStream opened;
    synchronized (this) {
      released = true;
      opened = stream;
      stream = null;
    }
    close(opened);
  }

  /** Holds the stream and returns the one to close: the one before it, or itself if too late. */
  private synchronized @Nullable InputStream swap(InputStream opened) {
    if (released) {
      return opened;
    }
    InputStream before = stream;
    stream = opened;
    return before;
  }

  private static void close(@Nullable InputStream opened) {
    if (opened == null) {
      return;
    }
    try {
      opened.close();
    } catch (IOException _) {
      // It is given up, not awaited.
    }
  }
}
