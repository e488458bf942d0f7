package dev.warpwright;

import static dev.warpwright.FakeModel.failure;
import static dev.warpwright.FakeModel.status;
import static dev.warpwright.Spine.A;
import static dev.warpwright.Spine.B;
import static dev.warpwright.Spine.ask;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.StreamEvent.Failure;
import dev.warpwright.StreamEvent.Finish;
import dev.warpwright.StreamEvent.ProviderData;
import dev.warpwright.StreamEvent.ReasoningDelta;
import dev.warpwright.StreamEvent.TextDelta;
import dev.warpwright.StreamEvent.ToolCalled;
import dev.warpwright.StreamEvent.ToolReturned;
import dev.warpwright.model.Attempt;
import dev.warpwright.model.Attempt.ReasonCode;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.InvalidOutputException;
import dev.warpwright.model.Json;
import dev.warpwright.model.ModelEvent;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.Part;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.ProviderState;
import dev.warpwright.model.StreamBrokenException;
import dev.warpwright.model.Target;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.ToolFailedException;
import dev.warpwright.model.Usage;
import dev.warpwright.tool.Tool;
import dev.warpwright.tool.ToolExecution;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Streams of several steps, with tools between them. */
@Timeout(120)
final class StreamToolsTest {
  private static final Duration MINUTE = Duration.ofMinutes(1);

  @RegisterExtension final Spine spine = new Spine();

  private final ConcurrentLinkedQueue<String> trail = new ConcurrentLinkedQueue<>();
  private final BlockingQueue<RouteSelection> routes = new LinkedBlockingQueue<>();

  private Tool echo() {
    return Tools.of(
        "echo",
        input -> {
          trail.add(input.text());
          return input.text();
        });
  }

  private GenerateRequest request(Target... targets) {
    return ask(targets[0], Arrays.copyOfRange(targets, 1, targets.length))
        .tools(echo())
        .maxSteps(5)
        .build();
  }

  /** An answer that is told word by word and asks for tools. */
  private static void tellsAndAsks(FakeModel model, String text, ToolCall... calls) {
    model.then(call -> textAndCalls(text, FinishReason.Kind.TOOL_CALLS, calls));
  }

  private static ModelResponse textAndCalls(
      String text, FinishReason.Kind kind, ToolCall... calls) {
    List<Part> parts = new ArrayList<>(List.of(new Part.Text(text)));
    parts.addAll(List.of(calls));
    return FakeModel.response(parts, kind, Usage.reported(10, 5));
  }

  private static List<StreamEvent> read(TextStream stream) {
    List<StreamEvent> events = new ArrayList<>();
    stream.forEach(events::add);
    return events;
  }

  private static List<StreamEvent> readUntilFailure(TextStream stream) {
    List<StreamEvent> events = new ArrayList<>();
    RuntimeException thrown =
        assertThrows(RuntimeException.class, () -> stream.forEach(events::add));
    assertSame(thrown, assertInstanceOf(Failure.class, events.removeLast()).cause());
    return events;
  }

  private static List<String> kinds(List<StreamEvent> events) {
    return events.stream().map(event -> event.getClass().getSimpleName()).toList();
  }

  private static List<ReasonCode> codes(List<Attempt> attempts) {
    return attempts.stream().map(Attempt::reasonCode).toList();
  }

  private RouteSelection nextRoute() throws InterruptedException {
    RouteSelection selection = routes.poll(10, TimeUnit.SECONDS);
    assertTrue(selection != null, "waited 10 s for the observer");
    return selection;
  }

