package dev.warpwright;

import static dev.warpwright.FakeModel.answer;
import static dev.warpwright.FakeModel.status;
import static dev.warpwright.Spine.A;
import static dev.warpwright.Spine.B;
import static dev.warpwright.Spine.ask;
import static dev.warpwright.Spine.request;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.control.RetryPolicy;
import dev.warpwright.model.DeadlineExceededException;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.LanguageModel;
import dev.warpwright.model.ModelEvent;
import dev.warpwright.model.OperationCancelledException;
import dev.warpwright.model.Part;
import dev.warpwright.model.ProviderAdapter;
import dev.warpwright.model.Usage;
import dev.warpwright.model.WarpwrightException;
import dev.warpwright.task.Cancellation;
import dev.warpwright.task.Feed;
import dev.warpwright.task.TaskInfo;
import dev.warpwright.tool.EffectClass;
import dev.warpwright.tool.Tool;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.slf4j.MDC;

/** How a stream begins, runs ahead of its reader, is left, and ends. */
@Timeout(120)
final class StreamLifeTest {
  private static final Duration MINUTE = Duration.ofMinutes(1);
  private static final ScopedValue<String> TENANT = ScopedValue.newInstance();

  @RegisterExtension final Spine spine = new Spine();

  private final AtomicInteger told = new AtomicInteger();

  /** A model that tells so many pieces as fast as it can, and counts those that were taken. */
  private void tellsMany(int many) {
    spine.a.tells(
        (call, events) -> {
          for (int i = 0; i < many; i++) {
            events.tell(new ModelEvent.Text("x"));
            told.incrementAndGet();
          }
          return answer("x".repeat(many), FinishReason.Kind.STOP);
        });
  }

  private static void awaitEnd(Gateway gateway) {
    Spine.until("the end", () -> gateway.diagnostics().liveTasks().isEmpty());
  }

  @Test
  @Tag("R14")
  @Tag("R152")
  void a_stream_that_nobody_reads_or_closes_runs_to_its_end() {
    spine.a.says("one two three");
    Gateway gateway = spine.gateway();

    TextStream left = gateway.streamText(request(A));
    awaitEnd(gateway);

    assertEquals(1, spine.a.count());
    assertEquals(0, spine.time.pendingAlarms());
    assertEquals("one two three", left.collect().text());
  }

  @Test
  @Tag("R152")
  void a_stream_that_is_left_in_the_middle_runs_to_its_deadline_if_the_buffer_is_full()
      throws Exception {
    tellsMany(1_000);
    Gateway gateway = spine.build(spine.builder().streamBufferEvents(16).timeout(MINUTE));
    TextStream left = gateway.streamText(request(A));
    for (String piece : left.text()) {
      assertEquals("x", piece);
      break;
    }
    spine.a.awaitNoRoom();
    assertFalse(gateway.diagnostics().liveTasks().isEmpty());
    spine.awaitWaitOf(MINUTE);
    spine.time.advance(MINUTE);

    awaitEnd(gateway);
    assertThrows(DeadlineExceededException.class, left::collect);
  }

  @Test
  @Tag("R14")
  @Tag("R155")
  void the_model_is_ahead_by_what_the_buffer_holds_and_no_more() {
    tellsMany(1_000);
    Gateway gateway = spine.build(spine.builder().streamBufferEvents(16));
    try (TextStream stream = gateway.streamText(request(A))) {
      spine.a.awaitNoRoom();
      assertTrue(told.get() >= 1 && told.get() <= 16, () -> "ahead by " + told);

      Iterator<String> pieces = stream.text().iterator();
      for (int read = 1; read < 100; read++) {
        pieces.next();
        spine.a.awaitNoRoom();
        int taken = told.get();
        assertTrue(taken <= read + 16, "ahead by " + (taken - read));
      }
      int rest = 0;
      while (pieces.hasNext()) {
        pieces.next();
        rest++;
      }
      assertEquals(1_000 - 99, rest);
      assertEquals(1_000, stream.collect().text().length());
    }
  }

  @Test
  @Tag("R155")
  void the_buffer_is_bounded_in_bytes_too() {
    String long1 = "y".repeat(10_000);
    spine.a.tells(
        (call, events) -> {
          for (int i = 0; i < 100; i++) {
            events.tell(new ModelEvent.Text(long1));
            told.incrementAndGet();
          }
          return answer(long1.repeat(100), FinishReason.Kind.STOP);
        });
    Gateway gateway = spine.build(spine.builder().streamBufferBytes(100_000));
    try (TextStream stream = gateway.streamText(request(A))) {
      spine.a.awaitNoRoom();
      assertTrue(told.get() >= 1 && told.get() <= 5, () -> "pieces of 20 kB: " + told);
      assertEquals(1_000_000, stream.collect().text().length());
    }
  }

