package dev.warpwright.adapters;

import dev.warpwright.adapters.anthropic.Anthropic;
import dev.warpwright.adapters.bedrock.Bedrock;
import dev.warpwright.adapters.google.Gemini;
import dev.warpwright.adapters.ollama.Ollama;
import dev.warpwright.adapters.openai.Api;
import dev.warpwright.adapters.openai.OpenAi;
import dev.warpwright.adapters.wire.BinaryEvent;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.model.ProviderAdapter;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** The protocols: their adapters, and an answer as a provider sends it in each. */
enum Dialect {
  CHAT,
  RESPONSES,
  MESSAGES,
  GEMINI,
  OLLAMA,
  BEDROCK;

  /** What stands for the name of an event that is a line of JSON. */
  private static final String LINE = "\n";

  /** What stands before the type of an event that is one of Amazon's messages. */
  private static final String BINARY = "\0event ";

  /** What stands before the type of one that reports an exception. */
  private static final String EXCEPTION = "\0exception ";

  /** A finish reason that every provider has a word for; any other text is sent as it is. */
  static final String STOP = "STOP";

  static final String TOOLS = "TOOLS";
  static final String LENGTH = "LENGTH";

  /** A call as it goes over the wire; the arguments are any text. */
  record Call(String id, String tool, String arguments) {}

  /** An answer. */
  record Said(List<String> pieces, List<Call> calls, String finish, int input, int output) {
    static Said text(String... pieces) {
      return new Said(List.of(pieces), List.of(), STOP, 7, 4);
    }

    static Said asking(Call... calls) {
      return new Said(List.of(), List.of(calls), TOOLS, 7, 4);
    }

    Said finish(String reason) {
      return new Said(pieces, calls, reason, input, output);
    }

    String text() {
      return String.join("", pieces);
    }
  }

  /**
   * One event: server-sent, without a name if that is empty, or a line, or a message of Amazon's,
   * each of whose bytes is a character then.
   */
  record Event(String name, String data) {
    /** The event as providers write it. */
    String plain() {
      if (name.startsWith(BINARY)) {
        return binary(BinaryEvent.event(name.substring(BINARY.length()), data));
      }
      if (name.startsWith(EXCEPTION)) {
        return binary(BinaryEvent.exception(name.substring(EXCEPTION.length()), data));
      }
      return name.equals(LINE)
          ? data + "\n"
          : (name.isEmpty() ? "" : "event: " + name + "\n") + "data: " + data + "\n\n";
    }
  }

  private static String binary(BinaryEvent event) {
    return new String(event.bytes(), StandardCharsets.ISO_8859_1);
  }

  static String plain(List<Event> events) {
    return events.stream().map(Event::plain).collect(Collectors.joining());
  }

  /** Whether its streams are server-sent events. */
  boolean isEvents() {
    return this != OLLAMA && this != BEDROCK;
  }

  /** Whether its streams are text. */
  boolean isText() {
    return this != BEDROCK;
  }

  /** The content type of its streams. */
  String streamType() {
    return switch (this) {
      case CHAT, RESPONSES, MESSAGES, GEMINI -> "text/event-stream";
      case OLLAMA -> "application/x-ndjson";
      case BEDROCK -> "application/vnd.amazon.eventstream";
    };
  }

  /** An event with this data, of this name where events have names. */
  Event event(String name, String data) {
    return switch (this) {
      case CHAT, RESPONSES, MESSAGES, GEMINI -> new Event(name, data);
      case OLLAMA -> new Event(LINE, data);
      case BEDROCK -> new Event(BINARY + name, data);
    };
  }

  /** A message of Amazon's that reports an exception. */
  static Event exception(String type, String data) {
    return new Event(EXCEPTION + type, data);
  }

  /** An event without a name as providers write it. */
  String plain(String data) {
    return event("", data).plain();
  }

  /** What shows that the server lives. */
  String alive() {
    return switch (this) {
      case CHAT, RESPONSES, MESSAGES, GEMINI -> ":\n\n";
      case OLLAMA -> "\n";
      case BEDROCK -> event("ping", "").plain();
    };
  }

  /** The status of an error that has none and no code that is known. */
  int unknownStatus() {
    return this == OLLAMA ? 500 : 0;
  }

