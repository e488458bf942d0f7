package dev.warpwright.store.jdbc;

import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** What became of something that was asked of the database. */
sealed interface Verdict<T extends @Nullable Object> {
  /** It is done. */
  record Done<T extends @Nullable Object>(T value) implements Verdict<T> {}

  /**
   * It was refused or failed.
   *
   * @param reason makes the exception, on the thread of the caller that gets it
   */
  record Refused<T extends @Nullable Object>(Supplier<? extends RuntimeException> reason)
      implements Verdict<T> {}

  /** The value, or the exception. */
  default T get() {
    return switch (this) {
      case Done<T>(T value) -> value;
      case Refused<T>(var reason) -> throw reason.get();
    };
  }
}
