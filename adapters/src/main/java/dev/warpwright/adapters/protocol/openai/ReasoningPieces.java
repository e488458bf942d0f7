package dev.warpwright.adapters.protocol.openai;

import dev.warpwright.json.StrictJson;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Puts the reasoning of a streamed message together to what would have come whole.
 *
 * <p>Of details, pieces with the same index are one; without an index, neighbours of the same type
 * and id are. Their texts are joined; of all else the last value counts. Not thread-safe.
 */
final class ReasoningPieces {
  private static final List<String> TEXTS = List.of("text", "summary");

  private final StringBuilder content = new StringBuilder();
  private final StringBuilder reasoning = new StringBuilder();
  private final ArrayNode details = StrictJson.mapper().createArrayNode();

  /** Takes the next piece of the message. */
  void add(JsonNode delta) {
    content.append(delta.path("reasoning_content").asString(""));
    reasoning.append(delta.path("reasoning").asString(""));
    for (JsonNode piece : delta.path("reasoning_details")) {
      if (piece instanceof ObjectNode detail) {
        add(detail);
      }
    }
  }

  private void add(ObjectNode piece) {
    ObjectNode begun = begun(piece);
    if (begun == null) {
      details.add(piece.deepCopy());
      return;
    }
    for (Map.Entry<String, JsonNode> member : piece.properties()) {
      String name = member.getKey();
      JsonNode value = member.getValue();
      if (TEXTS.contains(name) && value.isString()) {
        begun.put(name, begun.path(name).asString("") + value.stringValue());
      } else if (!value.isNull()) {
        begun.set(name, value);
      }
    }
  }

  /** The detail that a piece goes on with, null if it begins one. */
  private @Nullable ObjectNode begun(ObjectNode piece) {
    for (int i = details.size() - 1; i >= 0; i--) {
      if (details.get(i) instanceof ObjectNode detail && isSame(detail, piece)) {
        return detail;
      }
      if (!piece.has("index")) {
        return null; // only the last one can go on
      }
    }
    return null;
  }

  private static boolean isSame(ObjectNode detail, ObjectNode piece) {
    return detail.path("type").equals(piece.path("type"))
        && detail.path("index").equals(piece.path("index"))
        && TEXTS.stream().anyMatch(piece::has)
        && (piece.path("id").isMissingNode()
            || piece.path("id").isNull()
            || detail.path("id").isNull()
            || piece.path("id").equals(detail.path("id")));
  }

  /** The members of the whole message. */
  JsonNode message() {
    ObjectNode message = StrictJson.mapper().createObjectNode();
    message.put("reasoning_content", content.toString());
    message.put("reasoning", reasoning.toString());
    message.set("reasoning_details", details);
    return message;
  }
}
