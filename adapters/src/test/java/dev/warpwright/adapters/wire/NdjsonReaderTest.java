package dev.warpwright.adapters.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

final class NdjsonReaderTest {
  /** The lines of a stream, the one without a line end behind a bar. */
  static List<String> lines(List<byte[]> chunks) {
    List<String> lines = new ArrayList<>();
    NdjsonReader reader = new NdjsonReader();
    for (byte[] chunk : chunks) {
      reader.feed(chunk, chunk.length);
      for (Frame line = reader.next(); line != null; line = reader.next()) {
        lines.add(line.data());
      }
    }
    Frame last = reader.last();
    if (last != null) {
      lines.add("|" + last.data());
    }
    return lines;
  }

  private static void assertLines(String stream, String... expected) {
    for (List<byte[]> chunks : Chunks.ways(stream.getBytes(StandardCharsets.UTF_8), 11)) {
      assertEquals(List.of(expected), lines(chunks));
    }
  }

  @Test
  @Tag("Y14")
  void lines_end_with_lf_or_cr_lf_and_may_be_cut_anywhere() {
    assertLines("{\"a\":\"你🌍\"}\n{\"b\":2}\r\n", "{\"a\":\"你🌍\"}", "{\"b\":2}");
    assertLines("{\"a\":\r1}\n", "{\"a\":\r1}"); // white space of JSON
  }

  @Test
  @Tag("Y14")
  void blank_lines_are_passed_over_and_the_last_one_needs_no_end() {
    assertLines("\n\r\n \n{\"a\":1}\n\n\t\n{\"b\":2}", "{\"a\":1}", "|{\"b\":2}");
    assertLines("{\"a\":1}\n{\"b", "{\"a\":1}", "|{\"b");
    assertLines("{\"a\":1}\n \r", "{\"a\":1}");
    assertLines("");
  }

  @Test
  @Tag("Y14")
  void a_line_is_there_as_soon_as_its_end_is() {
    NdjsonReader reader = new NdjsonReader();
    byte[] bytes = {'7', '\n'};
    reader.feed(bytes, 1);
    assertNull(reader.next());
    bytes[0] = '\n';
    reader.feed(bytes, 1);
    assertEquals(new Frame("message", "7"), reader.next());
  }

  @Test
  @Tag("Y14")
  void a_line_beyond_the_bound_is_refused() {
    String at = "你".repeat(1_048_576);
    assertEquals(List.of(at), lines(List.of((at + "\n").getBytes(StandardCharsets.UTF_8))));
    FramingException refused =
        assertThrows(
            FramingException.class,
            () -> lines(List.of((at + "x").getBytes(StandardCharsets.UTF_8))));
    assertTrue(refused.what().contains("1048576"), refused.what());
  }

  @Test
  @Tag("Y14")
  void a_blank_line_is_no_line_and_shows_once_that_the_server_lives() {
    NdjsonReader reader = new NdjsonReader();
    for (String blank : List.of("\n", "\r\n", " \t\n\n")) {
      byte[] bytes = blank.getBytes(StandardCharsets.UTF_8);
      reader.feed(bytes, bytes.length);
      assertNull(reader.next());
      assertTrue(reader.takeAlive());
      assertFalse(reader.takeAlive());
    }
    byte[] line = "{}\r\n{".getBytes(StandardCharsets.UTF_8);
    reader.feed(line, line.length);
    assertEquals(new Frame("message", "{}"), reader.next());
    assertNull(reader.next());
    assertFalse(reader.takeAlive(), "the line itself is one");
  }
}
