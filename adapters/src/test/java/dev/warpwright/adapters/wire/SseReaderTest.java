package dev.warpwright.adapters.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class SseReaderTest {
  private static final int BOUND = 1_048_576;

  /** The events of a stream, those without a blank line at its end behind a bar. */
  static List<String> events(List<byte[]> chunks) {
    List<String> events = new ArrayList<>();
    SseReader reader = new SseReader();
    byte[] buffer = new byte[16];
    for (byte[] chunk : chunks) {
      buffer = chunk.length > buffer.length ? new byte[chunk.length] : buffer;
      System.arraycopy(chunk, 0, buffer, 0, chunk.length); // one buffer, used again
      reader.feed(buffer, chunk.length);
      for (Frame event = reader.next(); event != null; event = reader.next()) {
        events.add(event.name() + ":" + event.data());
      }
      Arrays.fill(buffer, (byte) '?');
    }
    Frame last = reader.last();
    if (last != null) {
      events.add("|" + last.name() + ":" + last.data());
    }
    return events;
  }

  /** However it is cut, a stream has these events. */
  private static void assertEvents(byte[] stream, String... expected) {
    for (List<byte[]> chunks : Chunks.ways(stream, 7)) {
      assertEquals(
          List.of(expected),
          events(chunks),
          () -> "cut as " + chunks.stream().map(c -> c.length).toList());
    }
  }

  private static void assertEvents(String stream, String... expected) {
    assertEvents(stream.getBytes(StandardCharsets.UTF_8), expected);
  }

  @Test
  @Tag("Y1")
  @Tag("FR-S15")
  void a_character_may_be_cut_anywhere() {
    assertEvents("data: 你🌍é\n\ndata: \uFFFD\n\n", "message:你🌍é", "message:\uFFFD");
    assertEvents("event: é🌍\ndata: 你\n\n", "é🌍:你");
  }

  @Test
  @Tag("Y2")
  void one_byte_order_mark_at_the_start_is_no_text() {
    assertEvents("\uFEFFdata: a\n\n", "message:a");
    assertEvents("\uFEFF\n\ndata: a\n\n", "message:a");
    assertEvents("\uFEFFdata: \uFEFFa\n\n\uFEFFdata: b\n\n", "message:\uFEFFa");
    assertEvents("\uFEFF\uFEFFdata: a\n\n");
    assertEvents("data: a\n\n\uFEFFdata: b\n\ndata: c\n\n", "message:a", "message:c");
  }

  @Test
  @Tag("Y3")
  @Tag("FR-S01")
  @Tag("FR-S03")
  void lines_end_with_lf_cr_lf_or_cr_mixed_freely() {
    assertEvents(
        "data: /message?sessionId=123\r\nevent: endpoint\r\n\r\n",
        "endpoint:/message?sessionId=123");
    assertEvents(
        "data: {\"a\":1}\r\rdata: {\"a\":2}\r\r", "message:{\"a\":1}", "message:{\"a\":2}");
    assertEvents(
        "data: 1\r\n\ndata: 2\n\r\ndata: 3\r\r\ndata: 4\n\rdata: 5\r\r\n\ndata: 6\n\n",
        "message:1",
        "message:2",
        "message:3",
        "message:4",
        "message:5",
        "message:6");
    assertEvents("data: a\ndata: b\rdata: c\r\ndata: d\n\r", "message:a\nb\nc\nd");
  }

  @ParameterizedTest
  @ValueSource(strings = {"\n\n", "\r\r", "\r\n\r", "\n\r", "\r\n\n"})
  @Tag("Y3")
  @Tag("Y11")
  void an_event_is_there_as_soon_as_its_blank_line_is(String ends) {
    SseReader reader = new SseReader();
    byte[] bytes = ("data: a" + ends).getBytes(StandardCharsets.UTF_8);
    for (int i = 0; i < bytes.length; i++) {
      assertNull(reader.next());
      reader.feed(new byte[] {bytes[i]}, 1);
    }
    assertEquals("a", reader.next().data());
    reader.feed("\ndata: b\n\n".getBytes(StandardCharsets.UTF_8), 10);
    assertEquals("b", reader.next().data());
    assertNull(reader.next());
  }

  @Test
  @Tag("Y4")
  @Tag("FR-S05")
  void fields_are_read_up_to_the_first_colon_and_unknown_ones_are_passed_over() {
    assertEvents("data:{\"a\":\"b: c\"}\n\n", "message:{\"a\":\"b: c\"}");
    assertEvents("data:  two spaces \n\n", "message: two spaces ");
    assertEvents("data:\ttab\n\n", "message:\ttab");
    assertEvents("id: 7\nretry: 10\nnew: x\nDATA: y\n data: z\ndata : z\ndata: a\n\n", "message:a");
    assertEvents("data\ndata: a\n\nevent\ndata: b\n\n", "message:\na", "message:b");
    assertEvents("{\"no\":\"field\"}\n\ndata: a\n\n", "message:a");
    assertEvents("data: a\0b\n\n", "message:a\0b");
  }

  @Test
  @Tag("Y5")
  @Tag("FR-S09")
  @Tag("FR-S21")
  void a_comment_is_no_content_wherever_it_stands() {
    assertEvents(":\n\n: x\n\n:data: a\n\n");
    assertEvents(
        ": x-cost=0.1\n: x-model=m\ndata: [DONE]\n\ndata: a\n:c\ndata: b\n\n",
        "message:[DONE]",
        "message:a\nb");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {":\n", ": x\r", "event: ping\ndata:\n\n", "event: ping\n\n", "data: \n\n"})
  @Tag("Y5")
  @Tag("FR-S11")
  void what_holds_no_data_is_a_sign_of_life_once(String bytes) {
    SseReader reader = new SseReader();
    reader.feed(bytes.getBytes(StandardCharsets.UTF_8), bytes.length());
    assertFalse(reader.takeAlive());
    assertNull(reader.next());
    assertTrue(reader.takeAlive());
    assertFalse(reader.takeAlive());
  }

  @Test
  @Tag("Y6")
  @Tag("FR-S13")
  void lines_of_data_are_joined_with_lf_empty_ones_included() {
    assertEvents("data:\ndata: x\n\n", "message:\nx");
    assertEvents("data: x\ndata\ndata:\ndata: y\ndata:\n\n", "message:x\n\n\ny\n");
  }

  @Test
  @Tag("Y7")
  @Tag("Y8")
  @Tag("FR-S07")
  void a_name_belongs_to_one_event_and_an_event_needs_data() {
    assertEvents(
        "event: a\n\ndata: 1\n\nevent: b\ndata: 2\n\ndata: 3\n\n", "message:1", "b:2", "message:3");
    assertEvents("event: a\nevent: b\ndata: 1\nevent: c\n\n", "c:1");
    assertEvents("event: a\ndata:\n\ndata: 1\n\n", "message:1");
    assertEvents("event: a\nevent:\ndata: 1\n\n", "message:1");
    assertEvents(
        "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
        "message_stop:{\"type\":\"message_stop\"}");
  }

  @Test
  @Tag("Y8")
  @Tag("FR-S11")
  void an_event_whose_data_is_empty_or_blank_is_none() {
    assertEvents("event: ping\ndata:\n\ndata: \n\ndata: \t\ndata:\n\ndata\n\n");
    assertEvents("data:\n\ndata: a\n\n", "message:a");
  }

  @Test
  @Tag("Y10")
  @Tag("FR-S17")
  void an_event_without_a_blank_line_at_the_end_is_kept_apart() {
    assertEvents("data: a\n\ndata: {\"usage\":{}}\n", "message:a", "|message:{\"usage\":{}}");
    assertEvents("data: a\n\nevent: x\ndata: {\"us", "message:a", "|x:{\"us");
    assertEvents("data: {\r\ndata: }", "|message:{\n}");
    assertEvents("data: a\n\nevent: x", "message:a");
    assertEvents("data: a\n\n: comment", "message:a");
    assertEvents("data: a\n\ndata: ", "message:a");
    assertEvents("");
  }

  @Test
  @Tag("Y12")
  @Tag("R378")
  void an_event_and_a_line_at_the_bound_are_read_and_one_character_more_is_refused() {
    for (String unit : List.of("x", "é", "你", "🌍")) {
      String prefix = "data:" + (unit.length() == 2 ? " " : "");
      assertEquals(0, BOUND % unit.length());
      int room = BOUND - prefix.length();
      String text = unit.repeat(room / unit.length()) + "x".repeat(room % unit.length());
      for (int piece : new int[] {Integer.MAX_VALUE, 16 * 1024, 1_000_003}) {
        String at = prefix + text;
        assertEquals(BOUND, at.length());
        assertEquals(1, events(cut(at + "\n\n", piece)).size());
        assertTooLong("a line", cut(at + "x\n\n", piece));
        assertTooLong("a line", cut(at + "x", piece)); // not only once its end is there
      }
    }
    String half = "x".repeat(BOUND / 2);
    assertEquals(
        1, events(cut("data:" + half.substring(1) + "\ndata:" + half + "\n\n", 999)).size());
    assertTooLong("an event", cut("data:" + half + "\ndata:" + half + "\n", 999));
    assertTooLong("an event", cut("data\n".repeat(BOUND + 2), 16 * 1024));
    assertTooLong("a line", cut(":" + half + half, 16 * 1024));
  }

  @Test
  @Tag("Y12")
  void bytes_that_are_no_utf_8_cross_the_bound_too() {
    for (int bad : new int[] {0x80, 0xBF, 0xC0, 0xE4, 0xF0, 0xFF}) {
      byte[] bytes = new byte[4 * BOUND];
      Arrays.fill(bytes, (byte) bad);
      assertTooLong("a line", List.of(bytes));
      List<byte[]> pieces = new ArrayList<>();
      for (int i = 0; i < bytes.length; i += 16 * 1024) {
        pieces.add(Arrays.copyOfRange(bytes, i, i + 16 * 1024));
      }
      assertTooLong("a line", pieces);
    }
  }

  @Test
  void the_bound_is_that_of_each_event_and_line_not_of_the_stream() {
    ByteArrayOutputStream stream = new ByteArrayOutputStream();
    byte[] event = ("data: " + "x".repeat(BOUND / 2) + "\n\n").getBytes(StandardCharsets.UTF_8);
    for (int i = 0; i < 5; i++) {
      stream.writeBytes(event);
    }
    assertEquals(5, events(List.of(stream.toByteArray())).size());
  }

  private static List<byte[]> cut(String text, int piece) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    List<byte[]> pieces = new ArrayList<>();
    for (long i = 0; i < bytes.length; i += piece) {
      pieces.add(Arrays.copyOfRange(bytes, (int) i, (int) Math.min(bytes.length, i + piece)));
    }
    return pieces;
  }

  private static void assertTooLong(String what, List<byte[]> chunks) {
    FramingException refused = assertThrows(FramingException.class, () -> events(chunks));
    assertTrue(refused.what().contains(what), refused.what());
    assertTrue(refused.what().contains("1048576"), refused.what());
  }
}