  @Test
  @Tag("R19")
  @Tag("R151")
  void a_gateway_that_is_closed_waits_for_its_streams_and_refuses_others() throws Exception {
    CountDownLatch end = spine.gate();
    AtomicInteger closes = new AtomicInteger();
    spine.a.tells(
        (call, events) -> {
          events.tell(new ModelEvent.Text("x"));
          end.await();
          return answer("x", FinishReason.Kind.STOP);
        });
    Gateway gateway =
        spine.build(
            spine
                .builder()
                .adapter(
                    "a",
                    new ProviderAdapter() {
                      @Override
                      public LanguageModel model(String id) {
                        return spine.a;
                      }

                      @Override
                      public void close() {
                        closes.incrementAndGet();
                      }
                    }));
    TextStream stream = gateway.streamText(request(A));
    assertEquals("x", stream.text().iterator().next());
    Caller<Boolean> closing =
        Caller.start(
            () -> {
              gateway.close(MINUTE);
              return closes.get() == 1;
            });
    closing.awaitWaitIn(Lifecycle.class, "awaitEnd");
    assertThrows(InvalidRequestException.class, () -> gateway.streamText(request(A)));
    assertEquals(0, closes.get());

    end.countDown();

    assertTrue(closing.get());
    assertEquals("x", stream.collect().text());
  }

  @Test
  @Tag("R129")
  void a_stream_that_was_collected_or_closed_is_gone() {
    Gateway gateway = spine.gateway();
    for (int round = 0; round < 500; round++) {
      spine.a.says("x");
      TextStream stream = gateway.streamText(request(A));
      if (round % 2 == 0) {
        stream.collect();
      } else {
        stream.close();
      }
      assertEquals(0, gateway.tasks().liveCount(), "in round " + round);
    }
  }

  @Test
  @Tag("R18")
  void a_cancelled_handle_refuses_a_stream_before_anything_begins() {
    Cancellation handle = new Cancellation();
    handle.cancel("never mind");
    Gateway gateway = spine.gateway();

    assertThrows(
        OperationCancelledException.class,
        () -> gateway.streamText(ask(A).cancellation(handle).build()));

    assertEquals(0, spine.a.count());
    gateway.close(); // nothing is under way
  }

  @Test
  @Tag("R129")
  @Tag("R151")
  void after_its_end_nothing_is_left_and_a_close_or_cancel_changes_nothing() {
    spine.a.says("one").says("two");
    Cancellation handle = new Cancellation();
    Gateway gateway = spine.gateway();
    TextStream stream = gateway.streamText(ask(A).cancellation(handle).build());
    GenerateResult result = stream.collect();

    handle.cancel("too late");
    stream.close();
    stream.close();

    assertSame(result, stream.collect());
    assertEquals(0, spine.time.pendingAlarms());
    awaitEnd(gateway);
    assertEquals("two", gateway.generate(request(A)).text());
  }