  /** The protocol that another target speaks. */
  Dialect other() {
    return switch (this) {
      case CHAT -> RESPONSES;
      case RESPONSES -> MESSAGES;
      case MESSAGES, GEMINI, OLLAMA, BEDROCK -> CHAT;
    };
  }

  ProviderAdapter at(URI url) {
    return switch (this) {
      case CHAT -> OpenAi.builder().baseUrl(url).build();
      case RESPONSES -> OpenAi.builder().api(Api.RESPONSES).baseUrl(url).build();
      case MESSAGES -> Anthropic.builder().baseUrl(url).build();
      case OLLAMA -> Ollama.builder().baseUrl(url).build();
      case BEDROCK -> Bedrock.builder("us-east-1").baseUrl(url).build();
      case GEMINI -> Gemini.builder().baseUrl(url).build();
    };
  }

  static int openExchanges(ProviderAdapter adapter) {
    return switch (adapter) {
      case HttpAdapter http -> http.openExchanges();
      default -> throw new AssertionError(adapter);
    };
  }

  /** All events of an answer. */
  List<Event> events(Said said) {
    List<Event> events = opening(said);
    events.addAll(ending(said));
    return events;
  }

  /** What comes before any output. */
  List<Event> preamble(Said said) {
    return new ArrayList<>(
        switch (this) {
          case CHAT -> List.of(chat("{\"role\":\"assistant\",\"content\":\"\"}", "null"));
          case RESPONSES ->
              List.of(
                  typed("response.created", "\"response\":{\"id\":\"r1\",\"status\":\"queued\"}"));
          case MESSAGES ->
              List.of(
                  typed(
                      "message_start",
                      "\"message\":{\"id\":\"m1\",\"role\":\"assistant\",\"content\":[],"
                          + "\"usage\":{\"input_tokens\":%d,\"output_tokens\":1}}"
                              .formatted(said.input)),
                  typed("ping", ""));
          case OLLAMA -> List.of(line("{\"role\":\"assistant\",\"content\":\"\"}", ""));
          case BEDROCK -> List.of(event("messageStart", "{\"role\":\"assistant\"}"));
          case GEMINI -> List.of(gemini("", ""));
        });
  }

  /** The events up to the finish signal. */
  List<Event> opening(Said said) {
    List<Event> events = preamble(said);
    if (!said.pieces.isEmpty()) {
      events.addAll(
          switch (this) {
            case CHAT ->
                said.pieces.stream()
                    .map(piece -> chat("{\"content\":" + quoted(piece) + "}", "null"))
                    .toList();
            case RESPONSES -> messageItem(said);
            case MESSAGES ->
                block(
                    0,
                    "{\"type\":\"text\",\"text\":\"\"}",
                    said.pieces.stream()
                        .map(p -> "{\"type\":\"text_delta\",\"text\":" + quoted(p) + "}")
                        .toList());
            case OLLAMA ->
                said.pieces.stream()
                    .map(piece -> line("{\"content\":" + quoted(piece) + "}", ""))
                    .toList();
            case BEDROCK ->
                said.pieces.stream()
                    .map(piece -> converse(0, "{\"text\":" + quoted(piece) + "}"))
                    .toList();
            case GEMINI ->
                said.pieces.stream()
                    .map(piece -> gemini("{\"text\":" + quoted(piece) + "}", ""))
                    .toList();
          });
    }
    int first = this == CHAT || this == GEMINI || this == OLLAMA || said.pieces.isEmpty() ? 0 : 1;
    for (int i = 0; i < said.calls.size(); i++) {
      events.addAll(call(first + i, said.calls.get(i)));
    }
    return events;
  }

  private List<Event> messageItem(Said said) {
    List<Event> events = new ArrayList<>();
    events.add(
        typed(
            "response.output_item.added",
            "\"output_index\":0,\"item\":{\"id\":\"i0\",\"type\":\"message\",\"content\":[]}"));
    for (String piece : said.pieces) {
      events.add(
          typed(
              "response.output_text.delta",
              "\"item_id\":\"i0\",\"output_index\":0,\"delta\":" + quoted(piece)));
    }
    events.add(
        typed(
            "response.output_item.done", "\"output_index\":0,\"item\":" + items(said).getFirst()));
    return events;
  }

