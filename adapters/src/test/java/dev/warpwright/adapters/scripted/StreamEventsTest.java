package dev.warpwright.adapters.scripted;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.json.StrictJson;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** The events of a healthy stream, protocol by protocol. */
@Tag("R379")
@Timeout(30)
class StreamEventsTest {
  private static final Script SCRIPT =
      Script.parse(
          """
          { "rules": [
            { "when": { "user": "^tools" },
              "answer": { "thinking": "Hm, order A17.", "text": "Wait a moment.",
                          "tools": [ { "name": "lookup", "input": { "id": "A17 😀", "n": 1.10 } },
                                     { "name": "lookup" },
                                     { "name": "broken", "rawInput": "{" } ],
                          "usage": { "input": 10, "output": 5, "cachedInput": 4, "cacheWrite": 2,
                                     "reasoning": 3 },
                          "stream": { "characters": 5 } } },
            { "when": { "user": "^refuse" }, "answer": { "refusal": "No, not that." } },
            { "when": { "user": "^cut" }, "answer": { "text": "Once upon", "finish": "length" } },
            { "when": { "user": "^filter" },
              "answer": { "text": "Once", "finish": "content_filter" } },
            { "when": { "user": "^call" }, "answer": { "tools": [ { "name": "clock" } ] } },
            { "when": { "user": "^pieces (?<x>.*)" },
              "answer": { "pieces": [ "Hel", "", "lo ${x}", "\\u4f60\\n" ] } },
            { "when": { "user": "^empty" }, "answer": { "text": "" } },
            { "when": { "user": "^ends (?<words>.*)" },
              "answer": { "text": "${words}", "stream": { "words": 2 } } },
            { "when": { "user": "^used" },
              "answer": { "text": "Hi there", "usage": { "input": 7, "output": 2 } } },
            { "when": {}, "answer": { "text": "It is noon." } } ] }
          """);

  private final ScriptedServer server = ScriptedServer.start(SCRIPT);

  @AfterEach
  void nothingIsLeft() {
    server.close();
    assertEquals(0, server.openStreams());
    assertEquals(0, server.openConnections());
  }

  private Streamed stream(Wire wire, String user) throws IOException {
    try (RawClient client = new RawClient(server)) {
      Streamed streamed = wire.stream(client, user);
      assertEquals("HTTP/1.1 200 OK", streamed.head().getFirst());
      assertEquals(Streamed.End.WHOLE, streamed.end());
      return streamed;
    }
  }

  private JsonNode whole(Wire wire, String user) throws IOException {
    try (RawClient client = new RawClient(server)) {
      return StrictJson.read(wire.ask(client, user, false).read().body());
    }
  }

  private static List<String> data(Streamed streamed) {
    return streamed.events().stream().map(Streamed.Event::data).toList();
  }

  // --- Chat Completions
  // ---------------------------------------------------------------------------

  @Test
  void chatIsByteForByteThatOfChatCompletions() throws IOException {
    Streamed streamed = stream(Wire.CHAT, "?");
    String id = whole(Wire.CHAT, "?").path("id").stringValue();
    String start =
        "data: {\"id\":\""
            + id
            + "\",\"object\":\"chat.completion.chunk\",\"created\":1735689600,\"model\":\"m-1\","
            + "\"choices\":[{\"index\":0,\"delta\":";
    String more = ",\"logprobs\":null,\"finish_reason\":null}]}\n\n";
    assertEquals(
        start
            + "{\"role\":\"assistant\",\"content\":\"\",\"refusal\":null}"
            + more
            + start
            + "{\"content\":\"It \"}"
            + more
            + start
            + "{\"content\":\"is \"}"
            + more
            + start
            + "{\"content\":\"noon.\"}"
            + more
            + start
            + "{},\"logprobs\":null,\"finish_reason\":\"stop\"}]}\n\n"
            + "data: [DONE]\n\n",
        streamed.text());
    assertEquals(6, streamed.chunks().size()); // an event is one chunk of the transfer
    assertEquals(
        List.of(
            "HTTP/1.1 200 OK",
            "Content-Type: text/event-stream; charset=utf-8",
            "Cache-Control: no-cache",
            "x-request-id: req_1",
            "Transfer-Encoding: chunked",
            "Connection: keep-alive"),
        streamed.head());
  }

