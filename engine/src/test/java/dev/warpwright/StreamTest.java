package dev.warpwright;

import static dev.warpwright.FakeModel.answer;
import static dev.warpwright.FakeModel.failure;
import static dev.warpwright.FakeModel.status;
import static dev.warpwright.Spine.A;
import static dev.warpwright.Spine.B;
import static dev.warpwright.Spine.ask;
import static dev.warpwright.Spine.request;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.StreamEvent.Failure;
import dev.warpwright.StreamEvent.Finish;
import dev.warpwright.StreamEvent.TextDelta;
import dev.warpwright.control.RetryPolicy;
import dev.warpwright.model.Attempt;
import dev.warpwright.model.Attempt.ReasonCode;
import dev.warpwright.model.AttemptsExhaustedException;
import dev.warpwright.model.Capability;
import dev.warpwright.model.DeadlineExceededException;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.LanguageModel;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelCapabilities;
import dev.warpwright.model.ModelEvent;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.NoEligibleTargetException;
import dev.warpwright.model.OperationCancelledException;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.StreamBrokenException;
import dev.warpwright.model.Target;
import dev.warpwright.model.Usage;
import dev.warpwright.task.Cancellation;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Answers that are shown while they come. */
@Timeout(120)
final class StreamTest {
  private static final Duration MINUTE = Duration.ofMinutes(1);

  @RegisterExtension final Spine spine = new Spine();

  private static ModelEvent.Text text(String piece) {
    return new ModelEvent.Text(piece);
  }

  private static List<StreamEvent> read(TextStream stream) {
    List<StreamEvent> events = new ArrayList<>();
    stream.forEach(events::add);
    return events;
  }

  /** What a reader sees until the stream fails. */
  private static List<StreamEvent> readUntilFailure(TextStream stream) {
    List<StreamEvent> events = new ArrayList<>();
    RuntimeException thrown =
        assertThrows(RuntimeException.class, () -> stream.forEach(events::add));
    assertSame(thrown, assertInstanceOf(Failure.class, events.removeLast()).cause());
    return events;
  }

  private static List<ReasonCode> codes(List<Attempt> attempts) {
    return attempts.stream().map(Attempt::reasonCode).toList();
  }

  @Test
  @Tag("C5")
  @Tag("R137")
  @Tag("R149")
  void the_first_piece_is_the_first_that_is_seen_and_one_step_has_two_finishes() {
    spine.a.says("It scatters.");
    try (TextStream stream = spine.gateway().streamText(request(A))) {
      List<StreamEvent> events = read(stream);

      FinishReason stop = new FinishReason(FinishReason.Kind.STOP, "raw-STOP");
      Usage usage = stream.collect().usage();
      assertEquals(
          List.of(
              new TextDelta("It "),
              new TextDelta("scatters."),
              new Finish(stop, usage, false),
              new Finish(stop, usage, true)),
          events);
    }
  }

  @Test
  @Tag("R13")
  @Tag("R14")
  void collect_alone_gives_what_the_blocking_operation_gives() {
    spine.a.says("It scatters.").says("It scatters.");
    Gateway gateway = spine.gateway();

    GenerateResult blocking = gateway.generate(request(A));
    GenerateResult streamed;
    try (TextStream stream = gateway.streamText(request(A))) {
      streamed = stream.collect();
      assertSame(streamed, stream.collect());
    }

    assertEquals(blocking.text(), streamed.text());
    assertEquals(blocking.finishReason(), streamed.finishReason());
    assertEquals(blocking.usage(), streamed.usage());
    assertEquals(blocking.messages(), streamed.messages());
    assertEquals(blocking.routeDecision(), streamed.routeDecision());
    assertEquals(codes(blocking.attempts()), codes(streamed.attempts()));
    assertEquals(blocking.targetUsed(), streamed.targetUsed());
  }

  @Test
  @Tag("R13")
  @Tag("R14")
  void collect_reads_what_is_left_and_there_is_one_iterator() {
    spine.a.says("one two three");
    try (TextStream stream = spine.gateway().streamText(request(A))) {
      Iterator<String> pieces = stream.text().iterator();
      assertEquals("one ", pieces.next());

      assertEquals("one two three", stream.collect().text());
      assertFalse(pieces.hasNext());
      assertThrows(IllegalStateException.class, stream::iterator);
      assertThrows(IllegalStateException.class, () -> stream.text().iterator());
    }
  }

