package dev.warpwright.run;

import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import java.util.regex.Pattern;

/**
 * What names a run: its scope and its id.
 *
 * @param scope whose run it is
 * @param runId its id in the scope; 1 to 128 characters of {@code [A-Za-z0-9_.:-]}
 */
public record RunKey(RunScope scope, String runId) {
  private static final Pattern RUN_ID = Pattern.compile("[A-Za-z0-9_.:-]{1,128}");

  /** Checks the id. */
  public RunKey {
    if (!RUN_ID.matcher(runId).matches()) {
      throw new InvalidRequestException(
          FailureKind.INVALID_REQUEST,
          "A run id must match [A-Za-z0-9_.:-]{1,128}; the given one of "
              + runId.length()
              + " characters does not.");
    }
  }

  /** Shows the run id. */
  @Override
  public String toString() {
    return runId;
  }
}
