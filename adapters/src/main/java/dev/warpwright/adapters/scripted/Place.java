package dev.warpwright.adapters.scripted;

import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;

/**
 * Where in a script something stands, for messages.
 *
 * @param source what the script is called
 * @param path the JSON path without its root, such as {@code rules[2].when.user}
 */
record Place(String source, String path) {
  Place member(String key) {
    return new Place(source, path.isEmpty() ? key : path + "." + key);
  }

  Place element(int index) {
    return new Place(source, path + "[" + index + "]");
  }

  InvalidRequestException refuse(String reason) {
    String where = path.isEmpty() ? "the script" : path;
    return new InvalidRequestException(
        FailureKind.INVALID_CONFIGURATION, source + ": " + where + ": " + reason + ".");
  }
}