  @Test
  @Tag("R15")
  void a_bad_request_is_refused_by_the_call_and_a_later_failure_by_the_stream() {
    Gateway gateway = spine.gateway();
    GenerateRequest tooMany = request(A, B, Spine.C, Target.of("d", "m"));
    Gateway strict = spine.build(spine.builder().maxFallbacks(2));
    assertThrows(InvalidRequestException.class, () -> strict.streamText(tooMany));

    GenerateRequest nobody = request(Target.of("nobody", "m"));
    try (TextStream stream = gateway.streamText(nobody)) {
      assertThrows(
          NoEligibleTargetException.class, () -> stream.iterator().forEachRemaining(e -> {}));
      assertThrows(NoEligibleTargetException.class, stream::collect);
    }
  }

  @Test
  @Tag("R80")
  @Tag("R78")
  void a_model_that_cannot_stream_is_skipped() {
    spine.b.with(ModelCapabilities.of(Capability.TOOLS));
    spine.c.says("Because.");
    Gateway gateway = spine.build(spine.builder().adapter("a", id -> new Blocking(spine.a)));
    try (TextStream stream = gateway.streamText(request(A, B, Spine.C))) {
      GenerateResult result = stream.collect();

      assertEquals("Because.", result.text());
      assertEquals(
          List.of(
              ReasonCode.OPERATION_SKIP,
              ReasonCode.MODEL_CAPABILITIES,
              ReasonCode.PROVIDER_SUCCESS),
          codes(result.attempts()));
    }
  }

  /** Declares that it can stream, and cannot. */
  private record Blocking(FakeModel model) implements LanguageModel {
    @Override
    public ModelCapabilities capabilities() {
      return ModelCapabilities.TEXT_AND_TOOLS;
    }

    @Override
    public ModelResponse generate(ModelCall call) throws InterruptedException {
      return model.generate(call);
    }
  }

  @Test
  @Tag("R134")
  @Tag("R135")
  @Tag("FR-F03")
  void what_fails_before_it_is_seen_is_retried_and_falls_back_and_leaves_no_trace_in_the_text() {
    spine.a.fails(status(503)).breaks(failure(ProviderException.Kind.READ)).fails(status(400));
    spine.b.says("Because.");
    try (TextStream stream = spine.gateway().streamText(request(A, B))) {
      List<StreamEvent> events = read(stream);

      assertEquals(new TextDelta("Because."), events.getFirst());
      assertEquals(3, events.size());
      assertEquals(4, stream.collect().attempts().size());
    }
  }

  @Test
  @Tag("R136")
  @Tag("R141")
  @Tag("R142")
  @Tag("C20")
  @Tag("FR-F01")
  void what_fails_after_it_was_seen_ends_the_operation_with_the_text_so_far() {
    Usage partial = Usage.reported(7, 2);
    spine.a.tells(
        (call, events) -> {
          events.tell(text("Hello "));
          events.tell(new ModelEvent.Counters(partial));
          events.tell(text("wor"));
          throw failure(ProviderException.Kind.READ);
        });
    try (TextStream stream = spine.gateway().streamText(request(A, B))) {
      assertEquals(
          List.of(new TextDelta("Hello "), new TextDelta("wor")), readUntilFailure(stream));

      StreamBrokenException broken = assertThrows(StreamBrokenException.class, stream::collect);
      assertEquals(FailureKind.STREAM_BROKEN, broken.kind());
      assertEquals("Hello wor", broken.partialText());
      assertEquals(partial, broken.usage());
      assertInstanceOf(ProviderException.class, broken.getCause());
      Attempt only = broken.trace().attempts().getFirst();
      assertEquals(1, broken.trace().attempts().size());
      assertEquals(ReasonCode.PROVIDER_ERROR, only.reasonCode());
      assertEquals(Optional.of(partial), only.usage());
      assertEquals(0, spine.b.count());
    }
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
    Gateway gateway =
        spine.build(
            spine.builder().retry(new RetryPolicy(0, Duration.ZERO, 0)).attemptTimeout(MINUTE));
    try (TextStream stream = gateway.streamText(request(A, B))) {
      Spine.await("the sign of life", told);
      spine.awaitWaitOf(MINUTE);
      spine.time.advance(MINUTE);

      GenerateResult result = stream.collect();
      assertEquals("Because.", result.text());
      assertEquals(
          List.of(ReasonCode.PROVIDER_ERROR, ReasonCode.PROVIDER_SUCCESS),
          codes(result.attempts()));
    }
  }

