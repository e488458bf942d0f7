package dev.warpwright.model;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which conversations with tool calls may be gone on with. */
final class PortableHistoryTest {
  private static final String INVALID = "Invalid or unsupported message history.";
  private static final PortableHistory PLAIN_TOOLS = new PortableHistory(true, false);
  private static final Message ASK = Message.user("How is the weather?");

  private static ToolCall call(String id) {
    return new ToolCall(id, "look", Json.parse("{\"at\":\"s3cr3t\"}"));
  }

  private static ToolResult result(String id) {
    return ToolResult.success(call(id), Json.of("s3cr3t"));
  }

  private static Message asks(Part... parts) {
    return new Message(Role.ASSISTANT, List.of(parts));
  }

  private static Message answers(ToolResult... results) {
    return Message.tool(List.of(results));
  }

  private static Part.Text text(String words) {
    return new Part.Text(words);
  }

  private static PortableHistory of(Message... messages) {
    return PortableHistory.of(List.of(messages));
  }

  private static void assertRefused(Message... messages) {
    InvalidRequestException refused =
        assertThrows(InvalidRequestException.class, () -> of(messages), Arrays.toString(messages));
    assertEquals(FailureKind.INVALID_HISTORY, refused.kind());
    assertEquals(INVALID, refused.getMessage());
    assertNull(refused.getCause());
  }

  @Test
  @Tag("R185")
  void every_call_has_one_result_before_anybody_else_speaks() {
    assertEquals(PLAIN_TOOLS, of(ASK, asks(call("a")), answers(result("a"))));
    assertEquals(
        PLAIN_TOOLS,
        of(ASK, asks(call("a")), answers(result("a")), Message.assistant("Fine."), ASK));

    assertRefused(ASK, asks(call("a")));
    assertRefused(ASK, asks(call("a")), ASK);
    assertRefused(ASK, asks(call("a")), ASK, answers(result("a")));
    assertRefused(ASK, asks(call("a")), Message.assistant("Well."), answers(result("a")));
    assertRefused(ASK, asks(call("a"), call("b")), answers(result("a")), ASK);
    assertRefused(ASK, asks(call("a"), call("b")), answers(result("a")), ASK, answers(result("b")));
  }

  @Test
  @Tag("R185")
  void a_result_has_a_call_before_it_and_no_other_result() {
    assertRefused(ASK, answers(result("a")));
    assertRefused(ASK, answers(result("a")), asks(call("a")));
    assertRefused(ASK, asks(call("a")), answers(result("a"), result("a")));
    assertRefused(ASK, asks(call("a")), answers(result("a")), answers(result("a")));
    assertRefused(ASK, asks(call("a")), answers(result("a"), result("b")));
    assertRefused(
        ASK, asks(call("a")), answers(new ToolResult("a", "listen", Json.of("x"), false)));
    assertRefused(ASK, asks(call("a")), answers());
  }

  @Test
  @Tag("R186")
  void results_come_in_any_order_in_one_message_or_in_several() {
    Message asked = asks(call("a"), call("b"), call("c"));

    assertEquals(PLAIN_TOOLS, of(ASK, asked, answers(result("c"), result("a"), result("b"))));
    assertEquals(
        PLAIN_TOOLS, of(ASK, asked, answers(result("b")), answers(result("c"), result("a")), ASK));
  }

  @Test
  @Tag("R184")
  void an_id_names_one_call_of_the_whole_conversation() {
    assertRefused(ASK, asks(call("a"), call("a")), answers(result("a")));
    assertRefused(
        ASK, asks(call("a")), answers(result("a")), ASK, asks(call("a")), answers(result("a")));
  }

  static Stream<Arguments> names() {
    return Stream.of(
        Arguments.of("", false),
        Arguments.of("a", true),
        Arguments.of("x".repeat(256), true),
        Arguments.of("x".repeat(257), false),
        Arguments.of("a b", false),
        Arguments.of(" a", false),
        Arguments.of("a\u00a0b", false),
        Arguments.of("a\u2028b", false),
        Arguments.of("a\tb", false),
        Arguments.of("a\u0000", false),
        Arguments.of("a\u007f", false),
        Arguments.of("a\u0085", false),
        Arguments.of("fc_68a.b:c/d|e-ä😀", true));
  }

