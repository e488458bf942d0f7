package dev.warpwright.adapters.protocol.openai;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.adapters.http.Answer;
import dev.warpwright.adapters.http.Authorization;
import dev.warpwright.adapters.http.Failures;
import dev.warpwright.adapters.wire.EventStream;
import dev.warpwright.adapters.wire.Played;
import dev.warpwright.json.StrictJson;
import dev.warpwright.model.Completeness;
import dev.warpwright.model.Conversation;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.Part;
import dev.warpwright.model.ProviderApproval;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.ProviderException.Kind;
import dev.warpwright.model.ProviderState;
import dev.warpwright.model.Role;
import java.net.http.HttpHeaders;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** How Responses asks for approvals, and how it is answered. */
final class ApprovalItemsTest {
  private static final Failures FAILURES =
      new Failures(OpenAiErrors.TABLE, InstantSource.system(), Authorization.NONE);
  private static final HttpHeaders HEADERS = HttpHeaders.of(Map.of(), (name, value) -> true);
  private static final String LIST =
      "{\"id\":\"mcpl_1\",\"type\":\"mcp_list_tools\",\"server_label\":\"docs\",\"tools\":[],"
          + "\"n\":1.50}";
  private static final String THOUGHT =
      "{\"id\":\"rs_1\",\"type\":\"reasoning\",\"summary\":[],\"encrypted_content\":\"ä==\"}";
  private static final String CALL =
      "{\"type\":\"function_call\",\"call_id\":\"c1\",\"name\":\"f\",\"arguments\":\"{}\"}";

  private static String request(String id) {
    return "{\"id\":\"%s\",\"type\":\"mcp_approval_request\",\"arguments\":\"{\\\"q\\\": \\\"ä\\\"}\","
            .formatted(id)
        + "\"name\":\"search\",\"server_label\":\"docs\",\"later\":1.0}";
  }

  private static ModelResponse read(String body) {
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    return new ResponsesReader(FAILURES, "m", ModelCall.builder(List.of()).build())
        .read(new Answer(StrictJson.readDocument(bytes), bytes, HEADERS));
  }

  private static ModelResponse output(String... items) {
    return read("{\"status\":\"completed\",\"output\":[" + String.join(",", items) + "]}");
  }

  private static List<ProviderApproval> asked(ModelResponse response) {
    return response.message().approvals().stream()
        .map(state -> state.approval().orElseThrow())
        .toList();
  }

  /** The input of the next request, after these answers. */
  private static String input(ModelResponse response, Map<String, ProviderApproval.Answer> given) {
    Conversation conversation = Conversation.of(List.of(issued(response.message())));
    for (Map.Entry<String, ProviderApproval.Answer> each : given.entrySet()) {
      conversation = conversation.answered("openai", each.getKey(), each.getValue());
    }
    byte[] body = Requests.responses("m", ModelCall.builder(conversation).build(), false);
    return StrictJson.write(StrictJson.readDocument(body).path("input"));
  }

  private static Message issued(Message message) {
    List<Part> parts =
        message.parts().stream()
            .map(part -> part instanceof ProviderState state ? state.issuedBy("openai") : part)
            .toList();
    return new Message(Role.ASSISTANT, parts);
  }

  @Test
  @Tag("A79")
  void a_request_is_read_with_all_that_a_person_needs_and_is_no_empty_answer() {
    ModelResponse response = output(LIST, THOUGHT, request("mcpr_1"), request("mcpr_2"));

    Json arguments = Json.parse("{\"q\":\"ä\"}");
    assertEquals(
        List.of(
            ProviderApproval.of("mcpr_1", Optional.of("docs"), "search", arguments),
            ProviderApproval.of("mcpr_2", Optional.of("docs"), "search", arguments)),
        asked(response));
    assertEquals(new FinishReason(FinishReason.Kind.PAUSED, "completed"), response.finishReason());
    assertEquals(Completeness.TRUNCATED, response.completeness());
  }

  @Test
  @Tag("A79")
  void beside_calls_of_the_programs_tools_these_may_run() {
    ModelResponse response = output(request("mcpr_1"), CALL);

    assertEquals(FinishReason.Kind.TOOL_CALLS, response.finishReason().kind());
    assertEquals(1, response.message().toolCalls().size());
    assertEquals(1, asked(response).size());
  }

