package dev.warpwright.adapters.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.adapters.http.Authorization;
import dev.warpwright.adapters.http.ErrorTable;
import dev.warpwright.adapters.http.Failures;
import dev.warpwright.json.StrictJson;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.Usage;
import java.net.http.HttpHeaders;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tools.jackson.databind.node.ObjectNode;

/** What comes off the wire, at random, against slow readers that see everything at once. */
@Timeout(600)
final class StreamFuzzTest {
  private static final String[] SSE_PIECES = {
    "data", "data:", "data: ", "event", "event: ", "id: ", "retry:", ":", ": ", " ", "\n", "\r",
    "\r\n", "\n\n", "\r\r", "[DONE]", "{\"a\":1}", "x", "你", "🌍", "é", "\uFEFF", "\0", "\u2028",
    "\u0085", "message", "ping"
  };

  private static final String GARBAGE = "data: \n\revent:";

  private static String text(Random random, String[] pieces) {
    StringBuilder text = new StringBuilder();
    for (int i = random.nextInt(30); i > 0; i--) {
      text.append(pieces[random.nextInt(pieces.length)]);
    }
    return text.toString();
  }

  private static byte[] garbage(Random random) {
    byte[] bytes = new byte[random.nextInt(200)];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] =
          random.nextBoolean()
              ? (byte) random.nextInt(256)
              : (byte) GARBAGE.charAt(random.nextInt(GARBAGE.length()));
    }
    return bytes;
  }

  @Test
  @Tag("Y1")
  @Tag("Y2")
  @Tag("Y3")
  @Tag("Y4")
  @Tag("Y6")
  @Tag("Y7")
  @Tag("Y8")
  void events_are_those_that_a_reader_of_the_whole_text_finds() {
    Fuzz.play(
        random -> {
          String text = text(random, SSE_PIECES);
          byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
          List<byte[]> chunks = Chunks.pieces(bytes, random, 1 + random.nextInt(12));
          assertEquals(expectedEvents(text), SseReaderTest.events(chunks));
        });
  }

  /** The standard's steps, on the whole text. */
  private static List<String> expectedEvents(String stream) {
    String text = stream.startsWith("\uFEFF") ? stream.substring(1) : stream;
    List<String> events = new ArrayList<>();
    String[] lines = text.split("\r\n|\n|\r", -1);
    List<String> data = new ArrayList<>();
    String name = "";
    for (int i = 0; i < lines.length; i++) {
      boolean end = i == lines.length - 1;
      String line = lines[i];
      int colon = line.indexOf(':');
      String field = colon < 0 ? line : line.substring(0, colon);
      String value = colon < 0 ? "" : line.substring(colon + 1);
      value = value.startsWith(" ") ? value.substring(1) : value;
      if (field.equals("data")) {
        data.add(value);
      } else if (field.equals("event")) {
        name = value;
      }
      if (line.isEmpty() || end) {
        String joined = String.join("\n", data);
        if (!joined.isBlank()) {
          events.add((end ? "|" : "") + (name.isEmpty() ? "message" : name) + ":" + joined);
        }
        data.clear();
        name = "";
      }
    }
    return events;
  }

  @Test
  @Tag("Y1")
  @Tag("Y3")
  void garbage_has_the_same_events_however_it_is_cut() {
    Fuzz.play(
        random -> {
          byte[] bytes = garbage(random);
          List<String> whole = SseReaderTest.events(List.of(bytes));
          List<byte[]> chunks = Chunks.pieces(bytes, random, 1 + random.nextInt(5));
          assertEquals(whole, SseReaderTest.events(chunks));
        });
  }

  @Test
  @Tag("Y14")
  void lines_are_those_that_a_reader_of_the_whole_text_finds() {
    Fuzz.play(
        random -> {
          byte[] bytes =
              random.nextInt(4) == 0
                  ? garbage(random)
                  : text(random, SSE_PIECES).getBytes(StandardCharsets.UTF_8);
          String text = new String(bytes, StandardCharsets.UTF_8);
          text = text.startsWith("\uFEFF") ? text.substring(1) : text;
          List<String> expected = new ArrayList<>();
          String[] lines = text.split("\n", -1);
          for (int i = 0; i < lines.length; i++) {
            String line = lines[i].strip();
            if (!line.isEmpty()) {
              expected.add(i == lines.length - 1 ? "|" + line : line);
            }
          }
          List<byte[]> chunks = Chunks.pieces(bytes, random, 1 + random.nextInt(12));
          assertEquals(expected, NdjsonReaderTest.lines(chunks));
        });
  }

  private static final String[] LINES = {
    "{\"a\":\"你\"}",
    "{\"a\":1.50}",
    "7",
    "{}",
    " {\"a\": []} ",
    "{\"a\"",
    "{\"a\":1}x",
    "no",
    "{\"error\":\"It broke.\"}",
    "{\"error\":null}",
    "",
    " ",
    "\r",
    "{\"stop\":1}"
  };

  /** Takes lines until one says that it is the last. */
  private record Lines(List<String> read) implements StreamReader {
    @Override
    public boolean read(StreamEvent event, Teller out) {
      read.add(event.data());
      return !event.json().has("stop");
    }

    @Override
    public Optional<ModelResponse> end() {
      return read.isEmpty() || !read.getLast().contains("stop")
          ? Optional.empty()
          : Optional.of(
              new ModelResponse(
                  Message.assistant(""),
                  new FinishReason(FinishReason.Kind.STOP, "stop"),
                  Usage.ABSENT,
                  Optional.empty()));
    }
  }

  @Test
  @Tag("Y13")
  @Tag("Y14")
  void a_stream_of_lines_is_read_to_its_last_one_or_to_the_first_that_is_no_answer() {
    HttpHeaders headers = HttpHeaders.of(Map.of(), (name, value) -> true);
    Failures failures =
        new Failures(
            new ErrorTable(
                "Test", "x-request-id", Map.of(), Set.of(), List.of(), 500, "", Map.of()),
            InstantSource.system(),
            Authorization.NONE);
    Fuzz.play(
        random -> {
          StringBuilder stream = new StringBuilder();
          List<String> expected = new ArrayList<>();
          String end = "";
          for (int i = random.nextInt(8); i > 0; i--) {
            String line = LINES[random.nextInt(LINES.length)];
            stream.append(line).append(i > 1 || random.nextBoolean() ? "\n" : "");
            String read = line.strip();
            if (end.isEmpty() && !read.isEmpty()) {
              boolean error = read.contains("error\":\"");
              boolean none = Set.of("{\"a\"", "{\"a\":1}x", "no").contains(read);
              end = error ? "PROVIDER_EVENT" : none ? "PROTOCOL" : "";
              if (end.isEmpty()) {
                expected.add(read);
                end = read.contains("stop") ? "answer" : "";
              }
            }
          }
          List<String> read = new ArrayList<>();
          Played.Player player =
              new Played.Player(
                  headers, events -> EventStream.ofLines(failures, events, _ -> new Lines(read)));
          byte[] bytes = stream.toString().getBytes(StandardCharsets.UTF_8);
          Played played = player.play(Chunks.pieces(bytes, random, 1 + random.nextInt(12)));
          assertEquals(expected, read);
          String seen =
              played.outcome() instanceof ProviderException failure
                  ? failure.kind().name()
                  : "answer";
          assertEquals(end.isEmpty() ? "PROTOCOL" : end, seen);
        });
  }

  @Test
  @Tag("Y40")
  void calls_come_out_as_they_were_however_the_server_tells_them() {
    Fuzz.play(
        random -> {
          List<Told> told = new ArrayList<>();
          int count = 1 + random.nextInt(4);
          Style style = Style.values()[random.nextInt(Style.values().length)];
          for (int i = 0; i < count; i++) {
            told.add(new Told(i, style.named(i), "{\"v\":\"" + text(random, ARGUMENTS) + "\"}"));
          }
          List<String> fragments = fragments(told, style, random);
          CallAssembler calls = CallAssemblerTest.assembler(CallAssemblerTest.ASKED);
          fragments.forEach(fragment -> CallAssemblerTest.add(calls, fragment));
          List<ToolCall> read = calls.calls();
          assertEquals(count, read.size(), fragments::toString);
          for (int i = 0; i < count; i++) {
            assertEquals(told.get(i).name, read.get(i).name(), fragments::toString);
            assertEquals(told.get(i).arguments, read.get(i).input().text(), fragments::toString);
            if (style.ids) {
              assertEquals("id" + i, read.get(i).id());
            }
          }
        });
  }

  private static final String[] ARGUMENTS = {"a", "1", "{", "}", "[", ":", ",", " ", "你", "🌍"};

  private record Told(int place, String name, String arguments) {}

  /** How servers tell which call a fragment belongs to. */
  private enum Style {
    INDEX_AND_ID(true, true, false, true),
    INDEX_ONLY(true, false, false, true),
    ID_EACH_TIME(false, true, true, true),
    INDEX_AND_ID_EACH_TIME(true, true, true, true),
    ONE_INDEX_FOR_ALL(false, true, false, false),
    NOTHING_BUT_NAMES(false, false, false, false);

    final boolean index;
    final boolean ids;
    final boolean idEachTime;
    final boolean interleaves;

    Style(boolean index, boolean ids, boolean idEachTime, boolean interleaves) {
      this.index = index;
      this.ids = ids;
      this.idEachTime = idEachTime;
      this.interleaves = interleaves;
    }

    /** Calls of the same tool may follow each other, unless only names tell them apart. */
    String named(int place) {
      return this == NOTHING_BUT_NAMES ? "tool" + place : "tool" + place / 2;
    }
  }

  private static List<String> fragments(List<Told> told, Style style, Random random) {
    List<List<String>> byCall = new ArrayList<>();
    for (Told call : told) {
      byCall.add(fragments(call, style, random));
    }
    if (!style.interleaves) {
      return byCall.stream().flatMap(List::stream).toList();
    }
    List<String> all = new ArrayList<>();
    List<List<String>> open = new ArrayList<>(byCall.stream().map(ArrayList::new).toList());
    while (!open.isEmpty()) {
      // The beginnings in their order where only the order of coming tells it.
      boolean begin = style == Style.ID_EACH_TIME && all.size() < byCall.size();
      List<String> next = open.get(begin ? all.size() : random.nextInt(open.size()));
      all.add(next.removeFirst());
      if (!begin) {
        open.removeIf(List::isEmpty);
      }
    }
    return all;
  }

  private static List<String> fragments(Told call, Style style, Random random) {
    List<String> fragments = new ArrayList<>();
    List<String> pieces = new ArrayList<>(List.of(""));
    int start = 0;
    boolean whole = style == Style.NOTHING_BUT_NAMES;
    while (start < call.arguments.length()) {
      int end =
          whole
              ? call.arguments.length()
              : Math.min(call.arguments.length(), start + 1 + random.nextInt(8));
      pieces.add(call.arguments.substring(start, end));
      start = end;
    }
    if (whole) {
      pieces.removeFirst();
    }
    for (int i = 0; i < pieces.size(); i++) {
      ObjectNode fragment = StrictJson.mapper().createObjectNode();
      if (style.index || style == Style.ONE_INDEX_FOR_ALL) {
        fragment.put("index", style.index ? call.place : 0);
      }
      if (style.ids && (i == 0 || style.idEachTime)) {
        fragment.put("id", "id" + call.place);
      } else if (random.nextBoolean()) {
        fragment.put("id", "");
      }
      ObjectNode function = fragment.putObject("function");
      if (i == 0 || (style.idEachTime && random.nextBoolean())) {
        function.put("name", call.name);
      } else if (random.nextBoolean()) {
        function.put("name", "");
      }
      function.put("arguments", pieces.get(i));
      fragments.add(fragment.toString());
    }
    return fragments;
  }

  @Test
  @Tag("Y40")
  void fragments_at_random_make_calls_or_break_the_protocol() {
    Fuzz.play(
        random -> {
          CallAssembler calls = CallAssemblerTest.assembler(CallAssemblerTest.ASKED);
          int arguments = 0;
          try {
            for (int i = random.nextInt(20); i > 0; i--) {
              String piece = text(random, ARGUMENTS);
              CallAssemblerTest.add(calls, randomFragment(random, piece).toString());
              arguments += piece.length();
            }
            List<ToolCall> read = calls.calls();
            assertEquals(read.size(), read.stream().map(ToolCall::id).distinct().count());
            int kept =
                read.stream()
                    .mapToInt(call -> call.malformed().orElse(call.input().text()).length())
                    .sum();
            assertTrue(kept <= arguments + 2 * read.size() + 100, "more came out than went in");
          } catch (ProviderException broken) {
            assertEquals(ProviderException.Kind.PROTOCOL, broken.kind());
          }
        });
  }

  private static ObjectNode randomFragment(Random random, String piece) {
    ObjectNode fragment = StrictJson.mapper().createObjectNode();
    switch (random.nextInt(6)) {
      case 0, 1, 2 -> fragment.put("index", random.nextInt(3));
      case 3 -> fragment.putNull("index");
      case 4 -> fragment.put("index", random.nextInt(300) - 10);
      default -> {}
    }
    switch (random.nextInt(4)) {
      case 0 -> fragment.put("id", "id" + random.nextInt(4));
      case 1 -> fragment.put("id", "");
      case 2 -> fragment.put("id", 5);
      default -> {}
    }
    ObjectNode function = fragment.putObject("function");
    switch (random.nextInt(4)) {
      case 0, 1 -> function.put("name", Stream.of("f", "g").toList().get(random.nextInt(2)));
      case 2 -> function.putNull("name");
      default -> {}
    }
    switch (random.nextInt(8)) {
      case 0 -> function.putNull("arguments");
      case 1 -> function.putObject("arguments").put("v", piece);
      case 2 -> {}
      default -> function.put("arguments", piece);
    }
    return fragment;
  }
}
