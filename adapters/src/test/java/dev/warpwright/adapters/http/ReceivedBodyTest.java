package dev.warpwright.adapters.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodySubscriber;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Flow;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What has come is read before the end, whatever the end is. */
@Timeout(30)
class ReceivedBodyTest {
  private final BodySubscriber<ReceivedBody> subscriber = ReceivedBody.subscriber();
  private final ReceivedBody body = subscriber.getBody().toCompletableFuture().join();

  ReceivedBodyTest() {
    subscriber.onSubscribe(
        new Flow.Subscription() {
          @Override
          public void request(long n) {}

          @Override
          public void cancel() {}
        });
  }

  private void receives(String... buffers) {
    subscriber.onNext(
        Arrays.stream(buffers)
            .map(text -> ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII)))
            .toList());
  }

  private String read(int length) throws IOException {
    return new String(body.readNBytes(length), StandardCharsets.US_ASCII);
  }

  @Test
  @Tag("R142")
  void all_that_came_is_read_before_the_failure() throws Exception {
    IOException reset = new IOException("reset");
    receives("One ", "two ", "three.");
    subscriber.onError(reset);

    assertEquals("One two three.", read(14));
    assertSame(reset, assertThrows(IOException.class, body::read).getCause());
    assertSame(reset, assertThrows(IOException.class, () -> body.read(new byte[8])).getCause());
  }

  @Test
  void a_failure_is_never_an_end() throws Exception {
    receives("One ");
    assertEquals("One ", read(4));
    subscriber.onError(new IOException("reset"));

    assertThrows(IOException.class, () -> body.readNBytes(1));
  }

  @Test
  void an_end_is_known_before_it_is_read() throws Exception {
    receives("One");
    assertFalse(body.awaitEnd(0));
    subscriber.onComplete();

    assertTrue(body.awaitEnd(0));
    assertEquals("One", read(4));
    assertEquals(-1, body.read());
  }

  @Test
  void a_closed_body_gives_nothing() throws Exception {
    body.close();

    assertThrows(IOException.class, body::read);
    assertEquals(0, body.available());
  }

  @Test
  @Tag("Y21")
  void a_body_that_is_closed_by_another_thread_ends_the_read_and_the_connection() throws Exception {
    RawServer.Close close = new RawServer.Close();
    try (RawServer server =
            new RawServer(
                connection -> {
                  connection.write("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab");
                  connection.awaitClose(close);
                });
        HttpClient client = HttpClient.newHttpClient()) {
      HttpRequest request =
          HttpRequest.newBuilder(server.uri()).POST(HttpRequest.BodyPublishers.noBody()).build();
      ReceivedBody open = client.send(request, new HeldBody(head -> null)).body();
      assertEquals("ab", new String(open.readNBytes(2), StandardCharsets.UTF_8));
      FutureTask<Integer> blocked = new FutureTask<>(open::read);
      Thread reader = Thread.ofVirtual().start(blocked);
      while (reader.getState() != Thread.State.WAITING) {
        Thread.onSpinWait();
      }
      open.close();
      assertThrows(ExecutionException.class, () -> blocked.get(60, TimeUnit.SECONDS));
      close.await();
    }
  }
}