  @Test
  @Tag("A79")
  void an_answer_that_its_limit_cut_off_says_so() {
    ModelResponse response =
        read(
            "{\"status\":\"incomplete\",\"incomplete_details\":{\"reason\":\"max_output_tokens\"},"
                + "\"output\":["
                + request("mcpr_1")
                + "]}");

    assertEquals(FinishReason.Kind.LENGTH, response.finishReason().kind());
    assertFalse(response.finishReason().allows(response.message()));
  }

  @Test
  @Tag("A84")
  @Tag("Y47")
  void the_answer_stands_behind_the_request_that_comes_back_byte_for_byte() {
    ModelResponse response = output(LIST, THOUGHT, request("mcpr_1"), request("mcpr_2"), CALL);

    String input =
        input(
            response,
            Map.of(
                "mcpr_1", ProviderApproval.Answer.approve(),
                "mcpr_2", ProviderApproval.Answer.deny("No \"ä\".")));

    assertEquals(
        "["
            + String.join(
                ",",
                LIST,
                THOUGHT,
                request("mcpr_1"),
                "{\"type\":\"mcp_approval_response\",\"approval_request_id\":\"mcpr_1\","
                    + "\"approve\":true}",
                request("mcpr_2"),
                "{\"type\":\"mcp_approval_response\",\"approval_request_id\":\"mcpr_2\","
                    + "\"approve\":false,\"reason\":\"No \\\"ä\\\".\"}",
                CALL)
            + "]",
        input);
  }

  @Test
  @Tag("A84")
  void a_request_that_nobody_answered_is_not_sent_and_neither_is_the_thought_before_it() {
    assertEquals(
        "[" + LIST + "," + CALL + "]",
        input(output(LIST, THOUGHT, request("mcpr_1"), CALL), Map.of()));
  }

  @Test
  @Tag("R70")
  void another_model_is_told_nothing_of_it() {
    Conversation conversation =
        Conversation.of(List.of(issued(output(LIST, request("mcpr_1")).message())))
            .answered("openai", "mcpr_1", ProviderApproval.Answer.approve());

    byte[] body = Requests.responses("other", ModelCall.builder(conversation).build(), false);

    assertEquals("[]", StrictJson.write(StrictJson.readDocument(body).path("input")));
  }

