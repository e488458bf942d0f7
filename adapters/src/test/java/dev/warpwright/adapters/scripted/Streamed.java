package dev.warpwright.adapters.scripted;

import dev.warpwright.json.StrictJson;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.JsonNode;

/**
 * A streamed response as it came, read chunk by chunk of the transfer until it ended somehow.
 *
 * @param head the status line and the fields
 * @param chunks the chunks of the transfer, whole ones only
 * @param end how it ended
 */
record Streamed(List<String> head, List<byte[]> chunks, End end) {
  /** How a response ended. */
  enum End {
    WHOLE,
    ENDED,
    RESET
  }

  /**
   * An event.
   *
   * @param name its name, empty if it has none
   * @param data its data
   */
  record Event(String name, String data) {
    JsonNode json() {
      return StrictJson.read(data);
    }
  }

  static Streamed read(RawClient client) throws IOException {
    List<String> head = client.readHead();
    List<byte[]> chunks = new ArrayList<>();
    try {
      for (byte[] chunk = client.readChunk(); chunk.length > 0; chunk = client.readChunk()) {
        chunks.add(chunk);
      }
      return new Streamed(head, chunks, End.WHOLE);
    } catch (EOFException e) {
      return new Streamed(head, chunks, End.ENDED);
    } catch (SocketException e) {
      return new Streamed(head, chunks, End.RESET);
    }
  }

  byte[] bytes() {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    chunks.forEach(all::writeBytes);
    return all.toByteArray();
  }

  String text() {
    return new String(bytes(), StandardCharsets.UTF_8);
  }

  /** The events that are whole. */
  List<Event> events() {
    List<Event> events = new ArrayList<>();
    String name = "";
    StringBuilder data = new StringBuilder();
    String text = text();
    String whole = text.endsWith("\n") || text.endsWith("\r") ? text : text + "\0";
    for (String line : whole.split("\r\n|\n|\r", -1)) {
      if (line.endsWith("\0")) {
        break;
      } else if (line.startsWith("event: ")) {
        name = line.substring(7);
      } else if (line.startsWith("data: ")) {
        data.append(line.substring(6));
      } else if (line.isEmpty() && !data.isEmpty()) {
        events.add(new Event(name, data.toString()));
        name = "";
        data.setLength(0);
      }
    }
    return events;
  }

  List<String> names() {
    return events().stream().map(Event::name).toList();
  }

  /** What the model says in it, in whichever protocol. */
  String said() {
    StringBuilder said = new StringBuilder();
    for (Event event : events()) {
      if (event.data().equals("[DONE]")) {
        continue;
      }
      JsonNode json = event.json();
      switch (json.path("type").asString("")) {
        case "" -> {
          JsonNode delta = json.at("/choices/0/delta");
          said.append(delta.path("content").asString(""))
              .append(delta.path("refusal").asString(""));
        }
        case "response.output_text.delta", "response.refusal.delta" ->
            said.append(json.path("delta").stringValue());
        case "content_block_delta" -> said.append(json.at("/delta/text").asString(""));
        default -> {
          // It says nothing.
        }
      }
    }
    return said.toString();
  }
}
