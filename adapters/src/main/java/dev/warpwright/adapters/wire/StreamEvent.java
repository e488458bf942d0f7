package dev.warpwright.adapters.wire;

import tools.jackson.databind.JsonNode;

/**
 * One event of a streamed answer.
 *
 * @param name the event's name, {@code message} if it came without one
 * @param data its data as text
 * @param json the same data, read leniently: of two equal keys the last one won
 */
public record StreamEvent(String name, String data, JsonNode json) {
  /** Shows the name and how much data there is. */
  @Override
  public String toString() {
    return "StreamEvent[" + name + ", " + data.length() + " characters]";
  }
}
