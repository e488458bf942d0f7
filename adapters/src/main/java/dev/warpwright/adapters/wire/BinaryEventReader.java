package dev.warpwright.adapters.wire;

import dev.warpwright.json.StrictJson;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Cuts bytes into the messages of an Amazon event stream, wherever the network has cut them. Pure;
 * not thread-safe.
 *
 * <p>A message is total length, length of the headers, checksum of both, headers, payload, checksum
 * of all before it; numbers are big-endian, checksums CRC-32. The prelude is checked before its
 * lengths are believed, and nothing of a message is read before its checksum fits. A payload has at
 * most 1 MiB, the headers 128 KiB.
 *
 * <p>An event becomes a frame of its type. What the service reports as an exception or an error
 * becomes a frame named {@link Frame#ERROR} whose data is <code>
 * {"error":{"type":…,"message":…}}</code>. Source of the format: Smithy's Amazon Event Stream
 * Specification.
 */
public final class BinaryEventReader implements Framing {
  /** The longest payload, in bytes. */
  static final int MAX_PAYLOAD_BYTES = 1024 * 1024;

  /** The longest headers of one message, in bytes; the format's own bound. */
  static final int MAX_HEADER_BYTES = 128 * 1024;

  private static final int OVERHEAD_BYTES = BinaryEvent.PRELUDE_BYTES + BinaryEvent.CHECKSUM_BYTES;

  private byte[] pending = new byte[512]; // of the message that is incomplete
  private int pendingLength;
  private byte[] chunk = {};
  private int next;
  private int limit;

  /** Begins a stream. */
  public BinaryEventReader() {}

  @Override
  public void feed(byte[] bytes, int length) {
    chunk = bytes;
    next = 0;
    limit = length;
  }

  @Override
  public @Nullable Frame next() {
    if (!take(BinaryEvent.PRELUDE_BYTES)) {
      return null;
    }
    ByteBuffer prelude = ByteBuffer.wrap(pending, 0, BinaryEvent.PRELUDE_BYTES);
    int length = prelude.getInt();
    int headerBytes = prelude.getInt();
    if (prelude.getInt() != BinaryEvent.checksum(pending, 0, 8)) {
      throw new FramingException("holds an event whose lengths do not fit their checksum.");
    }
    requireBounded(length, headerBytes);
    if (!take(length)) {
      return null;
    }
    int end = length - BinaryEvent.CHECKSUM_BYTES;
    if (ByteBuffer.wrap(pending, end, BinaryEvent.CHECKSUM_BYTES).getInt()
        != BinaryEvent.checksum(pending, 0, end)) {
      throw new FramingException("holds an event that does not fit its checksum.");
    }
    pendingLength = 0;
    Map<String, String> headers =
        headers(ByteBuffer.wrap(pending, BinaryEvent.PRELUDE_BYTES, headerBytes));
    int payload = BinaryEvent.PRELUDE_BYTES + headerBytes;
    return frame(
        headers, new String(pending, payload, end - payload, StandardCharsets.UTF_8).strip());
  }

  /** Gathers the first bytes of the message; false if they have not all come. */
  private boolean take(int wanted) {
    int added = Math.min(wanted - pendingLength, limit - next);
    if (added > 0) {
      if (pendingLength + added > pending.length) {
        int room = Math.max(pendingLength + added, Math.min(wanted, 2 * pending.length));
        pending = Arrays.copyOf(pending, room);
      }
      System.arraycopy(chunk, next, pending, pendingLength, added);
      pendingLength += added;
      next += added;
    }
    return pendingLength >= wanted;
  }

  private static void requireBounded(int length, int headerBytes) {
    // Both are unsigned: what looks negative is far too long.
    if (headerBytes < 0 || headerBytes > MAX_HEADER_BYTES) {
      throw new FramingException(
          "holds an event whose headers are longer than the bound of "
              + MAX_HEADER_BYTES
              + " bytes.");
    }
    long payload = Integer.toUnsignedLong(length) - OVERHEAD_BYTES - headerBytes;
    if (payload < 0) {
      throw new FramingException("holds an event that is shorter than its headers.");
    }
    if (payload > MAX_PAYLOAD_BYTES) {
      throw new FramingException(
          "holds an event longer than the bound of " + MAX_PAYLOAD_BYTES + " bytes.");
    }
  }

  /** The headers whose values are texts; all others are passed over. */
  private static Map<String, String> headers(ByteBuffer in) {
    Map<String, String> headers = new HashMap<>();
    try {
      while (in.hasRemaining()) {
        String name = text(in, Byte.toUnsignedInt(in.get()));
        int type = in.get();
        switch (type) {
          case 0, 1 -> {} // true and false have no value
          case 2 -> skip(in, 1);
          case 3 -> skip(in, 2);
          case 4 -> skip(in, 4);
          case 5, 8 -> skip(in, 8); // a long, a time
          case 6 -> skip(in, Short.toUnsignedInt(in.getShort()));
          case BinaryEvent.TEXT -> headers.put(name, text(in, Short.toUnsignedInt(in.getShort())));
          case 9 -> skip(in, 16); // a UUID
          default -> throw new FramingException("holds an event with a header of no known type.");
        }
      }
    } catch (BufferUnderflowException _) {
      throw new FramingException("holds an event whose headers break off.");
    }
    return headers;
  }

  private static void skip(ByteBuffer in, int bytes) {
    text(in, bytes);
  }

  private static String text(ByteBuffer in, int bytes) {
    byte[] text = new byte[Math.min(bytes, in.remaining() + 1)];
    in.get(text);
    return new String(text, StandardCharsets.UTF_8);
  }

  private static Frame frame(Map<String, String> headers, String payload) {
    return switch (headers.getOrDefault(BinaryEvent.MESSAGE_TYPE, "event")) {
      case "exception" ->
          error(headers.getOrDefault(BinaryEvent.EXCEPTION_TYPE, ""), message(payload));
      case "error" ->
          error(
              headers.getOrDefault(BinaryEvent.ERROR_CODE, ""),
              headers.getOrDefault(BinaryEvent.ERROR_MESSAGE, ""));
      default -> {
        String type = headers.getOrDefault(BinaryEvent.EVENT_TYPE, "");
        yield new Frame(
            type.isBlank() || type.equals(Frame.ERROR) ? Frame.UNNAMED : type,
            payload.isEmpty() ? "{}" : payload);
      }
    };
  }

  private static Frame error(String type, String message) {
    ObjectNode data = StrictJson.mapper().createObjectNode();
    data.putObject("error").put("type", type).put("message", message);
    return new Frame(Frame.ERROR, StrictJson.write(data));
  }

  /** The words of an exception: a member of its payload, or all of that. */
  private static String message(String payload) {
    JsonNode json;
    try {
      json = StrictJson.readDocument(payload);
    } catch (RuntimeException _) { // no JSON that is accepted
      return payload;
    }
    for (String member : new String[] {"message", "Message"}) {
      if (json.path(member).isString()) {
        return json.path(member).stringValue();
      }
    }
    return "";
  }

  @Override
  public @Nullable Frame last() {
    if (pendingLength > 0) {
      throw new FramingException("breaks off in the middle of an event.");
    }
    return null;
  }

  /** No event is so long that its length begins with a brace. */
  @Override
  public boolean isDocument(byte first) {
    return first == '{';
  }
}
