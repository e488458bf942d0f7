package dev.warpwright;

import dev.warpwright.control.RetryPolicy;
import dev.warpwright.model.AdmissionDeniedException;
import dev.warpwright.model.AttemptsExhaustedException;
import dev.warpwright.model.CircuitOpenException;
import dev.warpwright.model.DeadlineExceededException;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.OperationTrace;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.Target;
import dev.warpwright.model.WarpwrightException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The failures of one step, and the exception that they become when nothing is left to try. */
final class StepFailures {
  private final int step;
  private final List<ProviderException> failures = new ArrayList<>();
  private @Nullable Duration unfittedWait; // of the last failure
  private final List<String> openCircuits = new ArrayList<>();
  private @Nullable Instant earliestReturn; // of the open circuits
  private Last last = Last.SKIP;
  private String notAdmitted = "";

  /** What the last candidate came to. */
  private enum Last {
    SKIP,
    FAILURE,
    CIRCUIT_OPEN,
    NOT_ADMITTED
  }

  StepFailures(int step) {
    this.step = step;
  }

  int step() {
    return step;
  }

  void add(ProviderException failure) {
    failures.add(failure);
    unfittedWait = null;
    last = Last.FAILURE;
  }

  void circuitOpen(Target target, Instant returns) {
    openCircuits.add(target.toString());
    earliestReturn =
        earliestReturn == null || returns.isBefore(earliestReturn) ? returns : earliestReturn;
    last = Last.CIRCUIT_OPEN;
  }

  void notAdmitted(String why) {
    notAdmitted = why;
    last = Last.NOT_ADMITTED;
  }

  /** The wait that the last failure asked for is longer than what remains of the operation. */
  void waitDidNotFit(Duration wait) {
    unfittedWait = wait;
  }

  /** Whether no candidate came to more than a skip. */
  boolean isEmpty() {
    return last == Last.SKIP;
  }

  /** The end of a step whose candidates were all tried. The last of them decides what it is. */
  WarpwrightException exhausted(OperationTrace trace, int targets) {
    return switch (last) {
      case SKIP, FAILURE -> allFailed(trace, targets);
      case CIRCUIT_OPEN ->
          new CircuitOpenException(
              "No target is left in step %d: the circuit of %s is open; the first may be tried again at %s."
                  .formatted(step, String.join(", ", openCircuits), earliestReturn),
              Objects.requireNonNull(earliestReturn),
              cause(),
              trace);
      case NOT_ADMITTED ->
          new AdmissionDeniedException(
              "No target is left in step %d: %s".formatted(step, notAdmitted), cause(), trace);
    };
  }

  private @Nullable ProviderException cause() {
    return failures.isEmpty() ? null : named();
  }

  private WarpwrightException allFailed(OperationTrace trace, int targets) {
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
    String effects =
        failure.mayHaveActed() ? "failed and may have acted" : "failed and must not be run again";
    return new AttemptsExhaustedException(
        FailureKind.PROVIDER_TOOL,
        "A tool that %s runs itself %s, so nothing is tried again: %s"
            .formatted(target(failure), effects, failure.getMessage()),
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
