package dev.warpwright;

import static dev.warpwright.FakeModel.failure;
import static dev.warpwright.FakeModel.status;
import static dev.warpwright.Spine.A;
import static dev.warpwright.Spine.B;
import static dev.warpwright.Spine.ask;
import static dev.warpwright.Spine.request;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.StreamEvent.Finish;
import dev.warpwright.StreamEvent.ObjectComplete;
import dev.warpwright.StreamEvent.ObjectPartial;
import dev.warpwright.StreamEvent.TextDelta;
import dev.warpwright.model.Attempt;
import dev.warpwright.model.Attempt.ReasonCode;
import dev.warpwright.model.Capability;
import dev.warpwright.model.DeadlineExceededException;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.InvalidOutputException;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.model.LimitExceededException;
import dev.warpwright.model.ModelCapabilities;
import dev.warpwright.model.ModelEvent;
import dev.warpwright.model.NoEligibleTargetException;
import dev.warpwright.model.Part;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.StreamBrokenException;
import dev.warpwright.model.Usage;
import dev.warpwright.tool.JsonType;
import java.lang.invoke.MethodHandles;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Objects that are shown while they come. */
@Timeout(120)
final class StreamObjectTest {
  private static final ModelCapabilities STRICT =
      ModelCapabilities.TEXT_AND_TOOLS.with(Capability.STRUCTURED_OUTPUT);
  private static final ModelCapabilities JSON =
      ModelCapabilities.TEXT_AND_TOOLS.with(Capability.JSON_MODE);

  @RegisterExtension final Spine spine = new Spine();

  record Stop(String place, int days) {}

  record Trip(String name, List<Stop> stops) {}

  private static final String TRIP =
      "{\"name\":\"Alps\",\"stops\":[{\"place\":\"Bern\",\"days\":3}]}";
  private static final Trip ALPS = new Trip("Alps", List.of(new Stop("Bern", 3)));

  private static ObjectRequest<Trip> trip(GenerateRequest asked) {
    return ObjectRequest.of(Trip.class, MethodHandles.lookup(), asked);
  }

  private static ObjectRequest<Trip> trip(ObjectMode mode, GenerateRequest asked) {
    return ObjectRequest.builder(JsonType.of(Trip.class, MethodHandles.lookup()), asked)
        .mode(mode)
        .build();
  }

  /** A model that tells its answer in pieces. */
  private static void tells(FakeModel model, FinishReason.Kind kind, String... pieces) {
    model.tells(
        (call, events) -> {
          for (String piece : pieces) {
            events.tell(new ModelEvent.Text(piece));
          }
          return FakeModel.answer(String.join("", pieces), kind);
        });
  }

  private static List<StreamEvent> read(ObjectStream<?> stream) {
    List<StreamEvent> events = new ArrayList<>();
    stream.forEach(events::add);
    return events;
  }

  private static List<ReasonCode> codes(List<Attempt> attempts) {
    return attempts.stream().map(Attempt::reasonCode).toList();
  }

  @Test
  @Tag("R167")
  @Tag("R13")
  void pieces_partial_values_and_the_object_come_in_this_order() {
    spine.a.with(STRICT);
    tells(spine.a, FinishReason.Kind.STOP, "{\"name\":\"Al", "ps\"", ",\"stops", "\":[]", "}");
    try (ObjectStream<Trip> stream = spine.gateway().streamObject(trip(request(A)))) {
      List<StreamEvent> events = read(stream);

      Trip alps = new Trip("Alps", List.of());
      assertEquals(
          List.of(
              new TextDelta("{\"name\":\"Al"),
              new ObjectPartial(Json.parse("{\"name\":\"Al\"}")),
              new TextDelta("ps\""),
              new ObjectPartial(Json.parse("{\"name\":\"Alps\"}")),
              new TextDelta(",\"stops"),
              new TextDelta("\":[]"),
              new ObjectPartial(Json.parse("{\"name\":\"Alps\",\"stops\":[]}")),
              new TextDelta("}")),
          events.subList(0, 8));
      assertEquals(11, events.size());
      assertEquals(false, ((Finish) events.get(8)).last());
      assertEquals(new ObjectComplete(alps), events.get(9));
      assertEquals(true, ((Finish) events.get(10)).last());
      assertEquals(alps, stream.collect().object());
      assertEquals(ObjectMode.NATIVE, stream.collect().objectMode());
    }
  }

