package dev.warpwright.adapters.http;

import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;

/** How an adapter's builder refuses a value. */
public final class Refusal {
  private Refusal() {}

  /**
   * Makes the exception.
   *
   * @param message names the rule and what to do, and shows no secret
   * @return the exception, of kind INVALID_CONFIGURATION
   */
  public static InvalidRequestException configuration(String message) {
    return new InvalidRequestException(FailureKind.INVALID_CONFIGURATION, message);
  }
}
