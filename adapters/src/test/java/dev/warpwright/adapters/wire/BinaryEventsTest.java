package dev.warpwright.adapters.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.zip.CRC32;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The messages of an Amazon event stream, written and read. */
final class BinaryEventsTest {
  private static final BinaryEvent TEXT =
      BinaryEvent.event("contentBlockDelta", "{\"delta\":{\"text\":\"你🌍\"}}");
  private static final BinaryEvent STOP =
      BinaryEvent.event("messageStop", "{\"stopReason\":\"end_turn\"}");

  /** The frames of a stream; what is wrong with it stands behind a bar. */
  private static List<String> frames(List<byte[]> chunks) {
    List<String> frames = new ArrayList<>();
    BinaryEventReader reader = new BinaryEventReader();
    try {
      for (byte[] chunk : chunks) {
        byte[] buffer = chunk.clone();
        reader.feed(buffer, buffer.length);
        for (Frame frame = reader.next(); frame != null; frame = reader.next()) {
          frames.add(frame.name() + " " + frame.data());
        }
        Arrays.fill(buffer, (byte) 0x55); // the buffer is used again
      }
      assertNull(reader.last());
    } catch (FramingException e) {
      frames.add("| " + e.what());
    }
    return frames;
  }

  private static byte[] bytes(BinaryEvent... events) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (BinaryEvent event : events) {
      all.writeBytes(event.bytes());
    }
    return all.toByteArray();
  }

  /** A message made by hand. */
  private static byte[] message(byte[] headers, byte[] payload) {
    int length = 16 + headers.length + payload.length;
    ByteBuffer message = ByteBuffer.allocate(length).putInt(length).putInt(headers.length);
    message.putInt(sum(message.array(), 8)).put(headers).put(payload);
    return message.putInt(sum(message.array(), length - 4)).array();
  }

  private static int sum(byte[] bytes, int length) {
    CRC32 crc = new CRC32();
    crc.update(bytes, 0, length);
    return (int) crc.getValue();
  }

  private static byte[] header(String name, int type, byte... value) {
    ByteArrayOutputStream header = new ByteArrayOutputStream();
    header.write(utf8(name).length);
    header.writeBytes(utf8(name));
    header.write(type);
    header.writeBytes(value);
    return header.toByteArray();
  }

  private static byte[] joined(byte[]... parts) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (byte[] part : parts) {
      all.writeBytes(part);
    }
    return all.toByteArray();
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  @Test
  void messages_may_be_cut_anywhere_by_the_network() {
    List<String> expected =
        List.of(
            "contentBlockDelta {\"delta\":{\"text\":\"你🌍\"}}",
            "messageStop {\"stopReason\":\"end_turn\"}");
    for (List<byte[]> chunks : Chunks.ways(bytes(TEXT, STOP), 7)) {
      assertEquals(expected, frames(chunks));
    }
  }

  @Test
  void a_message_is_there_as_soon_as_its_last_byte_is() {
    byte[] all = TEXT.bytes();
    BinaryEventReader reader = new BinaryEventReader();
    reader.feed(all, all.length - 1);
    assertNull(reader.next());
    reader.feed(new byte[] {all[all.length - 1]}, 1);
    Frame frame = reader.next();
    assertEquals(new Frame("contentBlockDelta", TEXT.payload()), frame);
    assertNull(reader.next());
  }

  /** The vectors that AWS publishes with its SDKs: an empty message, and one with a number. */
  @ParameterizedTest
  @CsvSource({
    "000000100000000005c248eb7d98c8ff, message {}",
    "0000002b0000000e348bec7b086576656e742d6964040000a00c7b27666f6f273a27626172277dd3890285,"
        + " message {'foo':'bar'}"
  })
  void messages_of_other_encoders_are_read(String hex, String expected) {
    assertEquals(List.of(expected), frames(List.of(HexFormat.of().parseHex(hex))));
  }

  @Test
  void the_encoder_writes_the_published_bytes() {
    assertEquals(
        "000000100000000005c248eb7d98c8ff",
        HexFormat.of().formatHex(new BinaryEvent(Map.of(), "").bytes()));
  }

  @Test
  void headers_of_every_type_are_passed_over() {
    byte[] headers =
        joined(
            header("a", 0),
            header("b", 1),
            header("c", 2, (byte) 7),
            header("d", 3, new byte[2]),
            header("e", 4, new byte[4]),
            header("f", 5, new byte[8]),
            header("g", 6, (byte) 0, (byte) 2, (byte) 9, (byte) 9),
            header("h", 8, new byte[8]),
            header("i", 9, new byte[16]),
            header("j", 7, (byte) 0, (byte) 0),
            header(":event-type", 7, joined(new byte[] {0, 3}, utf8("end"))),
            header("é", 0));
    for (List<byte[]> chunks : Chunks.ways(message(headers, utf8("{\"a\":1}")), 3)) {
      assertEquals(List.of("end {\"a\":1}"), frames(chunks));
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {10, 11, 99, 127, 255})
  void a_header_of_an_unknown_type_breaks_the_protocol(int type) {
    assertEquals(
        List.of("| holds an event with a header of no known type."),
        frames(List.of(message(header("a", type, new byte[8]), utf8("{}")))));
  }

  @Test
  void headers_that_break_off_break_the_protocol() {
    byte[] whole = header(":event-type", 7, joined(new byte[] {0, 3}, utf8("end")));
    for (int length = 1; length < whole.length; length++) {
      assertEquals(
          List.of("| holds an event whose headers break off."),
          frames(List.of(message(Arrays.copyOf(whole, length), utf8("{}")))));
    }
    assertEquals(
        List.of("| holds an event whose headers break off."),
        frames(List.of(message(header("a", 6, (byte) -1, (byte) -1), utf8("{}")))));
  }

  @Test
  void every_changed_bit_is_seen() {
    byte[] sound = bytes(TEXT, STOP);
    int first = TEXT.bytes().length;
    for (int bit = 0; bit < 8 * sound.length; bit++) {
      byte[] damaged = sound.clone();
      damaged[bit / 8] ^= (byte) (1 << (bit % 8));
      List<String> frames = frames(List.of(damaged));
      String end = frames.getLast();
      assertTrue(end.startsWith("| "), () -> "not seen: " + frames);
      assertEquals(bit / 8 < first ? 1 : 2, frames.size(), frames::toString);
      assertEquals(frames, frames(Chunks.pieces(damaged, new Random(bit), 9)));
    }
  }

  @Test
  void an_impossible_length_is_refused_before_anything_is_kept() {
    int[][] lengths = {
      {0, 0}, {15, 0}, {16, 1}, {100, 90}, {-1, 0}, {Integer.MIN_VALUE, 0}, {100, -1}
    };
    for (int[] pair : lengths) {
      ByteBuffer prelude = ByteBuffer.allocate(12).putInt(pair[0]).putInt(pair[1]);
      prelude.putInt(sum(prelude.array(), 8));
      List<String> frames = frames(List.of(prelude.array()));
      assertEquals(1, frames.size(), Arrays.toString(pair));
      assertTrue(
          frames.getFirst().matches("\\| holds an event .*(shorter|longer).*"), () -> "" + frames);
    }
  }

  @Test
  void a_payload_may_have_a_mebibyte_and_no_more() {
    byte[] most = message(new byte[0], "x".repeat(1_048_576).getBytes(StandardCharsets.UTF_8));
    assertEquals("message ".length() + 1_048_576, frames(List.of(most)).getFirst().length());
    byte[] more = message(new byte[0], new byte[1_048_577]);
    assertEquals(
        List.of("| holds an event longer than the bound of 1048576 bytes."),
        frames(List.of(Arrays.copyOf(more, 12))));
  }

  @Test
  void headers_may_have_128_kib_and_no_more() {
    byte[] one = header("a", 6, joined(new byte[] {(byte) 0xFF, (byte) 0xFF}, new byte[65_535]));
    byte[] rest = header("b", 6, joined(new byte[] {(byte) 0xFF, (byte) 0xF3}, new byte[65_523]));
    byte[] most = joined(one, rest);
    byte[] full = joined(most, header("cc", 0));
    assertEquals(128 * 1024, full.length);
    assertEquals(List.of("message {}"), frames(List.of(message(full, new byte[0]))));
    assertEquals(
        List.of("| holds an event whose headers are longer than the bound of 131072 bytes."),
        frames(List.of(message(joined(full, header("d", 0)), new byte[0]))));
  }

  @Test
  @Tag("Y17")
  void a_stream_that_ends_inside_a_message_is_broken() {
    byte[] all = bytes(TEXT, STOP);
    int first = TEXT.bytes().length;
    for (int length = 1; length < all.length; length++) {
      List<String> frames = frames(List.of(Arrays.copyOf(all, length)));
      assertEquals(
          length != first,
          frames.getLast().equals("| breaks off in the middle of an event."),
          "cut at " + length);
    }
  }

  @Test
  void exceptions_and_errors_are_error_frames_with_type_and_message() {
    assertEquals(
        List.of("error {\"error\":{\"type\":\"throttlingException\",\"message\":\"Slow down.\"}}"),
        frames(
            List.of(
                bytes(
                    BinaryEvent.exception(
                        "throttlingException", "{\"message\":\"Slow down.\",\"status\":200}")))));
    assertEquals(
        List.of("error {\"error\":{\"type\":\"x\",\"message\":\"in plain words\"}}"),
        frames(List.of(bytes(BinaryEvent.exception("x", "in plain words")))));
    assertEquals(
        List.of("error {\"error\":{\"type\":\"InternalError\",\"message\":\"An \\\"error\\\"\"}}"),
        frames(
            List.of(
                new BinaryEvent(
                        Map.of(
                            ":message-type",
                            "error",
                            ":error-code",
                            "InternalError",
                            ":error-message",
                            "An \"error\""),
                        "")
                    .bytes())));
    // a type is no more than a name: an event that is called error is none
    assertEquals(
        List.of("message {\"a\":1}"),
        frames(List.of(bytes(BinaryEvent.event("error", "{\"a\":1}")))));
  }

  @Test
  void only_a_body_that_cannot_be_a_message_is_a_document() {
    assertTrue(new BinaryEventReader().isDocument((byte) '{'));
    assertFalse(new BinaryEventReader().isDocument(TEXT.bytes()[0]));
  }

  @Test
  void whatever_comes_at_random_has_the_same_end_however_it_is_cut() {
    Fuzz.play(
        random -> {
          byte[] bytes = bytes(TEXT, STOP, TEXT);
          for (int i = random.nextInt(4); i > 0; i--) {
            bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
          }
          if (random.nextInt(8) == 0) { // a header of any kind under a sound checksum
            byte[] headers = new byte[random.nextInt(30)];
            random.nextBytes(headers);
            bytes = joined(message(headers, utf8("{}")), bytes);
          }
          byte[] cut = Arrays.copyOf(bytes, random.nextInt(bytes.length + 1));
          assertEquals(
              frames(List.of(cut)), frames(Chunks.pieces(cut, random, 1 + random.nextInt(40))));
        });
  }

  @Test
  void the_text_of_an_event_shows_no_payload() {
    assertFalse(TEXT.toString().contains("你"), TEXT::toString);
    assertThrows(
        FramingException.class,
        () -> {
          BinaryEventReader reader = new BinaryEventReader();
          reader.feed(new byte[12], 12);
          reader.next();
        });
  }
}