  @Test
  @Tag("A79")
  void a_thought_that_cannot_be_replayed_does_not_take_the_request_with_it() {
    String plain = "{\"id\":\"rs_1\",\"type\":\"reasoning\",\"summary\":[]}";
    ModelResponse response = output(LIST, plain, request("mcpr_1"));

    String input = input(response, Map.of("mcpr_1", ProviderApproval.Answer.approve()));

    assertEquals(1, asked(response).size());
    assertTrue(input.startsWith("[" + LIST + "," + request("mcpr_1") + ","), input);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"type\":\"mcp_approval_request\",\"name\":\"search\",\"arguments\":\"{}\"}",
        "{\"type\":\"mcp_approval_request\",\"id\":\" \",\"name\":\"search\"}",
        "{\"type\":\"mcp_approval_request\",\"id\":1,\"name\":\"search\"}",
        "{\"type\":\"mcp_approval_request\",\"id\":\"r\",\"arguments\":\"{}\"}",
        "{\"type\":\"mcp_approval_request\",\"id\":\"r\",\"name\":\"\"}",
        "{\"type\":\"mcp_approval_request\",\"id\":\"r\",\"name\":null}"
      })
  @Tag("A79")
  void a_request_that_nobody_could_answer_or_judge_breaks_the_protocol(String item) {
    ProviderException failure =
        assertThrows(ProviderException.class, () -> output(LIST, item, CALL));

    assertEquals(Kind.PROTOCOL, failure.kind());
    assertTrue(String.valueOf(failure.getMessage()).contains("has a request for approval"));
  }

  /** What the arguments are, and what a person is shown. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "null                        | {}",
        "\"\"                        | {}",
        "\"  \"                      | {}",
        "{\"a\":1.50}                | {\"a\":1.50}",
        "\"[1]\"                     | [1]",
        "\"{\\\"a\\\":\"             | \"{\\\"a\\\":\"",
        "\"{\\\"a\\\":1,\\\"a\\\":2}\" | \"{\\\"a\\\":1,\\\"a\\\":2}\"",
        "\"1e999999999999\"          | \"1e999999999999\""
      })
  @Tag("A79")
  void arguments_are_shown_as_what_they_are_or_else_as_their_text(String given, String shown) {
    ModelResponse response =
        output(
            "{\"type\":\"mcp_approval_request\",\"id\":\"r\",\"name\":\"f\",\"arguments\":"
                + given
                + "}");

    ProviderApproval asked = asked(response).getFirst();
    assertEquals(shown, asked.arguments().text());
    assertEquals(Optional.empty(), asked.server(), "some servers have no labels");
  }

  @Test
  @Tag("A79")
  void arguments_that_are_too_deep_are_shown_as_text() {
    String deep = "[".repeat(20_000) + "]".repeat(20_000);

    ModelResponse response = output(with("f", deep));

    assertEquals(Json.of(deep), asked(response).getFirst().arguments());
  }

  @Test
  @Tag("A79")
  void what_is_larger_than_its_bound_breaks_the_protocol() {
    int most = ProviderApproval.MAX_ARGUMENT_BYTES;
    assertEquals(
        most,
        asked(output(with("f", "x".repeat(most - 2)))).getFirst().arguments().text().length());

    for (String item :
        List.of(
            with("f", "x".repeat(most - 1)),
            with("f", "ä".repeat(most / 2)),
            with("f", "x".repeat(4 * most)),
            with("f".repeat(257), "{}"),
            with("f", "{}").replace("\"r\"", "\"" + "r".repeat(257) + "\""))) {
      ProviderException failure = assertThrows(ProviderException.class, () -> output(item));
      assertEquals(Kind.PROTOCOL, failure.kind());
      assertTrue(String.valueOf(failure.getMessage()).length() < 300);
    }
  }

  private static String with(String tool, String arguments) {
    return "{\"type\":\"mcp_approval_request\",\"id\":\"r\",\"name\":\"%s\",\"arguments\":\"%s\"}"
        .formatted(tool, arguments);
  }

  private static String event(String type, String members) {
    return "event: " + type + "\ndata: {\"type\":\"" + type + "\"," + members + "}\n\n";
  }

  private static Played play(String... events) {
    return new Played.Player(
            HEADERS,
            told ->
                EventStream.of(
                    FAILURES,
                    told,
                    headers ->
                        new ResponsesStream(
                            new ResponsesReader(
                                FAILURES, "m", ModelCall.builder(List.of()).build()),
                            headers,
                            new OutputItems())))
        .play(String.join("", events));
  }

  /** Whether the last event repeats the output or not. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  @Tag("A79")
  void a_stream_gives_the_same_answer_as_a_whole_one(boolean repeats) {
    String output = repeats ? ",\"output\":[" + LIST + "," + request("mcpr_1") + "]" : "";
    Played played =
        play(
            event("response.output_item.added", "\"output_index\":0,\"item\":" + LIST),
            event("response.output_item.done", "\"output_index\":0,\"item\":" + LIST),
            event(
                "response.output_item.added",
                "\"output_index\":1,\"item\":{\"id\":\"mcpr_1\",\"type\":\"mcp_approval_request\"}"),
            event("response.output_item.done", "\"output_index\":1,\"item\":" + request("mcpr_1")),
            event("response.completed", "\"response\":{\"status\":\"completed\"" + output + "}"));

    ModelResponse whole = output(LIST, request("mcpr_1"));
    assertEquals(whole.message(), played.response().message());
    assertEquals(whole.finishReason(), played.response().finishReason());
  }

  @Test
  @Tag("A79")
  void a_stream_that_breaks_off_at_a_request_has_asked_for_nothing() {
    Played played =
        play(event("response.output_item.done", "\"output_index\":0,\"item\":" + request("r")));

    assertInstanceOf(ProviderException.class, played.outcome());
  }
}
