package dev.warpwright.adapters;

import static dev.warpwright.adapters.Dialect.plain;
import static dev.warpwright.adapters.FaultMatrix.bytes;
import static dev.warpwright.adapters.FaultMatrix.succeeds;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.adapters.Dialect.Event;
import dev.warpwright.adapters.Dialect.Said;
import dev.warpwright.adapters.FaultMatrix.Cell;
import dev.warpwright.adapters.FaultMatrix.End;
import dev.warpwright.adapters.FaultMatrix.Seen;
import dev.warpwright.model.ProviderException.Kind;
import dev.warpwright.testing.LeakCheck;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** However a provider frames its events, a gateway has the answer or a typed end. */
@Timeout(120)
final class FramingMatrixTest {
  private static final Said TEXT = Said.text("Hello ", "你", "🌍.");
  private static final Said CALL = Said.asking(new Dialect.Call("c1", "load", "{\"a\":1.50}"));

  @RegisterExtension final LeakCheck leaks = new LeakCheck();
  private final FaultMatrix matrix = new FaultMatrix(leaks);

  /** A text and a call, each event framed so. */
  private void framed(Cell cell, Function<Event, String> framing) {
    whole(cell, events -> events.stream().map(framing).collect(Collectors.joining()));
  }

  private void whole(Cell cell, Function<List<Event>, String> framing) {
    Dialect dialect = cell.dialect();
    matrix.run(cell, bytes(framing.apply(dialect.events(TEXT))), succeeds(TEXT));
    matrix.run(
        cell, bytes(framing.apply(dialect.events(CALL))), FaultMatrix.runs("load {\"a\":1.50}"));
  }

  private static String nameLine(Event event, String end) {
    return event.name().isEmpty() ? "" : "event: " + event.name() + end;
  }

  @EachEventCell
  @Tag("FR-S01")
  void cr_lf_ends_lines_and_the_data_may_come_before_the_name(Cell cell) {
    framed(cell, event -> nameLine(event, "\r\n") + "data: " + event.data() + "\r\n\r\n");
    framed(cell, event -> "data: " + event.data() + "\r\n" + nameLine(event, "\r\n") + "\r\n");
    framed(cell, event -> "data: " + event.data() + "\n" + nameLine(event, "\n") + "\n");
  }

  @EachStreamCell
  @Tag("Y14")
  void cr_lf_may_be_cut_byte_by_byte(Cell cell) {
    dribbled(cell, "CRLF", 1);
  }

  @EachEventCell
  @Tag("FR-S03")
  void a_lone_cr_ends_lines_also_byte_by_byte(Cell cell) {
    framed(cell, event -> nameLine(event, "\r") + "data: " + event.data() + "\r\r");
    dribbled(cell, "CR", 1);
  }

  private void dribbled(Cell cell, String lineEnd, int size) {
    matrix.runForm(
        cell,
        "[ \"Hello \", \"你\", \"🌍.\" ]",
        "\"lineEnd\": \"%s\", \"dribble\": { \"bytes\": %d }".formatted(lineEnd, size),
        succeeds(TEXT));
  }

  @EachEventCell
  @Tag("FR-S05")
  void the_space_behind_the_colon_may_be_missing_and_what_is_unknown_is_passed_over(Cell cell) {
    framed(
        cell,
        event ->
            (event.name().isEmpty() ? "" : "event:" + event.name() + "\n")
                + "id:7\nretry:10\nunknown: x\nalone\ndata:"
                + withUnknown(event.data())
                + "\n\n");
  }

  private static String withUnknown(String data) {
    if (!data.startsWith("{")) {
      return data;
    }
    String inDelta =
        data.replace("\"delta\":{", "\"delta\":{\"function_call\":null,").replace(",}", "}");
    return inDelta.substring(0, inDelta.length() - 1) + ",\"lastOne\":false,\"x\":{\"y\":[]}}";
  }

  @EachStreamCell
  @Tag("FR-S07")
  @Tag("FR-S15")
  void cuts_of_the_network_change_nothing(Cell cell) {
    for (int size : new int[] {1, 2, 3, 7}) {
      dribbled(cell, "LF", size);
    }
  }

  @EachStreamCell
  void heartbeats_are_no_events(Cell cell) {
    String alive = cell.dialect().alive();
    framed(cell, event -> alive + event.plain() + alive + alive);
    if (cell.dialect().isEvents()) {
      framed(cell, event -> ": alive\n" + event.plain());
    }
    matrix.runForm(
        cell,
        "[ \"Hello \", \"你\", \"🌍.\" ]",
        "\"heartbeats\": 3, \"firstPause\": \"PT0.001S\", \"pause\": \"PT0.001S\"",
        succeeds(TEXT));
  }

