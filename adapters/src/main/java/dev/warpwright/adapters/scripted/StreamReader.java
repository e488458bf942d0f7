package dev.warpwright.adapters.scripted;

import java.time.Duration;
import java.util.OptionalLong;
import tools.jackson.databind.JsonNode;

/** Reads the {@code stream} of an answer. */
final class StreamReader {
  private static final int MAX_DRIBBLE = 1024 * 1024;

  private final Fields stream;

  private StreamReader(Fields stream) {
    this.stream = stream;
  }

  static StreamReader of(JsonNode node, Place place) {
    return new StreamReader(
        Fields.of(
            node,
            place,
            "words",
            "characters",
            "firstPause",
            "pause",
            "heartbeats",
            "lineEnd",
            "dribble"));
  }

  ScriptedChunks chunks() {
    OptionalLong words = stream.number("words", 1, ScriptedChunks.MAX_SIZE);
    OptionalLong characters = stream.number("characters", 1, ScriptedChunks.MAX_SIZE);
    if (words.isPresent() && characters.isPresent()) {
      throw stream.place().refuse("has both words and characters");
    }
    ScriptedChunks chunks =
        characters.isPresent()
            ? ScriptedChunks.characters((int) characters.getAsLong())
            : ScriptedChunks.words((int) words.orElse(1));
    return chunks
        .withFirstPause(stream.duration("firstPause").orElse(Duration.ZERO))
        .withPause(stream.duration("pause").orElse(Duration.ZERO))
        .withHeartbeats(
            (int) stream.number("heartbeats", 0, ScriptedChunks.MAX_HEARTBEATS).orElse(0));
  }

  WireForm wire() {
    return new WireForm(
        stream.choice("lineEnd", WireForm.LineEnd.class).orElse(WireForm.LineEnd.LF),
        stream.value("dribble").map(node -> dribble(node, stream.place("dribble"))));
  }

  private static WireForm.Dribble dribble(JsonNode node, Place place) {
    Fields dribble = Fields.of(node, place, "bytes", "pause");
    dribble.required("bytes", "how many bytes come at a time");
    return new WireForm.Dribble(
        (int) dribble.number("bytes", 1, MAX_DRIBBLE).orElse(1),
        dribble.duration("pause").orElse(Duration.ZERO));
  }
}
