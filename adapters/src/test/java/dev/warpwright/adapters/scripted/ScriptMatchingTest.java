package dev.warpwright.adapters.scripted;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.FinishReason;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.TokenCount;
import dev.warpwright.model.ToolCall;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("R379")
class ScriptMatchingTest {
  private static final String REFUND =
      """
      // A refund in three turns.
      { "rules": [
          { "name": "look the order up",
            "when": { "turn": 0, "user": "(?s)Subject: .*refund.*Order: (?<order>A-\\\\d+)" },
            "answer": { "text": "Looking up ${order}.",
                        "tools": [ { "name": "lookup_order", "input": { "orderId": "${order}" } } ],
                        "usage": { "input": 120, "output": 20 }, "latency": "PT0.05S" } },
          { "name": "pay", /* the amount comes from the tool */
            "when": { "turn": 1, "user": "Order: (?<order>A-\\\\d+)",
                      "result": { "tool": "lookup_order", "error": false,
                                  "output": "\\"amount\\":(?<amount>[0-9.]+)" } },
            "answer": { "tools": [ { "name": "refund",
                                     "input": { "orderId": "${order}", "amount": "${amount:json}",
                                                "tags": [ "auto", "of ${order}" ], "try": 1 } } ] } },
          { "name": "end", "when": {}, "answer": { "text": "Done." } }
      ] }
      """;

  private static final Message ASK = Message.user("Subject: a refund\n\nOrder: A-17, please");

  private static ModelResponse answer(Script script, Message... messages) {
    List<Message> conversation = List.of(messages);
    return script.answer("m-1", conversation).orElseThrow().to(conversation);
  }

  private static String text(Script script, Message... messages) {
    return answer(script, messages).message().text();
  }

  private static Script when(String when) {
    return Script.parse(
        """
        { "rules": [ { "when": %s, "answer": { "text": "yes" } },
                     { "when": {}, "answer": { "text": "no" } } ] }
        """
            .formatted(when));
  }

  @Test
  void aScriptLeadsAConversationThroughItsTurns() {
    Script script = Script.parse(REFUND);

    ModelResponse first = answer(script, ASK);
    assertEquals("Looking up A-17.", first.message().text());
    ToolCall lookup = first.message().toolCalls().getFirst();
    assertEquals("lookup_order", lookup.name());
    assertEquals(Json.parse("{\"orderId\":\"A-17\"}"), lookup.input());
    assertEquals(FinishReason.Kind.TOOL_CALLS, first.finishReason().kind());
    assertEquals(TokenCount.reported(140), first.usage().total());

    Message found = Talk.result(lookup, "{\"amount\":12.50}");
    ModelResponse second = answer(script, ASK, first.message(), found);
    ToolCall refund = second.message().toolCalls().getFirst();
    assertEquals(
        "{\"orderId\":\"A-17\",\"amount\":12.50,\"tags\":[\"auto\",\"of A-17\"],\"try\":1}",
        refund.input().text());

    ModelResponse third =
        answer(script, ASK, first.message(), found, second.message(), Talk.result(refund, "true"));
    assertEquals("Done.", third.message().text());
    assertEquals(FinishReason.Kind.STOP, third.finishReason().kind());
  }

  @Test
  void theLatencyIsPartOfTheAnswer() {
    assertEquals(
        Duration.ofMillis(50),
        Script.parse(REFUND).answer("m-1", List.of(ASK)).orElseThrow().latency());
  }

  @Test
  void theFirstRuleThatMatchesWins() {
    Script script =
        Script.parse(
            """
            { "rules": [ { "when": { "user": "b" }, "answer": { "text": "first" } },
                         { "when": { "user": "a|b" }, "answer": { "text": "second" } } ] }
            """);
    assertEquals("first", text(script, Message.user("abc")));
    assertEquals("second", text(script, Message.user("a")));
    assertEquals(Optional.empty(), script.answer("m-1", List.of(Message.user("c"))));
  }

