package dev.warpwright.effect;

import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import org.jspecify.annotations.Nullable;

/**
 * Knows of the calling thread whether it may have an effect: not in the code of a flow between the
 * calls of its context, which runs again whenever its run goes on.
 */
public final class Effects {
  private static final ScopedValue<Boolean> FORBIDDEN = ScopedValue.newInstance();

  private Effects() {}

  /**
   * Runs code that must not have an effect.
   *
   * @param code the code
   * @param <T> what it returns
   * @param <X> what it throws
   * @return what it returns
   * @throws X what it throws
   */
  public static <T extends @Nullable Object, X extends Throwable> T forbidden(
      ScopedValue.CallableOp<? extends T, X> code) throws X {
    return ScopedValue.where(FORBIDDEN, true).call(code);
  }

  /**
   * Runs code that may have an effect, wherever it is called.
   *
   * @param code the code
   * @param <T> what it returns
   * @param <X> what it throws
   * @return what it returns
   * @throws X what it throws
   */
  public static <T extends @Nullable Object, X extends Throwable> T allowed(
      ScopedValue.CallableOp<? extends T, X> code) throws X {
    return FORBIDDEN.isBound() ? ScopedValue.where(FORBIDDEN, false).call(code) : code.call();
  }

  /**
   * Refuses something that has an effect, if the calling thread must not have one.
   *
   * @param what it is, such as {@code A model was asked}
   * @param instead what the program does instead, a sentence
   * @throws InvalidRequestException if it must not
   */
  public static void requireAllowed(String what, String instead) {
    if (FORBIDDEN.isBound() && FORBIDDEN.get()) {
      throw new InvalidRequestException(
          FailureKind.INVALID_REQUEST,
          what
              + " in the code of a flow between the calls of its context: nothing would be"
              + " recorded, and it would happen again each time the run goes on. "
              + instead);
    }
  }
}