  private static List<Event> block(int index, String start, List<String> deltas) {
    List<Event> events = new ArrayList<>();
    events.add(
        typed("content_block_start", "\"index\":%d,\"content_block\":%s".formatted(index, start)));
    for (String delta : deltas) {
      events.add(typed("content_block_delta", "\"index\":%d,\"delta\":%s".formatted(index, delta)));
    }
    events.add(typed("content_block_stop", "\"index\":" + index));
    return events;
  }

  /** A call whose arguments come in two fragments. */
  private List<Event> call(int index, Call call) {
    String arguments = call.arguments;
    List<String> fragments =
        List.of(
            arguments.substring(0, arguments.length() / 2),
            arguments.substring(arguments.length() / 2));
    return switch (this) {
      case CHAT -> {
        List<Event> events = new ArrayList<>();
        events.add(
            chatCalls(
                "{\"index\":%d,\"id\":%s,\"type\":\"function\",\"function\":{\"name\":%s,\"arguments\":\"\"}}"
                    .formatted(index, quoted(call.id), quoted(call.tool))));
        for (String fragment : fragments) {
          events.add(
              chatCalls(
                  "{\"index\":%d,\"function\":{\"arguments\":%s}}"
                      .formatted(index, quoted(fragment))));
        }
        yield events;
      }
      case RESPONSES -> {
        List<Event> events = new ArrayList<>();
        events.add(
            typed(
                "response.output_item.added",
                "\"output_index\":%d,\"item\":%s".formatted(index, item(index, call, ""))));
        for (String fragment : fragments) {
          events.add(
              typed(
                  "response.function_call_arguments.delta",
                  "\"item_id\":\"i%d\",\"output_index\":%d,\"delta\":%s"
                      .formatted(index, index, quoted(fragment))));
        }
        events.add(
            typed(
                "response.output_item.done",
                "\"output_index\":%d,\"item\":%s".formatted(index, item(index, call, arguments))));
        yield events;
      }
      case MESSAGES ->
          block(
              index,
              "{\"type\":\"tool_use\",\"id\":%s,\"name\":%s,\"input\":{}}"
                  .formatted(quoted(call.id), quoted(call.tool)),
              fragments.stream()
                  .map(f -> "{\"type\":\"input_json_delta\",\"partial_json\":" + quoted(f) + "}")
                  .toList());
      case GEMINI -> List.of(gemini(functionCall(call), ""));
      case OLLAMA -> List.of(line("{\"tool_calls\":[" + ollamaCall(index, call) + "]}", ""));
      case BEDROCK -> {
        List<Event> events = new ArrayList<>();
        events.add(
            event(
                "contentBlockStart",
                "{\"contentBlockIndex\":%d,\"start\":{\"toolUse\":{\"toolUseId\":%s,\"name\":%s}}}"
                    .formatted(index, quoted(call.id), quoted(call.tool))));
        for (String fragment : fragments) {
          events.add(converse(index, "{\"toolUse\":{\"input\":" + quoted(fragment) + "}}"));
        }
        yield events;
      }
    };
  }

  /** A call of Gemini; arguments that are no JSON come as text. */
  private static String functionCall(Call call) {
    String arguments = call.arguments;
    try {
      Json.parse(arguments);
    } catch (InvalidRequestException e) {
      arguments = quoted(arguments);
    }
    return "{\"functionCall\":{\"id\":%s,\"name\":%s,\"args\":%s}}"
        .formatted(quoted(call.id), quoted(call.tool), arguments);
  }

  /** A chunk of Gemini. */
  private static Event gemini(String parts, String end) {
    return new Event(
        "",
        "{\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[%s]}%s}"
            .formatted(parts, end.isEmpty() ? "}]" : end));
  }

  private static String item(int index, Call call, String arguments) {
    return "{\"id\":\"i%d\",\"type\":\"function_call\",\"call_id\":%s,\"name\":%s,\"arguments\":%s}"
        .formatted(index, quoted(call.id), quoted(call.tool), quoted(arguments));
  }

  private static List<String> items(Said said) {
    List<String> items = new ArrayList<>();
    if (!said.pieces.isEmpty()) {
      items.add(
          "{\"id\":\"i0\",\"type\":\"message\",\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\",\"text\":%s}]}"
              .formatted(quoted(said.text())));
    }
    for (Call call : said.calls) {
      items.add(item(items.size(), call, call.arguments));
    }
    return items;
  }

