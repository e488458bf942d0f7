package dev.warpwright.adapters.scripted;

import dev.warpwright.adapters.wire.BinaryEvent;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** How the events of a stream become bytes. */
enum StreamFraming {
  /** Server-sent events. */
  EVENTS("text/event-stream; charset=utf-8") {
    @Override
    String text(@Nullable String name, String data) {
      return (name == null ? "" : "event: " + name + "\n") + "data: " + data + "\n\n";
    }
  },
  /** Lines of JSON; events have no names. */
  LINES("application/x-ndjson") {
    @Override
    String text(@Nullable String name, String data) {
      return data + "\n";
    }
  },
  /** Amazon's messages. */
  BINARY("application/vnd.amazon.eventstream") {
    @Override
    String text(@Nullable String name, String data) {
      throw new AssertionError("A message is no text.");
    }

    @Override
    byte[] bytes(@Nullable String name, String data, WireForm.LineEnd lineEnd) {
      String type = String.valueOf(name);
      BinaryEvent event =
          type.startsWith(EXCEPTION)
              ? BinaryEvent.exception(type.substring(EXCEPTION.length()), data)
              : BinaryEvent.event(type, data);
      return event.bytes();
    }
  };

  /** What stands before the name of one of Amazon's messages that reports an exception. */
  static final String EXCEPTION = "exception ";

  private final String contentType;

  StreamFraming(String contentType) {
    this.contentType = contentType;
  }

  /** The type of a body that is framed so. */
  String contentType() {
    return contentType;
  }

  /** An event as it is written with line feeds. */
  abstract String text(@Nullable String name, String data);

  /** An event as it is written. */
  byte[] bytes(@Nullable String name, String data, WireForm.LineEnd lineEnd) {
    return bytes(text(name, data), lineEnd);
  }

  /** What is written with line feeds, with other ends of lines. */
  static byte[] bytes(String text, WireForm.LineEnd lineEnd) {
    String lines = lineEnd == WireForm.LineEnd.LF ? text : text.replace("\n", lineEnd.text);
    return lines.getBytes(StandardCharsets.UTF_8);
  }
}
