package dev.warpwright.run;

import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import java.time.Instant;

/**
 * Something that a flow is told from outside.
 *
 * @param id what makes it one and the same when it is sent again; unique in the run, not blank, at
 *     most 160 characters
 * @param name by which the flow awaits it; not blank, at most 160 characters
 * @param value what it brings
 * @param sent when
 */
public record Signal(String id, String name, Json value, Instant sent) {
  private static final int MAX_TEXT = 160;

  /** Checks the texts. */
  public Signal {
    check("id", id);
    check("name", name);
  }

  private static void check(String what, String text) {
    if (text.isBlank() || text.length() > MAX_TEXT) {
      throw new InvalidRequestException(
          FailureKind.INVALID_REQUEST,
          "The %s of a signal must have 1 to %d characters and not be blank, but has %d."
              .formatted(what, MAX_TEXT, text.length()));
    }
  }

  /** Shows which, not what it brings. */
  @Override
  public String toString() {
    return "Signal[" + id + ", " + name + "]";
  }
}
