package dev.warpwright;

import static dev.warpwright.Spine.A;
import static dev.warpwright.Spine.B;
import static dev.warpwright.Spine.ask;
import static dev.warpwright.Spine.request;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.control.CachePolicy;
import dev.warpwright.control.ResponseCache;
import dev.warpwright.model.Attempt.ReasonCode;
import dev.warpwright.model.Capability;
import dev.warpwright.model.DeadlineExceededException;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.InvalidOutputException;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.model.LimitExceededException;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelCapabilities;
import dev.warpwright.model.NoEligibleTargetException;
import dev.warpwright.model.OutputFormat;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.Role;
import dev.warpwright.model.Route;
import dev.warpwright.tool.JsonType;
import java.lang.invoke.MethodHandles;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Object operations: a text operation with an output type. */
final class GenerateObjectTest {
  private static final ModelCapabilities STRICT =
      ModelCapabilities.TEXT_AND_TOOLS.with(Capability.STRUCTURED_OUTPUT);
  private static final ModelCapabilities JSON =
      ModelCapabilities.TEXT_AND_TOOLS.with(Capability.JSON_MODE);

  @RegisterExtension final Spine spine = new Spine();

  record Stop(String place, int days) {}

  record Trip(String name, List<Stop> stops, Optional<String> note) {}

  record Labelled(Map<String, String> labels) {}

  private static final String TRIP =
      "{\"name\":\"Alps\",\"stops\":[{\"place\":\"Bern\",\"days\":3}],\"note\":null}";
  private static final Trip ALPS = new Trip("Alps", List.of(new Stop("Bern", 3)), Optional.empty());

  private static ObjectRequest<Trip> trip(GenerateRequest asked) {
    return ObjectRequest.of(Trip.class, MethodHandles.lookup(), asked);
  }

  private static ObjectRequest<Trip> trip(ObjectMode mode, GenerateRequest asked) {
    return ObjectRequest.builder(JsonType.of(Trip.class, MethodHandles.lookup()), asked)
        .mode(mode)
        .build();
  }

  private InvalidOutputException fails(ObjectRequest<?> asked) {
    return assertThrows(InvalidOutputException.class, () -> spine.gateway().generateObject(asked));
  }

  private static OutputFormat.JsonSchema schemaOf(ModelCall call) {
    return (OutputFormat.JsonSchema) call.output().orElseThrow();
  }

  @Test
  @Tag("R9")
  @Tag("R11")
  @Tag("R157")
  @Tag("R166")
  void a_native_model_is_sent_the_strict_schema_and_its_answer_becomes_the_record() {
    spine.a.with(STRICT).says(TRIP);
    GenerateRequest asked = request(A);

    ObjectResult<Trip> result = spine.gateway().generateObject(trip(asked));

    assertEquals(ALPS, result.object());
    assertEquals(ObjectMode.NATIVE, result.objectMode());
    assertEquals(TRIP, result.answer().text());
    assertEquals(A, result.targetUsed());
    assertEquals(result.answer().attempts(), result.attempts());
    ModelCall call = spine.a.calls().getFirst();
    assertEquals(asked.messages(), call.messages());
    assertEquals("response", schemaOf(call).name());
    assertEquals(
        StrictSchema.of(JsonType.of(Trip.class, MethodHandles.lookup()).schema()),
        schemaOf(call).schema());
  }

  @Test
  @Tag("R9")
  @Tag("R161")
  void a_prompted_model_is_sent_one_system_message_more_with_name_schema_and_description() {
    spine.a.with(JSON).says("Sure:\n```json\n" + TRIP + "\n```");
    GenerateRequest asked =
        GenerateRequest.builder(
                Route.of(A), List.of(Message.system("Be brief."), Message.user("A trip.")))
            .build();
    JsonType<Trip> type = JsonType.of(Trip.class, MethodHandles.lookup());

    ObjectResult<Trip> result =
        spine
            .gateway()
            .generateObject(
                ObjectRequest.builder(type, asked)
                    .name("trip")
                    .description("A trip by train.")
                    .build());

    assertEquals(ALPS, result.object());
    assertEquals(ObjectMode.PROMPTED, result.objectMode());
    ModelCall call = spine.a.calls().getFirst();
    assertEquals(Optional.of(new OutputFormat.JsonObject()), call.output());
    assertEquals(
        List.of(
            Message.system("Be brief."),
            Message.system(
                "Return only JSON that conforms to this JSON Schema, without any other text.\n"
                    + "Name: trip\nDescription: A trip by train.\nJSON Schema: "
                    + type.schema().text()),
            Message.user("A trip.")),
        call.messages());
    assertEquals(asked.messages(), result.answer().messages().subList(0, 2));
    assertEquals(Role.ASSISTANT, result.answer().messages().get(2).role());
  }

