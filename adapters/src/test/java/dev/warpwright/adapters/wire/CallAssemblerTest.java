package dev.warpwright.adapters.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.adapters.http.Authorization;
import dev.warpwright.adapters.http.ErrorTable;
import dev.warpwright.adapters.http.Failures;
import dev.warpwright.json.StrictJson;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.ProviderException.Kind;
import dev.warpwright.model.Role;
import dev.warpwright.model.ToolCall;
import java.net.http.HttpHeaders;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

final class CallAssemblerTest {
  private static final Failures FAILURES =
      new Failures(
          new ErrorTable("Test", "x-request-id", Map.of(), Set.of(), List.of()),
          InstantSource.system(),
          Authorization.NONE);
  static final ModelCall ASKED = ModelCall.builder(List.of(Message.user("Hi"))).build();

  static CallAssembler assembler(ModelCall asked) {
    return new CallAssembler(
        FAILURES, HttpHeaders.of(Map.of(), (name, value) -> true), asked, "arguments");
  }

  static void add(CallAssembler calls, String fragment) {
    JsonNode json = StrictJson.readDocument(fragment);
    JsonNode function = json.path("function");
    calls.fragment(
        json.path("index"),
        json.path("id"),
        function.path("name"),
        function.path("arguments"),
        new StreamEvent("message", fragment, json));
  }

  private static List<ToolCall> calls(ModelCall asked, String... fragments) {
    CallAssembler calls = assembler(asked);
    for (String fragment : fragments) {
      add(calls, fragment);
    }
    return calls.calls();
  }

  /** The calls as "id name input", those that are malformed with the text behind a bang. */
  private static void assertCalls(String expected, String... fragments) {
    assertEquals(
        expected, calls(ASKED, fragments).stream().map(CallAssemblerTest::shown).collect(joined()));
  }

  private static java.util.stream.Collector<CharSequence, ?, String> joined() {
    return Collectors.joining("; ");
  }

  static String shown(ToolCall call) {
    return call.id()
        + " "
        + call.name()
        + " "
        + call.malformed().map(text -> "!" + text).orElse(call.input().text());
  }

  private static void assertBroken(String what, String... fragments) {
    ProviderException broken = assertThrows(ProviderException.class, () -> calls(ASKED, fragments));
    assertEquals(Kind.PROTOCOL, broken.kind());
    assertTrue(broken.getMessage().contains(what), broken.getMessage());
  }

  @Test
  @Tag("FR-T01")
  @Tag("FR-T05")
  @Tag("Y40")
  void an_empty_id_name_or_type_on_a_continuation_changes_nothing() {
    assertCalls(
        "call_1 f {\"a\":1}",
        "{'index':0,'id':'call_1','function':{'name':'f','arguments':''}}".replace('\'', '"'),
        "{\"index\":0,\"id\":\"\",\"function\":{\"arguments\":\"{\\\"a\\\":\"}}",
        "{\"index\":0,\"id\":\"\",\"type\":\"\",\"function\":{\"name\":\"\",\"arguments\":\"1}\"}}");
    assertCalls(
        "c f {\"a\":1}",
        "{\"index\":0,\"id\":\"c\",\"function\":{\"name\":\"f\",\"arguments\":null}}",
        "{\"index\":0,\"id\":null,\"function\":{\"name\":null,\"arguments\":\"{\\\"a\\\":1}\"}}",
        "{\"index\":0,\"id\":\" \",\"function\":{\"name\":\" \"}}",
        "{\"index\":0}",
        "{}");
  }

  @Test
  @Tag("Y40")
  void an_id_and_a_name_may_be_said_each_time_again() {
    assertCalls(
        "c f {\"a\":1}",
        "{\"index\":0,\"id\":\"c\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"a\\\"\"}}",
        "{\"index\":0,\"id\":\"c\",\"function\":{\"name\":\"f\",\"arguments\":\":1\"}}",
        "{\"index\":0,\"function\":{\"name\":\"f\",\"arguments\":\"}\"}}");
  }

