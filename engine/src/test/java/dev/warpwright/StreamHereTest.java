package dev.warpwright;

import static dev.warpwright.FakeModel.answer;
import static dev.warpwright.Spine.A;
import static dev.warpwright.Spine.B;
import static dev.warpwright.Spine.request;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.StreamEvent.TextDelta;
import dev.warpwright.control.RetryPolicy;
import dev.warpwright.model.Attempt.ReasonCode;
import dev.warpwright.model.AttemptsExhaustedException;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.ModelEvent;
import dev.warpwright.model.OperationCancelledException;
import dev.warpwright.model.StreamBrokenException;
import dev.warpwright.task.Feed;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Streams of a model that is sure to end at an interrupt, and so needs no thread of its own. */
@Timeout(120)
final class StreamHereTest {
  private static final Duration MINUTE = Duration.ofMinutes(1);

  @RegisterExtension final Spine spine = new Spine();

  @BeforeEach
  void declare() {
    spine.a.honouringInterrupts(true);
    spine.b.honouringInterrupts(true);
  }

  private static ModelEvent.Text text(String piece) {
    return new ModelEvent.Text(piece);
  }

  private Gateway gateway(Gateway.Builder builder) {
    return spine.build(builder.retry(new RetryPolicy(0, Duration.ZERO, 0)));
  }

  @Test
  void all_attempts_of_a_stream_run_on_the_thread_of_the_operation() {
    AtomicReference<Thread> first = new AtomicReference<>();
    AtomicReference<Thread> second = new AtomicReference<>();
    spine.a.tells(
        (call, events) -> {
          first.set(Thread.currentThread());
          throw FakeModel.status(503);
        });
    spine.b.tells(
        (call, events) -> {
          second.set(Thread.currentThread());
          events.tell(text("Be"));
          events.tell(text("cause."));
          return answer("Because.", FinishReason.Kind.STOP);
        });
    try (TextStream stream = gateway(spine.builder()).streamText(request(A, B))) {
      assertEquals("Because.", stream.collect().text());
    }
    assertSame(first.get(), second.get());
  }

  @Test
  @Tag("R109")
  @Tag("R112")
  void signs_of_life_do_not_hold_off_the_attempt_timeout() throws Exception {
    CountDownLatch told = spine.gate();
    spine.a.tells(
        (call, events) -> {
          events.tell(ModelEvent.ALIVE);
          told.countDown();
          return FakeModel.blocks(call);
        });
    spine.b.says("Because.");
    Gateway gateway = gateway(spine.builder().attemptTimeout(MINUTE).streamIdleTimeout(MINUTE));
    try (TextStream stream = gateway.streamText(request(A, B))) {
      Spine.await("the sign of life", told);
      spine.awaitWaitOf(MINUTE);
      spine.time.advance(MINUTE);

      GenerateResult result = stream.collect();
      assertEquals("Because.", result.text());
      assertEquals(
          List.of(ReasonCode.PROVIDER_ERROR, ReasonCode.PROVIDER_SUCCESS),
          result.attempts().stream().map(attempt -> attempt.reasonCode()).toList());
    }
  }

  @Test
  @Tag("R109")
  @Tag("R110")
  void an_attempt_timeout_beyond_the_limit_of_silence_stands_until_output_comes() throws Exception {
    spine.a.tells((call, events) -> FakeModel.blocks(call));
    spine.b.says("Because.");
    Gateway gateway =
        gateway(spine.builder().attemptTimeout(MINUTE.multipliedBy(3)).streamIdleTimeout(MINUTE));
    try (TextStream stream = gateway.streamText(request(A, B))) {
      spine.awaitWaitOf(MINUTE); // looked at, and let go on
      spine.time.advance(MINUTE);
      spine.awaitWaitOf(MINUTE);
      spine.time.advance(MINUTE);
      spine.awaitWaitOf(MINUTE);
      assertEquals(0, spine.b.count());
      spine.time.advance(MINUTE);

      assertEquals("Because.", stream.collect().text());
    }
  }