  @Test
  void chatTellsItsCountersInAChunkWithoutChoicesIfItIsAsked() throws IOException {
    try (RawClient client = new RawClient(server)) {
      String asked = Wire.CHAT.request("used", true);
      String body = asked.replace("}]", "}],\"stream_options\":{\"include_usage\":true}");
      List<String> data = data(Streamed.read(client.post(body)));
      JsonNode counters = StrictJson.read(data.get(data.size() - 2));
      assertEquals("[DONE]", data.getLast());
      assertTrue(counters.path("choices").isEmpty() && counters.path("choices").isArray());
      assertEquals(whole(Wire.CHAT, "used").path("usage"), counters.path("usage"));
      for (String chunk : data.subList(0, data.size() - 2)) {
        assertTrue(StrictJson.read(chunk).path("usage").isNull(), chunk);
      }
    }
    assertFalse(stream(Wire.CHAT, "used").text().contains("usage"));
  }

  @Test
  void chatTellsCallsInFragmentsThatMakeUpTheWholeAnswer() throws IOException {
    for (String user : List.of("tools", "call", "refuse", "cut", "filter", "empty", "pieces x")) {
      assertEquals(whole(Wire.CHAT, user).path("choices"), joinChat(stream(Wire.CHAT, user)), user);
    }
  }

  /** Puts the deltas together as a client does. */
  private static JsonNode joinChat(Streamed streamed) {
    ObjectNode choice = StrictJson.mapper().createObjectNode().put("index", 0);
    ObjectNode message = choice.putObject("message");
    Map<Integer, ObjectNode> calls = new TreeMap<>();
    for (String data : data(streamed)) {
      JsonNode told = data.equals("[DONE]") ? StrictJson.read("{}") : StrictJson.read(data);
      JsonNode delta = told.at("/choices/0/delta");
      for (String key : List.of("role", "content", "refusal")) {
        if (delta.has(key) && delta.get(key).isNull()) {
          message.putNull(key);
        } else if (delta.has(key)) {
          message.put(key, message.path(key).asString("") + delta.get(key).stringValue());
        }
      }
      for (JsonNode part : delta.path("tool_calls")) {
        int index = part.path("index").intValue();
        if (part.has("id")) {
          calls.put(index, (ObjectNode) part);
          continue;
        }
        ObjectNode function = (ObjectNode) calls.getOrDefault(index, message).path("function");
        function.put(
            "arguments",
            function.path("arguments").stringValue()
                + part.at("/function/arguments").stringValue());
      }
      if (told.at("/choices/0/finish_reason").isString()) {
        choice.putNull("logprobs");
        choice.set("finish_reason", told.at("/choices/0/finish_reason"));
      }
    }
    if (message.path("content").asString("").isEmpty() && message.path("refusal").isString()) {
      message.putNull("content");
    }
    if (!calls.isEmpty()) {
      ArrayNode all = message.putArray("tool_calls");
      calls.values().forEach(call -> all.add(call.without("index")));
    }
    return StrictJson.mapper().createArrayNode().add(choice);
  }

  @Test
  void aCallBeginsWithItsNameAndGoesOnWithFragments() throws IOException {
    List<String> calls =
        stream(Wire.CHAT, "tools").events().stream()
            .filter(event -> event.data().contains("tool_calls"))
            .filter(event -> event.json().at("/choices/0/finish_reason").isNull())
            .map(event -> event.json().at("/choices/0/delta/tool_calls/0"))
            .map(call -> call.path("index") + call.path("function").toString())
            .toList();
    assertEquals("0{\"name\":\"lookup\",\"arguments\":\"\"}", calls.getFirst());
    assertEquals("0{\"arguments\":\"{\\\"id\\\"\"}", calls.get(1));
    assertEquals(
        List.of(
            "1{\"name\":\"lookup\",\"arguments\":\"\"}",
            "1{\"arguments\":\"{}\"}",
            "2{\"name\":\"broken\",\"arguments\":\"\"}",
            "2{\"arguments\":\"{\"}"),
        calls.subList(calls.size() - 4, calls.size()));
  }

