package dev.warpwright.model;

import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Stands in a chain of causes for an exception whose text held a secret: the same class name, stack
 * trace, causes and suppressed exceptions, and the text without the secret.
 */
final class RedactedException extends Exception {
  private static final long serialVersionUID = 1L;
  private static final int MAX_DEPTH = 32;

  private final String original;

  private RedactedException(String original, String message) {
    super(message);
    this.original = original;
  }

  /** The throwable itself if nothing in its chain needs it, else a copy of the chain. */
  static Throwable of(Throwable thrown) {
    Set<Throwable> seen = Collections.newSetFromMap(new IdentityHashMap<>());
    if (isClean(thrown, seen, 0)) {
      return thrown;
    }
    return Objects.requireNonNull(copy(thrown, 0, new IdentityHashMap<>()));
  }

  private static boolean isClean(Throwable thrown, Set<Throwable> seen, int depth) {
    if (!seen.add(thrown)) {
      return true;
    }
    if (depth > MAX_DEPTH || !hasCleanText(thrown)) {
      return false;
    }
    Throwable cause = thrown.getCause();
    if (cause != null && !isClean(cause, seen, depth + 1)) {
      return false;
    }
    for (Throwable suppressed : thrown.getSuppressed()) {
      if (!isClean(suppressed, seen, depth + 1)) {
        return false;
      }
    }
    return true;
  }

  private static boolean hasCleanText(Throwable thrown) {
    try {
      return isClean(thrown.toString()) && isClean(thrown.getMessage());
    } catch (RuntimeException hostile) {
      return false; // its text cannot be had, so it is not shown
    }
  }

  private static boolean isClean(@Nullable String text) {
    return text == null || Redaction.redact(text).equals(text);
  }

  private static String cleanText(Throwable thrown) {
    try {
      String message = thrown.getMessage();
      return message == null ? "" : Redaction.redact(message);
    } catch (RuntimeException hostile) {
      return "";
    }
  }

  /**
   * A chain that goes deeper, or in circles, is cut. Each throwable is copied once, however many
   * ways lead to it: they may be exponentially many.
   *
   * @return null if it is being copied further up
   */
  private static @Nullable RedactedException copy(
      Throwable thrown, int depth, Map<Throwable, @Nullable RedactedException> copies) {
    if (copies.containsKey(thrown)) {
      return copies.get(thrown);
    }
    copies.put(thrown, null);
    RedactedException copy = new RedactedException(thrown.getClass().getName(), cleanText(thrown));
    copy.setStackTrace(thrown.getStackTrace());
    if (depth < MAX_DEPTH) {
      Throwable cause = thrown.getCause();
      RedactedException copyOfCause = cause == null ? null : copy(cause, depth + 1, copies);
      if (copyOfCause != null) {
        copy.initCause(copyOfCause);
      }
      for (Throwable suppressed : thrown.getSuppressed()) {
        RedactedException copyOfSuppressed = copy(suppressed, depth + 1, copies);
        if (copyOfSuppressed != null) {
          copy.addSuppressed(copyOfSuppressed);
        }
      }
    }
    copies.put(thrown, copy);
    return copy;
  }

  /** Shows the class of the exception that it stands for. */
  @Override
  @SuppressWarnings("OverrideThrowableToString") // the class name is not its own
  public String toString() {
    String message = getMessage();
    return message == null || message.isEmpty() ? original : original + ": " + message;
  }
}
