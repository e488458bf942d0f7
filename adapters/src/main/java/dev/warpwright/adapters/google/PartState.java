package dev.warpwright.adapters.google;

import dev.warpwright.adapters.wire.CallReader;
import dev.warpwright.adapters.wire.PartName;
import dev.warpwright.json.StrictJson;
import dev.warpwright.model.Json;
import dev.warpwright.model.Part;
import dev.warpwright.model.ProviderState;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * What parts of an answer have that is the service's own, as private state, and back byte for byte.
 *
 * <p>A part that is neither text nor a call is kept whole. Of text or a call, what the vocabulary
 * has no place for stands directly before it: the signature of a thought, and whether the service
 * itself gave the call its id. It names the part that it belongs to, so that it never comes to
 * another.
 *
 * @param signature the signature, null if there is none
 * @param issuedId whether the id of the call is the service's own
 */
record PartState(@Nullable String signature, boolean issuedId) {
  /** Nothing is kept of a part. */
  static final PartState NONE = new PartState(null, false);

  private static final String PROTOCOL = "gemini";
  private static final String SIGNATURE = "thoughtSignature";
  private static final String ISSUED_ID = "issuedId";
  private static final String BEFORE = "before";
  private static final String WHOLE = "part";

  /** Reads what a part has; the state of a call also says that its id came with it. */
  static PartState of(JsonNode part) {
    return new PartState(
        CallReader.text(part.path(SIGNATURE)),
        CallReader.text(part.path("functionCall").path("id")) != null);
  }

  /** The piece to keep before a part; empty if there is nothing to keep. */
  Optional<ProviderState> before(String modelId, Part part) {
    if (equals(NONE)) {
      return Optional.empty();
    }
    ObjectNode piece = StrictJson.mapper().createObjectNode().put(BEFORE, PartName.of(part));
    if (signature != null) {
      piece.put(SIGNATURE, signature);
    }
    if (issuedId) {
      piece.put(ISSUED_ID, true);
    }
    return Optional.of(state(modelId, piece));
  }

  /** Keeps a part whole. */
  static ProviderState whole(String modelId, JsonNode part) {
    ObjectNode piece = StrictJson.mapper().createObjectNode();
    piece.set(WHOLE, part);
    return state(modelId, piece);
  }

  private static ProviderState state(String modelId, ObjectNode piece) {
    return ProviderState.of(PROTOCOL, modelId, Json.parse(StrictJson.write(piece)));
  }

  /** The part that was kept whole; empty if the state holds none, or may not be sent. */
  static Optional<JsonNode> whole(String modelId, @Nullable Part state) {
    return piece(modelId, state).map(piece -> piece.path(WHOLE)).filter(JsonNode::isObject);
  }

  /** What was kept for a part; nothing if the state is another's, or may not be sent. */
  static PartState replay(String modelId, @Nullable Part state, Part part) {
    return piece(modelId, state)
        .filter(piece -> piece.path(BEFORE).asString("").equals(PartName.of(part)))
        .map(
            piece ->
                new PartState(
                    CallReader.text(piece.path(SIGNATURE)), piece.path(ISSUED_ID).asBoolean(false)))
        .orElse(NONE);
  }

  /** Another model cannot read what this one has signed. */
  private static Optional<JsonNode> piece(String modelId, @Nullable Part part) {
    return part instanceof ProviderState state
            && state.protocol().equals(PROTOCOL)
            && state.modelId().equals(modelId)
        ? Optional.of(StrictJson.read(state.data().text()))
        : Optional.empty();
  }
}
