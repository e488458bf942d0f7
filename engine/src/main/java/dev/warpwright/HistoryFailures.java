package dev.warpwright;

import dev.warpwright.model.ConflictException;
import dev.warpwright.model.InvalidOutputException;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.OperationCancelledException;
import dev.warpwright.model.OperationTrace;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.UnknownOutcomeException;
import dev.warpwright.model.WarpwrightException;

/**
 * What is told of a failure in a conversation that began with tool calls: nothing that anybody put
 * into words. A provider that does not like what it is sent quotes it, and here that is what tools
 * of another conversation were given and gave. What decisions are made from stays: kind, status,
 * code and wait. Pure.
 */
final class HistoryFailures {
  /** Stands in the place of whatever a provider says. */
  static final String FAILED = "Provider failed while continuing tool history.";

  /** Stands in the place of a caller's reason. */
  static final String CANCELLED = "Request cancelled.";

  private HistoryFailures() {}

  /**
   * The same failure without a text, cause or suppressed failure, where it came from included. An
   * error is left as it is.
   */
  static Throwable withoutTexts(Throwable thrown) {
    if (thrown instanceof Error) {
      return thrown;
    }
    RuntimeException told =
        switch (thrown) {
          case ProviderException provider -> withoutTexts(provider);
          case WarpwrightException own -> withoutTexts(own);
          default -> unknown();
        };
    told.setStackTrace(thrown.getStackTrace());
    return told;
  }

  private static ProviderException unknown() {
    return ProviderException.builder(ProviderException.Kind.OTHER, FAILED).build();
  }

  private static ProviderException withoutTexts(ProviderException failure) {
    ProviderException.Builder told =
        ProviderException.builder(failure.kind(), FAILED)
            .status(failure.status())
            .code(failure.code().orElse(null))
            .requestId(failure.requestId().orElse(null))
            .retryAfter(failure.retryAfter().orElse(null));
    if (!failure.mayHaveActed()) {
      told.withoutEffects(failure.repeatable());
    }
    return told.build();
  }

  /** Those that end the operation stay what they are; any other is a failure of the target. */
  private static RuntimeException withoutTexts(WarpwrightException own) {
    return switch (own) {
      case InvalidRequestException e -> new InvalidRequestException(e.kind(), FAILED);
      case InvalidOutputException e ->
          new InvalidOutputException(e.kind(), FAILED, null, OperationTrace.NONE);
      case ConflictException e -> new ConflictException(FAILED, null, OperationTrace.NONE);
      case OperationCancelledException e ->
          new OperationCancelledException(CANCELLED, null, OperationTrace.NONE);
      case UnknownOutcomeException e ->
          new UnknownOutcomeException(FAILED, null, OperationTrace.NONE);
      default -> unknown();
    };
  }
}