  /** The finish signal and what comes behind it. */
  List<Event> ending(Said said) {
    return switch (this) {
      case CHAT ->
          List.of(
              chat("{}", quoted(reason(said))),
              new Event("", "{\"choices\":[],\"usage\":%s}".formatted(usage(said))),
              new Event("", "[DONE]"));
      case RESPONSES -> {
        String status = isComplete(said) ? "completed" : "incomplete";
        yield List.of(typed("response." + status, "\"response\":" + whole(said)));
      }
      case MESSAGES ->
          List.of(
              typed(
                  "message_delta",
                  "\"delta\":{\"stop_reason\":%s,\"stop_sequence\":null},\"usage\":{\"output_tokens\":%d}"
                      .formatted(quoted(reason(said)), said.output)),
              typed("message_stop", ""));
      case GEMINI -> List.of(gemini("", geminiEnd(said)));
      case OLLAMA -> List.of(line("{\"role\":\"assistant\",\"content\":\"\"}", ollamaEnd(said)));
      case BEDROCK ->
          List.of(
              event("messageStop", "{\"stopReason\":" + quoted(reason(said)) + "}"),
              event("metadata", "{\"usage\":" + usage(said) + "}"));
    };
  }

  private static Event converse(int index, String delta) {
    return BEDROCK.event(
        "contentBlockDelta", "{\"contentBlockIndex\":%d,\"delta\":%s}".formatted(index, delta));
  }

  /** A call, whole; arguments that are nothing are null. */
  private static String ollamaCall(int index, Call call) {
    return "{\"id\":%s,\"function\":{\"index\":%d,\"name\":%s,\"arguments\":%s}}"
        .formatted(
            quoted(call.id),
            index,
            quoted(call.tool),
            call.arguments.isEmpty() ? "null" : call.arguments);
  }

  private String ollamaEnd(Said said) {
    return ",\"done_reason\":%s,\"prompt_eval_count\":%d,\"eval_count\":%d"
        .formatted(quoted(reason(said)), said.input, said.output);
  }

  /** A line; the last one if it has more members. */
  private static Event line(String message, String more) {
    return new Event(
        LINE,
        "{\"model\":\"m\",\"message\":%s,\"done\":%b%s}".formatted(message, !more.isEmpty(), more));
  }

  /** The answer as the body of a response. */
  String whole(Said said) {
    return switch (this) {
      case CHAT ->
          "{\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":%s,\"tool_calls\":[%s]},\"finish_reason\":%s}],\"usage\":%s}"
              .formatted(
                  said.pieces.isEmpty() ? "null" : quoted(said.text()),
                  said.calls.stream()
                      .map(
                          call ->
                              "{\"id\":%s,\"type\":\"function\",\"function\":{\"name\":%s,\"arguments\":%s}}"
                                  .formatted(
                                      quoted(call.id), quoted(call.tool), quoted(call.arguments)))
                      .collect(Collectors.joining(",")),
                  quoted(reason(said)),
                  usage(said));
      case RESPONSES -> {
        boolean complete = isComplete(said);
        yield "{\"id\":\"r1\",\"status\":\"%s\",\"error\":null,\"incomplete_details\":%s,\"output\":[%s],\"usage\":%s}"
            .formatted(
                complete ? "completed" : "incomplete",
                complete ? "null" : "{\"reason\":" + quoted(reason(said)) + "}",
                String.join(",", items(said)),
                usage(said));
      }
      case MESSAGES -> {
        List<String> blocks = new ArrayList<>();
        if (!said.pieces.isEmpty()) {
          blocks.add("{\"type\":\"text\",\"text\":" + quoted(said.text()) + "}");
        }
        said.calls.forEach(
            call ->
                blocks.add(
                    "{\"type\":\"tool_use\",\"id\":%s,\"name\":%s,\"input\":%s}"
                        .formatted(quoted(call.id), quoted(call.tool), call.arguments)));
        yield "{\"id\":\"m1\",\"type\":\"message\",\"role\":\"assistant\",\"content\":[%s],\"stop_reason\":%s,\"usage\":%s}"
            .formatted(String.join(",", blocks), quoted(reason(said)), usage(said));
      }
      case BEDROCK -> {
        List<String> blocks = new ArrayList<>();
        if (!said.pieces.isEmpty()) {
          blocks.add("{\"text\":" + quoted(said.text()) + "}");
        }
        said.calls.forEach(
            call ->
                blocks.add(
                    "{\"toolUse\":{\"toolUseId\":%s,\"name\":%s,\"input\":%s}}"
                        .formatted(quoted(call.id), quoted(call.tool), call.arguments)));
        yield "{\"output\":{\"message\":{\"role\":\"assistant\",\"content\":[%s]}},\"stopReason\":%s,\"usage\":%s}"
            .formatted(String.join(",", blocks), quoted(reason(said)), usage(said));
      }
      case OLLAMA -> {
        List<String> calls = new ArrayList<>();
        said.calls.forEach(call -> calls.add(ollamaCall(calls.size(), call)));
        yield line(
                "{\"role\":\"assistant\",\"content\":%s,\"tool_calls\":[%s]}"
                    .formatted(quoted(said.text()), String.join(",", calls)),
                ollamaEnd(said))
            .data();
      }
      case GEMINI -> {
        List<String> parts = new ArrayList<>();
        if (!said.pieces.isEmpty()) {
          parts.add("{\"text\":" + quoted(said.text()) + "}");
        }
        said.calls.forEach(call -> parts.add(functionCall(call)));
        yield gemini(String.join(",", parts), geminiEnd(said)).data();
      }
    };
  }

