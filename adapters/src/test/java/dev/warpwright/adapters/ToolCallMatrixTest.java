package dev.warpwright.adapters;

import static dev.warpwright.adapters.Dialect.chat;
import static dev.warpwright.adapters.Dialect.chatCalls;
import static dev.warpwright.adapters.Dialect.plain;
import static dev.warpwright.adapters.Dialect.typed;
import static dev.warpwright.adapters.FaultMatrix.bytes;
import static dev.warpwright.adapters.FaultMatrix.json;
import static dev.warpwright.adapters.FaultMatrix.runs;
import static dev.warpwright.adapters.FaultMatrix.said;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.adapters.Dialect.Call;
import dev.warpwright.adapters.Dialect.Event;
import dev.warpwright.adapters.Dialect.Said;
import dev.warpwright.adapters.FaultMatrix.Cell;
import dev.warpwright.adapters.FaultMatrix.End;
import dev.warpwright.adapters.FaultMatrix.Seen;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.ProviderException.Kind;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.Usage;
import dev.warpwright.testing.LeakCheck;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** However a provider tells its calls, each tool runs once with its exact input, or none does. */
@Timeout(120)
final class ToolCallMatrixTest {
  private static final Said CALLS = Said.asking();

  @RegisterExtension final LeakCheck leaks = new LeakCheck();
  private final FaultMatrix matrix = new FaultMatrix(leaks);

  /** Chunks of Chat with these lists of fragments, and the end of an answer with calls. */
  private Seen chunks(Cell cell, List<String> fragments, End end) {
    List<Event> events = new ArrayList<>(cell.dialect().preamble(CALLS));
    fragments.forEach(list -> events.add(chatCalls(list)));
    events.addAll(cell.dialect().ending(CALLS));
    return matrix.run(cell, bytes(plain(events)), end);
  }

