package dev.warpwright.adapters.scripted;

import static dev.warpwright.adapters.scripted.RequestFields.refuse;

import java.util.Set;
import tools.jackson.databind.JsonNode;

/**
 * The form in which a client wants its answer.
 *
 * @param stream whether it comes as a stream of events
 * @param usage whether a stream of Chat Completions ends with the counters
 * @param summary whether Responses shows what was thought
 */
record ResponseForm(boolean stream, boolean usage, boolean summary) {
  /**
   * Reads {@code stream} and {@code stream_options}.
   *
   * @param options the members of the options that the protocol knows
   */
  static ResponseForm read(JsonNode root, Set<String> options) throws RefusedException {
    boolean stream = flag(root, "stream", "");
    JsonNode asked = root.path("stream_options");
    if (asked.isMissingNode() || asked.isNull()) {
      return new ResponseForm(stream, false, false);
    }
    if (!stream) {
      throw refuse(
          "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
          "stream_options");
    }
    if (!asked.isObject()) {
      throw refuse("An object is needed.", "stream_options");
    }
    for (String member : asked.propertyNames()) {
      if (!options.contains(member)) {
        throw refuse("Unknown parameter.", "stream_options." + member);
      }
      flag(asked, member, "stream_options.");
    }
    return new ResponseForm(stream, flag(asked, "include_usage", "stream_options."), false);
  }

  ResponseForm withSummary(boolean shown) {
    return new ResponseForm(stream, usage, shown);
  }

  private static boolean flag(JsonNode node, String key, String path) throws RefusedException {
    JsonNode value = node.path(key);
    if (value.isMissingNode() || value.isNull()) {
      return false;
    }
    if (!value.isBoolean()) {
      throw refuse("A boolean is needed.", path + key);
    }
    return value.booleanValue();
  }
}
