package dev.warpwright.adapters.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A body is had whole when it has ended, however it was announced and however it ends. */
class WholeBodyTest {
  private static final int BOUND = 10;

  private final Source source = new Source();

  /** Where bytes come from, as far as it can be told to stop. */
  private static final class Source implements Flow.Subscription {
    private long requested;
    private int cancels;

    @Override
    public void request(long n) {
      requested += n;
    }

    @Override
    public void cancel() {
      cancels++;
    }
  }

  private static void receives(WholeBody body, String... buffers) {
    body.onNext(
        Arrays.stream(buffers)
            .map(text -> ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII)))
            .toList());
  }

  private static CompletableFuture<ReceivedBody> ended(WholeBody body) {
    return body.getBody().toCompletableFuture();
  }

  private static String text(WholeBody body) throws IOException {
    return new String(ended(body).join().whole(BOUND), StandardCharsets.US_ASCII);
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 3, 9, 10, 1_000_000, -1, Long.MAX_VALUE, Long.MIN_VALUE})
  @Tag("R378")
  void it_is_what_came_whatever_was_announced(long announced) throws Exception {
    WholeBody body = new WholeBody(announced, BOUND);
    body.onSubscribe(source);
    receives(body, "One", "", " two");
    receives(body, " ", "3");
    assertFalse(ended(body).isDone());
    body.onComplete();

    assertEquals("One two 3", text(body));
    assertEquals(9, ended(body).join().whole(BOUND).length);
    assertEquals(Long.MAX_VALUE, source.requested);
    assertEquals(0, source.cancels);
  }

  @Test
  @Tag("R378")
  void an_announced_length_takes_no_room_that_is_not_filled() throws Exception {
    WholeBody body = new WholeBody(Long.MAX_VALUE, Integer.MAX_VALUE - 1);
    body.onSubscribe(source);
    receives(body, "a");
    body.onComplete();

    assertEquals(1, ended(body).join().whole(Integer.MAX_VALUE - 1).length);
  }

  @Test
  @Tag("R378")
  void a_body_at_the_bound_is_whole_and_one_beyond_it_is_given_up() throws Exception {
    WholeBody atBound = new WholeBody(0, BOUND);
    atBound.onSubscribe(source);
    receives(atBound, "0123456789");
    assertFalse(ended(atBound).isDone());
    atBound.onComplete();
    assertEquals(BOUND, ended(atBound).join().whole(BOUND).length);
    assertEquals(0, source.cancels);

    WholeBody beyond = new WholeBody(0, BOUND);
    beyond.onSubscribe(source);
    receives(beyond, "01234", "56789abc", "def");
    assertEquals(BOUND + 1, ended(beyond).join().whole(BOUND).length);
    assertEquals(0, source.cancels, "a cancel in here may come back as the body's failure");
    receives(beyond, "what was on its way");
    beyond.close();
    assertEquals(1, source.cancels);
    beyond.onError(new IOException("cancelled"));
    assertEquals(BOUND + 1, ended(beyond).join().whole(BOUND).length);
  }

  @Test
  @Tag("R91")
  void a_body_that_breaks_off_fails_behind_what_came() throws Exception {
    IOException reset = new IOException("reset");
    WholeBody body = new WholeBody(9, BOUND);
    body.onSubscribe(source);
    receives(body, "One");
    body.onError(reset);

    ReceivedBody broken = ended(body).join();
    assertSame(reset, assertThrows(IOException.class, () -> broken.whole(BOUND)).getCause());
    assertEquals(3, broken.read(new byte[8]));
    assertSame(reset, assertThrows(IOException.class, broken::read).getCause());
  }

  @Test
  @Tag("Y22")
  void a_body_that_is_closed_is_cancelled_whether_it_has_begun_or_begins_later() {
    WholeBody begun = new WholeBody(0, BOUND);
    begun.onSubscribe(source);
    begun.close();
    assertEquals(1, source.cancels);

    Source late = new Source();
    WholeBody closed = new WholeBody(0, BOUND);
    closed.close();
    closed.onSubscribe(late);
    assertEquals(1, late.cancels);
    assertEquals(0, late.requested);
  }

  @Test
  void a_body_that_has_ended_is_not_cancelled() {
    WholeBody body = new WholeBody(0, BOUND);
    body.onSubscribe(source);
    body.onComplete();
    body.close();

    assertEquals(0, source.cancels);
    assertTrue(ended(body).isDone());
  }
}