  @ParameterizedTest
  @MethodSource("names")
  @Tag("R184")
  void ids_and_names_have_1_to_256_characters_without_spaces_and_controls(
      String name, boolean accepted) {
    ToolCall byId = new ToolCall(name, "look", Json.EMPTY_OBJECT);
    ToolCall byName = new ToolCall("a", name, Json.EMPTY_OBJECT);

    for (ToolCall call : List.of(byId, byName)) {
      Message[] messages = {ASK, asks(call), answers(ToolResult.success(call, Json.of(1)))};
      if (accepted) {
        assertEquals(PLAIN_TOOLS, of(messages));
      } else {
        assertRefused(messages);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"[1]", "\"text\"", "null", "3", "true"})
  @Tag("R183")
  void an_input_is_an_object(String input) {
    ToolCall call = new ToolCall("a", "look", Json.parse(input));

    assertRefused(ASK, asks(call), answers(ToolResult.success(call, Json.of(1))));
  }

  @Test
  @Tag("R183")
  void an_input_that_could_not_be_read_has_its_text_and_no_input() {
    ToolCall unread = ToolCall.malformed("a", "look", "{oops");
    ToolCall both = new ToolCall("a", "look", Json.parse("{\"at\":1}"), unread.malformed());
    ToolResult told = ToolResult.failure(unread, "Not JSON.");

    assertEquals(PLAIN_TOOLS, of(ASK, asks(unread), answers(told)));
    assertRefused(ASK, asks(both), answers(told));
  }

  @Test
  @Tag("R183")
  void what_is_too_deep_in_itself_or_no_number_is_no_json_to_begin_with() {
    List<Object> cycle = new ArrayList<>();
    cycle.add(cycle);
    Object deep = "x";
    for (int level = 0; level < 100; level++) {
      deep = List.of(deep);
    }
    Object tooDeep = List.of(deep);

    assertDoesNotThrow(() -> Json.of(List.of(List.of())));
    assertEquals(PLAIN_TOOLS, of(ASK, asks(call("a")), answers(output(Json.of(deep)))));
    for (Object bad :
        List.of(cycle, tooDeep, Double.NaN, Float.POSITIVE_INFINITY, Map.of("a", Double.NaN))) {
      assertThrows(InvalidRequestException.class, () -> Json.of(bad));
    }
  }

  private static ToolResult output(Json output) {
    return ToolResult.success(call("a"), output);
  }

  @ParameterizedTest
  @ValueSource(strings = {"null", "\"text\"", "3", "[]", "{\"error\":{\"message\":\"No.\"}}"})
  @Tag("R182")
  void a_success_has_any_json_and_a_failure_nothing_but_its_message(String json) {
    Json value = Json.parse(json);
    ToolResult failure = new ToolResult("a", "look", value, true);

    assertEquals(PLAIN_TOOLS, of(ASK, asks(call("a")), answers(output(value))));
    if (value.value() instanceof String) {
      assertEquals(PLAIN_TOOLS, of(ASK, asks(call("a")), answers(failure)));
    } else {
      assertRefused(ASK, asks(call("a")), answers(failure));
    }
  }

  @Test
  @Tag("R187")
  void system_messages_stand_first() {
    Message system = Message.system("Be brief.");

    assertEquals(PLAIN_TOOLS, of(system, system, ASK, asks(call("a")), answers(result("a"))));
    assertRefused(ASK, system, asks(call("a")), answers(result("a")));
    assertRefused(ASK, asks(call("a")), answers(result("a")), system);
    assertRefused(ASK, asks(call("a")), system, answers(result("a")));
  }

  @ParameterizedTest
  @EnumSource
  @Tag("R188")
  void each_part_stands_under_its_role_alone(Role role) {
    Map<Role, List<Part>> allowed =
        Map.of(
            Role.SYSTEM, List.of(text("x")),
            Role.USER, List.of(text("x"), new Image("https://example.com/a.png")),
            Role.ASSISTANT,
                List.of(text("x"), call("a"), ProviderState.of("p", "m", Json.EMPTY_OBJECT)),
            Role.TOOL, List.of(result("a")));
    for (List<Part> parts : allowed.values()) {
      for (Part part : parts) {
        if (allowed.get(role).contains(part)) {
          assertDoesNotThrow(() -> new Message(role, List.of(part)));
        } else {
          var refused =
              assertThrows(InvalidRequestException.class, () -> new Message(role, List.of(part)));
          assertEquals(INVALID, refused.getMessage());
          assertEquals(FailureKind.INVALID_HISTORY, refused.kind());
        }
      }
    }
  }

  @Test
  @Tag("R180")
  void text_and_pictures_are_parts_too_so_a_message_has_one_form() {
    Image picture = new Image("https://example.com/a.png");

    assertEquals(
        new Message(Role.USER, List.of(text("Which?"), picture)), Message.user("Which?", picture));
    assertEquals(asks(text("This.")), Message.assistant("This."));
  }

  @Test
  @Tag("R189")
  void state_that_no_provider_is_known_to_have_issued_is_refused() {
    ProviderState state = ProviderState.of("p", "m", Json.parse("{\"a\":1}"));

    assertRefused(ASK, asks(state, call("a")), answers(result("a")));
    assertEquals(PLAIN_TOOLS, of(ASK, asks(state.issuedBy("p"), call("a")), answers(result("a"))));
  }

  @Test
  @Tag("R202")
  void text_behind_a_call_of_the_same_message_is_told() {
    PortableHistory interleaved = new PortableHistory(true, true);

    assertEquals(PLAIN_TOOLS, of(ASK, asks(text("x"), call("a")), answers(result("a"))));
    assertEquals(PLAIN_TOOLS, of(ASK, asks(call("a"), text("")), answers(result("a"))));
    assertEquals(interleaved, of(ASK, asks(call("a"), text("x")), answers(result("a"))));
    assertEquals(
        interleaved,
        of(ASK, asks(call("a"), text("x"), call("b")), answers(result("a"), result("b")), ASK));
  }

  @Test
  @Tag("R203")
  @Tag("R206")
  void a_conversation_without_tools_is_as_free_as_ever() {
    Message picture = Message.user("Which?", new Image("https://example.com/a.png"));

    assertEquals(PortableHistory.NONE, of());
    assertEquals(
        PortableHistory.NONE,
        of(ASK, Message.system("Be brief."), picture, Message.assistant("This."), asks(), ASK));
  }

  /** Conversations that keep to the rules, and each of them with one thing wrong. */
  @Test
  @Tag("R185")
  @Tag("R186")
  void any_conversation_that_keeps_to_the_rules_is_accepted_and_none_with_a_fault() {
    for (long seed = 0; seed < 500; seed++) {
      Random random = new Random(seed);
      List<Message> messages = valid(random);
      long failing = seed;
      assertDoesNotThrow(() -> PortableHistory.of(messages), () -> "seed " + failing);
      List<Message> broken = withFault(random, messages);
      assertThrows(
          InvalidRequestException.class,
          () -> PortableHistory.of(broken),
          () -> "seed " + failing + ": " + broken);
    }
  }

  private static List<Message> valid(Random random) {
    List<Message> messages = new ArrayList<>();
    for (int i = random.nextInt(3); i > 0; i--) {
      messages.add(Message.system("Rule " + i));
    }
    int turns = 1 + random.nextInt(4);
    for (int turn = 0; turn < turns; turn++) {
      messages.add(Message.user("Question " + turn));
      List<Part> parts = new ArrayList<>();
      List<ToolResult> results = new ArrayList<>();
      int calls = 1 + random.nextInt(4);
      for (int n = 0; n < calls; n++) {
        if (random.nextBoolean()) {
          parts.add(text("Text " + n));
        }
        ToolCall call = call("call-" + turn + "-" + n);
        parts.add(call);
        results.add(
            random.nextBoolean()
                ? ToolResult.success(call, Json.of(n))
                : ToolResult.failure(call, "No."));
      }
      messages.add(new Message(Role.ASSISTANT, parts));
      Collections.shuffle(results, random);
      int cut = random.nextInt(calls);
      if (cut > 0) {
        messages.add(Message.tool(results.subList(0, cut)));
      }
      messages.add(Message.tool(results.subList(cut, calls)));
      if (random.nextBoolean()) {
        messages.add(Message.assistant("Answer " + turn));
      }
    }
    return messages;
  }

  private static List<Message> withFault(Random random, List<Message> messages) {
    List<Message> broken = new ArrayList<>(messages);
    List<Integer> tools = new ArrayList<>();
    Map<Integer, Integer> asked = new HashMap<>(); // the message with the calls by that of results
    for (int i = 0; i < broken.size(); i++) {
      if (broken.get(i).role() == Role.TOOL) {
        tools.add(i);
        asked.put(i, broken.get(i - 1).role() == Role.TOOL ? i - 2 : i - 1);
      }
    }
    int at = tools.get(random.nextInt(tools.size()));
    switch (random.nextInt(6)) {
      case 0 -> broken.remove(at); // unresolved
      case 1 -> broken.add(at, broken.get(at)); // twice
      case 2 -> broken.add(at, Message.user("Wait.")); // interrupted
      case 3 -> broken.add(asked.get(at), broken.get(at)); // before its call
      case 4 -> broken.remove((int) asked.get(at)); // orphans
      case 5 -> broken.add(at + 1, Message.system("Late."));
      default -> throw new AssertionError();
    }
    return broken;
  }
}