  @EachEventCell
  @Tag("FR-S11")
  void events_without_data_are_never_read_as_json(Cell cell) {
    framed(cell, event -> "event: ping\ndata:\n\n" + event.plain() + "data: \n\n");
    framed(cell, event -> "event: ping\n\n" + event.plain() + "data\n\n");
  }

  @EachEventCell
  @Tag("FR-S13")
  void the_lines_of_data_are_joined_also_if_the_first_is_empty(Cell cell) {
    framed(cell, event -> nameLine(event, "\n") + "data:\ndata: " + event.data() + "\n\n");
    framed(cell, event -> nameLine(event, "\n") + "data: " + event.data() + "\ndata:\n\n");
  }

  @EachStreamCell
  @Tag("FR-S17")
  void the_last_event_needs_no_blank_line_if_its_data_is_complete(Cell cell) {
    Dialect dialect = cell.dialect();
    List<Event> events = dialect.events(TEXT);
    String all = plain(events);
    String opening = plain(dialect.opening(TEXT));
    if (dialect.isText()) {
      whole(cell, told -> plain(told).stripTrailing());
      whole(cell, told -> plain(told).stripTrailing() + "\n");
      all = all.stripTrailing();
      opening = opening.stripTrailing();
    }
    if (dialect == Dialect.CHAT) { // with usage as the last
      String usage = plain(events.subList(0, events.size() - 1)).stripTrailing();
      matrix.run(cell, bytes(usage), succeeds(TEXT));
      all = usage;
    }
    matrix.run(
        cell,
        bytes(all.substring(0, all.length() - 2)),
        new End.Broken(TEXT.text(), Kind.PROTOCOL));
    boolean hasEndOfItem = dialect == Dialect.RESPONSES || dialect == Dialect.MESSAGES;
    matrix.run(
        cell,
        bytes(opening.substring(0, opening.length() - 2)),
        new End.Broken(hasEndOfItem ? TEXT.text() : "Hello 你", Kind.PROTOCOL));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("dev.warpwright.adapters.FaultMatrix#chatStreamCells")
  @Tag("FR-S19")
  void usage_may_stand_on_a_chunk_without_choices_anywhere(Cell cell) {
    Event usage =
        new Event(
            "",
            "{\"choices\":[],\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":50,"
                + "\"total_tokens\":60}}");
    List<Event> without = new ArrayList<>(cell.dialect().events(TEXT));
    without.removeIf(event -> event.data().contains("\"usage\""));
    for (int place = 0; place < without.size(); place++) {
      List<Event> events = new ArrayList<>(without);
      events.add(place, usage);
      matrix.run(cell, bytes(plain(events)), new End.Succeeds(TEXT.text(), 10, 50, List.of()));
    }
  }

  @EachEventCell
  @Tag("FR-S21")
  void comments_may_stand_directly_before_the_terminator(Cell cell) {
    whole(
        cell,
        events ->
            plain(events.subList(0, events.size() - 1))
                + ": x-cost=0.1\n: x-model=m\n"
                + events.getLast().plain());
  }

  @EachCell
  @Tag("FR-S23")
  @Tag("R93")
  void an_answer_of_the_other_content_type_is_a_typed_failure(Cell cell) {
    if (cell.isStream() && cell.dialect() == Dialect.OLLAMA) { // where a whole answer is a line
      matrix.run(
          cell, "\"wrongType\": true", new End.Succeeds(FaultMatrix.PRIMARY, 7, 4, List.of()));
      return;
    }
    Seen seen = matrix.run(cell, "\"wrongType\": true", new End.FallbackAtOnce(Kind.PROTOCOL, 0));
    String type = cell.isStream() ? "application/json" : cell.dialect().streamType();
    assertTrue(
        seen.attempts().stream().anyMatch(attempt -> attempt.message().contains(type)),
        () -> seen.attempts().toString());
  }

  @EachStreamCell
  @Tag("FR-S25")
  void a_character_that_the_server_has_cut_goes_through_as_it_is(Cell cell) {
    Said cut = Said.text("a\ufffd", "\ufffdb");
    matrix.run(cell, bytes(plain(cell.dialect().events(cut))), succeeds(cut));
    String escaped = plain(cell.dialect().events(cut)).replace("\ufffd", "\\ufffd");
    matrix.run(cell, bytes(escaped), succeeds(cut));
  }
}