  @Test
  @Tag("R167")
  @Tag("R13")
  @Tag("R14")
  void partials_and_text_are_the_same_reading_and_collect_gives_what_the_blocking_one_gives() {
    spine.a.with(STRICT).says(TRIP).says(TRIP).says(TRIP);
    Gateway gateway = spine.gateway();
    ObjectResult<Trip> blocking = gateway.generateObject(trip(request(A)));
    try (ObjectStream<Trip> stream = gateway.streamObject(trip(request(A)))) {
      List<Json> partials = new ArrayList<>();
      stream.partials().forEach(partials::add);
      assertEquals(List.of(Json.parse(TRIP)), partials);
      assertThrows(IllegalStateException.class, stream::iterator);
      ObjectResult<Trip> streamed = stream.collect();
      assertEquals(blocking.object(), streamed.object());
      assertEquals(blocking.objectMode(), streamed.objectMode());
      assertEquals(blocking.answer().messages(), streamed.answer().messages());
      assertEquals(blocking.answer().usage(), streamed.answer().usage());
    }
    try (ObjectStream<Trip> stream = gateway.streamObject(trip(request(A)))) {
      assertEquals(TRIP, String.join("", stream.text()));
    }
  }

  @Test
  @Tag("R159")
  @Tag("C18")
  void in_auto_a_fallback_may_switch_from_native_to_a_prompt() {
    spine.a.with(STRICT).fails(status(400));
    spine.b.with(JSON);
    tells(
        spine.b,
        FinishReason.Kind.STOP,
        "Sure:\n```json\n",
        TRIP.substring(0, 20),
        TRIP.substring(20),
        "\n```");
    GenerateRequest asked = request(A, B);
    try (ObjectStream<Trip> stream = spine.gateway().streamObject(trip(asked))) {
      List<Json> partials = new ArrayList<>();
      stream.partials().forEach(partials::add);

      assertEquals(Json.parse(TRIP), partials.getLast());
      ObjectResult<Trip> result = stream.collect();
      assertEquals(ALPS, result.object());
      assertEquals(ObjectMode.PROMPTED, result.objectMode());
      assertEquals(asked.messages(), spine.a.calls().getFirst().messages());
      assertEquals(2, spine.b.calls().getFirst().messages().size());
      assertEquals(1, asked.messages().size());
    }
  }

  @Test
  @Tag("R159")
  @Tag("C18")
  void in_auto_a_fallback_may_switch_from_a_prompt_to_native() {
    spine.a.with(JSON).fails(status(400));
    spine.b.with(STRICT).says(TRIP);
    try (ObjectStream<Trip> stream = spine.gateway().streamObject(trip(request(A, B)))) {
      assertEquals(ObjectMode.NATIVE, stream.collect().objectMode());
      assertEquals(ALPS, stream.collect().object());
    }
  }

  @Test
  @Tag("R158")
  @Tag("R160")
  @Tag("C6")
  void a_target_that_cannot_do_the_mode_is_skipped_without_a_call() {
    spine.b.with(JSON);
    GenerateRequest asked = request(A, B);
    try (ObjectStream<Trip> stream = spine.gateway().streamObject(trip(ObjectMode.NATIVE, asked))) {
      NoEligibleTargetException none =
          assertThrows(NoEligibleTargetException.class, stream::collect);
      assertEquals(
          List.of(ReasonCode.OPERATION_SKIP, ReasonCode.OPERATION_SKIP),
          codes(none.trace().attempts()));
    }
    assertEquals(0, spine.a.count() + spine.b.count());
  }

  @ParameterizedTest
  @CsvSource({
    "LENGTH, OUTPUT_TRUNCATION",
    "PAUSED, OUTPUT_TRUNCATION",
    "REFUSAL, OUTPUT_REFUSAL",
    "CONTENT_FILTER, OUTPUT_REFUSAL"
  })
  @Tag("R163")
  @Tag("R95")
  void what_was_cut_off_or_declined_is_never_read_though_it_was_shown(
      FinishReason.Kind kind, FailureKind expected) {
    spine.a.with(JSON);
    spine.b.with(JSON);
    tells(spine.a, kind, TRIP);
    try (ObjectStream<Trip> stream = spine.gateway().streamObject(trip(request(A, B)))) {
      InvalidOutputException invalid = assertThrows(InvalidOutputException.class, stream::collect);
      assertEquals(expected, invalid.kind());
      assertEquals(TRIP, invalid.answer().orElseThrow().message().text());
      assertEquals(List.of(ReasonCode.PROVIDER_SUCCESS), codes(invalid.trace().attempts()));
    }
    assertEquals(0, spine.b.count());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{\"name\":\"Alps\" | OUTPUT_PARSE",
        "no object | OUTPUT_PARSE",
        "{\"name\":1,\"stops\":[]} | OUTPUT_SCHEMA",
        "{\"name\":\"x\",\"stops\":[{\"place\":\"p\",\"days\":1.5}]} | OUTPUT_SCHEMA"
      })
  @Tag("R163")
  @Tag("R164")
  @Tag("R165")
  void an_answer_that_is_not_the_object_fails_and_is_not_asked_for_again(
      String text, FailureKind expected) {
    spine.a.with(STRICT).says(text);
    spine.b.with(STRICT);
    try (ObjectStream<Trip> stream = spine.gateway().streamObject(trip(request(A, B)))) {
      List<StreamEvent> events = new ArrayList<>();
      InvalidOutputException invalid =
          assertThrows(InvalidOutputException.class, () -> stream.forEach(events::add));
      assertEquals(expected, invalid.kind());
      assertEquals(expected == FailureKind.OUTPUT_SCHEMA, !invalid.violations().isEmpty());
      assertInstanceOf(StreamEvent.Failure.class, events.getLast());
      assertTrue(events.stream().noneMatch(ObjectComplete.class::isInstance));
      assertTrue(events.stream().noneMatch(event -> event instanceof Finish f && f.last()));
    }
    assertEquals(1, spine.a.count() + spine.b.count());
  }