  @Test
  @Tag("R159")
  @Tag("C18")
  void auto_decides_for_each_destination_in_both_directions() {
    for (boolean strictFirst : List.of(true, false)) {
      FakeModel first = new FakeModel().with(strictFirst ? STRICT : JSON);
      FakeModel second = new FakeModel().with(strictFirst ? JSON : STRICT);
      first.fails(
          ProviderException.builder(ProviderException.Kind.CONTEXT_LENGTH, "Too long.").build());
      second.says(TRIP);
      Gateway gateway =
          spine.build(spine.builder().adapter("a", id -> first).adapter("b", id -> second));
      GenerateRequest asked = request(A, B);

      ObjectResult<Trip> result = gateway.generateObject(trip(asked));

      assertEquals(ALPS, result.object());
      assertEquals(strictFirst ? ObjectMode.PROMPTED : ObjectMode.NATIVE, result.objectMode());
      FakeModel strict = strictFirst ? first : second;
      FakeModel prompted = strictFirst ? second : first;
      assertEquals(asked.messages(), strict.calls().getFirst().messages());
      assertEquals("response", schemaOf(strict.calls().getFirst()).name());
      assertEquals(2, prompted.calls().getFirst().messages().size());
      assertEquals(1, asked.messages().size());
      assertEquals(asked.messages(), result.answer().messages().subList(0, 1));
    }
  }

  @ParameterizedTest
  @CsvSource({
    "NATIVE, structuredOutput",
    "PROMPTED, jsonMode",
    "AUTO, structuredOutput or jsonMode"
  })
  @Tag("R57")
  @Tag("R158")
  @Tag("C6")
  void a_target_that_cannot_give_the_object_is_skipped_without_a_call(
      ObjectMode mode, String needed) {
    NoEligibleTargetException end =
        assertThrows(
            NoEligibleTargetException.class,
            () -> spine.gateway().generateObject(trip(mode, request(A))));

    assertEquals(0, spine.a.count());
    assertEquals(ReasonCode.OPERATION_SKIP, end.trace().attempts().getFirst().reasonCode());
    assertTrue(end.trace().attempts().getFirst().message().contains(needed));
  }

  @Test
  @Tag("R158")
  @Tag("R160")
  void an_explicit_native_never_falls_to_a_prompt_and_an_explicit_prompt_never_to_native() {
    spine.a.with(JSON);
    spine.b.with(STRICT).says(TRIP).says("never");

    assertEquals(
        B, spine.gateway().generateObject(trip(ObjectMode.NATIVE, request(A, B))).targetUsed());
    assertEquals(0, spine.a.count());
    assertThrows(
        NoEligibleTargetException.class,
        () -> spine.gateway().generateObject(trip(ObjectMode.PROMPTED, request(B))));
    spine.c.with(STRICT.with(Capability.JSON_MODE)).says(TRIP);
    ObjectResult<Trip> prompted =
        spine.gateway().generateObject(trip(ObjectMode.PROMPTED, request(Spine.C)));
    assertEquals(ObjectMode.PROMPTED, prompted.objectMode());
    assertEquals(1, spine.b.count());
  }

