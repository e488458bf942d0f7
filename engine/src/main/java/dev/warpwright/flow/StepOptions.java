package dev.warpwright.flow;

import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.tool.EffectClass;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;

/**
 * How a step is run. Immutable.
 *
 * {@snippet :
 * ctx.step("charge", Receipt.class, StepOptions.once().timeout(ofSeconds(20)), step ->
 *     payments.charge(order, step.idempotencyKey()));
 * }
 */
public final class StepOptions {
  /** An idempotent step that is run once and has no timeout. */
  public static final StepOptions DEFAULT =
      new StepOptions(EffectClass.IDEMPOTENT, StepRetry.NONE, Optional.empty(), Optional.empty());

  private final EffectClass effect;
  private final StepRetry retry;
  private final Optional<Duration> timeout;
  private final Optional<StepReconciler> reconciler;

  private StepOptions(
      EffectClass effect,
      StepRetry retry,
      Optional<Duration> timeout,
      Optional<StepReconciler> reconciler) {
    this.effect = effect;
    this.retry = retry;
    this.timeout = timeout;
    this.reconciler = reconciler;
  }

  /**
   * A step without any effect: it has no intent in the log, and may be run again at will.
   *
   * @return the options
   */
  public static StepOptions pure() {
    return DEFAULT.effect(EffectClass.PURE);
  }

  /**
   * A step that must not be repeated: if its outcome is unknown, the run waits until a reconciler
   * or a person has decided what became of it.
   *
   * @return the options
   */
  public static StepOptions once() {
    return DEFAULT.effect(EffectClass.ONCE);
  }

  /**
   * A step that may be repeated with the same key, and is when it fails.
   *
   * @param maxAttempts how often in all; see {@link StepRetry#attempts}
   * @return the options
   */
  public static StepOptions retry(int maxAttempts) {
    return DEFAULT.retry(StepRetry.attempts(maxAttempts));
  }

  private StepOptions effect(EffectClass other) {
    return new StepOptions(other, retry, timeout, reconciler);
  }

  /**
   * With retries. A step that must not be repeated is run again only after a {@link
   * NotExecutedException}.
   *
   * @param policy when; {@link StepRetry#NONE} unless set
   * @return the options
   */
  public StepOptions retry(StepRetry policy) {
    return new StepOptions(effect, Objects.requireNonNull(policy, "policy"), timeout, reconciler);
  }

  /**
   * With a limit for each run of the step, after which it is interrupted. A step that must not be
   * repeated is in doubt then; any other has failed.
   *
   * @param limit more than zero; none unless set
   * @return the options
   */
  public StepOptions timeout(Duration limit) {
    if (limit.isNegative() || limit.isZero()) {
      throw new InvalidRequestException(
          FailureKind.INVALID_CONFIGURATION,
          "A step's timeout must be more than 0, but is " + limit + ".");
    }
    return new StepOptions(effect, retry, Optional.of(limit), reconciler);
  }

  /**
   * With somebody to ask what became of a run whose outcome is unknown.
   *
   * @param asked who; nobody unless set
   * @return the options
   */
  public StepOptions reconciler(StepReconciler asked) {
    return new StepOptions(
        effect, retry, timeout, Optional.of(Objects.requireNonNull(asked, "asked")));
  }

  EffectClass effect() {
    return effect;
  }

  StepRetry retry() {
    return retry;
  }

  Optional<Duration> timeout() {
    return timeout;
  }

  Optional<StepReconciler> reconciler() {
    return reconciler;
  }
}
