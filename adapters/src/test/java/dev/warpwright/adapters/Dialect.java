package dev.warpwright.adapters;

import dev.warpwright.adapters.anthropic.Anthropic;
import dev.warpwright.adapters.google.Gemini;
import dev.warpwright.adapters.openai.Api;
import dev.warpwright.adapters.openai.OpenAi;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.model.ProviderAdapter;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** The protocols: their adapters, and an answer as a provider sends it in each. */
enum Dialect {
  CHAT,
  RESPONSES,
  MESSAGES,
  GEMINI;

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

  /** One server-sent event; without a name if that is empty. */
  record Event(String name, String data) {
    /** The event as providers write it. */
    String plain() {
      return (name.isEmpty() ? "" : "event: " + name + "\n") + "data: " + data + "\n\n";
    }
  }

  static String plain(List<Event> events) {
    return events.stream().map(Event::plain).collect(Collectors.joining());
  }

  /** The protocol that another target speaks. */
  Dialect other() {
    return switch (this) {
      case CHAT -> RESPONSES;
      case RESPONSES -> MESSAGES;
      case MESSAGES, GEMINI -> CHAT;
    };
  }

  ProviderAdapter at(URI url) {
    return switch (this) {
      case CHAT -> OpenAi.builder().baseUrl(url).build();
      case RESPONSES -> OpenAi.builder().api(Api.RESPONSES).baseUrl(url).build();
      case MESSAGES -> Anthropic.builder().baseUrl(url).build();
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
            case GEMINI ->
                said.pieces.stream()
                    .map(piece -> gemini("{\"text\":" + quoted(piece) + "}", ""))
                    .toList();
          });
    }
    int first = this == CHAT || this == GEMINI || said.pieces.isEmpty() ? 0 : 1;
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
    };
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
            case CHAT, RESPONSES -> "stop";
            case MESSAGES -> "end_turn";
            case GEMINI -> "STOP";
          };
      case TOOLS ->
          switch (this) {
            case CHAT, RESPONSES -> "tool_calls";
            case MESSAGES -> "tool_use";
            case GEMINI -> "STOP";
          };
      case LENGTH ->
          switch (this) {
            case CHAT -> "length";
            case RESPONSES -> "max_output_tokens";
            case MESSAGES -> "max_tokens";
            case GEMINI -> "MAX_TOKENS";
          };
      default -> said.finish;
    };
  }

  /** How arguments that are an object stand in a request. */
  String argumentsInRequest(String arguments) {
    return switch (this) {
      case CHAT, RESPONSES -> "\"arguments\":" + quoted(arguments);
      case MESSAGES -> "\"input\":" + arguments;
      case GEMINI -> "\"args\":" + arguments;
    };
  }

  private String usage(Said said) {
    String[] names =
        switch (this) {
          case CHAT -> new String[] {"prompt_tokens", "completion_tokens", "total_tokens"};
          case RESPONSES, MESSAGES ->
              new String[] {"input_tokens", "output_tokens", "total_tokens"};
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
