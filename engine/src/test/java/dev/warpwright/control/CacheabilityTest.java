package dev.warpwright.control;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.control.Cacheability.Bypassed;
import dev.warpwright.control.Cacheability.Keyed;
import dev.warpwright.control.Cacheability.Reason;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.Image;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.OutputFormat;
import dev.warpwright.model.Part;
import dev.warpwright.model.ProviderState;
import dev.warpwright.model.Reasoning;
import dev.warpwright.model.Role;
import dev.warpwright.model.Target;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.ToolChoice;
import dev.warpwright.model.ToolResult;
import dev.warpwright.model.ToolSpec;
import dev.warpwright.model.Usage;
import dev.warpwright.task.Deadline;
import dev.warpwright.testing.ManualTime;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which calls have a key, what is in it, and which answers are kept: pure functions. */
final class CacheabilityTest {
  private static final CacheScope SCOPE = scope("production", "tenant-1", null);
  private static final Target TARGET = Target.of("a", "model-a");
  private static final List<Message> QUESTION =
      List.of(Message.system("Be brief."), Message.user("Why is the sky blue?"));

  private static final ToolCall CALL =
      new ToolCall("1", "look_up", Json.EMPTY_OBJECT, Optional.empty());

  private static CacheScope scope(String authentication, String cache, @Nullable String budget) {
    return new CacheScope(authentication, cache, Optional.ofNullable(budget));
  }

  private static ModelCall.Builder ask(Message... messages) {
    return ModelCall.builder(List.of(messages));
  }

  private static CacheKey key(CacheScope scope, Target target, ModelCall call) {
    return assertInstanceOf(Keyed.class, Cacheability.of(scope, target, call)).key();
  }

  private static CacheKey key(ModelCall.Builder call) {
    return key(SCOPE, TARGET, call.build());
  }

  private static Reason reason(CacheScope scope, Target target, ModelCall call) {
    return assertInstanceOf(Bypassed.class, Cacheability.of(scope, target, call)).reason();
  }

  private static Reason reason(ModelCall.Builder call) {
    return reason(SCOPE, TARGET, call.build());
  }

  private static ModelCall.Builder question() {
    return ModelCall.builder(QUESTION);
  }

  @Test
  @Tag("R335")
  @Tag("FR-K01")
  @Tag("FR-K05")
  void whatever_can_change_the_answer_or_who_may_see_it_changes_the_key() {
    Map<String, CacheKey> keys = new LinkedHashMap<>();
    keys.put("the call", key(question()));
    ModelCall call = question().build();
    keys.put("authentication scope", key(scope("production-2", "tenant-1", null), TARGET, call));
    keys.put("cache scope", key(scope("production", "tenant-2", null), TARGET, call));
    keys.put("budget scope", key(scope("production", "tenant-1", "tenant-1"), TARGET, call));
    keys.put("other budget", key(scope("production", "tenant-1", "tenant-2"), TARGET, call));
    keys.put("provider", key(SCOPE, Target.of("b", "model-a"), call));
    keys.put("model", key(SCOPE, Target.of("a", "model-b"), call));
    keys.put("deployment", key(SCOPE, new Target("a", "model-a", Optional.of("eu")), call));
    keys.put("no system text", key(ask(Message.user("Why is the sky blue?"))));
    keys.put(
        "system text", key(ask(Message.system("Be long."), Message.user("Why is the sky blue?"))));
    keys.put(
        "system text from the user",
        key(ask(Message.user("Be brief."), Message.user("Why is the sky blue?"))));
    keys.put("order", key(ask(QUESTION.get(1), QUESTION.get(0))));
    keys.put(
        "one space more",
        key(ask(Message.system("Be brief."), Message.user("Why is the sky blue? "))));
    keys.put(
        "another turn", key(ask(QUESTION.get(0), QUESTION.get(1), Message.assistant("Why not?"))));
    keys.put("temperature 0", key(question().temperature(OptionalDouble.of(0))));
    keys.put("temperature", key(question().temperature(OptionalDouble.of(0.7))));
    keys.put("max tokens", key(question().maxTokens(OptionalInt.of(100))));
    keys.put("more tokens", key(question().maxTokens(OptionalInt.of(101))));
    keys.put("tool choice", key(question().toolChoice(ToolChoice.NONE)));
    keys.put("required", key(question().toolChoice(ToolChoice.REQUIRED)));
    keys.put("named", key(question().toolChoice(ToolChoice.tool("a"))));
    keys.put("named otherwise", key(question().toolChoice(ToolChoice.tool("b"))));
    for (Reasoning.Effort effort : Reasoning.Effort.values()) {
      keys.put(
          "effort " + effort, key(question().reasoning(Optional.of(Reasoning.effort(effort)))));
    }
    keys.put("budget 100", key(question().reasoning(Optional.of(Reasoning.budget(100)))));
    keys.put("budget 101", key(question().reasoning(Optional.of(Reasoning.budget(101)))));
    keys.put("json mode", key(question().output(Optional.of(new OutputFormat.JsonObject()))));
    Json schema = Json.parse("{\"type\":\"object\"}");
    keys.put("schema", key(output("a", Optional.empty(), schema)));
    keys.put("name of the schema", key(output("b", Optional.empty(), schema)));
    keys.put("description of the schema", key(output("a", Optional.of("b"), schema)));
    keys.put("another schema", key(output("a", Optional.empty(), Json.EMPTY_OBJECT)));

    assertEquals(keys.size(), new HashSet<>(keys.values()).size(), keys::toString);
  }