  @Test
  void theTurnCountsAssistantMessagesAfterTheLastUserMessage() {
    Message[] said = {Message.user("a"), Message.assistant("b"), Message.user("c")};
    assertEquals("yes", text(when("{ \"turn\": 0 }"), said));
    assertEquals(
        "yes", text(when("{ \"turn\": 1 }"), said[0], said[1], said[2], Message.assistant("d")));
    assertEquals("yes", text(when("{ \"turn\": 1 }"), Message.assistant("no user at all")));
  }

  @Test
  void userSystemAndModelAreSearchedNotMatchedWhole() {
    Message[] said = {
      Message.system("Be kind."), Message.system("Be brief."), Message.user("Hi you")
    };
    assertEquals("yes", text(when("{ \"user\": \"i y\" }"), said));
    assertEquals("yes", text(when("{ \"system\": \"kind\\\\.\\nBe\" }"), said));
    assertEquals("yes", text(when("{ \"model\": \"^m-\\\\d$\" }"), said));
    assertEquals("no", text(when("{ \"model\": \"gpt\" }"), said));
    assertEquals("no", text(when("{ \"user\": \"kind\" }"), said));
    assertEquals("no", text(when("{ \"system\": \"Hi\" }"), said));
    assertEquals("no", text(when("{ \"user\": \"\" }"), Message.assistant("no user at all")));
  }

  @Test
  void allConditionsMustHold() {
    Script script = when("{ \"turn\": 0, \"user\": \"a\", \"model\": \"m\" }");
    assertEquals("yes", text(script, Message.user("a")));
    assertEquals("no", text(script, Message.user("b")));
    assertEquals("no", text(script, Message.user("a"), Message.assistant("x")));
  }

  @Test
  void aResultIsTheLatestOneOrTheLatestOfItsTool() {
    ToolCall one = Talk.call("1", "one");
    ToolCall two = Talk.call("2", "two");
    Message[] said = {
      Message.user("a"), Talk.asks(one, two), Talk.result(one, "[1]"), Talk.failure(two, "too big")
    };
    assertEquals("yes", text(when("{ \"result\": {} }"), said));
    assertEquals("yes", text(when("{ \"result\": { \"error\": true } }"), said));
    assertEquals("yes", text(when("{ \"result\": { \"output\": \"^\\\"too\" } }"), said));
    assertEquals("no", text(when("{ \"result\": { \"output\": \"1\" } }"), said));
    assertEquals(
        "yes", text(when("{ \"result\": { \"tool\": \"one\", \"output\": \"^.1\" } }"), said));
    assertEquals("no", text(when("{ \"result\": { \"tool\": \"one\", \"error\": true } }"), said));
    assertEquals("no", text(when("{ \"result\": { \"tool\": \"three\" } }"), said));
    assertEquals("no", text(when("{ \"result\": {} }"), Message.user("nothing ran")));
  }

  @Test
  void variablesComeFromAllRegexesOfTheRule() {
    Script script =
        Script.parse(
            """
            { "rules": [ {
              "when": { "user": "(?<a>x+)", "system": "(?<b>y+)", "model": "(?<c>\\\\d)",
                        "result": { "output": "(?<d>z+)" } },
              "answer": { "text": "${a}${b}${c}${d} $${a} $ {} $5" } } ] }
            """);
    ToolCall call = Talk.call("1", "one");
    assertEquals(
        "xxyy1zz ${a} $ {} $5",
        text(
            script,
            Message.system("yy"),
            Message.user("xx"),
            Talk.asks(call),
            Talk.result(call, "\"zz\"")));
  }

  @Test
  void aGroupThatTookNoPartIsNothing() {
    Script script =
        Script.parse(
            """
            { "rules": [ { "when": { "user": "(?<a>x)|(?<b>y)" },
                           "answer": { "text": "[${a}|${b}]" } } ] }
            """);
    assertEquals("[|y]", text(script, Message.user("y")));
  }

  @Test
  void aCaptureIsTextAndNeverATemplate() {
    Script script =
        Script.parse(
            """
            { "rules": [ { "when": { "user": "(?<a>.*)" }, "answer": { "text": "<${a}>" } } ] }
            """);
    assertEquals("<${a} $1 \\>", text(script, Message.user("${a} $1 \\")));
  }

