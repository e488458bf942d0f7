package dev.warpwright.run;

import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;

/**
 * The program around an agent: what its tools, prompts and rules come from, named so that a run is
 * not taken up by another one.
 *
 * @param id what it is, such as the service's name
 * @param version which one
 * @param fingerprint a digest or revision that tells builds of a version apart
 */
public record Harness(String id, String version, String fingerprint) {
  private static final int MAX_PART = 256;

  /** Refuses parts that are blank or longer than 256 characters. */
  public Harness {
    check("id", id);
    check("version", version);
    check("fingerprint", fingerprint);
  }

  private static void check(String part, String text) {
    if (text.isBlank() || text.length() > MAX_PART) {
      throw new InvalidRequestException(
          FailureKind.INVALID_CONFIGURATION,
          "The %s of a harness must have 1 to %d characters and not be blank, but has %d."
              .formatted(part, MAX_PART, text.length()));
    }
  }

  /** Shows all three. */
  @Override
  public String toString() {
    return id + " " + version + " (" + fingerprint + ")";
  }
}