  private static ModelCall.Builder output(String name, Optional<String> description, Json schema) {
    return question().output(Optional.of(new OutputFormat.JsonSchema(name, description, schema)));
  }

  @Test
  @Tag("R335")
  void equal_calls_have_the_same_key_whenever_they_must_end() {
    ModelCall.Builder again =
        ask(new Message(Role.SYSTEM, List.of(new Part.Text("Be brief."))), QUESTION.get(1));
    assertEquals(key(question()), key(again));
    assertEquals(
        key(question()),
        key(question().deadline(Deadline.after(new ManualTime(), Duration.ofSeconds(1)))));
    assertEquals(
        key(question().temperature(OptionalDouble.of(0.0))),
        key(question().temperature(OptionalDouble.of(-0.0))));
  }

  @Test
  @Tag("R335")
  void the_key_of_a_call_never_changes() {
    assertEquals(
        "8532149b7a127f13bd6031130ae8c17419e4ffb815f28b5cdb3d420497523af4",
        key(scope("production", "tenant-1", "2026-01"), TARGET, question().build()).digest());
  }

  /** Scopes, target and messages of one random call; equal only if all is equal. */
  private record Input(CacheScope scope, Target target, List<Message> messages) {}

  @Test
  @Tag("R335")
  @Tag("FR-K05")
  void no_two_inputs_collide_however_ids_and_texts_are_cut() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    Map<CacheKey, Input> seen = new HashMap<>();
    Map<Input, CacheKey> keys = new HashMap<>();
    for (int i = 0; i < 30_000; i++) {
      Input input = randomInput(random);
      CacheKey key =
          key(input.scope(), input.target(), ModelCall.builder(input.messages()).build());
      Input other = seen.putIfAbsent(key, input);
      assertTrue(
          other == null || other.equals(input),
          () -> "seed %d: %s and %s".formatted(seed, other, input));
      CacheKey before = keys.putIfAbsent(input, key);
      assertTrue(before == null || before.equals(key), () -> "seed " + seed + ": " + input);
    }
    assertTrue(keys.size() > 1_000, "seed " + seed);
  }

  /** Few and short texts of what may stand between others, so that many differ by a cut alone. */
  private static Input randomInput(Random random) {
    List<Message> messages = new ArrayList<>();
    for (int i = random.nextInt(3); i > 0; i--) {
      List<Part> parts = new ArrayList<>();
      for (int j = random.nextInt(3); j > 0; j--) {
        parts.add(new Part.Text(random.nextInt(3) == 0 ? "" : text(random)));
      }
      messages.add(new Message(random.nextBoolean() ? Role.USER : Role.ASSISTANT, parts));
    }
    return new Input(
        new CacheScope(
            text(random),
            text(random),
            random.nextBoolean() ? Optional.empty() : Optional.of(text(random))),
        new Target(
            random.nextBoolean() ? "1" : "11",
            text(random),
            random.nextBoolean()
                ? Optional.empty()
                : Optional.of(random.nextBoolean() ? "1" : "0")),
        messages);
  }

  private static String text(Random random) {
    String[] pieces = {"1", ":", "0", "11", "1:1", "0:", "/", "|", "@", "USER", "4:USER", "1:0"};
    String text = pieces[random.nextInt(pieces.length)];
    return random.nextInt(3) == 0 ? text + pieces[random.nextInt(pieces.length)] : text;
  }

  @Test
  @Tag("R336")
  void tools_and_options_of_the_provider_bypass_the_cache() {
    ToolSpec tool = new ToolSpec("look_up", "Looks up.", Json.parse("{\"type\":\"object\"}"));
    assertEquals(Reason.TOOLS, reason(question().tools(List.of(tool))));
    assertEquals(
        Reason.PROVIDER_OPTIONS, reason(question().providerOptions(Json.parse("{\"seed\":1}"))));
    assertEquals(key(question()), key(question().providerOptions(Json.parse(" { } "))));
  }

  @Test
  @Tag("R336")
  void tool_history_images_and_private_state_bypass_the_cache() {
    Message calls = new Message(Role.ASSISTANT, List.of(new Part.Text("Let me see."), CALL));
    assertEquals(Reason.TOOL_HISTORY, reason(ask(QUESTION.get(1), calls)));
    Message results = Message.tool(List.of(ToolResult.success(CALL, Json.EMPTY_OBJECT)));
    assertEquals(Reason.TOOL_HISTORY, reason(ask(QUESTION.get(1), results)));
    Message picture = Message.user("What is it?", Image.of("image/png", new byte[] {1}));
    assertEquals(Reason.IMAGES, reason(ask(picture)));
    Message thought =
        new Message(
            Role.ASSISTANT,
            List.of(
                ProviderState.of("protocol", "model-a", Json.EMPTY_OBJECT), new Part.Text("42")));
    assertEquals(Reason.PROVIDER_STATE, reason(ask(QUESTION.get(1), thought, QUESTION.get(1))));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Authorization: Bearer abcdefgh",
        "Call it with {\"api_key\": \"abc\"} please.",
        "GET https://example.com/?access_token=abc",
        "My key is sk-abcdefghijklmnopqrstuvwx, is it safe?",
        "https://user:word@example.com/"
      })
  @Tag("R337")
  void what_looks_like_a_secret_makes_a_call_uncached(String secret) {
    ModelCall call = question().build();
    assertEquals(Reason.SECRET, reason(ask(Message.user(secret))));
    assertEquals(Reason.SECRET, reason(ask(Message.system(secret), Message.user("Hello."))));
    assertEquals(Reason.SECRET, reason(scope(secret, "tenant-1", null), TARGET, call));
    assertEquals(Reason.SECRET, reason(scope("production", secret, null), TARGET, call));
    assertEquals(Reason.SECRET, reason(scope("production", "tenant-1", secret), TARGET, call));
    assertEquals(Reason.SECRET, reason(SCOPE, Target.of("a", secret), call));
  }

  @Test
  @Tag("R337")
  void what_has_no_canonical_form_makes_a_call_uncached() {
    ModelCall call = question().build();
    String unpaired = "x\uD800";
    assertEquals(Reason.NO_CANONICAL_FORM, reason(scope(unpaired, "tenant-1", null), TARGET, call));
    assertEquals(Reason.NO_CANONICAL_FORM, reason(scope("p", unpaired, null), TARGET, call));
    assertEquals(Reason.NO_CANONICAL_FORM, reason(scope("p", "t", unpaired), TARGET, call));
    assertEquals(Reason.NO_CANONICAL_FORM, reason(SCOPE, Target.of("a", unpaired), call));
    for (double none : new double[] {Double.NaN, Double.POSITIVE_INFINITY}) {
      assertEquals(
          Reason.NO_CANONICAL_FORM, reason(question().temperature(OptionalDouble.of(none))));
    }
    key(scope("production", "naïve 🙂", null), TARGET, call);
  }

  @Test
  @Tag("R335")
  void nothing_of_a_call_can_be_read_in_its_key() {
    CacheKey key = key(scope("production", "tenant-1", "budget-1"), TARGET, question().build());
    assertTrue(key.digest().matches("[0-9a-f]{64}"), key::digest);
    assertEquals("CacheKey[" + key.digest().substring(0, 12) + "]", key.toString());
    assertFalse(SCOPE.toString().contains("tenant"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "abc", "tenant-1/Why is the sky blue?"})
  void a_text_that_is_no_digest_is_no_key_and_is_not_shown(String text) {
    var refused = assertThrows(InvalidRequestException.class, () -> new CacheKey(text));
    assertEquals(
        "A cache key must be 64 lower-case hex digits, but is a text of %d characters."
            .formatted(text.length()),
        refused.getMessage());
    assertThrows(InvalidRequestException.class, () -> new CacheKey("A".repeat(64)));
  }

  @Test
  @Tag("R39")
  void a_scope_is_not_blank_and_not_too_long() {
    String longest = "x".repeat(256);
    scope("production", longest, longest);
    for (String bad : List.of("", " ", longest + "x")) {
      var cache = assertThrows(InvalidRequestException.class, () -> scope("production", bad, null));
      assertEquals(FailureKind.INVALID_SCOPE, cache.kind());
      assertEquals(
          "cacheScope must have 1 to 256 characters and not be blank, but has %d."
              .formatted(bad.length()),
          cache.getMessage());
      assertThrows(InvalidRequestException.class, () -> scope("production", "tenant-1", bad));
    }
  }

  private static ModelResponse response(FinishReason.Kind kind, Part... parts) {
    return new ModelResponse(
        new Message(Role.ASSISTANT, List.of(parts)),
        new FinishReason(kind, ""),
        Usage.ABSENT,
        Optional.empty());
  }

  @Test
  @Tag("R343")
  void answers_with_anything_but_text_are_not_kept() {
    Part text = new Part.Text("Because.");
    assertTrue(Cacheability.storable(response(FinishReason.Kind.STOP, text)));
    assertTrue(Cacheability.storable(response(FinishReason.Kind.STOP, text, text)));
    Part state = ProviderState.of("protocol", "model-a", Json.EMPTY_OBJECT);
    for (Part other : List.of(CALL, state)) {
      assertFalse(Cacheability.storable(response(FinishReason.Kind.STOP, other)));
      assertFalse(Cacheability.storable(response(FinishReason.Kind.STOP, text, other)));
      assertFalse(Cacheability.storable(response(FinishReason.Kind.STOP, other, text)));
    }
    assertFalse(Cacheability.storable(response(FinishReason.Kind.STOP)));
    assertFalse(Cacheability.storable(response(FinishReason.Kind.STOP, new Part.Text(""))));
  }

  @ParameterizedTest
  @EnumSource(FinishReason.Kind.class)
  @Tag("R343")
  void only_answers_that_came_to_their_end_or_their_limit_are_kept(FinishReason.Kind kind) {
    assertEquals(
        Set.of(FinishReason.Kind.STOP, FinishReason.Kind.LENGTH).contains(kind),
        Cacheability.storable(response(kind, new Part.Text("Because."))));
  }

  @Test
  @Tag("R345")
  void an_answer_is_immutable_all_the_way_down_so_no_copy_is_needed() {
    Set<Type> seen = new HashSet<>();
    assertImmutable(ModelResponse.class, seen);
    assertTrue(seen.contains(Usage.class));

    List<Part> given = new ArrayList<>(List.of(new Part.Text("Because.")));
    Message message = new Message(Role.ASSISTANT, given);
    given.clear();
    assertEquals("Because.", message.text());
    assertThrows(UnsupportedOperationException.class, () -> message.parts().clear());
  }

  private static void assertImmutable(Type type, Set<Type> seen) {
    if (!seen.add(type)) {
      return;
    }
    if (type instanceof ParameterizedType generic) {
      assertTrue(Set.of(Optional.class, List.class).contains(generic.getRawType()), type::toString);
      for (Type argument : generic.getActualTypeArguments()) {
        assertImmutable(argument, seen);
      }
      return;
    }
    Class<?> raw = assertInstanceOf(Class.class, type);
    if (raw.isPrimitive() || raw.isEnum() || Set.of(String.class, Json.class).contains(raw)) {
      return;
    }
    if (raw.isSealed() && raw.isInterface()) {
      for (Class<?> permitted : raw.getPermittedSubclasses()) {
        assertImmutable(permitted, seen);
      }
      return;
    }
    assertTrue(raw.isRecord(), raw::toString);
    for (RecordComponent component : raw.getRecordComponents()) {
      assertImmutable(component.getGenericType(), seen);
    }
  }

  @Test
  @Tag("R335")
  @Tag("FR-K01")
  void the_same_text_in_another_role_or_place_is_another_call() {
    assertNotEquals(
        key(ask(Message.user("a"), Message.assistant("b"))),
        key(ask(Message.user("a"), Message.user("b"))));
    assertNotEquals(key(ask(Message.user("ab"))), key(ask(Message.user("a"), Message.user("b"))));
    assertNotEquals(key(ask()), key(ask(Message.user(""))));
  }
}