  @Test
  void anAnswerInJsonIsItsCompactText() {
    Script script =
        Script.parse(
            """
            { "rules": [ { "when": { "user": "(?<n>\\\\S+) (?<m>\\\\S+)" }, "answer": { "json":
                { "n": "${n:json}", "m": "${m:json}", "list": [ 1.10, null, "$${x}", "${n}" ] } } } ] }
            """);
    assertEquals(
        "{\"n\":12345678901234567890,\"m\":\"b:c\",\"list\":[1.10,null,\"${x}\","
            + "\"12345678901234567890\"]}",
        text(script, Message.user("12345678901234567890 b:c")));
  }

  @Test
  void anAnswerMayRefuseOrBeCutOffOrBreakItsArguments() {
    Script script =
        Script.parse(
            """
            { "rules": [
              { "when": { "user": "refuse" }, "answer": { "refusal": "I would rather not." } },
              { "when": { "user": "cut" }, "answer": { "text": "Once upon", "finish": "length" } },
              { "when": { "user": "break (?<it>.*)" },
                "answer": { "tools": [ { "name": "t", "rawInput": "{\\"a\\": ${it}" },
                                       { "name": "u" } ],
                            "usage": { "input": 9, "output": 5, "cachedInput": 4, "reasoning": 3 } } }
            ] }
            """);
    assertEquals(
        FinishReason.Kind.REFUSAL, answer(script, Message.user("refuse")).finishReason().kind());
    assertEquals(
        new FinishReason(FinishReason.Kind.LENGTH, "length"),
        answer(script, Message.user("cut")).finishReason());
    ModelResponse broken = answer(script, Message.user("break this"));
    assertEquals(Optional.of("{\"a\": this"), broken.message().toolCalls().getFirst().malformed());
    assertEquals(Json.EMPTY_OBJECT, broken.message().toolCalls().getLast().input());
    assertEquals(TokenCount.reported(4), broken.usage().cachedInput());
    assertEquals(TokenCount.ABSENT, broken.usage().cacheWrite());
    assertEquals(TokenCount.reported(3), broken.usage().reasoning());
  }

  @Test
  void regexesSeeABoundedPartOfAText() {
    String filler = "x".repeat(Conversation.MAX_MATCHED);
    assertEquals("no", text(when("{ \"user\": \"end\" }"), Message.user(filler + "end")));
    assertEquals("yes", text(when("{ \"user\": \"end\" }"), Message.user("end" + filler)));
  }

  @Test
  void idsAreTheSameForTheSameConversationAndDifferentForEveryOther() {
    Script script =
        Script.parse(
            """
            { "rules": [ { "when": {}, "answer": { "tools": [ { "name": "t" }, { "name": "t" } ] } } ] }
            """);
    Set<String> ids = new HashSet<>();
    List<Message> conversation = new ArrayList<>(List.of(Message.user("a")));
    for (int turn = 0; turn < 20; turn++) {
      Message answer = answer(script, conversation.toArray(Message[]::new)).message();
      assertEquals(answer, answer(script, conversation.toArray(Message[]::new)).message());
      conversation.add(answer);
      for (ToolCall call : answer.toolCalls()) {
        assertTrue(ids.add(call.id()), call::id);
        assertTrue(call.id().matches("[A-Za-z0-9_-]{1,40}"), call::id);
        conversation.add(Talk.result(call, "1"));
      }
    }
    assertNotEquals(
        answer(script, Message.user("ab")).message(), answer(script, Message.user("ba")).message());
  }

  @Test
  void conversationsThatOnlyReadAlikeHaveDifferentIds() {
    assertNotEquals(
        Fingerprint.of(List.of(Message.user("a"), Message.user("b"))),
        Fingerprint.of(List.of(Message.user("aUSERb"))));
  }

  @Test
  void aScriptIsLoadedFromAFileOrAStream(@TempDir Path folder) throws IOException {
    Path file = Files.writeString(folder.resolve("refund.json"), REFUND);
    assertEquals("Script[3 rules, 0 faults]", Script.load(file).toString());
    assertEquals(
        "Looking up A-17.",
        text(
            Script.read(
                new ByteArrayInputStream(REFUND.getBytes(StandardCharsets.UTF_8)), "refund"),
            ASK));
  }
}