  // --- Responses
  // ----------------------------------------------------------------------------------

  @Test
  void responsesTellTheirEventsInOrder() throws IOException {
    Streamed streamed = stream(Wire.RESPONSES, "tools");
    List<String> names = new ArrayList<>();
    for (Streamed.Event event : streamed.events()) {
      assertEquals(event.name(), event.json().path("type").stringValue());
      assertEquals(names.size(), event.json().path("sequence_number").intValue());
      names.add(event.name().replace("response.", ""));
    }
    names.removeIf(name -> name.endsWith(".delta"));
    assertEquals(
        List.of(
            "created",
            "in_progress",
            "output_item.added", // reasoning
            "output_item.done",
            "output_item.added", // the message
            "content_part.added",
            "output_text.done",
            "content_part.done",
            "output_item.done",
            "output_item.added", // calls
            "function_call_arguments.done",
            "output_item.done",
            "output_item.added",
            "function_call_arguments.done",
            "output_item.done",
            "output_item.added",
            "function_call_arguments.done",
            "output_item.done",
            "completed"),
        names);
  }

  @Test
  void responsesMakeUpTheWholeAnswer() throws IOException {
    for (String user : List.of("tools", "call", "refuse", "cut", "filter", "empty", "pieces x")) {
      assertResponses(whole(Wire.RESPONSES, user), stream(Wire.RESPONSES, user));
    }
  }

  private static void assertResponses(JsonNode whole, Streamed streamed) {
    List<Streamed.Event> events = streamed.events();
    JsonNode begun = events.getFirst().json().path("response");
    assertEquals("in_progress", begun.path("status").stringValue());
    assertEquals(whole.path("id"), begun.path("id"));
    assertTrue(begun.path("output").isEmpty());
    assertEquals(whole, events.getLast().json().path("response"));
    assertEquals("response." + whole.path("status").stringValue(), events.getLast().name());
    Map<String, String> joined = new TreeMap<>(); // what the deltas of an item make up
    Map<Integer, JsonNode> done = new TreeMap<>();
    for (Streamed.Event event : events) {
      JsonNode json = event.json();
      String item = json.path("item_id").asString("");
      if (event.name().endsWith(".delta")) {
        joined.merge(item, json.path("delta").stringValue(), String::concat);
      } else if (event.name().endsWith("_item.done")) {
        done.put(json.path("output_index").intValue(), json.path("item"));
      } else if (event.name().matches(".*(text|refusal|arguments)\\.done")) {
        String all =
            json.path("text").asString("")
                + json.path("refusal").asString("")
                + json.path("arguments").asString("");
        assertEquals(all, joined.getOrDefault(item, ""));
      }
    }
    List<JsonNode> items = new ArrayList<>();
    whole.path("output").forEach(items::add);
    assertEquals(items, List.copyOf(done.values()));
  }

  @Test
  void responsesShowAThoughtIfASummaryIsAsked() throws IOException {
    String asked =
        Wire.RESPONSES
            .request("tools", true)
            .replace("}]", "}],\"reasoning\":{\"summary\":\"auto\"}");
    try (RawClient client = new RawClient(server)) {
      Streamed streamed = Streamed.read(Wire.RESPONSES.send(client, asked));
      String blocking = asked.replace(",\"stream\":true", "");
      JsonNode whole = StrictJson.read(Wire.RESPONSES.send(client, blocking).read().body());
      assertResponses(whole, streamed);
      assertEquals("Hm, order A17.", whole.at("/output/0/summary/0/text").stringValue());
      List<String> names =
          streamed.names().stream().filter(name -> name.contains("summary")).distinct().toList();
      assertEquals(
          List.of(
              "response.reasoning_summary_part.added",
              "response.reasoning_summary_text.delta",
              "response.reasoning_summary_text.done",
              "response.reasoning_summary_part.done"),
          names);
    }
    assertFalse(stream(Wire.RESPONSES, "tools").text().contains("order A17"));
  }

