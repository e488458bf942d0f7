package dev.warpwright;

import dev.warpwright.control.RetryPolicy;
import dev.warpwright.model.AttemptsExhaustedException;
import dev.warpwright.model.DeadlineExceededException;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.OperationTrace;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.Target;
import dev.warpwright.model.WarpwrightException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The failures of one step, and the exception that they become when nothing is left to try. */
final class StepFailures {
  private record Entry(Target target, ProviderException failure) {}

  private final int step;
  private final List<Entry> entries = new ArrayList<>();
  private @Nullable Duration unfittedWait;

  StepFailures(int step) {
    this.step = step;
  }

  int step() {
    return step;
  }

  void add(Target target, ProviderException failure) {
    entries.add(new Entry(target, failure));
    unfittedWait = null;
  }

  /** The wait that the last failure asked for is longer than what remains of the operation. */
  void waitDidNotFit(Duration wait) {
    unfittedWait = wait;
  }

  WarpwrightException exhausted(OperationTrace trace, int targets) {
    Entry named = entries.get(namedIndex());
    WarpwrightException exception =
        unfittedWait != null
            ? new DeadlineExceededException(
                "The wait of %s before the next attempt on %s does not fit into the deadline."
                    .formatted(unfittedWait, named.target()),
                named.failure(),
                trace)
            : new AttemptsExhaustedException(
                FailureKind.TARGETS_EXHAUSTED,
                "All %d targets failed in step %d, %d attempts in all; %s: %s%s"
                    .formatted(
                        targets,
                        step,
                        entries.size(),
                        named.target(),
                        named.failure().getMessage(),
                        named
                            .failure()
                            .retryAfter()
                            .map(wait -> " It asks to wait " + wait + ".")
                            .orElse("")),
                named.failure(),
                RetryPolicy.isRetryable(named.failure()),
                trace);
    int index = namedIndex();
    for (int i = 0; i < entries.size(); i++) {
      if (i != index) {
        exception.addSuppressed(entries.get(i).failure());
      }
    }
    return exception;
  }

  /** The last failure with a status or code or, if none has one, the last. */
  private int namedIndex() {
    for (int i = entries.size() - 1; i >= 0; i--) {
      ProviderException failure = entries.get(i).failure();
      if (failure.status() > 0 || failure.code().isPresent()) {
        return i;
      }
    }
    return entries.size() - 1;
  }
}
