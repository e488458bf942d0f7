package dev.warpwright.adapters.wire;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.zip.CRC32;

/**
 * One message of an Amazon event stream as it is sent: headers that are texts, and a payload.
 * Source of the format: Smithy's Amazon Event Stream Specification.
 *
 * @param headers the headers by name, in their order
 * @param payload the payload, text in UTF-8
 */
public record BinaryEvent(Map<String, String> headers, String payload) {
  /** Lengths and the checksum of these. */
  static final int PRELUDE_BYTES = 12;

  /** The checksum at the end. */
  static final int CHECKSUM_BYTES = 4;

  static final String MESSAGE_TYPE = ":message-type";
  static final String EVENT_TYPE = ":event-type";
  static final String EXCEPTION_TYPE = ":exception-type";
  static final String ERROR_CODE = ":error-code";
  static final String ERROR_MESSAGE = ":error-message";

  /** The type of a header's value that is text. */
  static final int TEXT = 7;

  /**
   * An event of the service.
   *
   * @param type its type
   * @param json its payload
   * @return the message
   */
  public static BinaryEvent event(String type, String json) {
    return of("event", EVENT_TYPE, type, json);
  }

  /**
   * An error that the service's model knows.
   *
   * @param type its type
   * @param json its payload
   * @return the message
   */
  public static BinaryEvent exception(String type, String json) {
    return of("exception", EXCEPTION_TYPE, type, json);
  }

  private static BinaryEvent of(String kind, String typeHeader, String type, String json) {
    Map<String, String> headers = new LinkedHashMap<>();
    headers.put(typeHeader, type);
    headers.put(":content-type", "application/json");
    headers.put(MESSAGE_TYPE, kind);
    return new BinaryEvent(headers, json);
  }

  /**
   * The message as bytes.
   *
   * @return a new array
   */
  public byte[] bytes() {
    byte[] body = payload.getBytes(StandardCharsets.UTF_8);
    int headerBytes = 0;
    for (Map.Entry<String, String> header : headers.entrySet()) {
      headerBytes += 1 + utf8(header.getKey()).length + 1 + 2 + utf8(header.getValue()).length;
    }
    int length = PRELUDE_BYTES + headerBytes + body.length + CHECKSUM_BYTES;
    ByteBuffer message = ByteBuffer.allocate(length); // big-endian
    message.putInt(length).putInt(headerBytes);
    message.putInt(checksum(message.array(), 0, message.position()));
    for (Map.Entry<String, String> header : headers.entrySet()) {
      byte[] name = utf8(header.getKey());
      byte[] value = utf8(header.getValue());
      message.put((byte) name.length).put(name);
      message.put((byte) TEXT).putShort((short) value.length).put(value);
    }
    message.put(body);
    message.putInt(checksum(message.array(), 0, message.position()));
    return message.array();
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /** The checksum of some bytes, as the format has it. */
  static int checksum(byte[] bytes, int start, int length) {
    CRC32 sum = new CRC32();
    sum.update(bytes, start, length);
    return (int) sum.getValue();
  }

  /** Shows the headers and how much payload there is. */
  @Override
  public String toString() {
    return "BinaryEvent[" + headers + ", " + payload.length() + " characters]";
  }
}