  // --- Messages
  // -----------------------------------------------------------------------------------

  @Test
  void messagesTellTheirEventsInOrder() throws IOException {
    Streamed streamed = stream(Wire.MESSAGES, "tools");
    List<String> events = new ArrayList<>();
    for (Streamed.Event event : streamed.events()) {
      JsonNode json = event.json();
      assertEquals(event.name(), json.path("type").stringValue());
      String delta = json.at("/delta/type").asString("");
      String text = event.name() + (json.has("index") ? " " + json.path("index") : "");
      events.add((text + " " + delta).strip());
    }
    assertEquals(
        List.of(
            "message_start",
            "ping",
            "content_block_start 0",
            "content_block_delta 0 thinking_delta",
            "content_block_delta 0 signature_delta",
            "content_block_stop 0",
            "content_block_start 1",
            "content_block_delta 1 text_delta",
            "content_block_stop 1",
            "content_block_start 2",
            "content_block_delta 2 input_json_delta",
            "content_block_stop 2",
            "content_block_start 3",
            "content_block_delta 3 input_json_delta",
            "content_block_stop 3",
            "content_block_start 4",
            "content_block_delta 4 input_json_delta",
            "content_block_stop 4",
            "message_delta",
            "message_stop"),
        events.stream().distinct().toList());
  }

  @Test
  void messagesMakeUpTheWholeAnswer() throws IOException {
    for (String user : List.of("tools", "call", "refuse", "cut", "filter", "pieces x", "used")) {
      assertEquals(whole(Wire.MESSAGES, user), joinMessages(stream(Wire.MESSAGES, user)), user);
    }
  }

  /** Puts the blocks together as a client does. */
  private static JsonNode joinMessages(Streamed streamed) {
    ObjectNode message = StrictJson.mapper().createObjectNode();
    List<ObjectNode> blocks = new ArrayList<>();
    StringBuilder input = new StringBuilder();
    for (Streamed.Event event : streamed.events()) {
      JsonNode json = event.json();
      switch (event.name()) {
        case "message_start" -> message.setAll((ObjectNode) json.path("message"));
        case "content_block_start" -> blocks.add((ObjectNode) json.path("content_block"));
        case "content_block_delta" -> {
          JsonNode delta = json.path("delta");
          for (String key : List.of("text", "thinking", "signature")) {
            if (delta.has(key)) {
              blocks
                  .getLast()
                  .put(
                      key, blocks.getLast().path(key).stringValue() + delta.get(key).stringValue());
            }
          }
          input.append(delta.path("partial_json").asString(""));
        }
        case "content_block_stop" -> {
          if (blocks.getLast().has("input")) {
            String text = input.toString();
            blocks
                .getLast()
                .set(
                    "input",
                    text.endsWith("}")
                        ? StrictJson.read(text)
                        : StrictJson.mapper().getNodeFactory().stringNode(text));
            input.setLength(0);
          }
        }
        case "message_delta" -> {
          message.setAll((ObjectNode) json.path("delta"));
          if (json.has("usage")) {
            message.withObject("usage").setAll((ObjectNode) json.path("usage"));
          }
        }
        default -> {
          // ping and message_stop
        }
      }
    }
    message.putArray("content").addAll(blocks);
    return message;
  }

  @Test
  void messagesCountTheInputAtTheStartAndTheOutputAtTheEnd() throws IOException {
    List<Streamed.Event> events = stream(Wire.MESSAGES, "tools").events();
    assertEquals(
        "{\"input_tokens\":4,\"cache_creation_input_tokens\":2,\"cache_read_input_tokens\":4,"
            + "\"output_tokens\":1}",
        events.getFirst().json().at("/message/usage").toString());
    assertEquals(
        "{\"output_tokens\":5,\"output_tokens_details\":{\"thinking_tokens\":3}}",
        events.get(events.size() - 2).json().path("usage").toString());
    assertFalse(stream(Wire.MESSAGES, "?").text().contains("usage"));
  }