  private static String call(String members, String name, String arguments) {
    return "{%s\"function\":{%s\"arguments\":%s}}"
        .formatted(
            members.isEmpty() ? "" : members + ",",
            name.isEmpty() ? "" : "\"name\":\"" + name + "\",",
            Dialect.quoted(arguments));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("dev.warpwright.adapters.FaultMatrix#chatStreamCells")
  @Tag("FR-T01")
  void an_empty_id_goes_on_with_the_call(Cell cell) {
    chunks(
        cell,
        List.of(
            call("\"index\":0,\"id\":\"call_1\"", "load", ""),
            call("\"index\":0,\"id\":\"\"", "", "{\"a\":"),
            call("\"index\":0,\"id\":\"\"", "", "1}")),
        runs("load {\"a\":1}"));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("dev.warpwright.adapters.FaultMatrix#chatStreamCells")
  @Tag("FR-T03")
  void text_beside_an_empty_list_of_calls_is_shown_at_once(Cell cell) {
    Said text = Said.text("Hi");
    List<Event> events = new ArrayList<>(cell.dialect().preamble(text));
    events.add(chat("{\"content\":\"Hi\",\"tool_calls\":[]}", "null"));
    matrix.run( // it was shown before anybody knew the end
        cell, bytes(plain(events)), new End.Broken("Hi", Kind.PROTOCOL));
    events.addAll(cell.dialect().ending(text));
    matrix.run(cell, bytes(plain(events)), FaultMatrix.succeeds(text));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("dev.warpwright.adapters.FaultMatrix#chatStreamCells")
  @Tag("FR-T05")
  @Tag("FR-M11")
  void usage_on_every_chunk_is_no_sum_and_empty_members_say_nothing(Cell cell) {
    List<String> lists =
        List.of(
            call("\"index\":0,\"id\":\"c\",\"type\":\"function\"", "load", ""),
            call("\"index\":0,\"id\":\"\",\"type\":\"\"", "", "{\""),
            call("\"index\":0,\"id\":\"\",\"type\":\"\"", "", "a\":2}"));
    StringBuilder body = new StringBuilder();
    for (int i = 0; i < lists.size(); i++) {
      String data = chatCalls(lists.get(i)).data();
      body.append("data: ")
          .append(data, 0, data.length() - 1)
          .append(
              ",\"usage\":{\"prompt_tokens\":35,\"completion_tokens\":%d,\"total_tokens\":%d}}"
                  .formatted(i, 35 + i))
          .append("\n\n");
    }
    body.append(chat("{}", "\"tool_calls\"").plain()).append("data: [DONE]\n\n");
    matrix.run(
        cell, bytes(body.toString()), new End.Succeeds("", 35, 2, List.of("load {\"a\":2}")));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("dev.warpwright.adapters.FaultMatrix#chatStreamCells")
  @Tag("FR-T07")
  void calls_that_all_have_index_0_are_told_apart_by_their_ids(Cell cell) {
    chunks(
        cell,
        List.of(
            call("\"index\":0,\"id\":\"a\"", "load", "{\"q\":\"A\"}"),
            call("\"index\":0,\"id\":\"b\"", "get_time", "{\"q\":\"B\"}")),
        runs("load {\"q\":\"A\"}", "get_time {\"q\":\"B\"}"));
  }

  @EachStreamCell
  @Tag("FR-T09")
  void interleaved_fragments_are_put_together_and_no_tool_starts_before_the_end(Cell cell) {
    if (cell.dialect() == Dialect.CHAT) {
      chunks(
          cell,
          List.of(
              call("\"index\":0,\"id\":\"x\"", "load", "{\"a\":"),
              call("\"index\":1,\"id\":\"y\"", "get_time", "{\"a\":"),
              call("\"index\":0", "", "10}"),
              call("\"index\":1", "", "20}")),
          runs("load {\"a\":10}", "get_time {\"a\":20}"));
    } else {
      Said calls =
          Said.asking(new Call("x", "load", "{\"a\":10}"), new Call("y", "get_time", "{\"a\":20}"));
      List<Event> events = cell.dialect().events(calls);
      matrix.run(
          cell, bytes(plain(interleaved(events))), runs("load {\"a\":10}", "get_time {\"a\":20}"));
    }
    Said calls = Said.asking(new Call("x", "load", "{\"a\":10}"));
    matrix.run( // a call that is complete, in an answer that is not
        cell,
        bytes(plain(cell.dialect().opening(calls))),
        new End.FallbackAtOnce(Kind.PROTOCOL, 0));
  }

  /** The same events, those of the second call between those of the first. */
  private static List<Event> interleaved(List<Event> events) {
    List<Event> others = new ArrayList<>();
    List<List<Event>> calls = List.of(new ArrayList<>(), new ArrayList<>());
    int place = -1;
    for (Event event : events) {
      boolean first = event.data().contains("index\":0");
      if (first || event.data().contains("index\":1")) {
        calls.get(first ? 0 : 1).add(event);
        place = place < 0 ? others.size() : place;
      } else {
        others.add(event);
      }
    }
    for (int i = calls.getFirst().size() - 1; i >= 0; i--) {
      others.add(place, calls.get(1).get(i));
      others.add(place, calls.getFirst().get(i));
    }
    return others;
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("dev.warpwright.adapters.FaultMatrix#chatStreamCells")
  @Tag("FR-T11")
  void calls_with_and_without_an_index_are_never_joined(Cell cell) {
    End both = runs("load {}", "get_time {}");
    chunks(
        cell,
        List.of(call("\"id\":\"c1\"", "load", "{}"), call("\"id\":\"c2\"", "get_time", "{}")),
        both);
    chunks(
        cell,
        List.of(
            call("\"index\":0,\"id\":\"c1\"", "load", "{}"),
            call("\"id\":\"c2\"", "get_time", "{}")),
        both);
    chunks(
        cell,
        List.of(
            call("\"id\":\"c1\"", "load", "{}") + "," + call("\"id\":\"c2\"", "get_time", "{}")),
        both);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("dev.warpwright.adapters.FaultMatrix#chatStreamCells")
  @Tag("FR-T13")
  void the_same_index_twice_in_one_chunk_is_one_call(Cell cell) {
    chunks(
        cell,
        List.of("{\"index\":0,\"id\":\"c\"}," + call("\"index\":0", "load", "{}")),
        runs("load {}"));
  }

  /** Whether arguments stand in the answer as JSON and not as text. */
  private static boolean isJsonInWhole(Cell cell) {
    return switch (cell.dialect()) {
      case MESSAGES, BEDROCK -> !cell.isStream();
      case GEMINI -> false;
      case CHAT, RESPONSES, OLLAMA -> false; // with Ollama nothing is null
    };
  }

  @EachCell
  @Tag("FR-T15")
  @Tag("FR-T17")
  void a_call_without_arguments_has_an_empty_input_and_the_next_one_its_own(Cell cell) {
    for (String nothing : List.of("{}", "")) {
      if (!nothing.isEmpty() || !isJsonInWhole(cell)) {
        matrix.run(cell, said(cell, Said.asking(new Call("x", "load", nothing))), runs("load {}"));
        matrix.run(
            cell,
            said(
                cell,
                Said.asking(
                    new Call("x", "load", nothing), new Call("y", "get_time", "{\"a\":1}"))),
            runs("load {}", "get_time {\"a\":1}"));
      }
    }
    if (cell.dialect() == Dialect.CHAT && cell.isStream()) {
      chunks(
          cell,
          List.of(
              "{\"index\":0,\"id\":\"x\",\"function\":{\"name\":\"load\"}}",
              call("\"index\":1,\"id\":\"y\"", "get_time", "{\"a\":1}")),
          runs("load {}", "get_time {\"a\":1}"));
    }
  }

  @EachCell
  @Tag("FR-T19")
  void arguments_that_are_encoded_twice_are_replayed_once(Cell cell) {
    String twice = Dialect.quoted("{\"a\":3}");
    Seen seen =
        matrix.run(
            cell, said(cell, Said.asking(new Call("x", "load", twice))), runs("load {\"a\":3}"));
    String replay = seen.primary().getLast().body();
    assertTrue(replay.contains(cell.dialect().argumentsInRequest("{\"a\":3}")), replay);
  }

  @EachCell
  @Tag("FR-T21")
  @Tag("R146")
  void a_call_that_was_cut_by_the_length_limit_does_not_run(Cell cell) {
    for (String arguments : List.of("{\"p\":{\"a\":\"x\"", "{\"a\":1}")) {
      if ((isJsonInWhole(cell) || cell.dialect() == Dialect.OLLAMA) && arguments.length() > 10) {
        continue; // would be no JSON
      }
      Said cut = Said.asking(new Call("x", "load", arguments)).finish(Dialect.LENGTH);
      matrix.run(cell, said(cell, cut), new End.Refused(FailureKind.OUTPUT_TRUNCATION));
    }
  }

  @EachCell
  @Tag("FR-T23")
  void an_id_that_is_too_long_for_another_is_mapped_there_on_call_and_result(Cell cell) {
    String id = "call_" + "x".repeat(89);
    Seen seen =
        matrix.run(
            cell,
            said(cell, Said.asking(new Call(id, "load", "{\"a\":1}"))),
            new End.FallbackBehindTool("load {\"a\":1}"));
    String body = seen.fallback().getFirst().body();
    List<String> ids =
        Pattern.compile("\"(?:tool_)?(?:call_id|use_id|call_id|id)\":\"([^\"]*)\"")
            .matcher(body)
            .results()
            .map(match -> match.group(1))
            .toList();
    assertEquals(0, ids.size() % 2, body);
    ids.forEach(sent -> assertEquals(2, ids.stream().filter(sent::equals).count(), body));
    assertFalse(cell.dialect().other() != Dialect.MESSAGES && body.contains(id), body);
  }

  @EachCell
  @Tag("FR-T25")
  @Tag("R146")
  void a_finish_reason_that_is_not_known_lets_no_tool_run(Cell cell) {
    for (String reason : List.of("model_context_window_exceeded", "never_heard_of")) {
      Said unknown = Said.asking(new Call("x", "load", "{\"a\":1}")).finish(reason);
      matrix.run(cell, said(cell, unknown), new End.Refused(FailureKind.OUTPUT_TRUNCATION));
    }
  }

  // --- Anthropic -----------------------------------------------------------------------------

  @ParameterizedTest(name = "{0}")
  @MethodSource("dev.warpwright.adapters.FaultMatrix#messagesCells")
  @Tag("FR-A01")
  void a_tool_use_with_empty_input_runs_with_none(Cell cell) {
    matrix.run(cell, said(cell, Said.asking(new Call("x", "load", "{}"))), runs("load {}"));
    if (cell.isStream()) {
      List<Event> events =
          new ArrayList<>(cell.dialect().events(Said.asking(new Call("x", "load", ""))));
      matrix.run(cell, bytes(plain(events)), runs("load {}"));
      events.removeIf(event -> event.name().equals("content_block_delta"));
      matrix.run(cell, bytes(plain(events)), runs("load {}"));
    }
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("dev.warpwright.adapters.FaultMatrix#messagesCells")
  @Tag("FR-A05")
  void counters_of_the_start_and_of_the_deltas_are_no_sums(Cell cell) {
    Said text = Said.text("Hi");
    String counters =
        "{\"input_tokens\":2,\"cache_creation_input_tokens\":47119,"
            + "\"cache_read_input_tokens\":0,\"output_tokens\":%d}";
    String effect;
    if (cell.isStream()) {
      List<Event> events = new ArrayList<>(cell.dialect().opening(text));
      events.set(
          0, typed("message_start", "\"message\":{\"usage\":" + counters.formatted(4) + "}"));
      events.add(
          typed(
              "message_delta",
              "\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":" + counters.formatted(64)));
      events.add(typed("message_stop", ""));
      effect = bytes(plain(events));
    } else {
      effect =
          json(
              cell.dialect()
                  .whole(text)
                  .replaceAll("\"usage\":\\{[^}]*}", "\"usage\":" + counters.formatted(64)));
    }
    Seen seen = matrix.run(cell, effect, new End.Succeeds("Hi", 47121, 64, List.of()));
    Usage usage = seen.answered().steps().getLast().response().usage();
    assertEquals(47119, usage.cacheWrite().tokens());
    assertTrue(usage.cachedInput().isPresent());
    assertEquals(0, usage.cachedInput().tokens());
  }

  private static String thinking(Cell cell, String signature) {
    Said call = Said.asking(new Call("x", "load", "{}"));
    if (!cell.isStream()) {
      String block =
          "{\"type\":\"thinking\",\"thinking\":\"Let me see.\",\"signature\":\"%s\"},"
              .formatted(signature);
      return json(cell.dialect().whole(call).replace("\"content\":[", "\"content\":[" + block));
    }
    List<Event> events = new ArrayList<>();
    for (Event event : cell.dialect().events(call)) {
      events.add(new Event(event.name(), event.data().replace("\"index\":0", "\"index\":1")));
    }
    events.addAll(
        2,
        List.of(
            typed(
                "content_block_start",
                "\"index\":0,\"content_block\":{\"type\":\"thinking\",\"thinking\":\"\"}"),
            typed(
                "content_block_delta",
                "\"index\":0,\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"Let me \"}"),
            typed(
                "content_block_delta",
                "\"index\":0,\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"see.\"}"),
            typed(
                "content_block_delta",
                "\"index\":0,\"delta\":{\"type\":\"signature_delta\",\"signature\":\"%s\"}"
                    .formatted(signature)),
            typed("content_block_stop", "\"index\":0")));
    return bytes(plain(events));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("dev.warpwright.adapters.FaultMatrix#messagesCells")
  @Tag("FR-A09")
  void a_thinking_block_without_a_signature_is_not_replayed(Cell cell) {
    Seen seen = matrix.run(cell, thinking(cell, ""), runs("load {}"));
    String replay = seen.primary().getLast().body();
    assertFalse(replay.contains("\"thinking\""), replay);
    assertTrue(replay.contains("\"tool_use\""), replay);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("dev.warpwright.adapters.FaultMatrix#messagesCells")
  @Tag("FR-A11")
  @Tag("FR-A13")
  @Tag("Y39")
  void stop_reasons_are_an_open_set_and_never_missing(Cell cell) {
    Map.of(
            "end_turn", FinishReason.Kind.STOP,
            "stop_sequence", FinishReason.Kind.STOP,
            "max_tokens", FinishReason.Kind.LENGTH,
            "refusal", FinishReason.Kind.REFUSAL,
            "pause_turn", FinishReason.Kind.PAUSED,
            "model_context_window_exceeded", FinishReason.Kind.LENGTH,
            "never_heard_of", FinishReason.Kind.OTHER)
        .forEach(
            (raw, kind) -> {
              Said text = Said.text("So far.").finish(raw);
              Seen seen = matrix.run(cell, said(cell, text), FaultMatrix.succeeds(text));
              assertEquals(new FinishReason(kind, raw), seen.answered().finishReason());
            });
  }

  // --- numbers and text ----------------------------------------------------------------------

  @EachCell
  @Tag("FR-N01")
  @Tag("FR-N03")
  void numbers_are_exact_in_the_tool_and_in_the_replay(Cell cell) {
    for (String number :
        List.of(
            "9007199254740993",
            "9223372036854775817",
            "1234567890.123456789",
            "2512292042121000001",
            "\"1234567890123456789\"")) {
      String input = (number.startsWith("\"") ? "{\"q\":" : "{\"a\":") + number + "}";
      Seen seen =
          matrix.run(
              cell, said(cell, Said.asking(new Call("x", "load", input))), runs("load " + input));
      List<ToolCall> calls =
          seen.answered().steps().get(cell.step() - 1).response().message().toolCalls();
      assertEquals(input, calls.getFirst().input().text());
      String replay = seen.primary().getLast().body();
      assertTrue(replay.contains(cell.dialect().argumentsInRequest(input)), replay);
    }
  }

  @EachCell
  @Tag("FR-U01")
  void a_lone_surrogate_in_a_call_does_not_poison_later_turns(Cell cell) {
    String broken = "{\"q\":\"a\\ud83db\"}";
    Seen seen =
        matrix.run(
            cell,
            said(cell, Said.asking(new Call("x", "load", broken))),
            runs("load {\"q\":\"a\ufffdb\"}"));
    assertFalse(seen.primary().getLast().body().contains("ud83d"));
  }
}
