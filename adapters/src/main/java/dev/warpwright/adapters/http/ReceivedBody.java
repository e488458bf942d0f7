package dev.warpwright.adapters.http;

import java.io.ByteArrayInputStream;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpResponse.BodySubscriber;
import java.net.http.HttpResponse.BodySubscribers;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A response's body as a stream that gives all that has come before it fails. The JDK's own stream
 * forgets what is at hand when the connection breaks, be it the end of an answer that a server sent
 * whole. Read by one thread; closed by any.
 */
final class ReceivedBody extends FilterInputStream {
  private final CountDownLatch ended = new CountDownLatch(1);
  private final byte @Nullable [] whole; // if it was received so
  private volatile @Nullable Throwable failure; // set before the end of the bytes is

  private ReceivedBody(InputStream bytes) {
    super(bytes);
    this.whole = null;
  }

  /** A body that has come to its end, which may be too early. */
  ReceivedBody(byte[] bytes, @Nullable Throwable failure) {
    super(new ByteArrayInputStream(bytes));
    this.whole = bytes;
    this.failure = failure;
    ended.countDown();
  }

  /** Receives one body, which can be read from the start. */
  static BodySubscriber<ReceivedBody> subscriber() {
    return new Receiver(BodySubscribers.ofInputStream());
  }

  @Override
  public int read() throws IOException {
    int read = in.read();
    requireWholeAt(read);
    return read;
  }

  @Override
  public int read(byte[] bytes, int offset, int length) throws IOException {
    int read = in.read(bytes, offset, length);
    requireWholeAt(read);
    return read;
  }

  /** All of it if it is within the bound, else one byte more than that. Nobody else reads it. */
  byte[] whole(int maxBytes) throws IOException {
    if (whole == null) {
      return readNBytes(maxBytes + 1);
    }
    requireWholeAt(-1);
    return whole;
  }

  private void requireWholeAt(int read) throws IOException {
    Throwable broken = failure;
    if (read < 0 && broken != null) {
      throw new IOException("The body breaks off.", broken);
    }
  }

  /** Waits until the end has come, read or not; false if it has not within the time. */
  boolean awaitEnd(long millis) throws InterruptedException {
    return ended.await(millis, TimeUnit.MILLISECONDS);
  }

  /** Passes a failure on as the end, so that it stands behind the bytes. */
  private static final class Receiver implements BodySubscriber<ReceivedBody> {
    private final BodySubscriber<InputStream> bytes;
    private final ReceivedBody body;

    Receiver(BodySubscriber<InputStream> bytes) {
      this.bytes = bytes;
      this.body = new ReceivedBody(bytes.getBody().toCompletableFuture().join()); // is complete
    }

    @Override
    public CompletionStage<ReceivedBody> getBody() {
      return CompletableFuture.completedStage(body);
    }

    @Override
    public void onSubscribe(Flow.Subscription subscription) {
      bytes.onSubscribe(subscription);
    }

    @Override
    public void onNext(List<ByteBuffer> buffers) {
      bytes.onNext(buffers);
    }

    @Override
    public void onError(Throwable thrown) {
      body.failure = thrown;
      onComplete();
    }

    @Override
    public void onComplete() {
      bytes.onComplete();
      body.ended.countDown();
    }
  }
}
