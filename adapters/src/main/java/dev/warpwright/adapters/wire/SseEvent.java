package dev.warpwright.adapters.wire;

/**
 * One server-sent event.
 *
 * @param name its name, {@code message} if it came without one
 * @param data its data, never blank
 */
record SseEvent(String name, String data) {
  /** Shows the name and how much data there is. */
  @Override
  public String toString() {
    return "SseEvent[" + name + ", " + data.length() + " characters]";
  }
}