  @Test
  @Tag("FR-T07")
  @Tag("Y40")
  void a_new_id_or_another_tool_at_an_index_in_use_begins_another_call() {
    assertCalls(
        "a f {\"q\":\"A\"}; b g {\"q\":\"B\"}; c g {}",
        "{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"q\\\":\\\"A\\\"}\"}}",
        "{\"index\":0,\"id\":\"b\",\"function\":{\"name\":\"g\",\"arguments\":\"{\\\"q\\\":\"}}",
        "{\"index\":0,\"function\":{\"arguments\":\"\\\"B\\\"}\"}}",
        "{\"index\":0,\"id\":\"c\",\"function\":{\"name\":\"g\",\"arguments\":\"{}\"}}");
    List<ToolCall> nameless =
        calls(
            ASKED,
            "{\"index\":0,\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}",
            "{\"index\":0,\"function\":{\"name\":\"g\",\"arguments\":\"{\\\"a\\\":1}\"}}");
    assertEquals(List.of("f", "g"), nameless.stream().map(ToolCall::name).toList());
    assertEquals("{\"a\":1}", nameless.getLast().input().text());
  }

  @Test
  @Tag("FR-T09")
  @Tag("FR-T17")
  @Tag("Y43")
  void interleaved_calls_keep_their_own_arguments_and_stand_in_the_order_of_their_indices() {
    assertCalls(
        "a f {\"p\":10}; b g {\"r\":20}; c h {}",
        "{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"p\\\":\"}}",
        "{\"index\":2,\"id\":\"c\",\"function\":{\"name\":\"h\",\"arguments\":\"{}\"}}",
        "{\"index\":1,\"id\":\"b\",\"function\":{\"name\":\"g\",\"arguments\":\"{\\\"r\\\":\"}}",
        "{\"index\":0,\"function\":{\"arguments\":\"10}\"}}",
        "{\"index\":1,\"function\":{\"arguments\":\"20}\"}}");
    assertCalls(
        "a f {}; b g {\"a\":1}",
        "{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}",
        "{\"index\":1,\"id\":\"b\",\"function\":{\"name\":\"g\",\"arguments\":\"{\\\"a\\\":1}\"}}");
  }

  @Test
  @Tag("FR-T11")
  @Tag("Y40")
  void without_an_index_the_id_says_which_call_and_without_both_there_must_be_one() {
    assertCalls(
        "c1 get_weather {}; c2 get_time {}",
        "{\"id\":\"c1\",\"function\":{\"name\":\"get_weather\",\"arguments\":\"{}\"}}",
        "{\"id\":\"c2\",\"function\":{\"name\":\"get_time\",\"arguments\":\"{}\"}}");
    assertCalls(
        "c1 f {\"a\":1}; c2 g {}",
        "{\"id\":\"c1\",\"function\":{\"name\":\"f\",\"arguments\":\"{\"}}",
        "{\"id\":\"c2\",\"function\":{\"name\":\"g\",\"arguments\":\"{\"}}",
        "{\"id\":\"c1\",\"function\":{\"arguments\":\"\\\"a\\\":1}\"}}",
        "{\"id\":\"c2\",\"function\":{\"arguments\":\"}\"}}");
    assertCalls(
        "c1 f {\"a\":1}",
        "{\"id\":\"c1\",\"function\":{\"name\":\"f\",\"arguments\":\"{\"}}",
        "{\"function\":{\"arguments\":\"\\\"a\\\":1}\"}}");
    assertBroken(
        "neither by index nor by id",
        "{\"id\":\"c1\",\"function\":{\"name\":\"f\"}}",
        "{\"id\":\"c2\",\"function\":{\"name\":\"g\"}}",
        "{\"function\":{\"arguments\":\"{}\"}}");
    assertBroken("neither by index nor by id", "{\"function\":{\"arguments\":\"{}\"}}");
  }

