package dev.warpwright;

import dev.warpwright.control.RetryPolicy;
import dev.warpwright.model.AttemptsExhaustedException;
import dev.warpwright.model.DeadlineExceededException;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.OperationTrace;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.Target;
import dev.warpwright.model.UnknownOutcomeException;
import dev.warpwright.model.WarpwrightException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The failures of one step, and the exception that they become when nothing is left to try. */
final class StepFailures {
  private final int step;
  private final List<ProviderException> failures = new ArrayList<>();
  private @Nullable Duration unfittedWait; // of the last failure

  StepFailures(int step) {
    this.step = step;
  }

  int step() {
    return step;
  }

  void add(ProviderException failure) {
    failures.add(failure);
    unfittedWait = null;
  }

  /** The wait that the last failure asked for is longer than what remains of the operation. */
  void waitDidNotFit(Duration wait) {
    unfittedWait = wait;
  }

  /** The end of a step whose candidates were all tried; there is at least one failure. */
  WarpwrightException exhausted(OperationTrace trace, int targets) {
    if (unfittedWait != null) {
      ProviderException last = failures.getLast();
      return new DeadlineExceededException(
          "The wait of %s before the next attempt on %s does not fit into the deadline; %s"
              .formatted(unfittedWait, target(last), last.getMessage()),
          last,
          trace);
    }
    ProviderException named = named();
    return new AttemptsExhaustedException(
        FailureKind.TARGETS_EXHAUSTED,
        "All %d targets failed in step %d, %d attempts in all; %s: %s%s"
            .formatted(
                targets,
                step,
                failures.size(),
                target(named),
                named.getMessage(),
                named.retryAfter().map(wait -> " It asks to wait " + wait + ".").orElse("")),
        named,
        RetryPolicy.isRetryable(named),
        trace);
  }

  /** The end of a step in which a tool of the provider failed that is not run again. */
  WarpwrightException hostedTool(ProviderException failure, OperationTrace trace) {
    return failure.mayHaveActed()
        ? new UnknownOutcomeException(
            "A tool that %s runs itself failed and may have acted; nothing is tried again: %s"
                .formatted(target(failure), failure.getMessage()),
            failure,
            trace)
        : new AttemptsExhaustedException(
            FailureKind.TARGETS_EXHAUSTED,
            "A tool that %s runs itself failed and must not be run again: %s"
                .formatted(target(failure), failure.getMessage()),
            failure,
            false,
            trace);
  }

  private static String target(ProviderException failure) {
    return failure.target().map(Target::toString).orElse("the target");
  }

  /** The last failure with a status or code or, if none has one, the last. */
  private ProviderException named() {
    return failures.reversed().stream()
        .filter(failure -> failure.status() > 0 || failure.code().isPresent())
        .findFirst()
        .orElseGet(failures::getLast);
  }

  /** Keeps every failure in the exception that ends the step, in order of time. */
  void suppressIn(WarpwrightException end) {
    for (ProviderException failure : failures) {
      if (failure != end.getCause()) {
        end.addSuppressed(failure);
      }
    }
  }
}
