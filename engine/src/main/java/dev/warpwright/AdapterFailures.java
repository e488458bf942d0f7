package dev.warpwright;

import dev.warpwright.model.ConflictException;
import dev.warpwright.model.InvalidOutputException;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.OperationCancelledException;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.Target;
import dev.warpwright.model.UnknownOutcomeException;
import dev.warpwright.model.WarpwrightException;

/** What it means that an adapter has thrown something. Pure. */
final class AdapterFailures {
  private AdapterFailures() {}

  /** As the failure of a target, whatever was thrown. */
  static ProviderException of(Throwable thrown, Target target) {
    return switch (thrown) {
      case ProviderException provider -> provider.at(target);
      case Error error -> unknown(new RuntimeException(error.getClass().getName())).at(target);
      default -> unknown(thrown).at(target);
    };
  }

  private static ProviderException unknown(Throwable cause) {
    String message = cause.getMessage();
    return ProviderException.builder(
            ProviderException.Kind.OTHER,
            message == null || message.isBlank() ? "Unknown provider failure." : message)
        .cause(cause)
        .build();
  }

  /** Throws again what says that no other call would do better, or may be made. */
  static void rethrowWhatEndsTheOperation(Throwable thrown) {
    if (thrown instanceof Error error) {
      throw error;
    }
    if (thrown instanceof WarpwrightException own && endsOperation(own)) {
      throw own;
    }
  }

  private static boolean endsOperation(WarpwrightException failure) {
    return switch (failure) {
      case InvalidRequestException e -> true;
      case InvalidOutputException e -> true;
      case ConflictException e -> true;
      case OperationCancelledException e -> true;
      case UnknownOutcomeException e -> true;
      default -> false;
    };
  }
}
