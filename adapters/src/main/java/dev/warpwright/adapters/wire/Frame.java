package dev.warpwright.adapters.wire;

/**
 * One piece of a stream, as its framing cuts it out.
 *
 * @param name the name of its event, {@code message} if the framing knows no names or gave none
 * @param data its text, never blank
 */
public record Frame(String name, String data) {
  /** The name of an event that came without one. */
  public static final String UNNAMED = "message";

  /** The name of an event that reports an error, whatever its data looks like. */
  public static final String ERROR = "error";

  /** Shows the name and how much data there is. */
  @Override
  public String toString() {
    return "Frame[" + name + ", " + data.length() + " characters]";
  }
}