  @Test
  void anEmptyInputOfACallBeginsWithAnEmptyFragment() throws IOException {
    List<String> fragments =
        stream(Wire.MESSAGES, "call").events().stream()
            .filter(event -> event.name().equals("content_block_delta"))
            .map(event -> event.json().at("/delta/partial_json").stringValue())
            .toList();
    assertEquals(List.of("", "{}"), fragments);
  }

  // --- all of them
  // --------------------------------------------------------------------------------

  @ParameterizedTest
  @EnumSource
  void piecesAndWordsComeAsTheyAreScripted(Wire wire) throws IOException {
    assertEquals(List.of("Hel", "", "lo 😀", "你\n"), pieces(stream(wire, "pieces 😀")));
    assertEquals(List.of("  a b  ", "c\td ", "e"), pieces(stream(wire, "ends   a b  c\td e")));
    assertEquals(List.of(), pieces(stream(wire, "empty")));
  }

  private static List<String> pieces(Streamed streamed) {
    List<String> pieces = new ArrayList<>();
    for (Streamed.Event event : streamed.events()) {
      if (event.data().equals("[DONE]")) {
        continue;
      }
      JsonNode json = event.json();
      JsonNode chat = json.at("/choices/0/delta");
      if (chat.path("content").isString() && !chat.has("role")) {
        pieces.add(chat.path("content").stringValue());
      } else if (event.name().equals("response.output_text.delta")) {
        pieces.add(json.path("delta").stringValue());
      } else if (json.at("/delta/text").isString()) {
        pieces.add(json.at("/delta/text").stringValue());
      }
    }
    return pieces;
  }

  @ParameterizedTest
  @EnumSource
  void theConnectionServesStreamsAndWholeAnswersInTurn(Wire wire) throws IOException {
    try (RawClient client = new RawClient(server)) {
      for (int i = 0; i < 3; i++) {
        assertEquals("It is noon.", wire.stream(client, "?").said());
        assertEquals("HTTP/1.1 200 OK", wire.ask(client, "?", false).read().status());
      }
    }
    assertEquals(6, server.requests());
    assertEquals(6, server.count(ExchangeOutcome.ANSWERED));
    assertEquals(1, server.acceptedConnections());
  }

  @ParameterizedTest
  @EnumSource
  void aClientOfHttp10GetsAStreamThatEndsWithTheConnection(Wire wire) throws IOException {
    Streamed chunked = stream(wire, "?");
    try (RawClient client = new RawClient(server)) {
      String body = wire.request("?", true);
      String path =
          switch (wire) {
            case CHAT -> "/v1/chat/completions";
            case RESPONSES -> "/v1/responses";
            case MESSAGES -> "/v1/messages";
          };
      client.send(
          "POST %s HTTP/1.0\r\nanthropic-version: 1\r\nContent-Length: %d\r\n\r\n%s"
              .formatted(path, body.length(), body));
      List<String> head = client.readHead();
      assertTrue(head.contains("Connection: close"), head::toString);
      assertFalse(head.toString().contains("Transfer-Encoding"), head::toString);
      String plain = new String(chunked.bytes(), StandardCharsets.ISO_8859_1);
      assertEquals(plain, client.readToEnd());
    }
  }

  @ParameterizedTest
  @EnumSource
  void whatNoRuleAnswersAndWhatIsRefusedIsNoStream(Wire wire) throws IOException {
    Script script =
        Script.parse("{\"rules\":[{\"when\":{\"turn\":7},\"answer\":{\"text\":\"a\"}}]}");
    try (ScriptedServer strict = ScriptedServer.start(script);
        RawClient client = new RawClient(strict)) {
      RawClient.Response none = wire.ask(client, "?", true).read();
      assertEquals("HTTP/1.1 500 Internal Server Error", none.status());
      assertTrue(none.body().contains("no_rule"), none::body);
      RawClient.Response refused =
          wire.send(client, wire.request("?", true).replace("m-1\"", "m-1\",\"tool_choice\":1"))
              .read();
      assertEquals("HTTP/1.1 400 Bad Request", refused.status());
      assertTrue(refused.body().contains("tool_choice"), refused::body);
    }
  }
}
