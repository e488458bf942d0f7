package dev.warpwright.control;

import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Target;
import dev.warpwright.task.Deadline;
import java.util.Objects;
import java.util.OptionalLong;

/**
 * One call that asks to be let through to its target.
 *
 * @param target where it goes
 * @param estimatedTokens the estimated input plus {@code maxTokens}, zero or more; empty if the
 *     call has no {@code maxTokens}, with which a limit of tokens cannot be kept
 * @param deadline until when a permit is of use; no wait is longer
 */
public record AdmissionRequest(Target target, OptionalLong estimatedTokens, Deadline deadline) {
  /** Checks the tokens. */
  public AdmissionRequest {
    Objects.requireNonNull(target, "target");
    Objects.requireNonNull(deadline, "deadline");
    if (estimatedTokens.isPresent() && estimatedTokens.getAsLong() < 0) {
      throw new InvalidRequestException(
          FailureKind.INVALID_REQUEST,
          "estimatedTokens must be 0 or more, but is " + estimatedTokens.getAsLong() + ".");
    }
  }
}
