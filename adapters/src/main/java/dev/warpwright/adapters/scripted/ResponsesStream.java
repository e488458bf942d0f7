package dev.warpwright.adapters.scripted;

import dev.warpwright.json.StrictJson;
import dev.warpwright.model.Part;
import java.io.IOException;
import java.util.List;
import tools.jackson.databind.node.ObjectNode;

/** Tells one answer in the events of Responses, which are numbered. */
final class ResponsesStream {
  private final Said said;
  private final EventSink sink;
  private long sequence;

  ResponsesStream(Said said, EventSink sink) {
    this.said = said;
    this.sink = sink;
  }

  /** Tells where the whole response stands. */
  void tell(String type, ObjectNode response) throws IOException, InterruptedException {
    ObjectNode event = event(type);
    event.set("response", response);
    send(Mark.OTHER, event);
  }

  /** Tells the whole response at its end. */
  void end(String type, ObjectNode response) throws IOException, InterruptedException {
    ObjectNode event = event(type);
    event.set("response", response);
    send(Mark.TERMINATOR, event); // it is also what says why the answer ended
  }

  /** Tells an item of the output: its beginning, its pieces, its end. */
  void tellItem(int index, ObjectNode item) throws IOException, InterruptedException {
    List<String> pieces = said.answer().pieces(part(index));
    switch (item.path("type").stringValue()) {
      case "message" -> tellMessage(index, item, pieces);
      case "function_call" -> tellCall(index, item, pieces);
      default -> tellReasoning(index, item, pieces);
    }
    ObjectNode done = event("response.output_item.done").put("output_index", index);
    done.set("item", item);
    send(Mark.OTHER, done);
  }

  /** Every part of an answer is one item. */
  private Part part(int index) {
    return said.response().message().parts().get(index);
  }

  private void tellMessage(int index, ObjectNode item, List<String> pieces)
      throws IOException, InterruptedException {
    ObjectNode begun = item.deepCopy().put("status", "in_progress");
    begun.putArray("content");
    tellAdded(index, begun);
    ObjectNode whole = (ObjectNode) item.path("content").get(0);
    boolean refused = whole.has("refusal");
    String key = refused ? "refusal" : "text";
    String type = refused ? "response.refusal." : "response.output_text.";
    ObjectNode added = content("response.content_part.added", index, item);
    added.set("part", whole.deepCopy().put(key, ""));
    send(Mark.OTHER, added);
    for (String piece : pieces) {
      send(Mark.CHUNK, content(type + "delta", index, item).put("delta", piece));
    }
    send(Mark.OTHER, content(type + "done", index, item).put(key, whole.path(key).stringValue()));
    ObjectNode done = content("response.content_part.done", index, item);
    done.set("part", whole);
    send(Mark.OTHER, done);
  }

  private void tellCall(int index, ObjectNode item, List<String> pieces)
      throws IOException, InterruptedException {
    tellAdded(index, item.deepCopy().put("status", "in_progress").put("arguments", ""));
    String type = "response.function_call_arguments.";
    for (String piece : pieces) {
      send(Mark.CHUNK, of(type + "delta", index, item).put("delta", piece));
    }
    String arguments = item.path("arguments").stringValue();
    send(Mark.OTHER, of(type + "done", index, item).put("arguments", arguments));
  }

  private void tellReasoning(int index, ObjectNode item, List<String> pieces)
      throws IOException, InterruptedException {
    ObjectNode begun = item.deepCopy();
    begun.putArray("summary");
    begun.remove("encrypted_content");
    tellAdded(index, begun);
    if (item.path("summary").isEmpty()) {
      return;
    }
    ObjectNode whole = (ObjectNode) item.path("summary").get(0);
    ObjectNode added = summary("response.reasoning_summary_part.added", index, item);
    added.set("part", whole.deepCopy().put("text", ""));
    send(Mark.OTHER, added);
    String type = "response.reasoning_summary_text.";
    for (String piece : pieces) {
      send(Mark.CHUNK, summary(type + "delta", index, item).put("delta", piece));
    }
    String text = whole.path("text").stringValue();
    send(Mark.OTHER, summary(type + "done", index, item).put("text", text));
    ObjectNode done = summary("response.reasoning_summary_part.done", index, item);
    done.set("part", whole);
    send(Mark.OTHER, done);
  }

  private void tellAdded(int index, ObjectNode item) throws IOException, InterruptedException {
    ObjectNode added = event("response.output_item.added").put("output_index", index);
    added.set("item", item);
    send(Mark.OTHER, added);
  }

  private ObjectNode content(String type, int index, ObjectNode item) {
    return of(type, index, item).put("content_index", 0);
  }

  private ObjectNode summary(String type, int index, ObjectNode item) {
    return of(type, index, item).put("summary_index", 0);
  }

  private ObjectNode of(String type, int index, ObjectNode item) {
    return event(type).put("item_id", item.path("id").stringValue()).put("output_index", index);
  }

  private ObjectNode event(String type) {
    return StrictJson.mapper()
        .createObjectNode()
        .put("type", type)
        .put("sequence_number", sequence++);
  }

  private void send(Mark mark, ObjectNode event) throws IOException, InterruptedException {
    sink.event(mark, event.path("type").stringValue(), StrictJson.write(event));
  }
}
