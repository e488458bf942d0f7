package dev.warpwright.adapters.wire;

import dev.warpwright.json.StrictJson;
import java.util.HashSet;
import java.util.Set;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/**
 * Finds objects with a key twice in tool arguments that came as JSON and not as text.
 *
 * <p>An answer is read leniently: of two equal keys the last one wins, and nobody sees that there
 * were two. In most places that is harmless, but ambiguous input must not reach a tool.
 */
final class RepeatedKeys {
  private RepeatedKeys() {}

  /**
   * Looks below every member of one name.
   *
   * @param document the answer as it came; it has been read before, so it is JSON within the bounds
   * @param member the name of the members that hold arguments
   * @return whether some object in or below one of them has a key twice
   */
  static boolean below(byte[] document, String member) {
    try (JsonParser in = StrictJson.mapper().createParser(document)) {
      while (in.nextToken() != null) {
        if (in.currentToken() == JsonToken.PROPERTY_NAME && in.currentName().equals(member)) {
          in.nextToken();
          if (repeats(in)) {
            return true;
          }
        }
      }
      return false;
    }
  }

  /** Reads the value that begins at the current token, to its end unless it repeats a key. */
  private static boolean repeats(JsonParser in) {
    if (in.currentToken() == JsonToken.START_OBJECT) {
      Set<String> keys = new HashSet<>();
      while (in.nextToken() == JsonToken.PROPERTY_NAME) {
        boolean repeated = !keys.add(in.currentName());
        in.nextToken();
        if (repeated || repeats(in)) {
          return true;
        }
      }
    } else if (in.currentToken() == JsonToken.START_ARRAY) {
      while (in.nextToken() != JsonToken.END_ARRAY) {
        if (repeats(in)) {
          return true;
        }
      }
    }
    return false;
  }
}