  private String geminiEnd(Said said) {
    return ",\"finishReason\":%s}],\"usageMetadata\":%s"
        .formatted(quoted(reason(said)), usage(said));
  }

  private static boolean isComplete(Said said) {
    return said.finish.equals(STOP) || said.finish.equals(TOOLS);
  }

  private String reason(Said said) {
    return switch (said.finish) {
      case STOP ->
          switch (this) {
            case CHAT, RESPONSES, OLLAMA -> "stop";
            case MESSAGES, BEDROCK -> "end_turn";
            case GEMINI -> "STOP";
          };
      case TOOLS ->
          switch (this) {
            case CHAT, RESPONSES -> "tool_calls";
            case MESSAGES, BEDROCK -> "tool_use";
            case GEMINI -> "STOP";
            case OLLAMA -> "stop"; // it has no word for it
          };
      case LENGTH ->
          switch (this) {
            case CHAT, OLLAMA -> "length";
            case RESPONSES -> "max_output_tokens";
            case MESSAGES, BEDROCK -> "max_tokens";
            case GEMINI -> "MAX_TOKENS";
          };
      default -> said.finish;
    };
  }

  /** How arguments that are an object stand in a request. */
  String argumentsInRequest(String arguments) {
    return switch (this) {
      case CHAT, RESPONSES -> "\"arguments\":" + quoted(arguments);
      case MESSAGES, BEDROCK -> "\"input\":" + arguments;
      case OLLAMA -> "\"arguments\":" + arguments;
      case GEMINI -> "\"args\":" + arguments;
    };
  }

  private String usage(Said said) {
    String[] names =
        switch (this) {
          case CHAT -> new String[] {"prompt_tokens", "completion_tokens", "total_tokens"};
          case RESPONSES, MESSAGES ->
              new String[] {"input_tokens", "output_tokens", "total_tokens"};
          case BEDROCK -> new String[] {"inputTokens", "outputTokens", "totalTokens"};
          case OLLAMA -> throw new AssertionError("It reports usage on its last line.");
          case GEMINI ->
              new String[] {"promptTokenCount", "candidatesTokenCount", "totalTokenCount"};
        };
    return "{\"%s\":%d,\"%s\":%d,\"%s\":%d}"
        .formatted(names[0], said.input, names[1], said.output, names[2], said.input + said.output);
  }

  /** A chunk of Chat. */
  static Event chat(String delta, String finishReason) {
    return new Event(
        "",
        "{\"choices\":[{\"index\":0,\"delta\":%s,\"finish_reason\":%s}]}"
            .formatted(delta, finishReason));
  }

  /** A chunk of Chat with fragments of calls. */
  static Event chatCalls(String fragments) {
    return chat("{\"tool_calls\":[" + fragments + "]}", "null");
  }

  /** An event whose data repeats its name. */
  static Event typed(String type, String members) {
    return new Event(
        type, "{\"type\":\"" + type + "\"" + (members.isEmpty() ? "" : "," + members) + "}");
  }

  static String quoted(String text) {
    return Json.of(text).text();
  }
}