  @Test
  @Tag("R142")
  void a_break_of_an_object_has_the_json_that_came() {
    spine.b.with(STRICT);
    spine.a.with(STRICT).breaks(failure(ProviderException.Kind.READ), "{\"name\":\"Al");
    try (ObjectStream<Trip> stream = spine.gateway().streamObject(trip(request(A, B)))) {
      StreamBrokenException broken = assertThrows(StreamBrokenException.class, stream::collect);
      assertEquals("{\"name\":\"Al", broken.partialText());
    }
  }

  @Test
  @Tag("R16")
  @Tag("R167")
  void tools_may_run_before_the_object_and_each_step_s_text_is_a_value_of_its_own() {
    spine
        .a
        .with(STRICT)
        .then(
            call ->
                FakeModel.response(
                    List.of(new Part.Text("[\"thinking"), Tools.call("1")),
                    FinishReason.Kind.TOOL_CALLS,
                    Usage.reported(10, 5)))
        .says(TRIP);
    GenerateRequest asked = ask(A).tools(Tools.echo()).maxSteps(3).build();
    try (ObjectStream<Trip> stream = spine.gateway().streamObject(trip(asked))) {
      List<Json> partials = new ArrayList<>();
      for (StreamEvent event : stream) {
        if (event instanceof ObjectPartial(Json value)) {
          partials.add(value);
        }
      }
      assertEquals(List.of(Json.parse("[\"thinking\"]"), Json.parse(TRIP)), partials);
      assertEquals(ALPS, stream.collect().object());
      assertEquals(1, stream.collect().answer().toolResults().size());
    }
  }

  @Test
  void steps_that_are_used_up_leave_no_object() {
    spine.a.with(STRICT).asksFor(Tools.call("1"));
    GenerateRequest asked = ask(A).tools(Tools.echo()).build();
    try (ObjectStream<Trip> stream = spine.gateway().streamObject(trip(asked))) {
      assertThrows(LimitExceededException.class, stream::collect);
    }
  }

  @Test
  @Tag("R15")
  void a_bad_object_request_is_refused_by_the_call() {
    Gateway gateway = spine.gateway();
    gateway.close();
    assertThrows(InvalidRequestException.class, () -> gateway.streamObject(trip(request(A))));
  }

  @Test
  @Tag("C31")
  @Tag("R125")
  void the_deadline_cuts_off_a_model_of_an_object_stream() throws Exception {
    CountDownLatch shown = new CountDownLatch(1);
    spine
        .a
        .with(STRICT)
        .tells(
            (call, events) -> {
              events.tell(new ModelEvent.Text("{"));
              shown.countDown();
              return FakeModel.blocks(call);
            });
    GenerateRequest asked = ask(A).timeout(Duration.ofSeconds(1)).build();
    try (ObjectStream<Trip> stream = spine.gateway().streamObject(trip(asked))) {
      Spine.await("the first piece", shown);
      spine.awaitWaitOf(Duration.ofSeconds(1));
      spine.advance(1_000);
      assertThrows(DeadlineExceededException.class, stream::collect);
    }
  }

  @Test
  @Tag("C31")
  void the_deadline_cuts_off_a_mapper_of_an_object_stream() throws Exception {
    CountDownLatch busy = new CountDownLatch(1);
    spine.a.with(JSON).says("{}");
    ObjectRequest<String> asked =
        ObjectRequest.builder(
                Json.parse("{\"type\":\"object\"}"),
                json -> {
                  busy.countDown();
                  try {
                    new CountDownLatch(1).await();
                  } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                  }
                  return "too late";
                },
                ask(A).timeout(Duration.ofSeconds(1)).build())
            .build();
    try (ObjectStream<String> stream = spine.gateway().streamObject(asked)) {
      Spine.await("the mapper", busy);
      spine.awaitWaitOf(Duration.ofSeconds(1));
      spine.advance(1_000);
      assertThrows(DeadlineExceededException.class, stream::collect);
    }
  }
}