  @Test
  @Tag("R148")
  @Tag("R149")
  @Tag("R13")
  void a_step_shows_its_calls_its_finish_and_then_what_they_returned_and_the_last_finish_sums_up() {
    spine.a.tells(
        (call, events) -> {
          events.tell(new ModelEvent.Reasoning("Hm."));
          events.tell(new ModelEvent.Text("Let me see."));
          return FakeModel.response(
              List.of(
                  new Part.Text("Let me see."),
                  new ProviderState(Optional.empty(), "chat", "model-a", Json.EMPTY_OBJECT),
                  Tools.call("1"),
                  Tools.call("2")),
              FinishReason.Kind.TOOL_CALLS,
              Usage.reported(10, 5));
        });
    spine.a.says("Done.");
    try (TextStream stream = spine.gateway().streamText(request(A))) {
      List<StreamEvent> events = read(stream);

      assertEquals(
          List.of(
              "ReasoningDelta",
              "TextDelta",
              "ProviderData",
              "ToolCalled",
              "ToolCalled",
              "Finish",
              "ToolReturned",
              "ToolReturned",
              "TextDelta",
              "Finish",
              "Finish"),
          kinds(events));
      assertEquals(new ReasoningDelta("Hm."), events.get(0));
      assertEquals(Optional.of("a"), ((ProviderData) events.get(2)).state().provider());
      assertEquals(new ToolCalled(Tools.call("1")), events.get(3));
      assertEquals(FinishReason.Kind.TOOL_CALLS, ((Finish) events.get(5)).reason().kind());
      GenerateResult result = stream.collect();
      assertEquals(
          result.toolResults(),
          events.stream()
              .filter(ToolReturned.class::isInstance)
              .map(event -> ((ToolReturned) event).result())
              .toList());
      Finish last = (Finish) events.getLast();
      assertTrue(last.last());
      assertEquals(20, last.usage().input().tokens());
      assertEquals(result.usage(), last.usage());
      assertEquals(result.finishReason(), last.reason());
      assertEquals(1, events.stream().filter(e -> e instanceof Finish f && f.last()).count());
    }
  }

  @Test
  @Tag("R13")
  @Tag("R14")
  void a_loop_with_tools_collects_to_what_the_blocking_one_gives() {
    for (int i = 0; i < 2; i++) {
      tellsAndAsks(spine.a, "first", Tools.call("1"));
      spine.a.fails(status(503)).says("second");
    }
    Gateway gateway = spine.gateway();

    GenerateResult blocking = gateway.generate(request(A));
    try (TextStream stream = gateway.streamText(request(A))) {
      GenerateResult streamed = stream.collect();
      assertEquals(blocking.text(), streamed.text());
      assertEquals(blocking.usage(), streamed.usage());
      assertEquals(blocking.messages(), streamed.messages());
      assertEquals(blocking.toolResults(), streamed.toolResults());
      assertEquals(codes(blocking.attempts()), codes(streamed.attempts()));
      assertEquals(
          blocking.steps().stream().map(ModelStep::response).toList(),
          streamed.steps().stream().map(ModelStep::response).toList());
    }
  }

  @Test
  @Tag("R387")
  @Tag("C48")
  @Tag("R134")
  void a_later_step_falls_back_until_its_own_first_event_and_no_tool_runs_again() {
    tellsAndAsks(spine.a, "one ", Tools.call("1"));
    spine.a.fails(status(503), 3);
    spine.b.says("two");
    try (TextStream stream = spine.gateway().streamText(request(A, B))) {
      List<StreamEvent> events = read(stream);

      assertEquals(
          List.of(
              "TextDelta", "ToolCalled", "Finish", "ToolReturned", "TextDelta", "Finish", "Finish"),
          kinds(events));
      assertEquals(List.of("text of 1"), List.copyOf(trail));
      GenerateResult result = stream.collect();
      assertEquals("two", result.text());
      assertEquals(B, result.targetUsed());
      assertEquals(5, result.attempts().size());
      assertEquals(4, spine.a.count());
      assertEquals(1, spine.b.count());
    }
  }

