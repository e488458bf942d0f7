package dev.warpwright.agent;

import java.util.Objects;
import java.util.function.Consumer;

/**
 * What it means for a run that a hook of the program fails, and who is told. Immutable.
 *
 * {@snippet :
 * Agents agents =
 *     Agents.builder(gateway)
 *         .observer(telemetry -> meter.count(telemetry.event()))
 *         .hookFailures(HookFailurePolicy.IGNORE.onError(failure -> log.warn("{}", failure)))
 *         .build();
 * }
 */
public final class HookFailurePolicy {
  /** The run goes on as if there were no hook; nobody waits for an observer. */
  public static final HookFailurePolicy IGNORE = new HookFailurePolicy(false, failure -> {});

  /**
   * The first failure of a hook ends the invocation, and fails its run resumably if that has not
   * ended. So the run waits for each call of its observer, for at most the gateway's observer
   * timeout.
   */
  public static final HookFailurePolicy FAIL = new HookFailurePolicy(true, failure -> {});

  private final boolean fatal;
  private final Consumer<HookFailure> listener;

  private HookFailurePolicy(boolean fatal, Consumer<HookFailure> listener) {
    this.fatal = fatal;
    this.listener = listener;
  }

  /**
   * The same policy with a listener.
   *
   * @param listener told of each failure on a thread of its own, for at most the gateway's observer
   *     timeout; what it throws is counted like the failure of an observer
   * @return the policy
   */
  public HookFailurePolicy onError(Consumer<HookFailure> listener) {
    return new HookFailurePolicy(fatal, Objects.requireNonNull(listener, "listener"));
  }

  boolean isFatal() {
    return fatal;
  }

  void report(HookFailure failure) {
    listener.accept(failure);
  }

  /** Shows what a failure means. */
  @Override
  public String toString() {
    return fatal ? "FAIL" : "IGNORE";
  }
}