  @Test
  @Tag("R162")
  void a_native_answer_is_json_and_nothing_else() {
    spine.a.with(STRICT).says("```json\n" + TRIP + "\n```");

    assertEquals(FailureKind.OUTPUT_PARSE, fails(trip(request(A))).kind());
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "I cannot say.", "{\"name\":\"Alps\"", "{} {}"})
  @Tag("R163")
  @Tag("R95")
  @Tag("R164")
  void what_is_no_json_is_a_parse_failure_that_nobody_tries_again(String text) {
    spine.a.with(JSON).says(text);
    spine.b.with(JSON).says(TRIP);

    InvalidOutputException end = fails(trip(request(A, B)));

    assertEquals(FailureKind.OUTPUT_PARSE, end.kind());
    assertEquals(1, end.trace().attempts().size());
    assertEquals(1, spine.a.count());
    assertEquals(0, spine.b.count());
    assertFalse(String.valueOf(end.getMessage()).contains("Alps"));
  }

  @Test
  @Tag("R163")
  @Tag("R164")
  @Tag("R165")
  void what_breaks_the_schema_names_each_path_and_no_content() {
    spine.a.with(STRICT).says("{\"name\":7,\"stops\":[{\"place\":\"Bern\",\"days\":2.5},{}]}");
    spine.b.with(STRICT).says(TRIP);

    InvalidOutputException end = fails(trip(request(A, B)));

    assertEquals(FailureKind.OUTPUT_SCHEMA, end.kind());
    assertEquals(
        List.of(
            "$.name must be a string, is a number",
            "$.stops[0].days must be an integer, has a fraction",
            "$.stops[1].place is required",
            "$.stops[1].days is required"),
        end.violations());
    assertTrue(String.valueOf(end.getMessage()).contains("$.stops[1].days"));
    assertEquals(0, spine.b.count());
  }

  @ParameterizedTest
  @CsvSource({
    "LENGTH, OUTPUT_TRUNCATION",
    "PAUSED, OUTPUT_TRUNCATION",
    "REFUSAL, OUTPUT_REFUSAL",
    "CONTENT_FILTER, OUTPUT_REFUSAL"
  })
  @Tag("R163")
  @Tag("FR-Q15")
  void an_answer_that_was_cut_off_or_declined_is_not_read_whatever_it_looks_like(
      FinishReason.Kind finish, FailureKind kind) {
    for (String text : List.of(TRIP, "{\"name\":\"Al", "no", "")) {
      FakeModel model = new FakeModel().with(STRICT).then(call -> FakeModel.answer(text, finish));
      Gateway gateway = spine.build(spine.builder().adapter("a", id -> model));

      InvalidOutputException end =
          assertThrows(
              InvalidOutputException.class, () -> gateway.generateObject(trip(request(A, B))));

      assertEquals(kind, end.kind());
      assertEquals(0, spine.b.count());
    }
  }

  @Test
  @Tag("R16")
  void tools_run_in_the_same_loop_and_the_last_text_is_the_object() {
    spine.a.with(STRICT).asksFor(Tools.call("1")).says(TRIP);

    ObjectResult<Trip> result =
        spine.gateway().generateObject(trip(ask(A).tools(Tools.echo()).maxSteps(3).build()));

    assertEquals(ALPS, result.object());
    assertEquals(2, result.answer().steps().size());
    assertEquals(1, result.answer().toolResults().size());
    assertEquals(schemaOf(spine.a.calls().getFirst()), schemaOf(spine.a.calls().getLast()));
  }

  @Test
  void steps_that_are_used_up_are_a_limit_and_no_parse_failure() {
    spine.a.with(STRICT).asksFor(Tools.call("1"));

    LimitExceededException end =
        assertThrows(
            LimitExceededException.class,
            () -> spine.gateway().generateObject(trip(ask(A).tools(Tools.echo()).build())));

    assertEquals(1, end.trace().attempts().size());
  }

  @Test
  @Tag("R191")
  @Tag("R159")
  void a_conversation_with_tool_history_goes_on_and_is_not_changed() {
    spine.a.with(JSON.with(dev.warpwright.model.ToolHistory.JSON)).says(TRIP);
    var call = Tools.call("1");
    List<Message> history =
        List.of(
            Message.user("Look."),
            new Message(Role.ASSISTANT, List.of(call)),
            Message.tool(List.of(dev.warpwright.model.ToolResult.success(call, Json.of("seen")))),
            Message.user("And now the trip."));

    ObjectResult<Trip> result =
        spine.gateway().generateObject(trip(GenerateRequest.builder(Route.of(A), history).build()));

    assertEquals(ALPS, result.object());
    spine.b.with(ModelCapabilities.TEXT_AND_TOOLS.with(dev.warpwright.model.ToolHistory.JSON));
    assertThrows(
        NoEligibleTargetException.class,
        () ->
            spine
                .gateway()
                .generateObject(trip(GenerateRequest.builder(Route.of(B), history).build())));
    List<Message> sent = spine.a.calls().getFirst().messages();
    assertEquals(Role.SYSTEM, sent.getFirst().role());
    assertEquals(history, sent.subList(1, 5));
    assertEquals(history, result.answer().messages().subList(0, 4));
  }

  @Test
  @Tag("R166")
  @Tag("FR-H05")
  void a_map_is_refused_natively_and_asked_for_by_prompt_in_auto() {
    JsonType<Labelled> type = JsonType.of(Labelled.class, MethodHandles.lookup());
    var asked = ObjectRequest.builder(type, request(A));
    InvalidRequestException refused =
        assertThrows(InvalidRequestException.class, () -> asked.mode(ObjectMode.NATIVE).build());
    assertTrue(String.valueOf(refused.getMessage()).contains("$.labels is a free-form map"));

    ObjectRequest<Labelled> auto = asked.mode(ObjectMode.AUTO).build();
    spine.a.with(STRICT);
    NoEligibleTargetException none =
        assertThrows(NoEligibleTargetException.class, () -> spine.gateway().generateObject(auto));
    assertTrue(String.valueOf(none.getMessage()).contains("$.labels is a free-form map"));

    spine.a.with(STRICT.with(Capability.JSON_MODE)).says("{\"labels\":{\"a\":\"b\"}}");
    ObjectResult<Labelled> result = spine.gateway().generateObject(auto);
    assertEquals(new Labelled(Map.of("a", "b")), result.object());
    assertEquals(ObjectMode.PROMPTED, result.objectMode());
  }

  @Test
  @Tag("R157")
  @Tag("R166")
  void a_given_schema_has_a_mapper_and_takes_null_for_an_absent_member_in_native_mode_only() {
    Json schema =
        Json.parse(
            """
            {"type":"object","required":["a"],
             "properties":{"a":{"type":"integer"},"b":{"type":"string"}}}
            """);
    spine.a.with(STRICT).says("{\"a\":1,\"b\":null}").says("{\"a\":1,\"b\":2}");
    spine.b.with(JSON).says("{\"a\":1,\"b\":null}").says("{\"a\":1,\"c\":2}");
    ObjectRequest<String> asked =
        ObjectRequest.builder(schema, json -> "mapped " + json.text().length(), request(A)).build();

    assertEquals("mapped 16", spine.gateway().generateObject(asked).object());
    assertEquals(
        List.of("$.b breaks type at #/properties/b/anyOf/0/type of the schema"),
        fails(asked).violations().subList(0, 1));
    assertEquals(FailureKind.OUTPUT_SCHEMA, fails(asked.withRequest(request(B))).kind());
    assertEquals(
        "mapped 13", spine.gateway().generateObject(asked.withRequest(request(B))).object());
  }

  @Test
  @Tag("R163")
  void a_mapper_that_throws_or_gives_nothing_breaks_the_schema_without_its_words() {
    spine.a.with(JSON).says("{\"a\":1}").says("{\"a\":1}");
    Json schema = Json.parse("{\"type\":\"object\"}");
    InvalidOutputException thrown =
        fails(
            ObjectRequest.builder(
                    schema,
                    json -> {
                      throw new IllegalStateException("secret " + json.text());
                    },
                    request(A))
                .build());

    assertEquals(
        List.of("$ is refused by the mapper (IllegalStateException)"), thrown.violations());
    assertFalse(String.valueOf(thrown.getMessage()).contains("secret"));
  }

  record Numbers(long whole, BigInteger big, BigDecimal exact) {}

  @Test
  @Tag("R165")
  @Tag("FR-N01")
  void numbers_keep_every_digit() {
    spine
        .a
        .with(STRICT)
        .says(
            "{\"whole\":9007199254740993,\"big\":9223372036854775817,"
                + "\"exact\":1234567890.123456789}");

    ObjectResult<Numbers> result =
        spine
            .gateway()
            .generateObject(ObjectRequest.of(Numbers.class, MethodHandles.lookup(), request(A)));

    assertEquals(
        new Numbers(
            9007199254740993L,
            new BigInteger("9223372036854775817"),
            new BigDecimal("1234567890.123456789")),
        result.object());
  }

  @ParameterizedTest
  @EnumSource(names = {"NATIVE", "PROMPTED"})
  @Tag("R163")
  void hostile_depths_and_numbers_are_parse_failures(ObjectMode mode) {
    for (String text :
        List.of(
            "[".repeat(100_000),
            "{\"a\":".repeat(200) + "1" + "}".repeat(200),
            "{\"name\":" + "1".repeat(2_000) + "}")) {
      FakeModel model = new FakeModel().with(STRICT.with(Capability.JSON_MODE)).says(text);
      Gateway gateway = spine.build(spine.builder().adapter("a", id -> model));

      InvalidOutputException end =
          assertThrows(
              InvalidOutputException.class, () -> gateway.generateObject(trip(mode, request(A))));

      assertEquals(FailureKind.OUTPUT_PARSE, end.kind());
    }
  }

  @Test
  @Tag("C31")
  void the_deadline_cuts_off_a_model() throws Exception {
    spine.a.with(STRICT).hangs();
    Caller<ObjectResult<Trip>> caller =
        Caller.start(
            () ->
                spine
                    .gateway()
                    .generateObject(trip(ask(A).timeout(Duration.ofSeconds(1)).build())));
    spine.a.awaitBusy();
    spine.awaitWaitOf(Duration.ofSeconds(1));
    spine.advance(1_000);

    caller.failure(DeadlineExceededException.class);
  }

  @Test
  @Tag("C31")
  void the_deadline_cuts_off_a_mapper() throws Exception {
    spine.a.with(JSON).says("{}");
    CountDownLatch busy = new CountDownLatch(1);
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
    Caller<ObjectResult<String>> caller = Caller.start(() -> spine.gateway().generateObject(asked));
    Spine.await("the mapper", busy);
    spine.awaitWaitOf(Duration.ofSeconds(1));
    spine.advance(1_000);

    caller.failure(DeadlineExceededException.class);
  }

  @Test
  @Tag("R15")
  void a_bad_request_is_refused_before_anything_is_spent() {
    ObjectRequest<Trip> empty = trip(GenerateRequest.builder(Route.of(A), List.of()).build());
    var builder =
        ObjectRequest.builder(JsonType.of(Trip.class, MethodHandles.lookup()), request(A));

    assertThrows(InvalidRequestException.class, () -> spine.gateway().generateObject(empty));
    assertThrows(InvalidRequestException.class, () -> builder.name("a b"));
    assertThrows(InvalidRequestException.class, () -> builder.name("x".repeat(65)));
    assertThrows(InvalidRequestException.class, () -> builder.description(" "));
    assertEquals(0, spine.a.count());
  }

  @Test
  @Tag("R388")
  void the_schema_counts_as_input_where_it_stands() {
    OutputFormat.JsonSchema format =
        new OutputFormat.JsonSchema("x", Optional.empty(), Json.parse("{\"type\":\"object\"}"));
    ModelCall text = ModelCall.builder(List.of(Message.user("1234"))).build();
    ModelCall object =
        ModelCall.builder(List.of(Message.user("1234"))).output(Optional.of(format)).build();

    assertEquals(1, InputSize.tokens(text));
    assertEquals(1 + 17 / 4 + 1, InputSize.tokens(object));
  }

  @Test
  void a_cached_object_is_read_again_and_an_answer_that_is_none_is_not_kept() {
    spine.a.with(STRICT).says("{\"name\":1}").says(TRIP).says("never asked");
    Gateway gateway =
        spine.build(spine.builder().cache(CachePolicy.of(ResponseCache.inMemory(), "test")));
    ObjectRequest<Trip> asked = trip(ask(A).cacheScope("all").build());

    assertThrows(InvalidOutputException.class, () -> gateway.generateObject(asked));
    assertTrue(gateway.flushControls(Duration.ofSeconds(10)));
    assertEquals(ALPS, gateway.generateObject(asked).object());
    assertTrue(gateway.flushControls(Duration.ofSeconds(10)));
    assertEquals(ALPS, gateway.generateObject(asked).object());
    assertEquals(2, spine.a.count());
  }

  // --- any record comes back ----------------------------------------------------------------

  sealed interface Item {
    record Leaf(String text, BigDecimal weight, Optional<Instant> at) implements Item {}

    record Branch(List<Item> items, Optional<Item> last) implements Item {}
  }

  enum Color {
    RED,
    GREEN
  }

  record Box(Item content, List<Color> colors, Optional<Color> lid, Optional<Integer> count) {}

  @Test
  @Tag("R157")
  @Tag("R163")
  @Tag("R166")
  void any_record_comes_back_from_json_that_fits_the_strict_schema() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    JsonType<Box> type = JsonType.of(Box.class, MethodHandles.lookup());
    JsonType<Json> strict = JsonType.ofSchema(StrictSchema.of(type.schema()));
    FakeModel model = new FakeModel();
    Gateway gateway = spine.build(spine.builder().adapter("a", id -> model));
    ObjectRequest<Box> asked = ObjectRequest.builder(type, request(A)).build();
    for (int round = 0; round < 200; round++) {
      Box box =
          new Box(
              item(random, 4),
              random.ints(random.nextInt(3), 0, 2).mapToObj(i -> Color.values()[i]).toList(),
              maybe(random, Color.RED),
              maybe(random, random.nextInt()));
      Json plain = type.write(box);
      Json full = Json.of(withNulls(plain.value()));
      assertEquals(List.of(), strict.violations(full), "seed " + seed);

      model.with(STRICT).says(full.text());
      assertEquals(box, gateway.generateObject(asked).object(), "seed " + seed);
      model.with(JSON).says("Here: " + plain.text() + " Done.");
      assertEquals(box, gateway.generateObject(asked).object(), "seed " + seed);
    }
  }

  private static <V> Optional<V> maybe(Random random, V value) {
    return random.nextBoolean() ? Optional.of(value) : Optional.empty();
  }

  private static Item item(Random random, int depth) {
    if (depth == 0 || random.nextInt(3) == 0) {
      return new Item.Leaf(
          "é{\"[`\\".substring(random.nextInt(6)),
          new BigDecimal(BigInteger.valueOf(random.nextLong()), random.nextInt(20)),
          maybe(random, Instant.ofEpochSecond(random.nextInt(), random.nextInt(1_000_000_000))));
    }
    List<Item> items = new ArrayList<>();
    for (int i = random.nextInt(3); i > 0; i--) {
      items.add(item(random, depth - 1));
    }
    return new Item.Branch(items, maybe(random, item(random, 0)));
  }

  /** What a strict provider writes: null in place of what is absent. */
  private static Object withNulls(Object value) {
    return switch (value) {
      case Map<?, ?> object -> {
        Map<String, Object> full = new LinkedHashMap<>();
        object.forEach((key, member) -> full.put((String) key, withNulls(member)));
        List<String> names =
            full.containsKey("colors")
                ? List.of("lid", "count")
                : List.of(full.get("type").equals("Leaf") ? "at" : "last");
        names.forEach(name -> full.putIfAbsent(name, null));
        yield full;
      }
      case List<?> list -> list.stream().map(GenerateObjectTest::withNulls).toList();
      default -> value;
    };
  }

  @Test
  void the_texts_of_requests_and_results_show_no_content() {
    spine.a.with(STRICT).says(TRIP);
    ObjectRequest<Trip> asked = trip(request(A));
    ObjectResult<Trip> result = spine.gateway().generateObject(asked);

    assertEquals(
        "ObjectRequest[response, AUTO, GenerateRequest[a/model-a, 1 messages]]", asked.toString());
    assertFalse(result.toString().contains("Alps"));
    assertSame(asked.request(), asked.withRequest(asked.request()).request());
  }
}