  @Test
  @Tag("R151")
  void a_close_by_another_thread_ends_the_wait_of_the_reader_and_many_may_close() throws Exception {
    spine.a.hangs();
    Gateway gateway = spine.gateway();
    TextStream stream = gateway.streamText(request(A));
    Caller<GenerateResult> reader = Caller.start(stream::collect);
    spine.a.awaitBusy();
    List<Caller<Boolean>> closers = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      closers.add(
          Caller.start(
              () -> {
                stream.close();
                return true;
              }));
    }
    for (Caller<Boolean> closer : closers) {
      assertTrue(closer.get());
    }
    reader.failure(OperationCancelledException.class);
  }

  @Test
  @Tag("R151")
  void a_close_at_once_after_the_beginning_makes_an_end_without_a_success_of_nothing() {
    Gateway gateway = spine.gateway();
    for (int i = 0; i < 200; i++) {
      spine.a.says("x");
      TextStream stream = gateway.streamText(request(A));
      stream.close();
      try {
        assertEquals("x", stream.collect().text()); // it was quicker
      } catch (OperationCancelledException cancelled) {
        assertTrue(cancelled.getMessage().contains("closed"), cancelled.getMessage());
      }
    }
  }

  @Test
  @Tag("R121")
  @Tag("R114")
  void what_an_abandoned_model_tells_later_is_refused_and_seen_by_nobody() throws Exception {
    CountDownLatch shown = new CountDownLatch(1);
    CountDownLatch gate = spine.gate();
    CountDownLatch refused = new CountDownLatch(1);
    spine.a.tells(
        (call, events) -> {
          shown.countDown();
          Spine.awaitStubbornly(gate);
          try {
            events.tell(new ModelEvent.Text("late"));
          } catch (InterruptedException e) {
            refused.countDown();
            throw e;
          }
          return answer("late", FinishReason.Kind.STOP);
        });
    spine.b.says("Because.");
    Gateway gateway =
        spine.build(
            spine.builder().attemptTimeout(MINUTE).retry(new RetryPolicy(0, Duration.ZERO, 0)));
    try (TextStream stream = gateway.streamText(request(A, B))) {
      Spine.await("the call", shown);
      spine.awaitWaitOf(MINUTE);
      spine.time.advance(MINUTE);
      spine.awaitWaitOf(Spine.GRACE);
      spine.time.advance(Spine.GRACE);

      assertEquals("Because.", String.join("", stream.text()));
      assertEquals(
          List.of("attempt 1 a/model-a"),
          gateway.diagnostics().abandonedTasks().stream().map(TaskInfo::name).toList());
      gate.countDown();
      Spine.await("the refusal", refused);
      assertEquals("Because.", stream.collect().text());
    }
  }

  @Test
  @Tag("R123")
  @Tag("R125")
  void the_deadline_covers_tools_and_waits_between_attempts_of_a_stream() throws Exception {
    CountDownLatch inTool = new CountDownLatch(1);
    Tool slow =
        Tools.builder(
                "echo",
                EffectClass.IDEMPOTENT,
                (input, context) -> {
                  inTool.countDown();
                  new CountDownLatch(1).await();
                  return "unreachable";
                })
            .build();
    spine.a.asksFor(Tools.call("1"));
    spine.b.fails(status(503));
    Gateway gateway =
        spine.build(
            spine.builder().timeout(MINUTE).retry(new RetryPolicy(2, Duration.ofSeconds(50), 0)));
    try (TextStream stream = gateway.streamText(ask(A).tools(slow).maxSteps(2).build())) {
      Spine.await("the tool", inTool);
      spine.awaitWaitOf(MINUTE);
      spine.time.advance(MINUTE);
      assertThrows(DeadlineExceededException.class, stream::collect);
    }
    spine.b.fails(status(503));
    try (TextStream stream = gateway.streamText(request(B))) {
      spine.awaitWaitOf(Duration.ofSeconds(50));
      spine.advance(50_000); // the next backoff does not fit
      assertThrows(DeadlineExceededException.class, stream::collect);
    }
  }

  @Test
  @Tag("R17")
  @Tag("R116")
  void an_interrupt_of_the_reader_ends_tools_and_backoff_too() throws Exception {
    CountDownLatch inTool = new CountDownLatch(1);
    CountDownLatch interrupted = new CountDownLatch(1);
    Tool slow =
        Tools.builder(
                "echo",
                EffectClass.IDEMPOTENT,
                (input, context) -> {
                  inTool.countDown();
                  try {
                    new CountDownLatch(1).await();
                  } finally {
                    interrupted.countDown();
                  }
                  return "unreachable";
                })
            .build();
    spine.a.asksFor(Tools.call("1"));
    spine.b.fails(status(503));
    Gateway gateway =
        spine.build(spine.builder().retry(new RetryPolicy(2, Duration.ofSeconds(50), 0)));
    TextStream withTool = gateway.streamText(ask(A).tools(slow).maxSteps(2).build());
    Caller<GenerateResult> first = Caller.start(withTool::collect);
    Spine.await("the tool", inTool);
    first.interrupt();
    first.failure(OperationCancelledException.class);
    Spine.await("its interrupt", interrupted);

    TextStream backingOff = gateway.streamText(request(B));
    Caller<GenerateResult> second = Caller.start(backingOff::collect);
    spine.awaitWaitOf(Duration.ofSeconds(50));
    second.interrupt();
    second.failure(OperationCancelledException.class);
    assertTrue(second.leftInterrupted());
    assertEquals(1, spine.b.count());
  }

  @Test
  @Tag("R131")
  void a_stream_within_a_tool_ends_at_the_deadline_of_the_operation_around_it() throws Exception {
    AtomicReference<TextStream> inner = new AtomicReference<>();
    CountDownLatch opened = new CountDownLatch(1);
    spine.a.asksFor(Tools.call("1"));
    spine.b.tells((call, events) -> FakeModel.blocks(call));
    AtomicReference<Gateway> gateway = new AtomicReference<>();
    Tool streams =
        Tools.builder(
                "echo",
                EffectClass.IDEMPOTENT,
                (input, context) -> {
                  inner.set(gateway.get().streamText(request(B)));
                  Spine.until("the inner call", () -> spine.b.count() == 1);
                  opened.countDown();
                  new CountDownLatch(1).await(); // it does not even read
                  return "unreachable";
                })
            .build();
    gateway.set(spine.gateway());
    Caller<GenerateResult> caller =
        Caller.start(
            () ->
                gateway.get().generate(ask(A).tools(streams).maxSteps(2).timeout(MINUTE).build()));
    Spine.await("the inner stream", opened);
    spine.time.awaitAlarms(2);
    spine.time.advance(MINUTE);

    caller.failure(DeadlineExceededException.class);
    assertThrows(DeadlineExceededException.class, () -> inner.get().collect());
  }

  @Test
  @Tag("R132")
  void a_stream_sees_the_scoped_values_and_the_mdc_of_whoever_began_it() {
    Queue<String> seen = new ConcurrentLinkedQueue<>();
    spine.a.tells(
        (call, events) -> {
          seen.add(TENANT.get() + " " + MDC.get("trace"));
          events.tell(new ModelEvent.Text("x"));
          return FakeModel.response(
              List.of(new Part.Text("x"), Tools.call("1")),
              FinishReason.Kind.TOOL_CALLS,
              Usage.reported(1, 1));
        });
    Tool looks =
        Tools.of(
            "echo",
            input -> {
              seen.add(TENANT.get() + " " + MDC.get("trace"));
              return "looked";
            });
    Gateway gateway = spine.build(spine.builder().carry(TENANT));
    Map<String, String> before = MDC.getCopyOfContextMap();
    MDC.put("trace", "t-1");
    TextStream stream;
    try {
      stream =
          ScopedValue.where(TENANT, "tenant-1")
              .call(() -> gateway.streamText(ask(A).tools(looks).build()));
    } finally {
      MDC.clear();
      if (before != null) {
        MDC.setContextMap(before);
      }
    }
    try (stream) {
      stream.collect();
    }
    assertEquals(List.of("tenant-1 t-1", "tenant-1 t-1"), List.copyOf(seen));
  }

  @Test
  void a_program_may_write_its_own_elements_between_those_of_an_operation() {
    spine.a.says("one two");
    Gateway gateway = spine.gateway();
    Feed<String, String> feed = new Feed<>(64, 1_000, String::length);
    GenerateRequest asked = request(A);
    Feed.Writer<String> own = feed.writer(Function.identity());
    gateway.stream(
        "mine",
        asked,
        feed,
        event -> event.getClass().getSimpleName(),
        operation -> {
          try (operation) {
            assertTrue(operation.id().startsWith("mine-"));
            operation.step(1, asked.messages());
            operation.show(own, "mine");
          }
          return "done";
        });
    List<String> seen = new ArrayList<>();
    feed.iterator(Optional::of, end -> List.of()).forEachRemaining(seen::add);
    assertEquals(List.of("TextDelta", "TextDelta", "mine"), seen);
  }

  @Test
  void an_element_that_cannot_be_made_ends_the_attempt_and_none_follows() {
    spine.a.tells(
        (call, events) -> {
          try {
            events.tell(new ModelEvent.Text("one"));
          } catch (IllegalStateException swallowed) {
            // a model that goes on
          }
          events.tell(new ModelEvent.Text("two"));
          return answer("onetwo", FinishReason.Kind.STOP);
        });
    Gateway gateway = spine.gateway();
    Feed<String, String> feed = new Feed<>(64, 1_000, String::length);
    GenerateRequest asked = request(A);
    AtomicInteger made = new AtomicInteger();
    gateway.stream(
        "mine",
        asked,
        feed,
        event -> {
          if (made.getAndIncrement() == 0) {
            throw new IllegalStateException("no element");
          }
          return "made";
        },
        operation -> {
          try (operation) {
            assertThrows(WarpwrightException.class, () -> operation.step(1, asked.messages()));
          }
          return "done";
        });
    assertEquals("done", feed.result());
    assertEquals(1, made.get());
  }
}
