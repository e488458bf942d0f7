package dev.warpwright;

import static dev.warpwright.FakeModel.answer;
import static dev.warpwright.Spine.A;
import static dev.warpwright.Spine.request;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.warpwright.model.FinishReason;
import dev.warpwright.model.ModelEvent;
import dev.warpwright.model.StreamBrokenException;
import dev.warpwright.task.Alarm;
import dev.warpwright.task.TimeSource;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Iterator;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.SynchronousQueue;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The model's thread and the operation's, each held up where the other one overtakes it: when it
 * asks for the time.
 */
@Timeout(120)
final class StreamRaceTest {
  private static final Duration MINUTE = Duration.ofMinutes(1);
  private static final String ATTEMPT = "attempt 1 a/model-a";

  @RegisterExtension final Spine spine = new Spine();

  /** Manual time, in which something happens after a thread has looked at the clock. */
  private static final class OvertakingTime implements TimeSource {
    private final TimeSource time;
    private volatile Runnable meanwhile = () -> {};

    OvertakingTime(TimeSource time) {
      this.time = time;
    }

    @Override
    public long nanoTime() {
      long now = time.nanoTime();
      meanwhile.run();
      return now;
    }

    @Override
    public Instant now() {
      return time.now();
    }

    @Override
    public Alarm alarm(long atNanoTime, Runnable action) {
      return time.alarm(atNanoTime, action);
    }

    @Override
    public RandomGenerator random() {
      return time.random();
    }
  }

  private final OvertakingTime time = new OvertakingTime(spine.time);

  private static void uninterrupted(Wait wait) {
    try {
      wait.forIt();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private interface Wait {
    void forIt() throws InterruptedException;
  }

  @Test
  @Tag("R115")
  void a_model_that_has_just_got_room_is_not_taken_for_silent() throws Exception {
    CountDownLatch hasRoom = new CountDownLatch(1);
    CountDownLatch goOn = spine.gate();
    spine.a.tells(
        (call, events) -> {
          events.tell(new ModelEvent.Text("one "));
          events.tell(new ModelEvent.Text("two "));
          return answer("one two ", FinishReason.Kind.STOP);
        });
    Gateway gateway =
        spine.build(spine.builder().time(time).streamIdleTimeout(MINUTE).streamBufferEvents(2));
    try (TextStream stream = gateway.streamText(request(A))) {
      Iterator<String> pieces = stream.text().iterator();
      spine.a.awaitNoRoom();
      spine.time.advance(MINUTE);
      Spine.until("nothing but the deadline", () -> spine.time.pendingAlarms() == 1);
      time.meanwhile =
          () -> {
            if (isModel()) {
              time.meanwhile = () -> {};
              hasRoom.countDown();
              uninterrupted(goOn::await);
            }
          };

      assertEquals("one ", pieces.next());
      Spine.await("the room", hasRoom);
      for (int i = 0; i < 3; i++) {
        spine.time.advance(MINUTE);
        Spine.until("nothing but the deadline", () -> spine.time.pendingAlarms() == 1);
      }
      goOn.countDown();

      assertEquals("one two ", stream.collect().text());
    }
  }

  private static boolean isModel() {
    return Thread.currentThread().getName().endsWith(ATTEMPT);
  }

  @Test
  @Tag("R111")
  void a_sign_of_life_that_overtakes_the_look_at_the_clock_is_no_fault() {
    SynchronousQueue<Boolean> looks = new SynchronousQueue<>();
    SynchronousQueue<Boolean> overtaken = new SynchronousQueue<>();
    spine.a.tells(
        (call, events) -> {
          time.meanwhile =
              () -> {
                if (Thread.currentThread().getName().equals("streamText")) {
                  uninterrupted(() -> looks.put(true));
                  uninterrupted(overtaken::take);
                }
              };
          events.tell(new ModelEvent.Text("x"));
          for (int i = 0; i < 3; i++) {
            looks.take();
            if (i == 2) {
              time.meanwhile = () -> {};
            }
            spine.time.advance(Duration.ofNanos(1));
            events.tell(ModelEvent.ALIVE);
            overtaken.put(true);
          }
          return answer("x", FinishReason.Kind.STOP);
        });
    Gateway gateway =
        spine.build(spine.builder().time(time).streamIdleTimeout(ChronoUnit.FOREVER.getDuration()));
    try (TextStream stream = gateway.streamText(request(A))) {
      assertEquals("x", stream.collect().text());
    }
  }

  @Test
  @Tag("R142")
  void behind_a_piece_that_was_not_shown_nothing_is_shown_and_the_partial_text_is_what_was()
      throws Exception {
    CountDownLatch swallowed = new CountDownLatch(1);
    CountDownLatch goOn = spine.gate();
    spine.a.tells(
        (call, events) -> {
          events.tell(new ModelEvent.Text("a"));
          Thread.currentThread().interrupt(); // not the engine's
          try {
            events.tell(new ModelEvent.Text("b"));
          } catch (InterruptedException e) {
            swallowed.countDown();
          }
          goOn.await();
          try {
            events.tell(new ModelEvent.Text("c"));
          } catch (InterruptedException e) {
            // swallowed as well
          }
          return answer("abc", FinishReason.Kind.STOP);
        });
    try (TextStream stream =
        spine.build(spine.builder().streamBufferEvents(2)).streamText(request(A))) {
      Iterator<String> pieces = stream.text().iterator();
      Spine.await("the interrupt", swallowed);
      assertEquals("a", pieces.next());
      goOn.countDown();

      assertThrows(StreamBrokenException.class, pieces::hasNext);
      StreamBrokenException broken = assertThrows(StreamBrokenException.class, stream::collect);
      assertEquals("a", broken.partialText());
    }
  }

  @Test
  void another_text_of_the_same_length_is_another_text() {
    spine.a.tells(
        (call, events) -> {
          events.tell(new ModelEvent.Text("one"));
          return answer("two", FinishReason.Kind.STOP);
        });
    try (TextStream stream = spine.gateway().streamText(request(A))) {
      assertThrows(StreamBrokenException.class, stream::collect);
    }
  }

  @Test
  @Tag("FR-U01")
  void half_a_surrogate_pair_that_a_message_does_not_keep_is_no_other_text() {
    spine.a.tells(
        (call, events) -> {
          events.tell(new ModelEvent.Text("a\uD83D"));
          events.tell(new ModelEvent.Text("\uDE00b\uD83D"));
          return answer("a\uD83D\uDE00b\uD83D", FinishReason.Kind.STOP);
        });
    try (TextStream stream = spine.gateway().streamText(request(A))) {
      assertEquals("a\uD83D\uDE00b\uFFFD", stream.collect().text());
    }
  }
}