  @Test
  @Tag("R111")
  @Tag("R113")
  @Tag("FR-OB1")
  void after_output_silence_breaks_the_stream_and_signs_of_life_prevent_that() throws Exception {
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
        spine.build(
            spine.builder().streamIdleTimeout("a", MINUTE).attemptTimeout(MINUTE.dividedBy(2)));
    try (TextStream stream = gateway.streamText(request(A, B))) {
      Spine.await("the first piece", first);
      spine.awaitWaitOf(MINUTE);
      spine.advance(59_000);
      ping.countDown();
      Spine.await("the sign of life", pinged);
      spine.advance(1_000);
      spine.awaitWaitOf(Duration.ofSeconds(59));
      spine.advance(59_000);

      assertEquals(List.of(new TextDelta("Hel")), readUntilFailure(stream));
      StreamBrokenException broken = assertThrows(StreamBrokenException.class, stream::collect);
      assertEquals(FailureKind.STREAM_IDLE, broken.kind());
      assertEquals("Hel", broken.partialText());
      assertEquals(List.of(ReasonCode.PROVIDER_ERROR), codes(broken.trace().attempts()));
      assertEquals(0, spine.b.count());
    }
  }

  @Test
  @Tag("R114")
  @Tag("R121")
  void a_silent_stream_is_ended_though_its_adapter_ignores_that() throws Exception {
    CountDownLatch first = spine.gate();
    CountDownLatch gate = spine.gate();
    spine.a.tells(
        (call, events) -> {
          events.tell(text("Hel"));
          first.countDown();
          Spine.awaitStubbornly(gate);
          events.tell(text("lo"));
          return answer("Hello", FinishReason.Kind.STOP);
        });
    Gateway gateway = spine.build(spine.builder().streamIdleTimeout(MINUTE));
    try (TextStream stream = gateway.streamText(request(A))) {
      Spine.await("the first piece", first);
      spine.awaitWaitOf(MINUTE);
      spine.time.advance(MINUTE);
      spine.awaitWaitOf(Spine.GRACE);
      spine.time.advance(Spine.GRACE);

      assertThrows(StreamBrokenException.class, stream::collect);
      assertEquals(1, gateway.diagnostics().abandonedTasks().size());
    }
  }

  @Test
  @Tag("R155")
  @Tag("R115")
  void a_slow_reader_is_waited_for_and_its_time_is_not_the_provider_s_silence() throws Exception {
    int many = 1_000;
    spine.a.tells(
        (call, events) -> {
          for (int i = 0; i < many; i++) {
            events.tell(text("x"));
          }
          return answer("x".repeat(many), FinishReason.Kind.STOP);
        });
    Gateway gateway = spine.build(spine.builder().streamIdleTimeout(MINUTE).streamBufferEvents(16));
    try (TextStream stream = gateway.streamText(request(A))) {
      Iterator<String> pieces = stream.text().iterator();
      spine.a.awaitNoRoom();
      for (int i = 0; i < 5; i++) {
        spine.time.advance(MINUTE); // the model waits for the reader
        Spine.until("nothing but the deadline", () -> spine.time.pendingAlarms() == 1);
      }
      int read = 0;
      while (pieces.hasNext()) {
        pieces.next();
        read++;
      }
      assertEquals(many, read);
      assertEquals("x".repeat(many), stream.collect().text());
    }
  }

  @Test
  @Tag("R115")
  @Tag("R125")
  void the_deadline_runs_while_the_reader_is_slow() throws Exception {
    spine.a.tells(
        (call, events) -> {
          while (true) {
            events.tell(text("x"));
          }
        });
    Gateway gateway = spine.build(spine.builder().timeout(MINUTE).streamBufferEvents(16));
    try (TextStream stream = gateway.streamText(request(A))) {
      spine.a.awaitNoRoom();
      spine.time.advance(MINUTE);
      Spine.until("the end", () -> gateway.tasks().liveCount() == 0);

      List<StreamEvent> seen = readUntilFailure(stream);
      assertTrue(seen.size() <= 16, () -> seen.size() + " events");
      DeadlineExceededException late =
          assertThrows(DeadlineExceededException.class, stream::collect);
      assertEquals(List.of(ReasonCode.DEADLINE_EXCEEDED), codes(late.trace().attempts()));
    }
  }