  @Test
  @Tag("FR-T11")
  void fragments_with_and_without_an_index_meet_in_one_call() {
    assertCalls(
        "c1 f {\"a\":1}; c2 g {}",
        "{\"id\":\"c1\",\"function\":{\"name\":\"f\",\"arguments\":\"{\"}}",
        "{\"index\":0,\"id\":\"c1\",\"function\":{\"arguments\":\"\\\"a\\\"\"}}",
        "{\"index\":0,\"function\":{\"arguments\":\":1\"}}",
        "{\"index\":1,\"id\":\"c2\",\"function\":{\"name\":\"g\"}}",
        "{\"id\":\"c1\",\"function\":{\"arguments\":\"}\"}}");
    assertCalls(
        "c1 f {}",
        "{\"id\":\"c1\",\"function\":{\"name\":\"f\"}}",
        "{\"index\":0,\"function\":{\"arguments\":\"{}\"}}");
    assertCalls(
        "c1 f {}; c2 f {}",
        "{\"id\":\"c1\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}",
        "{\"index\":1,\"id\":\"c2\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}");
  }

  @Test
  @Tag("FR-T13")
  void an_id_before_the_name_and_an_id_behind_it_make_one_call() {
    assertCalls(
        "c load {}",
        "{\"index\":0,\"id\":\"c\"}",
        "{\"index\":0,\"function\":{\"name\":\"load\",\"arguments\":\"{}\"}}");
    assertCalls(
        "c load {}",
        "{\"index\":0,\"function\":{\"name\":\"load\"}}",
        "{\"index\":0,\"id\":\"c\",\"function\":{\"arguments\":\"{}\"}}");
    assertCalls(
        "c load {}",
        "{\"function\":{\"name\":\"load\"}}",
        "{\"id\":\"c\",\"function\":{\"arguments\":\"{}\"}}");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", ",\"arguments\":\"\"", ",\"arguments\":\" \"", ",\"arguments\":null"})
  @Tag("FR-T15")
  @Tag("Y31")
  void a_call_without_arguments_has_the_empty_object(String arguments) {
    assertCalls(
        "c f {}", "{\"index\":0,\"id\":\"c\",\"function\":{\"name\":\"f\"" + arguments + "}}");
  }

  @Test
  @Tag("FR-T19")
  @Tag("FR-T21")
  @Tag("Y31")
  void arguments_that_are_no_object_make_the_call_malformed_and_double_encoding_is_undone() {
    assertCalls(
        "a f {\"a\":3}; b f !{\"p\":{\"a\":\"x\"; c f !{\"a\":1,\"a\":2}; d f !5",
        "{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"\\\"{\\\\\\\"a\\\\\\\"\"}}",
        "{\"index\":0,\"function\":{\"arguments\":\":3}\\\"\"}}",
        "{\"index\":1,\"id\":\"b\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"p\\\":{\\\"a\\\":\\\"x\\\"\"}}",
        "{\"index\":2,\"id\":\"c\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"a\\\":1,\\\"a\\\":2}\"}}",
        "{\"index\":3,\"id\":\"d\",\"function\":{\"name\":\"f\",\"arguments\":5}}");
  }

  @Test
  @Tag("Y29")
  void arguments_may_come_as_the_object_itself_which_counts_if_no_text_comes() {
    assertCalls(
        "a f {\"n\":9223372036854775817}; b g {\"b\":2}; c h {}",
        "{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":{\"n\":9223372036854775817}}}",
        "{\"index\":1,\"id\":\"b\",\"function\":{\"name\":\"g\",\"arguments\":{}}}",
        "{\"index\":1,\"function\":{\"arguments\":\"{\\\"b\\\":2}\"}}",
        "{\"index\":2,\"id\":\"c\",\"function\":{\"name\":\"h\",\"arguments\":{}}}");
    assertCalls(
        "a f !{\"n\":2}",
        "{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":{\"n\":1,\"n\":2}}}");
    assertCalls(
        "a f ![1]", "{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":[1]}}");
  }

  @Test
  @Tag("Y40")
  void the_same_id_for_two_calls_breaks_the_protocol() {
    assertBroken(
        "at two indices",
        "{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\"}}",
        "{\"index\":1,\"id\":\"a\",\"function\":{\"name\":\"f\"}}");
    assertBroken(
        "the same id",
        "{\"id\":\"a\",\"function\":{\"name\":\"f\"}}",
        "{\"id\":\"a\",\"function\":{\"name\":\"g\"}}");
  }

  @ParameterizedTest
  @ValueSource(strings = {"-1", "128", "1.5", "\"0\"", "99999999999999999999", "true", "{}"})
  @Tag("Y40")
  void an_index_that_is_none_from_0_to_127_breaks_the_protocol(String index) {
    assertBroken(
        "between 0 and 127",
        "{\"index\":" + index + ",\"id\":\"a\",\"function\":{\"name\":\"f\"}}");
  }

  @Test
  @Tag("Y40")
  void an_answer_has_at_most_128_calls() {
    CallAssembler calls = assembler(ASKED);
    for (int i = 0; i < 128; i++) {
      add(calls, "{\"index\":0,\"id\":\"c" + i + "\",\"function\":{\"name\":\"f\"}}");
    }
    assertEquals(128, calls.calls().size());
    ProviderException broken =
        assertThrows(ProviderException.class, () -> add(calls, "{\"index\":0,\"id\":\"more\"}"));
    assertTrue(broken.getMessage().contains("128"), broken.getMessage());
    CallAssembler last = assembler(ASKED);
    add(last, "{\"index\":127,\"id\":\"c\",\"function\":{\"name\":\"f\"}}");
    assertEquals(1, last.calls().size());
  }

  @Test
  void a_call_that_is_never_named_breaks_the_protocol() {
    assertBroken(
        "without a name",
        "{\"index\":0,\"id\":\"a\"}",
        "{\"index\":0,\"function\":{\"arguments\":\"{}\"}}");
  }

  @Test
  @Tag("Y32")
  void arguments_beyond_1_mib_break_the_protocol_as_soon_as_they_are() {
    String begin = "{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\"}}";
    CallAssembler calls = assembler(ASKED);
    add(calls, begin);
    String piece = "{\"index\":0,\"function\":{\"arguments\":\"" + "x".repeat(1024) + "\"}}";
    for (int i = 0; i < 1024; i++) {
      add(calls, piece);
    }
    assertEquals(1, calls.calls().size());
    ProviderException broken =
        assertThrows(
            ProviderException.class,
            () -> add(calls, "{\"index\":0,\"function\":{\"arguments\":\"x\"}}"));
    assertTrue(broken.getMessage().contains("1048576"), broken.getMessage());
    assertBroken( // bytes count, not characters
        "1048576",
        begin,
        "{\"index\":0,\"function\":{\"arguments\":\"" + "é".repeat(524_289) + "\"}}");
  }

  @Test
  @Tag("Y41")
  void a_call_without_an_id_gets_one_that_depends_on_conversation_and_answer_not_on_the_cuts() {
    String[] fragments = {
      "{\"index\":0,\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"a\\\"\"}}",
      "{\"index\":0,\"function\":{\"arguments\":\":1}\"}}",
      "{\"index\":1,\"function\":{\"name\":\"g\",\"arguments\":\"{}\"}}"
    };
    List<ToolCall> calls = calls(ASKED, fragments);
    List<ToolCall> again =
        calls(
            ASKED,
            "{\"index\":1,\"function\":{\"name\":\"g\",\"arguments\":\"{}\"}}",
            "{\"index\":0,\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"a\\\":1}\"}}");
    assertEquals(calls, again);
    assertNotEquals(calls.getFirst().id(), calls.getLast().id());

    ModelCall later =
        ModelCall.builder(
                List.of(Message.user("Hi"), new Message(Role.ASSISTANT, List.copyOf(calls))))
            .build();
    assertNotEquals(calls.getFirst().id(), calls(later, fragments).getFirst().id());
    assertNotEquals(
        calls.getFirst().id(),
        calls(ASKED, "{\"index\":0,\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}")
            .getFirst()
            .id());
  }
}
