package dev.warpwright.adapters.protocol.openai;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.warpwright.adapters.http.Answer;
import dev.warpwright.adapters.http.Authorization;
import dev.warpwright.adapters.http.Failures;
import dev.warpwright.adapters.wire.EventStream;
import dev.warpwright.adapters.wire.Played.Player;
import dev.warpwright.json.StrictJson;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelResponse;
import java.net.http.HttpHeaders;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Reasoning that comes in pieces is what would have come whole. */
final class ReasoningPiecesTest {
  private static final Failures FAILURES =
      new Failures(OpenAiErrors.TABLE, InstantSource.system(), Authorization.NONE);
  private static final ModelCall CALL = ModelCall.builder(List.of(Message.user("Hi"))).build();

  private static Player player(PrivateReasoning field) {
    ChatDialect dialect = ChatDialect.OPENAI.reasoning(ReasoningStyle.OBJECT, field);
    ChatResponse reader = new ChatResponse(FAILURES, dialect, "m", CALL);
    return new Player(
        HttpHeaders.of(Map.of(), (name, value) -> true),
        events -> EventStream.of(FAILURES, events, headers -> new ChatStream(reader, headers)));
  }

  private static String details(String pieces) {
    ReasoningPieces reasoning = new ReasoningPieces();
    for (String piece : pieces.split(" ", -1)) {
      reasoning.add(StrictJson.read("{\"reasoning_details\":" + piece + "}"));
    }
    return StrictJson.write(reasoning.message().path("reasoning_details"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        // joined by index, also with another between
        "[{\"type\":\"t\",\"index\":0,\"text\":\"a\"}]"
            + " [{\"type\":\"t\",\"index\":1,\"text\":\"x\"}]"
            + " [{\"type\":\"t\",\"index\":0,\"text\":\"b\"}] |"
            + " [{\"type\":\"t\",\"index\":0,\"text\":\"ab\"},"
            + "{\"type\":\"t\",\"index\":1,\"text\":\"x\"}]",
        // neighbours of one type
        "[{\"type\":\"t\",\"text\":\"a\"},{\"type\":\"t\",\"text\":\"b\"}] |"
            + " [{\"type\":\"t\",\"text\":\"ab\"}]",
        // another type, or another id, is another detail
        "[{\"type\":\"t\",\"text\":\"a\"}] [{\"type\":\"s\",\"summary\":\"b\"}]"
            + " [{\"type\":\"t\",\"text\":\"c\"}] |"
            + " [{\"type\":\"t\",\"text\":\"a\"},{\"type\":\"s\",\"summary\":\"b\"},"
            + "{\"type\":\"t\",\"text\":\"c\"}]",
        "[{\"type\":\"t\",\"id\":\"1\",\"text\":\"a\"}]"
            + " [{\"type\":\"t\",\"id\":\"2\",\"text\":\"b\"}] |"
            + " [{\"type\":\"t\",\"id\":\"1\",\"text\":\"a\"},"
            + "{\"type\":\"t\",\"id\":\"2\",\"text\":\"b\"}]",
        // what is encrypted is never joined
        "[{\"type\":\"e\",\"data\":\"a\"}] [{\"type\":\"e\",\"data\":\"b\"}] |"
            + " [{\"type\":\"e\",\"data\":\"a\"},{\"type\":\"e\",\"data\":\"b\"}]",
        // null says nothing, a signature comes last
        "[{\"type\":\"t\",\"text\":\"a\",\"signature\":null}]"
            + " [{\"type\":\"t\",\"text\":null,\"signature\":\"s\"}] |"
            + " [{\"type\":\"t\",\"text\":\"a\",\"signature\":\"s\"}]",
        // what is no detail
        "null 7 [1,null,\"x\"] | []"
      })
  @Tag("Y47")
  void pieces_of_one_detail_are_joined(String pieces, String expected) {
    assertEquals(expected, details(pieces));
  }

  private static final String STREAM =
      """
      data: {"choices":[{"delta":{"reasoning":"Let ","reasoning_content":"Let ",\
      "reasoning_details":[{"type":"reasoning.text","text":"Let ","index":0}]}}]}

      data: {"choices":[{"delta":{"reasoning":"mé.","reasoning_content":"mé.",\
      "reasoning_details":[{"type":"reasoning.text","text":"mé.","signature":"s","index":0}]}}]}

      data: {"choices":[{"delta":{"content":"Hi.","tool_calls":[{"index":0,"id":"c","function":\
      {"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}

      data: [DONE]

      """;
  private static final String WHOLE =
      """
      {"choices":[{"message":{"content":"Hi.","reasoning":"Let mé.","reasoning_content":"Let mé.",\
      "reasoning_details":[{"type":"reasoning.text","text":"Let mé.","index":0,"signature":"s"}],\
      "tool_calls":[{"id":"c","function":{"name":"f","arguments":"{}"}}]},\
      "finish_reason":"tool_calls"}]}\
      """;

  @Test
  @Tag("FR-Q09")
  void a_stream_keeps_what_a_whole_answer_holds_however_the_network_cuts_it() {
    for (PrivateReasoning field : PrivateReasoning.values()) {
      ChatDialect dialect = ChatDialect.OPENAI.reasoning(ReasoningStyle.OBJECT, field);
      byte[] bytes = WHOLE.getBytes(StandardCharsets.UTF_8);
      ModelResponse whole =
          new ChatResponse(FAILURES, dialect, "m", CALL)
              .read(
                  new Answer(
                      StrictJson.readDocument(bytes),
                      bytes,
                      HttpHeaders.of(Map.of(), (name, value) -> true)));
      assertEquals(whole, player(field).play(STREAM).response());
      assertEquals(field == PrivateReasoning.NONE ? 2 : 3, whole.message().parts().size());
    }
  }

  @Test
  void a_damaged_stream_fails_or_is_read_and_never_throws_anything_else() {
    player(PrivateReasoning.CONTENT).playDamaged(STREAM);
    player(PrivateReasoning.DETAILS).playDamaged(STREAM);
  }
}