  @Test
  @Tag("R151")
  void closing_cancels_and_collect_says_so() throws Exception {
    spine.a.tells(
        (call, events) -> {
          events.tell(text("Hel"));
          return FakeModel.blocks(call);
        });
    Gateway gateway = spine.gateway();
    TextStream stream = gateway.streamText(request(A));
    assertEquals("Hel", stream.text().iterator().next());

    stream.close();

    OperationCancelledException cancelled =
        assertThrows(OperationCancelledException.class, stream::collect);
    assertEquals(List.of(ReasonCode.REQUEST_ABORTED), codes(cancelled.trace().attempts()));
    stream.close();
  }

  @Test
  @Tag("R17")
  @Tag("R116")
  void an_interrupt_of_the_reader_cancels_and_stays_set() throws Exception {
    spine.a.hangs();
    Gateway gateway = spine.gateway();
    TextStream stream = gateway.streamText(request(A));
    Caller<GenerateResult> reader = Caller.start(stream::collect);
    spine.a.awaitBusy();

    reader.interrupt();

    reader.failure(OperationCancelledException.class);
    assertTrue(reader.leftInterrupted());
    spine.a.awaitInterrupted();
  }

  @Test
  @Tag("R116")
  @Tag("R117")
  void the_handle_cancels_a_stream_whose_reader_is_slow() throws Exception {
    spine.a.tells(
        (call, events) -> {
          while (true) {
            events.tell(text("x"));
          }
        });
    Cancellation handle = new Cancellation();
    Gateway gateway =
        spine.build(
            spine
                .builder()
                .streamIdleTimeout(ChronoUnit.FOREVER.getDuration())
                .streamBufferEvents(16));
    try (TextStream stream = gateway.streamText(ask(A).cancellation(handle).build())) {
      Iterator<String> pieces = stream.text().iterator();
      assertEquals("x", pieces.next());
      handle.cancel("no more");

      OperationCancelledException cancelled =
          assertThrows(
              OperationCancelledException.class,
              () -> pieces.forEachRemaining(piece -> assertEquals("x", piece)));
      assertTrue(cancelled.getMessage().contains("no more"));
    }
  }

  @Test
  @Tag("R144")
  @Tag("R138")
  void an_answer_that_ends_with_an_error_is_a_failure_and_falls_back_if_nothing_was_seen() {
    spine.a.tells((call, events) -> answer("", FinishReason.Kind.ERROR));
    spine.b.tells(
        (call, events) -> {
          events.tell(text("x"));
          return answer("x", FinishReason.Kind.ERROR);
        });
    try (TextStream stream = spine.gateway().streamText(request(A, B))) {
      StreamBrokenException broken = assertThrows(StreamBrokenException.class, stream::collect);
      assertEquals("x", broken.partialText());
      assertEquals(1, broken.getSuppressed().length);
    }
  }

  @Test
  void an_adapter_whose_pieces_are_not_its_answer_is_at_fault() {
    spine.a.tells(
        (call, events) -> {
          events.tell(text("one"));
          return answer("another", FinishReason.Kind.STOP);
        });
    spine.b.tells((call, events) -> answer("not told", FinishReason.Kind.STOP));
    try (TextStream stream = spine.gateway().streamText(request(A))) {
      assertThrows(StreamBrokenException.class, stream::collect);
    }
    try (TextStream stream = spine.gateway().streamText(request(B))) {
      assertEquals(new TextDelta("not told"), stream.iterator().next());
    }
  }

  @Test
  @Tag("R3")
  void an_error_reaches_the_reader_as_it_is() {
    Error error = new LinkageError("no class");
    spine.a.tells(
        (call, events) -> {
          throw error;
        });
    try (TextStream stream = spine.gateway().streamText(request(A))) {
      assertSame(error, assertThrows(LinkageError.class, stream::collect));
    }
  }

  @Test
  @Tag("R64")
  void targets_that_all_fail_before_they_are_seen_are_exhausted() {
    spine.a.fails(status(400));
    spine.b.fails(status(404));
    try (TextStream stream = spine.gateway().streamText(request(A, B))) {
      assertThrows(AttemptsExhaustedException.class, stream::collect);
    }
  }
}