  @Test
  @Tag("R387")
  @Tag("C48")
  @Tag("R141")
  void a_break_after_the_first_event_of_a_later_step_ends_the_operation() {
    tellsAndAsks(spine.a, "one ", Tools.call("1"));
    spine.a.breaks(failure(ProviderException.Kind.READ), "tw");
    try (TextStream stream = spine.gateway().streamText(request(A, B))) {
      assertEquals(
          List.of("TextDelta", "ToolCalled", "Finish", "ToolReturned", "TextDelta"),
          kinds(readUntilFailure(stream)));

      StreamBrokenException broken = assertThrows(StreamBrokenException.class, stream::collect);
      assertEquals("tw", broken.partialText()); // of the step that broke
      assertEquals(
          List.of(ReasonCode.PROVIDER_SUCCESS, ReasonCode.PROVIDER_ERROR),
          codes(broken.trace().attempts()));
      assertEquals(List.of("text of 1"), List.copyOf(trail));
      assertEquals(0, spine.b.count());
    }
  }

  @ParameterizedTest
  @CsvSource({
    "LENGTH, OUTPUT_TRUNCATION",
    "PAUSED, OUTPUT_TRUNCATION",
    "OTHER, OUTPUT_TRUNCATION",
    "REFUSAL, OUTPUT_REFUSAL",
    "CONTENT_FILTER, OUTPUT_REFUSAL"
  })
  @Tag("R146")
  void no_tool_of_a_cut_off_answer_runs_and_the_exception_has_what_came(
      FinishReason.Kind kind, FailureKind expected) {
    ModelResponse cutOff = textAndCalls("so far", kind, Tools.call("1"));
    spine.a.then(call -> cutOff);
    try (TextStream stream = spine.gateway().streamText(request(A, B))) {
      List<StreamEvent> events = readUntilFailure(stream);

      assertEquals(new TextDelta("so "), events.getFirst());
      InvalidOutputException invalid = assertThrows(InvalidOutputException.class, stream::collect);
      assertEquals(expected, invalid.kind());
      assertEquals(cutOff.message(), invalid.answer().orElseThrow().message());
      assertEquals(1, invalid.trace().attempts().size());
      assertTrue(trail.isEmpty());
      assertEquals(0, spine.b.count());
    }
  }

  @ParameterizedTest
  @EnumSource(value = FinishReason.Kind.class, names = "ERROR", mode = EnumSource.Mode.EXCLUDE)
  @Tag("R145")
  void without_calls_every_finish_but_an_error_is_a_result_told_as_it_is(FinishReason.Kind kind) {
    spine.a.then(call -> FakeModel.answer("", kind)).then(call -> FakeModel.answer("so far", kind));
    Gateway gateway = spine.gateway();
    for (String text : List.of("", "so far")) {
      try (TextStream stream = gateway.streamText(request(A))) {
        List<StreamEvent> events = read(stream);

        assertEquals(text, stream.collect().text());
        assertEquals(kind, stream.collect().finishReason().kind());
        assertEquals(kind, ((Finish) events.getLast()).reason().kind());
      }
    }
  }

  @Test
  @Tag("R62")
  @Tag("R67")
  void a_later_step_asks_the_last_winner_first_and_the_observer_is_told_of_changes()
      throws Exception {
    spine.a.fails(status(400)).says("three");
    tellsAndAsks(spine.b, "one ", Tools.call("1"));
    tellsAndAsks(spine.b, "two ", Tools.call("2"));
    spine.b.fails(status(400));
    Gateway gateway = spine.build(spine.builder().routeObserver(routes::add));
    try (TextStream stream = gateway.streamText(request(A, B))) {
      GenerateResult result = stream.collect();

      assertEquals("three", result.text());
      assertEquals(List.of(B, B, A), result.steps().stream().map(ModelStep::target).toList());
      assertEquals(
          List.of(true, false, true), result.steps().stream().map(ModelStep::rebound).toList());
    }
    List<RouteSelection> both = new ArrayList<>(List.of(nextRoute(), nextRoute()));
    both.sort(Comparator.comparingInt(RouteSelection::step));
    assertEquals(List.of(B, A), both.stream().map(RouteSelection::target).toList());
    assertEquals(List.of(1, 3), both.stream().map(RouteSelection::step).toList());
    Spine.until("no more", () -> gateway.tasks().liveCount() == 0);
    assertTrue(routes.isEmpty());
  }