  @Test
  @Tag("R111")
  @Tag("R113")
  void after_output_silence_breaks_the_stream_to_the_moment_and_signs_of_life_prevent_that()
      throws Exception {
    CountDownLatch first = spine.gate();
    CountDownLatch ping = spine.gate();
    CountDownLatch pinged = spine.gate();
    spine.a.tells(
        (call, events) -> {
          events.tell(text("Hel"));
          first.countDown();
          ping.await();
          events.tell(ModelEvent.ALIVE);
          pinged.countDown();
          return FakeModel.blocks(call);
        });
    Gateway gateway =
        gateway(spine.builder().streamIdleTimeout(MINUTE).attemptTimeout(MINUTE.dividedBy(2)));
    try (TextStream stream = gateway.streamText(request(A, B))) {
      Spine.await("the first piece", first);
      spine.awaitWaitOf(MINUTE.dividedBy(2)); // the attempt's limit, which is none any more
      spine.advance(30_000);
      spine.awaitWaitOf(MINUTE.dividedBy(2));
      spine.advance(29_000);
      ping.countDown();
      Spine.await("the sign of life", pinged);
      spine.advance(1_000);
      spine.awaitWaitOf(Duration.ofSeconds(59));
      spine.advance(58_999);
      spine.awaitWaitOf(Duration.ofMillis(1));
      spine.advance(1);

      Iterator<StreamEvent> events = stream.iterator();
      assertEquals(new TextDelta("Hel"), events.next());
      StreamBrokenException broken = assertThrows(StreamBrokenException.class, stream::collect);
      assertEquals(FailureKind.STREAM_IDLE, broken.kind());
      assertEquals("Hel", broken.partialText());
      assertEquals(0, spine.b.count());
    }
  }

  @Test
  @Tag("R155")
  @Tag("R115")
  void the_time_of_a_slow_reader_is_not_the_provider_s_silence() throws Exception {
    int many = 100;
    CountDownLatch full = spine.gate();
    AtomicInteger told = new AtomicInteger();
    spine.a.tells(
        (call, events) -> {
          for (int i = 0; i < many; i++) {
            if (told.incrementAndGet() == 5) {
              full.countDown();
            }
            events.tell(text("x"));
          }
          return answer("x".repeat(many), FinishReason.Kind.STOP);
        });
    Gateway gateway =
        gateway(
            spine
                .builder()
                .timeout(MINUTE.multipliedBy(1_000))
                .streamBufferEvents(8)
                .streamIdleTimeout(MINUTE)
                .attemptTimeout(MINUTE));
    try (TextStream stream = gateway.streamText(request(A))) {
      Spine.await("the buffer is full", full);
      for (int i = 0; i < 10; i++) {
        spine.awaitWaitOf(MINUTE);
        spine.time.advance(MINUTE);
      }
      assertTrue(told.get() < many);
      assertEquals("x".repeat(many), stream.collect().text());
    }
  }

  @Test
  @Tag("R151")
  void a_close_ends_the_model_at_once_also_while_the_reader_is_waited_for() throws Exception {
    CountDownLatch full = spine.gate();
    spine.a.tells(
        (call, events) -> {
          for (int i = 0; ; i++) {
            if (i == 4) {
              full.countDown();
            }
            events.tell(text("x"));
          }
        });
    Gateway gateway = gateway(spine.builder().streamBufferEvents(8));
    TextStream stream = gateway.streamText(request(A));
    Spine.await("the buffer is full", full);
    stream.close();
    assertThrows(OperationCancelledException.class, stream::collect);
    assertEquals(List.of(), gateway.diagnostics().abandonedTasks());
  }

  @Test
  void a_refused_telling_is_no_interrupt_of_the_operation() {
    spine.a.tells(
        (call, events) -> {
          try {
            events.tell(text("one"));
          } catch (IllegalStateException swallowed) {
            // a model that goes on
          }
          events.tell(text("two"));
          return answer("onetwo", FinishReason.Kind.STOP);
        });
    Feed<String, String> feed = new Feed<>(64, 1_000, String::length);
    GenerateRequest asked = request(A);
    AtomicInteger made = new AtomicInteger();
    gateway(spine.builder()).stream(
        "mine",
        asked,
        feed,
        event -> {
          made.incrementAndGet();
          throw new IllegalStateException("no element");
        },
        operation -> {
          try (operation) {
            RuntimeException failed =
                assertThrows(RuntimeException.class, () -> operation.step(1, asked.messages()));
            assertInstanceOf(AttemptsExhaustedException.class, failed);
            assertFalse(Thread.currentThread().isInterrupted());
            assertTrue(operation.end(1).isEmpty());
          }
          return "done";
        });
    assertEquals("done", feed.result());
    assertEquals(1, made.get());
  }
}
