package dev.warpwright.adapters.http;

import java.io.Closeable;
import java.io.IOException;
import java.net.http.HttpResponse;
import org.jspecify.annotations.Nullable;

/**
 * Hands out the body and remembers it.
 *
 * <p>An interrupt may hit {@code send} in the moment in which the headers arrive: then the caller
 * gets no response, and the JDK nobody who closes it. So the body is noted where it is made, and
 * {@link #release()} closes it, or whichever comes after it.
 */
final class HeldBody implements HttpResponse.BodyHandler<ReceivedBody> {
  private final Form form;
  private @Nullable Closeable body; // guarded by this
  private boolean released; // guarded by this

  /** How a body is received, which its head decides. */
  @FunctionalInterface
  interface Form {
    /** Receives it whole; null if it is to be read while it comes. */
    @Nullable WholeBody of(HttpResponse.ResponseInfo head);
  }

  HeldBody(Form form) {
    this.form = form;
  }

  @Override
  public HttpResponse.BodySubscriber<ReceivedBody> apply(HttpResponse.ResponseInfo head) {
    WholeBody whole = form.of(head);
    if (whole != null) {
      hold(whole);
      return whole;
    }
    HttpResponse.BodySubscriber<ReceivedBody> subscriber = ReceivedBody.subscriber();
    subscriber.getBody().thenAccept(this::hold); // complete from the start
    return subscriber;
  }

  void release() {
    Closeable opened;
    synchronized (this) {
      released = true;
      opened = body;
      body = null;
    }
    close(opened);
  }

  private void hold(Closeable opened) {
    close(swap(opened));
  }

  /** Whether headers have come. */
  synchronized boolean isOpened() {
    return body != null;
  }

  /** Holds the body and returns the one to close: the one before it, or itself if too late. */
  private synchronized @Nullable Closeable swap(Closeable opened) {
    if (released) {
      return opened;
    }
    Closeable before = body;
    body = opened;
    return before;
  }

  private static void close(@Nullable Closeable opened) {
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