  @Test
  @Tag("R147")
  @Tag("R350")
  void the_observer_is_told_at_the_first_event_of_what_failed_and_was_skipped_before()
      throws Exception {
    CountDownLatch goOn = spine.gate();
    spine.a.fails(status(400));
    spine.b.tells(
        (call, events) -> {
          events.tell(ModelEvent.ALIVE);
          events.tell(new ModelEvent.Text("x"));
          goOn.await();
          return FakeModel.answer("x", FinishReason.Kind.STOP);
        });
    Gateway gateway = spine.build(spine.builder().routeObserver(routes::add));
    try (TextStream stream = gateway.streamText(request(Target.of("nobody", "m"), A, B))) {
      RouteSelection selection = nextRoute(); // and the answer is not complete

      assertEquals(B, selection.target());
      assertEquals(2, selection.targetRank());
      assertEquals(
          List.of(ReasonCode.OPERATION_SKIP, ReasonCode.PROVIDER_ERROR),
          codes(selection.attempts()));
      goOn.countDown();
      assertEquals(3, stream.collect().attempts().size());
      assertEquals(selection.decision(), stream.collect().routeDecision());
    }
    assertTrue(routes.isEmpty());
  }

  @Test
  @Tag("R147")
  void a_target_that_fails_before_it_is_seen_is_not_told_of_as_selected() throws Exception {
    spine.a.fails(status(400));
    spine.b.says("x");
    Gateway gateway = spine.build(spine.builder().routeObserver(routes::add));
    try (TextStream stream = gateway.streamText(request(A, B))) {
      stream.collect();
    }
    assertEquals(B, nextRoute().target());
    Spine.until("no more", () -> gateway.tasks().liveCount() == 0);
    assertTrue(routes.isEmpty());
  }

  @Test
  @Tag("R386")
  void when_the_steps_are_used_up_the_last_calls_are_run_and_shown() {
    tellsAndAsks(spine.a, "x", Tools.call("1"));
    try (TextStream stream = spine.gateway().streamText(ask(A).tools(echo()).build())) {
      List<StreamEvent> events = read(stream);

      assertEquals(
          List.of("TextDelta", "ToolCalled", "Finish", "ToolReturned", "Finish"), kinds(events));
      assertEquals(FinishReason.Kind.TOOL_CALLS, stream.collect().finishReason().kind());
    }
  }

  @Test
  void a_tool_that_ends_the_operation_ends_the_stream() {
    spine.a.asksFor(Tools.call("1", "broken"));
    Tool broken =
        Tools.of(
            "broken",
            input -> {
              throw new IllegalStateException("no");
            });
    GenerateRequest asked =
        ask(A).tools(broken).toolExecution(ToolExecution.DEFAULT.stoppingOnError()).build();
    try (TextStream stream = spine.gateway().streamText(asked)) {
      assertThrows(ToolFailedException.class, stream::collect);
    }
  }

  @Test
  @Tag("R115")
  @Tag("R387")
  void a_first_event_that_waits_for_the_reader_is_held_to_no_attempt_timeout() throws Exception {
    tellsAndAsks(spine.a, "one two three ", Tools.call("1"));
    spine.a.says("end");
    Gateway gateway =
        spine.build(
            spine
                .builder()
                .streamBufferEvents(12) // half of it are those of step 1
                .attemptTimeout(MINUTE.dividedBy(2))
                .streamIdleTimeout(MINUTE));
    GenerateRequest asked = ask(A).tools(echo()).maxSteps(2).build();
    try (TextStream stream = gateway.streamText(asked)) {
      Iterator<StreamEvent> events = stream.iterator();
      spine.a.awaitNoRoom();
      for (int i = 0; i < 3; i++) {
        spine.time.awaitAlarms(1);
        spine.time.advance(MINUTE);
      }
      int seen = 0;
      while (events.hasNext()) {
        events.next();
        seen++;
      }
      assertEquals(9, seen);
      assertEquals(2, stream.collect().attempts().size());
    }
  }
}
